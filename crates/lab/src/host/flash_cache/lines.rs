//! Which lines the cache holds, by recency, and which sectors of each.

use std::collections::BTreeMap;

/// A map that knows which entry was used longest ago.
#[derive(Debug)]
pub struct Recency<T> {
    entries: BTreeMap<u64, (u64, T)>,
    order: BTreeMap<u64, u64>,
    uses: u64,
}

impl<T> Default for Recency<T> {
    fn default() -> Recency<T> {
        Recency { entries: BTreeMap::new(), order: BTreeMap::new(), uses: 0 }
    }
}

impl<T> Recency<T> {
    /// An entry, which stays as old as it is.
    pub fn get(&self, key: u64) -> Option<&T> {
        self.entries.get(&key).map(|(_, value)| value)
    }

    /// As [`Recency::get`], to change it.
    pub fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        self.entries.get_mut(&key).map(|(_, value)| value)
    }

    /// The entry is the one used last.
    pub fn touch(&mut self, key: u64) {
        if let Some((used, _)) = self.entries.get_mut(&key) {
            self.order.remove(used);
            *used = self.uses;
            self.order.insert(self.uses, key);
            self.uses += 1;
        }
    }

    /// Puts in an entry that is not there, as the one used last.
    pub fn insert(&mut self, key: u64, value: T) {
        self.entries.insert(key, (self.uses, value));
        self.order.insert(self.uses, key);
        self.uses += 1;
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: u64) -> Option<T> {
        let (used, value) = self.entries.remove(&key)?;
        self.order.remove(&used);
        Some(value)
    }

    /// Keys and entries, the one used longest ago first.
    pub fn oldest(&self) -> impl Iterator<Item = (u64, &T)> {
        self.order.values().map(|&key| (key, &self.entries[&key].1))
    }

    /// Every entry, to change it.
    pub fn values_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.entries.iter_mut().map(|(&key, (_, value))| (key, value))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.order.clear();
    }
}

/// A set of sectors of a line, a bit each.
pub type Mask = u128;

/// Most sectors of a line.
pub const MOST_SECTORS: u64 = Mask::BITS as u64;

/// Sectors `first..first + count` of a line.
pub fn mask(first: u64, count: u64) -> Mask {
    let low = if count >= MOST_SECTORS { Mask::MAX } else { (1 << count) - 1 };
    low << first
}

/// The stretches of a set: first sector and number of sectors.
pub fn stretches(mut set: Mask) -> impl Iterator<Item = (u64, u64)> {
    std::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let first = u64::from(set.trailing_zeros());
        let count = u64::from((!(set >> first)).trailing_zeros()).min(MOST_SECTORS - first);
        set &= !mask(first, count);
        Some((first, count))
    })
}

/// A line in the cache.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Where on the SSD it lies, in lines.
    pub slot: u64,
    /// Sectors that the SSD holds.
    pub valid: Mask,
    /// Of those, what only the SSD holds.
    pub dirty: Mask,
    /// What is being written back.
    pub destaging: Mask,
    /// Requests under way on the slot.
    pub users: u32,
    /// Copies into the slot under way.
    pub promoting: u32,
}

impl Line {
    /// An empty line in a slot.
    pub fn new(slot: u64) -> Line {
        Line { slot, valid: 0, dirty: 0, destaging: 0, users: 0, promoting: 0 }
    }

    /// Nothing is lost and nobody disturbed if it goes.
    pub fn can_go(&self) -> bool {
        self.dirty == 0 && self.destaging == 0 && self.users == 0 && self.promoting == 0
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The stretches of a set are in order, do not touch, and make up the set.
        #[test]
        fn stretches_make_up_the_set(high: u64, low: u64) {
            let set = Mask::from(high) << 64 | Mask::from(low);
            let all: Vec<(u64, u64)> = stretches(set).collect();
            prop_assert_eq!(all.iter().fold(0, |sum, &(first, count)| sum | mask(first, count)), set);
            prop_assert!(all.windows(2).all(|pair| pair[0].0 + pair[0].1 < pair[1].0));
        }
    }

    /// The full line is one stretch; touching makes the oldest the newest.
    #[test]
    fn full_and_oldest() {
        assert_eq!(stretches(Mask::MAX).collect::<Vec<_>>(), [(0, 128)]);
        let mut recency = Recency::default();
        [7, 8, 9].into_iter().for_each(|key| recency.insert(key, ()));
        recency.touch(7);
        recency.remove(8);
        assert_eq!(recency.oldest().map(|(key, ())| key).collect::<Vec<_>>(), [9, 7]);
    }
}
