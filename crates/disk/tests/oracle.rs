//! What each sector may read as after a loss of power: judged by what the host was promised, and by nothing of the drive.
//!
//! A sector has the list of what was written to it, each with when it was submitted and completed. A value may be seen
//! unless a newer one, submitted after it completed, is *durable*: completed before a flush was submitted that completed,
//! or written with FUA, or completed by a drive that is not volatile. What recovery showed is durable from then on.
//! Within a unit no sector shows an older write where another shows a newer one that covers both: nothing is torn. After
//! a cut, unlike after a kill, this holds within a write up to the atomic size, whichever units it lies in.

use ssdlab_disk::{Operation, Request};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// What was written to a sector; a trim writes zero.
#[derive(Clone, Copy, Debug)]
struct Version {
    value: u64,
    submitted: u64,
    completed: Option<u64>,
    is_durable: bool,
    /// First and end sector of a write that is there whole or not at all; none else.
    whole: (u64, u64),
}

/// A command under way.
#[derive(Clone, Copy, Debug)]
struct Command {
    request: Request,
    submitted: u64,
}

/// All sectors that were ever written, and the commands under way.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    is_volatile: bool,
    unit_sectors: u64,
    /// Sectors of a write that is there whole or not at all.
    atomic_sectors: u64,
    has_trim: bool,
    clock: u64,
    sectors: HashMap<u64, Vec<Version>>,
    under_way: BTreeMap<u32, Command>,
    /// Acknowledged, and not known to be durable.
    acknowledged: Vec<(u64, Command)>,
    /// Sectors whose history has more than one version.
    touched: BTreeSet<u64>,
}

impl Oracle {
    /// A drive of zeroes.
    pub fn new(is_volatile: bool, unit_sectors: u32, has_trim: bool) -> Oracle {
        Oracle { is_volatile, unit_sectors: u64::from(unit_sectors), has_trim, ..Oracle::default() }
    }

    /// The same of a drive whose writes up to so many sectors are there whole or not at all after a cut.
    pub fn atomic(self, sectors: u64) -> Oracle {
        Oracle { atomic_sectors: sectors, ..self }
    }

    /// Sectors that a command changes: of a trim those of whole units.
    fn changed(&self, request: &Request) -> std::ops::Range<u64> {
        let (first, end) = (request.lba.0, request.lba.0 + u64::from(request.sectors));
        match request.operation {
            Operation::Write | Operation::WriteZeroes => first..end,
            Operation::Trim if self.has_trim => {
                let start = first.div_ceil(self.unit_sectors) * self.unit_sectors;
                start..(end / self.unit_sectors * self.unit_sectors).max(start)
            }
            _ => 0..0,
        }
    }

    fn versions(&mut self, lba: u64) -> &mut Vec<Version> {
        let zero = Version { value: 0, submitted: 0, completed: Some(0), is_durable: true, whole: (0, 0) };
        self.sectors.entry(lba).or_insert_with(|| vec![zero])
    }

    /// A command is handed over; `value` is what each of its sectors will read as.
    pub fn submit(&mut self, tag: u32, request: Request, value: u64) {
        self.clock += 1;
        let submitted = self.clock;
        let is_atomic = request.operation == Operation::Write && u64::from(request.sectors) <= self.atomic_sectors;
        let whole = if is_atomic { (request.lba.0, request.lba.0 + u64::from(request.sectors)) } else { (0, 0) };
        for lba in self.changed(&request) {
            self.versions(lba).push(Version { value, submitted, completed: None, is_durable: false, whole });
            self.touched.insert(lba);
        }
        self.under_way.insert(tag, Command { request, submitted });
    }

    /// A command has been acknowledged.
    pub fn complete(&mut self, tag: u32) -> Request {
        self.clock += 1;
        let command = self.under_way.remove(&tag).expect("it was submitted");
        let Command { request, submitted, .. } = command;
        let is_durable = !self.is_volatile || request.fua && request.operation != Operation::Trim;
        let now = self.clock;
        for lba in self.changed(&request) {
            let version = self.versions(lba).iter_mut().find(|version| version.submitted == submitted);
            let version = version.expect("it was submitted");
            (version.completed, version.is_durable) = (Some(now), is_durable);
        }
        match request.operation {
            Operation::Flush => self.flushed(submitted),
            _ if is_durable => self.prune(&command),
            _ => self.acknowledged.push((now, command)),
        }
        request
    }

