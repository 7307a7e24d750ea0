//! Runs of moves are begun, brought up to date before somebody meets them, and ended.
//!
//! The outcome is that of an event for each move, to the nanosecond: a run's moves take the channel in the order in
//! which their events would have come, and each is carried out before anything that could see or change what it does.
//! A run ends with an event of its own: its look ahead is never later than the first move that is not alike.

use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::dies::Activity;
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
        let run = Run { die: die as u32, left, next };
        self.dies.runs.begin(self.dies.channel_of(die), run);
        self.look_ahead(run);
    }

    /// The die's event is when its run may be over, were the channel always free.
    fn look_ahead(&mut self, run: Run) {
        let least = self.ftl.flash.array.least_move() + self.shape.times.channel_unit + self.shape.times.channel_row;
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

    /// Carries out what the runs of a channel have begun before now.
    #[inline(never)]
    pub(super) fn catch_up(&mut self, channel: usize) {
        let data = self.shape.times.channel_unit + self.shape.times.channel_row;
        let (busy, moves) = self.dies.carry_on(channel, self.now, data, |die| self.ftl.move_next(die));
        self.ftl.counters.die_move_ns += busy.0;
        self.ftl.counters.channel_move_ns += data.0 * moves;
    }

    /// Brings a channel up to date before somebody takes it.
    #[inline(always)]
    pub(super) fn catch_up_for(&mut self, die: usize) {
        let channel = self.dies.channel_of(die);
        if self.dies.runs.any_on(channel) {
            self.catch_up(channel);
        }
    }

    /// Brings all channels up to date.
    pub(super) fn catch_up_all(&mut self) {
        self.dies.runs.serve(MoveRuns::LAST);
        (0..self.dies.runs.channels()).for_each(|channel| self.catch_up(channel));
    }

    /// All dies go on event by event.
    pub(super) fn leave_runs(&mut self) {
        self.dies.runs.serve(MoveRuns::LAST);
        (0..self.dies.count()).for_each(|die| self.leave_run(die));
    }

    /// Somebody asks where a unit is, or changes it: if a run is moving its block, that run ends.
    #[inline(always)]
    pub(super) fn meet_unit(&mut self, lpn: Lpn) {
        if self.dies.runs.any()
            && let Some(die) = self.ftl.collecting_die(lpn)
        {
            self.leave_run(usize::from(die.0));
        }
    }

    /// A die goes on event by event, if it has a run.
    #[cold]
    pub(super) fn leave_run(&mut self, die: usize) {
        let channel = self.dies.channel_of(die);
        self.catch_up(channel);
        if let Some(run) = self.dies.runs.take(channel, die) {
            self.dies.go_on(die, Activity::MovingOn, run.next);
        }
    }
}
