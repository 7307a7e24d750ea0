//! Moves: gathered units go to the open row of a frontier, their records with them.

use super::{Reason, Source, TIMED_MOVES_AHEAD};
use crate::ftl::frontier::{Programmed, Purpose};
use crate::ftl::{FIRST_BUFFERED, Ftl, NONE, Shortage};
use crate::nand::array::Payload;
use crate::units::{BlockId, DieId, Lpn, Nanos, Ppn};

impl<P: Payload> Ftl<P> {
    /// The die that takes the next row of moves: the job's own, or with superblocks the next lane
    /// in turn, so that lanes fill evenly. `None` where programs that failed have used the room up.
    #[inline(always)]
    fn destination_die(&mut self, die: DieId, purpose: Purpose) -> Option<DieId> {
        if self.dies[usize::from(die.0)].frontiers[purpose as usize].has_room() && self.width == 1 {
            return Some(die);
        }
        self.find_destination(die, purpose)
    }

    fn find_destination(&mut self, die: DieId, purpose: Purpose) -> Option<DieId> {
        for _ in 0..self.width {
            let to = if self.width == 1 { die } else { self.next_lane() };
            if self.dies[usize::from(to.0)].frontiers[purpose as usize].has_room() || self.open(to, purpose) {
                return Some(to);
            }
        }
        self.lending_die(purpose)
    }

    /// A die that takes moves of another that has no room left.
    #[cold]
    fn lending_die(&mut self, purpose: Purpose) -> Option<DieId> {
        for _ in 0..self.geometry.dies {
            let to = self.next_lane();
            let has_room = self.dies[usize::from(to.0)].frontiers[purpose as usize].has_room();
            if self.free_groups(to) > 1 && (has_room || self.open(to, purpose)) {
                return Some(to);
            }
        }
        None
    }

    /// Where the next row of a die's job goes. Cold data have a frontier of their own, on the job's die or with
    /// superblocks on any; where failing programs have used its room up they go the way of the others.
    #[inline(always)]
    fn next_place(&mut self, die: DieId, reason: Reason) -> Option<(DieId, Purpose)> {
        if reason == Reason::Leveling
            && let Some(to) = self.find_cold_place(die)
        {
            return Some((to, Purpose::Leveling));
        }
        let purpose = self.destination();
        Some((self.destination_die(die, purpose)?, purpose))
    }

    #[cold]
    fn find_cold_place(&mut self, die: DieId) -> Option<DieId> {
        (0..self.width).find_map(|_| {
            let to = if self.width == 1 { die } else { self.next_lane() };
            let has_room = self.dies[usize::from(to.0)].frontiers[Purpose::Leveling as usize].has_room();
            (has_room || self.open(to, Purpose::Leveling)).then_some(to)
        })
    }

    /// A job started with room for its units, and failing programs took it: the units stay in the
    /// victim, which is not used again, and the drive is read-only.
    #[cold]
    fn abandon_job(&mut self, die: DieId) {
        let state = &mut self.dies[usize::from(die.0)];
        state.job = None;
        state.gathered.slots.clear();
        self.shortage = self.shortage.or(Some(Shortage::GoodBlocks));
    }

    fn next_lane(&mut self) -> DieId {
        self.lane = if self.lane + 1 == self.geometry.dies { 0 } else { self.lane + 1 };
        DieId(self.lane as u16)
    }

    /// Programs the gathered units, as many as a row holds; returns the array time and how many
    /// moved. With superblocks the row may lie on another die; its time is charged to this one.
    #[inline(always)]
    pub fn program_gathered(&mut self, die: DieId) -> (Programmed, u32) {
        if self.one_unit_rows { self.program_unit(die) } else { self.program_row(die) }
    }

