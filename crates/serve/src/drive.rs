//! A drive and what it has to do for whom. No threads, no sockets: whoever calls holds it alone.
//!
//! ```text
//! take(batch) ─► submit, or wait for room in the drive's queue ─► live on ─► next step, or the answer into the outbox
//! ```
//! A session reaches the drive only in the *power cycle* in which it began. One that was open at a cut, or began while the
//! power was off, gets errors for ever: a file system that is mounted over it must not write back what it remembers, as if
//! nothing had been.

use crate::clock::{Clock, wall};
use crate::counts::{Counts, Lateness};
use crate::latency::Latencies;
use crate::offer::extents;
use crate::outbox::{Outbox, Pledge};
use crate::outcome::Outcome;
use crate::request::{Command, Fault, Request};
use crate::steps::Steps;
use ssdlab_disk::medium::Medium;
use ssdlab_disk::{Cut, Disk, Done, Failure, Nanos, Operation};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// A request of a client, with the payload of a write.
#[derive(Debug)]
pub struct Task {
    /// What is to be done, and that it will be answered.
    pub pledge: Pledge,
    /// What a write or a compare brings.
    pub payload: Vec<u8>,
    /// What is asked besides, and answered with it: the last of these comes next.
    pub more: Vec<Request>,
}

/// Requests of one client.
#[derive(Debug)]
pub struct Batch {
    /// The power cycle in which the session began.
    pub cycle: u64,
    /// In the order in which they came.
    pub tasks: Vec<Task>,
}

/// A task under way.
#[derive(Debug)]
struct Job {
    task: Task,
    steps: Steps,
    /// When the drive was first asked.
    began: Nanos,
}

impl Job {
    fn request(&self) -> &Request {
        self.task.pledge.request()
    }
}

/// See the module.
pub struct Drive<M: Medium> {
    /// Gone once the server has ended, or the simulation has broken down.
    disk: Option<Disk<M>>,
    /// Virtual time beside the wall clock, while the power is on.
    clock: Option<Clock>,
    is_on: bool,
    cycle: u64,
    /// Nothing new is begun.
    is_ending: bool,
    /// By tag of the drive.
    jobs: Vec<Option<Job>>,
    /// The drive's queue is full.
    waiting: VecDeque<Job>,
    done: Vec<Done>,
    /// At a pace: where answers wait to be sent, once each.
    answered: Vec<Arc<Outbox>>,
    /// Requests so far.
    pub counts: Counts,
    /// How late answers were.
    pub lateness: Lateness,
    /// How long reads and writes took.
    pub latencies: [Latencies; 2],
}

impl<M: Medium> Drive<M> {
    /// A drive that goes by a clock, or by none.
    pub fn new(disk: Disk<M>, clock: Option<Clock>) -> Drive<M> {
        Drive {
            disk: Some(disk),
            clock,
            is_on: true,
            cycle: 0,
            is_ending: false,
            jobs: Vec::new(),
            waiting: VecDeque::new(),
            done: Vec::new(),
            answered: Vec::new(),
            counts: Counts::default(),
            lateness: Lateness::default(),
            latencies: Default::default(),
        }
    }

    /// The drive itself, unless it is gone.
    pub fn disk(&mut self) -> Option<&mut Disk<M>> {
        self.disk.as_mut()
    }

    /// The power cycle in which a session begins now.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The power is on.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Nothing new is begun.
    pub fn is_ending(&self) -> bool {
        self.is_ending
    }

    /// Requests come in.
    pub fn take(&mut self, batch: Batch) {
        let refusal = self.refusal(batch.cycle);
        for task in batch.tasks {
            std::iter::once(task.pledge.request()).chain(&task.more).for_each(|request| self.counts.count(request));
            let sector_bytes = self.disk.as_ref().map_or(1, |disk| disk.limits().sector_bytes);
            let began = self.disk.as_ref().map_or(Nanos::ZERO, Disk::now);
            let job = Job { steps: Steps::of(task.pledge.request(), sector_bytes), task, began };
            match refusal {
                Some((fault, why)) => self.fail(job, fault, why.into()),
                None => self.start(job),
            }
        }
    }

    /// Why a session of that cycle gets nothing, if so.
    fn refusal(&self, cycle: u64) -> Option<(Fault, &'static str)> {
        match () {
            () if self.is_ending => Some((Fault::Ends, "The server ends.")),
            () if self.disk.is_none() => Some((Fault::Broken, "The simulation has broken down.")),
            () if !self.is_on => Some((Fault::NoPower, "The drive has no power.")),
            () if cycle != self.cycle => Some((Fault::NoPower, "The drive lost power: connect anew.")),
            () => None,
        }
    }

