//! Which parts of a file system are in use: a bitmap over block groups, given out as extents.
//!
//! Counted in units, the smallest piece that the file system gives out. A request goes first to its
//! goal, then to the groups from the goal's onward: the first free run that is long enough and begins
//! at a multiple of `align`. Where none of the first `search_groups` groups has one, the longest run
//! of the nearest group that has any is taken, and the rest is asked for again: so a file falls into
//! pieces as the free space does.
//!
//! Left out: the buddy lists and the preallocation of ext4's allocator, the rotational layout tables
//! of old UFS. They choose faster, or reserve what a file may need later; this one sees the size of
//! each write at once.

/// A stretch of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// First unit.
    pub start: u64,
    /// Number of units.
    pub units: u64,
}

impl Extent {
    /// First unit after it.
    pub fn end(&self) -> u64 {
        self.start + self.units
    }
}

/// The bitmap.
#[derive(Clone, Debug)]
pub struct Allocator {
    units: u64,
    group_units: u64,
    /// A set bit is in use.
    words: Vec<u64>,
    free: Vec<u64>,
    all_free: u64,
    /// No free run of the group is longer.
    longest: Vec<u64>,
    search_groups: usize,
}

impl Allocator {
    /// All free.
    pub fn new(units: u64, group_units: u64, search_groups: usize) -> Allocator {
        let groups = units.div_ceil(group_units);
        let free: Vec<u64> = (0..groups).map(|group| group_units.min(units - group * group_units)).collect();
        let words = vec![0; units.div_ceil(64) as usize];
        Allocator { units, group_units, words, longest: free.clone(), free, all_free: units, search_groups }
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.free.len()
    }

    /// Free units of a group.
    pub fn free_in(&self, group: usize) -> u64 {
        self.free[group]
    }

    /// Free units of all groups.
    pub fn free(&self) -> u64 {
        self.all_free
    }

    /// The units that this covers.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// The group of a unit.
    pub fn group_of(&self, unit: u64) -> usize {
        (unit / self.group_units) as usize
    }

    /// First unit of a group, and first after it.
    fn bounds(&self, group: usize) -> (u64, u64) {
        let start = group as u64 * self.group_units;
        (start, (start + self.group_units).min(self.units))
    }

    /// Takes `units` near `goal` in as few extents as the free space allows, or nothing when there is
    /// too little. Each extent begins at a multiple of `align`, and all but the last are multiples of it.
    pub fn allocate(&mut self, goal: u64, units: u64, align: u64) -> Option<Vec<Extent>> {
        let mut extents: Vec<Extent> = Vec::new();
        let (mut goal, mut rest) = (goal, units);
        while rest > 0 {
            let Some(extent) = self.piece(goal, rest, align) else {
                extents.iter().for_each(|&extent| self.release(extent));
                return None;
            };
            self.mark(extent, true);
            rest -= extent.units;
            goal = extent.end();
            match extents.last_mut() {
                Some(last) if last.end() == extent.start => last.units += extent.units,
                _ => extents.push(extent),
            }
        }
        Some(extents)
    }

    /// Gives units back.
    pub fn release(&mut self, extent: Extent) {
        self.mark(extent, false);
    }

    /// Takes exactly these units, which are free.
    pub fn reserve(&mut self, extent: Extent) {
        self.mark(extent, true);
    }

