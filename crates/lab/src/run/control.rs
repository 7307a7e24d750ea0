//! What ends or slows a clone by what its requests took, and how it takes their completions.
//!
//! - `iodepth_batch_complete_min`: completions are taken when so many are there, and count their latency
//!   until then, as in fio.
//! - `max_latency`, `rate_min`, `rate_iops_min`: a job that misses one of them ends with an error. Rates are
//!   looked at when a request completes, over each `rate_cycle`, from two seconds after the start on.
//! - `latency_target`: the depth is doubled from 1 while the latency is met in a window, then halved
//!   between the last depth that met it and the first that did not.

use super::tally::Direction;
use crate::workload::job::{Job, LatencyTarget};
use ssdlab_device::block::Status;
use ssdlab_device::units::Nanos;

/// Linux's number of the error of a least rate that was missed, as fio reports it.
const INPUT_OUTPUT_ERROR: u32 = 5;
/// The same of a latency that was too long.
const TIMED_OUT: u32 = 110;
/// As long as a job may take to settle.
const SETTLE: Nanos = Nanos(2_000_000_000);

/// A request that has completed and was not taken yet.
#[derive(Clone, Copy)]
pub struct Held {
    pub direction: Direction,
    pub bytes: u64,
    pub issued: Nanos,
    pub status: Status,
}

/// What a completion brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    GoOn,
    /// The clone ends with this error.
    Fail(u32),
    /// It goes on with this depth.
    Depth(u32),
    /// It has found its depth and ends.
    Found,
}

/// Of one clone.
pub struct Control {
    reap: usize,
    held: Vec<Held>,
    longest: [Nanos; 3],
    rates: Option<LeastRates>,
    search: Option<Search>,
}

impl Control {
    /// For a job that needs it.
    pub fn of(job: &Job, depth: u32) -> Option<Control> {
        let limit = job.max_latency;
        let longest = [limit.read, limit.write, limit.trim].map(|limit| limit.unwrap_or(Nanos::NEVER));
        let control = Control {
            reap: job.reap.clamp(1, depth) as usize,
            held: Vec::new(),
            longest,
            rates: LeastRates::of(job),
            search: job.latency_target.map(|target| Search::new(target, depth)),
        };
        let counts_pauses = job.think_time > Nanos::ZERO;
        let needed = control.reap > 1
            || control.longest != [Nanos::NEVER; 3]
            || control.rates.is_some()
            || control.search.is_some()
            || counts_pauses;
        needed.then_some(control)
    }

    /// The clone begins.
    pub fn start(&mut self, now: Nanos) {
        if let Some(rates) = &mut self.rates {
            (rates.start, rates.since) = (now, now);
        }
        if let Some(search) = &mut self.search {
            search.window_ends = now + search.rule.window;
        }
    }

    /// The depth to begin with.
    pub fn first_depth(&self, depth: u32) -> u32 {
        if self.search.is_some() { 1 } else { depth }
    }

    /// The depth that was found.
    pub fn depth_found(&self) -> Option<u32> {
        self.search.as_ref().map(|search| search.met.max(1))
    }

    /// Keeps a completion back; true when those held are to be taken.
    pub fn hold(&mut self, held: Held, outstanding: u32) -> bool {
        let alone = held.direction == Direction::Sync;
        self.held.push(held);
        alone || self.held.len() >= self.reap.min(outstanding as usize)
    }

    /// Those that were held.
    pub fn take(&mut self) -> Vec<Held> {
        std::mem::take(&mut self.held)
    }

    /// Judges a completed request.
    pub fn judge(&mut self, direction: Direction, bytes: u64, latency: Nanos, now: Nanos) -> Verdict {
        if direction == Direction::Sync {
            return Verdict::GoOn;
        }
        if latency > self.longest[direction as usize] {
            return Verdict::Fail(TIMED_OUT);
        }
        if self.rates.as_mut().is_some_and(|rates| rates.missed(direction, bytes, now)) {
            return Verdict::Fail(INPUT_OUTPUT_ERROR);
        }
        self.search.as_mut().map_or(Verdict::GoOn, |search| search.count(latency, now))
    }
}

