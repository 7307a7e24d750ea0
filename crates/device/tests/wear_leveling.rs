//! What static wear levelling is worth: the life of a drive of which a part is never written again.
//!
//! With dynamic levelling alone the blocks of the cold data are never erased, so only 1 + OP − x of the 1 + OP
//! blocks (in shares of the exported capacity, x the cold share) take all wear. Levelling that makes all of
//! them wear alike therefore gives at most
//!
//! ```text
//!   life with / life without = (1 + OP) / (1 + OP − x) = 1 / (1 − x / (1 + OP))
//! ```

use crate::stand::Stand;
use ssdlab_device::block::Device;
use ssdlab_device::counters::Counters;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::units::Lpn;

const UNITS: u32 = 32_768;

/// Writes a drive in order once, then at random all but its first, cold, part until it is read-only.
fn life(over_provisioning: &str, cold_share: f64, more: &[(&str, &str)]) -> Counters {
    let settings = [
        ("capacity_bytes", "128 MiB"),
        ("over_provisioning", over_provisioning),
        ("nand.channels", "1"),
        ("nand.dies_per_channel", "1"),
        ("nand.pages_per_block", "64"),
        ("ftl.frontiers", "host-gc"),
        ("ftl.dynamic_wear_leveling", "true"),
        ("reliability.rated_cycles", "600"),
        ("reliability.cycles_spread", "0"),
        ("nand.erase_growth", "1"),
        ("nand.erase_limit_us", "7600"),
    ];
    let mut stand = Stand::new("theory", &[&settings, more].concat());
    stand.fill(UNITS);
    let cold = (f64::from(UNITS) * cold_share) as u32;
    let mut draws = Stream::new(5, Purpose::Victim);
    while stand.ssd.write_now(Lpn(cold + draws.below(UNITS - cold)), 0) {}
    stand.ssd.counters()
}

#[test]
fn static_leveling_makes_all_blocks_wear() {
    for (op, cold_share) in [(0.07, 0.5), (0.07, 0.9), (0.28, 0.5), (0.28, 0.9)] {
        let bound = 1.0 / (1.0 - cold_share / (1.0 + op));
        let without = life(&op.to_string(), cold_share, &[]);
        let with = life(&op.to_string(), cold_share, &[("ftl.static_wear_cycles", "30")]);
        let gain = with.host_pages_written as f64 / without.host_pages_written as f64;
        let copies = with.wear_leveling_pages_moved as f64;
        let share = copies / (with.nand_pages_written as f64 - copies);
        println!(
            "OP {op}, cold {cold_share}: life x {gain:.2} of {bound:.2} at most, copies {share:.3} of other programs"
        );
        assert!((0.8..1.02).contains(&(gain / bound)), "OP {op}, cold {cold_share}: x {gain:.2} of {bound:.2}");
        assert!(share > 0.0 && share < 0.1, "OP {op}, cold {cold_share}: copies are {share:.3} of the other programs");
    }
}

/// Where all data is written alike nothing is cold: levelling finds nothing to do.
#[test]
fn uniform_writes_need_no_leveling() {
    let with = life("0.28", 0.0, &[("ftl.static_wear_cycles", "30"), ("reliability.rated_cycles", "60")]);
    assert_eq!(with.wear_leveling_pages_moved, 0);
}
