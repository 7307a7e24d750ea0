//! Runs of moves are begun, brought up to date before somebody meets them, and ended.
//!
//! The outcome is that of an event for each move, to the nanosecond: a run's moves take the channel in the order in
//! which their events would have come, and each is carried out before anything that could see or change what it does.
//! A run ends with an event of its own: its look ahead is never later than the first move that is not alike.

use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::activity::Activity;
use crate::ssd::move_runs::{MoveRuns, Run};
use crate::units::{DieId, Lpn, Nanos};

/// Shorter runs have an event for each move: a run has one more event than it has moves without one, and takes a
/// place in its channel's order. An assumption, not a measurement; the outcome is the same whatever it is.
const LEAST_MOVES: u32 = 4;

impl<C: Contents> Ssd<C> {
    /// A die has begun the first move of a job, or of a new block; what follows is alike, and may be a run. The
    /// next move begins at `next`.
    pub(super) fn begin_run(&mut self, die: usize, next: Nanos) {
        let is_seen = C::KEEPS || self.dies.is_recording() || self.buffer.is_present();
        if is_seen || self.shape.times.copyback || self.dies.get(die).is_interrupted() {
            return;
        }
        let left = self.ftl.moves_ahead(DieId(die as u16));
        if left < LEAST_MOVES {
            return;
        }
        let run = Run::new(die as u32, self.ftl.victim(DieId(die as u16)), left, next);
        self.dies.runs.begin(self.dies.channel_of(die), run);
        self.look_ahead(run);
    }

    /// The die's event is when its run may be over, were the channel always free.
    fn look_ahead(&mut self, run: Run) {
        let least = self.ftl.flash.array.least_move() + self.shape.times.channel_move;
        let over = run.next + Nanos(least.0 * u64::from(run.left));
        self.dies.go_on(run.die as usize, Activity::MovingRun, over);
    }

    /// A run may be over: it goes on if it had to wait for the channel.
    #[inline(never)]
    pub(super) fn look_at_run(&mut self, die: usize) {
        let channel = self.dies.channel_of(die);
        self.catch_up(channel);
        if let Some(run) = self.dies.runs.get(channel, die) {
            self.look_ahead(run);
        }
    }

    /// Lets the runs of a channel begin the moves that begin before now.
    #[inline(never)]
    pub(super) fn catch_up(&mut self, channel: usize) {
        let data = self.shape.times.channel_move;
        let Some(array) = self.ftl.flash.array.native_move() else { return self.catch_up_by_row(channel, data) };
        while let Some(over) = self.dies.carry_on(channel, self.now, data, |_| array) {
            self.end_run(&over);
        }
    }

    /// As [`Ssd::catch_up`], where rows take different times.
    #[inline(never)]
    fn catch_up_by_row(&mut self, channel: usize, data: Nanos) {
        loop {
            let array = |run: &Run| {
                let (programmed, sensing) = self.ftl.move_times(DieId(run.die as u16), run.begun);
                programmed + sensing
            };
            let Some(over) = self.dies.carry_on(channel, self.now, data, array) else { return };
            self.end_run(&over);
        }
    }

    /// A run is over: its die goes on event by event.
    #[inline(never)]
    fn end_run(&mut self, over: &Run) {
        self.do_moves(over);
        self.dies.go_on(over.die as usize, Activity::MovingOn, over.next);
    }

    /// Does what the moves do that a run has begun.
    fn do_moves(&mut self, run: &Run) {
        let (die, data) = (DieId(run.die as u16), self.shape.times.channel_move);
        let (_, sensing) = self.ftl.move_times(die, run.begun - 1);
        self.ftl.counters.die_move_ns += self.dies.note_moves(run, sensing).0;
        self.ftl.counters.channel_move_ns += data.0 * u64::from(run.begun);
        self.ftl.move_units(die, run.begun);
    }

    /// Does what the moves do that a die's run has begun before now.
    fn bring_up_to_date(&mut self, die: usize) {
        let channel = self.dies.channel_of(die);
        self.catch_up(channel);
        if let Some(run) = self.dies.runs.take_begun(channel, die) {
            self.do_moves(&run);
        }
    }

    /// Brings a channel up to date before somebody takes it.
    #[inline(always)]
    pub(super) fn catch_up_for(&mut self, die: usize) {
        if self.dies.runs.any() && self.dies.runs.any_on(self.dies.channel_of(die)) {
            self.catch_up(self.dies.channel_of(die));
        }
    }

    /// Brings all dies up to date.
    pub(super) fn catch_up_all(&mut self) {
        self.dies.runs.serve(MoveRuns::LAST);
        for channel in 0..self.dies.runs.channels() {
            self.catch_up(channel);
            for place in 0..self.dies.runs.count_on(channel) {
                if let Some(run) = self.dies.runs.take_begun_at(channel, place) {
                    self.do_moves(&run);
                }
            }
        }
    }

    /// All dies go on event by event.
    pub(super) fn leave_runs(&mut self) {
        self.dies.runs.serve(MoveRuns::LAST);
        (0..self.dies.count()).for_each(|die| self.leave_run(die));
    }

    /// Somebody asks where a unit is, or changes it: if a run is moving its block, that run ends.
    #[inline(always)]
    pub(super) fn meet_unit(&mut self, lpn: Lpn) {
        if self.dies.runs.any() && self.dies.runs.empties(self.ftl.block_of(lpn)) {
            self.meet_run(lpn);
        }
    }

    /// The unit may have moved before now; else its die goes on event by event.
    #[cold]
    fn meet_run(&mut self, lpn: Lpn) {
        let Some(die) = self.ftl.collecting_die(lpn) else { return };
        self.bring_up_to_date(usize::from(die.0));
        if self.ftl.collecting_die(lpn) == Some(die) {
            self.leave_run(usize::from(die.0));
        }
    }

    /// A die goes on event by event, if it has a run.
    pub(super) fn leave_run(&mut self, die: usize) {
        self.bring_up_to_date(die);
        if let Some(run) = self.dies.runs.take(self.dies.channel_of(die), die) {
            self.dies.go_on(die, Activity::MovingOn, run.next);
        }
    }
}
