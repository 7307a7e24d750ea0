//! Any sequence of reads, writes, trims and flushes against a plain map of sectors, with all invariants on.
//!
//! Every sector that the host writes has a value of its own. What a read delivers was in its sectors while it was
//! under way, and at the end each sector reads as what was written to it last, on every kind of drive: whole and
//! partial units, over each other, coalesced, moved, trimmed, written again after a failed program.

use crate::stand::fickle::Fickle;
use crate::stand::kinds::{config, drives, named};
use crate::stand::sectors::{Mutant, Sectors, UNREADABLE};
use proptest::prelude::*;
use ssdlab_device::block::{Completion, Device, Operation, Request, Status, Tag};
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::ssd::Ssd;
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_device::units::{Lba, Lpn, Nanos};
use std::collections::HashMap;

/// Requests outstanding at most.
const TAGS: usize = 16;
const SECTORS: u64 = 32_768;

/// A small drive of the theory profile with settings over it.
fn drive(settings: &[(&str, &str)]) -> Ssd<Sectors> {
    drive_with(settings, |per_unit| Sectors::new(per_unit, TAGS))
}

fn drive_with(settings: &[(&str, &str)], contents: impl Fn(usize) -> Sectors) -> Ssd<Sectors> {
    let config = config(settings);
    let contents = contents((config.unit_bytes() / 512) as usize);
    Ssd::new(&config, 7, contents).unwrap_or_else(|problem| panic!("{problem:?}"))
}

/// A drive whose policy keeps streams apart, in rows of one unit or of several.
fn drive_with_streams(settings: &[(&str, &str)]) -> Ssd<Sectors> {
    let config = config(&[&[("over_provisioning", "0.6"), ("ftl.mapping_unit_bytes", "4 KiB")], settings].concat());
    let contents = Sectors::new((config.unit_bytes() / 512) as usize, TAGS);
    Ssd::with_policy(&config, 7, contents, Box::new(Fickle::new())).unwrap_or_else(|problem| panic!("{problem:?}"))
}

/// One request of the generated sequence, in sectors of 512 B, and the pause before it.
#[derive(Clone, Copy, Debug)]
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
        0u64..SECTORS,
        prop_oneof![Just(8u32), Just(16), 1u32..100],
        prop::bool::weighted(0.02),
        prop::bool::weighted(0.05),
        0u8..90,
    )
        .prop_map(|(operation, lba, sectors, pause, fua, compress)| {
            let sectors = if operation == Operation::Flush { 0 } else { sectors.min((SECTORS - lba) as u32) };
            let lba = if sectors.is_multiple_of(8) && lba + 8 < SECTORS { lba / 8 * 8 } else { lba };
            Step { operation, lba, sectors: sectors.min((SECTORS - lba) as u32), pause, fua, compress }
        })
}

/// A host that keeps up to 16 requests outstanding and remembers what it wrote.
struct Host {
    ssd: Ssd<Sectors>,
    now: Nanos,
    under_way: Vec<Option<Request>>,
    /// What each sector reads as when all is done.
    newest: Vec<u64>,
    /// What sectors that were written since nothing was outstanding have been.
    been: HashMap<u64, Vec<u64>>,
    writes: u64,
    done: Vec<Completion>,
}

impl Host {
    fn new(ssd: Ssd<Sectors>) -> Host {
        Host {
            ssd,
            now: Nanos::ZERO,
            under_way: vec![None; TAGS],
            newest: vec![0; SECTORS as usize],
            been: HashMap::new(),
            writes: 0,
            done: Vec::new(),
        }
    }

    fn wait(&mut self) {
        let mut done = std::mem::take(&mut self.done);
        self.now = self.ssd.advance(Nanos::NEVER, &mut done);
        for completion in done.drain(..) {
            assert_eq!(completion.status, Status::Success);
            let request = self.under_way[completion.tag.0 as usize].take().unwrap();
            self.judge(completion.tag, request);
        }
        self.done = done;
    }

    /// What a read delivered was in its sectors while it was under way.
    fn judge(&mut self, tag: Tag, request: Request) {
        let delivered = self.ssd.ftl.flash.contents.delivered.remove(&tag.0).unwrap_or_default();
        if request.operation == Operation::Read {
            assert_eq!(delivered.len() as u32, request.sectors, "every sector is delivered once");
        }
        for (number, value) in delivered {
            let sector = request.lba.0 + u64::from(number);
            let is_newest = value == self.newest[sector as usize];
            let has_been = || self.been.get(&sector).is_some_and(|values| values.contains(&value));
            assert!(is_newest || has_been(), "sector {sector} reads as {value}");
        }
    }

