//! Programs and erases that wait once they are loaded: for the processor that moves go through
//! ([`super::move_processor`]), and for a share of the budget that limits how many dies do it at once
//! ([`super::program_budget`]).
//!
//! Loading and programming are then two events: with its row loaded a die waits, free for reads meanwhile. What it has
//! still to do stands where that of an interrupted program does.

use crate::block::Completion;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::activity::Activity;
use crate::units::Nanos;

impl<C: Contents> Ssd<C> {
    /// A row of the host is loaded, to be programmed for so long.
    pub(super) fn load_host_row(&mut self, die: usize, programmed: Nanos) {
        let load = self.load_time(die);
        let loaded = self.dies.reserve_channel(die, self.now, load);
        self.stage(die, Activity::Programming, loaded, programmed);
    }

    /// Programs of moves may have to wait once they are loaded.
    #[inline(always)]
    pub(super) fn stages_moves(&self) -> bool {
        self.dies.budget.is_some() || !self.dies.move_processor.is_free()
    }

    /// A die has what it erases at `loaded`, and does so for so long, at once if there is no budget.
    pub(super) fn erase_array(&mut self, die: usize, loaded: Nanos, array: Nanos) {
        if self.dies.budget.is_none() {
            return self.dies.begin(die, Activity::Erasing, self.now, loaded + array);
        }
        self.stage(die, Activity::Erasing, loaded, array);
    }

    /// A die has what it needs at `loaded`; then its array works for so long, when it may.
    pub(super) fn stage(&mut self, die: usize, activity: Activity, loaded: Nanos, array: Nanos) {
        self.dies.get_mut(die).suspended = Some((activity, array));
        self.dies.begin(die, Activity::Loading, self.now, loaded);
    }

    /// A die has loaded what it is to program: reads that came meanwhile go first.
    pub(super) fn loaded(&mut self, die: usize) {
        self.dies.end_load(die, self.now, &mut self.ftl.counters);
        self.work(die);
    }

    /// Goes on with what reads have interrupted, or begins what has only been loaded, if nothing is to be waited for.
    pub(super) fn resume(&mut self, die: usize, activity: Activity, left: Nanos) {
        let mut resume = self.shape.times.suspend.unwrap_or(Nanos::ZERO);
        if let Some(done) = self.dies.move_processor.done_with(die) {
            if done > self.now {
                self.dies.get_mut(die).suspended = Some((activity, left));
                return self.dies.hold_until(die, done);
            }
            self.dies.move_processor.let_go(die);
            resume = Nanos::ZERO;
        }
        if let Some(budget) = &mut self.dies.budget
            && !budget.is_held(die)
        {
            if !budget.take(die) {
                self.dies.get_mut(die).suspended = Some((activity, left));
                return self.dies.hold(die);
            }
            resume = Nanos::ZERO;
        }
        self.dies.begin(die, activity, self.now, self.now + resume + left);
    }

    /// A row of the host is programmed.
    pub(super) fn programmed(&mut self, die: usize, done: &mut Vec<Completion>) {
        self.row_written(die, done);
        if self.dies.some_wait() {
            self.recall_waiting();
        }
        self.give_back_share(die);
        self.work(die);
        self.feed_others();
    }

    /// A die has programmed or erased: the share that it had goes to whoever waits for it.
    #[inline(always)]
    pub(super) fn give_back_share(&mut self, die: usize) {
        if self.dies.budget.is_some()
            && let Some(next) = self.dies.give_back_share(die)
        {
            self.work(next);
        }
    }
}
