//! An array of devices: RAID 0, 1, 5, 6 and 10, run by the host or by a controller.
//!
//! Modelled: where data and parity lie; per stripe the reads and writes that keep parity right, one
//! update at a time; what was lost recovered from the rest; rebuild and scrub beside the load; a
//! cache that acknowledges writes and reads ahead; what requests cost. A request takes
//!
//! ```text
//! request_us (one processor) + latency_us + bytes / host_mb_per_s (before a write, after a read)
//!   + [thread: pages read · thread_request_us + slowest read]            where parity needs old data
//!   + [thread: computed bytes / parity_mb_per_s + pages written · thread_request_us]
//!   + slowest write
//! ```
//!
//! A stripe update that the power cuts while it writes leaves a mismatch of parity or copies, for a
//! scrub to find. Left out: bitmap and journal, that mend it at the next start; a member that fails
//! while the array runs; errors of members that redundancy would mend (they are passed on, and
//! counted where an update met them); merging of requests to a member across stripes while parity or
//! copies are written; md's limit of stripes in its cache.
//!
//! Modules: [`config`] (parameters and costs), [`layout`], [`plan`] (what a stripe reads and writes),
//! [`check`] (what cannot be), `requests`, `jobs` (updates of stripes), `trim` (whether it is passed on),
//! [`host_link`], `caching`, `sync` (rebuild and scrub), [`balance`] (which copy is read), [`write_cache`], [`read_ahead`], [`ranges`].

pub mod balance;
mod caching;
pub mod check;
pub mod config;
mod counts;
pub mod host_link;
mod jobs;
pub mod layout;
pub mod plan;
pub mod ranges;
pub mod read_ahead;
mod requests;
mod sync;
#[cfg(test)]
mod test;
mod trim;
pub mod write_cache;

use super::layer::{DefaultSource, LayerConfig};
use super::stacked::{Answer, Layer, Stacked, Work};
use balance::Balance;
use config::{RaidConfig, ReadAheadPolicy};
use counts::Counts;
use host_link::HostLink;
use jobs::Jobs;
use layout::Layout;
use plan::Stripe;
use ranges::Ranges;
use read_ahead::ReadAhead;
use requests::{Owner, Pending};
use ssdlab_device::block::{Device, Limits, Operation, Request, Status, Tag};
use ssdlab_device::parameter::Problem;
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::sim::timeline::Timeline;
use ssdlab_device::units::Lba;
use std::collections::BTreeMap;
use sync::Sync;
use write_cache::WriteCache;

/// An array.
pub struct Raid {
    config: RaidConfig,
    layout: Layout,
    sector_bytes: u32,
    /// Sectors of the unit in which parity is kept right.
    page: u64,
    failed: Vec<bool>,
    requests: Slots<Pending>,
    /// Requests that have come.
    requests_taken: u64,
    jobs: Jobs,
    /// Takes the requests.
    processor: Timeline,
    /// What joins it to the host, where that is not the host itself.
    host_link: Option<HostLink>,
    /// Handles the stripes.
    thread: Timeline,
    balance: Balance,
    cache: Option<WriteCache>,
    /// Stripes that are being destaged.
    destaging: u32,
    flush_is_set: bool,
    ahead: Option<ReadAhead>,
    sync: Option<Sync>,
    /// Rows of stripes whose parity or copies do not fit the data.
    mismatches: BTreeMap<u64, Ranges>,
    counts: Counts,
}

impl LayerConfig for RaidConfig {
    fn sources(&self) -> Vec<DefaultSource> {
        self.preset.costs().iter().map(|cost| (cost.key, cost.kind, cost.source)).collect()
    }

    fn copies(&self) -> u32 {
        self.disks
    }

    fn build(&self, below: Vec<Box<dyn Device>>) -> Result<Box<dyn Device>, Problem> {
        Ok(Box::new(new(self, below)?))
    }
}

