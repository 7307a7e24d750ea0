//! Blocks that a drive loses at once, as in a life before: what wear takes one by one, in a long time.
//!
//! ```text
//!   a die has more free blocks than it wants ──► one of them is bad from now on
//!   else ──► the fullest of invalid units is collected next, and bad then; it counts as lost from now on
//! ```
//! Dies lose blocks in turn. With superblocks all are lost the second way.

use crate::ftl::Ftl;
use crate::ftl::pool::Group;
use crate::ftl::spare::Shortage;
use crate::nand::contents::Contents;
use crate::units::{BlockId, DieId};

impl<C: Contents> Ftl<C> {
    /// Blocks that may still be lost; below none the drive is read-only. Those that will be retired are lost already.
    pub fn blocks_to_lose(&self) -> i64 {
        self.spare_blocks() - self.doomed_blocks() as i64
    }

    /// Blocks that went bad in use, and those that will.
    pub fn blocks_lost(&self) -> u64 {
        self.counters.grown_bad_blocks + self.doomed_blocks()
    }

    fn doomed_blocks(&self) -> u64 {
        self.dies.iter().map(|die| die.doomed.len() as u64).sum()
    }

    /// Loses so many blocks, or as many as there are; the drive is read-only where that is more than it may lose.
    pub fn lose_blocks(&mut self, count: u64) {
        let dies = self.geometry.dies as u16;
        let (mut left, mut fruitless) = (count, 0);
        for die in (0..dies).cycle().map(DieId) {
            if left == 0 || fruitless == dies {
                break;
            }
            if self.lose_block(die) {
                (left, fruitless) = (left - 1, 0);
            } else {
                fruitless += 1;
            }
        }
        self.check_spare();
        if self.blocks_to_lose() < 0 {
            self.spare.run_out(Shortage::GoodBlocks);
        }
    }

    fn lose_block(&mut self, die: DieId) -> bool {
        let kept = self.rules.config.gc_high_blocks + self.spare.reserve() + 1;
        if self.blocks.span_dies() || self.free_groups(die) <= kept {
            return self.doom_block(die);
        }
        let Some(group) = self.blocks.groups.open(self.blocks.pool_of(die), None) else { return false };
        self.blocks.lanes(group).for_each(|block| self.flash.array.retire(block));
        self.counters.grown_bad_blocks += 1;
        true
    }

    fn doom_block(&mut self, die: DieId) -> bool {
        let own = |group: Group| self.blocks.lanes(group).find(|block| self.geometry.die(*block) == die);
        let doomed = &self.die(die).doomed;
        let is_good = |block: &BlockId| !self.flash.array.is_bad(*block) && !doomed.contains(block);
        let sealed = self.blocks.groups.sealed(self.blocks.pool_of(die)).iter().copied();
        let found = sealed.filter_map(|group| own(group).filter(is_good).map(|block| (group, block)));
        let emptiest = found.min_by_key(|(group, _)| (self.blocks.groups.valid(*group), group.0));
        emptiest.map(|(_, block)| self.die_mut(die).doomed.push(block)).is_some()
    }
}
