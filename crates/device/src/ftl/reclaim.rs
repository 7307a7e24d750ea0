//! Reclaim: one move-and-erase loop for garbage collection, wear levelling, folding and retiring.
//!
//! A job belongs to a die and runs in steps that the drive above times: gather the valid units of
//! the next source row, program a row of them, and at the end erase the victim. Only garbage
//! collection chooses by policy; a block in which a program failed, an SLC block to be folded and,
//! for static wear levelling, the least worn block go before.
//!
//! Units that the host overwrites while the job is under way are left behind.

mod choice;
mod moves;

use crate::ftl::packing::Fill;
use crate::ftl::pool::Group;
use crate::ftl::table::Table;
use crate::ftl::{DieState, Ftl, NONE};
use crate::nand::array::Payload;
use crate::nand::geometry::Geometry;
use crate::units::{BlockId, DieId, Nanos, Ppn};
use serde::{Deserialize, Serialize};

/// Why a block is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// To gain free space.
    Garbage,
    /// To let cold data wait in a worn block (static wear levelling).
    Leveling,
    /// To write SLC data with all bits a cell.
    Folding,
    /// Because the block is failing.
    Retiring,
}

/// A collection under way on one die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    victim: u32,
    reason: Reason,
    /// Where a row is several units: the next source row to look at.
    cursor: u32,
    /// Where a row is one unit: the slot read and not yet programmed, or `NONE`.
    held: u32,
    /// Units to gather for a row.
    units_per_row: u32,
}

impl Job {
    /// The same job on a copy of its victim. It looks for valid units from the start: those that were moved
    /// are none any more, those that were read and not yet programmed are read again.
    pub(super) fn restarted_in(&self, victim: BlockId) -> Job {
        Job { victim: victim.0, cursor: 0, held: NONE, ..self.clone() }
    }

    /// The block that is emptied, and why.
    pub(super) fn seen(&self) -> (BlockId, Reason) {
        (BlockId(self.victim), self.reason)
    }
}

/// What a job has gathered where a row is several units.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Gathered {
    /// Slots read and not yet programmed.
    slots: Vec<u32>,
    /// Where data is compressed: units that a row takes on average, and fractions carried along.
    packed: Option<(f64, f64)>,
}

/// Units found in one source row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRow {
    /// Block that is read.
    pub block: BlockId,
    /// Row that is read.
    pub row: u32,
    /// Valid units in it.
    pub units: u32,
}

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

/// Moves by which the map's lines of the units to be moved are fetched ahead at least: where moves follow
/// each other at once, and where time goes by between two of them, in which other dies move theirs.
const MOVES_AHEAD: usize = 6;
pub(super) const TIMED_MOVES_AHEAD: usize = 0;
/// Lines that are fetched together: their way through the address tables overlaps.
const BATCH: usize = 8;

/// A slot of a victim that was valid when its job began, and the unit in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    slot: u32,
    lpn: u32,
}

/// Fetches the map's lines of the units that lie in these slots.
#[inline]
fn prefetch_owners(map: &Table, reverse: &Table, slots: std::ops::Range<u32>) {
    if slots.end as usize <= reverse.entries() {
        reverse.range(slots).for_each(|lpn| map.prefetch(lpn));
    }
}

/// Lists the slots of a victim that are valid, without a branch, which would be mispredicted at about
/// every second slot.
fn list_valid(reverse: &Table, slots: std::ops::Range<u32>, list: &mut Vec<Source>) {
    list.resize(slots.len(), Source { slot: NONE, lpn: NONE });
    let mut count = 0;
    for (slot, lpn) in slots.clone().zip(reverse.range(slots)) {
        list[count] = Source { slot, lpn };
        count += usize::from(lpn != NONE);
    }
    list.truncate(count);
}

