//! An SSD in front of a disk or an array, as maxCache, CacheCade, bcache and dm-cache put it.
//!
//! Modelled: device 0 holds everything, device 1, the SSD, holds lines of it; of a line any sectors, each
//! held or not, and newer than below (dirty) or the same. The line used longest ago makes room.
//!
//! ```text
//! read of what is held           = the SSD        read of what is not = the device below; the copy into the
//!                                                 SSD follows behind, from the n-th access of its line on
//! write, write-back              = the SSD; written to the device below later, in the order of addresses
//! write, write-through           = both, where its line is held or worth it; else the device below
//! stream longer than its limit   = the device below, but for lines with dirty sectors
//! ```
//! Dirty lines are written back when they are more than their share of the cache, or when the host has asked
//! nothing for a while, with FUA, so that what is clean is durable below. A flush goes to both. A
//! write or trim of a line that is being copied into the SSD waits for that. Trims take sectors out
//! of the cache and go to the device below, not to the SSD.
//!
//! What the SSD holds is still known after a power cut, dirty sectors with it. Left out: the writes
//! that keep that knowledge on the SSD, and the host's time to look it up.

mod destage;
mod lines;
mod route;
mod streams;
#[cfg(test)]
mod test;

use super::layer::{DefaultSource, LayerConfig};
use super::stacked::{Answer, Layer, Stacked, Work};
use lines::{Line, MOST_SECTORS, Mask, Recency};
use ssdlab_device::block::{Device, Limits, Operation, Request, Status, Tag};
use ssdlab_device::parameter::{Bytes, Milliseconds, Problem};
use ssdlab_device::units::Lba;
use ssdlab_device::{named_choice, section};
use std::collections::{BTreeMap, BTreeSet};
use streams::Streams;

named_choice! {
    /// When a write is done.
    pub enum WriteMode {
        /// When the device below has it.
        WriteThrough = "write-through",
        /// When the SSD has it.
        WriteBack = "write-back",
    }
}

section! {
    /// How an SSD caches a device.
    pub struct CacheConfig in "cache." {
        mode: WriteMode [""] {} = "\"write-through\"", "write-through or write-back.";
        line_bytes: Bytes ["B"] {4096 .. 524288} = "65536", "Unit of caching and replacement; at most 128 sectors.";
        promote_after: u32 [""] {1 .. 1000} = "2", "Accesses of a line until it is copied into the cache; a write-back cache takes writes at the first.";
        bypass_bytes: Bytes ["B"] {0 .. 1e15} = "4194304", "A stream longer than this bypasses the cache; with 0 none does.";
        dirty_share: f64 [""] {0 .. 1} = "0.1", "Share of the cache that may be dirty before lines are written back.";
        idle_ms: Milliseconds ["ms"] {0 .. 1e9} = "1000", "Time without a request after which all dirty lines are written back.";
        destage_depth: u32 [""] {1 .. 1024} = "8", "Lines written back at once.";
    }
}

/// Where the defaults come from.
const SOURCES: &[DefaultSource] = &[
    ("cache.mode", "published", "bcache (kernel documentation): cache_mode is writethrough unless set"),
    ("cache.bypass_bytes", "published", "bcache (kernel documentation): sequential_cutoff is 4 MB"),
    ("cache.dirty_share", "published", "bcache (kernel documentation): writeback_percent, 10 unless set"),
];

const BACKING: usize = 0;
const SSD: usize = 1;

impl LayerConfig for CacheConfig {
    fn sources(&self) -> Vec<DefaultSource> {
        SOURCES.to_vec()
    }

    fn build(&self, mut below: Vec<Box<dyn Device>>) -> Result<Box<dyn Device>, Problem> {
        let ssd = below.remove(1);
        Ok(Box::new(new(self, below.remove(0), ssd)?))
    }
}

/// An SSD that caches a device.
///
/// # Errors
/// Sectors that differ, a line that is no whole number of sectors or of too many, an SSD without room for one.
pub fn new(
    config: &CacheConfig,
    backing: Box<dyn Device>,
    ssd: Box<dyn Device>,
) -> Result<Stacked<FlashCache>, Problem> {
    let sector = u64::from(backing.limits().sector_bytes);
    let line = config.line_bytes.0;
    let problem = |message: String| Err(Problem::new("cache.line_bytes", line, message));
    if u64::from(ssd.limits().sector_bytes) != sector {
        let message = format!(
            "the device below has sectors of {sector} B and the SSD of {}; take drives with the same",
            ssd.limits().sector_bytes
        );
        return Err(Problem::new("cache.drive", "", message));
    }
    if !line.is_multiple_of(sector) || line / sector > MOST_SECTORS {
        return problem(format!("a line is a whole number of sectors of {sector} B, at most {MOST_SECTORS}"));
    }
    let slots = ssd.limits().capacity_bytes() / line;
    if slots == 0 {
        return problem("the SSD has no room for a line; take a larger one".into());
    }
    Ok(Stacked::new(FlashCache::empty(config, line / sector, slots, sector), vec![backing, ssd]))
}

