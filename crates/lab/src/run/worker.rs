//! One clone of a job: when it may issue its next request, and which.
//!
//! A closed loop: up to `io_depth` requests are outstanding. What may hold a request back:
//! `rate`/`rate_iops` (request k is due when the bytes or requests before it are due at that rate;
//! one that is late is caught up), `thinktime` (after every `thinktime_blocks` requests the clone
//! waits for all its requests, then pauses), a recorded time of a timed replay, and a flush, during
//! which nothing else is issued. With rates for several directions the order of the mix is kept,
//! so the slower direction holds the faster one back; fio would change the mix instead. What depends on
//! how long requests took is in [`super::control`], what paces a clone by the clock in [`super::pace`].

use super::control::{Control, Held, Verdict};
use super::flow::Member;
use super::pace::Pace;
use super::rates::Rates;
use super::record::SteadyRecord;
use super::requests::RequestLog;
use super::tally::{Direction, Tally};
use crate::workload::generate::{Generator, JobError, Planned};
use crate::workload::job::{ByteRange, Job};
use crate::workload::random::{Purpose, Stream, mix};
use crate::workload::trace::TraceError;
use ssdlab_device::block::{Limits, Operation, Request, Status};
use ssdlab_device::units::{Lba, Nanos};

/// Requests the generator runs ahead at most, so that a device can fetch its map's cache lines in time.
pub const LOOKAHEAD: usize = 16;
/// Requests that are generated, and hinted at, together: their way through the address tables overlaps.
const BATCH: usize = LOOKAHEAD / 2;

/// What a worker wants at an instant.
pub enum Step {
    /// Issue this request, then say so: [`Worker::issued`].
    Issue(Request),
    /// Nothing before this time.
    Wait(Nanos),
    /// Nothing before one of its requests completes.
    Blocked,
    /// It may issue if the flow lets it; it has to look at its clock at this time in any case.
    Ask(Nanos),
    /// It has just ended.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its time has not come.
    Waiting,
    /// Issuing.
    Running,
    /// The queue was full and drains to `iodepth_low`.
    Draining,
    /// The next request depends on those of other jobs.
    Asking,
    /// A flush is under way; everything else waits.
    Flushing,
    /// All requests of a `thinktime` batch are issued; the pause begins when they are complete.
    Thinking,
    /// No more requests; the outstanding ones complete.
    Finishing,
    /// Over.
    Ended,
}

/// One clone of a job.
pub struct Worker {
    /// Index of the job in the run.
    pub job: usize,
    /// Which clone of it.
    pub clone: u32,
    /// What it measured.
    pub tally: Tally,
    /// What it measured at intervals.
    pub rates: Rates,
    /// Its requests, where a log of them is wanted.
    pub log: Option<Box<RequestLog>>,
    /// When its figures begin: its start, or the end of its ramp.
    pub measured_from: Nanos,
    /// When it ended.
    pub ended: Nanos,
    /// The error number that ended it, 0 for none.
    pub error: u32,
    /// Its state under fio's steady-state rule.
    pub steady: Option<SteadyRecord>,
    /// It is in the engine's queue of those that may issue.
    pub queued: bool,
    /// It logs its requests, or how they end matters to what comes.
    pub completes_apart: bool,
    /// The earliest time it has asked to be woken at, [`Nanos::NEVER`] for none.
    pub timer: Nanos,
    /// Its part in a flow.
    pub flow: Option<Member>,
    generator: Generator,
    /// The next request is at the head; half of the ring is refilled when the head has passed it.
    ring: [Option<Planned>; LOOKAHEAD],
    head: usize,
    phase: Phase,
    /// When it begins; never while it waits for another job.
    begins: Nanos,
    delay: Nanos,
    depth: u32,
    /// Once full, the queue drains to this.
    low: u32,
    tolerates: [bool; 4],
    outstanding: u32,
    deadline: Nanos,
    issued: u64,
    expected_bytes: Option<u64>,
    end_fsync: bool,
    /// `None` for the common job that is paced by its completions alone.
    pace: Option<Box<Pace>>,
    /// `None` for the common job that does not care how long its requests take.
    control: Option<Box<Control>>,
}

