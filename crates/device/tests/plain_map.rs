//! Any sequence of reads, writes, trims and flushes against a plain map, with all invariants on.
//!
//! The contents keeps what every slot of flash holds: which unit and which write of it. At any time
//! the newest write of every unit must be found where the map says, on every kind of drive.

use proptest::prelude::*;
use ssdlab_device::block::{Completion, Device, Operation, Request, Status, Tag};
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::nand::contents::Contents;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_device::units::{Lba, Lpn, Nanos, Ppn};
use std::collections::HashMap;

/// What the slots of flash hold: the unit and the running number of its write.
#[derive(Default)]
struct Recorded {
    /// Units that the host sees; the drive's own beyond them draw no number.
    exported: u32,
    writes: u64,
    slots: HashMap<u32, (u32, u64)>,
    /// Writes before the key was thrown away last.
    unreadable: u64,
}

impl Contents for Recorded {
    type Stamp = u64;
    fn stamp(&mut self, lpn: Lpn) -> u64 {
        self.writes += u64::from(lpn.0 < self.exported);
        self.writes
    }
    fn read(&self, from: Ppn) -> u64 {
        self.slots[&from.0].1
    }
    fn program(&mut self, to: Ppn, lpn: Lpn, stamp: u64) {
        self.slots.insert(to.0, (lpn.0, stamp));
    }
    fn copy(&mut self, from: Ppn, to: Ppn) {
        let record = self.slots[&from.0];
        self.slots.insert(to.0, record);
    }
    fn erase(&mut self, first: Ppn, end: Ppn) {
        (first.0..end.0).for_each(|slot| {
            self.slots.remove(&slot);
        });
    }
    fn trim(&mut self, _: Lpn) {}
    fn discard_key(&mut self) {
        self.unreadable = self.writes;
    }
}

/// A small drive of the theory profile with settings over it.
fn drive(settings: &[(&str, &str)]) -> Ssd<Recorded> {
    let mut all = vec![
        ("capacity_bytes", "16 MiB"),
        ("nand.channels", "2"),
        ("nand.dies_per_channel", "2"),
        ("nand.pages_per_block", "32"),
    ];
    all.extend_from_slice(settings);
    let all: Vec<_> = all.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let profile =
        Profile::read("theory", "theory", built_in("theory").unwrap(), &all).unwrap_or_else(|error| panic!("{error}"));
    let config = profile.ssd().unwrap();
    let exported = (config.export.capacity_bytes.0 / config.unit_bytes()) as u32;
    let contents = Recorded { exported, ..Recorded::default() };
    Ssd::new(config, 7, contents).unwrap_or_else(|problem| panic!("{problem:?}"))
}

