//! Compression: zeros take the floor of it, and what does not compress is as if there were none.

use crate::stand::{Stand, assert_within, config, four_kib};
use proptest::prelude::*;
use ssdlab_device::block::{Device, Operation, Request};
use ssdlab_device::counters::Counters;
use ssdlab_device::ftl::layout::layout;
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::nand::geometry::Geometry;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::units::{Lpn, Nanos};

const UNITS: u32 = 32 << 8;
const FLOOR: (&str, &str) = ("controller.compression_floor", "0.14");

/// A theory drive of 32 MiB with a buffer, with or without compression, that holds data that do not compress.
fn drive(compression: &str, row: &str, frontiers: &str) -> Stand {
    let mut stand = Stand::new(
        "theory",
        &[
            ("capacity_bytes", "32 MiB"),
            ("nand.channels", "2"),
            ("nand.dies_per_channel", "2"),
            ("nand.pages_per_block", "16"),
            ("nand.page_bytes", row),
            ("ftl.mapping_unit_bytes", "4 KiB"),
            ("over_provisioning", "0.6"),
            ("buffer.bytes", "1 MiB"),
            ("ftl.frontiers", frontiers),
            ("controller.compression", compression),
            FLOOR,
        ],
    );
    stand.fill(UNITS);
    stand
}

/// Units drawn at random, the same ones each time.
fn scattered(count: u32) -> impl Iterator<Item = u32> {
    let mut draws = Stream::new(3, Purpose::Victim);
    (0..count).map(move |_| draws.below(UNITS))
}

/// Writes units without time; returns the write amplification of them alone.
fn amplification(stand: &mut Stand, lpns: impl Iterator<Item = u32>, compress_percent: u8) -> f64 {
    let before = stand.ssd.counters();
    lpns.for_each(|lpn| assert!(stand.ssd.write_now(Lpn(lpn), compress_percent)));
    stand.ssd.flush_now();
    stand.ssd.ftl.check();
    (stand.ssd.counters() - before).unit_write_amplification().unwrap()
}

/// Of zeros a unit takes ⌊4096 · 0.14⌋ = 573 B, so that a row of 4 KiB holds 7, one of 8 KiB 14 and one of 32 KiB 57.
/// In order nothing has to be moved, and write amplification is what a row holds uncompressed over that.
#[test]
fn zeros_in_order_take_the_floor() {
    for (row, by_hand) in [("4 KiB", 1.0 / 7.0), ("8 KiB", 2.0 / 14.0), ("32 KiB", 8.0 / 57.0)] {
        let mut stand = drive("true", row, "host-gc");
        let in_order = || (0..8 * UNITS).map(|number| number % UNITS);
        amplification(&mut stand, in_order(), 100);
        assert_within(0.01, amplification(&mut stand, in_order(), 100), by_hand, row);
    }
}

/// With time too, however the host cuts its requests: a row waits in the buffer until it is full.
#[test]
fn zeros_wait_for_a_full_row() {
    for row in ["4 KiB", "8 KiB", "32 KiB"] {
        let mut stand = drive("true", row, "host-gc");
        let before = stand.ssd.counters();
        let zeros = |number| Request { compress_percent: 100, ..four_kib(Operation::Write, number) };
        stand.run(4, (0..u64::from(UNITS)).map(zeros));
        let timed = (stand.ssd.counters() - before).unit_write_amplification().unwrap();
        assert!((0.13..0.145).contains(&timed), "{row}: {timed}");
    }
}

/// At random as well, nearly: what is valid fills an eleventh of the flash, so that victims are nearly empty.
#[test]
fn zeros_at_random_take_little_more() {
    for row in ["4 KiB", "8 KiB", "32 KiB"] {
        let mut stand = drive("true", row, "host-gc");
        amplification(&mut stand, scattered(20 * UNITS), 100);
        let random = amplification(&mut stand, scattered(8 * UNITS), 100);
        assert!((0.14..0.16).contains(&random), "{row}: {random}");
    }
}

/// Half of it can be compressed away: a row of 8 KiB holds four units in place of two.
#[test]
fn halves_take_half() {
    let mut stand = drive("true", "8 KiB", "host-gc");
    let in_order = || (0..8 * UNITS).map(|number| number % UNITS);
    amplification(&mut stand, in_order(), 50);
    assert_within(0.01, amplification(&mut stand, in_order(), 50), 0.5, "write amplification");
}

/// Reads and writes of data that do not compress, at random and in order, with time.
fn mixed(stand: &mut Stand) -> (Counters, Nanos) {
    let before = (stand.ssd.counters(), stand.now);
    let writes = scattered(6 * UNITS).map(|number| four_kib(Operation::Write, number.into()));
    stand.run(16, writes);
    stand.run(4, scattered(2000).map(|number| four_kib(Operation::Read, number.into())));
    (stand.ssd.counters() - before.0, stand.now - before.1)
}