impl Worker {
    /// Prepares a clone; its time begins with [`Worker::start`].
    pub fn new(job: &Job, index: usize, clone: u32, limits: &Limits, seed: u64) -> Result<Worker, Box<JobError>> {
        let generator = Generator::new(job, clone, limits, seed).map_err(Box::new)?;
        let full = depth(job);
        let control = Control::of(job, full).map(Box::new);
        let mut stream = Stream::new(mix(seed).wrapping_add(u64::from(clone)), Purpose::Arrival);
        let (least, most) = job.start_delay;
        let delay = Nanos(least.0 + stream.below((most - least).0.saturating_add(1)));
        let tolerates = job.continue_on_error;
        Ok(Worker {
            flow: None,
            begins: Nanos::NEVER,
            delay,
            low: if job.depth_low > 0 { job.depth_low.min(full) } else { full },
            tolerates: [tolerates.read, tolerates.write, tolerates.trim, tolerates.write],
            job: index,
            clone,
            tally: Tally::default(),
            rates: Rates::new(job, Nanos::ZERO),
            log: None,
            measured_from: Nanos::ZERO,
            ended: Nanos::ZERO,
            error: 0,
            steady: None,
            queued: false,
            timer: Nanos::NEVER,
            ring: [None; LOOKAHEAD],
            head: 0,
            phase: Phase::Waiting,
            depth: control.as_ref().map_or(full, |control| control.first_depth(full)),
            outstanding: 0,
            deadline: Nanos::NEVER,
            issued: 0,
            expected_bytes: generator.total_bytes().filter(|&bytes| bytes > 0),
            end_fsync: job.end_fsync,
            pace: Pace::of(job, limits, stream).map(Box::new),
            control,
            completes_apart: false,
            generator,
        })
    }

    /// Why its trace could not be played to its end.
    pub fn fault(&self) -> Option<&TraceError> {
        self.generator.fault()
    }

    /// Begins at `now` or its `startdelay` later, and fills the look-ahead.
    pub fn start(&mut self, job: &Job, now: Nanos) {
        let now = now + self.delay;
        self.reset(job, now);
        self.begins = now;
        if self.delay == Nanos::ZERO {
            self.phase = Phase::Running;
        }
        if let Some(runtime) = job.runtime {
            self.deadline = now + job.ramp_time + runtime;
        }
        if let Some(pace) = &mut self.pace {
            pace.start(now);
        }
        if let Some(control) = &mut self.control {
            control.start(now);
        }
        for slot in &mut self.ring {
            *slot = self.generator.next();
        }
    }

    /// The next request, which may be issued at `now`: the common case, in which [`Worker::step`] would find the same.
    #[inline(always)]
    pub fn free_to_issue(&self, now: Nanos) -> Option<&Request> {
        let is_free = self.phase == Phase::Running && self.outstanding < self.depth && now < self.deadline;
        if !is_free || self.pace.is_some() {
            return None;
        }
        let request = &self.ring[self.head].as_ref()?.request;
        (request.operation != Operation::Flush).then_some(request)
    }

    /// What to do at `now`.
    pub fn step(&mut self, now: Nanos) -> Step {
        if self.phase != Phase::Running || self.outstanding >= self.depth {
            return self.step_held(now);
        }
        if now >= self.deadline {
            self.cut_short();
        }
        let Some(planned) = &self.ring[self.head] else {
            self.phase = Phase::Finishing;
            return self.step_held(now);
        };
        if planned.request.operation == Operation::Flush && !self.may_flush() {
            return Step::Blocked;
        }
        if let Some(pace) = &mut self.pace {
            let time = pace.not_before(planned);
            if time > now {
                return Step::Wait(Nanos(time.0.min(self.deadline.0)));
            }
            let pause = pace.issue(&planned.request, now);
            if pause {
                self.phase = Phase::Thinking;
            } else if self.flow.is_some() {
                self.phase = Phase::Asking;
            }
        }
        Step::Issue(planned.request)
    }

    /// The next request was issued, a `direction` of it: the one after it is next. True when half of the
    /// look-ahead was refilled.
    #[inline]
    pub fn issued(&mut self, direction: Direction) -> bool {
        self.outstanding += 1;
        if direction == Direction::Sync {
            self.phase = Phase::Flushing;
        } else {
            self.issued += 1;
            self.tally.issue(self.outstanding);
        }
        self.head = (self.head + 1) % LOOKAHEAD;
        let is_due = self.head.is_multiple_of(BATCH);
        if is_due {
            self.generator.refill(&mut self.ring[LOOKAHEAD - BATCH - self.head..][..BATCH]);
        }
        is_due
    }

