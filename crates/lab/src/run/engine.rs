//! The one loop: workers on one side, a device on the other, virtual time between them.
//!
//! At each instant: completions are counted, requests that wait in the host get the places that
//! became free (first come, first served), then workers issue in turn, one request each. The
//! device's queue is shared; what finds it full waits in the host, and that wait is part of its
//! latency. A tag is the request's place in a table whose places are used again, so that a request
//! allocates nothing and is found without a search.

mod coupling;

use super::control::Held;
use super::flow::Flows;
use super::series::{Series, Written};
use super::steady::Watch;
use super::tally::Direction;
use super::turns::Turns;
use super::worker::{Step, Worker};
use super::{Observer, RunError};
use crate::workload::job::Job;
use coupling::{begin, is_coupled, must_wait};
use ssdlab_device::block::{Completion, Device, LayerCounts, Request, Tag};
use ssdlab_device::counters::Counters;
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::units::{Lba, Nanos};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Completed requests, or steps that complete none, between two looks at the observer: well below a
/// tenth of a second's work on a slow machine.
const OBSERVE_EVERY: i64 = 4096;

/// A request that was issued and has not completed.
#[derive(Clone, Copy)]
struct Issued {
    at: Nanos,
    lba: Lba,
    sectors: u32,
    worker: u32,
    direction: Direction,
}

/// Memory that a request takes at most: its place in the table, one among those that wait in the host, and one
/// among the completions of an instant.
pub const BYTES_PER_REQUEST: usize =
    Slots::<Issued>::BYTES_A_THING + size_of::<(u32, Request)>() + size_of::<Completion>();

/// A stonewall group at work.
pub struct Engine<'a, D: Device + ?Sized> {
    device: &'a mut D,
    jobs: &'a [Job],
    workers: Vec<Worker>,
    issued: Slots<Issued>,
    /// Workers that may be able to issue, in turn.
    ready: Turns,
    /// Requests that found the device full.
    waiting: VecDeque<(u32, Request)>,
    timers: BinaryHeap<Reverse<(Nanos, u32)>>,
    in_device: u32,
    queue_depth: u32,
    sector_bytes: u64,
    alive: usize,
    now: Nanos,
    started: Nanos,
    /// The next instant at which the clock must stop for [`Engine::mark`].
    next_mark: Nanos,
    ramp_ends: Vec<(Nanos, usize)>,
    watches: Vec<Watch>,
    /// What the device wrote over time, and what it had written at the last edge.
    series: Series<Written>,
    written: Written,
    counters_at_start: Counters,
    layers_at_start: LayerCounts,
    /// Time with a request in the device, and since when there is one.
    busy: Nanos,
    busy_since: Nanos,
    until_observed: i64,
    interrupted: bool,
    flows: Flows,
    /// Some worker's end or flow matters to others.
    is_coupled: bool,
    ends_all: bool,
}

/// What is left when a group has ended.
pub struct Outcome {
    pub workers: Vec<Worker>,
    pub series: Series<Written>,
    pub counters_at_start: Counters,
    pub counters_at_end: Counters,
    pub layers: LayerCounts,
    pub busy: Nanos,
    pub end: Nanos,
    pub interrupted: bool,
    /// A job has ended all that would follow.
    pub ends_all: bool,
}

