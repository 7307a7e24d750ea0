//! Blocks as the FTL manages them: free, open, sealed, being collected, or bad.
//!
//! ```text
//!   free ──open──► open ──seal──► sealed ──collect──► collecting ──release──► free
//!                                                          └──────retire────► bad
//! ```
//! A *group* is what is reclaimed at once: one block, or with superblocks the blocks of the same
//! number on all dies, or on so many (group × width + lane). A *pool* is where a victim is chosen and free groups are
//! kept: a die, or with superblocks the dies that share them; pool = group mod pools.
//!
//! Invalidating a unit, by far the most frequent, touches one counter; writing one none, since the units
//! that an open block has still to take are counted as valid from its opening on. The counters of a pool
//! lie side by side, so that the fewest valid units are found by one pass over a few KiB, once
//! a victim. Sealed groups of a pool also lie in a dense array (for random choice) and, for
//! [`Order::ByAge`], in a queue in order of sealing.

use crate::ftl::scan::{least, position};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// In which order the candidates of a pool are kept for a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By valid units.
    ByValid,
    /// By time of sealing: the candidate sealed longest ago is at hand.
    ByAge,
}

/// A block or superblock, whatever is reclaimed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Group(pub u32);

const NONE: u32 = u32::MAX;
/// Added to a counter unless its group is sealed, so that the smallest counter is that of a candidate.
const NOT_SEALED: u32 = ssdlab_policy::NOT_A_CANDIDATE;

/// Where a group's counter of valid units is: for those who ask for it often.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter(u32);

/// What a pool has besides the counters.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Pool {
    free: VecDeque<Group>,
    sealed: Vec<Group>,
    /// Sealed groups with the number of their sealing, oldest first; the first is still sealed.
    by_age: VecDeque<(Group, u64)>,
    /// Where the search for the fewest valid units begins, behind the last victim: of equals each
    /// gets its turn.
    search_from: u32,
}

/// All groups of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GroupTable {
    /// Valid units, pool by pool.
    valid: Vec<u32>,
    /// Place of each group in its pool's dense array; `NONE` unless sealed.
    sealed_index: Vec<u32>,
    sealed_at: Vec<u64>,
    seals: u64,
    /// Groups sealed, chosen as victims, freed.
    changes: u64,
    pools: Vec<Pool>,
    divisor: Divisor,
    /// Counters of a pool.
    width: u32,
    capacity: u32,
    by_age: bool,
}

/// A pool as it lies in memory, group by group in order of numbers.
pub struct LaidOut<'a> {
    /// Valid units, with the highest bit set unless the group is sealed.
    pub valid: &'a [u32],
    /// From the number of the first group's last sealing on; those of the pool lie as far apart as there are pools.
    pub sealed_at: &'a [u64],
    /// Groups sealed so far.
    pub sealings: u64,
    /// Where the search for the fewest valid units begins.
    pub turn: u32,
}

/// Division by a number that is known late, as one multiplication.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Divisor {
    by: u32,
    /// ⌈2³² / by⌉, exact for numbers below 2³² / by.
    reciprocal: u64,
}

impl Divisor {
    fn new(by: u32, numbers: u32) -> Divisor {
        assert!(u64::from(by) * u64::from(numbers) <= 1 << 32, "too many groups");
        Divisor { by, reciprocal: (1u64 << 32).div_ceil(u64::from(by)) }
    }

    /// Quotient and remainder.
    #[inline]
    fn divide(self, number: u32) -> (u32, u32) {
        let quotient = ((u64::from(number) * self.reciprocal) >> 32) as u32;
        (quotient, number - quotient * self.by)
    }
}

impl GroupTable {
    /// `groups` groups without any free: they are handed in by [`GroupTable::release`].
    /// `capacity` is what a group holds at most, in units.
    pub fn new(groups: u32, pools: u32, capacity: u32, order: Order) -> GroupTable {
        let width = groups.div_ceil(pools);
        GroupTable {
            valid: vec![NOT_SEALED; width as usize * pools as usize],
            sealed_index: vec![NONE; groups as usize],
            sealed_at: vec![0; groups as usize],
            seals: 0,
            changes: 0,
            pools: vec![Pool::default(); pools as usize],
            divisor: Divisor::new(pools, groups.max(1)),
            width,
            capacity,
            by_age: order == Order::ByAge,
        }
    }

    /// The pool of a group.
    #[inline]
    pub fn pool(&self, group: Group) -> usize {
        self.divisor.divide(group.0).1 as usize
    }

    /// Where a group's counter is.
    #[inline]
    fn place(&self, group: Group) -> usize {
        let (index, pool) = self.divisor.divide(group.0);
        pool as usize * self.width as usize + index as usize
    }

    /// Where a group's counter is.
    #[inline]
    pub fn counter(&self, group: Group) -> Counter {
        Counter(self.place(group) as u32)
    }

