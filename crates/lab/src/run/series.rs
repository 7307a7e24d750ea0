//! Rates over virtual time, at a resolution that follows the length of the run.
//!
//! Buckets start one millisecond wide; when all 512 are used, neighbours are merged and the width
//! doubles, so that a run of a second and one of a day cost the same memory and both draw well. A
//! completion at an edge belongs to the bucket that ends there. A clone's buckets hold what it did
//! between two edges, up to its own end; those of a stonewall group what the drive did.

use super::tally::Tally;
use serde::Serialize;
use ssdlab_device::counters::Counters;
use ssdlab_device::units::Nanos;

/// Buckets at most.
const CAPACITY: usize = 512;
/// Width of a bucket at first.
const FIRST_WIDTH: Nanos = Nanos(1_000_000);

/// What can be put together over several intervals.
pub trait Bucket: Copy + Default {
    /// Adds what another interval, or another clone, holds.
    fn merge(&mut self, other: &Self);
}

/// What a clone completed within one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Requests: reads, writes, trims.
    pub requests: [u64; 3],
    /// Bytes: reads, writes, trims.
    pub bytes: [u64; 3],
    /// Sum of latencies in nanoseconds: reads, writes, trims.
    pub latency_sum_ns: [u64; 3],
    /// The longest latency of any of them.
    pub latency_max_ns: u64,
}

impl Done {
    /// Everything that a clone has completed so far, but for its longest latency.
    pub fn of(tally: &Tally) -> Done {
        let directions = &tally.directions;
        Done {
            requests: directions.each_ref().map(|direction| direction.latencies.count()),
            bytes: directions.each_ref().map(|direction| direction.bytes),
            latency_sum_ns: directions.each_ref().map(|direction| direction.latencies.sum_ns()),
            latency_max_ns: 0,
        }
    }

    /// What was added since.
    pub fn since(&self, earlier: &Done) -> Done {
        let difference = |now: [u64; 3], then: [u64; 3]| std::array::from_fn(|index| now[index] - then[index]);
        Done {
            requests: difference(self.requests, earlier.requests),
            bytes: difference(self.bytes, earlier.bytes),
            latency_sum_ns: difference(self.latency_sum_ns, earlier.latency_sum_ns),
            latency_max_ns: self.latency_max_ns,
        }
    }
}

impl Bucket for Done {
    fn merge(&mut self, other: &Done) {
        for direction in 0..3 {
            self.requests[direction] += other.requests[direction];
            self.bytes[direction] += other.bytes[direction];
            self.latency_sum_ns[direction] += other.latency_sum_ns[direction];
        }
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }
}

/// What a drive wrote within one interval, in mapping units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Those that the host wrote, by the drive's count.
    pub host_pages: u64,
    /// Those that were programmed.
    pub nand_pages: u64,
    /// Bytes that the host wrote to flash.
    pub host_bytes: u64,
    /// Bytes that were programmed.
    pub nand_bytes: u64,
}

impl Written {
    /// Everything that a drive has written so far.
    pub fn of(counters: &Counters) -> Written {
        Written {
            host_pages: counters.host_pages_written,
            nand_pages: counters.nand_pages_written,
            host_bytes: counters.nand_host_bytes_written,
            nand_bytes: counters.nand_bytes_written,
        }
    }

    /// What was added since.
    pub fn since(&self, earlier: &Written) -> Written {
        Written {
            host_pages: self.host_pages - earlier.host_pages,
            nand_pages: self.nand_pages - earlier.nand_pages,
            host_bytes: self.host_bytes - earlier.host_bytes,
            nand_bytes: self.nand_bytes - earlier.nand_bytes,
        }
    }
}

impl Bucket for Written {
    fn merge(&mut self, other: &Written) {
        self.host_pages += other.host_pages;
        self.nand_pages += other.nand_pages;
        self.host_bytes += other.host_bytes;
        self.nand_bytes += other.nand_bytes;
    }
}

