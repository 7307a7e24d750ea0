//! Which units of the file system are in memory, and which of them must still be written.
//!
//! Units are kept by their place on the device. Clean ones make room in the order of their last use
//! (LRU); dirty ones do not. What is written back is clean from the moment its write is submitted;
//! written again meanwhile, it is dirty again. A run is neighbouring dirty units in one request, up to
//! the largest request.
//!
//! Left out: no bytes are held; the kernel's two lists (active, inactive); pages shared with programs.

use super::allocator::Extent;
use ssdlab_device::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// A unit that must be written.
#[derive(Clone, Copy, Debug)]
struct Dirty {
    since: Nanos,
    /// Unit of the inode whose data this is; none for metadata.
    inode: Option<u64>,
}

/// Neighbouring dirty units, taken to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where.
    pub extent: Extent,
    /// Units of the inodes whose data it is.
    pub inodes: BTreeSet<u64>,
}

/// The page cache.
#[derive(Clone, Debug, Default)]
pub struct PageCache {
    dirty: BTreeMap<u64, Dirty>,
    /// Clean units, with the number of their last use.
    clean: BTreeMap<u64, u64>,
    by_use: BTreeMap<u64, u64>,
    uses: u64,
    capacity_units: u64,
}

impl PageCache {
    /// An empty cache of so many units.
    pub fn new(capacity_units: u64) -> PageCache {
        PageCache { capacity_units, ..PageCache::default() }
    }

    /// Dirty units.
    pub fn dirty_units(&self) -> u64 {
        self.dirty.len() as u64
    }

    /// Whether a unit is in memory; if so it counts as used.
    pub fn hit(&mut self, unit: u64) -> bool {
        if self.dirty.contains_key(&unit) {
            return true;
        }
        let hit = self.clean.contains_key(&unit);
        if hit {
            self.fill(unit);
        }
        hit
    }

    /// Puts a clean unit in as the one used last.
    pub fn fill(&mut self, unit: u64) {
        if self.dirty.contains_key(&unit) {
            return;
        }
        self.uses += 1;
        if let Some(earlier) = self.clean.insert(unit, self.uses) {
            self.by_use.remove(&earlier);
        }
        self.by_use.insert(self.uses, unit);
        self.make_room();
    }

    fn make_room(&mut self) {
        while (self.clean.len() + self.dirty.len()) as u64 > self.capacity_units {
            let Some((_, unit)) = self.by_use.pop_first() else {
                return;
            };
            self.clean.remove(&unit);
        }
    }

    /// Makes a unit dirty; its age counts from when it first became so.
    pub fn soil(&mut self, unit: u64, now: Nanos, inode: Option<u64>) {
        if let Some(earlier) = self.clean.remove(&unit) {
            self.by_use.remove(&earlier);
        }
        self.dirty.entry(unit).or_insert(Dirty { since: now, inode });
        self.make_room();
    }

    /// Whether something is dirty since `time` or longer.
    pub fn has_older(&self, time: Nanos) -> bool {
        self.dirty.values().any(|dirty| dirty.since <= time)
    }

    /// Takes the next run at or after `from` and before `end`, of at most `most` units, to be written.
    pub fn take_run(&mut self, from: u64, end: u64, most: u64, older_than: Nanos) -> Option<Run> {
        let (&start, _) = self.dirty.range(from..end).find(|(_, dirty)| dirty.since <= older_than)?;
        let mut inodes = BTreeSet::new();
        let mut at = start;
        while at < end.min(start + most) {
            let Some(dirty) = self.dirty.remove(&at) else {
                break;
            };
            inodes.extend(dirty.inode);
            self.fill(at);
            at += 1;
        }
        Some(Run { extent: Extent { start, units: at - start }, inodes })
    }

    /// Forgets units of a deleted file: they need not be written any more.
    pub fn forget(&mut self, extent: Extent) {
        for unit in extent.start..extent.end() {
            self.dirty.remove(&unit);
            if let Some(used) = self.clean.remove(&unit) {
                self.by_use.remove(&used);
            }
        }
    }

    /// Forgets everything clean, as after a restart.
    pub fn drop_clean(&mut self) {
        self.clean.clear();
        self.by_use.clear();
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    /// The clean unit used longest ago makes room; a dirty one stays.
    #[test]
    fn least_recently_used_makes_room() {
        let mut cache = PageCache::new(3);
        cache.soil(10, Nanos(1), None);
        cache.fill(20);
        cache.fill(30);
        assert!(cache.hit(20));
        cache.fill(40);
        assert_eq!([10, 20, 30, 40].map(|unit| cache.hit(unit)), [true, true, false, true]);
    }

    proptest! {
        /// Every dirty unit is taken exactly once unless it is forgotten or dirtied again, in runs that
        /// never exceed the largest request.
        #[test]
        fn each_dirty_unit_is_written_once(soiled in prop::collection::vec((0u64..200, 1u64..20), 1..40), most in 1u64..16) {
            let mut cache = PageCache::new(50);
            let mut expected = BTreeSet::new();
            for (start, units) in soiled {
                for unit in start..start + units {
                    cache.soil(unit, Nanos(1), Some(unit % 3));
                    expected.insert(unit);
                }
            }
            let mut from = 0;
            while let Some(run) = cache.take_run(from, u64::MAX, most, Nanos::NEVER) {
                prop_assert!(run.extent.units <= most);
                for unit in run.extent.start..run.extent.end() {
                    prop_assert!(expected.remove(&unit));
                }
                from = run.extent.end();
            }
            prop_assert!(expected.is_empty());
            prop_assert_eq!(cache.dirty_units(), 0);
        }
    }
}
