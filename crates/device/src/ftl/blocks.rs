//! Blocks by their use: groups that are free, open, sealed or being collected, and their lanes.
//!
//! A group is one block, or with superblocks the blocks of one number on all dies, or on so many neighbouring ones: its
//! *lanes*. The dies that share groups are a pool; pools have nothing in common. A group is sealed with its last lane, and free again when its last lane is erased. Which block is bad is the array's
//! to know.

use crate::ftl::frontier::Purpose;
use crate::ftl::invalidations::Invalidations;
use crate::ftl::packing::Packing;
use crate::ftl::pool::{Group, GroupTable, Order};
use crate::ftl::streams::Streams;
use crate::ftl::superseded::Superseded;
use crate::nand::array::Array;
use crate::nand::geometry::Geometry;
use crate::units::{BlockId, DieId};
use std::ops::Range;

/// Superblocks that may be open at once for one purpose: dies run ahead of each other no further.
const OPEN_SUPERBLOCKS: usize = 2;

/// All blocks of a drive.
#[derive(Clone)]
pub struct Blocks {
    /// Valid units of each group, and which are free or sealed.
    pub(super) groups: GroupTable,
    /// Dies that share a group: 1, or all with superblocks.
    pub(super) width: u32,
    /// Slots of a block.
    pub(super) slots: u32,
    /// Superblocks that some die has still to fill, in the order of opening, by purpose.
    pub(super) open_superblocks: [Vec<u32>; 4],
    /// With superblocks: the lane that took the last row of moves.
    pub(super) lane: u32,
    /// Lanes that dies are still collecting, or writing, by group.
    pub(super) lanes_left: Vec<u16>,
    /// How full each block is, where data is compressed.
    pub packing: Packing,
    /// Which may not be erased yet.
    pub superseded: Superseded,
    /// Open blocks of data that a policy keeps apart.
    pub(super) streams: Streams,
    /// When something in each became invalid, where a policy asks for that.
    pub(super) invalidations: Invalidations,
}

impl Blocks {
    /// Blocks of which none is free: they are handed in by [`Blocks::release_if_good`].
    pub fn new(geometry: &Geometry, width: u32, order: Order) -> Blocks {
        let groups = geometry.blocks / width;
        Blocks {
            groups: GroupTable::new(groups, geometry.dies / width, geometry.slots() * width, order),
            width,
            slots: geometry.slots(),
            open_superblocks: Default::default(),
            lane: 0,
            lanes_left: vec![0; groups as usize],
            packing: Packing::new(geometry),
            superseded: Superseded::new(geometry.dies, geometry.units_per_row * geometry.packing == 1),
            streams: Streams::default(),
            invalidations: Invalidations::default(),
        }
    }

    /// No block is open, sealed or free: all are handed in again.
    pub fn clear(&mut self, order: Order) {
        let (groups, pools) = (self.lanes_left.len() as u32, self.groups.pools() as u32);
        self.groups = GroupTable::new(groups, pools, self.groups.capacity(), order);
        self.open_superblocks = Default::default();
        self.lanes_left.fill(0);
        self.packing.clear();
        self.streams.clear();
    }

    /// A group is a superblock.
    #[inline(always)]
    pub fn span_dies(&self) -> bool {
        self.width > 1
    }

    /// The group of a block.
    #[inline(always)]
    pub fn group_of(&self, block: BlockId) -> Group {
        match self.width {
            1 => Group(block.0),
            width => Group(block.0 / width),
        }
    }

    /// All groups.
    pub fn all_groups(&self) -> impl Iterator<Item = Group> + use<> {
        (0..self.lanes_left.len() as u32).map(Group)
    }

    /// The blocks of a group.
    pub fn lanes(&self, group: Group) -> impl Iterator<Item = BlockId> + use<> {
        (group.0 * self.width..(group.0 + 1) * self.width).map(BlockId)
    }

    /// The block of a group that a die writes.
    pub fn lane_of(&self, group: Group, die: DieId) -> BlockId {
        let lane = if self.width == 1 { 0 } else { u32::from(die.0) % self.width };
        BlockId(group.0 * self.width + lane)
    }

    /// Where a die's groups are free and its victims are chosen.
    #[inline]
    pub fn pool_of(&self, die: DieId) -> usize {
        if self.width > 1 { usize::from(die.0) / self.width as usize } else { usize::from(die.0) }
    }