/// What the SSD holds, and what is under way.
#[derive(Debug)]
pub struct FlashCache {
    config: CacheConfig,
    line_sectors: u64,
    sector_bytes: u64,
    slots: u64,
    /// Slots that were in use and are free again, and the first that never was.
    free: Vec<u64>,
    unused: u64,
    lines: Recency<Line>,
    /// Accesses of lines that are not held.
    seen: Recency<u32>,
    streams: Streams,
    /// Lines with dirty sectors.
    dirty: BTreeSet<u64>,
    /// Lines being written back, with the number of answers that are still to come.
    destaging: BTreeMap<u64, Destage>,
    /// Writing back goes on from this line.
    hand: u64,
    idle: bool,
    requests: BTreeMap<Tag, UnderWay>,
    /// Requests that ended or began: tells whether the host was idle since a timer was set.
    changes: u64,
    jobs: BTreeMap<u64, Job>,
    jobs_begun: u64,
    /// Writes and trims that wait for copies into their lines.
    parked: Vec<(Tag, Request)>,
    counts: Counts,
}

/// A line being written back.
#[derive(Clone, Copy, Debug)]
struct Destage {
    open: u32,
    writing: bool,
}

/// What an answer from below belongs to.
#[derive(Clone, Copy, Debug)]
enum Job {
    Host(Tag),
    Promotion { line: u64, copied: Mask },
    Destage { line: u64 },
}

/// A request of the host.
#[derive(Debug)]
struct UnderWay {
    request: Request,
    open: u32,
    status: Status,
    /// What the SSD will hold when the request is done, and whether it is then dirty.
    fills: Vec<(u64, Mask)>,
    dirties: bool,
    /// Lines whose slots are in use.
    uses: Vec<u64>,
    /// What was read below and is worth a copy.
    promotes: Vec<(u64, Mask)>,
}

#[derive(Debug, Default)]
struct Counts {
    hit_sectors: u64,
    missed_sectors: u64,
    bypassed_sectors: u64,
    promoted_sectors: u64,
    destaged_sectors: u64,
    evicted_lines: u64,
    failed_destages: u64,
}

