//! Rates under load against the slowest stage, worked out from the drive's parameters.
//!
//! A die that reads is busy for tR and its transfer, one that writes for its transfer and tPROG; a
//! channel and the link for their transfers.

use crate::stand::{Stand, assert_within, four_kib, large};
use ssdlab_device::block::{Device, Operation, Request};
use ssdlab_device::units::{Lba, Nanos};

const GIB: (&str, &str) = ("capacity_bytes", "1 GiB");
const MIB_UNITS: u32 = 256;
/// Of the theory profile, in µs: tR, tPROG, 4096 B over the channel at 333 MB/s.
const READ_US: f64 = 75.0;
const PROGRAM_US: f64 = 750.0;
const TRANSFER_US: f64 = 4096.0 / 333.0;

/// MB/s of sequential reads of what was written in order.
fn read_rate(settings: &[(&str, &str)]) -> f64 {
    let mut stand = Stand::new("theory", &[&[GIB], settings].concat());
    stand.fill(256 * MIB_UNITS);
    stand.sequential_mb_per_s(Operation::Read, 2_000)
}

/// MB/s of sequential writes to a fresh drive.
fn write_rate(settings: &[(&str, &str)]) -> f64 {
    let mut stand = Stand::new("theory", &[&[GIB], settings].concat());
    let rate = stand.sequential_mb_per_s(Operation::Write, 2_000);
    assert_eq!(stand.ssd.counters().blocks_erased, 0, "the drive is fresh until the end");
    rate
}

/// Sequential reads at depth 32 run at the rate of the slowest stage: the link, the channels, or the dies.
#[test]
fn sequential_read_is_bound_by_the_slowest() {
    // 8 channels of 333 MB/s and 32 dies of 4096 B in tR + transfer are far above 300 MB/s.
    assert_within(0.02, read_rate(&[("link.mb_per_s", "300")]), 300.0, "link");
    // 32 dies need tR + transfer = 75 + 102.4 µs for 4096 B, 739 MB/s.
    assert_within(0.02, read_rate(&[("nand.channel_mb_per_s", "40")]), 8.0 * 40.0, "channels");
    let dies = 8.0 * 4096.0 / (READ_US + TRANSFER_US);
    assert_within(0.02, read_rate(&[("nand.dies_per_channel", "1")]), dies, "dies");
}

/// Sequential writes to a fresh drive at depth 32 run at the rate of the slowest stage as well; the dies take a row in
/// transfer + tPROG.
#[test]
fn sequential_write_is_bound_by_the_slowest() {
    assert_within(0.02, write_rate(&[("link.mb_per_s", "100")]), 100.0, "link");
    // 32 dies need transfer + tPROG = 409.6 + 750 µs for 4096 B, 113 MB/s.
    assert_within(0.02, write_rate(&[("nand.channel_mb_per_s", "10")]), 8.0 * 10.0, "channels");
    let dies = 32.0 * 4096.0 / (TRANSFER_US + PROGRAM_US);
    assert_within(0.02, write_rate(&[]), dies, "dies");
}

/// The same bounds hold for drives as sold: SATA reads at the link's rate, fresh writes at that of dies or link.
#[test]
fn sequential_rates_of_profiles() {
    for profile in ["intel-dc-s3500-80gb", "micron-7450-pro-960gb"] {
        let mut stand = Stand::new(profile, &[("capacity_bytes", "8 GiB"), ("nand.pages_per_block", "96")]);
        let config = stand.ssd.config().clone();
        stand.fill(256 * MIB_UNITS);
        let nand = &config.nand;
        let (page, planes) = (nand.page_bytes.0 as f64, f64::from(nand.planes));
        let dies = f64::from(nand.channels * nand.dies_per_channel);
        let row_us = planes * (page + nand.spare_bytes.0 as f64) / nand.channel_mb_per_s;
        let mean = |times: &[Nanos]| times.iter().map(|time| time.as_us()).sum::<f64>() / times.len() as f64;
        let channels = f64::from(nand.channels) * planes * page / row_us;
        // The link's own command frames go by while data of other commands crosses.
        let program = dies * planes * page / (row_us + mean(&nand.program_us.0));
        let written = stand.sequential_mb_per_s(Operation::Write, 8_000);
        // The buffer holds the last of it.
        let in_buffer = 8_000.0 * 131_072.0 / (8_000.0 * 131_072.0 - config.buffer.bytes.0 as f64);
        let bound = config.link.mb_per_s.min(channels).min(program);
        assert!(
            written > 0.98 * bound && written < 1.02 * bound * in_buffer,
            "{profile}: {written:.1} MB/s, by hand {bound:.1}"
        );
        stand.run(1, [Request::new(Operation::Flush, Lba(0), 0)]);
        stand.pass(Nanos::from_s(1.0));
        let read = stand.sequential_mb_per_s(Operation::Read, 8_000);
        let sense = dies * planes * page / (row_us + mean(&nand.read_us.0));
        let bound = config.link.mb_per_s.min(channels).min(sense);
        assert_within(0.02, read, bound, profile);
    }
}

