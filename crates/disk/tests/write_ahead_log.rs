//! What the drive is for: a program's own test. A write-ahead log survives 10,000 losses of power; the same log with its
//! flush left out does not, and the history that shows it is printed as a seed.

use crate::history::disk;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_disk::medium::Ram;
use ssdlab_disk::{Disk, Lba, Operation, Request};

const SECTOR: usize = 512;
/// Records that the log has room for.
const ROOM: u64 = 4096;

/// A log of numbered records, a sector each; a record is valid where its number stands in it.
struct Log {
    disk: Disk<Ram>,
    /// Records that were committed.
    committed: u64,
    flushes: bool,
}

impl Log {
    fn record(number: u64) -> Vec<u8> {
        (number + 1).to_le_bytes().repeat(SECTOR / 8)
    }

    fn write(number: u64) -> Request {
        Request::new(Operation::Write, Lba(number % ROOM), 1)
    }

    fn commit(&mut self) {
        self.disk.perform(Log::write(self.committed), Log::record(self.committed)).expect("the drive is sound");
        if self.flushes {
            self.disk.perform(Request::new(Operation::Flush, Lba(0), 0), Vec::new()).expect("the drive is sound");
        }
        self.committed += 1;
    }

    /// The next commit is on its way when the power fails, after so many events.
    fn commit_and_cut(&mut self, events: u32, seed: u64) {
        let now = self.disk.now();
        self.disk.submit(now, Log::write(self.committed), Log::record(self.committed)).expect("the queue has room");
        let mut done = Vec::new();
        for _ in 0..events {
            let Some(next) = self.disk.next_event() else { break };
            self.disk.advance(next, &mut done);
        }
        self.disk.power_cut(seed);
    }

    /// Replays the last records; whether all that were committed are there.
    fn recover(&mut self, last: u64) -> bool {
        let first = self.committed.saturating_sub(last);
        (first..self.committed).all(|number| {
            let read = Request::new(Operation::Read, Lba(number % ROOM), 1);
            self.disk.perform(read, vec![0; SECTOR]).is_ok_and(|found| found == Log::record(number))
        })
    }
}

/// How many cuts a log survives, of so many.
fn survived(flushes: bool, cuts: u64) -> u64 {
    let volatile = [
        ("buffer.bytes", "1 MiB"),
        ("ftl.frontiers", "host-gc"),
        ("nand.page_bytes", "16 KiB"),
        ("ftl.mapping_unit_bytes", "4 KiB"),
        ("over_provisioning", "0.9"),
    ];
    let mut log = Log { disk: disk(&volatile, None), committed: 0, flushes };
    let mut draws = Stream::new(11, Purpose::Errors);
    for cut in 0..cuts {
        (0..draws.below(4)).for_each(|_| log.commit());
        log.commit_and_cut(draws.below(6), cut);
        if !log.recover(8) {
            println!("a committed record is lost: cut {cut} of seed 11");
            return cut;
        }
    }
    cuts
}

/// With its flush it survives all; without, a few.
#[test]
fn a_log_needs_its_flush() {
    assert_eq!(survived(true, 10_000), 10_000);
    assert!(survived(false, 10_000) < 100, "the missing flush is not found");
}