    /// A job's next step goes to the drive.
    fn start(&mut self, mut job: Job) {
        let Some(disk) = &mut self.disk else { return };
        let Some(request) = job.steps.next() else {
            return self.end_at_once(job);
        };
        if disk.outstanding() >= disk.limits().queue_depth as usize {
            return self.waiting.push_back(job);
        }
        let length = request.sectors as usize * disk.limits().sector_bytes as usize;
        let bytes = match (request.operation, job.request().command) {
            (Operation::Write, Command::Write { .. }) => std::mem::take(&mut job.task.payload),
            (Operation::Read | Operation::Write, _) => vec![0; length],
            _ => Vec::new(),
        };
        // There is room, for it was asked.
        let Ok(tag) = disk.submit(disk.now(), request, bytes) else { return };
        let place = tag.0 as usize;
        if self.jobs.len() <= place {
            self.jobs.resize_with(place + 1, || None);
        }
        if let Some(slot) = self.jobs.get_mut(place) {
            *slot = Some(job);
        }
    }

    /// A job that takes the drive no time.
    fn end_at_once(&mut self, job: Job) {
        let Some(disk) = &mut self.disk else { return };
        let (&Request { offset, length, command, .. }, sector) = (job.request(), u64::from(disk.limits().sector_bytes));
        let outcome = match command {
            Command::BlockStatus { .. } => Outcome::Extents(extents(disk, job.request())),
            Command::WriteUncorrectable if disk.is_read_only() => {
                return self.fail(job, Fault::WriteProtected, "The drive is read-only.".into());
            }
            Command::WriteUncorrectable => {
                disk.spoil(offset / sector..(offset + u64::from(length)) / sector);
                Outcome::Done
            }
            _ => Outcome::Done,
        };
        self.answer(job, outcome);
    }

    fn fail(&mut self, job: Job, fault: Fault, why: String) {
        self.counts.failed += 1;
        self.answer(job, Outcome::Failed(fault, why));
    }

    fn answer(&mut self, job: Job, outcome: Outcome) {
        let Some(outbox) = job.task.pledge.answer(outcome).filter(|outbox| outbox.way().is_some()) else { return };
        if !self.answered.iter().any(|other| Arc::ptr_eq(other, &outbox)) {
            self.answered.push(outbox);
        }
    }

    /// Answers wait to be sent.
    pub fn has_answered(&self) -> bool {
        !self.answered.is_empty()
    }

    /// Where answers wait since the last time. They are sent once the drive is free for others.
    pub fn take_answered(&mut self) -> Vec<Arc<Outbox>> {
        std::mem::take(&mut self.answered)
    }

    /// Lives on to the next instant at which requests end, `to` at the latest; answers them. False where none did.
    fn live_on(&mut self, to: Nanos) -> bool {
        let Some(disk) = &mut self.disk else { return false };
        let mut done = std::mem::take(&mut self.done);
        let at = disk.advance(to, &mut done);
        let has_ended = !done.is_empty();
        if let Some(due) = self.clock.filter(|_| has_ended).and_then(|clock| clock.wall_of(at)) {
            self.lateness.note(wall().saturating_duration_since(due));
        }
        done.drain(..).for_each(|done| self.end(done));
        self.done = done;
        self.fill_queue();
        has_ended
    }

    /// A step has ended: the next one begins, or the job is answered.
    fn end(&mut self, done: Done) {
        let Some(mut job) = self.jobs.get_mut(done.tag.0 as usize).and_then(Option::take) else { return };
        if let Err(failure) = done.outcome {
            return self.fail(job, fault_of(&failure), failure.to_string());
        }
        job.steps.step();
        if job.steps.next().is_some() {
            return self.start(job);
        }
        if let Some(next) = job.task.more.pop() {
            let sector_bytes = self.disk.as_ref().map_or(1, |disk| disk.limits().sector_bytes);
            job.steps = Steps::of(&next, sector_bytes);
            return self.start(job);
        }
        let command = job.request().command;
        let is_read = matches!(command, Command::Read { .. });
        let is_write = matches!(command, Command::Write { .. });
        let [reads, writes] = &mut self.latencies;
        if let Some(latencies) = is_read.then_some(reads).or(is_write.then_some(writes)) {
            latencies.note(self.disk.as_ref().map_or(Nanos::ZERO, Disk::now) - job.began);
        }
        if command == Command::Compare && done.bytes != job.task.payload {
            return self.fail(job, Fault::Unequal, "What was compared differs.".into());
        }
        self.answer(job, if is_read { Outcome::Data(done.bytes) } else { Outcome::Done });
    }