    /// The flush of `end_fsync`, the last of all requests, waits for those before it: a device
    /// makes durable what it has acknowledged. One of `fsync` does not, as in fio.
    #[cold]
    fn may_flush(&self) -> bool {
        let is_last = self.ring[(self.head + 1) % LOOKAHEAD].is_none();
        self.outstanding == 0 || !(self.end_fsync && is_last)
    }

    /// Drops what was planned, but for the flush of `end_fsync`.
    #[cold]
    fn cut_short(&mut self) {
        self.deadline = Nanos::NEVER;
        self.generator.stop();
        let planned = self.ring.iter().flatten();
        let mut flushes = planned.filter(|planned| planned.request.operation == Operation::Flush);
        // Is the look-ahead beyond the job's end, the flush is already in it.
        let looked_ahead = flushes.next_back().copied().filter(|_| self.end_fsync);
        let closing = self.generator.next().or(looked_ahead);
        self.ring = [None; LOOKAHEAD];
        self.ring[self.head] = closing.map(|planned| Planned { not_before: None, ..planned });
        if let Some(pace) = &mut self.pace {
            pace.forget();
        }
    }

    fn step_held(&mut self, now: Nanos) -> Step {
        match self.phase {
            Phase::Waiting => self.step_waiting(now),
            Phase::Draining if self.outstanding <= self.low => {
                self.phase = Phase::Running;
                self.step(now)
            }
            Phase::Asking if now >= self.deadline => {
                self.phase = Phase::Running;
                self.step(now)
            }
            Phase::Asking if self.outstanding < self.depth => Step::Ask(self.deadline),
            Phase::Thinking if self.outstanding == 0 => {
                self.phase = if self.flow.is_some() { Phase::Asking } else { Phase::Running };
                if let Some(pace) = &mut self.pace {
                    pace.think(now);
                }
                self.step(now)
            }
            Phase::Finishing if self.outstanding == 0 => {
                self.end(now);
                Step::Ended
            }
            _ => Step::Blocked,
        }
    }

    fn step_waiting(&mut self, now: Nanos) -> Step {
        if self.is_told_to_end() {
            // It was told to end before it began.
            (self.phase, self.ended, self.measured_from) = (Phase::Ended, now, now);
            return Step::Ended;
        }
        if self.begins == Nanos::NEVER {
            return Step::Blocked;
        }
        if now < self.begins {
            return Step::Wait(self.begins);
        }
        self.phase = Phase::Running;
        self.step(now)
    }

    /// The flow lets it issue its next request.
    pub fn allow(&mut self) {
        self.phase = Phase::Running;
    }

    /// How much later than its group it begins.
    pub fn delay(&self) -> Nanos {
        self.delay
    }

    /// It is not to issue anything more, and may not begin.
    pub fn is_told_to_end(&self) -> bool {
        self.deadline == Nanos::ZERO
    }

    /// It has begun.
    pub fn has_begun(&self) -> bool {
        self.begins < Nanos::NEVER
    }

    /// Its queue is full.
    #[inline]
    pub fn filled(&mut self) {
        if self.low < self.depth && self.phase == Phase::Running {
            self.phase = Phase::Draining;
        }
    }

