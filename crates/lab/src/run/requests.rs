//! The log of one clone's requests, for fio's log files: each request, or means over windows.
//!
//! Times count from the instant at which the clone's figures begin. A window holds what completed
//! in it, its end included; the last one is cut short by the clone's end, and left out where it is
//! shorter than the millisecond that a log tells apart. Windows bound the memory
//! of a log, which else grows by 40 bytes a request.

use super::tally::Direction;
use crate::workload::job::Logs;
use ssdlab_device::units::Nanos;

/// What the times in a log tell apart.
const RESOLUTION: Nanos = Nanos(1_000_000);

/// A request that completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    /// When.
    pub at: Nanos,
    /// How long it took.
    pub latency: Nanos,
    /// Where on the device, in bytes.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// Read, write or trim.
    pub direction: Direction,
}

/// The requests of one direction that completed within a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedWindow {
    /// When the window ended.
    pub at: Nanos,
    /// How long it was.
    pub length: Nanos,
    /// Read, write or trim.
    pub direction: Direction,
    /// Requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// The longest of their latencies.
    pub latency_max_ns: u64,
}

/// What was logged of one clone.
#[derive(Clone, Debug)]
pub struct RequestLog {
    /// One by one, in order of their completion; empty where windows were asked for.
    pub requests: Vec<LoggedRequest>,
    /// By window and direction; empty where each request was asked for.
    pub windows: Vec<LoggedWindow>,
    /// Length of a window; zero for none.
    pub window: Nanos,
    start: Nanos,
    open: [LoggedWindow; 3],
    next: Nanos,
}

impl RequestLog {
    /// The log that a job asks for, if it does, of a clone whose figures begin at `start`.
    pub fn new(logs: &Logs, start: Nanos) -> Option<Box<RequestLog>> {
        let next = if logs.window > Nanos::ZERO { start + logs.window } else { Nanos::NEVER };
        let (requests, windows) = (Vec::new(), Vec::new());
        let log = RequestLog { requests, windows, window: logs.window, start, next, open: empty() };
        logs.are_wanted().then(|| Box::new(log))
    }

    /// When the window now open ends.
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// Adds a request that completed at `now`; flushes are left out.
    pub fn add(&mut self, now: Nanos, direction: Direction, bytes: u64, offset: u64, latency: Nanos) {
        if direction == Direction::Sync {
            return;
        }
        if self.window == Nanos::ZERO {
            let at = now.saturating_sub(self.start);
            self.requests.push(LoggedRequest { at, latency, offset, bytes, direction });
            return;
        }
        let open = &mut self.open[direction as usize];
        open.requests += 1;
        open.bytes += bytes;
        open.latency_sum_ns += latency.0;
        open.latency_max_ns = open.latency_max_ns.max(latency.0);
    }

    /// Closes the window that ends at `now`, if one does.
    pub fn mark(&mut self, now: Nanos) {
        if self.next <= now {
            self.close(now, self.window);
            self.next += self.window;
        }
    }

    /// The clone has ended.
    pub fn finish(&mut self, now: Nanos) {
        if self.window > Nanos::ZERO {
            let length = now.saturating_sub(Nanos(self.next.0 - self.window.0));
            if length >= RESOLUTION || self.windows.is_empty() {
                self.close(now, length);
            }
        }
    }

    fn close(&mut self, now: Nanos, length: Nanos) {
        let at = now.saturating_sub(self.start);
        let open = std::mem::replace(&mut self.open, empty());
        let used = open.into_iter().filter(|window| window.requests > 0);
        self.windows.extend(used.map(|window| LoggedWindow { at, length, ..window }));
    }
}

fn empty() -> [LoggedWindow; 3] {
    [Direction::Read, Direction::Write, Direction::Trim].map(|direction| LoggedWindow {
        at: Nanos::ZERO,
        length: Nanos::ZERO,
        direction,
        requests: 0,
        bytes: 0,
        latency_sum_ns: 0,
        latency_max_ns: 0,
    })
}
