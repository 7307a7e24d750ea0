//! A page of a database, of four units, which is written at once: whole or not at all where the drive promises it (NVMe
//! AWUPF), also while others write and read it (AWUN); torn where it does not.

use crate::history::disk;
use crate::kinds::{config, drives};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_disk::medium::Ram;
use ssdlab_disk::{Disk, Done, Lba, Nanos, Operation, Request};

const PAGE_SECTORS: u32 = 32;
const PAGE_BYTES: usize = PAGE_SECTORS as usize * 512;
/// Pages of the database: few, so that writes of the same one meet.
const PAGES: u32 = 8;
const DEPTH: usize = 12;

/// A drive whose pages are written, each time with one letter.
struct Database {
    disk: Disk<Ram>,
    draws: Stream,
    letter: u8,
    /// Pages that were read, and held several letters.
    torn: u64,
}

impl Database {
    fn new(settings: &[(&str, &str)], seed: u64) -> Database {
        Database { disk: disk(settings, None), draws: Stream::new(seed, Purpose::Errors), letter: 0, torn: 0 }
    }

    /// Reads or writes a page at random; flushes now and then.
    fn submit(&mut self) {
        if self.disk.outstanding() >= DEPTH.min(self.disk.limits().queue_depth as usize) {
            return;
        }
        let lba = Lba(u64::from(self.draws.below(PAGES)) * u64::from(PAGE_SECTORS));
        self.letter = self.letter.wrapping_add(1);
        let (request, bytes) = match self.draws.below(16) {
            0..=9 => (Request::new(Operation::Write, lba, PAGE_SECTORS), vec![self.letter; PAGE_BYTES]),
            10..=14 => (Request::new(Operation::Read, lba, PAGE_SECTORS), vec![0; PAGE_BYTES]),
            _ => (Request::new(Operation::Flush, Lba(0), 0), Vec::new()),
        };
        self.disk.submit(self.disk.now(), request, bytes).expect("there is room");
    }

    /// Lives on to the next end; looks at what was read.
    fn step(&mut self) {
        let mut done = Vec::new();
        self.disk.advance(Nanos::NEVER, &mut done);
        self.torn +=
            done.iter().filter(|done| done.request.operation == Operation::Read && is_torn(done)).count() as u64;
    }

    /// Pages that would be torn if the power failed now.
    fn torn_by_a_cut(&self, seed: u64) -> u64 {
        let mut copy = self.disk.copy().expect("its policy is its own");
        copy.power_cut(seed);
        let page = |page| Request::new(Operation::Read, Lba(page * u64::from(PAGE_SECTORS)), PAGE_SECTORS);
        let read =
            (0..u64::from(PAGES)).map(|number| copy.perform(page(number), vec![0; PAGE_BYTES]).expect("it is there"));
        read.filter(|bytes| is_mixed(bytes)).count() as u64
    }
}

fn is_mixed(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| Some(byte) != bytes.first())
}

fn is_torn(done: &Done) -> bool {
    is_mixed(&done.bytes)
}

/// Pages torn in so many cuts, one after every event, and while nothing fails.
fn live(settings: &[(&str, &str)], cuts: u64) -> (u64, u64) {
    let mut database = Database::new(settings, 5);
    let mut torn = 0;
    for seed in 0..cuts {
        database.submit();
        if seed % 2 == 0 {
            database.step();
        }
        torn += database.torn_by_a_cut(seed);
    }
    (torn, database.torn)
}

/// Ten thousand cuts over every kind of drive.
#[test]
fn a_page_is_whole_where_that_is_promised() {
    let drives = drives();
    let each = crate::power_cuts::cuts().div_ceil(drives.len() as u64);
    let mut torn_without = 0;
    for (name, settings) in &drives {
        let with = |bytes| [settings.as_slice(), &[("atomic_write_bytes", bytes)]].concat();
        let (by_cuts, meanwhile) = live(&with("16 KiB"), each);
        assert_eq!(by_cuts, 0, "{name}");
        // Without a buffer flash takes unit by unit, and who reads meanwhile sees that: what it promises for this is a unit.
        let is_buffered = config(settings).buffer.bytes.0 > 0;
        assert!(meanwhile == 0 || !is_buffered, "{name}: {meanwhile} pages were read half written");
        torn_without += live(&with("4 KiB"), each.min(200)).0;
    }
    assert!(torn_without > 0, "without the promise pages are torn");
}