/// Rates to be kept.
struct LeastRates {
    bytes: [u64; 3],
    requests: [u64; 3],
    cycle: Nanos,
    start: Nanos,
    /// When the cycle began, and what was completed in it.
    since: Nanos,
    done: [(u64, u64); 3],
}

impl LeastRates {
    fn of(job: &Job) -> Option<LeastRates> {
        let (rate, iops) = (job.rate_min, job.rate_iops_min);
        let bytes = [rate.read, rate.write, rate.trim].map(Option::unwrap_or_default);
        let requests = [iops.read, iops.write, iops.trim].map(Option::unwrap_or_default);
        let (cycle, zero) = (job.rate_cycle, Nanos::ZERO);
        let needed = bytes != [0; 3] || requests != [0; 3];
        needed.then_some(LeastRates { bytes, requests, cycle, start: zero, since: zero, done: [(0, 0); 3] })
    }

    fn missed(&mut self, direction: Direction, bytes: u64, now: Nanos) -> bool {
        let done = &mut self.done[direction as usize];
        *done = (done.0 + bytes, done.1 + 1);
        let spent = now - self.since;
        if now - self.start < SETTLE || spent < self.cycle {
            return false;
        }
        let below = |count: u64, least: u64| (count as f64) < least as f64 * spent.as_s();
        // A direction that has no requests is not held to a rate.
        let missed = (0..3).any(|index| {
            let (bytes, requests) = self.done[index];
            requests > 0 && (below(bytes, self.bytes[index]) || below(requests, self.requests[index]))
        });
        (self.since, self.done) = (now, [(0, 0); 3]);
        missed
    }
}

/// The search for a depth.
struct Search {
    rule: LatencyTarget,
    most: u32,
    depth: u32,
    /// The greatest depth that met the target, 0 for none yet.
    met: u32,
    /// The least that did not.
    missed: Option<u32>,
    window_begins: Nanos,
    window_ends: Nanos,
    requests: u64,
    late: u64,
}

impl Search {
    fn new(rule: LatencyTarget, most: u32) -> Search {
        Search {
            rule,
            most,
            depth: 1,
            met: 0,
            missed: None,
            window_begins: Nanos::ZERO,
            window_ends: Nanos::NEVER,
            requests: 0,
            late: 0,
        }
    }

    fn count(&mut self, latency: Nanos, now: Nanos) -> Verdict {
        // What was issued before the window belongs to another depth.
        if now - latency < self.window_begins {
            return Verdict::GoOn;
        }
        self.requests += 1;
        self.late += u64::from(latency > self.rule.target);
        if now < self.window_ends {
            return Verdict::GoOn;
        }
        let may_be_late = self.requests as f64 * (1.0 - self.rule.percentile / 100.0);
        let is_met = self.late as f64 <= may_be_late;
        (self.requests, self.late) = (0, 0);
        (self.window_begins, self.window_ends) = (now, now + self.rule.window);
        self.next_depth(is_met)
    }

    fn next_depth(&mut self, is_met: bool) -> Verdict {
        if is_met {
            self.met = self.met.max(self.depth);
        } else {
            self.missed = Some(self.depth);
            self.met = self.met.min(self.depth - 1);
        }
        let next = match self.missed {
            None => (self.depth * 2).min(self.most),
            Some(missed) => self.met.midpoint(missed),
        };
        if next > self.met {
            self.depth = next;
            return Verdict::Depth(next);
        }
        // Nothing lies between: this depth it is.
        self.depth = self.met.max(1);
        match (self.rule.goes_on, self.missed) {
            (true, _) if self.depth == self.most => Verdict::GoOn,
            (true, _) => Verdict::Depth(self.depth),
            (false, _) => Verdict::Found,
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// The search ends at the greatest depth that meets the target, whichever that is.
    #[test]
    fn search_finds_the_depth() {
        for limit in 0..=40_u32 {
            let rule = LatencyTarget { target: Nanos(1000), window: Nanos(1), percentile: 100.0, goes_on: false };
            let mut search = Search::new(rule, 32);
            let mut verdict = Verdict::Depth(1);
            let mut tries = 0;
            while let Verdict::Depth(depth) = verdict {
                verdict = search.next_depth(depth <= limit);
                tries += 1;
                assert!(tries < 20);
            }
            assert_eq!((verdict, search.met), (Verdict::Found, limit.min(32)), "{limit}");
        }
    }
}
