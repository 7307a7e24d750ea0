//! A device with one constant latency and no other property: the ruler for the run loop.
//!
//! Modelled: every request, of any kind and size, completes `latency` after it was submitted, and
//! at most `queue_depth` are taken at once. Left out: bandwidth, state, power. So in a closed loop
//! IOPS = min(depth, queue_depth) / latency, exactly.

use ssdlab_device::block::{Busy, Completion, Device, Limits, Operation, Request, Status, Tag};
use ssdlab_device::counters::Counters;
use ssdlab_device::units::Nanos;
use std::collections::VecDeque;

/// The constant-latency device.
#[derive(Clone, Debug)]
pub struct NullDevice {
    limits: Limits,
    latency: Nanos,
    /// Requests under way; equal latencies keep them in order of their completion.
    under_way: VecDeque<(Nanos, Tag)>,
    counters: Counters,
}

impl NullDevice {
    /// A device of `capacity_bytes` in sectors of 512 bytes.
    pub fn new(capacity_bytes: u64, latency: Nanos, queue_depth: u32) -> NullDevice {
        let limits = Limits {
            sector_bytes: 512,
            sectors: capacity_bytes / 512,
            queue_depth,
            discard_granularity_bytes: 512,
            volatile_cache: false,
            optimal_io_bytes: 4096,
        };
        NullDevice { limits, latency, under_way: VecDeque::new(), counters: Counters::default() }
    }

    fn count(&mut self, request: Request) {
        request.count(&mut self.counters, self.limits.sector_bytes);
        if matches!(request.operation, Operation::Trim | Operation::WriteZeroes) {
            self.counters.host_bytes_trimmed += u64::from(request.sectors) * u64::from(self.limits.sector_bytes);
        }
    }
}

impl Device for NullDevice {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        if self.under_way.len() as u64 >= u64::from(self.limits.queue_depth) {
            return Err(Busy);
        }
        self.count(request);
        self.under_way.push_back((now + self.latency, tag));
        Ok(())
    }

    fn next_event(&self) -> Option<Nanos> {
        self.under_way.front().map(|&(at, _)| at)
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        let Some(at) = self.next_event().filter(|&at| at <= to) else {
            return to;
        };
        while let Some(&(due, tag)) = self.under_way.front() {
            if due > at {
                break;
            }
            self.under_way.pop_front();
            done.push(Completion { tag, status: Status::Success });
        }
        at
    }

    fn counters(&mut self) -> Counters {
        self.counters
    }

    fn cut_power(&mut self, _now: Nanos) {
        self.under_way.clear();
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use ssdlab_device::units::Lba;

    /// Requests complete one latency after submission, and the queue has an end.
    #[test]
    fn completes_after_its_latency_and_refuses_beyond_its_depth() {
        let mut device = NullDevice::new(1 << 20, Nanos(100), 1);
        let read = Request::new(Operation::Read, Lba(0), 8);
        assert_eq!(device.submit(Nanos(5), Tag(7), read), Ok(()));
        assert_eq!(device.submit(Nanos(6), Tag(8), read), Err(Busy));
        let mut done = Vec::new();
        assert_eq!(device.advance(Nanos(50), &mut done), Nanos(50));
        assert!(done.is_empty());
        assert_eq!(device.advance(Nanos::NEVER, &mut done), Nanos(105));
        assert_eq!(done, [Completion { tag: Tag(7), status: Status::Success }]);
        assert_eq!(device.counters().host_bytes_read, 4096);
    }
}
