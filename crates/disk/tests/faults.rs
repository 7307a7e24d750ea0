//! Drives that break their word: each fault by hand, and in drawn histories over every kind of drive, where the oracle
//! finds wrong what the cut names as the drive's fault, and nothing else.

use crate::history::{History, disk};
use crate::kinds::{drives, named};
use crate::oracle::Oracle;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_disk::aging::Aging;
use ssdlab_disk::medium::Ram;
use ssdlab_disk::{Cut, Disk, Failure, Fault, Faults, Lba, Loss, Nanos, Operation, Request, What};
use std::collections::{BTreeMap, BTreeSet};

const UNIT: u32 = 8;

fn armed(settings: &[(&str, &str)], faults: &[Fault]) -> Disk<Ram> {
    disk(settings, None).armed(faults.iter().copied().collect())
}

/// One die, so that pages are programmed in order.
fn one_die(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    [&[("nand.channels", "1"), ("nand.dies_per_channel", "1")], more].concat()
}

fn volatile() -> Vec<(&'static str, &'static str)> {
    one_die(&[("buffer.bytes", "1 MiB"), ("ftl.frontiers", "host-gc")])
}

fn protected() -> Vec<(&'static str, &'static str)> {
    [volatile(), vec![("buffer.power_loss_protected", "true")]].concat()
}

fn write(lba: u32, sectors: u32) -> Request {
    Request::new(Operation::Write, Lba(u64::from(lba)), sectors)
}

/// Writes sectors of that value.
fn put(disk: &mut Disk<Ram>, lba: u32, sectors: u32, value: u8) {
    disk.perform(write(lba, sectors), vec![value; 512 * sectors as usize]).expect("it is written");
}

fn flush(disk: &mut Disk<Ram>) {
    disk.perform(Request::new(Operation::Flush, Lba(0), 0), Vec::new()).expect("it is flushed");
}

fn read(disk: &mut Disk<Ram>, lba: u32) -> Result<u8, Failure> {
    let read = disk.perform(Request::new(Operation::Read, Lba(u64::from(lba)), 1), vec![0; 512]);
    read.map(|bytes| bytes[0])
}

/// Sectors of the first units, as they are read.
fn units(disk: &mut Disk<Ram>, count: u32) -> Vec<Option<u8>> {
    (0..count).map(|unit| read(disk, unit * UNIT).ok()).collect()
}

/// So much time passes that all is programmed.
fn rest(disk: &mut Disk<Ram>) {
    let to = Nanos(disk.now().0 + 1_000_000_000);
    while disk.now() < to {
        assert!(disk.advance(to, &mut Vec::new()) <= to);
    }
}

/// A write is under program.
fn begin(disk: &mut Disk<Ram>, lba: u32, sectors: u32, value: u8) {
    let before = disk.counters().nand_pages_written;
    disk.submit(disk.now(), write(lba, sectors), vec![value; 512 * sectors as usize]).expect("there is room");
    while disk.counters().nand_pages_written == before {
        let next = disk.next_event().expect("it is under way");
        disk.advance(next, &mut Vec::new());
    }
}

/// Copies of a drive that lose power, by so many seeds.
fn cuts(disk: &Disk<Ram>) -> impl Iterator<Item = (Disk<Ram>, Cut)> + '_ {
    (0..512).map(|seed| {
        let mut copy = disk.copy().expect("a built-in policy");
        let cut = copy.power_cut(seed);
        (copy, cut)
    })
}

fn broken(cut: &Cut) -> Vec<(u64, What)> {
    cut.broken_promises().map(|loss| (loss.lba, loss.what)).collect()
}

