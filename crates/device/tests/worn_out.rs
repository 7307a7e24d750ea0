//! The end of a drive: blocks fail, the spare takes their place, and when it is gone the drive goes
//! read-only with everything readable; reads that the ECC cannot mend are reported; wear levelling.

use crate::stand::{Stand, four_kib};
use ssdlab_device::block::{Device, Operation, Request, Status};
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::nand::contents::{Contents, Part};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::units::{BlockId, DieId, Lba, Lpn, Nanos, Ppn};
use std::collections::HashMap;
use std::ops::Range;

/// What the slots of flash hold, unit and running number of the write, and the newest write of each unit that the drive took.
#[derive(Default)]
struct Recorded {
    writes: u64,
    newest: HashMap<u32, u64>,
    slots: HashMap<u32, (u32, u64)>,
    ram: Slots<u64>,
    /// Slots that held something when they were programmed.
    programmed_twice: u64,
}

impl Contents for Recorded {
    type Held = Option<u32>;
    const KEEPS: bool = true;
    fn take(&mut self, part: Part) -> Option<u32> {
        let number = if part.sectors == (0, 0) { self.newest[&part.lpn.0] } else { self.write(part.lpn) };
        Some(self.ram.insert(number))
    }
    fn overwrite(&mut self, held: Option<u32>, part: Part) {
        let number = self.write(part.lpn);
        *self.ram.get_mut(held.unwrap()) = number;
    }
    fn release(&mut self, held: Option<u32>) {
        held.map(|held| self.ram.remove(held));
    }
    fn put(&mut self, to: Ppn, lpn: Lpn, held: Option<u32>, _: Option<Ppn>) {
        let number = match held {
            Some(held) => self.ram.remove(held),
            None => self.write(lpn),
        };
        self.programmed_twice += u64::from(self.slots.insert(to.0, (lpn.0, number)).is_some());
    }
    fn copy(&mut self, from: Ppn, to: Ppn) {
        let record = self.slots[&from.0];
        self.programmed_twice += u64::from(self.slots.insert(to.0, record).is_some());
    }
    fn erase_begins(&mut self, _: DieId, slots: Range<u32>) {
        slots.for_each(|slot| {
            self.slots.remove(&slot);
        });
    }
}

impl Recorded {
    /// The running number of a write.
    fn write(&mut self, lpn: Lpn) -> u64 {
        self.writes += 1;
        self.newest.insert(lpn.0, self.writes);
        self.writes
    }
}

const UNITS: u32 = 4096;
/// 16 MiB over 4 dies, blocks of 32 pages that endure 60 erases and then take longer than the limit allows.
const MORTAL: [(&str, &str); 9] = [
    ("capacity_bytes", "16 MiB"),
    ("over_provisioning", "0.4"),
    ("nand.channels", "2"),
    ("nand.dies_per_channel", "2"),
    ("nand.pages_per_block", "32"),
    ("nand.erase_growth", "1"),
    ("nand.erase_limit_us", "7600"),
    ("reliability.rated_cycles", "60"),
    ("reliability.cycles_spread", "0.1"),
];
const FAILING_PROGRAMS: (&str, &str) = ("reliability.program_fail_share", "0.0001");

/// Drives that are written to death.
fn drives() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let with = |more: &[(&'static str, &'static str)]| [&MORTAL, more].concat();
    let buffered = [("buffer.bytes", "256 KiB"), ("ftl.frontiers", "host-gc")];
    vec![
        ("theory", with(&[])),
        ("failing programs", with(&[FAILING_PROGRAMS])),
        ("fifo", with(&[FAILING_PROGRAMS, ("ftl.gc", "fifo")])),
        ("two frontiers", with(&[FAILING_PROGRAMS, ("ftl.frontiers", "host-gc")])),
        ("buffered", with(&[FAILING_PROGRAMS, buffered[0], buffered[1]])),
        ("smooth", with(&[FAILING_PROGRAMS, buffered[0], buffered[1], ("ftl.gc_pace", "smooth")])),
        (
            "wear levelling",
            with(&[
                FAILING_PROGRAMS,
                buffered[0],
                buffered[1],
                ("ftl.static_wear_cycles", "5"),
                ("ftl.dynamic_wear_leveling", "true"),
            ]),
        ),
        ("superblocks", with(&[FAILING_PROGRAMS, buffered[0], buffered[1], ("ftl.striping", "superblock")])),
    ]
}

/// How a drive came to its end.
struct End {
    stand: Stand<Recorded>,
    /// Running number of the newest acknowledged write of each unit.
    acknowledged: HashMap<u32, u64>,
    writes: u64,
    /// Writes acknowledged when the first block had failed in use.
    writes_before_first_failure: u64,
}

