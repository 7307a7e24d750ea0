//! The common case in one go: a row is one unit, a block is collected alone, nothing fails, there is no SLC
//! mode, and the whole map is in RAM. Each step has the same outcome as the general ones it stands for, and
//! does nothing where anything else is due. Not taken where there are contents: those go the general way.

use crate::ftl::Ftl;
use crate::ftl::die::Source;
use crate::ftl::frontier::Purpose;
use crate::ftl::job::Reason;
use crate::ftl::table::NONE;
use crate::nand::contents::Contents;
use crate::units::{DieId, Lpn, Nanos, Ppn};

/// As in `reclaim/sources.rs`, where time goes by between two moves, in which other dies move theirs.
const MOVES_AHEAD: usize = 0;

impl<C: Contents> Ftl<C> {
    /// A row of one unit of the host, as [`Ftl::put`] and [`Ftl::end_row`]: returns the array time. `None`
    /// where the block is filled by this or waits for a reserve, or the unit is in the buffer.
    #[inline(always)]
    pub fn write_on(&mut self, die: DieId, lpn: Lpn) -> Option<Nanos> {
        let state = &mut self.dies[usize::from(die.0)];
        let is_short = state.short;
        let frontier = state.frontier_mut(Purpose::Host);
        if !self.kind.plain || is_short || !frontier.stays_open() || self.mapping.is_buffered(lpn) {
            return None;
        }
        let (block, to) = (frontier.block(), frontier.take_row(&self.geometry));
        if let Some(old) = self.mapping.put(lpn, to) {
            self.blocks.invalidate(&self.geometry, old);
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
        self.mapping.move_unit(Lpn(lpn), to);
        self.blocks.groups.remove_valid_at(counter);
        self.counters.gc_pages_moved += 1;
        self.counters.nand_pages_written += 1;
        let time = self.flash.array.program_row(block);
        job.held = NONE;
        let victim = job.victim();
        let next = state.next_source(&self.mapping, MOVES_AHEAD, all_valid);
        Some((time, next.map(|ppn| self.flash.array.read_time(victim, self.geometry.slot(ppn), 1))))
    }
}
