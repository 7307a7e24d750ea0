//! Host writes held to a rate while free blocks are short.

use crate::stand::{Stand, assert_within, four_kib};
use ssdlab_device::block::{Device, Operation};
use ssdlab_device::units::Nanos;

type Setting = (&'static str, &'static str);

const SMALL: [Setting; 5] = [
    ("capacity_bytes", "128 MiB"),
    ("nand.channels", "4"),
    ("over_provisioning", "0.4"),
    ("ftl.frontiers", "host-gc"),
    ("buffer.bytes", "1 MiB"),
];
const UNITS: u64 = 128 * 256;

fn stand(more: &[Setting]) -> Stand {
    Stand::new("theory", &[&SMALL[..], more].concat())
}

/// Numbers without an order (the finaliser of SplitMix64).
fn scatter(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

/// MB/s of random writes, after others of three times the capacity.
fn steady_mb_per_s(more: &[Setting]) -> f64 {
    let mut stand = stand(more);
    let write = |number: u64| four_kib(Operation::Write, scatter(number) % UNITS);
    (0..3 * UNITS).for_each(|number| {
        stand.ssd.apply_now(write(number));
    });
    stand.run(64, (3 * UNITS..4 * UNITS).map(write));
    let start = stand.now;
    stand.run(64, (4 * UNITS..5 * UNITS).map(write));
    (UNITS * 4096) as f64 / (stand.now - start).as_us()
}

/// By hand: a drive that can do more writes at its pace, to four digits, whether collection comes in batches or
/// smoothly; one that cannot is as fast as without.
#[test]
fn a_drive_in_use_is_held_to_the_pace() {
    for pace in ["batch", "smooth"] {
        let common = [("ftl.gc_pace", pace)];
        let free = steady_mb_per_s(&common);
        assert!(free > 5.0, "{pace}: {free}");
        let paced = steady_mb_per_s(&[common[0], ("controller.paced_write_mb_per_s", "4")]);
        assert_within(0.0005, paced, 4.0, pace);
        let loose = steady_mb_per_s(&[common[0], ("controller.paced_write_mb_per_s", "100")]);
        assert_within(0.01, loose, free, pace);
    }
}

/// A drive with free blocks is as fast as without, to the nanosecond, until they are short.
#[test]
fn a_fresh_drive_is_not_held() {
    for protocol in [("link.queue_depth", "64"), ("link.protocol", "sata-ncq")] {
        let took = |more: &[Setting]| {
            let depth = ("link.queue_depth", "32");
            let mut stand = stand(&[&[protocol, depth], more].concat());
            stand.run(32, (0..UNITS).map(|number| four_kib(Operation::Write, number)));
            stand.now
        };
        let pace = ("controller.paced_write_mb_per_s", "1");
        assert_eq!(took(&[pace]), took(&[]), "{protocol:?}");
    }
}

/// By hand: 4096 B at 4 MB/s are 1024 µs, so of writes that come together each is done so much later than the one
/// before; those that come more slowly wait for nothing.
#[test]
fn writes_wait_for_their_turn() {
    let latencies = |more: &[Setting], depth| {
        let mut stand = stand(more);
        stand.fill(UNITS as u32);
        // Overwrites until some die is short.
        (0..UNITS).for_each(|number| {
            stand.ssd.apply_now(four_kib(Operation::Write, scatter(number) % UNITS));
        });
        stand.ssd.flush_now();
        stand.ssd.ftl.backlog.clear();
        stand.pass(Nanos(10_000_000));
        let done = stand.run(depth, (0..4).map(|number| four_kib(Operation::Write, number)));
        done.iter().map(|each| each.completed - done[0].completed).collect::<Vec<_>>()
    };
    let paced = latencies(&[("controller.paced_write_mb_per_s", "4")], 4);
    assert_eq!(paced, [0, 1_024_000, 2_048_000, 3_072_000].map(Nanos));
    let free = latencies(&[], 4);
    assert_eq!(free, [0, 1_171, 2_342, 3_513].map(Nanos));
}
