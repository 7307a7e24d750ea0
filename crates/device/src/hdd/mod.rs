//! A hard disk: seek, rotation, zones, cache, queue.
//!
//! ```text
//! read that misses = command + seek + rotation + transfer + link       (on average half a revolution)
//! read that hits   = command + link
//! cached write     = command + link, as long as the cache has room; else it waits for the arm
//! ```
//! Modelled: the seek curve ([`seek`]), the angle of every sector and what passes under the head
//! ([`geometry`], [`arm`]), segments with reading ahead, and a write cache that joins neighbours ([`cache`]).
//! Of all that waits, the arm takes the least positioning·aging / (aging + age): shortest positioning time
//! first, with a weight for age, as Seltzer, Chen and Ousterhout propose (Disk Scheduling Revisited, USENIX
//! Winter 1990). Theirs, 1 − age / limit, is not taken: once all have waited for the limit it is first come,
//! first served, which is slower still, so that they go on waiting for longer than the limit. Requests of
//! the host go before cached writes until half of the cache is full, a write waits for room, or a flush waits;
//! a flush keeps new writes out of the cache. The structure follows Ruemmler and Wilkes, An Introduction to
//! Disk Drive Modeling, IEEE Computer 27(3), 1994.
//!
//! A request's data cross the link when the request has been read whole, and cached writes are written
//! track by track. Energy = time of the arm at work · active power + the rest · idle power. Left out:
//! standing still (standby), shingled tracks, remapped sectors, errors, bytes; a trim completes and
//! does nothing.

mod arm;
mod cache;
mod choice;
mod device;
mod geometry;
mod seek;
#[cfg(test)]
mod test;

use crate::block::{Completion, Limits, Operation, Request, Status, Tag};
use crate::config::hdd::HddConfig;
use crate::counters::Counters;
use crate::sim::random::{Purpose, Stream};
use crate::sim::timeline::Timeline;
use crate::units::Nanos;
use arm::Arm;
use cache::{Dirty, ReadCache};
use choice::{Job, ReadAhead};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A command has been decoded.
    Ready(usize),
    /// A write's data are in the drive.
    DataIn(usize),
    /// The arm has done what it was at.
    ArmDone,
    /// A command ends.
    Ends(usize),
}

#[derive(Clone, Copy, Debug)]
struct Command {
    tag: Tag,
    request: Request,
    arrived: Nanos,
    status: Status,
}

impl Command {
    fn sectors(&self) -> Range<u64> {
        self.request.lba.0..self.request.lba.0 + u64::from(self.request.sectors)
    }
}

/// What a hard disk counts besides [`Counters`].
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    accesses: u64,
    seek_ns: u64,
    rotation_ns: u64,
    rewrite_ns: u64,
    transfer_ns: u64,
    cache_hits: u64,
    cached_writes: u64,
}

/// A hard disk in virtual time.
#[derive(Clone, Debug)]
pub struct Hdd {
    config: HddConfig,
    limits: Limits,
    now: Nanos,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    events_set: u64,
    commands: Vec<Command>,
    free: Vec<usize>,
    finished: Vec<Completion>,
    controller: Timeline,
    link: Timeline,
    arm: Arm,
    /// Commands that wait for the arm, the one that came first at the front.
    queue: Vec<usize>,
    job: Option<Job>,
    read_ahead: Option<ReadAhead>,
    read_cache: ReadCache,
    dirty: Dirty,
    /// Sectors of the write cache, and how many of them are taken.
    room: u64,
    taken: u64,
    /// Cached writes whose data are on the link.
    incoming: u32,
    /// Writes that wait for room in the cache.
    waiting: VecDeque<usize>,
    flushes: Vec<usize>,
    counters: Counters,
    counts: Counts,
}

impl Hdd {
    /// A disk at rest; the seed says how far it has turned.
    pub fn new(config: &HddConfig, seed: u64) -> Hdd {
        let sector_bytes = config.export.sector_bytes;
        let half = config.hdd.cache_bytes.0 / 2 / u64::from(sector_bytes);
        let turned = |revolution: Nanos| {
            Nanos(u64::from(Stream::new(seed, Purpose::Spindle).below(revolution.0.min(u64::from(u32::MAX)) as u32)))
        };
        Hdd {
            limits: limits(config),
            now: Nanos::ZERO,
            events: BinaryHeap::new(),
            events_set: 0,
            commands: Vec::new(),
            free: Vec::new(),
            finished: Vec::new(),
            controller: Timeline::default(),
            link: Timeline::default(),
            arm: Arm::new(config, turned),
            queue: Vec::new(),
            job: None,
            read_ahead: None,
            read_cache: ReadCache::new(config.hdd.cache_segments as usize, half / u64::from(config.hdd.cache_segments)),
            dirty: Dirty::default(),
            room: if config.hdd.write_cache { half } else { 0 },
            taken: 0,
            incoming: 0,
            waiting: VecDeque::new(),
            flushes: Vec::new(),
            counters: Counters::default(),
            counts: Counts::default(),
            config: config.clone(),
        }
    }

    /// Its parameters.
    pub fn config(&self) -> &HddConfig {
        &self.config
    }

    /// Cylinders in use, heads, and the time of a revolution.
    pub fn shape(&self) -> (u64, u64, Nanos) {
        let geometry = &self.arm.geometry;
        (geometry.cylinders, geometry.heads, geometry.revolution)
    }

    /// Sectors of the track on which a sector lies.
    pub fn sectors_per_track(&self, sector: u64) -> u64 {
        self.arm.geometry.place(sector).per_track
    }