    /// All stretches in use, in order.
    pub fn used(&self) -> impl Iterator<Item = Extent> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = self.next(at, self.units, true)?;
            at = self.next(start, self.units, false).unwrap_or(self.units);
            Some(Extent { start, units: at - start })
        })
    }

    /// All free stretches, in order.
    pub fn unused(&self) -> impl Iterator<Item = Extent> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = self.next(at, self.units, false)?;
            at = self.next(start, self.units, true).unwrap_or(self.units);
            Some(Extent { start, units: at - start })
        })
    }

    /// One free run for at most `units`: at the goal, else whole in one of the next groups, else the longest.
    fn piece(&mut self, goal: u64, units: u64, align: u64) -> Option<Extent> {
        let goal = goal % self.units;
        let first = self.group_of(goal);
        if self.longest[first] >= units
            && let Some(extent) = self.run(goal, self.bounds(first).1, units, align).0
        {
            return Some(extent);
        }
        for step in 0..self.search_groups.min(self.groups()) {
            let group = (first + step) % self.groups();
            if self.longest[group] >= units {
                let (start, end) = self.bounds(group);
                let (found, longest) = self.run(start, end, units, align);
                if found.is_some() {
                    return found;
                }
                // So much of a run may lie before its first aligned unit.
                self.longest[group] = longest.units + align - 1;
            }
        }
        self.longest_near(first, units, align)
    }

    /// The longest aligned run of the nearest group that has one.
    fn longest_near(&self, first: usize, units: u64, align: u64) -> Option<Extent> {
        (0..self.groups()).map(|step| (first + step) % self.groups()).filter(|&group| self.free[group] > 0).find_map(
            |group| {
                let (start, end) = self.bounds(group);
                let longest = self.run(start, end, u64::MAX, align).1;
                let whole = if longest.units < units { longest.units / align * align } else { units };
                (whole > 0).then_some(Extent { units: whole, ..longest })
            },
        )
    }

    /// The first free run of `units` between two units, and the longest seen on the way.
    fn run(&self, start: u64, end: u64, units: u64, align: u64) -> (Option<Extent>, Extent) {
        let mut longest = Extent { start, units: 0 };
        let mut at = start;
        while let Some(free) = self.next(at, end, false) {
            at = self.next(free, end, true).unwrap_or(end);
            let aligned = free.next_multiple_of(align);
            if aligned.saturating_add(units) <= at {
                return (Some(Extent { start: aligned, units }), longest);
            }
            if at.saturating_sub(aligned) > longest.units {
                longest = Extent { start: aligned, units: at - aligned };
            }
        }
        (None, longest)
    }

    /// The next unit from `at` to before `end` that is in use, or free.
    fn next(&self, at: u64, end: u64, used: bool) -> Option<u64> {
        let mut at = at;
        while at < end {
            let word = self.words[(at / 64) as usize] ^ if used { 0 } else { u64::MAX };
            let rest = word >> (at % 64);
            if rest != 0 {
                return Some(at + u64::from(rest.trailing_zeros())).filter(|&found| found < end);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    fn mark(&mut self, extent: Extent, used: bool) {
        let mut at = extent.start;
        while at < extent.end() {
            let group = self.group_of(at);
            let end = extent.end().min((at / 64 + 1) * 64).min(self.bounds(group).1);
            let mask = (u64::MAX >> (64 - (end - at))) << (at % 64);
            let word = &mut self.words[(at / 64) as usize];
            assert_eq!(*word & mask, if used { 0 } else { mask }, "units are taken once and given back once");
            *word ^= mask;
            if used {
                self.free[group] -= end - at;
                self.all_free -= end - at;
            } else {
                self.free[group] += end - at;
                self.all_free += end - at;
                self.longest[group] = u64::MAX;
            }
            at = end;
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    /// A free file system gives one extent at the goal; alignment moves it up.
    #[test]
    fn fresh_space_gives_one_extent() {
        let mut allocator = Allocator::new(1000, 100, 16);
        assert_eq!(allocator.allocate(130, 20, 1), Some(vec![Extent { start: 130, units: 20 }]));
        assert_eq!(allocator.allocate(150, 8, 8), Some(vec![Extent { start: 152, units: 8 }]));
        assert_eq!(allocator.allocate(0, 2000, 1), None);
        assert_eq!(allocator.free(), 1000 - 28);
    }

    /// Split free space splits a file: every second unit free gives extents of one unit.
    #[test]
    fn split_space_gives_many_extents() {
        let mut allocator = Allocator::new(64, 64, 16);
        (0..32).for_each(|pair| allocator.reserve(Extent { start: 2 * pair, units: 1 }));
        let extents = allocator.allocate(0, 10, 1).unwrap();
        assert_eq!(extents.len(), 10);
    }

    proptest! {
        /// Against a plain set: no unit is owned twice, all lies within, alignment holds, and what is
        /// given back is free again.
        #[test]
        fn units_have_one_owner(
            steps in prop::collection::vec((any::<bool>(), 0u64..3000, 1u64..200, prop::sample::select(vec![1u64, 4, 8])), 1..120),
            group_units in prop::sample::select(vec![64u64, 100, 777]),
        ) {
            let mut allocator = Allocator::new(3001, group_units, 4);
            let mut owned = vec![false; 3001];
            let mut held: Vec<Vec<Extent>> = Vec::new();
            for (take, goal, units, align) in steps {
                if take || held.is_empty() {
                    let Some(extents) = allocator.allocate(goal, units, align) else {
                        continue;
                    };
                    prop_assert_eq!(extents.iter().map(|extent| extent.units).sum::<u64>(), units);
                    for extent in &extents {
                        prop_assert_eq!(extent.start % align, 0);
                        for unit in extent.start..extent.end() {
                            prop_assert!(!std::mem::replace(&mut owned[unit as usize], true));
                        }
                    }
                    held.push(extents);
                } else {
                    for extent in held.swap_remove(goal as usize % held.len()) {
                        allocator.release(extent);
                        (extent.start..extent.end()).for_each(|unit| owned[unit as usize] = false);
                    }
                }
                let used: u64 = allocator.used().map(|extent| extent.units).sum();
                prop_assert_eq!(used, owned.iter().filter(|&&owned| owned).count() as u64);
                prop_assert_eq!(used + allocator.free(), 3001);
            }
            held.into_iter().flatten().for_each(|extent| allocator.release(extent));
            prop_assert_eq!(allocator.free(), 3001);
            prop_assert_eq!(allocator.unused().count(), 1);
        }
    }
}
