//! Short ways of the common write and the common move. Each has the same outcome as the general steps that it stands for,
//! and does nothing where anything else is due (`tests/short_way.rs` compares them).
//!
//! All need blocks that are collected alone, no SLC mode, and the whole map in RAM. [`Ftl::write_on`], [`Ftl::move_on`] and
//! runs of moves need rows of one unit and flash that cannot fail; `move_on_failing` is [`Ftl::move_on`] of flash that
//! can. Where there are contents they go the general way. [`Ftl::move_row_on`] is for rows of several units, with contents
//! or without. Which of them a drive has, `Ftl::find_short_ways` settles.

use crate::ftl::Ftl;
use crate::ftl::die::{MOVES_AHEAD, Source};
use crate::ftl::frontier::Purpose;
use crate::ftl::job::Reason;
use crate::ftl::pool::Counter;
use crate::ftl::table::NONE;
use crate::nand::contents::{Contents, Row};
use crate::units::{BlockId, DieId, Lpn, Nanos, Ppn};

/// As [`MOVES_AHEAD`], where time goes by between two moves, in which other dies move theirs.
const MOVES_AHEAD_APART: usize = 0;

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
            return if self.kind.moves_plainly { self.move_on_failing(die) } else { None };
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
        let next = state.next_source(&self.mapping, MOVES_AHEAD_APART, all_valid);
        self.mapping.move_unit(Lpn(lpn), to);
        self.count_collected(counter, 1);
        let programmed = self.flash.array.program_row(block);
        Some((programmed, next.map(|ppn| self.flash.array.native_read_time(self.geometry.slot(ppn)))))
    }

    /// As [`Ftl::move_on`], where the program may fail and the read need retries, and units may be in the buffer.
    fn move_on_failing(&mut self, die: DieId) -> Option<(Nanos, Option<Nanos>)> {
        let purpose = self.destination();
        let state = &mut self.dies[usize::from(die.0)];
        let Source { slot: from, lpn } = state.held_source()?;
        let counter = state.victim_counter;
        let (job, frontier) = (state.job.as_mut()?, &mut state.frontiers[purpose as usize]);
        let is_common = job.held == from && job.reason == Reason::Garbage && frontier.stays_open();
        if !is_common || !self.mapping.leads_to(Lpn(lpn), Ppn(from)) {
            return None;
        }
        let (victim, block, to) = (job.victim(), frontier.block(), frontier.take_row(&self.geometry));
        job.held = NONE;
        self.mapping.move_flash_unit(Lpn(lpn), Ppn(from), to);
        self.blocks.groups.remove_units_at(counter, 1);
        self.counters.gc_pages_moved += 1;
        self.counters.nand_pages_written += 1;
        let row = Row { block, slots: to.0..to.0 + 1 };
        let (mut programmed, outcome) = self.flash.program(die, row, 1, &mut self.counters);
        let next = if outcome.is_ok() {
            state.next_source(&self.mapping, MOVES_AHEAD, false)
        } else {
            let slot = self.geometry.slot(to);
            programmed += self.replace_row(die, die, purpose, block, slot..slot + 1);
            self.dies[usize::from(die.0)].next_source(&self.mapping, MOVES_AHEAD, false)
        };
        let Some(ppn) = next else { return Some((programmed, None)) };
        let outcome = self.flash.read(victim, &mut self.counters);
        let array = self.flash.array.native_read_time(self.geometry.slot(ppn));
        Some((programmed, Some(Nanos(array.0 * u64::from(1 + outcome.retries)))))
    }

    /// What a job has gathered is programmed as a row of several units, as [`Ftl::program_gathered`] does it: returns the
    /// array time and how many units moved. `None` where more than a row has to be asked for, or the open block is filled
    /// by this.
    #[inline(always)]
    pub fn move_row_on(&mut self, die: DieId) -> Option<(Nanos, u32)> {
        if !self.kind.moves_rows_plainly {
            return None;
        }
        let (purpose, units_per_row) = (self.destination(), self.geometry.units_per_row);
        let state = &mut self.dies[usize::from(die.0)];
        let (job, frontier) = (state.job.as_ref()?, &mut state.frontiers[purpose as usize]);
        if job.reason != Reason::Garbage || !frontier.stays_open() {
            return None;
        }
        let (victim, block, to) = (job.victim(), frontier.block(), frontier.next_slot(&self.geometry));
        let gathered = &mut state.gathered.slots;
        let count = gathered.len().min(units_per_row as usize);
        let moved = self.mapping.move_slots(&gathered[..count], to, |from, to| self.flash.copy(from, to));
        // As `drain` would, of the few that are left.
        gathered.copy_within(count.., 0);
        gathered.truncate(gathered.len() - count);
        if moved == 0 {
            return Some((Nanos::ZERO, 0));
        }
        frontier.fill_row(units_per_row);
        self.blocks.invalidate_units(victim, moved);
        let padding = units_per_row - moved;
        if padding > 0 {
            self.blocks.groups.skip_valid(self.blocks.group_of(block), padding);
            self.counters.padding_pages_written += u64::from(padding);
        }
        self.counters.gc_pages_moved += u64::from(moved);
        self.counters.nand_pages_written += u64::from(units_per_row);
        let row = Row { block, slots: to.0..to.0 + moved };
        let (mut programmed, outcome) = self.flash.program(die, row, 1, &mut self.counters);
        if outcome.is_err() {
            let first = self.geometry.slot(to);
            programmed += self.replace_row(die, die, purpose, block, first..first + moved);
        }
        Some((programmed, moved))
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