impl DieState {
    /// Blocks that are failing, the one that a job is emptying with them; the die forgets them.
    pub(super) fn take_failing(&mut self) -> Vec<BlockId> {
        let retiring = self.job.as_ref().filter(|job| job.reason == Reason::Retiring).map(|job| BlockId(job.victim));
        self.doomed.drain(..).chain(retiring).collect()
    }

    /// The unit that the job holds, where it was listed.
    #[inline(always)]
    fn held_source(&self) -> Option<Source> {
        self.sources.get(self.next_source.wrapping_sub(1) as usize).copied()
    }

    /// The die's job has moved what was in a slot, whose record stays until the erase.
    pub(super) fn has_moved(&self, geometry: &Geometry, ppn: Ppn) -> bool {
        let is_victim = |job: &Job| job.victim == geometry.block(ppn).0 && job.held != ppn.0;
        let left = &self.sources[(self.next_source as usize).min(self.sources.len())..];
        let is_listed = left.len() < self.sources.len();
        is_listed && self.job.as_ref().is_some_and(is_victim) && left.iter().all(|source| source.slot != ppn.0)
    }

    /// Finds the next unit of the victim that is still valid, as all are while `all_valid`; the job holds
    /// it from then on. Lines of the map are fetched `ahead` moves ahead at least. Returns its slot.
    #[inline(always)]
    fn next_source(&mut self, map: &Table, reverse: &Table, ahead: usize, all_valid: bool) -> Option<u32> {
        while let Some(&Source { slot, lpn }) = self.sources.get(self.next_source as usize) {
            self.next_source += 1;
            if self.next_source.is_multiple_of(BATCH as u32) {
                let first = (self.next_source as usize + ahead).min(self.sources.len());
                let later = &self.sources[first..(first + BATCH).min(self.sources.len())];
                later.iter().for_each(|source| map.prefetch(source.lpn));
            }
            // The host may have overwritten it meanwhile. Of a unit in the buffer the map does not tell.
            if all_valid || map.get(lpn) == slot || reverse.get(slot) != NONE {
                self.job.as_mut().expect("a job is under way").held = slot;
                return Some(slot);
            }
        }
        None
    }
}

impl<P: Payload> Ftl<P> {
    /// A job is under way on this die.
    #[inline]
    pub fn has_job(&self, die: DieId) -> bool {
        self.dies[usize::from(die.0)].job.is_some()
    }

    /// Foreground collection should run on this die (below the watermark).
    pub fn wants_collection(&self, die: DieId) -> bool {
        !self.single_frontier && self.free_groups(die) <= self.config().gc_low_blocks
    }

    /// Collection is spread between host writes, from the low watermark on.
    pub fn is_smooth(&self) -> bool {
        self.smooth
    }

    /// Collection in idle time has something to do on this die.
    pub fn wants_idle_collection(&self, die: DieId) -> bool {
        !self.slc_sealed[self.pool_of_die(die)].is_empty() || self.free_groups(die) < self.config().idle_gc_blocks
    }

    /// Starts a job on a die (with superblocks: on all dies); false where there is nothing to gain.
    pub fn start_job(&mut self, die: DieId) -> bool {
        debug_assert!(!self.has_job(die));
        if self.width > 1 && self.dies.iter().any(|state| state.job.is_some()) {
            return false;
        }
        let Some((group, reason, failing)) = self.choose(die) else {
            self.dies[usize::from(die.0)].short = false;
            return false;
        };
        let pool = self.groups.pool(group);
        if self.groups.is_sealed(group) {
            self.groups.collect(group);
        } else {
            self.slc_sealed[pool].retain(|slc| *slc != group.0);
        }
        let width = self.width;
        let mut lanes = 0;
        for block in (group.0 * width..(group.0 + 1) * width).map(BlockId) {
            if self.array.is_bad(block) {
                continue;
            }
            lanes += 1;
            self.prefetch_victim(block);
            let reason = if failing.is_none_or(|failing| failing == block) { reason } else { Reason::Garbage };
            let owner = if width == 1 { die } else { self.geometry.die(block) };
            let packed = self.packed_units_per_row(block.0..block.0 + 1);
            let state = &mut self.dies[usize::from(owner.0)];
            state.sources.clear();
            state.next_source = 0;
            state.gathered.slots.clear();
            state.gathered.packed = packed.map(|mean| (mean, 0.0));
            let units_per_row = packed.map_or(self.geometry.units_per_row, |mean| mean.ceil() as u32);
            state.job = Some(Job { victim: block.0, reason, cursor: 0, held: NONE, units_per_row });
        }
        self.lanes_left[group.0 as usize] = lanes;
        if self.smooth {
            self.set_pace(die);
        }
        lanes > 0
    }