/// Writes one unit after the other, 8 at a time, at random, until the drive takes no more.
fn write_to_death(settings: &[(&str, &str)]) -> End {
    let stand = Stand::with_contents("theory", settings, Recorded::default());
    let mut end = End { stand, acknowledged: HashMap::new(), writes: 0, writes_before_first_failure: 0 };
    let mut draws = Stream::new(3, Purpose::Victim);
    loop {
        // Different units, so that none is overwritten while it is under way.
        let first = draws.below(UNITS);
        let batch: [u32; 8] = std::array::from_fn(|place| (first + place as u32 * 509) % UNITS);
        let statuses = write_batch(&mut end, &batch);
        if end.stand.ssd.counters().grown_bad_blocks == 0 {
            end.writes_before_first_failure = end.writes;
        }
        assert!(end.writes < 2_000_000, "the drive never dies");
        if statuses.contains(&Status::WriteProtected) {
            return end;
        }
    }
}

fn write_batch(end: &mut End, batch: &[u32]) -> Vec<Status> {
    for (tag, &lpn) in batch.iter().enumerate() {
        end.stand.submit(tag as u32, four_kib(Operation::Write, u64::from(lpn)));
    }
    let mut statuses = Vec::new();
    while statuses.len() < batch.len() {
        for completion in end.stand.wait() {
            let lpn = batch[completion.tag.0 as usize];
            if completion.status == Status::Success {
                end.writes += 1;
                end.acknowledged.insert(lpn, end.stand.ssd.ftl.flash.contents.newest[&lpn]);
            }
            statuses.push(completion.status);
        }
    }
    statuses
}

/// A drive that is written until it takes no more keeps every acknowledged unit with its newest contents, and goes on reading.
#[test]
fn dead_drive_keeps_everything() {
    for (name, settings) in drives() {
        println!("{name}");
        let End { mut stand, acknowledged, .. } = write_to_death(&settings);
        assert_eq!(acknowledged.len(), UNITS as usize, "{name}: everything was written");
        stand.submit(0, Request::new(Operation::Flush, Lba(0), 0));
        let is_flushed = stand.wait()[0].status == Status::Success;
        stand.pass(Nanos::from_s(1.0));
        stand.ssd.ftl.check();
        for (&lpn, &write) in &acknowledged {
            match stand.ssd.ftl.place(Lpn(lpn)) {
                Place::Flash(ppn) => {
                    let (held, stamp) = stand.ssd.ftl.flash.contents.slots[&ppn.0];
                    assert_eq!(held, lpn, "{name}");
                    assert!(stamp >= write, "{name}: unit {lpn} holds write {stamp}, acknowledged was {write}");
                }
                Place::Buffer(_) => {
                    assert!(!is_flushed, "{name}: unit {lpn} is in the buffer after a flush that succeeded")
                }
                Place::Unmapped => panic!("{name}: unit {lpn} is gone"),
            }
        }
        let before = stand.ssd.counters();
        stand.run(8, (0..u64::from(UNITS)).map(|number| four_kib(Operation::Read, number)));
        let counters = stand.ssd.counters() - before;
        assert_eq!(
            (counters.host_reads, counters.unmapped_reads, counters.uncorrectable_reads),
            (4096, 0, 0),
            "{name}"
        );
    }
}

/// An erase empties all slots of its block, so that no slot is programmed twice.
#[test]
fn slots_are_programmed_once() {
    let mut stand = Stand::with_contents("theory", &MORTAL, Recorded::default());
    let mut draws = Stream::new(3, Purpose::Victim);
    stand.run(8, (0..20_000).map(|_| four_kib(Operation::Write, u64::from(draws.below(UNITS)))));
    assert!(stand.ssd.counters().blocks_erased > 100);
    assert_eq!(stand.ssd.ftl.flash.contents.programmed_twice, 0);
}

