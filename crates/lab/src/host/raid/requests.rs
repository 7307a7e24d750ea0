//! Requests to the array: split into accesses and stripe updates, and finished when all are done.

use super::config::ReadAheadPolicy;
use super::jobs::{Job, What};
use super::plan::{Access, Stripe, merged};
use super::ranges::Ranges;
use super::{Event, Raid};
use crate::host::stacked::Work;
use ssdlab_device::block::{Operation, Request, Status, Tag};
use ssdlab_device::units::{Lba, Nanos};

/// Who waits for a request.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// The host.
    Host(Tag),
    /// Read-ahead of that line.
    Line(u64),
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Who waits for it.
    pub owner: Owner,
    /// What was asked.
    pub request: Request,
    /// Parts not done yet; one stands for the request itself until all its parts are known.
    parts: u32,
    status: Status,
}

impl Pending {
    /// A request none of whose parts is known yet.
    pub fn new(owner: Owner, request: Request) -> Pending {
        Pending { owner, request, parts: 1, status: Status::Success }
    }
}

impl Raid {
    /// Processor time of a request.
    pub(super) fn request_time(&self, request: &Request) -> Nanos {
        let config = &self.config;
        let is_plain = request.operation == Operation::Read
            && u64::from(request.sectors) <= self.layout.chunk
            && !config.write_back
            && config.read_ahead == ReadAheadPolicy::Never
            && config.failed.0.is_empty()
            && self.sync.is_none();
        let fast = config.fast_path_us.filter(|_| is_plain);
        fast.unwrap_or(config.request_us).0
    }

    /// Lets an event happen at a time, at once where that is now.
    pub(super) fn go_on(&mut self, at: Nanos, event: Event, work: &mut Work) {
        if at > work.now() {
            work.wake_at(at, event.token());
        } else {
            self.happen(event, work);
        }
    }

    /// What happens at a time that was set.
    pub(super) fn happen(&mut self, event: Event, work: &mut Work) {
        match event {
            Event::Send(number) => self.cross(number, Event::Start(number), work),
            Event::Start(number) => self.start(number, work),
            Event::End(number) => self.end(number, work),
            Event::Reads(number) => self.send_reads(number, work),
            Event::Writes(number) => self.send_writes(number, work),
            Event::Flush => self.flush_is_due(work),
            Event::Sync => self.sync_on(work),
            Event::Access(_) | Event::Job(_) => unreachable!("{event:?} is an access, not a time"),
        }
    }

    fn start(&mut self, number: u32, work: &mut Work) {
        match self.requests.get(number).request.operation {
            Operation::Read => self.read(number, work),
            Operation::Write | Operation::WriteZeroes => self.write(number, work),
            Operation::Trim => self.trim(number, work),
            Operation::Flush => self.flush(number, work),
        }
    }

    /// A part of a request is done.
    pub(super) fn part_done(&mut self, number: u32, status: Status, work: &mut Work) {
        let pending = self.requests.get_mut(number);
        pending.status = pending.status.or(status);
        pending.parts -= 1;
        if pending.parts > 0 {
            return;
        }
        let Pending { owner, request, .. } = *pending;
        if matches!(owner, Owner::Host(_)) && self.crosses(&request, Operation::Read) {
            self.cross(number, Event::End(number), work);
        } else {
            self.end(number, work);
        }
    }

    /// Whether the request is such an operation, and its data cross to or from the host.
    pub(super) fn crosses(&self, request: &Request, operation: Operation) -> bool {
        self.host_link.is_some() && request.operation == operation
    }

    /// The data of a request cross, after which something happens.
    fn cross(&mut self, number: u32, then: Event, work: &mut Work) {
        let request = self.requests.get(number).request;
        let bytes = u64::from(request.sectors) * u64::from(self.sector_bytes);
        let link = self.host_link.as_mut().expect("asked before");
        let crossed = link.cross(request.operation, work.now(), bytes);
        self.go_on(crossed, then, work);
    }

    fn end(&mut self, number: u32, work: &mut Work) {
        let Pending { owner, status, .. } = self.requests.remove(number);
        match owner {
            Owner::Host(tag) => work.finish(tag, status),
            Owner::Line(line) => self.line_arrived(line, work),
        }
    }

    /// Reads from the members, recovering what is lost.
    pub(super) fn read_members(&mut self, number: u32, work: &mut Work) {
        let request = self.requests.get(number).request;
        let mut direct = Vec::new();
        for (stripe, from, to) in self.layout.split(request.lba.0, u64::from(request.sectors)) {
            if self.needs_recovery(stripe, from, to) {
                self.counts.degraded_reads += 1;
                self.submit_part(number, stripe, Ranges::of(from, to), What::Read, work);
            } else {
                self.direct_read(stripe, from, to, &mut direct);
            }
        }
        self.send_parts(number, merged(direct.into_iter()), work);
        self.part_done(number, Status::Success, work);
    }