    /// What each host row owes the job that begins on a die, with superblocks on all dies.
    fn set_pace(&mut self, die: DieId) {
        let dies = if self.width == 1 { die.0..die.0 + 1 } else { 0..self.geometry.dies as u16 };
        for die in dies {
            self.dies[usize::from(die)].owed_per_row = self.moves_per_host_row(DieId(die));
        }
    }

    /// Smooth pace: a host row was written, and a job is due or under way: it gets its share of rows.
    pub fn owe(&mut self, die: DieId) {
        let state = &mut self.dies[usize::from(die.0)];
        state.owed += state.owed_per_row;
    }

    /// Smooth pace: a row of a die's job was programmed.
    pub fn pay(&mut self, die: DieId) {
        let state = &mut self.dies[usize::from(die.0)];
        state.owed = (state.owed - 1.0).max(0.0);
    }

    /// Smooth pace: the host has to wait for a row of the die's job.
    pub fn owes(&self, die: DieId) -> bool {
        self.dies[usize::from(die.0)].owed >= 1.0
    }

    /// Fetches the reverse map of a victim, and the map of its first units.
    fn prefetch_victim(&self, block: BlockId) {
        const ENTRIES_PER_LINE: usize = 16;
        let base = self.geometry.ppn(block, 0).0;
        let end = base + self.slots_in_use(block);
        (base..end).step_by(ENTRIES_PER_LINE).for_each(|slot| self.reverse.prefetch(slot));
        if !self.one_unit_rows {
            prefetch_owners(&self.map, &self.reverse, base..end.min(base + MOVES_AHEAD as u32));
        }
    }

    /// The next step of a die's job.
    #[inline(always)]
    pub fn job_step(&mut self, die: DieId) -> Step {
        if self.one_unit_rows { self.next_unit(die) } else { self.next_row(die) }
    }

    /// The next step where a row is one unit.
    #[inline(always)]
    fn next_unit(&mut self, die: DieId) -> Step {
        let state = &mut self.dies[usize::from(die.0)];
        let job = state.job.as_ref().expect("a job is under way");
        if job.held != NONE {
            return Step::Program;
        }
        if state.sources.is_empty() {
            let base = self.geometry.ppn(BlockId(job.victim), 0).0;
            state.victim_counter = self.groups.counter(Group(job.victim / self.width));
            list_valid(&self.reverse, base..base + self.slots, &mut state.sources);
            let first = state.sources.iter().take(MOVES_AHEAD + BATCH);
            first.for_each(|source| self.map.prefetch(source.lpn));
        }
        let victim = BlockId(job.victim);
        match state.next_source(&self.map, &self.reverse, MOVES_AHEAD, false) {
            Some(slot) => Step::Read(SourceRow {
                block: victim,
                row: self.geometry.slot(Ppn(slot)) * self.geometry.rows_per_unit,
                units: 1,
            }),
            None => Step::Erase,
        }
    }

