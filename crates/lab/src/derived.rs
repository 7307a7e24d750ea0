//! What follows from a drive's parameters, as JSON: one figure a line, `{key, value, unit, about}`.
//!
//! A value is a number, or null where there is nothing to count; its unit is `B`, `ms`, `%`, or `1` for a count. Keys
//! are stable. Text for people is made from these by whoever shows them.

use crate::host::drive::Drive;
use crate::host::stack::Stack;
use crate::mapping_ram::Mapped;
use serde_json::{Value, json};
use ssdlab_device::block::{Device, Limits};
use ssdlab_device::ftl::layout::memory_bytes;
use ssdlab_device::hdd::Hdd;
use ssdlab_device::nand::geometry::Geometry;
use ssdlab_device::ssd::Ssd;

/// Log blocks of a hybrid map: 3 %, as in the evaluation of FAST (Lee et al. 2007).
const LOG_SHARE: f64 = 0.03;

fn bytes(key: &str, value: u64, about: &str) -> Value {
    json!({ "key": key, "value": value, "unit": "B", "about": about })
}

fn count(key: &str, value: u64, about: &str) -> Value {
    json!({ "key": key, "value": value, "unit": "1", "about": about })
}

fn milliseconds(key: &str, us: f64, about: &str) -> Value {
    json!({ "key": key, "value": us / 1e3, "unit": "ms", "about": about })
}

fn percent(key: &str, share: f64, about: &str) -> Value {
    json!({ "key": key, "value": share * 100.0, "unit": "%", "about": about })
}

/// Of a drive.
pub fn of_drive(drive: &Drive) -> Vec<Value> {
    match drive {
        Drive::Ssd(ssd) => of_flash(ssd),
        Drive::Hdd(hdd) => of_disk(hdd),
    }
}

/// Of a stack: what its host sees.
pub fn of_stack(stack: &Stack, drives: usize) -> Vec<Value> {
    let limits: &Limits = stack.limits();
    let trims = match limits.discard_granularity_bytes {
        0 => json!({ "key": "trims", "value": null, "unit": "B", "about": "smallest that has an effect: none passes" }),
        granularity => bytes("trims", granularity.into(), "smallest that has an effect"),
    };
    vec![
        bytes("host sees", limits.capacity_bytes(), "capacity at the top of the stack"),
        bytes("sector", limits.sector_bytes.into(), "at the top of the stack"),
        trims,
        count("drives", drives as u64, "in the stack; below is the first of them"),
    ]
}

/// Layout and times.
fn of_disk(hdd: &Hdd) -> Vec<Value> {
    let (cylinders, heads, revolution) = hdd.shape();
    let mean_seek = hdd.config().hdd.average_seek_ms.0;
    let idle_read_us = hdd.config().hdd.command_us.0.as_us() + mean_seek.as_us() + revolution.as_us() / 2.0;
    let last = hdd.limits().sectors - 1;
    let of_a_track = "logical ones, from rate and revolution";
    vec![
        bytes("capacity", hdd.limits().capacity_bytes(), "what the drive exports"),
        count("tracks", cylinders * heads, "in use, on all surfaces"),
        count("cylinders", cylinders, "tracks that the heads reach without a seek"),
        count("sectors of the outermost track", hdd.sectors_per_track(0), of_a_track),
        count("sectors of the innermost track", hdd.sectors_per_track(last), of_a_track),
        milliseconds("revolution", revolution.as_us(), "60 s / rpm"),
        milliseconds("random read", idle_read_us, "command + mean seek + half a revolution, without data and link"),
    ]
}

/// Sizes, counts, memory.
fn of_flash(ssd: &Ssd) -> Vec<Value> {
    let geometry = ssd.ftl.geometry;
    let exported = u64::from(ssd.ftl.exported) * u64::from(geometry.unit_bytes);
    let physical = geometry.physical_bytes();
    let mut lines = vec![
        bytes("capacity", ssd.limits().capacity_bytes(), "what the drive exports"),
        bytes("physical", physical, "all blocks, factory bad ones included"),
        bytes("spare", physical - exported, "physical − exported"),
        percent("spare share", physical as f64 / exported as f64 - 1.0, "of the exported capacity"),
    ];
    lines.extend(shape(&geometry, ssd.config().nand.page_bytes.0));
    lines.push(count("bad blocks", ssd.ftl.flash.array.bad_blocks() as u64, "from the factory and grown"));
    let spare_blocks = ssd.ftl.spare_blocks().max(0) as u64;
    lines.push(count("available spare", spare_blocks, "blocks that can fail before the drive goes read-only"));
    if let Ok(taken) = memory_bytes(ssd.config()) {
        let about = "what the simulation takes at most: all flash written, and the drive being saved";
        lines.push(bytes("memory", taken, about));
    }
    lines.extend(map_ram(ssd, exported, geometry.block_bytes()));
    lines
}

