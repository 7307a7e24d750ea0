//! Rates over virtual time, at a resolution that follows the length of the run.
//!
//! Buckets start one millisecond wide; when all 512 are used, neighbours are merged and the width
//! doubles, so that a run of a second and one of a day cost the same memory and both draw well. A
//! completion at an edge belongs to the bucket that ends there. Device counters are read at the
//! edges only.

use super::tally::Direction;
use serde::Serialize;
use ssdlab_device::counters::Counters;
use ssdlab_device::units::Nanos;

/// Buckets at most.
const CAPACITY: usize = 512;
/// Width of a bucket at first.
const FIRST_WIDTH: Nanos = Nanos(1_000_000);

/// What completed within one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// Requests: reads, writes, trims.
    pub requests: [u64; 3],
    /// Bytes: reads, writes, trims.
    pub bytes: [u64; 3],
    /// Sum of latencies in nanoseconds: reads, writes, trims.
    pub latency_sum_ns: [u64; 3],
    /// The longest latency of any of them.
    pub latency_max_ns: u64,
    /// Mapping units the host wrote, by the device's count.
    pub host_pages_written: u64,
    /// Mapping units programmed.
    pub nand_pages_written: u64,
}

impl Bucket {
    fn merge(&mut self, other: &Bucket) {
        for direction in 0..3 {
            self.requests[direction] += other.requests[direction];
            self.bytes[direction] += other.bytes[direction];
            self.latency_sum_ns[direction] += other.latency_sum_ns[direction];
        }
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
        self.host_pages_written += other.host_pages_written;
        self.nand_pages_written += other.nand_pages_written;
    }
}

/// A stretch of virtual time in equal buckets; the last one may be cut short by the end.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// When the first bucket begins.
    pub start: Nanos,
    /// Width of a bucket.
    pub width: Nanos,
    /// The buckets, in order.
    pub buckets: Vec<Bucket>,
    #[serde(skip)]
    current: Bucket,
    #[serde(skip)]
    edge: Nanos,
    #[serde(skip)]
    pages: (u64, u64),
}

impl Series {
    /// An empty series that begins at `start`.
    pub fn new(start: Nanos, counters: &Counters) -> Series {
        Series {
            start,
            width: FIRST_WIDTH,
            buckets: Vec::with_capacity(CAPACITY),
            current: Bucket::default(),
            edge: start + FIRST_WIDTH,
            pages: (counters.host_pages_written, counters.nand_pages_written),
        }
    }

    /// When the bucket now open ends.
    pub fn edge(&self) -> Nanos {
        self.edge
    }

    /// Counts a completed request.
    #[inline]
    pub fn add(&mut self, direction: Direction, bytes: u64, latency: Nanos) {
        if direction == Direction::Sync {
            return;
        }
        let bucket = &mut self.current;
        bucket.requests[direction as usize] += 1;
        bucket.bytes[direction as usize] += bytes;
        bucket.latency_sum_ns[direction as usize] += latency.0;
        bucket.latency_max_ns = bucket.latency_max_ns.max(latency.0);
    }

    /// Closes the bucket that ends at [`Series::edge`].
    pub fn close_bucket(&mut self, counters: &Counters) {
        let pages = (counters.host_pages_written, counters.nand_pages_written);
        let mut bucket = std::mem::take(&mut self.current);
        bucket.host_pages_written = pages.0 - self.pages.0;
        bucket.nand_pages_written = pages.1 - self.pages.1;
        self.pages = pages;
        self.buckets.push(bucket);
        if self.buckets.len() == CAPACITY {
            self.halve();
        }
        self.edge += self.width;
    }

    /// Closes the last bucket at the end of the run, if it has begun.
    pub fn finish(&mut self, now: Nanos, counters: &Counters) {
        if now + self.width > self.edge {
            self.close_bucket(counters);
        }
    }

    fn halve(&mut self) {
        for index in 0..CAPACITY / 2 {
            let mut merged = self.buckets[2 * index];
            merged.merge(&self.buckets[2 * index + 1]);
            self.buckets[index] = merged;
        }
        self.buckets.truncate(CAPACITY / 2);
        self.width = Nanos(self.width.0 * 2);
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// However long the run, no more than 512 buckets are kept, nothing is lost, and buckets
    /// cover the time without a gap.
    #[test]
    fn merging_keeps_every_request() {
        let mut series = Series::new(Nanos(77), &Counters::default());
        let mut pages = Counters::default();
        for tick in 1..=5000_u64 {
            let now = Nanos(77 + tick * 1_000_000);
            series.add(Direction::Write, 4096, Nanos(tick));
            pages.nand_pages_written += 2;
            while now >= series.edge() {
                series.close_bucket(&pages);
            }
        }
        series.finish(Nanos(77 + 5000 * 1_000_000), &pages);
        assert!(series.buckets.len() <= CAPACITY && series.width == Nanos(16_000_000));
        let sum = |of: fn(&Bucket) -> u64| series.buckets.iter().map(of).sum::<u64>();
        assert_eq!(sum(|bucket| bucket.requests[1]), 5000);
        assert_eq!(sum(|bucket| bucket.nand_pages_written), 10_000);
        assert_eq!(series.buckets.len() as u64, 5000_u64.div_ceil(16));
        assert_eq!(series.buckets[0].requests[1], 16);
    }
}
