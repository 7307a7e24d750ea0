//! fio's own steady-state rule (`steadystate`), which ends a job when one figure no longer moves.
//!
//! Every `ss_interval` the figure (IOPS, bytes a second, or mean latency) of the interval is
//! sampled; over the last `ss_dur` of samples either the greatest deviation from their mean or the
//! least-squares slope per sample must be below the limit, in the figure's unit or in percent of
//! the mean. With `group_reporting` the samples are of the whole group. This is not the SNIA rule.

use super::record::SteadyRecord;
use super::worker::Worker;
use crate::workload::job::{Job, SteadyMetric, SteadyRule};
use ssdlab_device::units::Nanos;

/// The rule for one reported job.
pub struct Watch {
    rule: SteadyRule,
    /// Workers whose figures are added up, and who are ended together.
    members: Vec<usize>,
    next: Nanos,
    /// Totals at the last sample; `None` before the first.
    last: Option<(u64, u64, u64)>,
    samples: Vec<[f64; 3]>,
    attained: bool,
}

impl Watch {
    /// The watches of workers that start together at `now`.
    pub fn of(workers: &[Worker], jobs: &[Job], now: Nanos) -> Vec<Watch> {
        let mut watches: Vec<Watch> = Vec::new();
        for (index, worker) in workers.iter().enumerate() {
            let job = &jobs[worker.job];
            let Some(rule) = job.steady_state else {
                continue;
            };
            match watches.last_mut() {
                Some(watch) if job.group_reporting && worker.clone > 0 => watch.members.push(index),
                _ => watches.push(Watch {
                    rule,
                    members: vec![index],
                    next: now + worker.delay() + job.ramp_time.max(rule.ramp),
                    last: None,
                    samples: Vec::new(),
                    attained: false,
                }),
            }
        }
        watches
    }

    /// When the next sample is due; never once the state is attained.
    pub fn next(&self) -> Nanos {
        if self.attained { Nanos::NEVER } else { self.next }
    }

    /// Takes the sample that is due, and stops the members if the state is attained.
    pub fn sample(&mut self, workers: &mut [Worker]) {
        if !self.members.iter().all(|&member| workers[member].has_begun()) {
            self.next += self.rule.interval.max(Nanos(1));
            return;
        }
        let totals = self.members.iter().fold((0, 0, 0), |sum, &member| {
            let one = workers[member].tally.totals();
            (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2)
        });
        let interval = self.rule.interval.max(Nanos(1));
        self.next += interval;
        if let Some(last) = self.last.replace(totals) {
            let requests = (totals.0 - last.0) as f64;
            let bytes = (totals.1 - last.1) as f64;
            let latency = if requests > 0.0 { (totals.2 - last.2) as f64 / requests } else { 0.0 };
            self.samples.push([requests / interval.as_s(), bytes / interval.as_s(), latency]);
        }
        let record = self.judge();
        self.attained = record.attained;
        for &member in &self.members {
            workers[member].steady = Some(record.clone());
            if self.attained {
                workers[member].stop();
            }
        }
    }

    fn judge(&self) -> SteadyRecord {
        let interval = self.rule.interval.max(Nanos(1));
        let wanted = ((self.rule.window.0 / interval.0) as usize).max(2);
        let window = &self.samples[self.samples.len().saturating_sub(wanted)..];
        let metric = match self.rule.metric {
            SteadyMetric::Iops => 0,
            SteadyMetric::Bandwidth => 1,
            SteadyMetric::Latency => 2,
        };
        let values: Vec<f64> = window.iter().map(|sample| sample[metric]).collect();
        let (mean, deviation, slope) = fit(&values);
        let full = window.len() == wanted;
        let figure = if self.rule.slope { slope } else { deviation };
        let criterion = if !full {
            0.0
        } else if !self.rule.limit_is_percent {
            figure
        } else if mean > 0.0 {
            100.0 * figure / mean
        } else {
            f64::MAX
        };
        SteadyRecord {
            rule: self.rule,
            attained: full && criterion.abs() < self.rule.limit,
            criterion,
            max_deviation: if full && !self.rule.slope { deviation } else { 0.0 },
            slope: if full && self.rule.slope { slope } else { 0.0 },
            iops: window.iter().map(|sample| sample[0] as u64).collect(),
            bytes_per_s: window.iter().map(|sample| sample[1] as u64).collect(),
            latency_ns: window.iter().map(|sample| sample[2] as u64).collect(),
        }
    }
}

/// Mean, greatest distance from it, and least-squares slope per step of equally spaced values.
fn fit(values: &[f64]) -> (f64, f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0, 0.0);
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviation = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
    let middle = (count - 1.0) / 2.0;
    let across: f64 = values.iter().enumerate().map(|(x, y)| (x as f64 - middle) * y).sum();
    let along = count * (count * count - 1.0) / 12.0;
    (mean, deviation, if along > 0.0 { across / along } else { 0.0 })
}

#[cfg(test)]
mod test {
    use super::*;

    /// The slope of a line is its step; the deviation is its half span.
    #[test]
    fn fits_a_line_exactly() {
        let (mean, deviation, slope) = fit(&[10.0, 13.0, 16.0, 19.0, 22.0]);
        assert_eq!((mean, deviation), (16.0, 6.0));
        assert!((slope - 3.0).abs() < 1e-12);
        assert_eq!(fit(&[]), (0.0, 0.0, 0.0));
    }
}
