//! Which units share cells with a row: what a program that is broken off takes along.

use crate::stand::kinds::{config, drives};
use ssdlab_device::block::{Device, Operation, Request};
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::nand::contents::Row;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{BlockId, Lba, Lpn};
use std::collections::BTreeSet;

/// On every kind of drive, after writes that made it collect, for every slot of every block: the units that the map says
/// lie in earlier rows of the same cells, looked for among all units. With two and with three bits a cell there are some.
#[test]
fn units_below_are_those_of_the_same_cells() {
    for (name, settings) in drives() {
        for cell in ["slc", "mlc", "tlc"] {
            let pages = if cell == "tlc" { "48" } else { "32" };
            let more = [("nand.cell", cell), ("nand.pages_per_block", pages), ("over_provisioning", "2")];
            let is_own = |key: &&(&str, &str)| more.iter().all(|(other, _)| *other != key.0);
            if settings.iter().any(|(key, value)| *key == "ftl.slc_cache" && *value != "none") && cell != "tlc" {
                continue;
            }
            let settings: Vec<_> = settings.iter().filter(is_own).chain(&more).copied().collect();
            let mut ssd: Ssd = Ssd::new(&config(&settings), 7, ()).unwrap_or_else(|problem| panic!("{problem:?}"));
            let mut draws = Stream::new(9, Purpose::Errors);
            for _ in 0..20_000 {
                let lba = draws.below(16 << 11) / 8 * 8;
                ssd.apply_now(Request::new(Operation::Write, Lba(u64::from(lba)), 8));
            }
            let found = check(&ssd, name);
            let has_shared_cells = cell != "slc" && ssd.config().ftl.mapping_unit_bytes.is_none();
            assert!(found > 0 || !has_shared_cells, "{name}, {cell}");
            assert!(found == 0 || cell != "slc", "{name}");
        }
    }
}

fn check(ssd: &Ssd, name: &str) -> usize {
    let ftl = &ssd.ftl;
    let geometry = ftl.geometry;
    let mut by_block = vec![Vec::new(); geometry.blocks as usize];
    for lpn in (0..ftl.exported).map(Lpn) {
        if let Place::Flash(ppn) = ftl.place(lpn) {
            by_block[geometry.block(ppn).0 as usize].push((ftl.row(ppn), lpn));
        }
    }
    let mut found = 0;
    for (block, units) in (0..).map(BlockId).zip(&by_block) {
        for slot in 0..ftl.slots_programmed(block) {
            let ppn = geometry.ppn(block, slot);
            let row = ftl.row(ppn);
            let of_same_cells = |other: u32| {
                (other..other + geometry.rows_per_unit)
                    .any(|other| other < row && other / geometry.page_kinds == row / geometry.page_kinds)
            };
            let is_slc = ftl.flash.array.is_slc(block);
            let wanted: BTreeSet<Lpn> =
                units.iter().filter(|(other, _)| !is_slc && of_same_cells(*other)).map(|(_, lpn)| *lpn).collect();
            let below = ftl.units_below(&Row { block, slots: ppn.0..ppn.0 + 1 });
            let own = below.into_iter().filter(|lpn| lpn.0 < ftl.exported).collect::<BTreeSet<_>>();
            assert_eq!(own, wanted, "{name}, slot {slot} of {block:?}");
            found += wanted.len();
        }
    }
    found
}