/// Blocks that are lost at once are lost as by wear: the drive writes on with fewer, keeps what it has, and is read-only
/// when more are lost than it may lose.
#[test]
fn blocks_are_lost_at_once() {
    for (name, settings) in drives() {
        let endures = settings
            .iter()
            .copied()
            .filter(|(key, _)| !key.starts_with("reliability.program"))
            .chain([("nand.erase_limit_us", "1000000")]);
        let mut stand = Stand::with_contents("theory", &endures.collect::<Vec<_>>(), Recorded::default());
        let mut draws = Stream::new(3, Purpose::Victim);
        let mut write = |stand: &mut Stand<Recorded>, count| {
            stand.run(8, (0..count).map(|_| four_kib(Operation::Write, u64::from(draws.below(UNITS)))));
        };
        write(&mut stand, 20_000);
        let new = stand.ssd.counters();
        write(&mut stand, 20_000);
        let whole = (stand.ssd.counters() - new).write_amplification();
        let may_lose = stand.ssd.ftl.blocks_to_lose() as u64;
        let count = may_lose / 2;
        stand.ssd.ftl.lose_blocks(count);
        let left = |stand: &Stand<Recorded>| (stand.ssd.ftl.blocks_to_lose() as u64, stand.ssd.ftl.blocks_lost());
        assert_eq!(left(&stand), (may_lose - count, count), "{name}: each counts at once");
        let before = stand.ssd.counters();
        write(&mut stand, 20_000);
        let after = stand.ssd.counters();
        assert_eq!(left(&stand), (may_lose - count, count), "{name}: none counts twice");
        // A superblock needs the room of a whole one to be collected for one of its blocks: some wait for that.
        let least = if name == "superblocks" { count / 2 } else { count };
        assert!((least..=count).contains(&after.grown_bad_blocks), "{name}: {after:?}");
        assert!(!stand.ssd.ftl.is_read_only(), "{name}");
        let less = (after - before).write_amplification();
        assert!(less > whole, "{name}: with less spare more is moved: {whole:?}, {less:?}");
        stand.ssd.ftl.lose_blocks(may_lose - count + 1);
        assert!(stand.ssd.ftl.is_read_only(), "{name}");
        stand.run(8, (0..u64::from(UNITS)).map(|number| four_kib(Operation::Read, number)));
        stand.ssd.ftl.check();
    }
}

/// A drive rated for 60 erases has used 90 % of its life after 54, and not before; blocks that differ count on average.
#[test]
fn a_drive_is_worn_to_a_percentage() {
    let mut stand = Stand::new("theory", &MORTAL);
    assert_eq!(stand.ssd.cycles_until(90), 54);
    let mut draws = Stream::new(3, Purpose::Victim);
    stand.run(8, (0..20_000).map(|_| four_kib(Operation::Write, u64::from(draws.below(UNITS)))));
    let more = stand.ssd.cycles_until(90);
    stand.ssd.ftl.flash.array.age(more - 1);
    assert!(stand.ssd.health().used_percent < 90);
    stand.ssd.ftl.flash.array.age(1);
    // One erase is 1.7 % of 60.
    assert!((90..=91).contains(&stand.ssd.health().used_percent));
    assert_eq!(stand.ssd.cycles_until(90), 0);
}

/// Once read-only always read-only: writes are refused at the link, without programming anything.
#[test]
fn dead_drive_refuses_writes() {
    let mut end = write_to_death(&MORTAL);
    end.stand.pass(Nanos::from_s(1.0));
    let programmed = end.stand.ssd.counters().nand_pages_written;
    for lpn in 0..100 {
        assert_eq!(write_batch(&mut end, &[lpn]), [Status::WriteProtected]);
    }
    assert_eq!(end.stand.ssd.counters().nand_pages_written, programmed);
}

/// A trim of a read-only drive is refused too, and destroys nothing, with time and without.
#[test]
fn dead_drive_refuses_trims() {
    for (name, settings) in drives() {
        let mut end = write_to_death(&settings);
        let mapped = end.stand.ssd.ftl.mapped_units();
        for operation in [Operation::Trim, Operation::WriteZeroes] {
            end.stand.submit(0, Request::new(operation, Lba(0), 4096));
            assert_eq!(end.stand.wait()[0].status, Status::WriteProtected, "{name}");
        }
        assert_eq!(end.stand.ssd.apply_now(Request::new(Operation::Trim, Lba(0), 4096)), Status::WriteProtected);
        assert_eq!(end.stand.ssd.ftl.mapped_units(), mapped, "{name}");
        let counters = end.stand.ssd.counters();
        assert_eq!((counters.host_trims, counters.host_bytes_trimmed), (0, 0), "{name}");
    }
}

