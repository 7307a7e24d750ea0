//! What is measured of one clone at intervals: its series, and fio's samples of bandwidth and IOPS.
//!
//! All intervals count from the instant at which the clone's figures begin, and end with the clone,
//! whatever other jobs still do. A sample needs a whole interval; an interval in which nothing
//! completed makes none, as in fio.

use super::series::{Done, Series};
use super::tally::Tally;
use crate::workload::job::Job;
use ssdlab_device::units::Nanos;

/// The clock of one clone's figures.
pub struct Rates {
    /// What it completed over time.
    pub series: Series<Done>,
    /// Everything it had completed at the last edge of the series.
    at_edge: Done,
    bandwidth: Sampling,
    iops: Sampling,
}

/// When to take a sample.
struct Sampling {
    interval: Nanos,
    next: Nanos,
}

impl Rates {
    /// Figures that begin at `start`.
    pub fn new(job: &Job, start: Nanos) -> Rates {
        let sampling = |interval: Nanos| Sampling { interval, next: start + interval };
        Rates {
            series: Series::new(start),
            at_edge: Done::default(),
            bandwidth: sampling(job.bandwidth_interval),
            iops: sampling(job.iops_interval),
        }
    }

    /// The next instant at which something is to be measured.
    pub fn next(&self) -> Nanos {
        Nanos(self.series.edge().0.min(self.bandwidth.next.0).min(self.iops.next.0))
    }

    /// Measures what is due at `now`.
    pub fn mark(&mut self, tally: &mut Tally, now: Nanos) {
        while self.series.edge() <= now {
            self.close_bucket(tally);
        }
        if self.bandwidth.is_due(now) {
            tally.sample_bandwidth(self.bandwidth.interval);
        }
        if self.iops.is_due(now) {
            tally.sample_iops(self.iops.interval);
        }
    }

    /// The clone has ended: its last bucket may be cut short, a sample may not.
    pub fn finish(&mut self, tally: &mut Tally, now: Nanos) {
        if self.series.is_open(now) {
            self.close_bucket(tally);
        }
    }

    fn close_bucket(&mut self, tally: &mut Tally) {
        let now = Done { latency_max_ns: tally.take_longest_ns(), ..Done::of(tally) };
        self.series.close(now.since(&self.at_edge));
        self.at_edge = now;
    }
}

impl Sampling {
    fn is_due(&mut self, now: Nanos) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.next += self.interval;
        }
        is_due
    }
}
