//! Jobs on stripes: read what is needed, compute, write; one at a time on the same rows.
//!
//! A write that comes while another of overlapping rows waits joins it, so that a stream fills
//! stripes. With `batch_prereads` an update that must read first begins only when all that began
//! before have read, and then all that wait begin together, as md's delayed stripes do.

use super::plan::{Access, Plan, Stripe, Way};
use super::ranges::Ranges;
use super::{Event, Raid};
use crate::host::stacked::{Answer, Work};
use ssdlab_device::block::{Operation, Request, Status};
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::units::{Lba, Nanos};

/// What a job is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Write for the host.
    Write,
    /// Write these lines of the cache.
    Destage(Vec<u64>),
    /// Trim for the host.
    Trim,
    /// Read for the host what must be recovered.
    Read,
    /// Rebuild what was lost.
    Rebuild,
    /// Read all and compare.
    Scrub,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Reading,
    Writing,
}

/// A job on one stripe.
#[derive(Clone, Debug)]
pub struct Job {
    what: What,
    stripe: u64,
    /// Sectors of the stripe's data that it writes, trims or reads.
    ranges: Ranges,
    /// Sectors of the unit in which it reads and writes rows, where there is parity.
    page: u64,
    /// Rows that nobody else may touch meanwhile.
    rows: (u64, u64),
    /// Requests that are part done with it.
    requests: Vec<u32>,
    operation: Operation,
    fua: bool,
    compress_percent: u8,
    phase: Phase,
    /// It reads before it writes, and counts in its batch until it writes.
    prereads: bool,
    outstanding: u32,
    planned: Option<(Stripe, Plan)>,
    status: Status,
}

impl Job {
    /// A job for a request.
    pub fn new(what: What, stripe: u64, ranges: Ranges, page: u64, request: &Request) -> Job {
        Job {
            what,
            stripe,
            ranges,
            page,
            rows: (0, u64::MAX),
            requests: Vec::new(),
            operation: request.operation,
            fua: request.fua,
            compress_percent: request.compress_percent,
            phase: Phase::Waiting,
            prereads: false,
            outstanding: 0,
            planned: None,
            status: Status::Success,
        }
    }

    /// The job with a request that is part done with it.
    pub fn serving(mut self, request: u32) -> Job {
        self.requests.push(request);
        self
    }

    fn overlaps(&self, other: &Job) -> bool {
        self.stripe == other.stripe && self.rows.0 < other.rows.1 && other.rows.0 < self.rows.1
    }

    fn may_join(&self, other: &Job) -> bool {
        self.what == What::Write
            && other.what == What::Write
            && self.operation == other.operation
            && self.overlaps(other)
    }

    /// Takes over what another was to write.
    fn join(&mut self, other: Job) {
        self.ranges.insert_all(&other.ranges);
        self.rows = (self.rows.0.min(other.rows.0), self.rows.1.max(other.rows.1));
        self.requests.extend(other.requests);
        self.fua |= other.fua;
        self.compress_percent = self.compress_percent.min(other.compress_percent);
        self.planned = None;
    }
}

/// Jobs under way.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    slots: Slots<Job>,
    /// In the order in which they came.
    waiting: Vec<u32>,
    active: Vec<u32>,
    /// Updates that have begun and not read all they need.
    prereading: u32,
}

impl Raid {
    /// A job comes: it joins one that waits, or begins as soon as it may.
    pub(super) fn submit(&mut self, mut job: Job, work: &mut Work) {
        job.rows = match job.what {
            What::Rebuild | What::Scrub => (0, u64::MAX),
            _ => self.stripe(job.stripe).rows(&job.ranges, job.page),
        };
        let mut place = self.jobs.waiting.len();
        while let Some(at) = self.joinable(&job) {
            let number = self.jobs.waiting.remove(at);
            place = place.min(at).min(self.jobs.waiting.len());
            self.counts.joined_writes += 1;
            job.join(self.jobs.slots.remove(number));
        }
        let number = self.jobs.slots.insert(job);
        self.jobs.waiting.insert(place, number);
        if !self.try_begin(place, self.batch_is_open(), work) {
            self.counts.stripe_waits += 1;
        }
    }

    fn joinable(&mut self, job: &Job) -> Option<usize> {
        let slots = &mut self.jobs.slots;
        self.jobs.waiting.iter().position(|number| slots.get(*number).may_join(job))
    }

    fn batch_is_open(&self) -> bool {
        !self.config.batch_prereads || self.jobs.prereading == 0
    }

    /// Begins all that may begin.
    fn begin_ready(&mut self, work: &mut Work) {
        let batch_is_open = self.batch_is_open();
        let mut place = 0;
        while place < self.jobs.waiting.len() {
            if !self.try_begin(place, batch_is_open, work) {
                place += 1;
            }
        }
    }