/// Of a unit that is under program a prefix is new; the rest, which is torn, is told.
#[test]
fn shorn() {
    let prefixes = |faults: &[Fault]| {
        let mut disk = armed(&one_die(&[]), faults);
        put(&mut disk, 0, UNIT, 1);
        begin(&mut disk, 0, UNIT, 2);
        let mut seen = BTreeSet::new();
        for (mut after, cut) in cuts(&disk) {
            let read: Vec<u8> = (0..UNIT).map(|lba| read(&mut after, lba).unwrap()).collect();
            let new = read.iter().take_while(|value| **value == 2).count();
            assert!(read[new..].iter().all(|value| *value == 1), "{read:?}");
            let what = if new > 0 { What::Torn } else { What::Lost };
            let (acknowledged, flushed) = if faults.is_empty() { (None, None) } else { (Some(1), Some(1)) };
            let breaks_promise = new > 0;
            let loss =
                |lba| Loss { lba, write: 2, was_acknowledged: false, what, acknowledged, flushed, breaks_promise };
            assert_eq!(cut.losses, (new as u64..8).map(loss).collect::<Vec<_>>());
            assert_eq!(cut.broken_promises().count() > 0, new > 0 && new < 8);
            seen.insert(new);
        }
        seen
    };
    assert_eq!(prefixes(&[]), BTreeSet::from([0, 8]));
    assert_eq!(prefixes(&[Fault::Shorn]), (0..=8).collect());
}

/// A unit that is under program is a media error; a partial write mends its own sectors, unless it is lost in turn.
#[test]
fn unreadable() {
    let mut disk = armed(&one_die(&[]), &[Fault::Unreadable]);
    put(&mut disk, 0, UNIT, 1);
    begin(&mut disk, 0, 2, 2);
    let ends: BTreeSet<Vec<Option<u8>>> = cuts(&disk).map(|(mut after, _)| sectors(&mut after)).collect();
    let (whole, old) = ([vec![Some(2); 2], vec![Some(1); 6]].concat(), vec![Some(1); 8]);
    assert_eq!(ends, BTreeSet::from([vec![None; 8], old, whole]));

    let (mut bad, cut) = cuts(&disk).find(|(_, cut)| cut.losses.len() == 8).expect("one of them");
    let told: Vec<_> = cut.losses.iter().map(|loss| (loss.write, loss.what)).collect();
    assert_eq!(told, [vec![(2, What::Unreadable); 2], vec![(1, What::Unreadable); 6]].concat());
    assert_eq!(broken(&cut).len(), 8);

    begin(&mut bad, 3, 1, 3);
    let lost = cuts(&bad).find(|(_, cut)| cut.losses.iter().any(|loss| loss.what == What::Lost));
    assert_eq!(sectors(&mut lost.expect("one of them").0), vec![None; 8], "what mended it is gone");
    rest(&mut bad);
    assert_eq!(sectors(&mut bad), [vec![None; 3], vec![Some(3)], vec![None; 4]].concat());
    put(&mut bad, 0, UNIT, 4);
    assert_eq!(sectors(&mut bad), vec![Some(4); 8]);
}

fn sectors(disk: &mut Disk<Ram>) -> Vec<Option<u8>> {
    (0..UNIT).map(|lba| read(disk, lba).ok()).collect()
}

/// With two bits a cell, pages 0 and 1 share cells, and 2 and 3: a program of an upper page that is broken off takes the
/// lower one along, whatever was promised, with a protected buffer, too; that of a lower page takes none.
#[test]
fn paired() {
    let ends = |faults: &[Fault], more: &[(&'static str, &'static str)], programmed: u32| {
        let settings = [one_die(&[("nand.cell", "mlc")]), more.to_vec()].concat();
        let mut disk = armed(&settings, faults);
        (0..programmed).for_each(|unit| put(&mut disk, unit * UNIT, UNIT, 1));
        rest(&mut disk);
        begin(&mut disk, programmed * UNIT, UNIT, 2);
        let ends = cuts(&disk).map(|(mut after, cut)| (units(&mut after, programmed + 1), broken(&cut).len()));
        ends.collect::<BTreeSet<_>>()
    };
    let whole = |value, of_last| ([vec![Some(1); value], vec![Some(of_last)]].concat(), 0);
    let plain = BTreeSet::from([whole(3, 0), whole(3, 2)]);
    assert_eq!(ends(&[], &[], 3), plain);
    let damaged = (vec![Some(1), Some(1), None, Some(0)], 8);
    assert_eq!(ends(&[Fault::Paired], &[], 3), BTreeSet::from([damaged, whole(3, 2)]));
    assert_eq!(ends(&[Fault::Paired], &[], 2), BTreeSet::from([whole(2, 0), whole(2, 2)]));
    assert_eq!(ends(&[Fault::Paired], &[("nand.cell", "slc")], 3), plain);
    // Nothing of the buffer is lost, and yet the lower page is damaged.
    let buffer = [("buffer.bytes", "1 MiB"), ("buffer.power_loss_protected", "true")];
    let damaged = (vec![Some(1), Some(1), None, Some(2)], 8);
    assert_eq!(ends(&[Fault::Paired], &buffer, 3), BTreeSet::from([damaged, whole(3, 2)]));
}

