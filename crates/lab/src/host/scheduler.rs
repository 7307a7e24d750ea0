//! The host's I/O scheduler over one device, and the limits of its queue.
//!
//! Modelled, after Linux: requests larger than `max_sectors_kb` are cut; those that arrive at one
//! instant are plugged, that is looked at together; waiting ones that touch are merged, at the back
//! or at the front; at most `dispatch_depth` are in the device, and the policy says which goes next
//! ([`policy`]). `none` merges within a plug only, as a queue without scheduler does; the others with anything
//! that waits. A flush goes past the queue. A request of the host is done when all its parts are.
//!
//! Left out: queues per process and CPU (a block request does not say whose it is), priorities,
//! tokens of kyber and budgets of bfq, joining two requests when a third has closed the gap between
//! them, CPU time. `nr_requests` counts what the host asked, also what was merged.

mod policy;
mod waiting;

use super::layer::{DefaultSource, LayerConfig};
use super::stacked::{Answer, Layer, Stacked, Work};
use policy::{Choice, Policy};
use ssdlab_device::block::{Device, Limits, Operation, Request, Status, Tag};
use ssdlab_device::parameter::{Milliseconds, Problem};
use ssdlab_device::units::{Lba, Nanos};
use ssdlab_device::{named_choice, section};
use std::collections::BTreeMap;
use waiting::{Piece, Waiting};

named_choice! {
    /// Policy that chooses the next request.
    pub enum SchedulerPolicy {
        /// In order of arrival, merged within a plug.
        None = "none",
        /// In order of arrival, merged with all that waits.
        Noop = "noop",
        /// In order of sectors, reads first, nothing waits for long.
        Deadline = "deadline",
        /// Slices of time for reads and for writes, in order of sectors; idles for a disk's next read.
        Cfq = "cfq",
    }
}

section! {
    /// A scheduler's tunables, by the names that they have in Linux.
    pub struct SchedulerConfig in "scheduler." {
        policy: SchedulerPolicy [""] {} = "\"none\"", "Policy that chooses the next request.";
        merge: bool [""] {} = "true", "Requests that touch become one (nomerges = 0).";
        max_sectors_kb: u32 ["KiB"] {4 .. 65536} = "512", "Largest read or write that goes down.";
        nr_requests: u32 [""] {1 .. 1048576} = "128", "Maximum number of requests, waiting and under way.";
        dispatch_depth: Option<u32> [""] {1 .. 1048576} = "\"none\"", "Maximum number of requests in the device; none means as many as it takes.";
        read_expire_ms: Milliseconds ["ms"] {0 .. 1000000} = "500", "deadline: a read that has waited this long is next.";
        write_expire_ms: Milliseconds ["ms"] {0 .. 1000000} = "5000", "deadline: the same for a write or trim.";
        fifo_batch: u32 [""] {1 .. 1000000} = "16", "deadline: requests of one direction in a row.";
        writes_starved: u32 [""] {0 .. 1000000} = "2", "deadline: batches of reads that may go before waiting writes.";
        slice_sync_ms: Milliseconds ["ms"] {1 .. 1000000} = "100", "cfq: slice of reads.";
        slice_async_ms: Milliseconds ["ms"] {1 .. 1000000} = "40", "cfq: slice of writes.";
        slice_idle_ms: Milliseconds ["ms"] {0 .. 1000} = "8", "cfq: how long a rotational device idles for the next read.";
        fifo_expire_sync_ms: Milliseconds ["ms"] {1 .. 1000000} = "125", "cfq: a read that has waited this long begins the slice.";
        fifo_expire_async_ms: Milliseconds ["ms"] {1 .. 1000000} = "250", "cfq: the same for a write or trim.";
        back_seek_max: u32 ["KiB"] {0 .. 1000000000} = "16384", "cfq: farthest step back.";
        back_seek_penalty: u32 [""] {1 .. 1000} = "2", "cfq: factor by which the distance of a step back counts.";
        sync_writes: bool [""] {} = "false", "cfq: writes are synchronous (O_DIRECT, O_SYNC) and share the reads' slice.";
        rotational: bool [""] {} = "false", "cfq: the device below has an arm to move (queue/rotational).";
    }
}

const DEADLINE: &str = "Linux, block/deadline-iosched.c, and Documentation/block/deadline-iosched";
const CFQ: &str = "Linux 4.x, block/cfq-iosched.c, and Documentation/block/cfq-iosched";
const QUEUE: &str = "Linux up to 4.2, include/linux/blkdev.h: BLK_DEF_MAX_SECTORS 1024, BLKDEV_MAX_RQ 128";

/// Where the defaults come from.
const SOURCES: &[DefaultSource] = &[
    ("scheduler.max_sectors_kb", "published", QUEUE),
    ("scheduler.nr_requests", "published", QUEUE),
    ("scheduler.read_expire_ms", "published", DEADLINE),
    ("scheduler.write_expire_ms", "published", DEADLINE),
    ("scheduler.fifo_batch", "published", DEADLINE),
    ("scheduler.writes_starved", "published", DEADLINE),
    ("scheduler.slice_sync_ms", "published", CFQ),
    ("scheduler.slice_async_ms", "published", CFQ),
    ("scheduler.slice_idle_ms", "published", CFQ),
    ("scheduler.fifo_expire_sync_ms", "published", CFQ),
    ("scheduler.fifo_expire_async_ms", "published", CFQ),
    ("scheduler.back_seek_max", "published", CFQ),
    ("scheduler.back_seek_penalty", "published", CFQ),
];

/// Times that the scheduler sets.
const UNPLUG: u64 = 0;
const IDLED: u64 = 1;

impl LayerConfig for SchedulerConfig {
    fn sources(&self) -> Vec<DefaultSource> {
        SOURCES.to_vec()
    }

