//! Jobs: rows of a victim are gathered, programmed again, and the victim is erased.

use crate::ftl::job::SourceRow;
use crate::ftl::reclaim::Step;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::activity::Activity;
use crate::ssd::shape::Times;
use crate::units::{DieId, Nanos};

impl<C: Contents> Ssd<C> {
    pub(super) fn start_job(&mut self, die: usize) -> bool {
        let started = self.ftl.start_job(DieId(die as u16));
        if started && self.ftl.jobs_span_dies() {
            // A superblock's other dies begin as well, those without work at once.
            for other in self.ftl.dies_sharing(DieId(die as u16)).filter(|other| *other != die) {
                if self.dies.activity(other) == Activity::Idle {
                    self.work(other);
                }
            }
        }
        started
    }

    /// The next step of the die's job, whose activity it becomes.
    #[inline]
    pub(super) fn job_step(&mut self, die: usize) {
        let id = DieId(die as u16);
        if let Some(array) = self.dies.get_mut(die).unsensed.take() {
            return self.dies.begin(die, Activity::Gathering, self.now, self.now + array);
        }
        match self.ftl.job_step(id) {
            Step::Read(source) => {
                let issued = self.issue_cycles(die);
                let array = self.gather(die, source);
                self.dies.begin(die, Activity::Gathering, self.now, issued + array);
            }
            Step::Program => self.program_held(die),
            Step::Erase if self.ftl.erase_waits(id) => self.dies.wait(die),
            Step::Erase => {
                let time = self.ftl.finish_job(id);
                let issued = self.issue_cycles(die);
                self.erase_array(die, issued, time);
            }
        }
    }

    /// A source row of a move is sensed; returns how long that takes, with its read retries and what its units cost.
    #[inline(always)]
    fn gather(&mut self, die: usize, source: SourceRow) -> Nanos {
        let outcome = self.ftl.flash.read(source.block, &mut self.ftl.counters);
        let array = self.ftl.flash.array.read_time(source.block, source.row, self.ftl.geometry.rows_per_unit);
        let Times { channel_unit, move_unit, .. } = self.shape.times;
        self.dies.get_mut(die).gathered_transfer += Nanos(channel_unit.0 * u64::from(source.units));
        Nanos(array.0 * u64::from(1 + outcome.retries) + move_unit.0 * u64::from(source.units))
    }

    /// A move has ended, and the next source row is in the register: two operations, one event.
    #[inline(never)]
    pub(super) fn moved_and_sensed(&mut self, die: usize) {
        if C::KEEPS {
            self.ftl.program_ended(DieId(die as u16));
        }
        if self.dies.is_recording() {
            self.end_move(die);
            self.dies.rename_activity(die, Activity::Gathering);
            self.end_span(die);
            return self.gathered(die);
        }
        self.catch_up_for(die);
        let state = self.dies.get_mut(die);
        self.ftl.counters.die_move_ns += self.now.0 - state.began.0;
        debug_assert!(!state.is_interrupted(), "a read parts a move from what follows");
        let common = if self.shape.times.copyback { None } else { self.ftl.move_on(DieId(die as u16)) };
        let Some((programmed, next)) = common else {
            self.dies.rename_activity(die, Activity::Gathering);
            return self.gathered(die);
        };
        let times = &self.shape.times;
        let data = state.gathered_transfer + times.channel_row;
        self.ftl.counters.channel_move_ns += data.0;
        state.began = self.now;
        state.gathered_transfer = if next.is_some() { times.channel_unit } else { Nanos::ZERO };
        self.dies.move_again(die, self.now, data, programmed, next);
    }

    /// The move has ended, after which the sensing of the next unit began.
    pub(super) fn end_move(&mut self, die: usize) {
        let ends = self.dies.get(die).move_ends;
        self.dies.end_span(die, Activity::Moving, ends, &mut self.ftl.counters);
        self.dies.get_mut(die).began = ends;
    }

    /// A source row is in the register: read on, or program what there is.
    #[inline(always)]
    pub(super) fn gathered(&mut self, die: usize) {
        if self.ftl.job_step_is_program(DieId(die as u16)) {
            return self.program_move(die);
        }
        self.gather_on(die);
    }