    /// Number of pools.
    pub fn pools(&self) -> usize {
        self.pools.len()
    }

    /// Valid units of a group, and those that an open one has still to take.
    #[inline]
    pub fn valid(&self, group: Group) -> u32 {
        self.valid_at(self.counter(group))
    }

    /// As [`GroupTable::valid`].
    #[inline]
    pub fn valid_at(&self, counter: Counter) -> u32 {
        self.valid[counter.0 as usize] & !NOT_SEALED
    }

    /// Units that a group holds at most.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Groups of a pool that are free.
    #[inline]
    pub fn free(&self, pool: usize) -> usize {
        self.pools[pool].free.len()
    }

    /// Those groups, the one freed first before the others.
    pub fn free_groups(&self, pool: usize) -> impl Iterator<Item = Group> {
        self.pools[pool].free.iter().copied()
    }

    /// Sealed groups of a pool, in no particular order.
    pub fn sealed(&self, pool: usize) -> &[Group] {
        &self.pools[pool].sealed
    }

    /// The group is a candidate.
    pub fn is_sealed(&self, group: Group) -> bool {
        self.sealed_index[group.0 as usize] != NONE
    }

    /// Groups sealed since this one was.
    pub fn age(&self, group: Group) -> u64 {
        self.seals - self.sealed_at[group.0 as usize]
    }

    /// Changes as often as a group is sealed, chosen as victim or freed.
    #[inline]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Takes a free group: the one with the smallest key, or without keys the one freed first.
    pub fn open(&mut self, pool: usize, key: Option<&dyn Fn(Group) -> u32>) -> Option<Group> {
        let free = &mut self.pools[pool].free;
        let place = match key {
            Some(key) => free.iter().enumerate().min_by_key(|(_, group)| key(**group))?.0,
            None => 0,
        };
        free.remove(place)
    }

    /// Takes this free group.
    pub fn open_group(&mut self, group: Group) {
        let pool = self.pool(group);
        let free = &mut self.pools[pool].free;
        let place = free.iter().position(|each| *each == group).expect("the group is free");
        free.remove(place);
    }

    /// Units are to be written into an open group.
    pub fn add_valid(&mut self, group: Group, units: u32) {
        let place = self.place(group);
        self.valid[place] += units;
    }

    /// Units that were to be written into an open group are not.
    #[inline]
    pub fn skip_valid(&mut self, group: Group, units: u32) {
        let place = self.place(group);
        self.valid[place] -= units;
    }

    /// A unit of a group becomes invalid.
    #[inline]
    pub fn remove_valid(&mut self, group: Group) {
        self.remove_units_at(self.counter(group), 1);
    }

    /// As [`GroupTable::remove_valid`], of so many units.
    #[inline]
    pub fn remove_units_at(&mut self, counter: Counter, units: u32) {
        debug_assert!(self.valid_at(counter) >= units);
        self.valid[counter.0 as usize] -= units;
    }

    /// An open group is full: it becomes a candidate.
    pub fn seal(&mut self, group: Group) {
        assert!(!self.is_sealed(group), "a group is sealed once");
        self.seals += 1;
        self.changes += 1;
        self.sealed_at[group.0 as usize] = self.seals;
        let place = self.place(group);
        self.valid[place] &= !NOT_SEALED;
        let pool = self.pool(group);
        let pool = &mut self.pools[pool];
        self.sealed_index[group.0 as usize] = pool.sealed.len() as u32;
        pool.sealed.push(group);
        if self.by_age {
            pool.by_age.push_back((group, self.seals));
        }
    }

    /// As [`GroupTable::seal`], as the group of that number: groups are sealed in order of numbers.
    pub(super) fn seal_as(&mut self, group: Group, number: u64) {
        debug_assert!(number > self.seals, "numbers rise");
        self.seals = number - 1;
        self.seal(group);
    }

    /// A victim leaves the candidates.
    pub fn collect(&mut self, group: Group) {
        self.changes += 1;
        let place = self.place(group);
        self.valid[place] |= NOT_SEALED;
        let (number, pool) = self.divisor.divide(group.0);
        let index = std::mem::replace(&mut self.sealed_index[group.0 as usize], NONE) as usize;
        let pool = &mut self.pools[pool as usize];
        pool.search_from = number + 1;
        pool.sealed.swap_remove(index);
        if let Some(moved) = pool.sealed.get(index) {
            self.sealed_index[moved.0 as usize] = index as u32;
        }
        let has_left = |&(group, number): &(Group, u64)| {
            self.sealed_index[group.0 as usize] == NONE || self.sealed_at[group.0 as usize] != number
        };
        while pool.by_age.front().is_some_and(has_left) {
            pool.by_age.pop_front();
        }
    }

