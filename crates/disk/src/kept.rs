//! Versions of units that stood before what flash holds by now: only a faulty drive falls back to them.
//!
//! [`Undo`](crate::undo::Undo) hands over what it has when the row's program ends. It is kept until the drive really
//! flushes, or for good where a fault goes beyond flushes; 64 MiB at most, the oldest dropped. With a version go the older
//! ones of the same unit: an older version never comes back over a newer one.

use crate::undo::{Before, Key};
use crate::unit::Pool;
use ssdlab_device::units::Ppn;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes that are kept at most.
const LIMIT: usize = 64 << 20;

/// Versions that are kept beyond the end of their rows.
#[derive(Clone, Debug)]
pub struct Kept {
    before: BTreeMap<Key, Before>,
    /// In the order in which they came; some are gone already.
    order: VecDeque<Key>,
    bytes: usize,
    limit: usize,
    /// Units of which a version was dropped for want of room.
    dropped: BTreeSet<u32>,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept { before: BTreeMap::new(), order: VecDeque::new(), bytes: 0, limit: LIMIT, dropped: BTreeSet::new() }
    }
}

impl Kept {
    /// Keeps at most so many bytes.
    #[cfg(test)]
    pub fn limited(limit: usize) -> Kept {
        Kept { limit, ..Kept::default() }
    }

    /// A row has ended, and this stood before one of its units.
    pub fn keep(&mut self, key: Key, before: Before, pool: &mut Pool) {
        self.bytes += before.unit.bytes.len();
        self.before.insert(key, before);
        self.order.push_back(key);
        while self.bytes > self.limit
            && let Some(oldest) = self.order.pop_front()
        {
            if self.before.contains_key(&oldest) {
                self.dropped.insert(oldest.0);
                self.forget_until(oldest, pool);
            }
        }
    }

    /// A unit is trimmed: no version of it comes back.
    pub fn forget(&mut self, lpn: u32, pool: &mut Pool) {
        self.dropped.remove(&lpn);
        self.forget_until((lpn, u64::MAX), pool);
    }

    /// The drive has flushed: what is settled does not come back.
    pub fn settle(&mut self, is_settled: impl Fn(u32, &Before) -> bool, pool: &mut Pool) {
        for key in std::mem::take(&mut self.order) {
            match self.before.get(&key) {
                Some(before) if is_settled(key.0, before) => self.forget_until(key, pool),
                Some(_) => self.order.push_back(key),
                None => {}
            }
        }
        if self.before.is_empty() {
            self.dropped.clear();
        }
    }

    fn forget_until(&mut self, (lpn, put): Key, pool: &mut Pool) {
        while let Some((&key, _)) = self.before.range((lpn, 0)..=(lpn, put)).next() {
            if let Some(before) = self.before.remove(&key) {
                self.bytes -= before.unit.bytes.len();
                pool.give_back(before.unit);
            }
        }
    }

    /// Units of which a version was dropped.
    pub fn dropped(&self) -> impl Iterator<Item = u32> + '_ {
        self.dropped.iter().copied()
    }

    /// The newest version that is kept of each slot in order, of the slots that are asked for.
    pub fn in_slots(&self, is_asked_for: impl Fn(Ppn) -> bool) -> Vec<Key> {
        let mut found: Vec<(Ppn, Key)> = self
            .before
            .iter()
            .filter(|(_, before)| is_asked_for(before.to))
            .map(|(key, before)| (before.to, *key))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, key)| key).collect()
    }

    /// Power fails: nothing is kept any more. Versions, of each unit newest first, for as long as `goes` says that they
    /// go; what stands below one that stays is not asked for.
    pub fn cut(&mut self, mut goes: impl FnMut(Key, &Before) -> bool) -> Vec<(Key, Before)> {
        let mut gone = Vec::new();
        let mut stays = None;
        let limit = self.limit;
        let kept = std::mem::replace(self, Kept { limit, ..Kept::default() });
        for (key, before) in kept.before.into_iter().rev() {
            if stays != Some(key.0) && goes(key, &before) {
                gone.push((key, before));
            } else {
                stays = Some(key.0);
            }
        }
        gone
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::unit::Unit;

    const UNIT: usize = 512;

    fn before(write: u64, to: u32) -> Before {
        let mut unit = Unit::new(1, UNIT);
        unit.bring(&(0..1), write, None);
        Before { to: Ppn(to), unit, more: None }
    }

    fn pool() -> Pool {
        Pool::new(1, UNIT)
    }

    /// Units 5, 6, 5: writes 1, 2 and 3 in slots 10, 11 and 20.
    fn three(limit: usize) -> Kept {
        let mut kept = Kept::limited(limit);
        for (lpn, write, to) in [(5, 1, 10), (6, 2, 11), (5, 3, 20)] {
            kept.keep((lpn, write), before(write, to), &mut pool());
        }
        kept
    }

    fn writes(gone: Vec<(Key, Before)>) -> Vec<u64> {
        gone.into_iter().map(|(_, before)| before.unit.brought[0]).collect()
    }

    /// Of each unit newest first; what stays protects what lies below it.
    #[test]
    fn an_older_version_stays_below_a_newer_one() {
        assert_eq!(writes(three(LIMIT).cut(|_, _| true)), [2, 3, 1]);
        assert_eq!(writes(three(LIMIT).cut(|key, _| key.1 != 3)), [2]);
        assert_eq!(writes(three(LIMIT).cut(|key, _| key.1 != 1)), [2, 3]);
    }

    /// With room for two the oldest goes, and that is told until it does not matter any more.
    #[test]
    fn the_oldest_is_dropped() {
        let mut kept = three(2 * UNIT);
        assert_eq!(kept.dropped().collect::<Vec<_>>(), [5]);
        assert_eq!(writes(kept.clone().cut(|_, _| true)), [2, 3]);
        kept.settle(|lpn, _| lpn == 6, &mut pool());
        assert_eq!(kept.dropped().count(), 1);
        kept.settle(|_, _| true, &mut pool());
        assert_eq!((kept.dropped().count(), kept.bytes), (0, 0));
    }

    /// A trim and a settled newer version take the older ones along.
    #[test]
    fn older_versions_go_along() {
        let mut kept = three(LIMIT);
        kept.settle(|_, before| before.unit.brought[0] == 3, &mut pool());
        assert_eq!(writes(kept.clone().cut(|_, _| true)), [2]);
        kept.forget(6, &mut pool());
        assert_eq!((kept.cut(|_, _| true).len(), kept.bytes), (0, 0));
    }

    /// Slots are told in their order.
    #[test]
    fn slots_are_in_order() {
        let kept = three(LIMIT);
        assert_eq!(kept.in_slots(|to| to.0 < 20), [(5, 1), (6, 2)]);
        assert_eq!(kept.in_slots(|to| to.0 > 10), [(6, 2), (5, 3)]);
    }
}