    /// Begins a waiting job unless rows of it are held or wanted by an earlier one, or its batch has
    /// not begun.
    fn try_begin(&mut self, place: usize, batch_is_open: bool, work: &mut Work) -> bool {
        let number = self.jobs.waiting[place];
        if self.is_blocked(place) {
            return false;
        }
        let prereads = self.plan_job(number);
        if prereads && !batch_is_open {
            return false;
        }
        self.jobs.waiting.remove(place);
        self.jobs.active.push(number);
        self.jobs.prereading += u32::from(prereads);
        self.begin_job(number, work);
        true
    }

    /// Plans a waiting job, unless that was done and nothing has changed; tells whether it is an update
    /// that must read first.
    fn plan_job(&mut self, number: u32) -> bool {
        let job = self.jobs.slots.get(number);
        if job.planned.is_some() && self.sync.is_none() {
            return job.prereads;
        }
        let planned = self.planned(job);
        let prereads = job.what == What::Write && planned.1.bands.iter().any(|band| !band.reads.is_empty());
        let job = self.jobs.slots.get_mut(number);
        job.prereads = prereads;
        job.planned = Some(planned);
        prereads
    }

    fn is_blocked(&mut self, place: usize) -> bool {
        let Jobs { slots, waiting, active, .. } = &mut self.jobs;
        let number = waiting[place];
        let (stripe, rows) = (slots.get(number).stripe, slots.get(number).rows);
        active.iter().chain(&waiting[..place]).any(|other| {
            let other = slots.get(*other);
            other.stripe == stripe && other.rows.0 < rows.1 && rows.0 < other.rows.1
        })
    }

    /// The stripe as a job finds it, and what the job does there.
    pub(super) fn planned(&self, job: &Job) -> (Stripe, Plan) {
        let view = match job.what {
            // What is being rebuilt is not there yet.
            What::Rebuild => Stripe::new(&self.layout, job.stripe, |member| self.failed[member]),
            What::Read => Stripe::new(&self.layout, job.stripe, |member| self.is_lost(member, job.stripe, true)),
            _ => self.stripe(job.stripe),
        };
        let plan = match &job.what {
            What::Write | What::Destage(_) => view.write(&job.ranges, job.page),
            What::Trim => view.trim(&job.ranges),
            What::Read => {
                let (from, to) = job.ranges.iter().next().unwrap_or_default();
                view.read(from, to, job.page, 0)
            }
            What::Rebuild => view.rebuild(&self.replaced(job.stripe)),
            What::Scrub => view.scrub(&self.to_mend(job.stripe)),
        };
        (view, plan)
    }

    /// What a member is asked to write or trim for a job.
    pub(super) fn member_request(&self, job: &Job, access: Access) -> Request {
        let operation = match (&job.what, job.operation) {
            (What::Trim, _) => Operation::Trim,
            (What::Write, Operation::WriteZeroes) if !self.layout.has_parity() => Operation::WriteZeroes,
            _ => Operation::Write,
        };
        Request {
            operation,
            lba: Lba(access.lba),
            sectors: access.sectors as u32,
            fua: job.fua,
            compress_percent: job.compress_percent,
        }
    }

    /// The thread sends the reads of a job that begins; without any it goes on to compute.
    fn begin_job(&mut self, number: u32, work: &mut Work) {
        let job = self.jobs.slots.get_mut(number);
        job.phase = Phase::Reading;
        let (view, plan) = job.planned.as_ref().expect("a job that begins is planned");
        let reads = plan.reads(view);
        if reads.is_empty() {
            return self.compute(number, work);
        }
        let time = self.thread_time(&reads, true);
        let at = self.thread.reserve(work.now(), time);
        self.go_on(at, Event::Reads(number), work);
    }

    pub(super) fn send_reads(&mut self, number: u32, work: &mut Work) {
        let job = self.jobs.slots.get_mut(number);
        let (view, plan) = job.planned.as_ref().expect("a job that began is planned");
        let reads = plan.reads(view);
        job.outstanding = reads.len() as u32;
        for Access { member, lba, sectors } in reads {
            let request = Request::new(Operation::Read, Lba(lba), sectors as u32);
            self.ask(member, request, Event::Job(number), work);
        }
    }

    /// Computes what is missing or parity, and sends the writes when the thread has come to them.
    fn compute(&mut self, number: u32, work: &mut Work) {
        let job = self.jobs.slots.get_mut(number);
        let (view, plan) = job.planned.as_ref().expect("a job that began is planned");
        let (writes, computed) = (plan.writes(view), plan.computed_sectors * u64::from(self.sector_bytes));
        let time = Nanos::of_transfer(computed, self.config.parity_mb_per_s) + self.thread_time(&writes, false);
        let at = self.thread.reserve(work.now(), time);
        self.go_on(at, Event::Writes(number), work);
    }

