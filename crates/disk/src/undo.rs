//! What stood in the image before rows that are under program: it comes back where power fails and the row is lost.
//!
//! An entry is a unit that was put, by the running number of the put. It goes when the row's program ends, and the
//! older entries of the same unit with it: the newer version stands in flash then, whatever becomes of the older.
//! So it is with a trim. At a cut each row is drawn whole or undone; entries of undone rows are applied newest first,
//! but never below a version of the same unit whose row is whole.
//!
//! Of a write that is whole or not at all ([`Groups`]) the entries stay until all of it is safe, and those of the same
//! units that came later with them. Where power fails before, its sectors go back to what they were, unless a later write
//! that stands went over them.

use crate::groups::Groups;
use crate::unit::{Pool, Unit};
use ssdlab_device::units::{DieId, Ppn};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Unit and running number of its put.
pub type Key = (u32, u64);

/// What stood in the image before a unit was put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// The slot that the unit was put into.
    pub to: Ppn,
    /// The sectors that were put, with the bytes that stood there before, and the writes that had brought the new ones.
    pub unit: Unit,
    /// More of it, where there is more: apart, since most have none.
    pub more: Option<Box<More>>,
}

/// What is known of sectors before a unit was put, besides their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct More {
    /// Sectors that could not be read.
    pub mended: Vec<u64>,
    /// The writes that had brought what stood in each sector of the unit; none where that is not known.
    pub writes: Vec<u64>,
}

impl More {
    /// Apart, where there is any.
    pub fn of(mended: Vec<u64>, writes: Vec<u64>) -> Option<Box<More>> {
        (!mended.is_empty() || !writes.is_empty()).then(|| Box::new(More { mended, writes }))
    }
}

/// What stood before all rows that are under program, and before what groups have put that are not safe yet.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    before: BTreeMap<Key, Entry>,
    /// Units put into rows whose program has not begun.
    open: Vec<Key>,
    /// Units of the rows that each die programs.
    programming: Vec<Vec<Key>>,
    puts: u64,
    groups: Groups,
}

#[derive(Clone, Debug)]
struct Entry {
    before: Before,
    /// What was put stands, or a newer version of it: kept for groups alone.
    is_whole: bool,
}

/// A unit that goes back to what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Its number.
    pub lpn: u32,
    /// What it was.
    pub before: Before,
    /// Its row was under program.
    pub is_in_row: bool,
}

impl Undo {
    /// A write to these units begins, which is whole or not at all after a loss of power.
    pub fn begin_group(&mut self, write: u64, units: Range<u32>) {
        self.groups.begin(write, units);
    }

    /// A write is a group that is not safe yet.
    pub fn is_group(&self, write: u64) -> bool {
        self.groups.is_open(write)
    }

    /// A write has failed: nothing is promised of it.
    pub fn end_group(&mut self, write: u64, pool: &mut Pool) {
        let units = self.groups.end(write);
        units.into_iter().flatten().for_each(|lpn| self.prune(lpn, &mut |_, before| pool.give_back(before.unit)));
    }

    /// No write is a group any more.
    pub fn end_groups(&mut self, pool: &mut Pool) {
        self.groups.take();
        let units: BTreeSet<u32> = self.before.keys().map(|(lpn, _)| *lpn).collect();
        units.into_iter().for_each(|lpn| self.prune(lpn, &mut |_, before| pool.give_back(before.unit)));
    }

    /// A unit is put: this stood where its sectors go, by the writes that brought them.
    pub fn keep(&mut self, lpn: u32, before: Before) {
        let key = self.next(lpn);
        self.before.insert(key, Entry { before, is_whole: false });
        self.open.push(key);
    }

    /// Whether what stood before a unit that stands at once has to be kept, for it or older versions of it are of groups.
    pub fn is_of_group(&self, lpn: u32, unit: &Unit) -> bool {
        !self.groups.is_empty() && (!unit.groups.is_empty() || self.versions(lpn, u64::MAX).next().is_some())
    }

    /// As [`Undo::keep`], of a unit that stands at once.
    pub fn keep_standing(&mut self, lpn: u32, before: Before, pool: &mut Pool) {
        let key = self.next(lpn);
        self.before.insert(key, Entry { before, is_whole: false });
        self.stands(key, &mut |_, before| pool.give_back(before.unit));
    }

    /// The name of the next put of a unit.
    pub fn next(&mut self, lpn: u32) -> Key {
        self.puts += 1;
        (lpn, self.puts)
    }

    /// A die programs what was put since the last row began.
    pub fn begin(&mut self, die: DieId) {
        let die = usize::from(die.0);
        if self.programming.len() <= die {
            self.programming.resize_with(die + 1, Vec::new);
        }
        self.programming[die].append(&mut self.open);
    }

    /// What a die programs is programmed; `settle` gets what does not come back.
    pub fn end(&mut self, die: DieId, mut settle: impl FnMut(Key, Before)) {
        let Some(row) = self.programming.get_mut(usize::from(die.0)) else { return };
        let mut row = std::mem::take(row);
        row.drain(..).for_each(|key| self.stands(key, &mut settle));
        self.programming[usize::from(die.0)] = row;
    }

