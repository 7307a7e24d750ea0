//! What one clone of a job has measured: latencies, bytes, queue depths and rate samples.
//!
//! Latency is completion minus the instant the host issued the request, waiting for a place in the
//! device's queue included (fio's `lat`; a simulated host submits at no cost, so `slat` is 0 and
//! `clat` equals `lat`). Mean and deviation are exact sums; percentiles come from a histogram whose
//! buckets are narrower than a thousandth of their values.

use histogram::Histogram;
use serde::ser::{Serialize, SerializeStruct, Serializer};
use ssdlab_device::block::Operation;
use ssdlab_device::units::Nanos;

/// Longest latency the histogram tells apart; longer ones count as this one.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Each power of two has 2¹⁰ buckets; the last reach beyond the longest latency.
const BUCKET_POWERS: (u8, u8) = (10, 42);

/// fio's directions, and the sync beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads.
    Read = 0,
    /// Writes.
    Write = 1,
    /// Trims and write-zeroes.
    Trim = 2,
    /// Flushes.
    Sync = 3,
}

impl Direction {
    /// The direction under which an operation is reported.
    #[inline]
    pub fn of(operation: Operation) -> Direction {
        match operation {
            Operation::Read => Direction::Read,
            Operation::Write => Direction::Write,
            Operation::Trim | Operation::WriteZeroes => Direction::Trim,
            Operation::Flush => Direction::Sync,
        }
    }
}

/// The latencies of one direction, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// Made at the first sample: most jobs use one direction of four.
    histogram: Option<Histogram>,
    count: u64,
    sum: u64,
    sum_of_squares: u128,
    /// `u64::MAX` before the first sample.
    min: u64,
    max: u64,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies { histogram: None, count: 0, sum: 0, sum_of_squares: 0, min: u64::MAX, max: 0 }
    }
}

impl Latencies {
    /// Adds one latency.
    #[inline(always)]
    pub fn add(&mut self, latency: Nanos) {
        let ns = latency.0;
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.count += 1;
        self.sum += ns;
        self.sum_of_squares += u128::from(ns) * u128::from(ns);
        let histogram = self.histogram.get_or_insert_with(new_histogram);
        histogram.increment(ns.min(LONGEST_NS)).expect("it reaches that far");
    }

    /// Adds another clone's latencies.
    pub fn merge(&mut self, other: &Latencies) {
        let Some(theirs) = &other.histogram else {
            return;
        };
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
        let ours = self.histogram.get_or_insert_with(new_histogram);
        ours.checked_add_assign(theirs).expect("they have the same buckets, and counts are far from their end");
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all samples, in nanoseconds.
    pub fn sum_ns(&self) -> u64 {
        self.sum
    }

    /// The smallest sample, 0 where there is none.
    pub fn min_ns(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// The largest sample, 0 where there is none.
    pub fn max_ns(&self) -> u64 {
        self.max
    }

    /// The exact mean, 0 where there is no sample.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// The sample standard deviation (divided by n − 1), 0 below two samples.
    pub fn standard_deviation_ns(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        // n·Σx² − (Σx)² is exact in 128 bits as long as n·Σx² is: 10⁹ samples of 10⁹ ns have room.
        let count = u128::from(self.count);
        let square = u128::from(self.sum) * u128::from(self.sum);
        let spread = match self.sum_of_squares.checked_mul(count) {
            Some(product) => product.saturating_sub(square) as f64,
            None => (self.sum_of_squares as f64 * count as f64 - square as f64).max(0.0),
        };
        (spread / count as f64 / (count - 1) as f64).sqrt()
    }

    /// The latency below or at which `percent` of the samples lie; never beyond the extremes seen.
    pub fn percentile_ns(&self, percent: f64) -> u64 {
        let bucket = |histogram: &Histogram| histogram.quantile_bucket(percent / 100.0).expect("a share");
        self.histogram.as_ref().and_then(bucket).map_or(0, |bucket| bucket.end().clamp(self.min, self.max))
    }

    /// Occupied buckets in rising order: a value of the bucket in nanoseconds, and its count. The
    /// value is the bucket's upper end, cut to the extremes seen, so that a constant stays exact.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let occupied = self.histogram.iter().flatten().filter(|bucket| bucket.count() > 0);
        occupied.map(|bucket| (bucket.end().clamp(self.min, self.max), bucket.count()))
    }
}

/// It takes 264 KiB, of which those pages are touched that have a sample.
fn new_histogram() -> Histogram {
    Histogram::new(BUCKET_POWERS.0, BUCKET_POWERS.1).expect("the powers are valid")
}

impl Serialize for Latencies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Latencies", 6)?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("min_ns", &self.min_ns())?;
        fields.serialize_field("max_ns", &self.max)?;
        fields.serialize_field("mean_ns", &self.mean_ns())?;
        fields.serialize_field("standard_deviation_ns", &self.standard_deviation_ns())?;
        fields.serialize_field("buckets", &self.buckets().collect::<Vec<_>>())?;
        fields.end()
    }
}

/// Running figures of a rate that is sampled every half second, as fio does for its
/// `bw` and `iops` lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Samples {
    /// Number of samples.
    pub count: u64,
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
    sum: f64,
    sum_of_squares: f64,
}

impl Samples {
    /// Adds one sample.
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value as f64;
        self.sum_of_squares += value as f64 * value as f64;
    }

    /// Mean, 0 where there is no sample.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// Sum of squared distances from the mean.
    pub fn squared_distances(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        (self.sum_of_squares - self.sum * self.sum / self.count as f64).max(0.0)
    }
}