    /// Whether one of the units lies on a member that is lost.
    fn needs_recovery(&self, stripe: u64, from: u64, to: u64) -> bool {
        let chunk = self.layout.chunk;
        let lost = |unit: u64| self.is_lost(self.layout.place(stripe, unit as usize).member, stripe, true);
        self.layout.has_parity() && !self.config.failed.0.is_empty() && (from / chunk..to.div_ceil(chunk)).any(lost)
    }

    /// Where a read goes when all it needs is there.
    fn direct_read(&self, stripe: u64, from: u64, to: u64, accesses: &mut Vec<Access>) {
        let chunk = self.layout.chunk;
        let mirror = self.layout.data == 1 && self.layout.places_per_stripe() > 1;
        for unit in from / chunk..to.div_ceil(chunk) {
            let (low, high) = (from.max(unit * chunk) - unit * chunk, to.min((unit + 1) * chunk) - unit * chunk);
            let place = if mirror { self.choose_copy(stripe, low) } else { unit as usize };
            let place = self.layout.place(stripe, place);
            accesses.push(Access { member: place.member, lba: place.lba + low, sectors: high - low });
        }
    }

    fn choose_copy(&self, stripe: u64, from: u64) -> usize {
        let view = Stripe::new(&self.layout, stripe, |member| self.is_lost(member, stripe, true));
        self.balance.choose(&view.places, &view.lost, from)
    }

    /// Writes to the members: RAID 0 as it is, else stripe by stripe, one update at a time.
    pub(super) fn write_members(&mut self, number: u32, work: &mut Work) {
        let request = self.requests.get(number).request;
        if self.layout.places_per_stripe() == 1 {
            return self.send_striped(number, work);
        }
        for (stripe, from, to) in self.layout.split(request.lba.0, u64::from(request.sectors)) {
            self.submit_part(number, stripe, Ranges::of(from, to), What::Write, work);
        }
        self.part_done(number, Status::Success, work);
    }

    /// Sends a request of RAID 0 to the members it concerns.
    pub(super) fn send_striped(&mut self, number: u32, work: &mut Work) {
        let request = self.requests.get(number).request;
        let mut direct = Vec::new();
        for (stripe, from, to) in self.layout.split(request.lba.0, u64::from(request.sectors)) {
            self.direct_read(stripe, from, to, &mut direct);
        }
        self.send_parts(number, merged(direct.into_iter()), work);
        self.part_done(number, Status::Success, work);
    }

    /// Flushes every member.
    pub(super) fn flush_members(&mut self, number: u32, work: &mut Work) {
        let flush = Request::new(Operation::Flush, Lba(0), 0);
        for member in self.members() {
            self.requests.get_mut(number).parts += 1;
            self.ask(member, flush, Event::Access(number), work);
        }
        self.part_done(number, Status::Success, work);
    }

    /// Flushes the members where one of them has a volatile cache.
    pub(super) fn flush_volatile_members(&mut self, number: u32, work: &mut Work) {
        if self.members().into_iter().any(|member| work.limits_of(member).volatile_cache) {
            return self.flush_members(number, work);
        }
        self.part_done(number, Status::Success, work);
    }

    /// The members that are there, if only as a spare that is being rebuilt.
    fn members(&self) -> Vec<usize> {
        (0..self.failed.len()).filter(|member| !self.failed[*member] || self.config.rebuild).collect()
    }

    /// A part of a request becomes a job.
    pub(super) fn submit_part(&mut self, number: u32, stripe: u64, ranges: Ranges, what: What, work: &mut Work) {
        let pending = self.requests.get_mut(number);
        pending.parts += 1;
        let request = pending.request;
        let page = self.page;
        self.submit(Job::new(what, stripe, ranges, page, &request).serving(number), work);
    }

    fn send_parts(&mut self, number: u32, accesses: Vec<Access>, work: &mut Work) {
        for Access { member, lba, sectors } in accesses {
            let pending = self.requests.get_mut(number);
            pending.parts += 1;
            let request = Request { lba: Lba(lba), sectors: sectors as u32, ..pending.request };
            self.ask(member, request, Event::Access(number), work);
        }
    }

    /// Does a request without time: the members are asked what the timed path would ask.
    pub(super) fn apply(&mut self, request: Request, work: &mut Work) -> Status {
        let (lba, sectors) = (request.lba.0, u64::from(request.sectors));
        let what = match request.operation {
            Operation::Read => return Status::Success,
            Operation::Flush => return self.apply_flush(request, work),
            Operation::Trim if !self.passes_trim() => return Status::Success,
            Operation::Trim => What::Trim,
            Operation::Write | Operation::WriteZeroes => What::Write,
        };
        let mut status = Status::Success;
        for (stripe, from, to) in self.layout.split(lba, sectors) {
            let job = Job::new(what.clone(), stripe, Ranges::of(from, to), self.page, &request);
            let (view, plan) = self.planned(&job);
            for access in plan.writes(&view) {
                status = status.or(work.apply_now(access.member, self.member_request(&job, access)));
            }
            self.heal(stripe, &plan);
        }
        status
    }

    fn apply_flush(&mut self, request: Request, work: &mut Work) -> Status {
        self.members().into_iter().map(|member| work.apply_now(member, request)).fold(Status::Success, Status::or)
    }
}
