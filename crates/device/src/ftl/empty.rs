//! Emptying the whole drive: every unit unmapped, or every block erased as well.
//!
//! An erase of everything takes, with the dies at work side by side,
//!   max over dies of Σ tBERS of its programmed blocks;
//! blocks that are erased already cost nothing and do not wear. Blocks with a failed program are
//! retired afterwards, as collection would have done. Left out: blocks gone bad, which cannot be
//! erased, keep what they hold, as in drives without a purge of bad blocks.

use crate::ftl::Ftl;
use crate::ftl::die::DieState;
use crate::nand::contents::Contents;
use crate::units::{BlockId, Lpn, Nanos};

impl<C: Contents> Ftl<C> {
    /// Unmaps every unit that the host sees; returns how many held data. None may be buffered.
    pub fn trim_all(&mut self) -> u32 {
        (0..self.exported).map(|lpn| u32::from(self.trim(Lpn(lpn)))).sum()
    }

    /// Unmaps everything and erases every block that was programmed; returns the time of the die that
    /// takes longest. Wear and counters stay. No unit may be buffered.
    pub fn erase_all(&mut self) -> Nanos {
        self.trim_all();
        self.mapping.clear(&self.geometry);
        if let Some(cache) = &mut self.map_cache {
            cache.forget();
        }
        let failing: Vec<BlockId> = self.dies.iter_mut().flat_map(DieState::take_failing).collect();
        let mut times = vec![Nanos::ZERO; self.dies.len()];
        for block in (0..self.geometry.blocks).map(BlockId) {
            if !self.flash.array.is_bad(block) && self.flash.array.programmed_rows(block) > 0 {
                let die = usize::from(self.geometry.die(block).0);
                let failing = failing.contains(&block);
                times[die] += self.flash.erase(&self.geometry, block, failing, &mut self.counters).0;
            }
        }
        self.free_all();
        self.check_spare();
        times.into_iter().max().unwrap_or_default()
    }

    /// Every good group is free, none is open.
    fn free_all(&mut self) {
        self.dies.fill(DieState::default());
        self.blocks.clear(self.rules.policy.order());
        self.slc.clear();
        self.release_good_groups();
    }
}