/// Of two units that flash has, any survive; flushed, both do. No promise is broken.
#[test]
fn unserialized() {
    let ends = |faults: &[Fault], flushes: bool| -> BTreeSet<Vec<Option<u8>>> {
        let mut disk = armed(&volatile(), faults);
        (0..2).for_each(|unit| put(&mut disk, unit * UNIT, UNIT, 1));
        rest(&mut disk);
        put(&mut disk, 0, UNIT, 2);
        if flushes {
            flush(&mut disk);
        }
        rest(&mut disk);
        let after = cuts(&disk).map(|(mut after, cut)| {
            assert_eq!(broken(&cut), []);
            assert_eq!(cut.losses.is_empty(), units(&mut after, 2) == [Some(2), Some(1)]);
            units(&mut after, 2)
        });
        after.collect()
    };
    let all = [0, 1, 2].into_iter().flat_map(|first| [0, 1].map(|second| vec![Some(first), Some(second)]));
    let both = BTreeSet::from([vec![Some(2), Some(1)]]);
    assert_eq!(ends(&[Fault::Unserialized], false), all.collect());
    assert_eq!(ends(&[Fault::Unserialized], true), both);
    assert_eq!(ends(&[], false), both);
}

/// A run of the units that were put last falls back, though flushed or in a protected buffer; each run may.
#[test]
fn rollback() {
    for (settings, flushes) in [(volatile(), true), (protected(), false)] {
        let ends = |faults: &[Fault]| -> BTreeSet<Vec<Option<u8>>> {
            let mut disk = armed(&settings, faults);
            (0..3).for_each(|unit| put(&mut disk, unit * UNIT, UNIT, 7));
            if flushes {
                flush(&mut disk);
            }
            rest(&mut disk);
            let after = cuts(&disk).map(|(mut after, cut)| {
                let units = units(&mut after, 3);
                let gone = (0..24).filter(|lba| units[*lba as usize / 8] == Some(0));
                assert_eq!(broken(&cut), gone.map(|lba| (lba, What::RolledBack)).collect::<Vec<_>>());
                units
            });
            after.collect()
        };
        assert_eq!(ends(&[]), BTreeSet::from([vec![Some(7); 3]]));
        let runs = [0..1, 0..2, 0..3, 1..2, 1..3, 2..3]
            .map(|run| (0..3).map(|unit| Some(if run.contains(&unit) { 0 } else { 7 })).collect::<Vec<_>>());
        assert_eq!(ends(&[Fault::Rollback]), runs.into_iter().collect());
    }
}

/// A rollback meets what the newest block has, and nothing of the blocks before it.
#[test]
fn a_rollback_ends_at_its_block() {
    let mut disk = armed(&volatile(), &[Fault::Rollback]);
    // Blocks of 32 pages: units 32 and 33 are in the second.
    (0..34).for_each(|unit| put(&mut disk, unit * UNIT, UNIT, 7));
    rest(&mut disk);
    let gone: BTreeSet<u64> = cuts(&disk).flat_map(|(_, cut)| cut.losses).map(|loss| loss.lba / 8).collect();
    assert_eq!(gone, BTreeSet::from([32, 33]));
}

