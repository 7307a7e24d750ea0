//! What a die does next.
//!
//! ```text
//!   idle ──► sensing ──► sending ──► idle            a read: tR, then the channel
//!   idle ──► writing ──► idle                        a row: the channel, then tPROG
//!   idle ──► gathering ─┬► gathering …               a job: rows are read into the controller,
//!                       └► moving ──► …              programmed again, and the victim is erased
//!   idle ──► erasing ──► idle
//!   writing, moving, erasing ──► suspended by a read (where the flash can) ──► resumed
//!   loading ──► held, or programming, moving, erasing           where programs have to wait (`staged`)
//! ```
//! An erase waits for rows under way that superseded units of its block: until they are programmed the block
//! holds the newest whole copy.
//!
//! Order: reads, then a job that must run, then host writes, then a job that may wait. A move's
//! data-out and data-in are one tenure of the channel.

use crate::block::{Completion, Operation};
use crate::nand::contents::Contents;
use crate::sim::calendar::Event;
use crate::ssd::Ssd;
use crate::ssd::activity::Activity;
use crate::units::{DieId, Nanos};

impl<C: Contents> Ssd<C> {
    /// The time of a die's activity has come.
    #[inline(always)]
    pub(super) fn die_event(&mut self, Event { slot: die, kind }: Event, done: &mut Vec<Completion>) {
        debug_assert_eq!(kind, self.dies.activity(die) as u8, "the event is the activity's end");
        const WRITING: u8 = Activity::Writing as u8;
        const GATHERING: u8 = Activity::Gathering as u8;
        const MOVING: u8 = Activity::Moving as u8;
        const MOVING_ON: u8 = Activity::MovingOn as u8;
        const SENSING: u8 = Activity::Sensing as u8;
        // Each end but the one that comes most often as a drive is written to is a function of its own: inlined they would
        // take registers from each other.
        match kind {
            WRITING => {
                self.row_written(die, done);
                if self.dies.some_wait() {
                    self.recall_waiting();
                }
                self.work(die);
                self.feed_others();
            }
            GATHERING => self.gathering_ended(die),
            MOVING => self.move_ended(die),
            MOVING_ON => self.moved_and_sensed(die),
            SENSING => self.sensed(die),
            _ => self.other_event(die, done),
        }
    }

    #[inline(never)]
    fn gathering_ended(&mut self, die: usize) {
        self.end_span_of(die, Activity::Gathering);
        self.gathered(die);
    }

    #[inline(never)]
    fn move_ended(&mut self, die: usize) {
        // Of a move nothing but contents has to hear.
        if C::KEEPS {
            self.ftl.program_ended(DieId(die as u16));
        }
        self.end_operation(die, Activity::Moving);
    }

    /// What comes less often.
    #[inline(never)]
    fn other_event(&mut self, die: usize, done: &mut Vec<Completion>) {
        let activity = self.dies.activity(die);
        match activity {
            Activity::MovingRun => return self.look_at_run(die),
            Activity::Loading => return self.loaded(die),
            Activity::Held => return self.work(die),
            Activity::Programming => return self.programmed(die, done),
            Activity::Sending => self.sent(die, done),
            Activity::Erasing => self.ftl.erase_ended(DieId(die as u16)),
            _ => unreachable!("no event of its own: {die} {activity:?} {:?}", self.now),
        }
        self.end_operation(die, activity);
    }

    /// What a die did has ended, and it finds its next work.
    #[inline(always)]
    fn end_operation(&mut self, die: usize, activity: Activity) {
        self.end_span_of(die, activity);
        self.give_back_share(die);
        self.work(die);
        self.feed_others();
    }

    /// A row was programmed: dies whose erase waits for it look again.
    #[cold]
    pub(super) fn recall_waiting(&mut self) {
        for die in self.dies.take_waiting() {
            self.work(die);
        }
    }

    /// A superblock may have been sealed or freed, for which other dies waited.
    #[inline(always)]
    pub(super) fn feed_others(&mut self) {
        if self.ftl.jobs_span_dies() {
            self.feed_dies();
        }
    }