    fn build(&self, mut below: Vec<Box<dyn Device>>) -> Result<Box<dyn Device>, Problem> {
        Ok(Box::new(new(self, below.remove(0))))
    }
}

/// A scheduler over a device.
pub fn new(config: &SchedulerConfig, below: Box<dyn Device>) -> Stacked<Scheduler> {
    let limits = below.limits();
    let depth = config.dispatch_depth.map_or(limits.queue_depth, |depth| depth.min(limits.queue_depth));
    let scheduler = Scheduler {
        most_sectors: config.max_sectors_kb * 1024 / limits.sector_bytes,
        merges_in_plug_only: config.policy == SchedulerPolicy::None,
        depth: depth.max(1),
        policy: Policy::new(config, limits.sector_bytes),
        sector_bytes: limits.sector_bytes,
        config: config.clone(),
        waiting: Waiting::default(),
        hosts: BTreeMap::new(),
        in_device: BTreeMap::new(),
        plugged: false,
        next_token: 0,
        splits: 0,
    };
    Stacked::new(scheduler, vec![below])
}

/// A scheduler at work.
pub struct Scheduler {
    config: SchedulerConfig,
    sector_bytes: u32,
    most_sectors: u32,
    merges_in_plug_only: bool,
    depth: u32,
    policy: Policy,
    waiting: Waiting,
    /// Requests of the host by tag: parts that are still to come, and how they ended so far.
    hosts: BTreeMap<u32, (u32, Status)>,
    in_device: BTreeMap<u64, Piece>,
    plugged: bool,
    next_token: u64,
    splits: u64,
}

impl Scheduler {
    /// Parts of a request that are small enough to go down.
    fn parts(&self, request: Request) -> impl Iterator<Item = Request> + use<> {
        let step = match request.operation {
            Operation::Read | Operation::Write => self.most_sectors,
            _ => request.sectors.max(1),
        };
        (0..request.sectors.max(1)).step_by(step as usize).map(move |at| Request {
            lba: Lba(request.lba.0 + u64::from(at)),
            sectors: step.min(request.sectors - at),
            ..request
        })
    }

    fn queue(&mut self, piece: Piece) {
        let since = if self.merges_in_plug_only { piece.arrived } else { Nanos::ZERO };
        let most = match piece.request.operation {
            Operation::Read | Operation::Write => self.most_sectors,
            _ => u32::MAX,
        };
        let rest = if self.config.merge { self.waiting.merge(piece, most, since) } else { Some(piece) };
        if let Some(piece) = rest {
            self.waiting.push(piece);
        }
    }

    /// Sends down what the policy chooses, as long as the device takes it.
    fn dispatch(&mut self, work: &mut Work) {
        while (self.in_device.len() as u32) < self.depth {
            match self.policy.next(work.now(), &mut self.waiting) {
                Choice::Go(piece) => self.send(piece, work),
                Choice::Idle(until) => return work.wake_at(until, IDLED),
                Choice::Nothing => return,
            }
        }
    }

    fn send(&mut self, piece: Piece, work: &mut Work) {
        let token = self.next_token;
        self.next_token += 1;
        let request = piece.request;
        self.in_device.insert(token, piece);
        work.ask(0, request, token);
    }

    fn finish_part(&mut self, tag: Tag, status: Status, work: &mut Work) {
        let host = self.hosts.get_mut(&tag.0).expect("a part belongs to a request");
        host.0 -= 1;
        if status != Status::Success {
            host.1 = status;
        }
        if host.0 == 0 {
            let (_, status) = self.hosts.remove(&tag.0).expect("looked up");
            work.finish(tag, status);
        }
    }
}

impl Layer for Scheduler {
    fn name(&self) -> String {
        "scheduler".into()
    }

    fn limits(&self, below: &[Limits]) -> Limits {
        Limits { queue_depth: self.config.nr_requests, ..below[0].clone() }
    }

    fn begin(&mut self, tag: Tag, request: Request, work: &mut Work) {
        let parts: Vec<Request> = self.parts(request).collect();
        self.hosts.insert(tag.0, (parts.len() as u32, Status::Success));
        self.splits += parts.len() as u64 - 1;
        for request in parts {
            let piece = Piece { request, arrived: work.now(), tags: vec![tag] };
            if request.operation == Operation::Flush {
                self.send(piece, work);
            } else {
                self.queue(piece);
            }
        }
        if !self.plugged {
            self.plugged = true;
            work.wake_at(work.now(), UNPLUG);
        }
    }

    fn answered(&mut self, answer: Answer, work: &mut Work) {
        let piece = self.in_device.remove(&answer.token).expect("it was sent");
        self.policy.completed(work.now(), &piece.request);
        for tag in piece.tags {
            self.finish_part(tag, answer.status, work);
        }
        // What the host asks at this very instant is looked at together with what waits.
        if !self.plugged {
            self.plugged = true;
            work.wake_at(work.now(), UNPLUG);
        }
    }

    fn woken(&mut self, token: u64, work: &mut Work) {
        if token == UNPLUG {
            self.plugged = false;
        }
        self.dispatch(work);
    }

    fn apply_now(&mut self, request: Request, work: &mut Work) -> Status {
        work.apply_now(0, request)
    }

    fn lose_power(&mut self) {
        self.waiting = Waiting::default();
        self.hosts.clear();
        self.in_device.clear();
        self.policy = Policy::new(&self.config, self.sector_bytes);
        self.plugged = false;
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("merged_at_back", self.waiting.merged[0]),
            ("merged_at_front", self.waiting.merged[1]),
            ("splits", self.splits),
        ]
    }

    fn below_of(&self, lba: Lba) -> Option<(usize, Lba)> {
        Some((0, lba))
    }
}

#[cfg(test)]
mod test;
