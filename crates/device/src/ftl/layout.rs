//! From parameters to shape: how many blocks a drive has, and whether it can work at all.
//!
//! Over-provisioning = (physical − exported) / exported. With `spare_counts = "all"` everything
//! physical counts; with `"collected"` only the blocks that take part in garbage collection, and the
//! blocks that must stay free (one a die with a single frontier, `gc_low_blocks` with two) come on top, and
//! one where the map has a journal.
//!
//! With `ftl.parity_stripe_pages` = N a block has one row of parity in N, at least one: blocks hold less, so that a
//! drive of the same over-provisioning has less of it for collection (`"all"`), or more blocks (`"collected"`).
//!
//! A static SLC cache, the fixed part of a dynamic one, and the translation pages of a demand-cached
//! map take their blocks from the spare; the rest of a dynamic SLC cache borrows free blocks.

use crate::config::DriveConfig;
use crate::config::ftl::{Frontiers, GcPace, SlcCache, SpareCounts, Striping};
use crate::ftl::mapping::MOST_BUFFER_SLOTS;
use crate::nand::geometry::Geometry;
use crate::parameter::Problem;

/// Above these physical page numbers lie the slots of the write buffer.
const MOST_PPN: u64 = (u32::MAX - MOST_BUFFER_SLOTS) as u64;

/// The shape of a drive and the number of units it exports.
///
/// # Errors
/// The key that makes the shape impossible: no spare, more exported than physical, too large.
pub fn layout(config: &DriveConfig) -> Result<(Geometry, u32), Problem> {
    let mut geometry = shape(config)?;
    let exported = config.export.capacity_bytes.0.div_ceil(config.unit_bytes());
    let blocks = count_blocks(config, &geometry, exported)?;
    fit_packing(&mut geometry, blocks);
    if exported >= MOST_PPN || blocks >= MOST_PPN >> geometry.slot_bits {
        let message =
            format!("too large for {} B mapping units; use a larger ftl.mapping_unit_bytes", config.unit_bytes());
        return Err(Problem::new("capacity_bytes", config.export.capacity_bytes.0, message));
    }
    if config.buffer.bytes.0 / config.unit_bytes() > u64::from(MOST_BUFFER_SLOTS) {
        let message = format!("holds more than {MOST_BUFFER_SLOTS} mapping units, which is the most");
        return Err(Problem::new("buffer.bytes", config.buffer.bytes.0, message));
    }
    geometry.blocks = blocks as u32;
    check_spare(config, &geometry, exported)?;
    Ok((geometry, exported as u32))
}

/// What a block and its group take beside the maps: wear, valid units, its place among the victims.
const BYTES_PER_BLOCK: u64 = 100;

/// Memory that a drive takes once every slot has been used: 4 B a logical unit, 4 B a slot; and 4 B a logical
/// unit more while it is saved or read.
///
/// # Errors
/// As [`layout`].
pub fn memory_bytes(config: &DriveConfig) -> Result<u64, Problem> {
    let (geometry, exported) = layout(config)?;
    let logical = u64::from(exported) + own_units(config, u64::from(exported));
    let blocks = u64::from(geometry.blocks);
    Ok(4 * (2 * logical + blocks * u64::from(geometry.slots())) + BYTES_PER_BLOCK * blocks)
}

fn shape(config: &DriveConfig) -> Result<Geometry, Problem> {
    let nand = &config.nand;
    let planes = if nand.multi_plane { nand.planes } else { 1 };
    let row_bytes = nand.page_bytes.0 * u64::from(planes);
    let unit_bytes = config.unit_bytes();
    let units_per_row = (row_bytes / unit_bytes).max(1) as u32;
    let rows_per_unit = unit_bytes.div_ceil(row_bytes) as u32;
    if unit_bytes > row_bytes && !unit_bytes.is_multiple_of(row_bytes) || rows_per_unit > nand.pages_per_block {
        let message = format!("a unit larger than a row is a multiple of its {row_bytes} B and fits into a block");
        return Err(Problem::new("ftl.mapping_unit_bytes", unit_bytes, message));
    }
    // As many units as the smallest take the bytes of one: bytes alone then decide what a row holds.
    let packing =
        if config.controller.compression { (1.0 / config.controller.compression_floor).ceil() as u32 } else { 1 };
    let parity_rows = parity_rows(config, rows_per_unit)?;
    let mut geometry = Geometry {
        channels: nand.channels,
        dies: nand.channels * nand.dies_per_channel,
        blocks: 0,
        rows: nand.pages_per_block - parity_rows,
        parity_rows,
        page_kinds: nand.cell.bits(),
        planes,
        row_bytes: row_bytes as u32,
        unit_bytes: unit_bytes as u32,
        units_per_row,
        rows_per_unit,
        packing,
        slot_bits: 0,
    };
    geometry.slot_bits = slot_bits(&geometry);
    Ok(geometry)
}