/// Blocks that fail are replaced from the spare while there is some: the drive goes read-only when hardly
/// any is left, and lives as long as its cycles allow.
#[test]
fn spare_replaces_bad_blocks() {
    for (name, settings) in
        [("wear", MORTAL.to_vec()), ("wear and failing programs", [&MORTAL[..], &[FAILING_PROGRAMS]].concat())]
    {
        let End { mut stand, writes, writes_before_first_failure, .. } = write_to_death(&settings);
        let counters = stand.ssd.counters();
        // 16 MiB are 128 blocks of 32 pages; at OP 40 % 51 more are collected, and one a die is kept free.
        let blocks = 128 + 51 + 4;
        assert_eq!(stand.ssd.ftl.geometry.blocks, blocks, "{name}");
        // A die needs its free block and its open one; all others beyond the 128 are spare.
        let spare = u64::from(blocks) - 128 - 4 * 2;
        let gone = counters.grown_bad_blocks;
        assert!(
            (spare * 9 / 10..=spare + 1).contains(&gone),
            "{name}: read-only after {gone} bad blocks, {spare} are spare"
        );
        assert_eq!(stand.ssd.ftl.flash.array.bad_blocks() as u64, counters.grown_bad_blocks, "{name}");
        assert_eq!(counters.program_failures > 0, name != "wear");
        assert!(writes > writes_before_first_failure + 10_000, "{name}: the drive goes on after the first failure");
        // Endurances lie around 60 ± 6, and the weakest 47 of 183 blocks have gone: about 60 − 0.65·6 erases each;
        // programs that fail take some blocks before their time.
        let erases = counters.blocks_erased as f64 / f64::from(blocks);
        let least = if name == "wear" { 50.0 } else { 45.0 };
        assert!((least..60.0).contains(&erases), "{name}: {erases:.1} erases a block, rated are 60");
    }
}

/// A block fails with the first erase that takes longer than its limit: at twice the time of a fresh one, when its own
/// endurance is used up, and not before.
#[test]
fn blocks_fail_at_their_endurance() {
    let settings = [&MORTAL[..8], &[("reliability.cycles_spread", "0")]].concat();
    let End { stand, .. } = write_to_death(&settings);
    let array = &stand.ssd.ftl.flash.array;
    for block in (0..stand.ssd.ftl.geometry.blocks).map(BlockId).filter(|block| array.is_bad(*block)) {
        // The erase after n erases takes 3800·(1 + n/60) µs, longer than 7600 µs from n = 61 on: the 62nd.
        assert_eq!(array.erases(block), 62, "block {block:?}");
    }
    assert!(array.erase_counts().all(|erases| erases <= 61));
}

/// Blocks marked bad at the factory are never erased nor programmed, and count against the spare.
#[test]
fn factory_bad_blocks_are_never_used() {
    let settings = [
        ("capacity_bytes", "64 MiB"),
        ("over_provisioning", "0.6"),
        ("nand.channels", "2"),
        ("nand.dies_per_channel", "2"),
        ("nand.pages_per_block", "32"),
        ("reliability.factory_bad_share", "0.1"),
    ];
    let mut stand = Stand::new("theory", &settings);
    let bad: Vec<BlockId> = (0..stand.ssd.ftl.geometry.blocks)
        .map(BlockId)
        .filter(|block| stand.ssd.ftl.flash.array.is_bad(*block))
        .collect();
    // 10 % of 822 blocks, within four standard deviations of 8.6.
    assert!((48..=117).contains(&bad.len()), "{} of {}", bad.len(), stand.ssd.ftl.geometry.blocks);
    stand.fill(16_384);
    let mut draws = Stream::new(3, Purpose::Victim);
    (0..200_000).for_each(|_| assert!(stand.ssd.write_now(Lpn(draws.below(16_384)), 0)));
    stand.run(16, (0..20_000).map(|_| four_kib(Operation::Write, u64::from(draws.below(16_384)))));
    let array = &stand.ssd.ftl.flash.array;
    assert!(
        bad.iter().all(|&block| array.is_bad(block) && array.erases(block) == 0 && array.programmed_rows(block) == 0)
    );
    assert!(array.erase_counts().all(|erases| erases > 0), "all others are in use");
    assert_eq!(stand.ssd.counters().grown_bad_blocks, 0);
}

/// One die whose blocks have been erased so often, and unit 0 is mapped.
fn worn(erases_a_block: u64) -> Stand {
    let settings = [
        ("capacity_bytes", "4 MiB"),
        ("nand.channels", "1"),
        ("nand.dies_per_channel", "1"),
        ("nand.pages_per_block", "32"),
        ("reliability.rated_cycles", "100"),
        ("reliability.rber_rated", "0.004"),
        ("reliability.codeword_bytes", "1 KiB"),
        ("reliability.correctable_bits", "8"),
        ("reliability.retries", "4"),
        ("reliability.retry_gain", "0.4"),
    ];
    let mut stand = Stand::new("theory", &settings);
    let mut draws = Stream::new(3, Purpose::Victim);
    stand.fill(1024);
    while stand.ssd.counters().blocks_erased < erases_a_block * u64::from(stand.ssd.ftl.geometry.blocks) {
        assert!(stand.ssd.write_now(Lpn(draws.below(1024)), 0));
    }
    stand
}