    fn at(&mut self, time: Nanos, event: Event) {
        self.events.push(Reverse((time, self.events_set, event)));
        self.events_set += 1;
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Ready(slot) => self.ready(slot),
            Event::DataIn(slot) => self.data_in(slot),
            Event::ArmDone => self.arm_done(),
            Event::Ends(slot) => self.ends(slot),
        }
    }

    fn ready(&mut self, slot: usize) {
        let Command { request, .. } = self.commands[slot];
        match request.operation {
            Operation::Flush => {
                self.flushes.push(slot);
                self.flush_done();
            }
            Operation::Trim => self.ends(slot),
            _ if request.sectors == 0 => self.ends(slot),
            Operation::Read => self.read_ready(slot),
            Operation::Write | Operation::WriteZeroes if self.is_cached(&request) => {
                self.waiting.push_back(slot);
                self.admit();
            }
            Operation::Write | Operation::WriteZeroes => self.bring_in(slot),
        }
    }

    fn is_cached(&self, request: &Request) -> bool {
        !request.fua && u64::from(request.sectors) <= self.room
    }

    fn read_ready(&mut self, slot: usize) {
        let wanted = self.commands[slot].sectors();
        self.keep_read_ahead();
        if self.dirty.covers(&wanted) || self.read_cache.hit(&wanted) {
            self.counts.cache_hits += 1;
            self.send_out(slot);
            self.prolong_read_ahead(wanted.end);
        } else {
            self.queue.push(slot);
        }
    }

    /// Lets writes into the cache as far as there is room; none overtakes a flush.
    fn admit(&mut self) {
        while let Some(&slot) = self.waiting.front() {
            let sectors = u64::from(self.commands[slot].request.sectors);
            let stretches = self.dirty.len() as u64 + u64::from(self.incoming);
            let has_room = self.taken + sectors <= self.room && stretches < u64::from(self.config.hdd.cached_writes);
            if !has_room || !self.flushes.is_empty() {
                break;
            }
            self.waiting.pop_front();
            self.taken += sectors;
            self.incoming += 1;
            self.bring_in(slot);
        }
    }

    fn link_time(&self, request: &Request) -> Nanos {
        let bytes = u64::from(request.sectors) * u64::from(self.limits.sector_bytes);
        let carried = if request.operation == Operation::WriteZeroes { 0 } else { bytes };
        Nanos::of_transfer(carried, self.config.hdd.link_mb_per_s)
    }

    fn over_link(&mut self, slot: usize) -> Nanos {
        let time = self.link_time(&self.commands[slot].request);
        self.counters.link_ns += time.0;
        self.link.reserve(self.now, time)
    }

    fn bring_in(&mut self, slot: usize) {
        let there = self.over_link(slot);
        self.at(there, Event::DataIn(slot));
    }

    fn send_out(&mut self, slot: usize) {
        let there = self.over_link(slot);
        self.at(there, Event::Ends(slot));
    }

    fn data_in(&mut self, slot: usize) {
        let command = self.commands[slot];
        if !self.is_cached(&command.request) {
            self.queue.push(slot);
            return;
        }
        self.incoming -= 1;
        self.counts.cached_writes += 1;
        self.taken -= self.dirty.add(command.sectors(), self.now);
        self.ends(slot);
    }

    /// Flushes end when nothing acknowledged is only in the cache; then writes may come in again.
    fn flush_done(&mut self) {
        let writing = matches!(self.job, Some(Job { command: None, .. }));
        if self.flushes.is_empty() || !self.dirty.is_empty() || writing || self.incoming > 0 {
            return;
        }
        for slot in std::mem::take(&mut self.flushes) {
            self.ends(slot);
        }
        self.admit();
    }

    fn ends(&mut self, slot: usize) {
        let Command { tag, request, status, .. } = self.commands[slot];
        if status == Status::Success {
            request.count(&mut self.counters, self.limits.sector_bytes);
        }
        self.free.push(slot);
        self.finished.push(Completion { tag, status });
    }

    fn outstanding(&self) -> usize {
        self.commands.len() - self.free.len()
    }

    fn take_slot(&mut self, command: Command) -> usize {
        match self.free.pop() {
            Some(slot) => {
                self.commands[slot] = command;
                slot
            }
            None => {
                self.commands.push(command);
                self.commands.len() - 1
            }
        }
    }

    fn is_within(&self, request: &Request) -> bool {
        let end = request.lba.0.checked_add(u64::from(request.sectors));
        request.operation == Operation::Flush || end.is_some_and(|end| end <= self.limits.sectors)
    }

    /// Energy since the beginning in millijoules, where the powers are known.
    fn energy_mj(&self) -> Option<u64> {
        let counts = &self.counts;
        let busy = Nanos(counts.seek_ns + counts.rotation_ns + counts.rewrite_ns + counts.transfer_ns).as_s();
        let idle = (self.now.as_s() - busy).max(0.0);
        Some(((busy * self.config.hdd.active_w? + idle * self.config.hdd.idle_w?) * 1e3).round() as u64)
    }
}

fn limits(config: &HddConfig) -> Limits {
    let sector_bytes = config.export.sector_bytes;
    Limits {
        sector_bytes,
        sectors: config.export.capacity_bytes.0 / u64::from(sector_bytes),
        queue_depth: config.hdd.queue_depth,
        discard_granularity_bytes: sector_bytes,
        volatile_cache: config.hdd.write_cache && config.hdd.cache_bytes.0 > 0,
        optimal_io_bytes: config.hdd.physical_sector_bytes,
    }
}