/// Rows of a block that hold parity: one page of each stripe, in whole units.
fn parity_rows(config: &DriveConfig, rows_per_unit: u32) -> Result<u32, Problem> {
    let Some(stripe) = config.ftl.parity_stripe_pages else { return Ok(0) };
    let rows = config.nand.pages_per_block;
    let parity = (rows / stripe / rows_per_unit).max(1) * rows_per_unit;
    if parity + rows_per_unit > rows {
        let message = format!("leaves no page for data in blocks of {rows} pages; give a longer stripe");
        return Err(Problem::new("ftl.parity_stripe_pages", stripe, message));
    }
    Ok(parity)
}

/// Fewer slots a row where physical page numbers would not do, but what halves the data still gains.
fn fit_packing(geometry: &mut Geometry, blocks: u64) {
    while geometry.packing > 2 && blocks >= MOST_PPN >> geometry.slot_bits {
        geometry.packing -= 1;
        geometry.slot_bits = slot_bits(geometry);
    }
}

fn slot_bits(geometry: &Geometry) -> u32 {
    geometry.slots().next_power_of_two().trailing_zeros()
}

fn count_blocks(config: &DriveConfig, geometry: &Geometry, exported: u64) -> Result<u64, Problem> {
    let dies = u64::from(geometry.dies);
    let blocks = match (config.nand.blocks_per_plane, config.export.over_provisioning) {
        (Some(_), Some(op)) => {
            let message = "says the same as nand.blocks_per_plane; give one of them";
            return Err(Problem::new("over_provisioning", op, message));
        }
        (Some(blocks), None) => dies * u64::from(blocks) * u64::from(config.nand.planes / geometry.planes),
        (None, Some(op)) => {
            let units = exported as f64 * (1.0 + op);
            match config.ftl.spare_counts {
                SpareCounts::All => (units / f64::from(geometry.physical_units_per_block())).floor() as u64,
                SpareCounts::Collected => {
                    let journal = u64::from(config.journals_map());
                    let counted = units / f64::from(geometry.units_per_block());
                    counted.round() as u64 + dies * u64::from(kept_free(config)) + journal
                }
            }
        }
        (None, None) => {
            return Err(Problem::new("over_provisioning", "", "is missing; give it or nand.blocks_per_plane"));
        }
    };
    Ok(match config.ftl.striping {
        Striping::PerDie => blocks,
        Striping::Superblock => blocks.div_ceil(dies) * dies,
    })
}

/// Blocks of a die that are free when collection has to start.
pub fn kept_free(config: &DriveConfig) -> u32 {
    match config.ftl.frontiers {
        Frontiers::Single => 1,
        Frontiers::HostGc => config.ftl.gc_low_blocks,
    }
}

/// Blocks of a die in which nothing is written when it chooses a victim, besides those that are free:
///
/// | frontiers | of the open ones |
/// |---|---|
/// | one | nothing: it is full, and the victim is collected into the next |
/// | two, in batches | half of collection's: the host's is full |
/// | two, smooth | half of collection's and half of the host's, on average |
///
/// and a part of a block that was found by bringing drives of 22 to 1360 blocks a die with the same share of spare into
/// steady state: with it their write amplification is the same within 1 %, without it 43 blocks have 2 % more.
pub fn unwritten_per_die(config: &DriveConfig) -> f64 {
    match (config.ftl.frontiers, config.ftl.gc_pace) {
        (Frontiers::Single, _) => 0.17,
        (Frontiers::HostGc, GcPace::Batch) => 0.57,
        (Frontiers::HostGc, GcPace::Smooth) => 1.09,
    }
}

