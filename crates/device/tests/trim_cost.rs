//! What a trim costs by its size, and what one that is not queued does to others.

use crate::stand::{Done, SECTORS, Stand, config, four_kib};
use proptest::prelude::*;
use ssdlab_device::block::{Device, Operation, Request, Tag};
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::nand::contents::Contents;
use ssdlab_device::units::{Lba, Lpn, Nanos};

const SMALL: (&str, &str) = ("capacity_bytes", "1 GiB");
const NCQ: [(&str, &str); 3] = [SMALL, ("link.protocol", "sata-ncq"), ("link.queue_depth", "32")];

/// A trim takes its command, its ranges of 65535 sectors at most, and its mapping units; on NVMe it is one range.
#[test]
fn a_trim_costs_by_its_size() {
    let costs =
        [("controller.trim_command_us", "30"), ("controller.trim_range_us", "5"), ("controller.trim_unit_us", "0.1")];
    let trim = Request::new(Operation::Trim, Lba(0), 131_072);
    for (link, ranges) in [(&NCQ[..], 3), (&NCQ[..1], 1)] {
        let mut stand = Stand::new("theory", &[link, &costs].concat());
        assert_eq!(stand.time(trim), Nanos(30_000 + ranges * 5_000 + 131_072 / 8 * 100), "{ranges} ranges");
    }
}

/// Queued, a read behind a trim waits for the controller only; not queued, the trim waits for the reads before it and
/// the read behind waits for the trim.
#[test]
fn a_trim_that_is_not_queued_stands_alone() {
    let parts = config("theory", &NCQ);
    let (trim, command) = (parts.controller.trim_command_us.0, parts.controller.read_command_us.0);
    for queued in ["true", "false"] {
        let mut stand = Stand::new("theory", &[&NCQ[..], &[("link.trim_queued", queued)]].concat());
        stand.fill(64);
        let read = stand.time(four_kib(Operation::Read, 0));
        let requests = [four_kib(Operation::Read, 1), four_kib(Operation::Trim, 8), four_kib(Operation::Read, 2)];
        let done: Vec<Nanos> = stand.run(3, requests).into_iter().map(Done::latency).collect();
        let expected = if queued == "true" {
            [read, command + trim, command + trim + read]
        } else {
            [read, read + trim, read + trim + read]
        };
        assert_eq!(done, expected, "queued: {queued}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// At any depth a trim that is not queued ends after everything before it and before everything behind it, and
    /// every command ends.
    #[test]
    fn nothing_passes_a_trim(kinds in prop::collection::vec((0u8..8, 0u64..4096), 50..300), depth in 1usize..32) {
        let mut stand = Stand::new("theory", &[&NCQ[..], &[("link.trim_queued", "false"), ("buffer.bytes", "256 KiB")]].concat());
        stand.fill(4096);
        let request = |&(kind, number): &(u8, u64)| match kind {
            0 => four_kib(Operation::Trim, number),
            1 => Request::new(Operation::Flush, Lba(0), 0),
            2..5 => four_kib(Operation::Write, number),
            _ => four_kib(Operation::Read, number),
        };
        let times = stand.run(depth, kinds.iter().map(request));
        for (trim, _) in kinds.iter().enumerate().filter(|(_, (kind, _))| *kind == 0) {
            let end = times[trim].completed;
            prop_assert!(times[..trim].iter().all(|before| before.completed <= end));
            prop_assert!(times[trim + 1..].iter().all(|behind| behind.completed >= end));
        }
        prop_assert!(stand.ssd.submit(stand.now, Tag(0), four_kib(Operation::Read, 0)).is_ok());
    }
}

/// Contents that note the units they are told to trim.
#[derive(Default)]
struct Told(Vec<u32>);

impl Contents for Told {
    type Held = ();
    const KEEPS: bool = true;
    fn trim(&mut self, lpn: Lpn) {
        self.0.push(lpn.0);
    }
}

/// Whoever keeps the bytes is told of each trimmed unit that holds data, once, be it in flash, in the buffer over flash,
/// or in the buffer alone.
#[test]
fn contents_are_told_of_each_trimmed_unit() {
    let rows = [("nand.page_bytes", "16 KiB"), ("ftl.mapping_unit_bytes", "4 KiB")];
    let buffered = [&[SMALL, ("buffer.bytes", "1 MiB")], &rows[..]].concat();
    let mut stand = Stand::with_contents("theory", &buffered, Told::default());
    stand.fill(2);
    // Two units are no row: they stay in the buffer.
    stand.run(1, [four_kib(Operation::Write, 1), four_kib(Operation::Write, 2)]);
    let places: Vec<bool> = (0..4).map(|lpn| matches!(stand.ssd.ftl.place(Lpn(lpn)), Place::Buffer(_))).collect();
    assert_eq!(places, [false, true, true, false]);
    stand.run(1, [Request::new(Operation::Trim, Lba(0), 4 * SECTORS)]);
    assert_eq!(stand.ssd.ftl.flash.contents.0, [0, 1, 2]);
}
