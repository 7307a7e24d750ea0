//! The small drive, and how many copies of it are the large one.
//!
//! ```text
//!   copies k = dies / dies of the model × parts of a die's blocks
//!   blocks of the model = dies of the model × empty + (good blocks of the drive − its dies × empty) / k
//!   units of the model = units of the drive / k
//!   host and link: commands take dies / dies of the model times as long, and as many fewer are ahead
//! ```
//! Dies shrink first, to the smallest number above one that divides them. A die keeps at least 256 blocks.
//! *Empty* are so many blocks of a die when it chooses a victim, the free ones and what is unwritten of the open ones
//! ([`unwritten_per_die`]): they do not shrink with the others, or the model would have more spare than its share.
//!
//! The model has no SLC cache, since in steady state, without idle time, its blocks hold nothing that is valid: they are
//! counted off. Of a superblock it has as few dies, and of the cache of a map its share.
//!
//! Bad blocks are left out of the model, and counted off the drive.

use super::holds::{check_drive, units_together};
use crate::condition::seasoner::first_writing_group;
use crate::workload::generate::Generator;
use crate::workload::job::Job;
use ssdlab_device::block::{Device, Operation};
use ssdlab_device::config::DriveConfig;
use ssdlab_device::config::ftl::{SlcCache, SpareCounts};
use ssdlab_device::ftl::growth::Growth;
use ssdlab_device::ftl::layout::{reserved_for_slc, unwritten_per_die};
use ssdlab_device::parameter::{Bytes, Microseconds};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{Lpn, Nanos};

/// Blocks of a die of the model that are collected: with fewer, write amplification is off by per cents.
const LEAST_BLOCKS: u32 = 256;
/// Units of the model, where the drive has them: with fewer, rounds scatter more than the stop rule allows.
const LEAST_UNITS: u32 = 1 << 20;
/// With fewer copies the model takes nearly as long as the drive.
const LEAST_COPIES: u32 = 4;

/// A small drive and how it becomes the large one.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleModel {
    /// The small drive.
    pub config: DriveConfig,
    /// What its copies become.
    pub growth: Growth,
    dies: u32,
    blocks: u32,
}

impl ScaleModel {
    /// The model of a drive out of the box that these jobs are to bring into steady state.
    ///
    /// # Errors
    /// Why there is none.
    pub fn of(ssd: &Ssd, jobs: &[Job], span: f64) -> Result<ScaleModel, String> {
        check_drive(ssd)?;
        let run = units_together(&ssd.ftl.geometry, &first_writing_group(jobs))?;
        let (geometry, exported) = (&ssd.ftl.geometry, ssd.ftl.exported);
        let dies = dies(ssd);
        let times = geometry.dies / dies;
        let good = geometry.blocks - ssd.ftl.flash.array.bad_blocks() as u32;
        let parts = (good / geometry.dies / LEAST_BLOCKS).min(exported / times / LEAST_UNITS).max(1);
        let copies = times * parts;
        if copies < LEAST_COPIES {
            return Err(format!("{} dies of {} blocks are too few to be copied", geometry.dies, good / geometry.dies));
        }
        let units = exported.div_ceil(copies * run) * run;
        let empty = f64::from(ssd.ftl.blocks_kept_free()) + unwritten_per_die(ssd.config());
        let slc = f64::from(reserved_for_slc(ssd.config(), geometry));
        let collected = (f64::from(good) - f64::from(geometry.dies) * (empty + slc)).max(0.0) / f64::from(copies);
        let blocks = (f64::from(dies) * empty + collected).round() as u32;
        let used = ((f64::from(exported) * span).round() as u32).clamp(1, exported);
        let mut config = slowed(ssd.config(), times);
        (config.nand.channels, config.nand.dies_per_channel) = (dies, 1);
        if !config.nand.multi_plane {
            config.nand.planes = 1;
        }
        config.export.capacity_bytes = Bytes(u64::from(units) * u64::from(geometry.unit_bytes));
        // Half a block more, so that no rounding takes one away.
        let physical = (f64::from(blocks) + 0.5) * f64::from(geometry.physical_units_per_block());
        config.export.over_provisioning = Some(physical / f64::from(units) - 1.0);
        config.nand.blocks_per_plane = None;
        config.ftl.spare_counts = SpareCounts::All;
        config.ftl.slc_cache = SlcCache::None;
        (config.ftl.slc_cache_bytes, config.ftl.slc_cache_fixed_bytes) = (Bytes(0), Bytes(0));
        config.ftl.superblock_dies = None;
        let cache = &mut config.ftl.mapping_cache_bytes;
        *cache = cache.map(|whole| Bytes(whole.0 / u64::from(copies)));
        config.reliability.factory_bad_share = 0.0;
        Ok(ScaleModel { config, growth: Growth { copies, run, used }, dies, blocks })
    }

    /// Dies and blocks of the model.
    pub fn shape(&self) -> (u32, u32) {
        (self.dies, self.blocks)
    }
}

/// Dies of the model: the smallest number above one that divides those of the drive, with superblocks those of one.
fn dies(ssd: &Ssd) -> u32 {
    let pool = ssd.ftl.dies_of_a_pool();
    let divided = if pool > 1 { pool } else { ssd.ftl.geometry.dies };
    (2..=divided).find(|dies| divided.is_multiple_of(*dies)).unwrap_or(1)
}

/// The same drive, with a host that is as many times slower and has as many times fewer commands ahead.
fn slowed(config: &DriveConfig, times: u32) -> DriveConfig {
    let slower = |time: Microseconds| Microseconds(Nanos(time.0.0 * u64::from(times)));
    let mut slow = config.clone();
    slow.controller.write_command_us = slower(config.controller.write_command_us);
    slow.controller.unit_us = slower(config.controller.unit_us);
    slow.controller.move_unit_us = slower(config.controller.move_unit_us);
    slow.link.command_us = slower(config.link.command_us);
    slow.link.mb_per_s /= f64::from(times);
    slow.link.queue_depth = (config.link.queue_depth / times).max(1);
    slow.buffer.bytes.0 /= u64::from(times);
    slow.buffer.join_bytes.0 /= u64::from(times);
    slow
}

/// Draws what lies in the write buffer under load: writes that would have come, as old as what they replace.
pub fn fill_backlog(ssd: &mut Ssd, writers: &mut [Generator]) {
    let unit = ssd.unit_bytes();
    let slots = ssd.config().buffer.bytes.0 / u64::from(unit);
    let sectors = unit / ssd.limits().sector_bytes;
    let mut drawn = 0;
    for turn in 0.. {
        let Some(planned) = writers[turn % writers.len()].next() else { return };
        if drawn >= slots {
            return;
        }
        if planned.request.operation != Operation::Write {
            continue;
        }
        let first = planned.request.lba.0 / u64::from(sectors);
        for lpn in first..first + u64::from(planned.request.sectors.div_ceil(sectors)) {
            ssd.ftl.backlog.keep(Lpn(lpn as u32), unit);
            drawn += 1;
        }
    }
}