/// Random reads at depth 1 reach exactly 1/latency; a greater depth never less, never more than depth/latency, and never
/// more than channels and dies give.
#[test]
fn random_reads_scale_with_depth() {
    let mut stand = Stand::new("theory", &[GIB]);
    stand.fill(256 * MIB_UNITS);
    let latency = Nanos(1_000 + 75_000 + 12_301 + 1_171);
    let channels = 8.0 * 333e6 / 4096.0;
    let dies = 32.0 * 1e6 / (READ_US + TRANSFER_US);
    let count = 20_000;
    let mut last = 0.0;
    for depth in 1..=32 {
        let mut draw = 1u64;
        let requests = (0..count).map(|_| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            four_kib(Operation::Read, (draw >> 33) % u64::from(256 * MIB_UNITS))
        });
        let start = stand.now;
        stand.run(depth, requests);
        let length = stand.now - start;
        if depth == 1 {
            assert_eq!(length, Nanos(count * latency.0));
        }
        let iops = count as f64 / length.as_s();
        let bound = (depth as f64 / latency.as_s()).min(channels).min(dies);
        assert!(iops <= bound * (1.0 + 1e-9), "depth {depth}: {iops:.0} IOPS, no more than {bound:.0} by hand");
        assert!(iops > last, "depth {depth}: {iops:.0} IOPS, fewer than the {last:.0} before");
        last = iops;
    }
}

/// One die is never idle at depth 2: 4 KiB in tR + transfer, whatever the depth.
#[test]
fn one_die_is_never_idle() {
    for depth in [2, 8, 32] {
        let mut stand = Stand::new("theory", &[GIB, ("nand.channels", "1"), ("nand.dies_per_channel", "1")]);
        stand.fill(MIB_UNITS);
        let done = stand.run(depth, (0..1_000).map(|number| four_kib(Operation::Read, number * 7 % 256)));
        // The first comes after command, tR, transfer, link; each further one tR + transfer later.
        let first = 1_000 + 75_000 + 12_301 + 1_171;
        assert_eq!(done[999].completed, Nanos(first + 999 * (75_000 + 12_301)), "depth {depth}");
    }
}

/// A saturated channel is never idle: 4 dies that would sense faster than it sends follow each other without a gap.
#[test]
fn saturated_channel_is_never_idle() {
    let settings = [GIB, ("nand.channels", "1"), ("nand.dies_per_channel", "4"), ("nand.channel_mb_per_s", "100")];
    let mut stand = Stand::new("theory", &settings);
    stand.fill(MIB_UNITS);
    let done = stand.run(16, (0..1_000).map(|number| four_kib(Operation::Read, number % 256)));
    // 40.96 µs over the channel; with 4 dies in turn a die senses again while the 3 others send.
    let last = done.iter().map(|done| done.completed).max().unwrap();
    assert_eq!(last, Nanos(1_000 + 75_000 + 1_000 * 40_960 + 1_171));
}

/// A burst of writes to a fresh buffered drive runs at the link's rate until the buffer is full, then at that of
/// programming.
#[test]
fn burst_fills_the_buffer() {
    let settings = [GIB, ("buffer.bytes", "8 MiB"), ("link.mb_per_s", "400"), ("nand.dies_per_channel", "1")];
    let mut stand = Stand::new("theory", &settings);
    let done = stand.run(32, (0..1_000).map(|number| large(Operation::Write, number)));
    let crossing = Nanos::of_transfer(128 << 10, 400.0);
    let program = 8.0 * 4096.0 / (TRANSFER_US + PROGRAM_US);
    // The buffer fills with the link's rate less that of programming.
    let at_link_speed = f64::from(8 << 20) * 400.0 / (400.0 - program);
    let full = (at_link_speed / 131_072.0) as u64;
    for number in 0..full * 98 / 100 {
        assert_eq!(done[number as usize].completed, Nanos(1_000 + (number + 1) * crossing.0), "write {number}");
    }
    let (first, last) = (done[full as usize * 102 / 100], done[999]);
    let bytes = (999 - full * 102 / 100) * 131_072;
    let rate = bytes as f64 / (last.completed - first.completed).as_us();
    assert_within(0.02, rate, program, "MB/s once the buffer is full");
    assert!(rate < 0.2 * 400.0, "the two phases can be told apart");
}