    /// Addresses of the half of the look-ahead that was refilled last.
    #[inline]
    pub fn planned_later(&self) -> impl Iterator<Item = Lba> + '_ {
        self.ring[LOOKAHEAD - BATCH - self.head..][..BATCH].iter().flatten().map(|planned| planned.request.lba)
    }

    /// Addresses of the writes in the half of the look-ahead that is issued next.
    #[inline]
    pub fn writes_planned_next(&self) -> impl Iterator<Item = Lba> + '_ {
        let requests = self.ring[self.head..][..BATCH].iter().flatten().map(|planned| planned.request);
        requests.filter(|request| request.operation == Operation::Write).map(|request| request.lba)
    }

    /// Addresses of the whole look-ahead.
    pub fn planned(&self) -> impl Iterator<Item = Lba> + '_ {
        self.ring.iter().flatten().map(|planned| planned.request.lba)
    }

    /// It may issue another request without waiting for a completion.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.outstanding < self.depth
    }

    /// One of its requests has completed.
    #[inline(always)]
    pub fn completed(&mut self, direction: Direction, bytes: u64, latency: Nanos, status: Status) {
        self.outstanding -= 1;
        if direction == Direction::Sync && self.phase == Phase::Flushing {
            self.phase = Phase::Running;
        }
        if status == Status::Success {
            self.tally.complete(direction, bytes, latency);
        } else {
            self.fail(direction, status);
        }
    }

    /// Keeps a completion back; gives all that are to be counted now.
    pub fn hold(&mut self, held: Held) -> Vec<Held> {
        let outstanding = self.outstanding;
        match &mut self.control {
            None => vec![held],
            Some(control) => {
                let all = control.hold(held, outstanding);
                if all { control.take() } else { Vec::new() }
            }
        }
    }

    /// Draws the consequences of a completion that was counted.
    pub fn judge(&mut self, held: &Held, now: Nanos) {
        if let Some(pace) = &mut self.pace {
            let is_due = pace.completed(held.direction, now) && !pace.is_pausing(now);
            if is_due && matches!(self.phase, Phase::Running | Phase::Draining | Phase::Asking) {
                self.phase = Phase::Thinking;
            }
        }
        let Some(control) = &mut self.control else { return };
        match control.judge(held.direction, held.bytes, now - held.issued, now) {
            Verdict::GoOn => {}
            Verdict::Depth(depth) => {
                self.depth = depth;
                self.low = self.low.min(depth);
            }
            Verdict::Found => self.stop(),
            Verdict::Fail(error) => self.end_with(error),
        }
    }

    /// The depth that a search for it has found.
    pub fn depth_found(&self) -> Option<u32> {
        self.control.as_ref().and_then(|control| control.depth_found())
    }

    /// The first error ends the job, unless it goes on by `continue_on_error`.
    #[cold]
    fn fail(&mut self, direction: Direction, status: Status) {
        if !self.tolerates[direction as usize] {
            self.end_with(error_number(status));
        } else if self.error == 0 {
            self.error = error_number(status);
        }
    }

    #[cold]
    fn end_with(&mut self, error: u32) {
        if self.error == 0 {
            self.error = error;
        }
        self.stop();
    }

    /// Issues nothing more.
    pub fn stop(&mut self) {
        self.deadline = Nanos::ZERO;
    }

    /// It is over.
    pub fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// Figures begin now, at the start or at the end of the ramp: what was measured so far is forgotten.
    pub fn reset(&mut self, job: &Job, now: Nanos) {
        self.tally = Tally::default();
        self.rates = Rates::new(job, now);
        self.log = RequestLog::new(&job.logs, now);
        self.completes_apart = self.log.is_some() || self.control.is_some();
        self.measured_from = now;
    }

    /// Measures what is due at intervals, as long as it lives.
    pub fn mark(&mut self, now: Nanos) {
        if self.begins <= now && !self.has_ended() {
            self.rates.mark(&mut self.tally, now);
            self.log.iter_mut().for_each(|log| log.mark(now));
        }
    }

    /// When [`Worker::mark`] is due.
    pub fn next_mark(&self) -> Nanos {
        if self.has_ended() || !self.has_begun() {
            return Nanos::NEVER;
        }
        let log = self.log.as_ref().map_or(Nanos::NEVER, |log| log.next());
        Nanos(self.rates.next().0.min(log.0))
    }

    #[cold]
    fn end(&mut self, now: Nanos) {
        self.phase = Phase::Ended;
        self.ended = now;
        self.rates.finish(&mut self.tally, now);
        self.log.iter_mut().for_each(|log| log.finish(now));
    }

    /// Where on the device it works.
    pub fn range(&self) -> ByteRange {
        let (offset, bytes) = self.generator.region();
        ByteRange { offset, bytes }
    }

    /// How much of its work is done, 0 to 1.
    pub fn share(&self, job: &Job, started: Nanos, now: Nanos) -> f64 {
        if self.has_ended() {
            return 1.0;
        }
        let of = |done: u64, all: u64| done as f64 / all.max(1) as f64;
        let runtime = job.runtime.map(|runtime| (job.ramp_time + runtime).0);
        let by_time = runtime.map_or(0.0, |all| of((now - started).0, all));
        let by_number = job.number_ios.map_or(0.0, |all| of(self.issued, all));
        let by_bytes = self.expected_bytes.map_or(0.0, |all| of(self.tally.totals().1, all));
        by_time.max(by_number).max(by_bytes).min(1.0)
    }
}

/// Requests a clone keeps outstanding.
pub fn depth(job: &Job) -> u32 {
    if job.synchronous_engine.is_some() { 1 } else { job.io_depth.max(1) }
}

/// Linux's error number for a failed request.
fn error_number(status: Status) -> u32 {
    match status {
        Status::Success => 0,
        Status::MediaError => 5,
        Status::WriteProtected => 30,
        Status::OutOfRange => 28,
    }
}
