//! What a die does next, and how long it takes.
//!
//! ```text
//!   idle ──► sensing ──► sending ──► idle            a read: tR, then the channel
//!   idle ──► writing ──► idle                        a row: the channel, then tPROG
//!   idle ──► gathering ─┬► gathering …               a job: rows are read into the controller,
//!                       └► moving ──► …              programmed again, and the victim is erased
//!   idle ──► erasing ──► idle
//!   writing, moving, erasing ──► suspended by a read (where the flash can) ──► resumed
//! ```
//! What each does is in a file of its own: `die/reads.rs`, `die/rows.rs` (host writes), `die/jobs.rs`.
//!
//! Order: reads, then a job that must run, then host writes, then a job that may wait. A move's
//! data-out and data-in are one tenure of the channel.

mod jobs;
mod reads;
mod rows;

use crate::block::{Completion, Operation};
use crate::ftl::Ftl;
use crate::nand::contents::Contents;
use crate::nand::geometry::Geometry;
use crate::nand::reliability::ReadOutcome;
use crate::sim::calendar::{Calendar, Event};
use crate::ssd::host::{Owner, Unit};
use crate::ssd::{Lane, Ssd};
use crate::units::{BlockId, DieId, Nanos, Ppn};
use serde::Serialize;
use std::collections::VecDeque;

/// Who a flash read is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOwner {
    /// A host command.
    Command(u32),
    /// A parked unit that a write covers in part.
    Parked(u32),
    /// The map, and the command that cannot go on without it.
    Map(Option<u32>),
}

/// A row to be sensed, and how much of it crosses the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashRead {
    /// Block.
    pub block: BlockId,
    /// First row in the block.
    pub row: u32,
    /// Rows, of a unit that is larger than one.
    pub rows: u32,
    /// Bytes asked for.
    pub bytes: u32,
    /// Who waits.
    pub owner: ReadOwner,
}

impl FlashRead {
    /// The read of a whole mapping unit.
    pub fn of_unit<C: Contents>(ftl: &Ftl<C>, ppn: Ppn, owner: ReadOwner) -> FlashRead {
        let Geometry { rows_per_unit: rows, unit_bytes: bytes, .. } = ftl.geometry;
        FlashRead { block: ftl.geometry.block(ppn), row: ftl.row(ppn), rows, bytes, owner }
    }
}

/// What a die is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// Nothing.
    #[default]
    Idle,
    /// Between two operations, while the next is chosen: reads that come up queue.
    Choosing,
    /// Array to register, for the host or the map.
    Sensing,
    /// Register to controller.
    Sending,
    /// Data in and program, for the host.
    Writing,
    /// Array to register, for a move.
    Gathering,
    /// Data out, data in and program, for a move.
    Moving,
    /// A move, and array to register for the next one: two operations, one event, never recorded as such.
    MovingOn,
    /// Erase.
    Erasing,
}

/// One recorded operation of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Which die.
    pub die: u16,
    /// What it did.
    pub kind: Activity,
    /// From.
    pub start_ns: u64,
    /// To.
    pub end_ns: u64,
}

/// A die's queue and what is under way. In this order what each move touches lies in one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Die<S> {
    channel: u32,
    began: Nanos,
    /// While [`Activity::MovingOn`]: the end of the move. No read waits then and nothing is suspended; a
    /// read that comes parts the move from the sensing.
    move_ends: Nanos,
    /// Channel time of the units gathered for the open move.
    gathered_transfer: Nanos,
    /// Who waits for the row that is being programmed, where it is one unit alone.
    lone: Option<Owner>,
    /// Else the units of the row.
    row: Vec<Owner>,
    reads: VecDeque<FlashRead>,
    /// Interrupted by reads: what, and how long it would still have taken.
    suspended: Option<(Activity, Nanos)>,
    /// Array time of a gathered row whose sensing was put off by a read.
    unsensed: Option<Nanos>,
    current: Option<(FlashRead, ReadOutcome)>,
    /// Units whose old contents are being read.
    parked: Vec<Option<Unit<S>>>,
}

impl<S> Die<S> {
    /// An idle die on a channel.
    pub fn new(channel: u32) -> Die<S> {
        Die {
            channel,
            began: Nanos::ZERO,
            reads: VecDeque::new(),
            current: None,
            lone: None,
            row: Vec::new(),
            parked: Vec::new(),
            suspended: None,
            gathered_transfer: Nanos::ZERO,
            move_ends: Nanos::ZERO,
            unsensed: None,
        }
    }
}