    /// An erased group becomes free.
    pub fn release(&mut self, group: Group) {
        assert!(
            self.valid[self.place(group)] == NOT_SEALED && !self.is_sealed(group),
            "a group is erased only when nothing in it is valid"
        );
        self.changes += 1;
        let pool = self.pool(group);
        self.pools[pool].free.push_back(group);
    }

    /// The pool as it lies in memory.
    pub fn laid_out(&self, pool: usize) -> LaidOut<'_> {
        let sealed_at = &self.sealed_at[pool..];
        // Where groups do not share out evenly, the last counter of a pool is of no group.
        let groups = sealed_at.len().div_ceil(self.pools.len());
        let first = pool * self.width as usize;
        let turn = self.pools[pool].search_from.min(self.width);
        LaidOut { valid: &self.valid[first..first + groups], sealed_at, sealings: self.seals, turn }
    }

    /// The sealed group with the fewest valid units.
    pub fn fewest_valid(&self, pool: usize) -> Option<Group> {
        let first = pool * self.width as usize;
        let counters = &self.valid[first..first + self.width as usize];
        let fewest = least(counters).filter(|valid| *valid < NOT_SEALED)?;
        let (before, behind) = counters.split_at(self.pools[pool].search_from.min(self.width) as usize);
        let index = position(behind, fewest).map(|index| before.len() + index).or_else(|| position(before, fewest))?;
        Some(Group(index as u32 * self.divisor.by + pool as u32))
    }

    /// The sealed groups with so many valid units at most, in order of numbers.
    pub fn sealed_with_at_most(&self, pool: usize, valid: u32) -> impl Iterator<Item = Group> {
        let first = pool * self.width as usize;
        let counters = &self.valid[first..first + self.width as usize];
        let most = valid.min(NOT_SEALED - 1);
        let found = (0..).zip(counters).filter(move |(_, valid)| **valid <= most);
        found.map(move |(index, _)| Group(index * self.divisor.by + pool as u32))
    }

    /// Where a sealed group lies in [`GroupTable::sealed`].
    pub fn sealed_place(&self, group: Group) -> u32 {
        self.sealed_index[group.0 as usize]
    }

    /// The sealed group that was sealed first; groups must be kept by age.
    pub fn oldest(&self, pool: usize) -> Option<Group> {
        assert!(self.by_age, "the policy did not ask for this order");
        self.pools[pool].by_age.front().map(|(group, _)| *group)
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Under any sequence of writes, seals, invalidations and collections the lists agree with a plain search.
        #[test]
        fn lists_agree_with_a_search(steps in prop::collection::vec((0u8..4, 0u32..64), 1..400)) {
            for order in [Order::ByValid, Order::ByAge] {
                let mut table = GroupTable::new(13, 2, 8, order);
                (0..13).for_each(|group| table.release(Group(group)));
                for &(step, draw) in &steps {
                    let pool = (draw % 2) as usize;
                    let sealed = table.sealed(pool).to_vec();
                    let some = sealed.get(draw as usize / 2 % sealed.len().max(1)).copied();
                    match (step, some) {
                        (0 | 1, _) => if let Some(group) = table.open(pool, None) {
                            table.add_valid(group, 1 + draw % 8);
                            table.seal(group);
                        },
                        (2, Some(group)) if table.valid(group) > 0 => table.remove_valid(group),
                        (3, Some(group)) => {
                            table.collect(group);
                            (0..table.valid(group)).for_each(|_| table.remove_valid(group));
                            table.release(group);
                        }
                        _ => {}
                    }
                    let sealed = table.sealed(pool);
                    let fewest = table.fewest_valid(pool);
                    prop_assert!(fewest.is_none_or(|group| sealed.contains(&group)));
                    prop_assert_eq!(
                        fewest.map(|group| table.valid(group)),
                        sealed.iter().map(|group| table.valid(*group)).min());
                    let most = draw % 8;
                    let mut few: Vec<Group> = table.sealed_with_at_most(pool, most).collect();
                    few.sort_by_key(|group| table.sealed_place(*group));
                    let search = sealed.iter().copied().filter(|group| table.valid(*group) <= most);
                    prop_assert_eq!(few, search.collect::<Vec<_>>());
                    if order == Order::ByAge {
                        prop_assert_eq!(
                            table.oldest(pool), sealed.iter().copied().max_by_key(|group| table.age(*group)));
                    }
                }
            }
        }
    }

    /// Division by multiplication is division, up to the largest drive.
    #[test]
    fn divisor_divides() {
        for by in [1, 2, 3, 5, 7, 20, 31, 32, 64, 96, 1000, 1024] {
            let numbers = ((1u64 << 32) / by).min(u64::from(u32::MAX)) as u32;
            let divisor = Divisor::new(by as u32, numbers);
            for number in
                (0..1000).chain((0..100_000).map(|step| step * (numbers / 100_000))).chain(numbers - 1000..numbers)
            {
                assert_eq!(divisor.divide(number), (number / by as u32, number % by as u32));
            }
        }
    }
}