    fn drain(&mut self) {
        while self.under_way.iter().any(Option::is_some) {
            self.wait();
        }
        self.been.clear();
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
        while self.under_way.iter().all(Option::is_some) {
            self.wait();
        }
        let tag = self.under_way.iter().position(Option::is_none).unwrap();
        let plain = Request::new(step.operation, Lba(step.lba), step.sectors);
        let request = Request { compress_percent: step.compress, fua: step.fua, ..plain };
        self.under_way[tag] = Some(request);
        self.ssd.ftl.flash.contents.brought[tag] = self.writes + 1;
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
            Operation::Write => {
                for sector in step.lba..end {
                    self.writes += 1;
                    let old = std::mem::replace(&mut self.newest[sector as usize], self.writes);
                    self.been.entry(sector).or_default().push(old);
                }
            }
            Operation::Trim => {
                let (first, end) = (step.lba.div_ceil(per_unit) * per_unit, end / per_unit * per_unit);
                (first..end).for_each(|sector| self.newest[sector as usize] = 0);
            }
            Operation::WriteZeroes => (step.lba..end).for_each(|sector| self.newest[sector as usize] = 0),
            _ => {}
        }
    }

    /// Starts over when nothing is outstanding: the plain map is empty, or every written unit unreadable.
    fn start_over(&mut self, how: StartOver) {
        self.drain();
        self.ssd.start_over(how).unwrap();
        let per_unit = (self.ssd.unit_bytes() / 512) as usize;
        for (lpn, sectors) in (0..).zip(self.newest.chunks_mut(per_unit)) {
            let is_empty = how.empties() || self.ssd.ftl.place(Lpn(lpn)) == Place::Unmapped;
            sectors.fill(if is_empty { 0 } else { UNREADABLE });
        }
    }

    /// Every sector reads as what was written to it last, and nothing is left in RAM but what a protected buffer keeps.
    fn check(&mut self) {
        self.apply(&Step { operation: Operation::Flush, lba: 0, sectors: 0, pause: true, fua: false, compress: 0 });
        self.drain();
        self.ssd.ftl.check();
        let step = Step { operation: Operation::Read, lba: 0, sectors: 64, pause: false, fua: false, compress: 0 };
        (0..SECTORS / 64).for_each(|number| self.apply(&Step { lba: number * 64, ..step }));
        self.drain();
        let unwritten =
            (0..self.ssd.ftl.exported).filter(|lpn| matches!(self.ssd.ftl.place(Lpn(*lpn)), Place::Buffer(_)));
        // A unit that a write did not join waits in several versions, and one that was trimmed keeps its place for a while.
        let (held, unwritten) = (self.ssd.ftl.flash.contents.units_in_ram(), unwritten.count());
        let (fewest, most) = if self.ssd.limits().volatile_cache { (0, 0) } else { (unwritten, self.ssd.buffered()) };
        assert!((fewest..=most).contains(&held), "what is programmed is released: {held}, not {fewest} to {most}");
        assert_eq!(self.ssd.ftl.flash.contents.programmed_twice, 0);
        assert_eq!(self.ssd.ftl.flash.contents.early_erases, 0, "a block is erased when nothing needs it");
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

    /// So it is where a policy keeps streams apart, and writes of a unit change their stream.
    #[test]
    fn newest_data_is_found_in_streams(steps in prop::collection::vec(step(), 3_000..6_000)) {
        let several = [("nand.page_bytes", "16 KiB"), ("nand.pages_per_block", "16"), ("ftl.frontiers", "host-gc")];
        let buffered = ("buffer.bytes", "1 MiB");
        let ways: [&[(&str, &str)]; 5] = [
            &[buffered],
            &several,
            &[&several[..], &[buffered]].concat(),
            &[&several[..], &[buffered, ("ftl.map_journal", "true"), ("ftl.gc_pace", "smooth")]].concat(),
            &[&several[..], &[("reliability.program_fail_share", "0.001"), ("over_provisioning", "1.5")]].concat(),
        ];
        for settings in ways {
            println!("{settings:?}");
            let mut host = Host::new(drive_with_streams(settings));
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
            for how in StartOver::ALL {
                println!("{name}, {how:?}");
                let mut host = Host::new(drive(&settings));
                steps.iter().for_each(|step| host.apply(step));
                host.start_over(how);
                let contents = &host.ssd.ftl.flash.contents;
                match how {
                    StartOver::SecureErase | StartOver::Overwrite => {
                        prop_assert!(contents.in_flash().count() == 0 || host.ssd.ftl.flash.array.bad_blocks() > 0);
                    }
                    StartOver::CryptoErase => prop_assert!(contents.in_flash().all(|value| value == UNREADABLE)),
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
    for settings in ["theory", "map journal", "map journal, no buffer"].map(named) {
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

/// Each wrong store is found out, on a drive with a buffer or on one without.
#[test]
fn wrong_stores_are_found_out() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let steps = prop::collection::vec(step(), 6_000..6_001);
    let steps = steps.new_tree(&mut TestRunner::deterministic()).unwrap().current();
    let survives = |settings: &[(&str, &str)], mutant: Option<Mutant>| {
        let contents = |per_unit| match mutant {
            Some(mutant) => Sectors::wrong(per_unit, TAGS, mutant),
            None => Sectors::new(per_unit, TAGS),
        };
        let mut host = Host::new(drive_with(settings, contents));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            steps.iter().for_each(|step| host.apply(step));
            host.check();
        }))
        .is_ok()
    };
    let buffered = named("buffered");
    let drives = [&[], buffered.as_slice()];
    assert!(drives.iter().all(|drive| survives(drive, None)));
    for mutant in [Mutant::MergesEarly, Mutant::NeverMerges, Mutant::OverwritesWhole, Mutant::ForgetsMoves] {
        assert!(drives.iter().any(|drive| !survives(drive, Some(mutant))), "{mutant:?} is not found out");
    }
}

fn plain(operation: Operation, lba: u64, sectors: u32) -> Step {
    Step { operation, lba, sectors, pause: false, fua: false, compress: 0 }
}

/// While two parts of a unit wait that are not joined, both can be read; a store of which the newer version lacks the older
/// one finds zeroes.
#[test]
fn parts_that_are_not_joined_are_both_found() {
    let survives = |contents: fn(usize) -> Sectors| {
        let mut host = Host::new(drive_with(&named("joins nothing, large units"), contents));
        // All dies are busy, and units wait before those two.
        (1..=8).for_each(|unit| host.apply(&plain(Operation::Write, unit * 32, 32)));
        [0, 8].iter().for_each(|lba| host.apply(&plain(Operation::Write, *lba, 8)));
        host.drain();
        assert_eq!(host.ssd.counters().buffer_coalesced, 0);
        host.apply(&plain(Operation::Read, 0, 16));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| host.check())).is_ok()
    };
    assert!(survives(|per_unit| Sectors::new(per_unit, TAGS)));
    assert!(!survives(|per_unit| Sectors::wrong(per_unit, TAGS, Mutant::ForgetsOlder)), "it is not found out");
}

