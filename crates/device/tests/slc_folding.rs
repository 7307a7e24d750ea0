//! When the SLC cache is folded while the host writes.

use crate::stand::{Stand, four_kib};
use ssdlab_device::block::{Device, Operation};

type Setting = (&'static str, &'static str);

/// Four dies; SLC blocks of 16 units, 16 of them a die at most, and room that a fill does not use up.
const SMALL: [Setting; 9] = [
    ("capacity_bytes", "64 MiB"),
    ("nand.channels", "2"),
    ("nand.dies_per_channel", "2"),
    ("nand.cell", "tlc"),
    ("nand.pages_per_block", "48"),
    ("over_provisioning", "0.8"),
    ("ftl.frontiers", "host-gc"),
    ("ftl.slc_cache", "dynamic"),
    ("ftl.slc_cache_bytes", "4 MiB"),
];
const DIES: u64 = 4;
const SLC_UNITS: u64 = 16;
const UNITS: u64 = 64 * 256;

fn stand(more: &[Setting]) -> Stand {
    Stand::new("theory", &[&SMALL[..], more].concat())
}

/// Units that the host has written when folding begins, of one fill in order.
fn written_before_folding(more: &[Setting]) -> Option<u64> {
    let mut stand = stand(more);
    (0..UNITS / 8).find_map(|step| {
        stand.run(32, (8 * step..8 * step + 8).map(|number| four_kib(Operation::Write, number)));
        let counters = stand.ssd.counters();
        (counters.slc_pages_folded > 0).then_some(counters.host_pages_written)
    })
}

/// By hand: with a share of 16 blocks a die, folding begins when so many are in use, which is when all but the one that
/// is open are full, whatever the pace; a block of moves may be owed first.
#[test]
fn folding_begins_at_its_share() {
    for pace in ["batch", "smooth"] {
        for (share, blocks) in [("0", 1), ("0.25", 4), ("0.5", 8), ("1", 16)] {
            let begins = written_before_folding(&[("ftl.slc_fold_at", share), ("ftl.gc_pace", pace)]);
            let full = DIES * SLC_UNITS * (blocks - 1).max(1);
            let begins = begins.unwrap_or_else(|| panic!("{pace}, {share}: never"));
            assert!((full..=full + DIES * SLC_UNITS).contains(&begins), "{pace}, {share}: {begins}, by hand {full}");
        }
    }
}

/// Without a share folding waits until free blocks are short, which one fill does not bring about.
#[test]
fn without_a_share_folding_waits() {
    for pace in ["batch", "smooth"] {
        assert_eq!(written_before_folding(&[("ftl.gc_pace", pace)]), None, "{pace}");
    }
}

/// Folding under load keeps the cache in use: of a fill that is many times the cache more goes through it, each such
/// unit is programmed twice, and what finds the cache full goes straight to native blocks.
#[test]
fn the_cache_is_used_again_and_again() {
    for pace in ["batch", "smooth"] {
        let fill = |more: &[Setting]| {
            let mut stand = stand(&[&[("ftl.gc_pace", pace)], more].concat());
            stand.run(32, (0..UNITS).map(|number| four_kib(Operation::Write, number)));
            stand.ssd.ftl.check();
            (stand.ssd.counters(), stand.now)
        };
        let ((late, late_ends), (early, early_ends)) = (fill(&[]), fill(&[("ftl.slc_fold_at", "0.5")]));
        assert_eq!((late.slc_pages_folded, late.nand_pages_written), (0, UNITS), "{pace}");
        assert!(early.slc_pages_folded > 3 * 16 * SLC_UNITS * DIES, "{pace}: {}", early.slc_pages_folded);
        assert!(early.slc_pages_folded < UNITS && early_ends > late_ends, "{pace}");
        let padding = early.padding_pages_written;
        assert_eq!(early.nand_pages_written, UNITS + early.slc_pages_folded + padding, "{pace}");
    }
}
