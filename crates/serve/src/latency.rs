//! How long the drive took for requests, in virtual time: from the drive's taking of a request to its end.
//!
//! Mean and maximum are exact; percentiles come from a histogram whose buckets are narrower than a hundredth of their values.
//! Left out: the way over the socket, which is the world's.

use histogram::Histogram;
use ssdlab_device::units::Nanos;

/// Each power of two has 2⁷ buckets; all of 64 bits fit.
const BUCKET_POWERS: (u8, u8) = (7, 64);

/// The latencies of one kind of request.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    /// Made at the first request.
    histogram: Option<Histogram>,
    count: u64,
    sum: u128,
    most: u64,
}

/// What is told of them, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Requests.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99 of 100 were not slower.
    pub p99_ns: u64,
    /// 999 of 1000 were not slower.
    pub p99_9_ns: u64,
    /// The slowest.
    pub max_ns: u64,
}

impl Latencies {
    /// A request took so long.
    pub fn note(&mut self, took: Nanos) {
        let (powers, tail) = BUCKET_POWERS;
        if self.histogram.is_none() {
            self.histogram = Histogram::new(powers, tail).ok();
        }
        if let Some(histogram) = &mut self.histogram {
            // Every value of 64 bits has a bucket.
            let _ = histogram.increment(took.0);
        }
        self.count += 1;
        self.sum += u128::from(took.0);
        self.most = self.most.max(took.0);
    }

    /// How many took so long: the upper end of each bucket that is not empty, in nanoseconds, and its count.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let all = self.histogram.iter().flat_map(|histogram| histogram.iter());
        all.filter(|bucket| bucket.count() > 0).map(|bucket| (bucket.end(), bucket.count())).collect()
    }

    /// What is to be told, if there was a request.
    pub fn summary(&self) -> Option<Summary> {
        let histogram = self.histogram.as_ref().filter(|_| self.count > 0)?;
        let at = |share| {
            let bucket = histogram.quantile_bucket(share).ok().flatten();
            bucket.map_or(0, |bucket| bucket.end().min(self.most))
        };
        Some(Summary {
            count: self.count,
            mean_ns: self.sum as f64 / self.count as f64,
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            max_ns: self.most,
        })
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Of 1 to 1000 µs.
    #[test]
    fn percentiles_are_within_a_hundredth() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.summary(), None);
        (1..=1000).for_each(|micros| latencies.note(Nanos(micros * 1000)));
        let Some(told) = latencies.summary() else { panic!("there were requests") };
        assert_eq!((told.count, told.mean_ns, told.max_ns), (1000, 500_500.0, 1_000_000));
        assert_eq!(latencies.buckets().iter().map(|(_, count)| count).sum::<u64>(), 1000);
        for (told, right) in [(told.p50_ns, 500_000), (told.p99_ns, 990_000), (told.p99_9_ns, 999_000)] {
            assert!(told.abs_diff(right) <= right / 100, "{told} for {right}");
        }
    }
}