/// Makes an array of its members.
///
/// # Errors
/// What cannot be: too few members, members that differ in their sectors, a chunk that does not fit
/// them, more lost than the redundancy.
pub fn new(config: &RaidConfig, members: Vec<Box<dyn Device>>) -> Result<Stacked<Raid>, Problem> {
    let limits: Vec<Limits> = members.iter().map(|member| member.limits().clone()).collect();
    check::check(config, &limits)?;
    Ok(Stacked::new(Raid::over(config, &limits), members))
}

impl Raid {
    fn over(config: &RaidConfig, limits: &[Limits]) -> Raid {
        let sector_bytes = limits[0].sector_bytes;
        let member_sectors = limits.iter().map(|limits| limits.sectors).min().unwrap_or(0);
        let layout = Layout::new(config, sector_bytes, member_sectors);
        let in_sectors = |bytes: u64| bytes / u64::from(sector_bytes);
        let line = in_sectors(check::line_bytes(config));
        let lines = (in_sectors(config.cache_bytes.0) / line) as usize;
        let cache = || WriteCache::new(line, layout.stripe_sectors() / line, lines, config.destage_share);
        let ahead = || ReadAhead::new(config.read_ahead, line, in_sectors(config.read_ahead_bytes.0), lines);
        let failed = (0..config.disks).map(|member| config.failed.0.contains(&member)).collect();
        Raid {
            page: in_sectors(config.page_bytes.0),
            failed,
            requests: Slots::default(),
            requests_taken: 0,
            jobs: Jobs::default(),
            processor: Timeline::default(),
            host_link: config.host_mb_per_s.map(HostLink::at),
            thread: Timeline::default(),
            balance: Balance::new(config.disks as usize, config.rotational),
            cache: config.write_back.then(cache),
            destaging: 0,
            flush_is_set: false,
            ahead: (config.read_ahead != ReadAheadPolicy::Never).then(ahead),
            sync: Sync::new(config, layout.stripes()),
            mismatches: BTreeMap::new(),
            counts: Counts::default(),
            config: config.clone(),
            layout,
            sector_bytes,
        }
    }

    /// Makes copies or parity of the page that holds a sector of the array differ from its data, as
    /// damage that nobody noticed would.
    pub fn damage(&mut self, lba: u64) {
        let (stripe, from, _) = self.layout.split(lba, 1).next().expect("one sector is in one stripe");
        self.mark_mismatch(stripe, from % self.layout.chunk, from % self.layout.chunk + 1);
    }

    /// Pages whose parity or copies do not fit the data, in sectors of 512 bytes.
    pub fn mismatched_sectors(&self) -> u64 {
        self.mismatches.values().map(Ranges::sectors).sum::<u64>() * u64::from(self.sector_bytes) / 512
    }

    fn mark_mismatch(&mut self, stripe: u64, from: u64, to: u64) {
        let to = to.next_multiple_of(self.page).min(self.layout.unit_sectors(stripe));
        self.mismatches.entry(stripe).or_default().insert(from / self.page * self.page, to);
    }

    /// Whether a member holds nothing of a stripe that may be read; `reading` without its lock sees
    /// only what the rebuild has finished.
    fn is_lost(&self, member: usize, stripe: u64, reading: bool) -> bool {
        self.failed[member] && self.sync.as_ref().is_none_or(|sync| !sync.has_rebuilt(stripe, reading))
    }

    /// A stripe as it is now for who holds its lock.
    fn stripe(&self, stripe: u64) -> Stripe {
        Stripe::new(&self.layout, stripe, |member| self.is_lost(member, stripe, false))
    }

    fn ask(&mut self, member: usize, request: Request, event: Event, work: &mut Work) {
        let is_read = request.operation == Operation::Read;
        self.balance.began(member, request.lba.0, u64::from(request.sectors), is_read);
        work.ask(member, request, event.token());
    }
}

/// What an answer or a time that has come is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// A write has been taken by the processor, and its data cross to the array.
    Send(u32),
    /// A request has been taken by the processor, with its data.
    Start(u32),
    /// The data of a read have crossed to the host.
    End(u32),
    /// An access for a request itself.
    Access(u32),
    /// An access for a job.
    Job(u32),
    /// The thread sends a job's reads.
    Reads(u32),
    /// The thread sends a job's writes.
    Writes(u32),
    /// The oldest write in the cache has waited its time.
    Flush,
    /// The next step of a rebuild or scrub is due.
    Sync,
}