/// A flush, and a write with FUA, take no longer than if there were nothing to do, and what they promised is lost.
#[test]
fn lying() {
    let end = |faults: &[Fault], fua: bool| {
        let mut disk = armed(&volatile(), faults);
        let asked = Request { fua, ..write(0, UNIT) };
        disk.perform(asked, vec![1; 4096]).unwrap();
        if !fua {
            flush(&mut disk);
        }
        let cut = disk.power_cut(0);
        assert_eq!(read(&mut disk, 0), Ok(u8::from(cut.losses.is_empty())));
        cut
    };
    for fua in [false, true] {
        assert_eq!(end(&[], fua).losses, []);
        let loss = |lba| Loss {
            lba,
            write: 1,
            was_acknowledged: true,
            what: What::Lost,
            acknowledged: Some(1),
            flushed: Some(1),
            breaks_promise: true,
        };
        let cut = end(&[Fault::Lying], fua);
        assert_eq!(cut.losses, (0..8).map(loss).collect::<Vec<_>>());
        assert_eq!(cut.broken_promises().count(), 8);
    }
}

/// What a protected buffer acknowledged is lost where its capacitor has failed; the drive counts it, and goes on.
#[test]
fn capacitor() {
    let mut disk = armed(&protected(), &[Fault::Capacitor]);
    assert!(!disk.limits().volatile_cache, "the host is told nothing");
    put(&mut disk, 0, UNIT, 1);
    rest(&mut disk);
    put(&mut disk, 0, UNIT, 2);
    put(&mut disk, 3 * UNIT, 1, 3);
    let mut sound = disk.copy().unwrap();
    sound.arm(Faults::default());
    assert_eq!(sound.power_cut(1).losses, [], "the capacitor has been mended");
    assert_eq!((read(&mut sound, 0), read(&mut sound, 24)), (Ok(2), Ok(3)));
    rest(&mut sound);
    assert_eq!((read(&mut sound, 0), read(&mut sound, 24)), (Ok(2), Ok(3)));

    let cuts: Vec<_> = cuts(&disk).collect();
    let ends: BTreeSet<_> = cuts
        .into_iter()
        .map(|(mut after, cut)| {
            let lost = broken(&cut).len();
            (
                read(&mut after, 0).unwrap(),
                read(&mut after, 24).unwrap(),
                lost,
                after.counters().units_lost_at_power_cut,
            )
        })
        .collect();
    // One unit is under program, whole or not, the other in the buffer.
    assert_eq!(ends, BTreeSet::from([(1, 0, 9, 1), (2, 0, 1, 1)]));
}

/// What was in a protected buffer before its capacitor failed is safe; what comes over it afterwards, too.
#[test]
fn a_capacitor_fails_later() {
    let mut disk = armed(&protected(), &[]);
    (0..4).for_each(|unit| put(&mut disk, unit * UNIT, UNIT, 1));
    disk.arm([Fault::Capacitor].into_iter().collect());
    put(&mut disk, 3 * UNIT, 1, 2);
    put(&mut disk, 4 * UNIT, UNIT, 3);
    let cut = disk.power_cut(1);
    assert_eq!(cut.losses.iter().map(|loss| loss.lba).collect::<Vec<_>>(), (32..40).collect::<Vec<_>>());
    assert_eq!(units(&mut disk, 5), [Some(1), Some(1), Some(1), Some(2), Some(0)]);
    disk.perform(Request::new(Operation::Trim, Lba(24), 8), Vec::new()).unwrap();
    assert_eq!(read(&mut disk, 24), Ok(0), "it is known to be there");
}

