//! Emptying the whole drive: every unit unmapped, or every block erased as well.
//!
//! An erase of everything takes, with the dies at work side by side,
//!   max over dies of Σ tBERS of its programmed blocks;
//! blocks that are erased already cost nothing and do not wear. Blocks with a failed program are
//! retired afterwards, as collection would have done. Left out: blocks gone bad, which cannot be
//! erased, keep what they hold, as in drives without a purge of bad blocks.

use crate::ftl::packing::reverse_map;
use crate::ftl::pool::{Group, GroupTable};
use crate::ftl::{DieState, Ftl};
use crate::nand::array::Payload;
use crate::units::{BlockId, Lpn, Nanos, Ppn};
use std::collections::VecDeque;

impl<P: Payload> Ftl<P> {
    /// Unmaps every unit that the host sees; returns how many held data. None may be buffered.
    pub fn trim_all(&mut self) -> u32 {
        (0..self.exported).map(|lpn| u32::from(self.trim(Lpn(lpn)))).sum()
    }

    /// Unmaps everything and erases every block that was programmed; returns the time of the die that
    /// takes longest. Wear and counters stay. No unit may be buffered.
    pub fn erase_all(&mut self) -> Nanos {
        self.trim_all();
        self.map.clear();
        self.reverse = reverse_map(&self.geometry);
        if let Some(cache) = &mut self.map_cache {
            cache.forget();
        }
        let failing: Vec<BlockId> = self.dies.iter_mut().flat_map(DieState::take_failing).collect();
        let mut times = vec![Nanos::ZERO; self.dies.len()];
        for block in (0..self.geometry.blocks).map(BlockId) {
            if !self.array.is_bad(block) && self.array.programmed_rows(block) > 0 {
                times[usize::from(self.geometry.die(block).0)] += self.erase_block(block, failing.contains(&block));
            }
        }
        self.free_all();
        self.check_spare();
        times.into_iter().max().unwrap_or_default()
    }

    fn erase_block(&mut self, block: BlockId, failing: bool) -> Nanos {
        let first = self.geometry.ppn(block, 0);
        self.payload.erase(first, Ppn(first.0 + self.geometry.slots()));
        let (time, outcome) = self.array.erase(block, false);
        self.counters.blocks_erased += 1;
        self.counters.erase_failures += u64::from(outcome.is_err());
        if outcome.is_err() || failing {
            self.counters.grown_bad_blocks += 1;
            self.array.retire(block);
        }
        time
    }

    /// Every good group is free, none is open.
    fn free_all(&mut self) {
        let order = self.policy.as_ref().expect("configured").order();
        let groups = self.geometry.blocks / self.width;
        let pools = self.groups.pools() as u32;
        self.groups = GroupTable::new(groups, pools, self.groups.capacity(), order);
        self.dies.fill(DieState::default());
        self.open_superblocks = Default::default();
        self.filled.fill(0);
        self.lanes_left.fill(0);
        self.slc_in_use.fill(0);
        self.slc_sealed.iter_mut().for_each(VecDeque::clear);
        (0..groups).map(Group).for_each(|group| self.release_if_good(group));
    }
}