/// The drives that the property is held against.
fn drives() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let buffered = [("buffer.bytes", "1 MiB"), ("ftl.frontiers", "host-gc")];
    let with = |more: &[(&'static str, &'static str)]| [&buffered, more].concat();
    vec![
        ("theory", vec![]),
        ("fifo", vec![("ftl.gc", "fifo")]),
        ("random", vec![("ftl.gc", "random")]),
        ("d-choices", vec![("ftl.gc", "d-choices:3"), ("ftl.frontiers", "host-gc")]),
        ("cost-benefit", vec![("ftl.gc", "cost-benefit")]),
        ("buffered", with(&[])),
        ("map journal", with(&[("ftl.map_journal", "true")])),
        ("map journal, no buffer", vec![("ftl.map_journal", "true")]),
        (
            "map journal, superblocks",
            with(&[("ftl.map_journal", "true"), ("ftl.striping", "superblock"), ("over_provisioning", "0.6")]),
        ),
        (
            "map journal, failing programs",
            with(&[
                ("ftl.map_journal", "true"),
                ("reliability.program_fail_share", "0.001"),
                ("over_provisioning", "1.5"),
            ]),
        ),
        ("protected buffer", with(&[("buffer.power_loss_protected", "true")])),
        ("small units", with(&[("nand.page_bytes", "16 KiB"), ("ftl.mapping_unit_bytes", "4 KiB")])),
        (
            "small units, no buffer",
            vec![("nand.page_bytes", "16 KiB"), ("ftl.mapping_unit_bytes", "4 KiB"), ("over_provisioning", "0.9")],
        ),
        ("large units", with(&[("ftl.mapping_unit_bytes", "16 KiB"), ("over_provisioning", "0.6")])),
        ("planes", with(&[("nand.planes", "2"), ("ftl.mapping_unit_bytes", "4 KiB"), ("over_provisioning", "0.6")])),
        ("superblocks", with(&[("ftl.striping", "superblock"), ("over_provisioning", "0.6")])),
        ("smooth", with(&[("ftl.gc_pace", "smooth")])),
        ("wear levelling", with(&[("ftl.static_wear_cycles", "2"), ("ftl.dynamic_wear_leveling", "true")])),
        (
            "static slc cache",
            with(&[
                ("nand.cell", "tlc"),
                ("nand.pages_per_block", "48"),
                ("ftl.slc_cache", "static"),
                ("ftl.slc_cache_bytes", "1 MiB"),
                ("over_provisioning", "1.5"),
                ("ftl.idle_gc_after_ms", "1"),
            ]),
        ),
        (
            "read errors",
            with(&[
                ("reliability.rber_fresh", "0.003"),
                ("reliability.correctable_bits", "25"),
                ("reliability.retry_gain", "0.8"),
                ("reliability.retries", "8"),
            ]),
        ),
        ("failing programs", with(&[("reliability.program_fail_share", "0.001"), ("over_provisioning", "1.5")])),
        ("cached map", with(&[("ftl.mapping_cache_bytes", "8 KiB"), ("over_provisioning", "0.5")])),
        (
            "slc cache",
            with(&[
                ("nand.cell", "tlc"),
                ("nand.pages_per_block", "48"),
                ("ftl.slc_cache", "dynamic"),
                ("ftl.slc_cache_bytes", "4 MiB"),
                ("over_provisioning", "0.8"),
                ("ftl.idle_gc_after_ms", "1"),
            ]),
        ),
        (
            "slc cache with a fixed part",
            with(&[
                ("nand.cell", "tlc"),
                ("nand.pages_per_block", "48"),
                ("ftl.slc_cache", "dynamic"),
                ("ftl.slc_cache_bytes", "4 MiB"),
                ("ftl.slc_cache_fixed_bytes", "1 MiB"),
                ("over_provisioning", "1.5"),
                ("ftl.idle_gc_after_ms", "1"),
            ]),
        ),
        (
            "compression",
            with(&[
                ("controller.compression", "true"),
                ("nand.page_bytes", "8 KiB"),
                ("ftl.mapping_unit_bytes", "4 KiB"),
                ("over_provisioning", "0.5"),
            ]),
        ),
        ("compression, a unit a row", with(&[("controller.compression", "true"), ("over_provisioning", "0.5")])),
        (
            "compression, superblocks",
            with(&[
                ("controller.compression", "true"),
                ("nand.page_bytes", "8 KiB"),
                ("ftl.mapping_unit_bytes", "4 KiB"),
                ("ftl.striping", "superblock"),
                ("over_provisioning", "1.2"),
            ]),
        ),
        (
            "compression, large units",
            with(&[
                ("controller.compression", "true"),
                ("ftl.mapping_unit_bytes", "16 KiB"),
                ("over_provisioning", "0.6"),
            ]),
        ),
        (
            "compression, failing programs",
            with(&[
                ("controller.compression", "true"),
                ("nand.page_bytes", "8 KiB"),
                ("ftl.mapping_unit_bytes", "4 KiB"),
                ("reliability.program_fail_share", "0.001"),
                ("over_provisioning", "2.5"),
            ]),
        ),
        ("suspend", with(&[("nand.suspend", "true")])),
        ("half duplex", with(&[("link.protocol", "sata-ncq"), ("link.queue_depth", "32"), ("link.mb_per_s", "300")])),
    ]
}