/// One that fails with age takes the buffer at the next cut, whatever faults are armed; one that is well takes none, and
/// what was armed besides stays armed.
#[test]
fn a_capacitor_fails_with_age() {
    let age = |disk: &mut Disk<Ram>, failed| {
        disk.age(&Aging { capacitor_failed: Some(failed), ..Aging::default() });
    };
    let lost = |disk: &mut Disk<Ram>| disk.power_cut(1).losses.len();
    for faults in [vec![], vec![Fault::Lying]] {
        let mut disk = armed(&protected(), &faults);
        age(&mut disk, true);
        disk.arm(faults.into_iter().collect());
        put(&mut disk, 0, UNIT, 1);
        assert_eq!(lost(&mut disk.copy().unwrap()), UNIT as usize);
        age(&mut disk, false);
        assert_eq!(lost(&mut disk), 0);
    }
    let mut disk = armed(&protected(), &[Fault::Capacitor]);
    disk.age(&Aging { cycles: Some(5), ..Aging::default() });
    age(&mut disk, false);
    put(&mut disk, 0, UNIT, 1);
    assert_eq!(lost(&mut disk), UNIT as usize, "it was armed by hand");
}

/// Of 80 MiB that no flush covers the last 64 can be lost; the cut says that the first 16 can no longer.
#[test]
fn undo_is_dropped_and_told() {
    let settings = [volatile(), vec![("capacity_bytes", "128 MiB")]].concat();
    let mut disk = armed(&settings, &[Fault::Unserialized]);
    let mib = 1 << 20;
    (0..80).for_each(|at| put(&mut disk, at * (mib / 512), mib / 512, 1));
    rest(&mut disk);
    let mut flushed = disk.copy().unwrap();
    let cut = disk.power_cut(1);
    assert_eq!(cut.undo_dropped, std::slice::from_ref(&(0..16 * u64::from(mib) / 512)));
    let first = cut.losses.first().expect("half of the rest").lba;
    assert!(first >= cut.undo_dropped[0].end && cut.losses.len() > 32 * 2048 * 7 / 8, "{first}");
    flush(&mut flushed);
    assert_eq!(flushed.power_cut(1), Cut::default());
}

// ---- drawn histories

/// What a drive's cuts came to.
#[derive(Debug, Default)]
struct Seen {
    /// Sectors that the oracle finds wrong, torn units not counted.
    wrong: u64,
    torn: u64,
    unreadable: u64,
    rolled_back: u64,
    /// Losses of which no promise is broken.
    lost: u64,
}

/// Judges a cut by the oracle, sector by sector, and holds what it says of itself against that.
fn judge(disk: &mut Disk<Ram>, cut: &Cut, oracle: &Oracle, seen: &mut Seen) -> BTreeMap<u64, u64> {
    let shown = crate::history::seen(disk.ssd().ftl.flash.contents.medium(), oracle);
    let mut losses: BTreeMap<u64, Vec<&Loss>> = BTreeMap::new();
    cut.losses.iter().for_each(|loss| losses.entry(loss.lba).or_default().push(loss));
    for (lba, value) in &shown {
        let of_sector = losses.get(lba).map_or(&[] as &[&Loss], Vec::as_slice);
        let wrong = oracle.lost(*lba, *value);
        let breaks = |torn| {
            let is_meant = |loss: &&&Loss| (loss.what == What::Torn) == torn && loss.what != What::Unreadable;
            of_sector.iter().filter(is_meant).any(|loss| loss.breaks_promise)
        };
        let unreadable = of_sector.iter().any(|loss| loss.what == What::Unreadable);
        if let Some(wrong) = &wrong {
            assert!(breaks(false) || breaks(true) || unreadable, "{wrong}: {of_sector:?}");
            seen.wrong += 1;
        }
        // Zeroes may stand where zeroes were written.
        assert!(
            !breaks(false) || wrong.is_some() || unreadable || *value == 0,
            "sector {lba} shows {value}: {of_sector:?}"
        );
        seen.unreadable += u64::from(unreadable);
        seen.rolled_back += of_sector.iter().filter(|loss| loss.what == What::RolledBack).count() as u64;
        seen.lost += of_sector.iter().filter(|loss| !loss.breaks_promise).count() as u64;
    }
    let torn = cut.losses.iter().filter(|loss| loss.what == What::Torn).count() as u64;
    if let Some(wrong) = oracle.torn(&shown) {
        assert!(cut.broken_promises().count() > 0, "{wrong}: {:?}", cut.losses);
        seen.torn += torn;
    }
    shown
}

