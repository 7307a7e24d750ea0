//! Blocks as the FTL manages them: free, open, sealed, being collected, or bad.
//!
//! ```text
//!   free ──open──► open ──seal──► sealed ──collect──► collecting ──release──► free
//!                                                          └──────retire────► bad
//! ```
//! A *group* is what is reclaimed at once: one block, or with superblocks the blocks of the same
//! number on all dies (group × dies + die). A *pool* is where a victim is chosen and free groups are
//! kept: a die, or the whole drive with superblocks. Sealed groups of a pool lie in a dense array
//! (for random choice) and in intrusive lists: one a valid count ([`Order::ByValid`]) or one in
//! order of sealing ([`Order::ByAge`]).

use crate::ftl::victim::Order;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A block or superblock, whatever is reclaimed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Group(pub u32);

const NONE: u32 = u32::MAX;

/// One group's state; 20 bytes, so that an invalidation touches few cache lines.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    valid: u32,
    previous: u32,
    next: u32,
    /// Place in the pool's dense array; `NONE` unless sealed.
    sealed_index: u32,
    pool: u32,
}

/// First and last of an intrusive list.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct List {
    first: u32,
    last: u32,
}

/// What a pool has besides the lists.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Pool {
    free: VecDeque<Group>,
    sealed: Vec<Group>,
    /// No sealed group of the pool has fewer valid units.
    lowest: u32,
}

/// All groups of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GroupTable {
    entries: Vec<Entry>,
    sealed_at: Vec<u64>,
    seals: u64,
    pools: Vec<Pool>,
    lists: Vec<List>,
    capacity: u32,
    by_valid: bool,
}

impl GroupTable {
    /// `groups` groups without any free: they are handed in by [`GroupTable::release`].
    /// `capacity` is what a group holds at most, in units.
    pub fn new(groups: u32, pools: u32, capacity: u32, order: Order) -> GroupTable {
        let by_valid = order == Order::ByValid;
        let lists = if by_valid { pools as usize * (capacity as usize + 1) } else { pools as usize };
        let entry = |group: u32| Entry { valid: 0, previous: NONE, next: NONE, sealed_index: NONE, pool: group % pools };
        GroupTable {
            entries: (0..groups).map(entry).collect(),
            sealed_at: vec![0; groups as usize],
            seals: 0,
            pools: vec![Pool::default(); pools as usize],
            lists: vec![List { first: NONE, last: NONE }; lists],
            capacity,
            by_valid,
        }
    }

    /// The pool of a group.
    #[inline]
    pub fn pool(&self, group: Group) -> usize {
        self.entries[group.0 as usize].pool as usize
    }

    /// Number of pools.
    pub fn pools(&self) -> usize {
        self.pools.len()
    }

