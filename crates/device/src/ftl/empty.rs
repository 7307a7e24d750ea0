//! Emptying the whole drive: every unit unmapped, or every block erased as well, or overwritten before.
//!
//! An erase of everything takes, with the dies at work side by side,
//!   max over dies of Σ tBERS of its programmed blocks;
//! blocks that are erased already cost nothing and do not wear. A pass of overwriting then programs
//! every row of every good block with a pattern, which is counted as padding, and erases it:
//!   max over dies of Σ (rows · tPROG + tBERS) of its good blocks.
//! Blocks with a failed program are retired afterwards, as collection would have done. Left out:
//! blocks gone bad, which cannot be erased, keep what they hold, as in drives without a purge of bad
//! blocks.

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
        for block in self.good_blocks() {
            if self.flash.array.programmed_rows(block) > 0 {
                times[self.die_of(block)] += self.erase_block(block, failing.contains(&block));
            }
        }
        self.free_all();
        self.check_spare();
        times.into_iter().max().unwrap_or_default()
    }

    /// Erases everything as [`Ftl::erase_all`], programs every row of every good block with a pattern, and erases that;
    /// returns the time of the die that takes longest for the last two. No unit may be buffered.
    pub fn overwrite_all(&mut self) -> Nanos {
        let erased = self.erase_all();
        let rows = self.geometry.rows;
        let mut times = vec![Nanos::ZERO; self.dies.len()];
        for block in self.good_blocks() {
            let (time, outcome) = self.flash.array.program(block, rows);
            let units = u64::from(rows) * u64::from(self.geometry.units_per_row);
            self.counters.nand_pages_written += units;
            self.counters.padding_pages_written += units;
            self.counters.program_failures += u64::from(outcome.is_err());
            times[self.die_of(block)] += time + self.erase_block(block, outcome.is_err());
        }
        self.free_all();
        self.check_spare();
        erased + times.into_iter().max().unwrap_or_default()
    }

    fn good_blocks(&self) -> Vec<BlockId> {
        (0..self.geometry.blocks).map(BlockId).filter(|block| !self.flash.array.is_bad(*block)).collect()
    }

    fn die_of(&self, block: BlockId) -> usize {
        usize::from(self.geometry.die(block).0)
    }

    fn erase_block(&mut self, block: BlockId, failing: bool) -> Nanos {
        let by = self.geometry.die(block);
        let (time, _) = self.flash.erase(by, &self.geometry, block, failing, &mut self.counters);
        self.flash.contents.erase_ends(by);
        time
    }

    /// Every good group is free, none is open.
    fn free_all(&mut self) {
        self.dies.fill(DieState::default());
        self.blocks.clear(self.rules.policy.order());
        self.slc.clear();
        self.release_good_groups();
    }
}
