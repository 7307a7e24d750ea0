//! The common case in one go: a row is one unit, a block is collected alone, nothing fails, there is no SLC
//! mode, and the whole map is in RAM. Each step has the same outcome as the general ones it stands for, and
//! does nothing where anything else is due. Not taken where there are contents: those go the general way.

use crate::ftl::Ftl;
use crate::ftl::die::Source;
use crate::ftl::frontier::Purpose;
use crate::ftl::job::Reason;
use crate::ftl::pool::Counter;
use crate::ftl::table::NONE;
use crate::nand::contents::Contents;
use crate::units::{BlockId, DieId, Lpn, Nanos, Ppn};

/// As in `reclaim/sources.rs`, where time goes by between two moves, in which other dies move theirs.
const MOVES_AHEAD: usize = 0;

impl<C: Contents> Ftl<C> {
    /// A row of one unit of the host, as [`Ftl::put`] and [`Ftl::end_row`]: returns the array time. `None`
    /// where the block is filled by this or waits for a reserve, or a unit may be in the buffer.
    #[inline(always)]
    pub fn write_on(&mut self, die: DieId, lpn: Lpn) -> Option<Nanos> {
        let state = &mut self.dies[usize::from(die.0)];
        let is_short = state.short;
        let frontier = state.frontier_mut(Purpose::Host);
        if !self.kind.plain || is_short || !frontier.stays_open() || !self.mapping.never_buffered() {
            return None;
        }
        let (block, to) = (frontier.block(), frontier.take_row(&self.geometry));
        if let Some(old) = self.mapping.put(lpn, to) {
            let old = self.geometry.block(old);
            self.blocks.invalidate(old);
            self.blocks.superseded.add_only(die, old);
        }
        self.counters.nand_pages_written += 1;
        Some(self.flash.array.program_row(block))
    }

    /// The unit that a job has read is programmed, and the next one is found, as [`Ftl::program_gathered`]
    /// and the [`Ftl::job_step`] after it. Returns the array times of the program and, where there is a next
    /// unit, of sensing it. `None` where the unit was overwritten or is in the buffer too, or the open block is
    /// full or is filled by this.
    #[inline(always)]
    pub fn move_on(&mut self, die: DieId) -> Option<(Nanos, Option<Nanos>)> {
        if !self.kind.plain {
            return None;
        }
        let purpose = self.destination();
        let state = &mut self.dies[usize::from(die.0)];
        let Source { slot: from, lpn } = state.held_source()?;
        let left = state.sources_left();
        let counter = state.victim_counter;
        let (job, frontier) = (state.job.as_mut()?, &mut state.frontiers[purpose as usize]);
        if job.held != from || job.reason != Reason::Garbage || !frontier.stays_open() {
            return None;
        }
        // While the victim has lost none of its units, the map, far away in memory, need not be asked.
        let all_valid = self.mapping.never_buffered() && self.blocks.groups.valid_at(counter) as usize == left + 1;
        if !all_valid && !self.mapping.leads_to(Lpn(lpn), Ppn(from)) {
            return None;
        }
        let (block, to) = (frontier.block(), frontier.take_row(&self.geometry));
        job.held = NONE;
        let next = state.next_source(&self.mapping, MOVES_AHEAD, all_valid);
        self.mapping.move_unit(Lpn(lpn), to);
        self.count_collected(counter, 1);
        let programmed = self.flash.array.program_row(block);
        Some((programmed, next.map(|ppn| self.flash.array.native_read_time(self.geometry.slot(ppn)))))
    }

    /// Moves, each with a next one behind it, for which [`Ftl::move_on`] has nothing to ask, while the host leaves
    /// the victim's units alone: none of them is lost yet, and the open block is not filled.
    pub fn moves_ahead(&self, die: DieId) -> u32 {
        let (state, purpose) = (self.die(die), self.destination());
        let Some(job) = &state.job else { return 0 };
        let left = state.sources_left() as u32;
        let is_whole = self.mapping.never_buffered() && self.blocks.groups.valid_at(state.victim_counter) == left + 1;
        let is_common = self.kind.plain && job.reason == Reason::Garbage && job.held != NONE && is_whole;
        if is_common { left.min(state.frontier(purpose).rows_left().saturating_sub(1)) } else { 0 }
    }

    /// The block that a die's job empties.
    pub fn victim(&self, die: DieId) -> BlockId {
        self.die(die).job().victim()
    }

    /// tPROG of the [`Ftl::moves_ahead`] that so many others come before, and tR of the unit behind it.
    pub fn move_times(&self, die: DieId, ahead: u32) -> (Nanos, Nanos) {
        let state = self.die(die);
        let row = state.frontier(self.destination()).slots_used() + ahead;
        let next = self.geometry.slot(state.source_behind(ahead));
        (self.flash.array.native_program_time(row), self.flash.array.native_read_time(next))
    }

    /// So many of the [`Ftl::moves_ahead`] in one go.
    pub fn move_units(&mut self, die: DieId, count: u32) {
        let purpose = self.destination();
        let state = &mut self.dies[usize::from(die.0)];
        let frontier = state.frontier_mut(purpose);
        let (block, to) = (frontier.block(), frontier.take_rows(&self.geometry, count));
        state.move_sources(&mut self.mapping, count, to);
        let counter = state.victim_counter;
        self.count_collected(counter, count);
        self.flash.array.program_rows(block, count);
    }

    /// Units that left the victim of this counter, each in a row of its own.
    #[inline(always)]
    fn count_collected(&mut self, victim: Counter, count: u32) {
        self.blocks.groups.remove_units_at(victim, count);
        self.counters.gc_pages_moved += u64::from(count);
        self.counters.nand_pages_written += u64::from(count);
    }

    /// The block that a unit lies in where nothing has ever been in the buffer; of an unmapped unit a number beyond
    /// all blocks.
    #[inline(always)]
    pub fn block_of(&self, lpn: Lpn) -> BlockId {
        self.geometry.block(self.mapping.entry(lpn))
    }

    /// The die whose job's victim a unit lies in.
    pub fn collecting_die(&self, lpn: Lpn) -> Option<DieId> {
        let block = self.geometry.block(self.mapping.flash_slot(lpn)?);
        let die = self.geometry.die(block);
        self.die(die).job.as_ref().is_some_and(|job| job.victim() == block).then_some(die)
    }
}