/// Reads every unit once; the latency of each must be the idle one and a tR more for each retry. Returns the share of reads
/// that were retried and the share that failed.
fn read_all(stand: &mut Stand) -> (f64, f64) {
    let (mut retried, mut failed) = (0, 0);
    for number in 0..1024 {
        let (before, start) = (stand.ssd.counters(), stand.now);
        stand.submit(0, four_kib(Operation::Read, number));
        let status = stand.wait()[0].status;
        let counters = stand.ssd.counters() - before;
        let idle = 1_000 + 75_000 + 12_301 + 1_171;
        assert_eq!(stand.now - start, Nanos(idle + counters.read_retries * 75_000), "unit {number}");
        assert_eq!(status == Status::MediaError, counters.uncorrectable_reads == 1, "unit {number}");
        assert!(counters.uncorrectable_reads == 0 || counters.read_retries == 4, "given up only after all retries");
        retried += u64::from(counters.read_retries > 0);
        failed += counters.uncorrectable_reads;
    }
    (retried as f64 / 1024.0, failed as f64 / 1024.0)
}

/// As flash wears reads first need no retry, then some that succeed, and at last fail; the host sees a media error for each
/// that failed and for no other.
#[test]
fn worn_flash_retries_then_fails() {
    // Raw bit errors of a codeword of 8192 bits: 0.004·w²·8192 = 33·w²; 8 can be corrected; four retries see 0.4⁴ = 0.026 of them.
    let fresh = read_all(&mut worn(0));
    assert_eq!(fresh, (0.0, 0.0), "33·0² = 0 errors");
    let (retried, failed) = read_all(&mut worn(60));
    assert!(
        retried > 0.8 && failed == 0.0,
        "33·0.6² = 12 errors, 0.3 at the last retry: {retried} retried, {failed} failed"
    );
    let (retried, failed) = read_all(&mut worn(600));
    assert!(
        retried == 1.0 && failed > 0.99,
        "33·6² = 1180 errors, 30 at the last retry: {retried} retried, {failed} failed"
    );
}

/// A failed read loses nothing but that read: what was programmed is still there, and writing it anew on fresh flash mends it.
#[test]
fn failed_reads_leave_the_map_alone() {
    let mut stand = worn(600);
    let place = stand.ssd.ftl.place(Lpn(0));
    stand.submit(0, four_kib(Operation::Read, 0));
    assert_eq!(stand.wait()[0].status, Status::MediaError);
    assert_eq!(stand.ssd.ftl.place(Lpn(0)), place);
    stand.ssd.ftl.check();
}

/// Standard deviation of erase counts after hot and cold writes, and the greatest difference.
fn wear_spread(settings: &[(&str, &str)]) -> (f64, u32) {
    let base = [
        ("capacity_bytes", "16 MiB"),
        ("nand.channels", "2"),
        ("nand.dies_per_channel", "1"),
        ("nand.pages_per_block", "32"),
        ("ftl.frontiers", "host-gc"),
    ];
    let mut stand = Stand::new("theory", &[&base, settings].concat());
    stand.fill(UNITS);
    let mut draws = Stream::new(3, Purpose::Victim);
    for _ in 0..200 * UNITS {
        let hot = draws.below(100) < 95;
        let lpn = if hot { draws.below(UNITS / 20) } else { UNITS / 20 + draws.below(UNITS - UNITS / 20) };
        // Half of the cold pages are never written again.
        assert!(!hot && lpn > UNITS / 2 || stand.ssd.write_now(Lpn(lpn), 0));
    }
    let counts: Vec<u32> = stand.ssd.ftl.flash.array.erase_counts().collect();
    let mean = counts.iter().sum::<u32>() as f64 / counts.len() as f64;
    let variance = counts.iter().map(|&count| (f64::from(count) - mean).powi(2)).sum::<f64>() / counts.len() as f64;
    (variance.sqrt(), counts.iter().max().unwrap() - counts.iter().min().unwrap())
}

/// Wear levelling keeps erase counts together under a hot and a cold workload; without it, cold blocks are left behind.
#[test]
fn wear_levelling_narrows_the_spread() {
    let (without, range_without) = wear_spread(&[]);
    let (with, range) = wear_spread(&[("ftl.dynamic_wear_leveling", "true"), ("ftl.static_wear_cycles", "20")]);
    println!("standard deviation {without:.1} without, {with:.1} with; range {range_without} without, {range} with");
    assert!(with < 0.5 * without, "standard deviation {without:.1} without, {with:.1} with");
    assert!(range < range_without / 2, "range {range_without} without, {range} with");
}