/// A drive with three page kinds writes at the rate of their mean tPROG.
#[test]
fn page_kinds_write_with_their_mean() {
    let settings = [("nand.cell", "tlc"), ("nand.pages_per_block", "96"), ("nand.program_us", "[400, 700, 1300]")];
    let expected = 32.0 * 4096.0 / (TRANSFER_US + (400.0 + 700.0 + 1300.0) / 3.0);
    assert_within(0.02, write_rate(&settings), expected, "MB/s");
}

/// Two planes that are programmed together write nearly twice as much: a row of two pages in two transfers and one tPROG.
#[test]
fn planes_double_the_program_rate() {
    let rate = |planes: u32, multi_plane: &str| {
        write_rate(&[("nand.planes", &planes.to_string()), ("nand.multi_plane", multi_plane)])
    };
    let by_hand = |planes: f64| 32.0 * planes * 4096.0 / (planes * TRANSFER_US + PROGRAM_US);
    assert_within(0.02, rate(1, "true"), by_hand(1.0), "one plane");
    assert_within(0.02, rate(2, "true"), by_hand(2.0), "two planes");
    assert_within(0.02, rate(2, "false"), by_hand(1.0), "two planes that are programmed one by one");
    assert_within(0.02, by_hand(2.0) / by_hand(1.0), 1.97, "twice as much, less one more transfer");
}

/// A half-duplex link carries reads and writes in turn, a full-duplex link both at once.
#[test]
fn half_duplex_link_is_shared() {
    let time = |link: &[(&str, &str)]| {
        // Reads hit nothing and writes end in the buffer, so that only the link is at work.
        let mut stand =
            Stand::new("theory", &[&[GIB, ("buffer.bytes", "256 MiB"), ("link.mb_per_s", "200")], link].concat());
        let requests = (0..1_000u64).map(|number| match number % 2 {
            0 => large(Operation::Read, 5_000 + number),
            _ => large(Operation::Write, number),
        });
        stand.run(32, requests);
        stand.now.as_us()
    };
    let crossing = 131_072.0 / 200.0;
    assert_within(
        0.01,
        time(&[("link.protocol", "sata-ncq"), ("link.queue_depth", "32")]),
        1_000.0 * crossing,
        "half duplex, µs",
    );
    assert_within(0.01, time(&[("link.protocol", "nvme")]), 500.0 * crossing, "full duplex, µs");
}

/// Under random writes with garbage collection the dies' time adds up: each is busy for no longer than time passes, and no
/// program, move or erase is shorter than its parts.
#[test]
fn die_time_adds_up() {
    let mut stand = Stand::new(
        "theory",
        &[("capacity_bytes", "64 MiB"), ("nand.pages_per_block", "16"), ("over_provisioning", "0.5")],
    );
    stand.fill(16_384);
    let mut draw = 1u64;
    let requests = (0..60_000).map(|_| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        four_kib(Operation::Write, (draw >> 33) % 16_384)
    });
    stand.run(64, requests);
    // What is being collected is collected to the end.
    stand.pass(Nanos::from_ms(100.0));
    let counters = stand.ssd.counters();
    assert!(counters.gc_pages_moved > 10_000, "collection is at work");
    let busy = counters.die_host_write_ns + counters.die_move_ns + counters.die_erase_ns;
    assert!(busy <= 32 * stand.now.0, "dies are busy for {busy} ns in {} ns", stand.now.0);
    assert_eq!(counters.die_erase_ns, counters.blocks_erased * 3_800_000);
    let moves = counters.gc_pages_moved * (75_000 + 2 * 12_301 + 750_000);
    assert!(counters.die_move_ns >= moves, "a move takes tR, two transfers and tPROG, or longer where it waits");
    assert!(counters.die_host_write_ns >= 60_000 * (12_301 + 750_000));
}