impl Event {
    fn token(self) -> u64 {
        let (kind, number) = match self {
            Event::Start(number) => (0, number),
            Event::Access(number) => (1, number),
            Event::Job(number) => (2, number),
            Event::Reads(number) => (3, number),
            Event::Writes(number) => (4, number),
            Event::Flush => (5, 0),
            Event::Sync => (6, 0),
            Event::Send(number) => (7, number),
            Event::End(number) => (8, number),
        };
        kind << 32 | u64::from(number)
    }

    fn of(token: u64) -> Event {
        let number = token as u32;
        match token >> 32 {
            0 => Event::Start(number),
            1 => Event::Access(number),
            2 => Event::Job(number),
            3 => Event::Reads(number),
            4 => Event::Writes(number),
            5 => Event::Flush,
            6 => Event::Sync,
            7 => Event::Send(number),
            _ => Event::End(number),
        }
    }
}

impl Layer for Raid {
    fn name(&self) -> String {
        "raid".into()
    }

    fn limits(&self, below: &[Limits]) -> Limits {
        let first = &below[0];
        let stripe_bytes = self.layout.stripe_sectors() * u64::from(self.sector_bytes);
        Limits {
            sectors: self.layout.sectors,
            queue_depth: below.iter().fold(0, |sum, limits| limits.queue_depth.saturating_add(sum)),
            discard_granularity_bytes: match self.passes_trim() {
                true => below.iter().map(|limits| limits.discard_granularity_bytes).max().unwrap_or(0),
                false => 0,
            },
            volatile_cache: self.config.write_back && !self.config.battery
                || below.iter().any(|limits| limits.volatile_cache),
            optimal_io_bytes: if self.layout.has_parity() { stripe_bytes as u32 } else { first.optimal_io_bytes },
            ..first.clone()
        }
    }

    fn begin(&mut self, tag: Tag, request: Request, work: &mut Work) {
        let request_time = self.request_time(&request);
        self.requests_taken += 1;
        let number = self.requests.insert(Pending::new(Owner::Host(tag), request));
        let taken = self.processor.reserve(work.now(), request_time) + self.config.latency_us.0;
        let event = if self.crosses(&request, Operation::Write) { Event::Send(number) } else { Event::Start(number) };
        self.go_on(taken, event, work);
        self.sync_on(work);
        if self.cache.as_ref().is_some_and(|cache| cache.overdue) {
            self.destage(work);
        }
    }

    fn answered(&mut self, answer: Answer, work: &mut Work) {
        self.balance.ended(answer.device);
        match Event::of(answer.token) {
            Event::Access(number) => self.part_done(number, answer.status, work),
            Event::Job(number) => self.job_answered(number, answer, work),
            event => unreachable!("{event:?} is a time, not an access"),
        }
    }

    fn woken(&mut self, token: u64, work: &mut Work) {
        self.happen(Event::of(token), work);
    }

    fn apply_now(&mut self, request: Request, work: &mut Work) -> Status {
        self.apply(request, work)
    }

    fn lose_power(&mut self) {
        self.cut_jobs();
        if let Some(cache) = &mut self.cache {
            self.counts.lost_sectors += cache.cut_power(self.config.battery);
        }
        self.ahead.iter_mut().for_each(ReadAhead::clear);
        self.sync.iter_mut().for_each(Sync::cut_power);
        self.balance.clear();
        self.requests.clear();
        self.destaging = 0;
        self.flush_is_set = false;
        (self.processor, self.thread) = Default::default();
        self.host_link.iter_mut().for_each(HostLink::clear);
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.counts.entries()
    }

    fn below_of(&self, lba: Lba) -> Option<(usize, Lba)> {
        let (stripe, from, _) = self.layout.split(lba.0, 1).next()?;
        let place = self.layout.place(stripe, (from / self.layout.chunk) as usize);
        (!self.failed[place.member]).then_some((place.member, Lba(place.lba + from % self.layout.chunk)))
    }
}