    /// What was acknowledged before a flush was submitted is durable.
    fn flushed(&mut self, flush: u64) {
        let acknowledged = std::mem::take(&mut self.acknowledged);
        let (durable, left) = acknowledged.into_iter().partition(|(completed, _)| *completed < flush);
        self.acknowledged = left;
        for (_, command) in durable {
            for lba in self.changed(&command.request) {
                let mut versions = self.versions(lba).iter_mut();
                versions
                    .find(|version| version.submitted == command.submitted)
                    .into_iter()
                    .for_each(|version| version.is_durable = true);
            }
            self.prune(&command);
        }
    }

    /// Versions that can never be seen again are forgotten; a read under way may still see them.
    fn prune(&mut self, durable: &Command) {
        if self.under_way.values().any(|command| command.request.operation == Operation::Read) {
            return;
        }
        for lba in self.changed(&durable.request) {
            let versions = self.versions(lba);
            if versions.iter().any(|version| version.submitted == durable.submitted && version.is_durable) {
                versions.retain(|version| version.completed.is_none_or(|completed| completed >= durable.submitted));
            }
        }
    }

    /// What is wrong with what a read that has just ended delivered, by sector.
    pub fn judge_read(&self, command: &Request, submitted: u64, seen: impl Iterator<Item = u64>) -> Option<String> {
        for (lba, value) in (command.lba.0..).zip(seen) {
            let Some(versions) = self.sectors.get(&lba) else {
                if value != 0 {
                    return Some(format!("sector {lba} was never written and reads as {value}"));
                }
                continue;
            };
            let allows = |version: &&Version| {
                version.value == value
                    && !versions.iter().any(|newer| {
                        newer.completed.is_some_and(|completed| completed < submitted)
                            && version.completed.is_some_and(|completed| newer.submitted > completed)
                    })
            };
            if !versions.iter().any(|version| allows(&version)) {
                return Some(format!("sector {lba} reads as {value}, may be {versions:?}"));
            }
        }
        None
    }

    /// When a command under way was submitted.
    pub fn submitted(&self, tag: u32) -> u64 {
        self.under_way[&tag].submitted
    }

    /// Sectors to be looked at after a cut.
    pub fn touched(&self) -> impl Iterator<Item = u64> + '_ {
        self.touched.iter().copied()
    }

    /// What is wrong with what the touched sectors read as after a loss of power.
    pub fn judge(&self, seen: &BTreeMap<u64, u64>) -> Option<String> {
        seen.iter().find_map(|(lba, value)| self.lost(*lba, *value)).or_else(|| self.torn(seen))
    }

    /// What is wrong with what one sector reads as.
    pub fn lost(&self, lba: u64, value: u64) -> Option<String> {
        let versions = self.sectors.get(&lba).map_or(&[] as &[Version], Vec::as_slice);
        let may_be = |version: &&Version| {
            let outlives = |newer: &Version| {
                newer.is_durable && version.completed.is_some_and(|completed| newer.submitted > completed)
            };
            version.value == value && !versions.iter().any(outlives)
        };
        let is_legal = versions.iter().any(|version| may_be(&version)) || versions.is_empty() && value == 0;
        (!is_legal).then(|| format!("sector {lba} shows {value} after the cut, may be {versions:?}"))
    }

    /// As [`Oracle::judge`], after a cut.
    pub fn judge_cut(&self, seen: &BTreeMap<u64, u64>) -> Option<String> {
        self.judge(seen).or_else(|| self.in_part(seen, |_, write| write.whole.0..write.whole.1))
    }

    /// Of a write a part of a unit is there.
    pub fn torn(&self, seen: &BTreeMap<u64, u64>) -> Option<String> {
        self.in_part(seen, |lba, _| {
            let unit = lba / self.unit_sectors * self.unit_sectors;
            unit..unit + self.unit_sectors
        })
    }

    /// A write is there in part of where it has to be whole.
    fn in_part(&self, seen: &BTreeMap<u64, u64>, within: impl Fn(u64, &Version) -> Range<u64>) -> Option<String> {
        for (lba, value) in seen.iter().filter(|(_, value)| **value != 0) {
            let newer = self.sectors[lba].iter().find(|version| version.value == *value)?;
            for other in within(*lba, newer) {
                let (Some(versions), Some(shown)) = (self.sectors.get(&other), seen.get(&other)) else { continue };
                if !versions.iter().any(|version| version.submitted == newer.submitted) {
                    continue;
                }
                let shown = versions.iter().filter(|version| version.value == *shown);
                let is_older =
                    |version: &Version| version.completed.is_some_and(|completed| completed < newer.submitted);
                if shown.clone().count() > 0 && shown.clone().all(is_older) {
                    return Some(format!("sector {lba} shows write {value}, sector {other} of it an older one"));
                }
            }
        }
        None
    }

    /// Power has come back, and this was seen: it stands from now on, and nothing is under way.
    pub fn recovered(&mut self, seen: &BTreeMap<u64, u64>) {
        self.clock += 1;
        let clock = self.clock;
        self.under_way.clear();
        self.acknowledged.clear();
        for (lba, value) in seen {
            let shown =
                Version { value: *value, submitted: clock, completed: Some(clock), is_durable: true, whole: (0, 0) };
            self.sectors.insert(*lba, vec![shown]);
        }
        self.touched.clear();
    }
}

