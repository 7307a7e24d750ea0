//! Moves: gathered units go to the open row of a frontier, their records with them.

use crate::ftl::Ftl;
use crate::ftl::frontier::Purpose;
use crate::ftl::job::Reason;
use crate::ftl::spare::Shortage;
use crate::ftl::table::NONE;
use crate::nand::contents::Contents;
use crate::units::{DieId, Nanos, Ppn};

impl<C: Contents> Ftl<C> {
    /// The frontier that moves go to.
    #[inline(always)]
    pub(in crate::ftl) fn destination(&self) -> Purpose {
        if self.kind.single_frontier { Purpose::Host } else { Purpose::Collection }
    }

    /// The die that takes the next row of moves: the job's own, or with superblocks the next lane
    /// in turn, so that lanes fill evenly. `None` where programs that failed have used the room up.
    #[inline(always)]
    fn destination_die(&mut self, die: DieId, purpose: Purpose) -> Option<DieId> {
        if self.has_room(die, purpose) && !self.blocks.span_dies() {
            return Some(die);
        }
        self.find_destination(die, purpose)
    }

    fn find_destination(&mut self, die: DieId, purpose: Purpose) -> Option<DieId> {
        let found = self.find_lane(die, purpose).or_else(|| self.any_stream(die, purpose));
        found.or_else(|| self.lending_die(purpose))
    }

    /// A die whose open block has room, or which can open one: the job's own, or the next of the lanes.
    fn find_lane(&mut self, die: DieId, purpose: Purpose) -> Option<DieId> {
        (0..self.blocks.width).find_map(|_| {
            let to = if self.blocks.span_dies() { self.blocks.next_lane(die) } else { die };
            (self.has_room(to, purpose) || self.open(to, purpose)).then_some(to)
        })
    }

    /// A die that takes moves of another that has no room left.
    #[cold]
    fn lending_die(&mut self, purpose: Purpose) -> Option<DieId> {
        (0..self.geometry.dies).find_map(|_| {
            let to = self.blocks.next_die(self.geometry.dies);
            let has_room = self.has_room(to, purpose);
            (self.free_groups(to) > 1 && (has_room || self.open(to, purpose))).then_some(to)
        })
    }

    /// Where the next row of a die's job goes. Cold data have a frontier of their own, on the job's die or with
    /// superblocks on any; where failing programs have used its room up they go the way of the others.
    #[inline(always)]
    fn next_place(&mut self, die: DieId, reason: Reason) -> Option<(DieId, Purpose)> {
        if reason == Reason::Leveling
            && let Some(to) = self.find_lane(die, Purpose::Leveling)
        {
            return Some((to, Purpose::Leveling));
        }
        let purpose = self.destination();
        Some((self.destination_die(die, purpose)?, purpose))
    }

    /// A job started with room for its units, and failing programs took it: the units stay in the
    /// victim, which is not used again, and the drive is read-only.
    #[cold]
    fn abandon_job(&mut self, die: DieId) {
        self.die_mut(die).abandon_job();
        self.spare.run_out(Shortage::GoodBlocks);
    }

    /// Programs the gathered units, as many as a row holds; returns the array time and how many
    /// moved. With superblocks the row may lie on another die; its time is charged to this one.
    #[inline(always)]
    pub fn program_gathered(&mut self, die: DieId) -> (Nanos, u32) {
        let reason = self.die(die).job().reason;
        if self.kind.separates {
            self.meet_copy(die, reason);
        }
        let Some((to, purpose)) = self.next_place(die, reason) else {
            self.abandon_job(die);
            return (Nanos::ZERO, 0);
        };
        let moved =
            if self.kind.one_unit_rows { self.move_held(die, to, purpose) } else { self.move_row(die, to, purpose) };
        self.count_moves(reason, u64::from(moved));
        (if moved > 0 { self.end_row(die, to, purpose) } else { Nanos::ZERO }, moved)
    }

    /// Moves the unit that was read, where a row is one unit, unless the host has overwritten it.
    #[inline(always)]
    fn move_held(&mut self, die: DieId, to: DieId, purpose: Purpose) -> u32 {
        let job = self.dies[usize::from(die.0)].job.as_mut().expect("a job is under way");
        let from = Ppn(std::mem::replace(&mut job.held, NONE));
        if self.mapping.owner(from).is_none() {
            return 0;
        }
        self.move_unit(from, to, purpose);
        1
    }

    /// Moves as many of the gathered units as a row holds; those that the host has overwritten stay behind.
    fn move_row(&mut self, die: DieId, to: DieId, purpose: Purpose) -> u32 {
        let most = self.row_slots_left(to, purpose);
        let state = self.die_mut(die);
        let units_per_row = state.job().units_per_row;
        let wanted = state.gathered.next_row(units_per_row);
        let mut batch = std::mem::take(&mut state.gathered.slots);
        let row = if self.kind.separates { self.bring_row_forward(die, &mut batch) } else { batch.len() };
        let count = wanted.min(most).min(row as u32) as usize;
        let moved = self.move_slots(&batch[..count], to, purpose);
        batch.drain(..count);
        if self.kind.separates {
            self.blocks.streams.gathered(die).drain(..count);
        }
        self.die_mut(die).gathered.slots = batch;
        moved
    }

    /// Moves the valid ones of these slots, which are of one block, into the open row of a frontier.
    #[inline(always)]
    fn move_slots(&mut self, slots: &[u32], die: DieId, purpose: Purpose) -> u32 {
        if self.map_cache.is_some() {
            return self.move_slots_and_look_up(slots, die, purpose);
        }
        let Some(&first) = slots.first() else { return 0 };
        let block = self.geometry.block(Ppn(first));
        debug_assert!(slots.iter().all(|slot| self.geometry.block(Ppn(*slot)) == block), "a job has one victim");
        let frontier = self.dies[usize::from(die.0)].frontier_mut(purpose);
        let to = frontier.next_slot(&self.geometry);
        let moved = self.mapping.move_slots(slots, to, |from, to| self.flash.copy(from, to));
        frontier.take_slots(moved);
        self.blocks.invalidate_units(block, moved);
        moved
    }

    /// As [`Ftl::move_slots`], one by one where the map is cached: what the look-up of a unit loads or evicts depends on
    /// where the units before it have gone.
    #[cold]
    fn move_slots_and_look_up(&mut self, slots: &[u32], die: DieId, purpose: Purpose) -> u32 {
        let mut moved = 0;
        for from in slots.iter().copied().map(Ppn) {
            if self.mapping.owner(from).is_some() {
                self.move_unit(from, die, purpose);
                moved += 1;
            }
        }
        moved
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
    pub(in crate::ftl) fn move_unit(&mut self, from: Ppn, die: DieId, purpose: Purpose) {
        let to = self.dies[usize::from(die.0)].frontier_mut(purpose).take_slot(&self.geometry);
        let lpn = self.mapping.move_slot(from, to);
        self.blocks.invalidate(self.geometry.block(from));
        self.flash.copy(from, to);
        if self.map_cache.is_some() {
            self.touch_map(lpn, true);
        }
    }
}