/// A partial write behind a pending whole write of its unit keeps what that wrote: sectors 3 to 6 are its own, the
/// others the whole write's. A store that completes the unit when it is taken finds the write before both.
#[test]
fn a_partial_write_keeps_what_a_pending_whole_one_wrote() {
    let write = |lba: u64, sectors: u32| plain(Operation::Write, lba, sectors);
    let sectors_of_unit_0 = |contents: &dyn Fn(usize) -> Sectors| {
        let mut host = Host::new(drive_with(&[], contents));
        host.apply(&write(0, 8));
        host.drain();
        // All dies are busy: what comes now is pending.
        (1..=4).for_each(|unit| host.apply(&write(unit * 8, 8)));
        host.apply(&write(0, 8));
        host.apply(&write(3, 3));
        host.drain();
        let Place::Flash(ppn) = host.ssd.ftl.place(Lpn(0)) else { panic!("it was written") };
        (host.newest[..8].to_vec(), host.ssd.ftl.flash.contents.slot(ppn).unwrap().1.to_vec())
    };
    let (newest, found) = sectors_of_unit_0(&|per_unit| Sectors::new(per_unit, TAGS));
    assert_eq!((newest.as_slice(), found), ([41, 42, 43, 49, 50, 51, 47, 48].as_slice(), newest.clone()));
    let (newest, found) = sectors_of_unit_0(&|per_unit| Sectors::wrong(per_unit, TAGS, Mutant::MergesEarly));
    assert_eq!(found, [1, 2, 3, 49, 50, 51, 7, 8]);
    assert_ne!(found, newest);
}
