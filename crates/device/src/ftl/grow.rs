//! A large drive out of copies of a small one that is in steady state.
//!
//! Dies of a page-mapped drive collect each for itself, so a drive of many dies is, in steady state, many
//! times a drive of a few. A copy of so many becomes dies of the large drive, or a part of their blocks; which
//! of its units becomes which is told in `growth`. The caller lets the small drive go on between two copies, so
//! that the dies do not collect in step.
//!
//! Copied are sealed blocks with their order of sealing and their wear; one of the copies that share a die
//! brings its open and free blocks and its job too, of the others a victim is sealed again. The large drive's
//! bad blocks are its own: a die that has fewer good blocks than the small one leaves some out, a die that
//! has more begins with more free ones. What so is mapped nowhere the host has to write once more.
//!
//! Left out: SLC mode, superblocks, a demand-cached map, packed units ([`Ftl::can_grow`]), and contents.

use crate::ftl::Ftl;
use crate::ftl::growth::{Growing, Growth};
use crate::ftl::pool::Group;
use crate::units::{BlockId, DieId, Lpn};

impl Ftl {
    /// A drive in steady state is many times a smaller one, and nothing is in it that cannot be copied.
    pub fn can_grow(&self) -> bool {
        let alone = !self.blocks.span_dies() && !self.slc.is_present() && self.map_cache.is_none();
        alone && self.geometry.packing == 1
    }

    /// Free blocks of a die with which the host opens no more.
    pub fn blocks_kept_free(&self) -> u32 {
        let low = if self.kind.single_frontier { 0 } else { self.rules.config.gc_low_blocks };
        low.max(1 + self.spare.reserve())
    }

    /// Begins to grow, from a drive fresh out of the box: nothing may be written until [`Ftl::end_growth`].
    pub fn begin_growth(&mut self, growth: Growth) -> Growing {
        assert!(self.can_grow(), "the caller has asked");
        self.blocks.clear(self.rules.policy.order());
        let is_good = |block: &BlockId| !self.flash.array.is_bad(*block);
        let good = (0..self.geometry.dies).map(|die| self.blocks_of(die).filter(is_good).collect());
        Growing::new(growth, good.collect())
    }

    /// Adds a copy of the small drive as it is now.
    pub fn add_copy(&mut self, growing: &mut Growing, small: &Ftl) {
        let parts = growing.growth.copies / (self.geometry.dies / small.geometry.dies);
        let (turn, part) = (growing.copied / parts, growing.copied % parts);
        growing.begin_copy(small.geometry.blocks);
        for die in 0..small.geometry.dies {
            let to = (turn * small.geometry.dies + die) as usize;
            if part == 0 {
                self.copy_die_at_work(growing, small, DieId(die as u16), to);
            }
            self.copy_sealed_blocks(growing, small, die, to, part > 0);
        }
        self.copy_units(growing, small);
        growing.counters = growing.counters + small.counters;
        growing.copied += 1;
    }

    /// Ends it: the drive can be written to. Units that no copy brought are unmapped.
    pub fn end_growth(&mut self, mut growing: Growing) {
        assert_eq!(growing.copied, growing.growth.copies, "all copies are there");
        for (group, number) in growing.in_order() {
            self.blocks.groups.seal_as(group, number);
        }
        let (left_over, erases) = growing.left_over();
        for block in left_over {
            self.flash.array.set_used(block, 0, erases);
            self.blocks.groups.release(Group(block.0));
        }
        self.counters = growing.counters;
    }

    /// The blocks of a die, good or bad.
    fn blocks_of(&self, die: u32) -> impl Iterator<Item = BlockId> + use<> {
        (die..self.geometry.blocks).step_by(self.geometry.dies as usize).map(BlockId)
    }

    /// What a die works on: its open blocks and its job; and how many blocks it has free.
    fn copy_die_at_work(&mut self, growing: &mut Growing, small: &Ftl, from: DieId, to: usize) {
        let state = small.die(from);
        let mut copy = state.without_job();
        for frontier in copy.frontiers.iter_mut().filter(|frontier| frontier.has_room()) {
            let block = growing.take_block(to);
            self.copy_wear(growing, small, frontier.block(), block);
            self.blocks.groups.add_valid(Group(block.0), small.blocks.slots - frontier.slots_used());
            *frontier = frontier.moved_to(block);
        }
        if let Some(job) = &state.job {
            let block = growing.take_block(to);
            self.copy_wear(growing, small, job.victim(), block);
            self.blocks.collect_lanes(Group(block.0), 1);
            copy.job = Some(job.restarted_in(block));
        }
        growing.keep_free(to, small.blocks.groups.free(usize::from(from.0)));
        self.dies[to] = copy;
    }

    /// In order of block numbers, which say nothing of what is in them: should the die have too few, those
    /// that are left out are any.
    fn copy_sealed_blocks(&mut self, growing: &mut Growing, small: &Ftl, from: u32, to: usize, with_victim: bool) {
        let job = small.die(DieId(from as u16)).job.as_ref();
        let victim = job.map(|job| job.victim()).filter(|_| !with_victim);
        let array = &small.flash.array;
        for block in small.blocks_of(from) {
            let is_empty = array.is_bad(block) || array.programmed_rows(block) == 0;
            if is_empty || victim == Some(block) || small.frontier_in(block).is_some() {
                continue;
            }
            let Some(copy) = growing.take_block_to_seal(to) else { return };
            self.copy_wear(growing, small, block, copy);
            growing.seal_later(Group(copy.0), small.blocks.groups.age(Group(block.0)));
        }
    }

    /// How far a block is programmed, and how often it was erased.
    fn copy_wear(&mut self, growing: &mut Growing, small: &Ftl, from: BlockId, to: BlockId) {
        let array = &small.flash.array;
        self.flash.array.set_used(to, array.programmed_rows(from), array.erases(from));
        growing.block_becomes(from, to, array.erases(from));
    }

    /// Copies the host's units that lie in blocks of which there is a copy; units in open blocks that have none,
    /// and the journal of the map, are left out. In order of units: of all that this touches, the map of the
    /// large drive is by far the largest, and it is gone through from its start to its end.
    fn copy_units(&mut self, growing: &Growing, small: &Ftl) {
        let mut valid = vec![0; small.geometry.blocks as usize];
        for lpn in 0..small.exported {
            let Some(from) = small.mapping.flash_slot(Lpn(lpn)) else { continue };
            let block = small.geometry.block(from);
            let (Some(to), Some(unit)) = (growing.copy_of(block), growing.unit(lpn)) else { continue };
            self.mapping.put(Lpn(unit), self.geometry.ppn(to, small.geometry.slot(from)));
            valid[block.0 as usize] += 1;
        }
        for (block, valid) in (0..).map(BlockId).zip(valid) {
            if let Some(to) = growing.copy_of(block) {
                self.blocks.groups.add_valid(Group(to.0), valid);
            }
        }
    }
}