    fn fill_queue(&mut self) {
        while let Some(disk) = &self.disk
            && disk.outstanding() < disk.limits().queue_depth as usize
            && let Some(job) = self.waiting.pop_front()
        {
            self.start(job);
        }
    }

    /// Requests are under way.
    pub fn is_busy(&self) -> bool {
        !self.waiting.is_empty() || self.disk.as_ref().is_some_and(|disk| disk.outstanding() > 0)
    }

    /// Without a clock: on to whatever ends next. What never ends is answered, too.
    pub fn jump(&mut self) {
        if !self.live_on(Nanos::NEVER) {
            self.fail_all(Fault::Broken, "The drive does not answer.");
        }
    }

    /// With a clock: all that has happened until now.
    pub fn catch_up(&mut self) {
        if let Some(clock) = self.clock.filter(|_| self.is_on) {
            let now = clock.virtual_time(wall());
            while self.live_on(now) {}
        }
    }

    /// Answers what ended while the drive was used by hand, before the drive gives its tags again.
    pub fn gather(&mut self) {
        if let Some(now) = self.disk.as_ref().map(Disk::now) {
            while self.live_on(now) {}
        }
    }

    /// When something happens next, by the wall clock.
    pub fn due(&self) -> Option<Instant> {
        let clock = self.clock.filter(|_| self.is_on)?;
        self.disk.as_ref()?.next_event().and_then(|event| clock.wall_of(event))
    }

    /// All that is under way is answered so, also what the drive no longer knows.
    fn fail_all(&mut self, fault: Fault, why: &str) {
        let jobs = std::mem::take(&mut self.jobs).into_iter().flatten();
        for job in jobs.chain(std::mem::take(&mut self.waiting)) {
            self.fail(job, fault, why.into());
        }
    }

    /// The power fails, and stays away; what was under way gets errors. Nothing more is lost where it was off.
    pub fn cut(&mut self, seed: u64) -> Option<Cut> {
        let disk = self.disk.as_mut()?;
        if !self.is_on {
            return Some(Cut::default());
        }
        let cut = disk.power_cut(seed);
        (self.is_on, self.cycle) = (false, self.cycle + 1);
        self.fail_all(Fault::NoPower, "The drive lost power.");
        Some(cut)
    }

    /// The power comes back: for sessions that begin from now on. Time has stood still.
    pub fn switch_on(&mut self) -> bool {
        let Some(disk) = &self.disk else { return false };
        if !self.is_on {
            (self.is_on, self.cycle) = (true, self.cycle + 1);
            self.clock = self.clock.map(|clock| clock.again(wall(), disk.now()));
        }
        true
    }

    /// Ends and answers what is under way, as fast as it can be computed. Time by the clock goes on from there.
    pub fn calm(&mut self) {
        while self.is_on && self.is_busy() && self.live_on(Nanos::NEVER) {}
        if let Some(disk) = &self.disk {
            self.clock = self.clock.map(|clock| clock.again(wall(), disk.now()));
        }
    }

    /// Ends what is under way, as fast as it can be computed, and begins nothing new. The drive has flushed and its
    /// medium is synced; what went wrong there is the drive's poison.
    pub fn finish(&mut self) -> Option<Disk<M>> {
        self.is_ending = true;
        self.clock = None;
        while self.is_on && self.is_busy() && self.live_on(Nanos::NEVER) {}
        self.fail_all(Fault::Ends, "The server ends.");
        let mut disk = self.disk.take()?;
        if self.is_on {
            // A failure is the drive's own to tell.
            let _ = disk.perform(ssdlab_disk::Request::new(Operation::Flush, ssdlab_disk::Lba(0), 0), Vec::new());
        }
        disk.ssd().ftl.flash.contents.sync();
        Some(disk)
    }

    /// A panic went through the simulation: nothing it says can be believed any more.
    pub fn break_down(&mut self) {
        self.disk = None;
        self.fail_all(Fault::Broken, "The simulation has broken down.");
    }
}

fn fault_of(failure: &Failure) -> Fault {
    match failure {
        Failure::WriteProtected => Fault::WriteProtected,
        Failure::OutOfRange => Fault::OutOfRange,
        Failure::MediaError | Failure::Poisoned(_) | Failure::Refused(_) => Fault::Media,
    }
}