fn shape(geometry: &Geometry, page_bytes: u64) -> [Value; 7] {
    let together = "erased at once, all planes of a multi-plane group together";
    [
        bytes("mapping unit", geometry.unit_bytes.into(), "what an entry of the map stands for"),
        bytes("page", page_bytes, "a row's part in one plane"),
        bytes("row", geometry.row_bytes.into(), "programmed at once"),
        count("units a row", geometry.units_per_row.into(), "mapping units, uncompressed; 1 where a unit is larger"),
        bytes("block", geometry.block_bytes(), together),
        count("blocks", geometry.blocks.into(), "of all dies"),
        count("blocks a die", (geometry.blocks / geometry.dies).into(), "at least; the first dies may have one more"),
    ]
}

/// RAM for page states and map, as this drive has it and as other schemes would.
fn map_ram(ssd: &Ssd, mapped_bytes: u64, block_bytes: u64) -> [Value; 5] {
    let mapped = Mapped { bytes: mapped_bytes, unit_bytes: u64::from(ssd.unit_bytes()), block_bytes };
    let cached = match ssd.config().ftl.mapping_cache_bytes {
        Some(cache) => (cache.0, "ftl.mapping_cache_bytes and the directory of translation pages: this drive"),
        None => (mapped.page_map() / 100, "a cache of 1 % of the page map, and the directory"),
    };
    let own = match ssd.config().ftl.mapping_cache_bytes {
        Some(_) => "4 B an exported mapping unit, all in RAM",
        None => "4 B an exported mapping unit: this drive",
    };
    [
        bytes("page states", mapped.page_states(1), "RAM at 1 bit a mapping unit, in use or not"),
        bytes("map", mapped.page_map(), own),
        bytes("map by block", mapped.block_map(), "4 B a block, as the simplest early drives"),
        bytes("map, hybrid", mapped.hybrid_log_block(LOG_SHARE), "by block, and by unit in 3 % log blocks"),
        bytes("map, cached", mapped.demand_cached(cached.0), cached.1),
    ]
}

#[cfg(test)]
mod test {
    use super::*;
    use ssdlab_device::profile::{Profile, built_in, names};
    use std::collections::BTreeMap;

    fn lines_of(name: &str, settings: &[(&str, &str)]) -> Vec<Value> {
        let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let profile = Profile::read(name, name, built_in(name).unwrap(), &settings).unwrap();
        of_drive(&Drive::new(&profile.model, 1).unwrap())
    }

    /// One figure a line: of every profile each key stands once, with a number and a known unit.
    #[test]
    fn every_line_has_one_figure() {
        for name in names() {
            let mut by_key = BTreeMap::new();
            for line in lines_of(name, &[]) {
                assert!(line["value"].is_number() && !line["about"].as_str().unwrap().is_empty(), "{name}: {line}");
                assert!(["B", "ms", "%", "1"].contains(&line["unit"].as_str().unwrap()), "{name}: {line}");
                assert_eq!(by_key.insert(line["key"].to_string(), ()), None, "{name}: {line}");
            }
        }
    }

    /// By hand: 1 GiB in 4 KiB units and pages, 128 pages a block: 2048 blocks and 28 % of them, 573, and one
    /// that stays free for each of 32 dies; the map takes 4 B a unit.
    #[test]
    fn sizes_by_hand() {
        let lines = lines_of("theory", &[("capacity_bytes", "1GiB"), ("over_provisioning", "0.28")]);
        let value = |key: &str| lines.iter().find(|line| line["key"] == key).unwrap()["value"].as_u64().unwrap();
        assert_eq!((value("page"), value("row"), value("block")), (4096, 4096, 128 * 4096));
        assert_eq!(value("blocks"), 2048 + 573 + 32);
        assert_eq!(value("spare"), (573 + 32) * value("block"));
        assert_eq!((value("capacity"), value("map")), (1 << 30, 1 << 20));
    }
}