    /// Thread time of accesses: of each page with parity, of each copy written without.
    fn thread_time(&self, accesses: &[Access], are_reads: bool) -> Nanos {
        let requests: u64 = match self.layout.has_parity() {
            true => accesses.iter().map(|access| access.sectors.div_ceil(self.page)).sum(),
            false if are_reads => 0,
            false => accesses.len() as u64,
        };
        Nanos(self.config.thread_request_us.0.0 * requests)
    }

    pub(super) fn send_writes(&mut self, number: u32, work: &mut Work) {
        let job = self.jobs.slots.get_mut(number);
        job.phase = Phase::Writing;
        let opens_batch = std::mem::take(&mut job.prereads);
        let writes = self.writes_of(number);
        self.jobs.slots.get_mut(number).outstanding = writes.len() as u32;
        for (member, request) in &writes {
            self.ask(*member, *request, Event::Job(number), work);
        }
        if writes.is_empty() {
            self.complete(number, work);
        }
        self.jobs.prereading -= u32::from(opens_batch);
        if opens_batch && self.batch_is_open() {
            self.begin_ready(work);
        }
    }

    /// What a job that has read and computed asks of which members.
    fn writes_of(&self, number: u32) -> Vec<(usize, Request)> {
        let job = self.jobs.slots.get(number);
        let Some((view, plan)) = &job.planned else { return Vec::new() };
        plan.writes(view).into_iter().map(|access| (access.member, self.member_request(job, access))).collect()
    }

    /// A member has answered a job.
    pub(super) fn job_answered(&mut self, number: u32, answer: Answer, work: &mut Work) {
        let job = self.jobs.slots.get_mut(number);
        job.outstanding -= 1;
        let mends_itself = job.phase == Phase::Reading && job.what != What::Read;
        if mends_itself {
            self.counts.errors_while_updating += u64::from(answer.status != Status::Success);
        } else {
            job.status = job.status.or(answer.status);
        }
        match (job.outstanding, job.phase) {
            (0, Phase::Reading) => self.compute(number, work),
            (0, _) => self.complete(number, work),
            _ => {}
        }
    }

    fn complete(&mut self, number: u32, work: &mut Work) {
        self.jobs.active.retain(|active| *active != number);
        let job = self.jobs.slots.remove(number);
        let (_, plan) = job.planned.as_ref().expect("a job that began is planned");
        match &job.what {
            What::Write => self.count_ways(plan),
            What::Destage(lines) => {
                self.count_ways(plan);
                self.lines_destaged(lines, work);
            }
            What::Scrub => self.scrubbed(job.stripe),
            What::Rebuild => self.rebuilt(job.stripe),
            What::Trim | What::Read => {}
        }
        if job.what != What::Scrub {
            self.heal(job.stripe, plan);
        }
        for request in &job.requests {
            self.part_done(*request, job.status, work);
        }
        if matches!(job.what, What::Rebuild | What::Scrub) {
            self.sync_on(work);
        }
        self.begin_ready(work);
    }

    fn count_ways(&mut self, plan: &Plan) {
        for band in &plan.bands {
            match band.way {
                Way::Plain => {}
                Way::Reconstruct if band.reads.is_empty() => self.counts.full_stripe_writes += 1,
                Way::Reconstruct => self.counts.reconstruct_writes += 1,
                Way::Modify => self.counts.modify_writes += 1,
                Way::Recover => self.counts.recover_writes += 1,
            }
        }
    }

    /// Parity that was computed from data, and copies that were written whole, fit again.
    pub(super) fn heal(&mut self, stripe: u64, plan: &Plan) {
        let Some(rows) = self.mismatches.get_mut(&stripe) else { return };
        for band in plan.bands.iter().filter(|band| band.way != Way::Modify && !band.writes.is_empty()) {
            rows.remove(band.from.next_multiple_of(self.page), band.to / self.page * self.page);
        }
        if rows.is_empty() {
            self.mismatches.remove(&stripe);
        }
    }

    /// The power fails: what was being written is torn.
    pub(super) fn cut_jobs(&mut self) {
        for number in std::mem::take(&mut self.jobs.active) {
            let job = self.jobs.slots.remove(number);
            // A controller with a battery knows what it was writing, and writes it again.
            let is_kept = matches!(job.what, What::Destage(_)) && self.config.battery;
            let is_torn = job.phase == Phase::Writing && !is_kept;
            let Some((_, plan)) = job.planned.filter(|_| is_torn) else { continue };
            for band in plan.bands.iter().filter(|band| band.writes.len() > 1) {
                self.mark_mismatch(job.stripe, band.from, band.to);
            }
        }
        self.jobs = Jobs::default();
    }
}
