//! What paces a clone by the clock: rates, pauses, the times of a trace.
//!
//! Request k is due when the requests before it are due at the given rate, or at the arrivals of a Poisson
//! process of that rate. After `thinktime_blocks` requests, counted as they complete or as they are issued,
//! or after `thinktime_iotime`, the clone pauses once nothing of it is outstanding.

use super::tally::Direction;
use crate::workload::generate::Planned;
use crate::workload::job::Job;
use crate::workload::random::Stream;
use ssdlab_device::block::{Limits, Request};
use ssdlab_device::units::Nanos;

/// Of one clone.
pub struct Pace {
    start: Nanos,
    /// Nanoseconds a byte and a request take at the given rates; 0 where there is no cap.
    ns_per_byte: [f64; 3],
    ns_per_request: [f64; 3],
    bytes: [u64; 3],
    requests: [u64; 3],
    /// Arrivals of a Poisson process: when the next request of each direction is due, from the start on.
    arrivals: Option<(Stream, [f64; 3])>,
    sector_bytes: u64,
    think_time: Nanos,
    think_blocks: u64,
    think_by_issue: bool,
    think_io_time: Nanos,
    ignores_thinking: bool,
    thought: u64,
    /// When the requests after the last pause began.
    active_since: Nanos,
    pause_until: Nanos,
}

impl Pace {
    /// For a job that needs it.
    pub fn of(job: &Job, limits: &Limits, stream: Stream) -> Option<Pace> {
        let period = |rate: Option<u64>| rate.map_or(0.0, |rate| 1e9 / rate.max(1) as f64);
        let pace = Pace {
            start: Nanos::ZERO,
            ns_per_byte: [job.rate.read, job.rate.write, job.rate.trim].map(period),
            ns_per_request: [job.rate_iops.read, job.rate_iops.write, job.rate_iops.trim].map(period),
            bytes: [0; 3],
            requests: [0; 3],
            arrivals: job.rate_poisson.then_some((stream, [0.0; 3])),
            sector_bytes: u64::from(limits.sector_bytes),
            think_time: job.think_time,
            // With a time alone, the number of requests does not count, as in fio.
            think_blocks: if job.think_io_time > Nanos::ZERO && job.think_blocks == 1 {
                u64::MAX
            } else {
                u64::from(job.think_blocks.max(1))
            },
            think_by_issue: job.think_by_issue,
            think_io_time: job.think_io_time,
            ignores_thinking: job.rate_ignores_thinking,
            thought: 0,
            active_since: Nanos::ZERO,
            pause_until: Nanos::ZERO,
        };
        let needed = pace.ns_per_byte != [0.0; 3]
            || pace.ns_per_request != [0.0; 3]
            || pace.think_time > Nanos::ZERO
            || job.flow.weight > 0
            || job.replay.as_ref().is_some_and(|replay| replay.timed);
        needed.then_some(pace)
    }

    /// The clone begins.
    pub fn start(&mut self, now: Nanos) {
        (self.start, self.active_since) = (now, now);
    }

    /// The pause it is in no longer counts.
    pub fn forget(&mut self) {
        self.pause_until = Nanos::ZERO;
    }

    /// A request may not be issued before this time.
    pub fn not_before(&self, planned: &Planned) -> Nanos {
        let mut until = self.pause_until;
        if let Some(time) = planned.not_before {
            until = until.max(self.start + time);
        }
        let direction = Direction::of(planned.request.operation) as usize;
        if direction < 3 {
            let due = match &self.arrivals {
                Some((_, due)) => due[direction],
                None => {
                    let by_bytes = self.bytes[direction] as f64 * self.ns_per_byte[direction];
                    by_bytes.max(self.requests[direction] as f64 * self.ns_per_request[direction])
                }
            };
            until = until.max(self.start + Nanos(due as u64));
        }
        until
    }

    /// Counts an issued request; true if a pause follows it.
    pub fn issue(&mut self, request: &Request, now: Nanos) -> bool {
        let direction = Direction::of(request.operation) as usize;
        if direction == Direction::Sync as usize {
            return false;
        }
        let bytes = u64::from(request.sectors) * self.sector_bytes;
        self.bytes[direction] += bytes;
        self.requests[direction] += 1;
        if let Some((stream, due)) = &mut self.arrivals {
            let mean = self.ns_per_request[direction].max(bytes as f64 * self.ns_per_byte[direction]);
            due[direction] -= mean * libm::log(1.0 - stream.unit());
        }
        self.think_by_issue && self.counts(now)
    }

    /// Counts a completed request; true if a pause follows it.
    pub fn completed(&mut self, direction: Direction, now: Nanos) -> bool {
        direction != Direction::Sync && !self.think_by_issue && self.counts(now)
    }

    fn counts(&mut self, now: Nanos) -> bool {
        self.thought += 1;
        let by_time = self.think_io_time > Nanos::ZERO && now >= self.active_since + self.think_io_time;
        self.think_time > Nanos::ZERO && (self.thought >= self.think_blocks || by_time)
    }

    /// It pauses now.
    pub fn is_pausing(&self, now: Nanos) -> bool {
        now < self.pause_until
    }

    /// The pause begins.
    pub fn think(&mut self, now: Nanos) {
        self.thought = 0;
        self.pause_until = now + self.think_time;
        self.active_since = self.pause_until;
        if self.ignores_thinking {
            self.start += self.think_time;
        }
    }
}