impl<S: Copy> Die<S> {
    /// Keeps a unit until its old contents are there; returns where.
    pub fn park(&mut self, unit: Unit<S>) -> u32 {
        let free = self.parked.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.parked.push(None);
            self.parked.len() - 1
        });
        self.parked[place] = Some(unit);
        place as u32
    }

    /// Units that wait for their old contents.
    pub fn parked_units(&mut self) -> impl Iterator<Item = &mut Unit<S>> {
        self.parked.iter_mut().flatten()
    }

    /// A parked unit is not to be written after all; its slot is given back when the read ends.
    pub fn drop_parked(&mut self, owner: Owner) {
        for unit in self.parked.iter_mut().flatten().filter(|unit| unit.owner == owner) {
            unit.bytes = 0;
        }
    }
}

impl<C: Contents> Ssd<C> {
    /// The time of a die's activity has come.
    #[inline(always)]
    pub(super) fn die_event(&mut self, Event { slot: die, kind }: Event, done: &mut Vec<Completion>) {
        debug_assert_eq!(kind, self.activities[die] as u8, "the event is the activity's end");
        // First what comes by far most often when a drive is written to.
        if kind == Activity::MovingOn as u8 {
            return self.moved_and_sensed(die);
        }
        if kind == Activity::Writing as u8 {
            self.row_written(die, done);
            self.end_span_of(die, Activity::Writing, self.now);
            self.work(die);
            return self.feed_others();
        }
        if kind == Activity::Sensing as u8 {
            return self.sensed(die);
        }
        self.other_event(die, done);
    }

    /// What comes less often. Out of line: it would take registers from what comes most often.
    #[inline(never)]
    fn other_event(&mut self, die: usize, done: &mut Vec<Completion>) {
        match self.activities[die] {
            Activity::Gathering => {
                self.end_span(die);
                return self.gathered(die);
            }
            Activity::Sending => self.sent(die, done),
            Activity::Moving | Activity::Erasing => {}
            activity => unreachable!("no event of its own: {die} {activity:?} {:?}", self.now),
        }
        self.end_span(die);
        self.work(die);
        self.feed_others();
    }

    /// A superblock may have been sealed or freed, for which other dies waited.
    #[inline(always)]
    fn feed_others(&mut self) {
        if self.ftl.jobs_span_dies() {
            self.feed_dies();
        }
    }

    /// Finds the next work of a die that has just become free.
    #[inline(always)]
    fn work(&mut self, die: usize) {
        let state = &self.dies[die];
        let is_interrupted = !state.reads.is_empty() || state.suspended.is_some();
        if is_interrupted || self.ftl.has_job(DieId(die as u16)) {
            self.choose_work(die);
        } else if !self.pending.is_empty() {
            if !self.write_pending(die) {
                self.choose_work(die);
            }
        } else if self.idle_work || self.ftl.is_smooth() {
            self.choose_work(die);
        } else {
            self.lay_idle(die);
        }
    }