/// One direction of one clone.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct DirectionTally {
    /// Bytes of completed requests.
    pub bytes: u64,
    /// Latencies of completed requests; their count is the number of requests.
    pub latencies: Latencies,
    /// KiB a second, sampled.
    pub bandwidth_samples: Samples,
    /// Requests a second, sampled.
    pub iops_samples: Samples,
    /// Bytes and requests at the last sample of each.
    #[serde(skip)]
    sampled: (u64, u64),
}

/// Everything one clone has measured.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Tally {
    /// Reads, writes, trims.
    pub directions: [DirectionTally; 3],
    /// Latencies of flushes.
    pub sync: Latencies,
    /// Requests by the depth they found, themselves included: 1, 2–3, 4–7, … ≥ 64.
    pub depths: [u64; 7],
    /// The longest latency since it was last asked for, flushes left out.
    #[serde(skip)]
    longest_ns: u64,
}

impl Tally {
    /// Counts a completed request.
    #[inline(always)]
    pub fn complete(&mut self, direction: Direction, bytes: u64, latency: Nanos) {
        if direction == Direction::Sync {
            return self.complete_sync(latency);
        }
        let tally = &mut self.directions[direction as usize];
        tally.bytes += bytes;
        tally.latencies.add(latency);
        self.longest_ns = self.longest_ns.max(latency.0);
    }

    #[cold]
    fn complete_sync(&mut self, latency: Nanos) {
        self.sync.add(latency);
    }

    /// Counts an issued request by the number now outstanding (one or more).
    #[inline]
    pub fn issue(&mut self, outstanding: u32) {
        let level = (31 - outstanding.max(1).leading_zeros()).min(6);
        self.depths[level as usize] += 1;
    }

    /// The longest latency since the last call, 0 where nothing completed.
    pub fn take_longest_ns(&mut self) -> u64 {
        std::mem::take(&mut self.longest_ns)
    }

    /// Samples the bandwidths of the `interval` that has just gone by; one without a byte makes no sample.
    pub fn sample_bandwidth(&mut self, interval: Nanos) {
        for tally in &mut self.directions {
            let bytes = tally.bytes - std::mem::replace(&mut tally.sampled.0, tally.bytes);
            if bytes > 0 {
                tally.bandwidth_samples.add((bytes as f64 / 1024.0 / interval.as_s()) as u64);
            }
        }
    }

    /// As [`Tally::sample_bandwidth`], of requests.
    pub fn sample_iops(&mut self, interval: Nanos) {
        for tally in &mut self.directions {
            let all = tally.latencies.count();
            let requests = all - std::mem::replace(&mut tally.sampled.1, all);
            if requests > 0 {
                tally.iops_samples.add((requests as f64 / interval.as_s()) as u64);
            }
        }
    }

    /// Completed requests, their bytes and the sum of their latencies in ns, flushes left out.
    pub fn totals(&self) -> (u64, u64, u64) {
        self.directions.iter().fold((0, 0, 0), |sum, tally| {
            let latencies = &tally.latencies;
            (sum.0 + latencies.count(), sum.1 + tally.bytes, sum.2 + latencies.sum_ns())
        })
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// A constant latency has itself as every statistic, although the histogram rounds.
    #[test]
    fn a_constant_stays_exact() {
        let mut latencies = Latencies::default();
        (0..1000).for_each(|_| latencies.add(Nanos(100_001)));
        assert_eq!((latencies.min_ns(), latencies.max_ns()), (100_001, 100_001));
        assert_eq!((latencies.mean_ns(), latencies.standard_deviation_ns()), (100_001.0, 0.0));
        assert_eq!(latencies.percentile_ns(99.0), 100_001);
        assert_eq!(latencies.buckets().collect::<Vec<_>>(), [(100_001, 1000)]);
    }

    /// Mean, deviation and percentiles of 1…1000 µs, and merging two halves gives the same.
    #[test]
    fn statistics_of_a_ramp_and_of_its_halves() {
        let (mut whole, mut odd, mut even) = <(Latencies, Latencies, Latencies)>::default();
        for us in 1..=1000_u64 {
            whole.add(Nanos(us * 1000));
            if us % 2 == 1 { &mut odd } else { &mut even }.add(Nanos(us * 1000));
        }
        odd.merge(&even);
        assert_eq!(whole.mean_ns(), 500_500.0);
        assert!((whole.standard_deviation_ns() - 288_819.436).abs() < 0.001);
        assert!(whole.percentile_ns(50.0).abs_diff(500_000) <= 500);
        assert_eq!(odd.standard_deviation_ns(), whole.standard_deviation_ns());
        assert!(odd.buckets().eq(whole.buckets()));
    }

    /// A direction without a latency has no histogram; buckets are narrower than a thousandth, and no end is lost.
    #[test]
    fn a_histogram_tells_a_thousandth_apart() {
        let mut latencies = Latencies::default();
        assert!(latencies.histogram.is_none());
        latencies.add(Nanos(131_000));
        let histogram = latencies.histogram.as_ref().expect("there is a latency");
        assert!(8 * histogram.as_slice().len() <= 264 << 10);
        assert!(histogram.config().error() < 0.1, "{} %", histogram.config().error());
        latencies.add(Nanos(2 * LONGEST_NS));
        assert_eq!(latencies.buckets().map(|(_, count)| count).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(latencies.max_ns(), 2 * LONGEST_NS);
    }

    /// Depths fall into fio's levels 1, 2, 4, … ≥ 64.
    #[test]
    fn depth_levels_are_powers_of_two() {
        let mut tally = Tally::default();
        [1, 2, 3, 4, 7, 8, 63, 64, 1000].into_iter().for_each(|depth| tally.issue(depth));
        assert_eq!(tally.depths, [1, 2, 2, 1, 0, 1, 2]);
    }
}
