//! A set of sectors as ranges: which part of a stripe or of a cache line is written.

/// Sectors as half-open ranges, in order, that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// The sectors `from..to`.
    pub fn of(from: u64, to: u64) -> Ranges {
        let mut ranges = Ranges::default();
        ranges.insert(from, to);
        ranges
    }

    /// Adds `from..to`.
    pub fn insert(&mut self, mut from: u64, mut to: u64) {
        if from >= to {
            return;
        }
        let first = self.0.partition_point(|range| range.1 < from);
        let after = self.0.partition_point(|range| range.0 <= to);
        if first < after {
            from = from.min(self.0[first].0);
            to = to.max(self.0[after - 1].1);
        }
        self.0.splice(first..after, [(from, to)]);
    }

    /// Adds all of another set.
    pub fn insert_all(&mut self, other: &Ranges) {
        for (from, to) in other.iter() {
            self.insert(from, to);
        }
    }

    /// Takes `from..to` out.
    pub fn remove(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let keep = |&(low, high): &(u64, u64)| [(low, high.min(from)), (low.max(to), high)];
        self.0 = self.0.iter().flat_map(keep).filter(|range| range.0 < range.1).collect();
    }

    /// The ranges in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of sectors.
    pub fn sectors(&self) -> u64 {
        self.iter().map(|(from, to)| to - from).sum()
    }

    /// How many sectors of `from..to` are in it.
    pub fn sectors_within(&self, from: u64, to: u64) -> u64 {
        self.iter().map(|(low, high)| high.min(to).saturating_sub(low.max(from))).sum()
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Ranges hold exactly what a plain set of sectors holds, and never touch each other.
        #[test]
        fn ranges_are_a_set_of_sectors(steps in prop::collection::vec((any::<bool>(), 0u64..64, 0u64..64), 0..30)) {
            let mut ranges = Ranges::default();
            let mut plain = [false; 128];
            for (adds, from, length) in steps {
                plain[from as usize..(from + length) as usize].fill(adds);
                if adds { ranges.insert(from, from + length) } else { ranges.remove(from, from + length) }
                let held: Vec<bool> = (0..128).map(|at| ranges.sectors_within(at, at + 1) == 1).collect();
                prop_assert_eq!(&held[..], &plain[..]);
                prop_assert_eq!(ranges.sectors(), plain.iter().filter(|held| **held).count() as u64);
                let all: Vec<_> = ranges.iter().collect();
                prop_assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }
}