impl<'a, D: Device + ?Sized> Engine<'a, D> {
    pub fn new(device: &'a mut D, jobs: &'a [Job], mut workers: Vec<Worker>, now: Nanos) -> Engine<'a, D> {
        let mut flows = Flows::default();
        for index in 0..workers.len() {
            workers[index].queued = true;
            if !must_wait(&workers, jobs, index) {
                begin(&mut workers[index], jobs, &mut flows, now);
                workers[index].planned().for_each(|lba| device.hint(lba));
            }
        }
        let slots: u32 = workers.iter().map(|worker| super::worker::depth(&jobs[worker.job]) + 1).sum();
        let (counters, layers_at_start) = (device.counters(), device.layers());
        let limits = device.limits();
        let (queue_depth, sector_bytes) = (limits.queue_depth.max(1), limits.sector_bytes);
        let mut engine = Engine {
            device,
            jobs,
            issued: Slots::with_capacity(slots as usize),
            ready: Turns::new(workers.len() as u32),
            waiting: VecDeque::with_capacity(slots as usize),
            timers: BinaryHeap::new(),
            in_device: 0,
            queue_depth,
            sector_bytes: u64::from(sector_bytes),
            alive: workers.len(),
            now,
            started: now,
            next_mark: now,
            ramp_ends: ramp_ends(&workers, jobs),
            watches: Watch::of(&workers, jobs, now),
            series: Series::new(now),
            written: Written::of(&counters),
            counters_at_start: counters,
            layers_at_start,
            busy: Nanos::ZERO,
            busy_since: now,
            until_observed: OBSERVE_EVERY,
            interrupted: false,
            flows,
            is_coupled: workers.iter().any(|worker| is_coupled(&jobs[worker.job])),
            ends_all: false,
            workers,
        };
        engine.schedule_mark();
        engine
    }

    /// Runs until every worker has ended.
    ///
    /// `progress` is asked now and then with the share done; `false` stops the run early.
    pub fn run(
        mut self,
        phase: &str,
        share_before: f64,
        share_of_run: f64,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
        let mut done: Vec<Completion> = Vec::new();
        loop {
            self.issue();
            if self.alive == 0 {
                return Ok(self.finish());
            }
            let mut to = self.next_mark;
            if let Some(&Reverse((time, _))) = self.timers.peek() {
                to = Nanos(to.0.min(time.0));
            }
            self.now = self.device.advance(to, &mut done);
            if done.is_empty() {
                self.check_alive()?;
            }
            for &completion in &done {
                self.complete(completion);
            }
            self.until_observed -= done.len().max(1) as i64;
            done.clear();
            if !self.waiting.is_empty() {
                self.submit_waiting();
            }
            if self.now >= self.next_mark {
                self.mark();
            }
            if !self.timers.is_empty() {
                self.wake();
            }
            if self.until_observed <= 0 {
                self.until_observed = OBSERVE_EVERY;
                let share = share_before + share_of_run * self.share();
                if !observer.progress(phase, share) || self.device.is_faulty() {
                    self.interrupt();
                }
            }
        }
    }

    #[inline]
    fn issue(&mut self) {
        while let Some(index) = self.ready.pop_front() {
            let worker = &mut self.workers[index as usize];
            worker.queued = false;
            match worker.free_to_issue(self.now) {
                Some(&request) => self.place(index, request),
                None => self.step(index),
            }
        }
    }

    /// Does what a worker wants that is not simply free to issue.
    #[inline(never)]
    fn step(&mut self, index: u32) {
        let worker = &mut self.workers[index as usize];
        match worker.step(self.now) {
            Step::Issue(request) => self.place(index, request),
            Step::Wait(time) if worker.timer > time => {
                worker.timer = time;
                self.timers.push(Reverse((time, index)));
            }
            Step::Wait(_) | Step::Blocked => {}
            Step::Ask(deadline) => self.ask(index, deadline),
            Step::Ended => {
                self.alive -= 1;
                if self.is_coupled {
                    self.tell_others(index);
                }
            }
        }
    }

    /// Issues the request that a worker has next.
    #[inline(always)]
    fn place(&mut self, index: u32, request: Request) {
        let direction = Direction::of(request.operation);
        let Request { lba, sectors, .. } = request;
        let tag = self.issued.insert(Issued { at: self.now, lba, sectors, worker: index, direction });
        if !self.waiting.is_empty() || !self.submit(tag, request) {
            self.waiting.push_back((tag, request));
        }
        let worker = &mut self.workers[index as usize];
        if worker.issued(direction) {
            worker.planned_later().for_each(|lba| self.device.hint(lba));
            worker.writes_planned_next().for_each(|lba| self.device.hint_write(lba));
        }
        if worker.has_room() {
            worker.queued = true;
            self.ready.push_back(index);
        } else {
            worker.filled();
        }
    }

    #[inline(always)]
    fn submit(&mut self, tag: u32, request: Request) -> bool {
        if self.in_device >= self.queue_depth {
            return false;
        }
        let taken = self.device.submit(self.now, Tag(tag), request).is_ok();
        if taken && self.in_device == 0 {
            self.busy_since = self.now;
        }
        self.in_device += u32::from(taken);
        taken
    }

    #[inline(never)]
    fn submit_waiting(&mut self) {
        while let Some(&(tag, request)) = self.waiting.front() {
            if !self.submit(tag, request) {
                break;
            }
            self.waiting.pop_front();
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion) {
        let Issued { at, lba, sectors, worker: index, direction } = self.issued.remove(completion.tag.0);
        self.in_device -= 1;
        if self.in_device == 0 {
            self.busy += self.now - self.busy_since;
        }
        let bytes = u64::from(sectors) * self.sector_bytes;
        let worker = &mut self.workers[index as usize];
        if worker.completes_apart {
            let held = Held { direction, bytes, issued: at, status: completion.status };
            return self.complete_apart(index, lba, held);
        }
        worker.completed(direction, bytes, self.now - at, completion.status);
        if !worker.queued {
            worker.queued = true;
            self.ready.push_back(index);
        }
    }

    /// Puts workers whose time has come back in turn.
    fn wake(&mut self) {
        while let Some(&Reverse((time, index))) = self.timers.peek() {
            if time > self.now {
                break;
            }
            self.timers.pop();
            let worker = &mut self.workers[index as usize];
            if worker.timer == time {
                worker.timer = Nanos::NEVER;
            }
            if !worker.queued {
                worker.queued = true;
                self.ready.push_back(index);
            }
        }
    }

    /// A device with work in hand must have a next event, or time would never get on.
    #[cold]
    fn check_alive(&self) -> Result<(), RunError> {
        let outstanding = self.in_device as usize + self.waiting.len();
        if outstanding == 0 || self.device.next_event().is_some() {
            return Ok(());
        }
        Err(RunError::Stalled { outstanding, at: self.now })
    }

    #[cold]
    fn mark(&mut self) {
        while self.series.edge() <= self.now {
            let counters = self.device.counters();
            self.close_bucket(&counters);
        }
        self.workers.iter_mut().for_each(|worker| worker.mark(self.now));
        while self.ramp_ends.last().is_some_and(|&(end, _)| end <= self.now) {
            self.end_ramp();
        }
        for watch in &mut self.watches {
            while watch.next() <= self.now {
                watch.sample(&mut self.workers);
            }
        }
        self.schedule_mark();
    }

    fn close_bucket(&mut self, counters: &Counters) {
        let written = Written::of(counters);
        self.series.close(written.since(&self.written));
        self.written = written;
    }

    fn end_ramp(&mut self) {
        let Some((_, index)) = self.ramp_ends.pop() else {
            return;
        };
        let worker = &mut self.workers[index];
        worker.reset(&self.jobs[worker.job], self.now);
        if self.ramp_ends.is_empty() {
            self.counters_at_start = self.device.counters();
            self.layers_at_start = self.device.layers();
            self.series = Series::new(self.now);
            self.written = Written::of(&self.counters_at_start);
            self.busy = Nanos::ZERO;
            self.busy_since = self.now;
        }
    }

    fn schedule_mark(&mut self) {
        let mut next = self.series.edge().0;
        if let Some(&(end, _)) = self.ramp_ends.last() {
            next = next.min(end.0);
        }
        next = self.watches.iter().map(|watch| watch.next().0).fold(next, u64::min);
        next = self.workers.iter().map(|worker| worker.next_mark().0).fold(next, u64::min);
        self.next_mark = Nanos(next);
    }

    fn share(&self) -> f64 {
        let share = |worker: &Worker| worker.share(&self.jobs[worker.job], self.started, self.now);
        self.workers.iter().map(share).sum::<f64>() / self.workers.len().max(1) as f64
    }

    fn interrupt(&mut self) {
        self.interrupted = true;
        for (index, worker) in self.workers.iter_mut().enumerate() {
            worker.stop();
            if !worker.queued {
                worker.queued = true;
                self.ready.push_back(index as u32);
            }
        }
    }

    fn finish(mut self) -> Outcome {
        // A job that ended within its ramp has measured nothing.
        while !self.ramp_ends.is_empty() {
            self.end_ramp();
        }
        let counters_at_end = self.device.counters();
        if self.series.is_open(self.now) {
            self.close_bucket(&counters_at_end);
        }
        Outcome {
            workers: self.workers,
            series: self.series,
            counters_at_start: self.counters_at_start,
            counters_at_end,
            layers: self.device.layers().since(&self.layers_at_start),
            busy: self.busy,
            end: self.now,
            interrupted: self.interrupted,
            ends_all: self.ends_all,
        }
    }
}

/// Ends of ramps, the earliest last.
fn ramp_ends(workers: &[Worker], jobs: &[Job]) -> Vec<(Nanos, usize)> {
    let ramp = |worker: &Worker| jobs[worker.job].ramp_time;
    let mut ends: Vec<(Nanos, usize)> = workers
        .iter()
        .enumerate()
        // A job that waits for another one measures from its start on.
        .filter(|(_, worker)| ramp(worker) > Nanos::ZERO && worker.has_begun())
        .map(|(index, worker)| (worker.measured_from + ramp(worker), index))
        .collect();
    ends.sort_by(|a, b| b.cmp(a));
    ends
}