    /// Valid units of a group.
    #[inline]
    pub fn valid(&self, group: Group) -> u32 {
        self.entries[group.0 as usize].valid
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

    /// Sealed groups of a pool, in no particular order.
    pub fn sealed(&self, pool: usize) -> &[Group] {
        &self.pools[pool].sealed
    }

    /// The group is a candidate.
    pub fn is_sealed(&self, group: Group) -> bool {
        self.entries[group.0 as usize].sealed_index != NONE
    }

    /// Groups sealed since this one was.
    pub fn age(&self, group: Group) -> u64 {
        self.seals - self.sealed_at[group.0 as usize]
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

    /// A unit is written into an open group.
    #[inline]
    pub fn add_valid(&mut self, group: Group) {
        self.entries[group.0 as usize].valid += 1;
    }

    /// A unit of a group becomes invalid.
    #[inline]
    pub fn remove_valid(&mut self, group: Group) {
        let entry = &mut self.entries[group.0 as usize];
        debug_assert!(entry.valid > 0);
        if self.by_valid && entry.sealed_index != NONE {
            self.unlink(group);
            let entry = &mut self.entries[group.0 as usize];
            entry.valid -= 1;
            let pool = &mut self.pools[entry.pool as usize];
            pool.lowest = pool.lowest.min(entry.valid);
            self.link(group);
        } else {
            entry.valid -= 1;
        }
    }

    /// An open group is full: it becomes a candidate.
    pub fn seal(&mut self, group: Group) {
        self.seals += 1;
        self.sealed_at[group.0 as usize] = self.seals;
        let entry = &mut self.entries[group.0 as usize];
        assert!(entry.sealed_index == NONE, "a group is sealed once");
        let pool = &mut self.pools[entry.pool as usize];
        entry.sealed_index = pool.sealed.len() as u32;
        pool.sealed.push(group);
        pool.lowest = pool.lowest.min(entry.valid);
        self.link(group);
    }

    /// A victim leaves the candidates.
    pub fn collect(&mut self, group: Group) {
        self.unlink(group);
        let entry = &mut self.entries[group.0 as usize];
        let index = std::mem::replace(&mut entry.sealed_index, NONE);
        let sealed = &mut self.pools[entry.pool as usize].sealed;
        sealed.swap_remove(index as usize);
        if let Some(moved) = sealed.get(index as usize) {
            self.entries[moved.0 as usize].sealed_index = index;
        }
    }

    /// An erased group becomes free.
    pub fn release(&mut self, group: Group) {
        let entry = &self.entries[group.0 as usize];
        assert!(entry.valid == 0 && entry.sealed_index == NONE, "a group is erased only when nothing in it is valid");
        let pool = entry.pool as usize;
        self.pools[pool].free.push_back(group);
    }

    /// The sealed group with the fewest valid units; groups must be kept by valid count.
    pub fn fewest_valid(&self, pool: usize) -> Option<Group> {
        assert!(self.by_valid, "the policy did not ask for this order");
        let width = self.capacity as usize + 1;
        let lists = &self.lists[pool * width..(pool + 1) * width];
        lists[self.pools[pool].lowest as usize..].iter().find(|list| list.first != NONE).map(|list| Group(list.first))
    }

    /// The sealed group that was sealed first; groups must be kept by age.
    pub fn oldest(&self, pool: usize) -> Option<Group> {
        assert!(!self.by_valid, "the policy did not ask for this order");
        let first = self.lists[pool].first;
        (first != NONE).then_some(Group(first))
    }

    /// Raises the lower bound of valid counts to what is there, once a victim was taken.
    pub fn settle(&mut self, pool: usize) {
        if self.by_valid {
            let lowest = self.fewest_valid(pool).map_or(self.capacity, |group| self.valid(group));
            self.pools[pool].lowest = lowest;
        }
    }

    #[inline]
    fn list_of(&self, entry: &Entry) -> usize {
        if self.by_valid {
            entry.pool as usize * (self.capacity as usize + 1) + entry.valid as usize
        } else {
            entry.pool as usize
        }
    }

    /// Appends a group to the list it belongs to.
    #[inline]
    fn link(&mut self, group: Group) {
        let list = self.list_of(&self.entries[group.0 as usize]);
        let last = std::mem::replace(&mut self.lists[list].last, group.0);
        if last == NONE {
            self.lists[list].first = group.0;
        } else {
            self.entries[last as usize].next = group.0;
        }
        let entry = &mut self.entries[group.0 as usize];
        entry.previous = last;
        entry.next = NONE;
    }

    /// Takes a group out of the list it belongs to.
    #[inline]
    fn unlink(&mut self, group: Group) {
        let Entry { previous, next, .. } = self.entries[group.0 as usize];
        let list = self.list_of(&self.entries[group.0 as usize]);
        match previous {
            NONE => self.lists[list].first = next,
            previous => self.entries[previous as usize].next = next,
        }
        match next {
            NONE => self.lists[list].last = previous,
            next => self.entries[next as usize].previous = previous,
        }
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
                let mut table = GroupTable::new(12, 2, 8, order);
                (0..12).for_each(|group| table.release(Group(group)));
                for &(step, draw) in &steps {
                    let pool = (draw % 2) as usize;
                    let sealed = table.sealed(pool).to_vec();
                    let some = sealed.get(draw as usize / 2 % sealed.len().max(1)).copied();
                    match (step, some) {
                        (0 | 1, _) => if let Some(group) = table.open(pool, None) {
                            (0..1 + draw % 8).for_each(|_| table.add_valid(group));
                            table.seal(group);
                        },
                        (2, Some(group)) if table.valid(group) > 0 => table.remove_valid(group),
                        (3, Some(group)) => {
                            table.collect(group);
                            (0..table.valid(group)).for_each(|_| table.remove_valid(group));
                            table.release(group);
                            table.settle(pool);
                        }
                        _ => {}
                    }
                    let sealed = table.sealed(pool);
                    match order {
                        Order::ByValid => prop_assert_eq!(
                            table.fewest_valid(pool).map(|group| table.valid(group)),
                            sealed.iter().map(|group| table.valid(*group)).min()),
                        Order::ByAge => prop_assert_eq!(
                            table.oldest(pool), sealed.iter().copied().max_by_key(|group| table.age(*group))),
                    }
                }
            }
        }
    }
}