    /// The next step where a row is several units.
    fn next_row(&mut self, die: DieId) -> Step {
        let geometry = self.geometry;
        let state = &mut self.dies[usize::from(die.0)];
        let (job, gathered) = (state.job.as_mut().expect("a job is under way"), &mut state.gathered.slots);
        if gathered.len() >= job.units_per_row as usize {
            return Step::Program;
        }
        let block = BlockId(job.victim);
        let fill = Fill::of(&self.filled, &self.array, &geometry, block);
        let base = geometry.ppn(block, 0).0;
        let steps = fill.map_or(geometry.rows / geometry.rows_per_unit, |fill| fill.rows);
        while job.cursor < steps {
            let (first, end) = match fill {
                None => (job.cursor * geometry.units_per_row, (job.cursor + 1) * geometry.units_per_row),
                Some(fill) => fill.slots_of(job.cursor),
            };
            let (first, end) = (base + first, base + end);
            let before = gathered.len();
            prefetch_owners(&self.map, &self.reverse, first + MOVES_AHEAD as u32..end + MOVES_AHEAD as u32);
            for slot in first..end {
                if self.reverse.get(slot) != NONE {
                    gathered.push(slot);
                }
            }
            let row = job.cursor * geometry.rows_per_unit;
            job.cursor += 1;
            let units = (gathered.len() - before) as u32;
            if units > 0 {
                return Step::Read(SourceRow { block, row, units });
            }
        }
        if gathered.is_empty() { Step::Erase } else { Step::Program }
    }

    /// The next step of a die's job programs what was gathered.
    #[inline(always)]
    pub fn job_step_is_program(&self, die: DieId) -> bool {
        let state = &self.dies[usize::from(die.0)];
        let job = state.job.as_ref().expect("a job is under way");
        job.held != NONE || state.gathered.slots.len() >= job.units_per_row as usize
    }

    /// A job concerns all dies (superblocks).
    pub fn jobs_span_dies(&self) -> bool {
        self.width > 1
    }

    /// Rows that a smooth job moves for every row the host writes: what its victim holds over what it
    /// frees, so that the free blocks stay where they are, and a quarter more for each block that is
    /// short of the watermark.
    fn moves_per_host_row(&self, die: DieId) -> f64 {
        let Some(job) = &self.dies[usize::from(die.0)].job else { return 0.0 };
        let rows = f64::from(self.geometry.rows / self.geometry.rows_per_unit);
        let valid = f64::from(self.groups.valid(self.group_of(BlockId(job.victim)))) / f64::from(self.width);
        let moved = valid / f64::from(job.units_per_row);
        let short = self.config().gc_low_blocks.saturating_sub(self.free_groups(die));
        (moved + 1.0) / (rows - moved).max(0.5) * (1.0 + 0.25 * f64::from(short))
    }

    /// Erases the victim and ends the job; returns the array time.
    pub fn finish_job(&mut self, die: DieId) -> Nanos {
        let job = self.dies[usize::from(die.0)].job.take().expect("a job is under way");
        let block = BlockId(job.victim);
        let group = self.group_of(block);
        let first = self.geometry.ppn(block, 0);
        // Of what the job has moved the record stayed: nobody asked for it any more.
        self.reverse.forget(first.0..first.0 + self.slots_in_use(block));
        self.note_filled(block, 0);
        self.payload.erase(first, Ppn(first.0 + self.geometry.slots()));
        let was_slc = self.array.is_slc(block);
        let (time, outcome) = self.array.erase(block, false);
        self.counters.blocks_erased += 1;
        if outcome.is_err() || job.reason == Reason::Retiring {
            self.counters.erase_failures += u64::from(outcome.is_err());
            self.counters.grown_bad_blocks += 1;
            self.array.retire(block);
            self.dies[usize::from(die.0)].short = self.single_frontier && self.reserve > 0;
            self.check_spare();
        }
        let left = &mut self.lanes_left[group.0 as usize];
        *left -= 1;
        if *left == 0 {
            let pool = self.groups.pool(group);
            self.slc_in_use[pool] -= u32::from(was_slc);
            self.release_if_good(group);
        }
        time
    }
}