    /// Finds the next work of a die that has just become free.
    #[inline(always)]
    pub(super) fn work(&mut self, die: usize) {
        if self.dies.get(die).is_interrupted() {
            self.choose_work(die);
        } else if self.ftl.has_job(DieId(die as u16)) {
            self.work_on_job(die);
        } else if !self.pending.is_empty() {
            if !self.write_pending(die) {
                self.choose_work(die);
            }
        } else if self.idle_work || self.ftl.is_smooth() {
            self.choose_work(die);
        } else {
            self.dies.lay_idle(die);
        }
    }

    /// As [`Ssd::choose_work`], of a die with a job and no read: mostly the job goes on.
    #[inline(always)]
    fn work_on_job(&mut self, die: usize) {
        if self.rests || !self.ftl.job_is_due(DieId(die as u16)) {
            return self.choose_work(die);
        }
        self.dies.choose(die);
        self.job_step(die);
    }

    fn choose_work(&mut self, die: usize) {
        self.dies.choose(die);
        let state = self.dies.get_mut(die);
        if let Some(read) = state.reads.pop_front() {
            return self.sense(die, read, Nanos::ZERO);
        }
        if let Some((activity, left)) = state.suspended.take() {
            return self.resume(die, activity, left);
        }
        let id = DieId(die as u16);
        if self.ftl.has_job(id) && !self.rests && self.job_goes_first(id) {
            return self.job_step(die);
        }
        if self.may_start_row() && self.start_row(die) {
            return;
        }
        self.work_in_spare_time(die);
    }

    /// Batches run to their end; a smooth job takes what host writes owe it, or the die's spare time.
    fn job_goes_first(&mut self, die: DieId) -> bool {
        self.ftl.job_is_due(die) || !self.may_start_row()
    }

    fn work_in_spare_time(&mut self, die: usize) {
        let id = DieId(die as u16);
        let starts = self.idle_work && self.ftl.wants_idle_collection(id)
            || self.ftl.is_smooth() && self.ftl.wants_collection(id);
        // With superblocks a job that starts may have nothing to do on this die: its block may be bad.
        if !self.rests && (self.ftl.has_job(id) || starts && self.start_job(die) && self.ftl.has_job(id)) {
            return self.job_step(die);
        }
        if let Some(read) = self.dies.get_mut(die).reads.pop_front() {
            return self.sense(die, read, Nanos::ZERO);
        }
        self.dies.lay_idle(die);
    }

    /// Sends the command and address cycles of an operation without data over the channel; returns
    /// when the die has them. Cycles of no length need no channel.
    #[inline]
    pub(super) fn issue_cycles(&mut self, die: usize) -> Nanos {
        match self.shape.times.flash_command {
            Nanos::ZERO => self.now,
            cycles => self.reserve_channel(die, cycles),
        }
    }

    /// Takes a die's channel now, or as soon as it is free; returns when the transfer is done.
    #[inline(always)]
    pub(super) fn reserve_channel(&mut self, die: usize, length: Nanos) -> Nanos {
        self.catch_up_for(die);
        self.dies.reserve_channel(die, self.now, length)
    }

    /// What a die does has ended now, and is counted.
    #[inline]
    pub(super) fn end_span(&mut self, die: usize) {
        self.end_span_of(die, self.dies.activity(die));
    }

    /// As [`Ssd::end_span`], where it is known what the die does.
    #[inline(always)]
    fn end_span_of(&mut self, die: usize, activity: Activity) {
        self.dies.end_span(die, activity, self.now, &mut self.ftl.counters);
    }

    /// The drive has been idle for long enough.
    #[cold]
    pub(super) fn idle_event(&mut self) {
        self.rests = false;
        self.ftl.backlog.clear();
        self.idle_work = true;
        for die in 0..self.dies.count() {
            if self.dies.activity(die) == Activity::Idle {
                self.work(die);
            }
        }
    }

    /// A drive that was preconditioned or switched off goes on with the first write or trim: the buffer is
    /// as full as under load, and dies take up the jobs that lie there.
    #[cold]
    pub(super) fn go_on_with(&mut self, operation: Operation) {
        if !operation.changes_data() {
            return;
        }
        self.rests = false;
        self.fill_buffer();
        for die in 0..self.dies.count() {
            if self.ftl.has_job(DieId(die as u16)) && self.dies.activity(die) == Activity::Idle {
                self.work(die);
            }
        }
        self.feed_dies();
    }
}
