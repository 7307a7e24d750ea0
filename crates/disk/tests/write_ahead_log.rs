//! What the drive is for: a program's own test. A write-ahead log survives 10,000 losses of power; the same log with its
//! flush left out does not, and the history that shows it is printed as a seed. On a drive that breaks its word no flush
//! helps, and the cut says whose fault it was.

use crate::history::disk;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_disk::medium::Ram;
use ssdlab_disk::{Cut, Disk, Fault, Lba, Operation, Request};

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
    fn commit_and_cut(&mut self, events: u32, seed: u64) -> Cut {
        let now = self.disk.now();
        self.disk.submit(now, Log::write(self.committed), Log::record(self.committed)).expect("the queue has room");
        let mut done = Vec::new();
        for _ in 0..events {
            let Some(next) = self.disk.next_event() else { break };
            self.disk.advance(next, &mut done);
        }
        self.disk.power_cut(seed)
    }

    /// Replays the last records; the first that was committed and is not there.
    fn missing(&mut self, last: u64) -> Option<u64> {
        let first = self.committed.saturating_sub(last);
        (first..self.committed).find(|number| {
            let read = Request::new(Operation::Read, Lba(number % ROOM), 1);
            !self.disk.perform(read, vec![0; SECTOR]).is_ok_and(|found| found == Log::record(*number))
        })
    }
}

/// The cut at which a log loses a record, of so many, whether the cut names it, and whether it was the drive's fault.
fn loss(flushes: bool, is_protected: bool, fault: Option<Fault>, cuts: u64) -> Option<(u64, bool, bool)> {
    let settings = [
        ("buffer.bytes", "1 MiB"),
        ("buffer.power_loss_protected", if is_protected { "true" } else { "false" }),
        ("ftl.frontiers", "host-gc"),
        ("nand.page_bytes", "16 KiB"),
        ("ftl.mapping_unit_bytes", "4 KiB"),
        ("over_provisioning", "0.9"),
    ];
    let disk = disk(&settings, None).armed(fault.into_iter().collect());
    let mut log = Log { disk, committed: 0, flushes };
    let mut draws = Stream::new(11, Purpose::Errors);
    for cut in 0..cuts {
        (0..draws.below(4)).for_each(|_| log.commit());
        let took = log.commit_and_cut(draws.below(6), cut);
        if let Some(number) = log.missing(8) {
            println!("a committed record is lost: cut {cut} of seed 11");
            let mut of_record = took.losses.iter().filter(|loss| loss.lba == number % ROOM && loss.was_acknowledged);
            return Some((cut, of_record.clone().count() > 0, of_record.any(|loss| loss.breaks_promise)));
        }
    }
    None
}

/// With its flush it survives all; without, a few: the drive names what was not flushed, and is not to blame.
#[test]
fn a_log_needs_its_flush() {
    assert_eq!(loss(true, false, None, 10_000), None);
    let (cut, is_named, is_drives_fault) = loss(false, false, None, 100).expect("the missing flush is found");
    assert!(is_named && !is_drives_fault, "cut {cut}");
}

/// On a drive whose flushes lie, and on one whose capacitor has failed, the log is lost with its flush, too: the cut says
/// that the drive broke its word. The same drives without the fault keep it; without a flush a lying drive is not to
/// blame.
#[test]
fn the_drive_is_to_blame_where_it_is() {
    for (is_protected, fault) in [(false, Fault::Lying), (true, Fault::Capacitor)] {
        let (cut, is_named, is_drives_fault) = loss(true, is_protected, Some(fault), 1_000).expect("a loss is seen");
        assert!(is_named && is_drives_fault, "{fault:?}, cut {cut}");
        assert_eq!(loss(true, is_protected, None, 1_000), None, "{fault:?}");
    }
    let (cut, is_named, is_drives_fault) =
        loss(false, false, Some(Fault::Lying), 100).expect("the missing flush is found");
    assert!(is_named && !is_drives_fault, "cut {cut}");
}