    /// The dies that share groups with a die, itself included.
    pub fn sharing(&self, die: DieId) -> Range<usize> {
        let first = self.pool_of(die) * self.width as usize;
        first..first + self.width as usize
    }

    /// Slots that may be in use in a block.
    pub fn slots_in_use(&self, array: &Array, geometry: &Geometry, block: BlockId) -> u32 {
        self.packing.fill(array, geometry, block).map_or(self.slots, |fill| fill.slots)
    }

    /// Room that the valid units of a group take when they are moved, in units that are not compressed.
    pub fn room_for(&self, array: &Array, geometry: &Geometry, group: Group) -> u32 {
        let valid = self.groups.valid(group);
        match self.packing.units_per_row(array, geometry, self.lanes(group)) {
            None => valid,
            Some(mean) => (f64::from(valid) / mean).ceil() as u32 * geometry.units_per_row,
        }
    }

    /// A unit of a block becomes invalid.
    #[inline(always)]
    pub fn invalidate(&mut self, block: BlockId) {
        self.groups.remove_valid(self.group_of(block));
    }

    /// So many units of a block become invalid.
    #[inline(always)]
    pub fn invalidate_units(&mut self, block: BlockId, units: u32) {
        self.groups.remove_units_at(self.groups.counter(self.group_of(block)), units);
    }

    /// Frees a group, or the part of it that is good; a superblock lives as long as one lane is good.
    pub fn release_if_good(&mut self, array: &Array, group: Group) {
        if self.lanes(group).any(|block| !array.is_bad(block)) {
            self.groups.release(group);
        }
    }

    /// The first open superblock whose lane on this die is untouched: another die has opened it already.
    pub fn next_superblock(&self, array: &Array, die: DieId, purpose: Purpose) -> Option<Group> {
        let pool = self.pool_of(die);
        let is_unused = |group: &Group| {
            if self.groups.pool(*group) != pool {
                return false;
            }
            let block = self.lane_of(*group, die);
            !array.is_bad(block) && array.programmed_rows(block) == 0
        };
        self.open_superblocks[purpose as usize].iter().copied().map(Group).find(is_unused)
    }

    /// As many superblocks of a die's pool are open as may be.
    pub fn are_superblocks_open(&self, die: DieId, purpose: Purpose) -> bool {
        let (pool, open) = (self.pool_of(die), &self.open_superblocks[purpose as usize]);
        self.width > 1
            && open.iter().filter(|group| self.groups.pool(Group(**group)) == pool).count() >= OPEN_SUPERBLOCKS
    }

    /// A superblock is opened: its good lanes are to be filled.
    pub fn open_superblock(&mut self, array: &Array, group: Group, purpose: Purpose) {
        self.open_superblocks[purpose as usize].push(group.0);
        let good = self.lanes(group).filter(|block| !array.is_bad(*block)).count();
        self.lanes_left[group.0 as usize] = good as u16;
    }

    /// A lane is full, or no more is written to it; true with the last one of its group.
    pub fn fill_lane(&mut self, group: Group, purpose: Purpose) -> bool {
        if self.width == 1 {
            return true;
        }
        let is_last = self.end_lane(group);
        if is_last {
            self.open_superblocks[purpose as usize].retain(|open| *open != group.0);
        }
        is_last
    }

    /// So many lanes of a group are to be collected.
    pub fn collect_lanes(&mut self, group: Group, lanes: u16) {
        self.lanes_left[group.0 as usize] = lanes;
    }

    /// A lane was written or collected; true with the last one.
    pub fn end_lane(&mut self, group: Group) -> bool {
        let left = &mut self.lanes_left[group.0 as usize];
        *left -= 1;
        *left == 0
    }

    /// The next die in turn of those that share groups with a die, so that lanes fill evenly.
    pub fn next_lane(&mut self, die: DieId) -> DieId {
        self.lane = if self.lane + 1 >= self.width { 0 } else { self.lane + 1 };
        DieId((self.sharing(die).start + self.lane as usize) as u16)
    }

    /// The next die in turn of all.
    pub fn next_die(&mut self, dies: u32) -> DieId {
        self.lane = if self.lane + 1 == dies { 0 } else { self.lane + 1 };
        DieId(self.lane as u16)
    }
}