    /// What was put stands, and no older version of the unit comes back but for a group.
    fn stands(&mut self, (lpn, put): Key, settle: &mut impl FnMut(Key, Before)) {
        if self.groups.is_empty() {
            return self.forget_until(lpn, put, settle);
        }
        self.note_whole((lpn, put)).into_iter().for_each(|lpn| self.prune(lpn, settle));
        self.prune(lpn, settle);
    }

    /// A version of a unit is whole, and so are the older ones that it has in it. Returns units of groups that are safe
    /// now.
    fn note_whole(&mut self, (lpn, put): Key) -> Vec<u32> {
        let mut safe = Vec::new();
        for (_, entry) in self.before.range_mut((lpn, 0)..=(lpn, put)).filter(|(_, entry)| !entry.is_whole) {
            entry.is_whole = true;
            let groups = entry.before.unit.groups.iter();
            safe.extend(groups.filter_map(|layer| self.groups.safe(layer.write, lpn)).flatten());
        }
        safe
    }

    fn versions(&self, lpn: u32, until: u64) -> impl DoubleEndedIterator<Item = (&Key, &Entry)> {
        self.before.range((lpn, 0)..=(lpn, until))
    }

    /// Versions of a unit that stand are forgotten, if none is of a group.
    fn prune(&mut self, lpn: u32, settle: &mut impl FnMut(Key, Before)) {
        let newest = self.versions(lpn, u64::MAX).rev().find(|(_, entry)| entry.is_whole);
        let Some((&(_, newest), _)) = newest else { return };
        let is_of_group = |entry: &Entry| entry.before.unit.groups.iter().any(|layer| self.groups.is_open(layer.write));
        if !self.versions(lpn, newest).any(|(_, entry)| is_of_group(entry)) {
            self.forget_until(lpn, newest, settle);
        }
    }

    /// A unit is trimmed: no older version of it comes back.
    pub fn forget(&mut self, lpn: u32, pool: &mut Pool) {
        let settle = &mut |_, before: Before| pool.give_back(before.unit);
        self.forget_until(lpn, u64::MAX, settle);
        if !self.groups.is_empty() {
            let writes = self.groups.of_unit(lpn);
            let safe: Vec<u32> =
                writes.into_iter().filter_map(|write| self.groups.safe(write, lpn)).flatten().collect();
            safe.into_iter().for_each(|lpn| self.prune(lpn, settle));
        }
    }

    fn forget_until(&mut self, lpn: u32, put: u64, settle: &mut impl FnMut(Key, Before)) {
        while let Some((&key, _)) = self.before.range((lpn, 0)..=(lpn, put)).next() {
            self.before.remove(&key).into_iter().for_each(|entry| settle(key, entry.before));
        }
    }

    /// Nothing is under program any more, and nothing comes back.
    pub fn clear(&mut self) {
        self.before.clear();
        self.open.clear();
        self.programming.iter_mut().for_each(Vec::clear);
        self.groups.take();
    }

    /// Nothing is under program.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    /// Power fails: `is_whole` is asked for each row under program, die by die. What has to be undone, in the order in
    /// which it is to be applied, and the units of which a newer version stands.
    /// `over_newer` is a bug that a test must find.
    pub fn cut(&mut self, mut is_whole: impl FnMut(DieId) -> bool, over_newer: bool) -> (Vec<Undone>, BTreeSet<u32>) {
        let mut lost: BTreeSet<Key> = BTreeSet::new();
        let mut whole = Vec::new();
        for (die, row) in (0..).zip(&self.programming).filter(|(_, row)| !row.is_empty()) {
            if is_whole(DieId(die)) { whole.extend(row) } else { lost.extend(row) }
        }
        // Rows whose program has not begun are not in flash.
        let open: BTreeSet<Key> = self.open.iter().copied().collect();
        lost.extend(&open);
        let stands = whole.iter().filter(|key| self.before.contains_key(key)).map(|(lpn, _)| *lpn).collect();
        whole.into_iter().for_each(|key| drop(self.note_whole(key)));
        let (entries, broken) = (std::mem::take(&mut self.before), self.groups.take());
        self.clear();
        let mut entries: Vec<(Key, Entry)> = entries.into_iter().collect();
        entries.sort_by_key(|((_, put), _)| std::cmp::Reverse(*put));
        let mut over = Over::default();
        let undone = entries.into_iter().filter_map(|(key, Entry { before, is_whole })| {
            if lost.contains(&key) && (over_newer || !is_whole) {
                return Some(Undone { lpn: key.0, before, is_in_row: !open.contains(&key) });
            }
            let before = over.broken_part(key.0, before, &broken)?;
            Some(Undone { lpn: key.0, before, is_in_row: false })
        });
        (undone.collect(), stands)
    }
}

/// Sectors of units that a version has brought which stands, newest first: nothing older of them is undone.
#[derive(Default)]
struct Over(BTreeMap<u32, Vec<bool>>);