    fn choose_work(&mut self, die: usize) {
        self.activities[die] = Activity::Choosing;
        if let Some(read) = self.dies[die].reads.pop_front() {
            return self.sense(die, read);
        }
        if let Some((activity, left)) = self.dies[die].suspended.take() {
            let resume = self.times.suspend.unwrap_or(Nanos::ZERO);
            return self.busy(die, activity, self.now + resume + left);
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
        !self.ftl.is_smooth() || self.ftl.owes(die) || !self.may_start_row()
    }

    fn work_in_spare_time(&mut self, die: usize) {
        let id = DieId(die as u16);
        let starts = self.idle_work && self.ftl.wants_idle_collection(id)
            || self.ftl.is_smooth() && self.ftl.wants_collection(id);
        // With superblocks a job that starts may have nothing to do on this die: its block may be bad.
        if !self.rests && (self.ftl.has_job(id) || starts && self.start_job(die) && self.ftl.has_job(id)) {
            return self.job_step(die);
        }
        if let Some(read) = self.dies[die].reads.pop_front() {
            return self.sense(die, read);
        }
        self.lay_idle(die);
    }

    /// A die has nothing to do.
    #[inline(always)]
    fn lay_idle(&mut self, die: usize) {
        self.activities[die] = Activity::Idle;
        self.calendar.take_back(die);
        self.idle[die / 64] |= 1 << (die % 64);
    }

    #[inline(always)]
    fn busy(&mut self, die: usize, activity: Activity, until: Nanos) {
        self.dies[die].began = self.now;
        self.idle[die / 64] &= !(1 << (die % 64));
        self.set_activity(die, activity, until);
    }

    /// Sets what a die does, and until when; the calendar tells it again at the end.
    #[inline(always)]
    fn set_activity(&mut self, die: usize, activity: Activity, until: Nanos) {
        self.activities[die] = activity;
        self.calendar.schedule(until, Event { slot: die, kind: activity as u8 });
    }

    /// Adds an activity to the counters and, where wanted, to the timeline.
    #[inline]
    fn end_span(&mut self, die: usize) {
        self.end_span_of(die, self.activities[die], self.now);
    }

    #[inline(always)]
    fn end_span_of(&mut self, die: usize, activity: Activity, end: Nanos) {
        let began = self.dies[die].began;
        let length = end.0 - began.0;
        let counters = &mut self.ftl.counters;
        match activity {
            Activity::Sensing | Activity::Sending => counters.die_host_read_ns += length,
            Activity::Writing => counters.die_host_write_ns += length,
            Activity::Gathering | Activity::Moving | Activity::MovingOn => counters.die_move_ns += length,
            Activity::Erasing => counters.die_erase_ns += length,
            Activity::Idle | Activity::Choosing => {}
        }
        if let Some(recording) = &mut self.recording
            && end >= recording.from
            && began < recording.to
        {
            recording.spans.push(Span { die: die as u16, kind: activity, start_ns: began.0, end_ns: end.0 });
        }
    }

    /// Carries out what lookups and changes of a demand-cached map cost; returns the number of
    /// flash reads, for which the command `waits`.
    #[inline]
    pub(super) fn drain_map_work(&mut self, waits: Option<u32>) -> u32 {
        if self.ftl.map_cache.is_some() { self.queue_map_work(waits) } else { 0 }
    }

    #[cold]
    fn queue_map_work(&mut self, waits: Option<u32>) -> u32 {
        let Some(cache) = &mut self.ftl.map_cache else { return 0 };
        if cache.loads.is_empty() && cache.evictions.is_empty() {
            return 0;
        }
        let (loads, evictions) = (std::mem::take(&mut cache.loads), std::mem::take(&mut cache.evictions));
        let geometry = self.ftl.geometry;
        for &ppn in &loads {
            self.queue_read(FlashRead::of_unit(&self.ftl, ppn, ReadOwner::Map(waits)));
        }
        for lpn in evictions {
            let stamp = self.ftl.flash.contents.stamp(lpn);
            self.pending.push_back(Unit { lpn, owner: Owner::Drive, bytes: geometry.unit_bytes, stamp });
        }
        loads.len() as u32
    }

    /// The host waits for nothing any more.
    pub(super) fn start_idling(&mut self) {
        if let Some(after) = self.config.ftl.idle_gc_after_ms {
            self.lanes.push(Lane::Idle as usize, self.now + after.0, 0);
        }
    }

    /// A command has come.
    pub(super) fn end_idling(&mut self) {
        if self.config.ftl.idle_gc_after_ms.is_some() {
            self.idle_work = false;
            self.lanes.clear(Lane::Idle as usize);
        }
    }

    pub(super) fn idle_event(&mut self) {
        self.rests = false;
        self.ftl.backlog.clear();
        self.idle_work = true;
        for die in 0..self.dies.len() {
            if self.activities[die] == Activity::Idle {
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
        for die in 0..self.dies.len() {
            if self.ftl.has_job(DieId(die as u16)) && self.activities[die] == Activity::Idle {
                self.work(die);
            }
        }
        self.feed_dies();
    }

    /// After a power cut: nothing is under way; a row that was counts as programmed, and jobs go on
    /// with the next write.
    pub(super) fn restart(&mut self, now: Nanos) {
        for die in 0..self.dies.len() {
            self.dies[die] = Die::new(self.dies[die].channel);
        }
        let config = self.config.clone();
        let placeholder = crate::ssd::buffer::Buffer::new(&config, &self.ftl.geometry);
        self.buffer = placeholder;
        self.front = crate::ssd::host::Front::default();
        self.forget_changes();
        self.activities.fill(Activity::Idle);
        self.parked = 0;
        self.followers.clear();
        self.calendar = Calendar::new(self.dies.len());
        self.lanes = Default::default();
        self.idle.fill(0);
        for die in 0..self.dies.len() {
            self.idle[die / 64] |= 1 << (die % 64);
        }
        self.idle_work = false;
        self.rests = true;
        self.now = now;
        if let Some(cache) = &mut self.ftl.map_cache {
            cache.loads.clear();
        }
    }
}