/// Where a row is one unit, nothing can be told from a drive without compression.
#[test]
fn data_that_do_not_compress_are_as_without() {
    for frontiers in ["single", "host-gc"] {
        let [with, without] = ["true", "false"].map(|compression| mixed(&mut drive(compression, "4 KiB", frontiers)));
        assert_eq!(with, without, "{frontiers}");
    }
}

/// Rows of several units likewise, but for the last row of a victim: without compression its free slots
/// are left out, with it the next row begins there.
#[test]
fn rows_of_several_units_are_nearly_as_without() {
    for row in ["8 KiB", "16 KiB"] {
        let [with, without] = ["true", "false"].map(|compression| mixed(&mut drive(compression, row, "host-gc")));
        let figures = |(counters, time): &(Counters, Nanos)| {
            assert!(counters.gc_pages_moved > u64::from(UNITS), "victims hold what is valid");
            [counters.unit_write_amplification().unwrap(), counters.die_move_ns as f64, time.0 as f64]
        };
        for (with, without) in figures(&with).into_iter().zip(figures(&without)) {
            assert_within(0.04, with, without, row);
        }
    }
}

/// Read in order, each row of data that do not compress is sensed: a request of 128 KiB takes as long as without.
#[test]
fn each_row_is_sensed() {
    for row in ["4 KiB", "8 KiB", "16 KiB"] {
        let read = |compression| {
            let mut stand = drive(compression, row, "host-gc");
            let time = stand.sequential_mb_per_s(Operation::Read, 100);
            (time.to_bits(), stand.ssd.counters().die_host_read_ns)
        };
        assert_eq!(read("true"), read("false"), "{row}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the mix, a row has its place in its block, and units that share one are neighbours in it.
    #[test]
    fn rows_lie_in_their_block(percents in prop::collection::vec(0u8..=100, 1..12), stride in 1u32..40) {
        let mut stand = drive("true", "8 KiB", "host-gc");
        for number in 0..6 * UNITS {
            let percent = percents[(number / stride) as usize % percents.len()];
            prop_assert!(stand.ssd.write_now(Lpn(number * 5 % UNITS), percent));
        }
        stand.ssd.flush_now();
        let ftl = &stand.ssd.ftl;
        ftl.check();
        for lpn in 0..UNITS {
            if let Place::Flash(ppn) = ftl.place(Lpn(lpn)) {
                prop_assert!(ftl.row(ppn) < ftl.flash.array.programmed_rows(ftl.geometry.block(ppn)));
            }
        }
    }
}

/// Row by row in turn zeros and data that do not compress: every other die gets only zeros, seven times the units of
/// its neighbour. The drive goes on all the same.
#[test]
fn dies_filled_unevenly_go_on() {
    let mut stand = drive("true", "8 KiB", "host-gc");
    for (number, lpn) in (0..).zip(scattered(40 * UNITS)) {
        // Fourteen zeros are a row, and so are two units that do not compress.
        let percent = if number % 16 < 14 { 100 } else { 0 };
        assert!(stand.ssd.write_now(Lpn(lpn), percent), "still writable after {number}");
    }
    stand.ssd.flush_now();
    stand.ssd.ftl.check();
}

/// The shape of a theory drive.
fn geometry(settings: &[(&str, &str)]) -> Geometry {
    layout(&config("theory", settings)).expect("possible").0
}

/// A row has slots for as many units as the floor allows, and none more without compression.
#[test]
fn slots_follow_the_floor() {
    for (floor, packing) in [("0.05", 20), ("0.125", 8), ("0.14", 8), ("0.4", 3), ("0.6", 2), ("1", 1)] {
        let settings = [("controller.compression", "true"), ("controller.compression_floor", floor)];
        assert_eq!(geometry(&settings).packing, packing, "{floor}");
    }
    assert_eq!(geometry(&[("controller.compression_floor", "0.125")]).packing, 1);
}

/// On a large drive there are fewer, as many as there are numbers for.
#[test]
fn slots_have_numbers() {
    let size = ("capacity_bytes", "800 GiB");
    let large = geometry(&[size, ("controller.compression", "true"), ("controller.compression_floor", "0.05")]);
    assert!(large.ppn_end() < 1 << 32 && (2..20).contains(&large.packing), "{large:?}");
    let slots_of_one_more = large.slots() / large.packing * (large.packing + 1);
    assert!(slots_of_one_more > 1 << large.slot_bits && large.ppn_end() > 1 << 31, "{large:?}");
}