/// Lives through a history with cuts of copies, every now and then of the drive itself.
fn live(settings: &[(&str, &str)], faults: Faults, seed: u64, cuts: u64) -> Seen {
    let mut history =
        History::new(disk(settings, None).armed(faults), seed, if seed.is_multiple_of(2) { 2048 } else { 96 });
    let mut seen = Seen::default();
    let mut cut = 0;
    while cut < cuts {
        history.submit();
        for _ in 0..history.draw(12) {
            history.step();
            cut += 1;
            let mut copy = history.disk.copy().expect("a built-in policy");
            let told = copy.power_cut(cut);
            judge(&mut copy, &told, &history.oracle, &mut seen);
        }
        if history.draw(60) == 0 {
            let told = history.disk.power_cut(cut);
            let shown = judge(&mut history.disk, &told, &history.oracle, &mut seen);
            history.oracle.recovered(&shown);
        }
    }
    seen
}

/// What the oracle finds wrong is what the cut says that the drive broke, on every kind of drive, whatever faults meet;
/// each fault is seen where it must be.
#[test]
fn the_cut_tells_what_the_drive_broke() {
    let mut draws = Stream::new(3, Purpose::Errors);
    let drives = drives();
    let each = crate::power_cuts::cuts().div_ceil(2 * drives.len() as u64);
    for (seed, (name, settings)) in (0..).zip(&drives) {
        let mut some = || Fault::ALL.into_iter().filter(|_| draws.below(3) == 0).collect::<Faults>();
        for faults in [some(), some()] {
            println!("{name}, {faults:?}");
            live(settings, faults, seed, each);
        }
    }
}

/// Each fault alone, on a drive where it matters, and none.
#[test]
fn each_fault_is_seen_by_the_oracle() {
    let seen = |name, faults: &[Fault]| live(&named(name), faults.iter().copied().collect(), 5, 600);
    for name in ["buffered", "protected buffer", "small units", "theory"] {
        let Seen { wrong, torn, unreadable, rolled_back, .. } = seen(name, &[]);
        assert_eq!((wrong, torn, unreadable, rolled_back), (0, 0, 0, 0), "{name}");
    }
    assert!(seen("small units", &[Fault::Shorn]).torn > 0);
    assert!(seen("small units", &[Fault::Unreadable]).unreadable > 0);
    assert!(seen("static slc cache", &[Fault::Paired]).unreadable > 0);
    let (plain, unserialized) = (seen("buffered", &[]), seen("buffered", &[Fault::Unserialized]));
    assert!(unserialized.wrong == 0 && unserialized.lost > plain.lost, "{unserialized:?}, {plain:?}");
    for name in ["buffered", "protected buffer"] {
        let rollback = seen(name, &[Fault::Rollback]);
        assert!(rollback.wrong > 0 && rollback.rolled_back > 0, "{name}: {rollback:?}");
    }
    assert!(seen("buffered", &[Fault::Lying]).wrong > 0);
    assert!(seen("protected buffer", &[Fault::Capacitor]).wrong > 0);
}

/// Where a fault has nothing to do, nothing is wrong.
#[test]
fn a_protected_buffer_knows_few_faults() {
    let others = [Fault::Shorn, Fault::Unreadable, Fault::Unserialized, Fault::Lying];
    let Seen { wrong, torn, unreadable, rolled_back, lost } =
        live(&named("protected buffer"), others.into_iter().collect(), 5, 600);
    assert_eq!((wrong, torn, unreadable, rolled_back, lost), (0, 0, 0, 0, 0));
}
