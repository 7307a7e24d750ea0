//! Reclaim: one move-and-erase loop for garbage collection, wear levelling, folding and retiring.
//!
//! A job belongs to a die and runs in steps that the drive above times: gather the valid units of
//! the next source row, program a row of them, and at the end erase the victim. Only garbage
//! collection chooses by policy; a block in which a program failed, an SLC block to be folded and,
//! for static wear levelling, the least worn block go before.
//!
//! Units that the host overwrites while the job is under way are left behind.
//!
//! `choice` names the victim, `sources` finds what is to be moved, `moves` programs it, `finish` erases.

mod choice;
mod finish;
mod moves;
mod sources;

use crate::ftl::Ftl;
use crate::ftl::job::{Job, Reason, SourceRow};
use crate::ftl::pool::Group;
use crate::nand::contents::Contents;
use crate::units::{BlockId, DieId};

/// What a job does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Read these units.
    Read(SourceRow),
    /// Program what was gathered.
    Program,
    /// Erase the victim.
    Erase,
}

impl<C: Contents> Ftl<C> {
    /// A job is under way on this die.
    #[inline]
    pub fn has_job(&self, die: DieId) -> bool {
        self.die(die).job.is_some()
    }

    /// Foreground collection should run on this die (below the watermark).
    pub fn wants_collection(&self, die: DieId) -> bool {
        !self.kind.single_frontier && self.free_groups(die) <= self.rules.config.gc_low_blocks
            || self.folds_under_load(die)
    }

    /// Collection is spread between host writes, from the low watermark on.
    #[inline(always)]
    pub fn is_smooth(&self) -> bool {
        self.kind.smooth
    }

    /// Collection in idle time has something to do on this die.
    pub fn wants_idle_collection(&self, die: DieId) -> bool {
        self.slc.oldest(self.blocks.pool_of(die)).is_some() || self.free_groups(die) < self.rules.config.idle_gc_blocks
    }

    /// A job concerns several dies (superblocks).
    #[inline(always)]
    pub fn jobs_span_dies(&self) -> bool {
        self.blocks.span_dies()
    }

    /// The dies that a die's jobs concern: itself, or with superblocks those of its pool.
    pub fn dies_sharing(&self, die: DieId) -> std::ops::Range<usize> {
        self.blocks.sharing(die)
    }

    /// No job may start before those under way on the dies that it concerns end.
    pub(super) fn is_blocked(&self, die: DieId) -> bool {
        self.dies[self.blocks.sharing(die)].iter().any(|state| state.job.is_some())
    }

    /// Starts a job on a die (with superblocks: on those of its pool); false where there is nothing to gain.
    pub fn start_job(&mut self, die: DieId) -> bool {
        debug_assert!(!self.has_job(die));
        if self.is_blocked(die) {
            return false;
        }
        let Some((group, reason, failing)) = self.choose(die) else {
            self.die_mut(die).short = false;
            return false;
        };
        if self.blocks.groups.is_sealed(group) {
            self.blocks.groups.collect(group);
        } else {
            self.slc.fold(self.blocks.groups.pool(group), group);
        }
        let mut lanes = 0;
        for block in self.blocks.lanes(group) {
            if self.flash.array.is_bad(block) {
                continue;
            }
            lanes += 1;
            let reason = if failing.is_none_or(|failing| failing == block) { reason } else { Reason::Garbage };
            let owner = if self.blocks.span_dies() { self.geometry.die(block) } else { die };
            self.start_lane(owner, block, reason);
        }
        self.blocks.collect_lanes(group, lanes);
        if self.kind.smooth {
            self.set_pace(die, group);
        }
        lanes > 0
    }

    /// A die's job on a block begins.
    fn start_lane(&mut self, die: DieId, block: BlockId, reason: Reason) {
        self.prefetch_victim(block);
        if self.kind.separates {
            self.blocks.streams.gathered(die).clear();
        }
        let packed = self.blocks.packing.units_per_row(&self.flash.array, &self.geometry, std::iter::once(block));
        let units_per_row = packed.map_or(self.geometry.units_per_row, |mean| mean.ceil() as u32);
        self.die_mut(die).begin_job(Job::new(block, reason, units_per_row), packed);
    }

    /// What each host row owes the job that begins on a die, with superblocks on all of its pool.
    fn set_pace(&mut self, die: DieId, victim: Group) {
        for die in self.dies_sharing(die).map(|die| DieId(die as u16)) {
            let owed = self.moves_per_host_row(die, victim);
            self.die_mut(die).owed_per_row = owed;
        }
    }

    /// Rows that a smooth job moves for every row the host writes: what its victim holds over what it
    /// frees, so that the free blocks stay where they are, and a quarter more for each block that is
    /// short of the watermark.
    fn moves_per_host_row(&self, die: DieId, victim: Group) -> f64 {
        let Some(job) = &self.die(die).job else { return 0.0 };
        let rows = f64::from(self.geometry.rows / self.geometry.rows_per_unit);
        let valid = f64::from(self.blocks.groups.valid(victim)) / f64::from(self.blocks.width);
        let moved = valid / f64::from(job.units_per_row);
        let short = self.rules.config.gc_low_blocks.saturating_sub(self.free_groups(die));
        (moved + 1.0) / (rows - moved).max(0.5) * (1.0 + 0.25 * f64::from(short))
    }

    /// Smooth pace: a host row was written, and a job is due or under way: it gets its share of rows.
    pub fn owe(&mut self, die: DieId) {
        self.die_mut(die).owe();
    }

    /// Smooth pace: a row of a die's job was programmed.
    pub fn pay(&mut self, die: DieId) {
        self.die_mut(die).pay();
    }

    /// The host has to wait for a row of a die's job: with a smooth pace only while the die owes it one.
    #[inline(always)]
    pub fn job_is_due(&self, die: DieId) -> bool {
        !self.kind.smooth || self.die(die).owes()
    }
}