/// A stretch of virtual time in equal buckets; the last one may be cut short by the end.
#[derive(Clone, Debug, Serialize)]
pub struct Series<B> {
    /// When the first bucket begins.
    pub start: Nanos,
    /// Width of a bucket.
    pub width: Nanos,
    /// The buckets, in order.
    pub buckets: Vec<B>,
    #[serde(skip)]
    edge: Nanos,
}

impl<B: Bucket> Series<B> {
    /// An empty series that begins at `start`.
    pub fn new(start: Nanos) -> Series<B> {
        Series { start, width: FIRST_WIDTH, buckets: Vec::new(), edge: start + FIRST_WIDTH }
    }

    /// When the bucket now open ends.
    pub fn edge(&self) -> Nanos {
        self.edge
    }

    /// Closes the bucket that ends at [`Series::edge`].
    pub fn close(&mut self, bucket: B) {
        self.buckets.push(bucket);
        if self.buckets.len() == CAPACITY {
            self.halve();
        }
        self.edge += self.width;
    }

    /// Whether a bucket has begun by the end of the run, and is to be closed.
    pub fn is_open(&self, now: Nanos) -> bool {
        now + self.width > self.edge
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

    /// Adds a series that ran at the same time. Buckets of different width, or that begin at other
    /// times, count where they begin.
    pub fn merge(&mut self, other: &Series<B>) {
        let start = self.start.min(other.start);
        let (wide, other_start) = (self.width.max(other.width), other.start);
        let mut merged: Vec<B> = Vec::new();
        for (first, width, buckets) in
            [(self.start, self.width, &self.buckets), (other_start, other.width, &other.buckets)]
        {
            for (index, bucket) in buckets.iter().enumerate() {
                let at = ((first - start).0 + index as u64 * width.0) / wide.0;
                merged.resize(merged.len().max(at as usize + 1), B::default());
                merged[at as usize].merge(bucket);
            }
        }
        (self.start, self.width, self.buckets) = (start, wide, merged);
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// A page that the host wrote in each millisecond, and two that were programmed.
    fn steady(start: u64, ms: u64) -> Series<Written> {
        let mut series = Series::new(Nanos(start));
        let mut open = Written::default();
        for tick in 1..=ms {
            open.merge(&Written { host_pages: 1, nand_pages: 2, ..Written::default() });
            if Nanos(start + tick * 1_000_000) >= series.edge() {
                series.close(std::mem::take(&mut open));
            }
        }
        if series.is_open(Nanos(start + ms * 1_000_000)) {
            series.close(open);
        }
        series
    }

    fn pages(series: &Series<Written>) -> Vec<u64> {
        series.buckets.iter().map(|bucket| bucket.host_pages).collect()
    }

    /// However long the run, no more than 512 buckets are kept, nothing is lost, and buckets
    /// cover the time without a gap.
    #[test]
    fn a_long_series_keeps_everything() {
        let series = steady(77, 5000);
        assert!(series.buckets.len() <= CAPACITY && series.width == Nanos(16_000_000));
        assert_eq!(series.buckets.len() as u64, 5000_u64.div_ceil(16));
        assert_eq!(pages(&series).iter().sum::<u64>(), 5000);
        assert_eq!(series.buckets[0], Written { host_pages: 16, nand_pages: 32, ..Written::default() });
    }

    /// Series of two clones add up, also where one is shorter, and so finer, or begins later.
    #[test]
    fn series_of_clones_add_up() {
        let mut merged = steady(0, 2000);
        merged.merge(&steady(0, 100));
        assert_eq!((merged.width.0, merged.buckets.len()), (4_000_000, 500));
        assert_eq!(pages(&merged)[23..27], [8, 8, 4, 4]);
        let mut shifted = steady(10_000_000, 3);
        shifted.merge(&steady(8_000_000, 3));
        assert_eq!((shifted.start.0, pages(&shifted)), (8_000_000, vec![1, 1, 2, 1, 1]));
    }
}
