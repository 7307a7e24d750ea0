//! What stood in the image before rows that are under program: it comes back where power fails and the row is lost.
//!
//! An entry is a unit that was put, by the running number of the put. It goes when the row's program ends, and the
//! older entries of the same unit with it: the newer version stands in flash then, whatever becomes of the older.
//! So it is with a trim. At a cut each row is drawn whole or undone; entries of undone rows are applied newest first,
//! but never below a version of the same unit whose row is whole.

use crate::unit::{Pool, Unit};
use ssdlab_device::units::{DieId, Ppn};
use std::collections::{BTreeMap, BTreeSet};

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

/// What stood before all rows that are under program.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    before: BTreeMap<Key, Before>,
    /// Units put into rows whose program has not begun.
    open: Vec<Key>,
    /// Units of the rows that each die programs.
    programming: Vec<Vec<Key>>,
    puts: u64,
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
    /// A unit is put: this stood where its sectors go, by the writes that brought them.
    pub fn keep(&mut self, lpn: u32, before: Before) {
        let key = self.next(lpn);
        self.before.insert(key, before);
        self.open.push(key);
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
        for (lpn, put) in row.drain(..) {
            Undo::forget_until(&mut self.before, lpn, put, &mut settle);
        }
    }

    /// A unit is trimmed: no older version of it comes back.
    pub fn forget(&mut self, lpn: u32, pool: &mut Pool) {
        Undo::forget_until(&mut self.before, lpn, u64::MAX, &mut |_, before| pool.give_back(before.unit));
    }

    fn forget_until(before: &mut BTreeMap<Key, Before>, lpn: u32, put: u64, settle: &mut impl FnMut(Key, Before)) {
        while let Some((&key, _)) = before.range((lpn, 0)..=(lpn, put)).next() {
            before.remove(&key).into_iter().for_each(|before| settle(key, before));
        }
    }

    /// Nothing is under program any more, and nothing comes back.
    pub fn clear(&mut self) {
        self.before.clear();
        self.open.clear();
        self.programming.iter_mut().for_each(Vec::clear);
    }

    /// Nothing is under program.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    /// Power fails: `is_whole` is asked for each row under program, die by die. What has to be undone, in the order in
    /// which it is to be applied, and the units of which a newer version stands.
    /// `over_newer` is a bug that a test must find.
    pub fn cut(&mut self, mut is_whole: impl FnMut(DieId) -> bool, over_newer: bool) -> (Vec<Undone>, BTreeSet<u32>) {
        let mut undone = Vec::new();
        let mut whole = Vec::new();
        for (die, row) in (0..).zip(&self.programming).filter(|(_, row)| !row.is_empty()) {
            if is_whole(DieId(die)) { whole.extend(row) } else { undone.extend(row) }
        }
        // Rows whose program has not begun are not in flash.
        let open: BTreeSet<Key> = self.open.iter().copied().collect();
        undone.extend(&open);
        let stands: BTreeSet<Key> = whole.into_iter().filter(|key| self.before.contains_key(key)).collect();
        undone.sort_by_key(|(_, put)| std::cmp::Reverse(*put));
        let is_below = |(lpn, put): Key| stands.range((lpn, put)..=(lpn, u64::MAX)).next().is_some();
        let mut all = std::mem::take(&mut self.before);
        self.clear();
        let left = undone.into_iter().filter(|key| over_newer || !is_below(*key));
        let undo = |key: Key, before| Undone { lpn: key.0, before, is_in_row: !open.contains(&key) };
        let undone = left.filter_map(|key| all.remove(&key).map(|before| undo(key, before))).collect();
        (undone, stands.into_iter().map(|(lpn, _)| lpn).collect())
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
        assert_eq!(undone(two_versions(), &[false, true]), []);
        assert_eq!(undone(two_versions(), &[true, true]), []);
    }

    /// The newer row has ended: the older one cannot take its unit back. Where the older has ended, the newer can.
    #[test]
    fn what_has_ended_stands() {
        let mut undo = two_versions();
        undo.end(DieId(1), |_, _| ());
        assert_eq!(undone(undo, &[false]), []);
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
}
