//! What a job reads next: the victim's units that are still valid.

use super::Step;
use crate::ftl::Ftl;
use crate::ftl::die::{DieState, MOVES_AHEAD};
use crate::ftl::job::SourceRow;
use crate::ftl::table::NONE;
use crate::nand::contents::Contents;
use crate::units::{BlockId, DieId};

/// Slots by which the map back of the victim is fetched again: what was fetched when the job began may have left the
/// cache, since other dies go on between two rows.
const SLOTS_AHEAD: u32 = 48;

impl<C: Contents> Ftl<C> {
    /// Fetches the map back of a victim, and the map of its first units.
    pub(super) fn prefetch_victim(&self, block: BlockId) {
        let base = self.geometry.ppn(block, 0).0;
        let end = base + self.blocks.slots_in_use(&self.flash.array, &self.geometry, block);
        self.mapping.prefetch_slots(base..end);
        if !self.kind.one_unit_rows {
            self.mapping.prefetch_owners(base..end.min(base + MOVES_AHEAD as u32));
        }
    }

    /// The next step of a die's job.
    #[inline(always)]
    pub fn job_step(&mut self, die: DieId) -> Step {
        if self.kind.one_unit_rows { self.next_unit(die) } else { self.next_row(die) }
    }

    /// The next step of a die's job programs what was gathered.
    #[inline(always)]
    pub fn job_step_is_program(&self, die: DieId) -> bool {
        let state = self.die(die);
        if self.kind.moves_rows_plainly {
            return state.gathered.slots.len() >= self.geometry.units_per_row as usize;
        }
        state.job().held != NONE || self.is_row_gathered(die, state)
    }

    /// A row is gathered, of one stream where streams are kept apart.
    #[inline(always)]
    fn is_row_gathered(&self, die: DieId, state: &DieState) -> bool {
        let units = state.job().units_per_row;
        state.gathered.slots.len() >= units as usize
            && (!self.kind.separates || self.blocks.streams.with_row(die, units).is_some())
    }

    /// The next step where a row is one unit.
    #[inline(always)]
    fn next_unit(&mut self, die: DieId) -> Step {
        let state = &mut self.dies[usize::from(die.0)];
        let job = state.job();
        if job.held != NONE {
            return Step::Program;
        }
        let victim = job.victim();
        if !state.has_sources() {
            let base = self.geometry.ppn(victim, 0).0;
            state.victim_counter = self.blocks.groups.counter(self.blocks.group_of(victim));
            state.list_sources(&self.mapping, base..base + self.blocks.slots, MOVES_AHEAD);
        }
        match state.next_source(&self.mapping, MOVES_AHEAD, false) {
            Some(ppn) => Step::Read(SourceRow {
                block: victim,
                row: self.geometry.slot(ppn) * self.geometry.rows_per_unit,
                units: 1,
            }),
            None => Step::Erase,
        }
    }

    /// The next step where a row is several units.
    #[inline(always)]
    fn next_row(&mut self, die: DieId) -> Step {
        if !self.kind.moves_rows_plainly {
            return self.next_row_in_general(die);
        }
        let (rows, units_per_row) = (self.geometry.rows, self.geometry.units_per_row);
        let state = &mut self.dies[usize::from(die.0)];
        let (job, gathered) = (state.job.as_mut().expect("a job is under way"), &mut state.gathered.slots);
        if gathered.len() >= units_per_row as usize {
            return Step::Program;
        }
        let block = job.victim();
        let mut first = self.geometry.ppn(block, job.cursor * units_per_row).0;
        while job.cursor < rows {
            let slots = first..first + units_per_row;
            self.mapping.prefetch_slot(slots.start + SLOTS_AHEAD);
            let units = self.mapping.gather_valid(slots, MOVES_AHEAD as u32, gathered);
            let row = job.cursor;
            job.cursor += 1;
            first += units_per_row;
            if units > 0 {
                return Step::Read(SourceRow { block, row, units });
            }
        }
        if gathered.is_empty() { Step::Erase } else { Step::Program }
    }

    /// As [`Ftl::next_row`], also where units are packed or streams are kept apart.
    #[inline(never)]
    fn next_row_in_general(&mut self, die: DieId) -> Step {
        if self.kind.separates {
            self.ask_gathered(die);
        }
        if self.is_row_gathered(die, self.die(die)) {
            return Step::Program;
        }
        let geometry = &self.geometry;
        let state = &mut self.dies[usize::from(die.0)];
        let (job, gathered) = (state.job.as_mut().expect("a job is under way"), &mut state.gathered.slots);
        let block = job.victim();
        let fill = self.blocks.packing.fill(&self.flash.array, geometry, block);
        let base = geometry.ppn(block, 0).0;
        let steps = fill.map_or(geometry.steps(), |fill| fill.rows);
        while job.cursor < steps {
            let (first, end) = match fill {
                None => (job.cursor * geometry.units_per_row, (job.cursor + 1) * geometry.units_per_row),
                Some(fill) => fill.slots_of(job.cursor),
            };
            let slots = base + first..base + end;
            self.mapping.prefetch_slot(slots.start + SLOTS_AHEAD);
            let units = self.mapping.gather_valid(slots, MOVES_AHEAD as u32, gathered);
            let row = job.cursor * geometry.rows_per_unit;
            job.cursor += 1;
            if units > 0 {
                if self.kind.separates {
                    self.ask_gathered(die);
                }
                return Step::Read(SourceRow { block, row, units });
            }
        }
        if gathered.is_empty() { Step::Erase } else { Step::Program }
    }
}
