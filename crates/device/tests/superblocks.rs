//! Superblocks over all dies, and over some of them.

use crate::stand::{Stand, four_kib};
use ssdlab_device::block::{Device, Operation};
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::units::BlockId;

type Setting = (&'static str, &'static str);

const SMALL: [Setting; 7] = [
    ("capacity_bytes", "64 MiB"),
    ("nand.channels", "2"),
    ("nand.dies_per_channel", "3"),
    ("nand.pages_per_block", "32"),
    ("over_provisioning", "none"),
    ("nand.blocks_per_plane", "120"),
    ("ftl.frontiers", "host-gc"),
];
const DIES: u32 = 6;

/// Numbers without an order (the finaliser of SplitMix64).
fn scatter(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

/// A drive after random writes of five times its capacity.
fn used(more: &[Setting]) -> Stand {
    let mut stand = Stand::new("theory", &[&SMALL[..], more].concat());
    let units = 64 * 256;
    stand.fill(units as u32);
    stand.run(32, (0..5 * units).map(|number| four_kib(Operation::Write, scatter(number) % units)));
    stand.ssd.ftl.check();
    stand
}

fn superblocks(dies: &'static str) -> [Setting; 2] {
    [("ftl.striping", "superblock"), ("ftl.superblock_dies", dies)]
}

/// Blocks of one number are erased together within a superblock, but for the one that a pool is erasing, and only there.
#[test]
fn a_superblock_is_erased_as_a_whole() {
    for (span, text) in [(2, "2"), (3, "3"), (6, "6"), (6, "none")] {
        let stand = used(&superblocks(text));
        let ftl = &stand.ssd.ftl;
        let erases = |block: u32| ftl.flash.array.erases(BlockId(block));
        let number_of = |first: u32| (first..first + DIES).map(erases).collect::<Vec<_>>();
        let (mut halves, mut apart) = (0, 0);
        for first in (0..ftl.geometry.blocks).step_by(DIES as usize) {
            let superblocks: Vec<Vec<u32>> = number_of(first).chunks(span).map(<[u32]>::to_vec).collect();
            halves += superblocks.iter().filter(|lanes| lanes.iter().any(|erases| *erases != lanes[0])).count();
            apart += usize::from(superblocks.iter().any(|lanes| lanes[0] != superblocks[0][0]));
        }
        assert!(halves <= DIES as usize / span, "{text}: {halves} superblocks are half erased");
        assert_eq!(apart > 20, span < 6, "{text}: {apart} numbers whose superblocks differ");
    }
}

/// All dies are what no number says, and one die is a block of its own: to the nanosecond.
#[test]
fn the_ends_are_those_that_were_there() {
    let told = |more: &[Setting]| {
        let mut stand = used(more);
        let counters = stand.ssd.counters();
        (stand.now, counters.nand_pages_written, counters.blocks_erased, counters.die_move_ns)
    };
    assert_eq!(told(&superblocks("6")), told(&superblocks("none")));
    assert_eq!(told(&superblocks("1")), told(&[("ftl.striping", "per-die")]));
}

/// A span that leaves dies over, or one without superblocks, is refused with its remedy.
#[test]
fn wrong_spans_are_refused() {
    let refused = |striping: &str, dies: &str| {
        let settings = [("ftl.striping", striping), ("ftl.superblock_dies", dies), SMALL[1], SMALL[2]];
        let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Profile::read("theory", "theory", built_in("theory").unwrap(), &settings).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused("superblock", "4").contains("must divide the 6 dies"));
    assert!(refused("per-die", "2").contains("needs ftl.striping"));
}