    /// Reads one more source row: the data of the one before leaves the register first.
    #[inline(never)]
    fn gather_on(&mut self, die: usize) {
        let out = std::mem::take(&mut self.dies.get_mut(die).gathered_transfer);
        let mut free = self.now;
        if !self.shape.times.copyback {
            free = self.reserve_channel(die, out + self.shape.times.flash_command);
            self.ftl.counters.channel_move_ns += out.0;
        }
        match self.ftl.job_step(DieId(die as u16)) {
            Step::Read(source) => {
                let array = self.gather(die, source);
                self.dies.begin(die, Activity::Gathering, self.now, free + array);
            }
            _ => self.program_held(die),
        }
    }

    /// As [`Ssd::program_move`], where that comes less often.
    #[inline(never)]
    fn program_held(&mut self, die: usize) {
        self.program_move(die);
    }

    #[inline(always)]
    fn program_move(&mut self, die: usize) {
        let out = std::mem::take(&mut self.dies.get_mut(die).gathered_transfer);
        let (programmed, moved) = match self.ftl.move_row_on(DieId(die as u16)) {
            Some(row) => row,
            None => self.program_in_general(die),
        };
        if self.ftl.is_smooth() {
            self.ftl.pay(DieId(die as u16));
        }
        if moved == 0 && out == Nanos::ZERO {
            return self.dies.begin(die, Activity::Moving, self.now, self.now);
        }
        if !self.shape.times.moves_at_once {
            return self.program_move_otherwise(die, out, programmed, moved);
        }
        let data = out + self.shape.times.channel_row;
        self.ftl.counters.channel_move_ns += data.0;
        self.catch_up_for(die);
        let load = data + self.shape.times.flash_command;
        if self.dies.move_row(die, self.now, load, programmed) {
            self.suspend(die);
        }
    }

    /// As [`Ssd::program_move`], where a move may be fused with the sensing behind it, or programs wait.
    #[inline(never)]
    fn program_move_otherwise(&mut self, die: usize, out: Nanos, programmed: Nanos, moved: u32) {
        let loaded = self.load_move(die, out);
        if self.stages_moves() {
            self.dies.move_processor.take(die, self.now, moved);
            return self.stage(die, Activity::Moving, loaded, programmed);
        }
        let ends = loaded + programmed;
        match self.sense_next_at_once(die, ends) {
            Some(sensed) => {
                self.dies.begin(die, Activity::MovingOn, self.now, sensed);
                self.begin_run(die, sensed);
            }
            None => {
                self.dies.begin(die, Activity::Moving, self.now, ends);
                // Reads that came while the move's sources were sensed.
                if !self.dies.get(die).reads.is_empty() {
                    self.suspend(die);
                }
            }
        }
    }

    /// What is gathered is programmed, and the map's pages that this needs are read and written.
    #[inline(never)]
    fn program_in_general(&mut self, die: usize) -> (Nanos, u32) {
        let outcome = self.ftl.program_gathered(DieId(die as u16));
        self.drain_map_work(None);
        outcome
    }

    /// Gathered data goes out over the channel and in again as a row, in one tenure with the program's
    /// cycles; with copyback the data stays in the register. Returns when the program may begin.
    #[inline(always)]
    fn load_move(&mut self, die: usize, out: Nanos) -> Nanos {
        if self.shape.times.copyback {
            return self.issue_cycles(die);
        }
        let data = out + self.shape.times.channel_row;
        self.ftl.counters.channel_move_ns += data.0;
        self.reserve_channel(die, data + self.shape.times.flash_command)
    }

    /// When nothing is to be decided at the end of a move, the sensing of the next row follows it in
    /// one event; returns when that is done. A read that comes in between parts the two again.
    #[inline(always)]
    fn sense_next_at_once(&mut self, die: usize, ends: Nanos) -> Option<Nanos> {
        let command_free = self.shape.times.flash_command == Nanos::ZERO;
        if !command_free || self.ftl.is_smooth() || self.dies.get(die).is_interrupted() {
            return None;
        }
        if !self.ftl.has_job(DieId(die as u16)) {
            return None;
        }
        let Step::Read(source) = self.ftl.job_step(DieId(die as u16)) else { return None };
        self.dies.get_mut(die).move_ends = ends;
        Some(ends + self.gather(die, source))
    }

    /// A host row was written while a job is due: it owes the job its share of rows.
    pub(super) fn owe(&mut self, die: usize) {
        let id = DieId(die as u16);
        if self.ftl.has_job(id) || self.ftl.wants_collection(id) && self.start_job(die) {
            self.ftl.owe(id);
        }
    }
}
