//! Blocks in SLC mode: how many a pool may have, which of them are full.
//!
//! They are no candidates for garbage collection: few units are valid in them, but a static cache's gain no
//! room for data. The oldest full one is folded first: when free blocks are short, in idle time, and with a threshold as
//! soon as so many blocks are in use. Of superblocks everything here counts whole ones.

use crate::config::DriveConfig;
use crate::ftl::layout::{reserved_for_slc, slc_blocks_per_die};
use crate::ftl::pool::Group;
use crate::nand::geometry::Geometry;
use std::collections::VecDeque;

/// The SLC cache of each pool.
#[derive(Clone, Debug)]
pub struct SlcCache {
    /// Blocks of a pool that may be in SLC mode at once.
    pub(super) limit: u32,
    /// Blocks of a pool that only the cache may use: all of a static one's.
    pub(super) reserved: u32,
    /// Blocks of a pool in SLC mode from which on full ones are folded while the host writes.
    fold_from: u32,
    /// Blocks of each pool that are in SLC mode: open, sealed or being folded.
    pub(super) in_use: Vec<u32>,
    /// Those of each pool that are full and wait to be folded, oldest first.
    pub(super) sealed: Vec<VecDeque<u32>>,
    /// What the host writes now goes past the cache.
    pub(super) is_passed: bool,
}

impl SlcCache {
    /// The cache that a configuration asks for, with nothing in it.
    pub fn new(config: &DriveConfig, geometry: &Geometry, pools: usize) -> SlcCache {
        let (limit, reserved) = (slc_blocks_per_die(config, geometry), reserved_for_slc(config, geometry));
        let (in_use, sealed) = (vec![0; pools], vec![VecDeque::new(); pools]);
        SlcCache::restore((limit, reserved), config.ftl.slc_fold_at, in_use, sealed)
    }

    /// The cache again that was kept.
    pub fn restore(
        (limit, reserved): (u32, u32),
        fold_at: Option<f64>,
        in_use: Vec<u32>,
        sealed: Vec<VecDeque<u32>>,
    ) -> SlcCache {
        SlcCache { limit, reserved, fold_from: fold_from(limit, fold_at), in_use, sealed, is_passed: false }
    }

    /// The drive has one.
    #[inline(always)]
    pub fn is_present(&self) -> bool {
        self.limit > 0
    }

    /// Blocks of a pool in SLC mode.
    pub fn in_use(&self, pool: usize) -> u32 {
        self.in_use[pool]
    }

    /// Free blocks of a pool that are no data's, since they wait for the cache.
    #[inline]
    pub fn waiting(&self, pool: usize) -> u32 {
        if self.reserved == 0 { 0 } else { self.reserved.saturating_sub(self.in_use[pool]) }
    }

    /// All blocks in SLC mode are the cache's own: none is borrowed from data.
    pub fn owns_all(&self, pool: usize) -> bool {
        self.in_use[pool] <= self.reserved
    }

    /// So many blocks of a pool are in SLC mode that a full one is to be folded while the host writes.
    #[inline]
    pub fn is_pressed(&self, pool: usize) -> bool {
        self.fold_from <= self.in_use[pool] && !self.sealed[pool].is_empty()
    }

    /// A block may be opened where that leaves `kept` free blocks to data.
    pub fn may_open(&self, pool: usize, free: u32, kept: u32) -> bool {
        let in_use = self.in_use[pool];
        in_use < self.limit && (in_use < self.reserved || free > kept)
    }

    /// A block was opened.
    pub fn open(&mut self, pool: usize) {
        self.in_use[pool] += 1;
    }

    /// A block is full.
    pub fn seal(&mut self, pool: usize, group: Group) {
        self.sealed[pool].push_back(group.0);
    }

    /// The block to be folded next.
    pub fn oldest(&self, pool: usize) -> Option<Group> {
        self.sealed[pool].front().copied().map(Group)
    }

    /// The block is full and waits.
    pub fn is_sealed(&self, pool: usize, group: Group) -> bool {
        self.sealed[pool].contains(&group.0)
    }

    /// A full block is being folded.
    pub fn fold(&mut self, pool: usize, group: Group) {
        self.sealed[pool].retain(|sealed| *sealed != group.0);
    }

    /// A folded block was erased.
    pub fn release(&mut self, pool: usize) {
        self.in_use[pool] -= 1;
    }

    /// No block is in SLC mode.
    pub fn clear(&mut self) {
        self.in_use.fill(0);
        self.sealed.iter_mut().for_each(VecDeque::clear);
    }
}

/// Blocks in SLC mode that are so large a share of all that may be; without a share more than there can be.
fn fold_from(limit: u32, fold_at: Option<f64>) -> u32 {
    fold_at.map_or(u32::MAX, |share| (f64::from(limit) * share).ceil() as u32)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Four blocks at most, two of them its own.
    fn cache() -> SlcCache {
        SlcCache::restore((4, 2), Some(0.6), vec![0], vec![VecDeque::new()])
    }

    /// By hand: 0.6 of four blocks are three, of which one must be full; without a share the cache is never pressed.
    #[test]
    fn a_share_of_the_cache_presses() {
        let pressed = |fold_at| {
            let mut slc = SlcCache { fold_from: fold_from(4, fold_at), ..cache() };
            let mut steps = Vec::new();
            for block in 0..4 {
                slc.open(0);
                steps.push(slc.is_pressed(0));
                slc.seal(0, Group(block));
                steps.push(slc.is_pressed(0));
            }
            steps.iter().position(|pressed| *pressed)
        };
        assert_eq!([Some(0.0), Some(0.6), Some(1.0), None].map(pressed), [Some(1), Some(4), Some(6), None]);
    }

    /// By hand: its own blocks are open to it whatever is free; others while data keeps enough.
    #[test]
    fn own_blocks_come_first_and_borrowed_ones_leave_data_its_own() {
        let mut slc = cache();
        assert_eq!((slc.waiting(0), slc.may_open(0, 0, 3)), (2, true));
        slc.open(0);
        slc.open(0);
        assert_eq!((slc.waiting(0), slc.owns_all(0)), (0, true));
        assert_eq!((slc.may_open(0, 3, 3), slc.may_open(0, 4, 3)), (false, true));
        slc.open(0);
        slc.open(0);
        assert_eq!((slc.may_open(0, 9, 3), slc.owns_all(0), slc.in_use(0)), (false, false, 4));
    }

    /// The oldest is folded first; its block counts until it is erased.
    #[test]
    fn the_oldest_is_folded_first() {
        let mut slc = cache();
        [7, 3].map(Group).iter().for_each(|group| {
            slc.open(0);
            slc.seal(0, *group);
        });
        assert_eq!((slc.oldest(0), slc.is_sealed(0, Group(3))), (Some(Group(7)), true));
        slc.fold(0, Group(7));
        assert_eq!((slc.oldest(0), slc.in_use(0)), (Some(Group(3)), 2));
        slc.release(0);
        assert_eq!(slc.in_use(0), 1);
        slc.clear();
        assert_eq!((slc.oldest(0), slc.in_use(0)), (None, 0));
    }
}