impl Over {
    /// What groups brought with a version that stands, and that no newer one went over; below it is what lay there in RAM
    /// or, where nothing did, in the image.
    fn broken_part(&mut self, lpn: u32, mut before: Before, broken: &BTreeSet<u64>) -> Option<Before> {
        if broken.is_empty() {
            return None;
        }
        let is_broken = |write| broken.contains(&write);
        let sectors = before.unit.brought.len();
        let first = u64::from(lpn) * sectors as u64;
        let over = self.0.entry(lpn).or_insert_with(|| vec![false; sectors]);
        for (sector, over) in over.iter_mut().enumerate() {
            let write = before.unit.brought[sector];
            if !is_broken(write) || *over {
                *over |= write != 0;
                before.unit.brought[sector] = 0;
            } else if let Some(bytes) = before.unit.below(sector, is_broken).map(<[u8]>::to_vec) {
                *over = true;
                before.unit.of_mut(&(sector..sector + 1)).copy_from_slice(&bytes);
            }
        }
        let Before { unit, more, .. } = &mut before;
        more.iter_mut().for_each(|more| more.mended.retain(|lba| unit.brought[(lba - first) as usize] != 0));
        (!before.unit.is_empty()).then_some(before)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn before(write: u64) -> Before {
        let mut unit = Unit::new(1, 1);
        unit.bring(&(0..1), write, None);
        Before { to: Ppn(0), unit, more: None }
    }

    fn pool() -> Pool {
        Pool::new(1, 1)
    }

    /// Two versions of unit 5 are under program on dies 0 and 1, the newer on die 1.
    fn two_versions() -> Undo {
        let mut undo = Undo::default();
        undo.keep(5, before(1));
        undo.begin(DieId(0));
        undo.keep(5, before(2));
        undo.begin(DieId(1));
        undo
    }

    /// The writes whose sectors go back, in order, where the rows are drawn so.
    fn undone(mut undo: Undo, draws: &[bool]) -> Vec<u64> {
        let mut draws = draws.iter();
        let (undone, _) = undo.cut(|_| *draws.next().unwrap(), false);
        assert!(undo.is_empty());
        undone.iter().map(|each| each.before.unit.brought[0]).collect()
    }

    /// Newest first; and an older version does not come back over a newer one that is whole.
    #[test]
    fn versions_go_back_newest_first() {
        assert_eq!(undone(two_versions(), &[false, false]), [2, 1]);
        assert_eq!(undone(two_versions(), &[true, false]), [2]);
        assert_eq!(undone(two_versions(), &[false, true]), [0u64; 0]);
        assert_eq!(undone(two_versions(), &[true, true]), [0u64; 0]);
    }

    /// The newer row has ended: the older one cannot take its unit back. Where the older has ended, the newer can.
    #[test]
    fn what_has_ended_stands() {
        let mut undo = two_versions();
        undo.end(DieId(1), |_, _| ());
        assert_eq!(undone(undo, &[false]), [0u64; 0]);
        let mut undo = two_versions();
        undo.end(DieId(0), |_, _| ());
        assert_eq!(undone(undo, &[false]), [2]);
    }

    /// After a trim nothing of before comes back, but what was put since does.
    #[test]
    fn a_trim_stands() {
        let mut undo = two_versions();
        undo.forget(5, &mut pool());
        undo.keep(5, before(3));
        undo.keep(6, before(4));
        undo.begin(DieId(2));
        assert_eq!(undone(undo, &[false, false, false]), [4, 3]);
    }

    /// Of unit 5 a part of write 9, a group of units 5 and 6, is put over what write 1 brought.
    fn half_of_a_group() -> Undo {
        let mut undo = Undo::default();
        undo.begin_group(9, 5..7);
        let mut put = before(1);
        put.unit.bring_over(&(0..1), 9, None);
        undo.keep(5, put);
        undo.begin(DieId(0));
        undo.end(DieId(0), |_, _| panic!("it is kept for unit 6"));
        undo
    }

    /// A unit that is programmed goes back all the same while another of its write is not.
    #[test]
    fn a_group_goes_back_as_a_whole() {
        assert_eq!(undone(half_of_a_group(), &[]), [9]);
        let mut undo = half_of_a_group();
        let mut rest = before(0);
        rest.unit.bring_over(&(0..1), 9, None);
        undo.keep(6, rest);
        undo.begin(DieId(1));
        assert_eq!(undone(undo.clone(), &[false]), [9, 9]);
        assert_eq!(undone(undo.clone(), &[true]), [0u64; 0], "the cut finds all of it");
        let mut settled = 0;
        undo.end(DieId(1), |_, _| settled += 1);
        assert!(undo.is_empty() && settled == 2);
    }

    /// A later write that stands stays, whatever becomes of the group below it; one trim makes a unit safe.
    #[test]
    fn what_lies_over_a_group_stays() {
        let mut undo = half_of_a_group();
        undo.keep(5, before(10));
        undo.begin(DieId(0));
        assert_eq!(undone(undo.clone(), &[true]), [0u64; 0]);
        assert_eq!(undone(undo, &[false]), [10, 9]);
        let mut undo = half_of_a_group();
        undo.forget(6, &mut pool());
        assert!(undo.is_empty() && undone(undo, &[]).is_empty());
    }
}
