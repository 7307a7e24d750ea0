//! Which clones are reported as one job, and their sums.
//!
//! As in fio: a reporting group begins with every `stonewall` and `new_group`; with
//! `group_reporting` neighbours in a group are one report, whose requests and bytes are added,
//! whose running time is the longest, and whose sampled rates are added as if simultaneous.

use crate::run::{CloneRecord, DirectionTally, Done, Latencies, Record, Samples, Series};
use crate::workload::job::Job;
use ssdlab_device::units::Nanos;
use std::borrow::Cow;

/// A sampled rate of several clones together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    pub count: u64,
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    squared_distances: f64,
}

impl Rate {
    fn add(&mut self, samples: &Samples) {
        self.count += samples.count;
        self.min += samples.min;
        self.max += samples.max;
        self.mean += samples.mean();
        self.squared_distances += samples.squared_distances();
    }

    /// The standard deviation, 0 below two samples.
    pub fn standard_deviation(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.squared_distances / (self.count - 1) as f64).sqrt() }
    }
}

/// Reads, writes or trims of a report.
#[derive(Clone, Debug, Default)]
pub struct Side<'a> {
    pub bytes: u64,
    pub latencies: Cow<'a, Latencies>,
    pub bandwidth: Rate,
    pub iops: Rate,
}

impl<'a> Side<'a> {
    fn add(&mut self, tally: &'a DirectionTally) {
        self.bytes += tally.bytes;
        merge(&mut self.latencies, &tally.latencies);
        self.bandwidth.add(&tally.bandwidth_samples);
        self.iops.add(&tally.iops_samples);
    }

    /// Something was done in this direction.
    pub fn used(&self) -> bool {
        self.latencies.count() > 0
    }
}

/// One entry of fio's `jobs`.
pub struct Report<'a> {
    pub job: &'a Job,
    /// fio's `groupid`.
    pub group_id: usize,
    pub members: Vec<&'a CloneRecord>,
    pub sides: [Side<'a>; 3],
    pub sync: Cow<'a, Latencies>,
    pub depths: [u64; 7],
}

impl<'a> Report<'a> {
    fn new(job: &'a Job, group_id: usize) -> Report<'a> {
        let (members, sides) = (Vec::new(), Default::default());
        Report { job, group_id, members, sides, sync: Cow::default(), depths: [0; 7] }
    }

    fn add(&mut self, clone: &'a CloneRecord) {
        for (side, tally) in self.sides.iter_mut().zip(&clone.tally.directions) {
            side.add(tally);
        }
        merge(&mut self.sync, &clone.tally.sync);
        for (sum, depth) in self.depths.iter_mut().zip(clone.tally.depths) {
            *sum += depth;
        }
        self.members.push(clone);
    }

    /// The longest running time of its members.
    pub fn runtime(&self) -> Nanos {
        let time = |clone: &&CloneRecord| clone.end.saturating_sub(clone.start);
        self.members.iter().map(time).fold(Nanos::ZERO, Nanos::max)
    }

    /// What its members completed over time.
    pub fn series(&self) -> Cow<'a, Series<Done>> {
        let (first, others) = self.members.split_first().expect("a report has a member");
        let mut series = Cow::Borrowed(&first.series);
        others.iter().for_each(|clone| series.to_mut().merge(&clone.series));
        series
    }

    /// When the last of its members ended.
    pub fn end(&self) -> Nanos {
        self.members.iter().map(|clone| clone.end).fold(Nanos::ZERO, Nanos::max)
    }

    /// Completed requests of all directions.
    pub fn requests(&self) -> u64 {
        self.sides.iter().map(|side| side.latencies.count()).sum()
    }
}

/// Adds latencies; the first ones are borrowed, since most reports are of one clone.
fn merge<'a>(sum: &mut Cow<'a, Latencies>, latencies: &'a Latencies) {
    if sum.count() == 0 {
        *sum = Cow::Borrowed(latencies);
    } else if latencies.count() > 0 {
        sum.to_mut().merge(latencies);
    }
}

/// The reports of a record, in fio's order.
pub fn reports(record: &Record) -> Vec<Report<'_>> {
    let mut reports: Vec<Report<'_>> = Vec::new();
    let mut group_id = 0;
    for clone in &record.clones {
        let job = &record.jobs[clone.job];
        if (job.stonewall || job.new_group) && clone.clone == 0 && !reports.is_empty() {
            group_id += 1;
        }
        match reports.last_mut() {
            Some(report) if job.group_reporting && report.group_id == group_id => report.add(clone),
            _ => {
                let mut report = Report::new(job, group_id);
                report.add(clone);
                reports.push(report);
            }
        }
    }
    reports
}
