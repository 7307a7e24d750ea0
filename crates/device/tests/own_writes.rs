//! What a drive writes besides host data and copies: parity over dies, and the log of the map. And what a copy costs.

use crate::stand::{Done, Stand, assert_within, config, four_kib};
use ssdlab_device::block::{Device, Operation};
use ssdlab_device::config::DriveConfig;
use ssdlab_device::ftl::layout::layout;

const SMALL: [(&str, &str); 7] = [
    ("capacity_bytes", "256 MiB"),
    ("nand.channels", "2"),
    ("nand.dies_per_channel", "2"),
    ("nand.page_bytes", "16 KiB"),
    ("ftl.mapping_unit_bytes", "4 KiB"),
    ("ftl.frontiers", "host-gc"),
    ("buffer.bytes", "1 MiB"),
];

fn with(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    [&SMALL[..], more].concat()
}

/// Numbers without an order (the finaliser of SplitMix64).
fn scatter(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn blocks_and_units(config: &DriveConfig) -> (u32, u32) {
    let (geometry, _) = layout(config).expect("it can work");
    (geometry.blocks, geometry.units_per_block())
}

/// By hand: of 128 pages in a block one of 16 is parity, so 480 units stay of 512. What over-provisioning counts in all
/// is physical, and the blocks stay as many; of what is collected, blocks that hold less are more.
#[test]
fn parity_takes_room() {
    let op = ("over_provisioning", "0.5");
    let parity = ("ftl.parity_stripe_pages", "16");
    let shape = |counts, more: &[_]| {
        let settings = [&with(&[op, ("ftl.spare_counts", counts), ("ftl.gc_low_blocks", "1")])[..], more].concat();
        blocks_and_units(&config("theory", &settings))
    };
    assert_eq!((shape("all", &[]), shape("all", &[parity])), ((192, 512), (192, 480)));
    assert_eq!((shape("collected", &[]), shape("collected", &[parity])), ((192 + 4, 512), (205 + 4, 480)));
}

/// A fresh drive programs a page of parity behind 15 of data: so many more are counted, and the rate is as much lower.
#[test]
fn parity_takes_its_share_of_programs() {
    let rate = |more: &[_]| {
        let mut stand = Stand::new("theory", &with(more));
        let done = stand.run(64, (0..40_000).map(|number| four_kib(Operation::Write, number)));
        let took = done.iter().map(|each| each.completed.as_us()).fold(0.0, f64::max);
        (took, stand.ssd.counters())
    };
    let spare = ("over_provisioning", "1.0");
    let (without, _) = rate(&[spare]);
    let (with, counters) = rate(&[spare, ("ftl.parity_stripe_pages", "16")]);
    let data = counters.nand_pages_written - counters.parity_pages_written;
    assert_within(0.02, counters.parity_pages_written as f64 / data as f64, 1.0 / 15.0, "pages of parity");
    assert_within(0.02, with / without, 16.0 / 15.0, "time");
}

/// By hand: 64 B an entry fill a row of 16 KiB every 256 units, so one row in 65 is the log's; a trim adds as much.
#[test]
fn the_map_log_follows_changes() {
    let mut stand = Stand::new("theory", &with(&[("ftl.map_log_entry_bytes", "64"), ("over_provisioning", "1.0")]));
    stand.run(64, (0..25_600).map(|number| four_kib(Operation::Write, number)));
    assert_eq!(stand.ssd.counters().map_log_pages_written, 99 * 4, "the buffer holds the rest");
    (0..25_600 - 4096).for_each(|number| {
        stand.time(four_kib(Operation::Trim, number));
    });
    stand.run(64, (0..1024).map(|number| four_kib(Operation::Write, number)));
    let rows = stand.ssd.counters().map_log_pages_written / 4;
    assert!((99 + 84 + 3..=99 + 84 + 5).contains(&rows), "{rows}");
}

/// By hand: moves of all dies queue for the controller. At 200 µs a unit they take longer than all else of the four dies
/// together, so the time is that of the copies; and a fresh drive, which moves nothing, is as fast as without.
#[test]
fn moves_queue_for_the_controller() {
    let run = |cost: &'static str| {
        let more = [("over_provisioning", "0.3"), ("controller.move_unit_us", cost), ("ftl.gc_pace", "smooth")];
        let mut stand = Stand::new("theory", &with(&more));
        let write = |number: u64| four_kib(Operation::Write, scatter(number) % 65_536);
        let last = |done: &[Done]| done.iter().map(|each| each.completed).max().expect("there are some");
        let fresh = last(&stand.run(256, (0..10_000).map(write)));
        let before = last(&stand.run(256, (10_000..200_000).map(write)));
        let counted = stand.ssd.counters();
        let took = last(&stand.run(256, (200_000..300_000).map(write))) - before;
        (fresh, took, (stand.ssd.counters() - counted).gc_pages_moved)
    };
    let (fresh, took, copies) = run("200");
    assert_eq!(fresh, run("0").0);
    assert_within(0.02, took.as_us(), copies as f64 * 200.0, "copies, one after the other");
}

/// While a move waits for the controller, its die serves reads: at 200 µs a unit the four dies' moves of four units
/// wait up to 3.2 ms, and three of four reads take less than a program (750 µs).
#[test]
fn reads_do_not_wait_for_the_controller() {
    let more = [("over_provisioning", "0.3"), ("controller.move_unit_us", "200"), ("ftl.gc_pace", "smooth")];
    let mut stand = Stand::new("theory", &with(&more));
    stand.run(64, (0..200_000).map(|number| four_kib(Operation::Write, scatter(number) % 65_536)));
    let is_read = |number: u64| number.is_multiple_of(10);
    let mixed = (200_000..300_000).map(|number| {
        let operation = if is_read(number) { Operation::Read } else { Operation::Write };
        four_kib(operation, scatter(number) % 65_536)
    });
    let reads = stand.run(64, mixed).into_iter().zip(200_000..).filter(|(_, number)| is_read(*number));
    let mut took: Vec<f64> = reads.map(|(done, _)| done.latency().as_us()).collect();
    took.sort_by(f64::total_cmp);
    let most = took[took.len() * 3 / 4];
    assert!(most < 750.0, "{most}");
}

/// The same drive, steady, with moves that cost a die time of their own: the rate falls by copies · that time.
#[test]
fn moves_cost_their_time() {
    let rate = |cost: &'static str| {
        let more = [("over_provisioning", "0.3"), ("ftl.move_unit_us", cost), ("ftl.gc_pace", "smooth")];
        let mut stand = Stand::new("theory", &with(&more));
        let write = |number: u64| four_kib(Operation::Write, scatter(number) % 65_536);
        let before = stand.run(256, (0..200_000).map(write));
        let counted = stand.ssd.counters();
        let after = stand.run(256, (200_000..300_000).map(write));
        let last = |done: &[Done]| done.iter().map(|each| each.completed).max().expect("there are some");
        (last(&after) - last(&before), (stand.ssd.counters() - counted).gc_pages_moved)
    };
    let ((free, copies), (costly, _)) = (rate("0"), rate("50"));
    let more = costly.as_us() - free.as_us();
    assert_within(0.05, more, copies as f64 * 50.0 / 4.0, "copies, over 4 dies");
}