/// One request of the generated sequence, in sectors of 512 B, and the pause before it.
#[derive(Clone, Debug)]
struct Step {
    operation: Operation,
    lba: u64,
    sectors: u32,
    pause: bool,
    fua: bool,
    compress: u8,
}

fn step() -> impl Strategy<Value = Step> {
    let operation = prop_oneof![
        8 => Just(Operation::Write), 4 => Just(Operation::Read), 1 => Just(Operation::Trim),
        1 => Just(Operation::WriteZeroes), 1 => Just(Operation::Flush)];
    (
        operation,
        0u64..32_768,
        prop_oneof![Just(8u32), Just(16), 1u32..100],
        prop::bool::weighted(0.02),
        prop::bool::weighted(0.05),
        0u8..90,
    )
        .prop_map(|(operation, lba, sectors, pause, fua, compress)| {
            let sectors = if operation == Operation::Flush { 0 } else { sectors.min((32_768 - lba) as u32) };
            let lba = if sectors.is_multiple_of(8) && lba + 8 < 32_768 { lba / 8 * 8 } else { lba };
            Step { operation, lba, sectors: sectors.min((32_768 - lba) as u32), pause, fua, compress }
        })
}

/// A host that keeps up to 16 requests outstanding and remembers what it wrote last.
struct Host {
    ssd: Ssd<Recorded>,
    now: Nanos,
    busy: Vec<bool>,
    /// Running number of the newest write of each unit.
    newest: HashMap<u32, u64>,
    writes: u64,
    done: Vec<Completion>,
}

impl Host {
    fn new(ssd: Ssd<Recorded>) -> Host {
        Host { ssd, now: Nanos::ZERO, busy: vec![false; 16], newest: HashMap::new(), writes: 0, done: Vec::new() }
    }

    fn wait(&mut self) {
        let mut done = std::mem::take(&mut self.done);
        self.now = self.ssd.advance(Nanos::NEVER, &mut done);
        for completion in done.drain(..) {
            assert_eq!(completion.status, Status::Success);
            self.busy[completion.tag.0 as usize] = false;
        }
        self.done = done;
    }

    fn drain(&mut self) {
        while self.busy.iter().any(|busy| *busy) {
            self.wait();
        }
    }

    fn apply(&mut self, step: &Step) {
        if step.pause {
            self.drain();
            let until = Nanos(self.now.0 + 20_000_000);
            let mut none = Vec::new();
            while self.now < until {
                self.now = self.ssd.advance(until, &mut none);
            }
        }
        // Trims and writes of the same unit are not ordered while both are under way.
        if matches!(step.operation, Operation::Trim | Operation::WriteZeroes) {
            self.drain();
        }
        while self.busy.iter().all(|busy| *busy) {
            self.wait();
        }
        let tag = self.busy.iter().position(|busy| !busy).unwrap();
        let plain = Request::new(step.operation, Lba(step.lba), step.sectors);
        let request = Request { compress_percent: step.compress, fua: step.fua, ..plain };
        self.busy[tag] = true;
        self.ssd.submit(self.now, Tag(tag as u32), request).unwrap();
        self.remember(step);
        if matches!(step.operation, Operation::Trim | Operation::WriteZeroes) {
            self.drain();
        }
    }

    fn remember(&mut self, step: &Step) {
        let per_unit = u64::from(self.ssd.unit_bytes() / 512);
        let end = step.lba + u64::from(step.sectors);
        match step.operation {
            Operation::Write if step.sectors > 0 => {
                for unit in step.lba / per_unit..end.div_ceil(per_unit) {
                    self.writes += 1;
                    self.newest.insert(unit as u32, self.writes);
                }
            }
            Operation::Trim => {
                for unit in step.lba.div_ceil(per_unit)..end / per_unit {
                    self.newest.remove(&(unit as u32));
                }
            }
            // A part of a unit that holds data is a write of zeroes.
            Operation::WriteZeroes if step.sectors > 0 => {
                for unit in step.lba / per_unit..end.div_ceil(per_unit) {
                    let whole = unit * per_unit >= step.lba && (unit + 1) * per_unit <= end;
                    if whole {
                        self.newest.remove(&(unit as u32));
                    } else if let Some(newest) = self.newest.get_mut(&(unit as u32)) {
                        self.writes += 1;
                        *newest = self.writes;
                    }
                }
            }
            _ => {}
        }
    }