/// Blocks of a die that may be in SLC mode at once.
pub fn slc_blocks_per_die(config: &DriveConfig, geometry: &Geometry) -> u32 {
    match config.ftl.slc_cache {
        SlcCache::None => 0,
        SlcCache::Static | SlcCache::Dynamic => slc_blocks_for(config.ftl.slc_cache_bytes.0, geometry),
    }
}

/// Blocks of a die that hold so much data in SLC mode: at least one, where there is any.
fn slc_blocks_for(bytes: u64, geometry: &Geometry) -> u32 {
    if bytes == 0 {
        return 0;
    }
    let block_bytes = u64::from(geometry.rows / geometry.page_kinds) * u64::from(geometry.row_bytes);
    (bytes / (block_bytes.max(1) * u64::from(geometry.dies))).clamp(1, u64::from(u32::MAX)) as u32
}

/// Blocks of a die that only the SLC cache may use: a static one, or the fixed part of a dynamic one.
pub fn reserved_for_slc(config: &DriveConfig, geometry: &Geometry) -> u32 {
    match config.ftl.slc_cache {
        SlcCache::None => 0,
        SlcCache::Static => slc_blocks_per_die(config, geometry),
        SlcCache::Dynamic => slc_blocks_for(config.ftl.slc_cache_fixed_bytes.0, geometry),
    }
}

/// Translation pages, a mapping unit each, of a map of which only a part is in RAM (4 B an entry).
pub fn translation_pages(config: &DriveConfig, exported: u64) -> u64 {
    if config.ftl.mapping_cache_bytes.is_some() { exported.div_ceil(config.unit_bytes() / 4) } else { 0 }
}

/// Logical units beyond the exported ones: translation pages, and the newest page of the map's journal.
pub fn own_units(config: &DriveConfig, exported: u64) -> u64 {
    translation_pages(config, exported) + u64::from(config.journals_map())
}

/// Blocks of a die that do not hold exported data at rest: free, open, or those of a fixed SLC cache.
pub fn kept_per_die(config: &DriveConfig, geometry: &Geometry) -> u32 {
    let frontiers = if config.ftl.frontiers == Frontiers::Single { 1 } else { 2 };
    reserved_for_slc(config, geometry).saturating_add(kept_free(config) + frontiers)
}

/// A drive works if all it exports fits beside the blocks that each die keeps.
fn check_spare(config: &DriveConfig, geometry: &Geometry, exported: u64) -> Result<(), Problem> {
    let (key, value) = match config.nand.blocks_per_plane {
        Some(blocks) => ("nand.blocks_per_plane", blocks.to_string()),
        None => ("over_provisioning", config.export.over_provisioning.unwrap_or(0.0).to_string()),
    };
    let physical = u64::from(geometry.blocks) * u64::from(geometry.units_per_block()) * u64::from(geometry.unit_bytes);
    let wanted = exported * u64::from(geometry.unit_bytes);
    if physical < wanted {
        let message = format!("{wanted} B are exported, but only {physical} B are there; export less or give more");
        return Err(Problem::new(key, value, message));
    }
    let good = (f64::from(geometry.blocks) * (1.0 - config.reliability.factory_bad_share)) as u64;
    let units = exported + own_units(config, exported);
    let filled = units.div_ceil(u64::from(geometry.units_per_block()));
    let spare = good.saturating_sub(filled);
    let needed = u64::from(geometry.dies) * u64::from(kept_per_die(config, geometry));
    if spare < needed {
        let least = (filled + needed) as f64 * f64::from(geometry.physical_units_per_block()) / exported as f64 - 1.0;
        let message = format!(
            "leaves {spare} spare blocks, and {} dies need {needed} to stay free or open; \
             an over-provisioning of {least:.4} or smaller blocks would do",
            geometry.dies
        );
        return Err(Problem::new(key, value, message));
    }
    Ok(())
}