impl FlashCache {
    fn empty(config: &CacheConfig, line_sectors: u64, slots: u64, sector: u64) -> FlashCache {
        FlashCache {
            config: config.clone(),
            line_sectors,
            sector_bytes: sector,
            slots,
            free: Vec::new(),
            unused: 0,
            lines: Recency::default(),
            seen: Recency::default(),
            streams: Streams::new(config.bypass_bytes.0 / sector),
            dirty: BTreeSet::new(),
            destaging: BTreeMap::new(),
            hand: 0,
            idle: false,
            requests: BTreeMap::new(),
            changes: 0,
            jobs: BTreeMap::new(),
            jobs_begun: 0,
            parked: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// The range of lines that a request touches.
    fn lines_of(&self, request: &Request) -> std::ops::Range<u64> {
        let end = request.lba.0 + u64::from(request.sectors);
        request.lba.0 / self.line_sectors..end.div_ceil(self.line_sectors)
    }

    fn ask(&mut self, device: usize, request: Request, job: Job, work: &mut Work) {
        let token = self.jobs_begun;
        self.jobs_begun += 1;
        self.jobs.insert(token, job);
        work.ask(device, request, token);
    }

    /// Starts a request, or lets it wait for a copy into one of its lines.
    fn start(&mut self, tag: Tag, request: Request, work: &mut Work) {
        let mut lines = self.lines_of(&request);
        let changes = matches!(request.operation, Operation::Write | Operation::WriteZeroes | Operation::Trim);
        if changes && lines.any(|line| self.lines.get(line).is_some_and(|line| line.promoting > 0)) {
            self.parked.push((tag, request));
            return;
        }
        let (under_way, pieces) = self.route(request);
        self.requests.insert(tag, under_way);
        for (device, piece) in pieces {
            self.ask(device, piece, Job::Host(tag), work);
        }
    }

    fn host_answered(&mut self, tag: Tag, status: Status, work: &mut Work) {
        let Some(under_way) = self.requests.get_mut(&tag) else { return };
        under_way.open -= 1;
        if status != Status::Success {
            under_way.status = status;
        }
        if under_way.open > 0 {
            return;
        }
        let Some(under_way) = self.requests.remove(&tag) else { return };
        self.take_effect(&under_way);
        work.finish(tag, under_way.status);
        self.promote(&under_way, work);
        self.changes += 1;
        if self.requests.is_empty() {
            work.wake_at(work.now() + self.config.idle_ms.0, self.changes);
        }
    }

    /// Copies what a read brought into the SSD; the host does not wait for it.
    fn promote(&mut self, read: &UnderWay, work: &mut Work) {
        if read.status != Status::Success {
            return;
        }
        for &(line, copied) in &read.promotes {
            if !self.hold(line) {
                continue;
            }
            let held = self.lines.get_mut(line).expect("just held");
            held.promoting += 1;
            let slot = held.slot;
            let (first, sectors) = lines::stretches(copied).next().expect("something was read");
            let at = Lba(slot * self.line_sectors + first);
            let request = Request { lba: at, sectors: sectors as u32, operation: Operation::Write, ..read.request };
            self.ask(SSD, Request { fua: false, ..request }, Job::Promotion { line, copied }, work);
        }
    }

    fn promoted(&mut self, line: u64, copied: Mask, status: Status, work: &mut Work) {
        if let Some(held) = self.lines.get_mut(line) {
            held.promoting -= 1;
            if status == Status::Success {
                held.valid |= copied;
                self.counts.promoted_sectors += u64::from(copied.count_ones());
            }
        }
        for (tag, request) in std::mem::take(&mut self.parked) {
            self.start(tag, request, work);
        }
    }
}

impl Layer for FlashCache {
    fn name(&self) -> String {
        "cache".into()
    }

    fn limits(&self, below: &[Limits]) -> Limits {
        Limits {
            queue_depth: below[BACKING].queue_depth.max(below[SSD].queue_depth),
            volatile_cache: below.iter().any(|device| device.volatile_cache),
            ..below[BACKING].clone()
        }
    }

    fn begin(&mut self, tag: Tag, request: Request, work: &mut Work) {
        self.idle = false;
        self.changes += 1;
        self.start(tag, request, work);
        self.destage(work);
    }

    fn answered(&mut self, answer: Answer, work: &mut Work) {
        match self.jobs.remove(&answer.token) {
            Some(Job::Host(tag)) => self.host_answered(tag, answer.status, work),
            Some(Job::Promotion { line, copied }) => self.promoted(line, copied, answer.status, work),
            Some(Job::Destage { line }) => self.destage_answered(line, answer.status, work),
            None => {}
        }
        self.destage(work);
    }

    fn woken(&mut self, token: u64, work: &mut Work) {
        self.idle = token == self.changes;
        self.destage(work);
    }

    fn apply_now(&mut self, request: Request, work: &mut Work) -> Status {
        if request.operation == Operation::Read {
            return Status::Success;
        }
        let (under_way, pieces) = self.route(request);
        let mut status = Status::Success;
        for (device, piece) in pieces {
            status = status.or(work.apply_now(device, piece));
        }
        self.take_effect(&UnderWay { status, ..under_way });
        self.destage_now(work);
        status
    }

    fn lose_power(&mut self) {
        self.requests.clear();
        self.jobs.clear();
        self.parked.clear();
        self.destaging.clear();
        self.seen.clear();
        self.streams.clear();
        self.idle = false;
        for (number, line) in self.lines.values_mut() {
            line.dirty = (line.dirty | line.destaging) & line.valid;
            (line.destaging, line.users, line.promoting) = (0, 0, 0);
            if line.dirty != 0 {
                self.dirty.insert(number);
            }
        }
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let (counts, sector) = (&self.counts, self.sector_bytes);
        vec![
            ("hit_bytes", counts.hit_sectors * sector),
            ("missed_bytes", counts.missed_sectors * sector),
            ("bypassed_bytes", counts.bypassed_sectors * sector),
            ("promoted_bytes", counts.promoted_sectors * sector),
            ("destaged_bytes", counts.destaged_sectors * sector),
            ("evicted_lines", counts.evicted_lines),
            ("failed_destages", counts.failed_destages),
        ]
    }
}