    /// Starts over when nothing is outstanding: the plain map is empty, or every unit unreadable.
    fn start_over(&mut self, how: StartOver) {
        self.drain();
        self.ssd.start_over(how).unwrap();
        if how.empties() {
            self.newest.clear();
        }
    }

    /// Every unit's newest write is where the map says, and nothing else is mapped.
    fn check(&mut self) {
        self.apply(&Step { operation: Operation::Flush, lba: 0, sectors: 0, pause: true, fua: false, compress: 0 });
        self.drain();
        self.ssd.ftl.check();
        let mapped = (0..self.ssd.ftl.exported).filter(|lpn| self.ssd.ftl.place(Lpn(*lpn)) != Place::Unmapped).count();
        assert_eq!(mapped, self.newest.len(), "what is mapped is what was written and not trimmed");
        for (&lpn, &write) in &self.newest {
            if let Place::Flash(ppn) = self.ssd.ftl.place(Lpn(lpn)) {
                let (held, stamp) = self.ssd.ftl.flash.contents.slots[&ppn.0];
                assert_eq!(held, lpn, "the slot holds this unit");
                assert_eq!(stamp, write, "unit {lpn}: the slot holds the newest write");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// Thousands of random operations leave every kind of drive with the newest data of every unit.
    #[test]
    fn newest_data_is_found(steps in prop::collection::vec(step(), 3_000..6_000)) {
        for (name, settings) in drives() {
            println!("{name}");
            let mut host = Host::new(drive(&settings));
            steps.iter().for_each(|step| host.apply(step));
            host.check();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]

    /// Whatever came before, every kind of drive starts over soundly in every way: it holds what it should, takes
    /// any operations afterwards, and after a secure erase flash holds nothing.
    #[test]
    fn every_drive_starts_over(steps in prop::collection::vec(step(), 1_000..2_000)) {
        for (name, settings) in drives() {
            for how in [StartOver::SecureErase, StartOver::CryptoErase, StartOver::Trim] {
                println!("{name}, {how:?}");
                let mut host = Host::new(drive(&settings));
                steps.iter().for_each(|step| host.apply(step));
                host.start_over(how);
                let held: Vec<u64> = host.ssd.ftl.flash.contents.slots.values().map(|(_, stamp)| *stamp).collect();
                match how {
                    StartOver::SecureErase => prop_assert!(held.is_empty() || host.ssd.ftl.flash.array.bad_blocks() > 0),
                    StartOver::CryptoErase => prop_assert!(held.iter().all(|write| *write <= host.ssd.ftl.flash.contents.unreadable)),
                    StartOver::Trim => {}
                }
                host.check();
                steps.iter().for_each(|step| host.apply(step));
                host.check();
            }
        }
    }
}

/// Millions of operations on the plainest and the busiest drive: invariants hold on the way and at the end.
#[test]
fn millions_of_operations() {
    for settings in [vec![], drives()[6].1.clone(), drives()[7].1.clone()] {
        let mut host = Host::new(drive(&settings));
        let mut draw = 1u64;
        for round in 0..1_000_000u32 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let operation = match draw >> 60 {
                0..=9 => Operation::Write,
                10..=14 => Operation::Read,
                _ => Operation::Trim,
            };
            let lba = (draw >> 20) % 4096 * 8;
            host.apply(&Step { operation, lba, sectors: 8, pause: false, fua: false, compress: 0 });
            if round % 250_000 == 0 {
                host.ssd.ftl.check();
            }
        }
        host.check();
    }
}