    /// The common step of a move in one go, with the same outcome as [`Ftl::program_gathered`] and the
    /// [`Ftl::job_step`] after it: the unit that was read is programmed, and the next one is found.
    /// Returns the array times of the program and, where there is a next unit, of sensing it. `None`, with
    /// nothing changed, where anything else is due: the unit was overwritten or is in the buffer too, the
    /// open block is full or is filled by this.
    #[inline(always)]
    pub fn move_on(&mut self, die: DieId) -> Option<(Nanos, Option<Nanos>)> {
        if !self.plain {
            return None;
        }
        let purpose = self.destination();
        let state = &mut self.dies[usize::from(die.0)];
        let Source { slot: from, lpn } = state.held_source()?;
        let left = state.sources.len() - state.next_source as usize;
        let (job, frontier) = (state.job.as_mut()?, &mut state.frontiers[purpose as usize]);
        if job.held != from || job.reason != Reason::Garbage || !frontier.stays_open() {
            return None;
        }
        // While the victim has lost none of its units, the map, far away in memory, need not be asked.
        let all_valid = self.shadows.is_empty() && self.groups.valid_at(state.victim_counter) as usize == left + 1;
        if !all_valid && self.map.get(lpn) != from {
            return None;
        }
        let (block, slot) = frontier.take_row();
        let to = self.geometry.ppn(block, slot);
        self.map.set(lpn, to.0);
        self.reverse.set(to.0, lpn);
        self.groups.remove_valid_at(state.victim_counter);
        self.payload.copy(Ppn(from), to);
        self.counters.gc_pages_moved += 1;
        self.counters.nand_pages_written += 1;
        let time = self.array.program_row(block);
        job.held = NONE;
        let victim = BlockId(job.victim);
        let next = state.next_source(&self.map, &self.reverse, TIMED_MOVES_AHEAD, all_valid);
        Some((time, next.map(|slot| self.array.read_time(victim, self.geometry.slot(Ppn(slot)), 1))))
    }

    /// Programs the unit that was read, where a row is one unit.
    #[inline(always)]
    fn program_unit(&mut self, die: DieId) -> (Programmed, u32) {
        let reason = self.dies[usize::from(die.0)].job.as_ref().expect("a job is under way").reason;
        let Some((to, purpose)) = self.next_place(die, reason) else {
            self.abandon_job(die);
            return (Programmed::default(), 0);
        };
        let job = self.dies[usize::from(die.0)].job.as_mut().expect("a job is under way");
        let from = std::mem::replace(&mut job.held, NONE);
        if self.reverse.get(from) == NONE {
            return (Programmed::default(), 0);
        }
        self.move_unit(Ppn(from), to, purpose);
        self.count_moves(reason, 1);
        (self.end_row(to, purpose), 1)
    }

    /// Programs as many of the gathered units as a row holds.
    fn program_row(&mut self, die: DieId) -> (Programmed, u32) {
        let index = usize::from(die.0);
        let reason = self.dies[index].job.as_ref().expect("a job is under way").reason;
        let Some((to, purpose)) = self.next_place(die, reason) else {
            self.abandon_job(die);
            return (Programmed::default(), 0);
        };
        let most = self.row_slots_left(to, purpose);
        let state = &mut self.dies[index];
        let job = state.job.as_mut().expect("a job is under way");
        let wanted = match &mut state.gathered.packed {
            None => job.units_per_row,
            Some((mean, credit)) => {
                *credit += *mean;
                let whole = credit.floor().max(1.0);
                *credit -= whole;
                whole as u32
            }
        };
        let count = wanted.min(most).min(state.gathered.slots.len() as u32) as usize;
        let mut batch = std::mem::take(&mut state.gathered.slots);
        let mut moved = 0;
        for &from in &batch[..count] {
            if self.reverse.get(from) != NONE {
                self.move_unit(Ppn(from), to, purpose);
                moved += 1;
            }
        }
        if count == batch.len() {
            batch.clear();
        } else {
            batch.drain(..count);
        }
        self.dies[index].gathered.slots = batch;
        self.count_moves(reason, u64::from(moved));
        let programmed = if moved > 0 { self.end_row(to, purpose) } else { Programmed::default() };
        (programmed, moved)
    }

    pub(super) fn destination(&self) -> Purpose {
        if self.single_frontier { Purpose::Host } else { Purpose::Collection }
    }

    fn count_moves(&mut self, reason: Reason, units: u64) {
        match reason {
            Reason::Garbage | Reason::Retiring => self.counters.gc_pages_moved += units,
            Reason::Leveling => self.counters.wear_leveling_pages_moved += units,
            Reason::Folding => self.counters.slc_pages_folded += units,
        }
    }

    /// Moves a valid unit into the open row of a frontier; its record goes along.
    #[inline(always)]
    pub(crate) fn move_unit(&mut self, from: Ppn, die: DieId, purpose: Purpose) {
        let to = self.take_slot(die, purpose);
        let lpn = self.reverse.replace(from.0, NONE);
        self.reverse.set(to.0, lpn);
        let entry = self.map.get(lpn);
        if entry == from.0 {
            self.map.set(lpn, to.0);
        } else {
            self.shadows[(entry - FIRST_BUFFERED) as usize] = to.0;
        }
        self.groups.remove_valid(self.group_of(self.geometry.block(from)));
        self.payload.copy(from, to);
        if self.map_cache.is_some() {
            self.touch_map(Lpn(lpn), true);
        }
    }
}