/// By hand: of three writes to a sector, the first flushed, the second acknowledged, the third under way.
#[test]
fn the_oracle_knows_what_may_be_seen() {
    let write = Request::new(Operation::Write, ssdlab_disk::Lba(5), 1);
    let mut oracle = Oracle::new(true, 8, true);
    for value in 1..=3 {
        oracle.submit(value as u32, write, value);
        if value < 3 {
            oracle.complete(value as u32);
        }
        if value == 1 {
            oracle.submit(9, Request::new(Operation::Flush, ssdlab_disk::Lba(0), 0), 0);
            oracle.complete(9);
        }
    }
    let is_legal = |value: u64| oracle.judge(&BTreeMap::from([(5, value)])).is_none();
    assert_eq!((0..5).map(is_legal).collect::<Vec<_>>(), [false, true, true, true, false]);
}

/// By hand: a write of sectors 4 and 5 of a unit, of which one shows the write before.
#[test]
fn the_oracle_sees_what_is_torn() {
    let mut oracle = Oracle::new(true, 8, true);
    for value in 1..=2 {
        oracle.submit(0, Request::new(Operation::Write, ssdlab_disk::Lba(4), 2), value);
        oracle.complete(0);
    }
    let is_whole = |first, second| oracle.judge(&BTreeMap::from([(4, first), (5, second)])).is_none();
    assert!(is_whole(1, 1) && is_whole(2, 2) && is_whole(0, 0));
    assert!(!is_whole(1, 2) && !is_whole(2, 0) && !is_whole(0, 1));
}

/// By hand: a write of sectors 6 to 9, in two units, of which one shows what was there before.
#[test]
fn the_oracle_sees_an_atomic_write_in_part() {
    let mut oracle = Oracle::new(true, 8, true).atomic(4);
    for (sectors, value) in [(4, 1), (4, 2), (5, 3)] {
        oracle.submit(0, Request::new(Operation::Write, ssdlab_disk::Lba(6), sectors), value);
        oracle.complete(0);
    }
    let is_whole = |first, second| oracle.judge_cut(&BTreeMap::from([(7, first), (8, second)])).is_none();
    assert!(is_whole(1, 1) && is_whole(2, 2) && !is_whole(1, 2) && !is_whole(2, 0));
    assert!(is_whole(3, 1) && is_whole(2, 3), "five sectors are more than the drive takes at once");
    assert!(oracle.judge(&BTreeMap::from([(7, 1), (8, 2)])).is_none(), "a kill takes units one by one");
}
