//! The one run loop: a device, jobs and a seed in, a [`Record`] out.
//!
//! Jobs up to the next `stonewall` run together on the device; groups follow one another in
//! virtual time. The loop is closed: each clone of a job keeps `io_depth` requests outstanding, and
//! issues the next one at the instant one completes (a simulated host costs no time). Left out: the
//! host's own processing time and the page cache. Ends of jobs that end others (`exitall`), that others wait
//! for (`wait_for`), and jobs that keep step (`flow`) are the engine's; the rest is each worker's own.

mod control;
mod engine;
mod extents;
mod flow;
mod memory;
mod pace;
mod rates;
mod record;
mod requests;
mod series;
mod steady;
mod tally;
#[cfg(test)]
mod test;
mod turns;
mod worker;

pub(crate) use memory::is_free;
pub use record::{CloneRecord, GroupRecord, Record, SteadyRecord};
pub use requests::{LoggedRequest, LoggedWindow, RequestLog};
pub use series::{Done, Series, Written};
pub use tally::{Direction, DirectionTally, Latencies, Samples, Tally};
pub use worker::{LOOKAHEAD, depth};

use crate::workload::generate::{Generator, JobError};
use crate::workload::job::Job;
use crate::workload::trace::TraceError;
use engine::{Engine, Outcome};
use extents::read_extents;
use ssdlab_device::block::{Device, Limits};
use ssdlab_device::units::Nanos;
use std::ops::Range;
use worker::Worker;

/// Told how a run gets on, and asked whether it should.
pub trait Observer {
    /// The jobs themselves begin.
    fn begin_jobs(&mut self) {}

    /// The jobs have ended.
    fn end_jobs(&mut self) {}

    /// `share` (0 to 1) of the run is done, job `phase` is at work; `false` stops it early.
    fn progress(&mut self, phase: &str, share: f64) -> bool {
        let _ = (phase, share);
        true
    }
}

/// An observer that does not care.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// What a run needs beside device and jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Virtual time at which the run begins; not before the device's last time.
    pub start: Nanos,
    /// Seed of the workload.
    pub seed: u64,
}

/// Why a run could not be done.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A job cannot be done on this device.
    #[error(transparent)]
    Job(#[from] Box<JobError>),
    /// A trace cannot be read any more.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Nothing would end a job.
    #[error("job {name}: time_based without an end; give runtime, number_ios or steadystate")]
    Endless {
        /// The job.
        name: String,
    },
    /// More requests in flight than memory is used for.
    #[error(
        "numjobs and iodepth: {requests} requests in flight would need {mebibytes} MiB of memory; \
         at most 1024 MiB are used for them, as far as they are free\nlower numjobs or iodepth"
    )]
    Memory {
        /// Clones times depth.
        requests: u64,
        /// What they would need.
        mebibytes: u64,
    },
    /// The device holds requests and reports no next event: a defect of the device's model.
    #[error(
        "the device holds {outstanding} requests at {} ns of virtual time and never completes \
         them; `next_event` must name an instant while requests are outstanding", at.0
    )]
    Stalled {
        /// Requests issued and not completed.
        outstanding: usize,
        /// When.
        at: Nanos,
    },
}

/// Runs `jobs` on `device`.
///
/// # Errors
/// [`RunError::Job`] and [`RunError::Endless`] before anything is done, where a job does not fit
/// the device or has no end, and [`RunError::Memory`]; [`RunError::Stalled`] where the device loses requests.
pub fn run<D: Device + ?Sized>(
    device: &mut D,
    jobs: &[Job],
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<Record, RunError> {
    let groups = stonewall_groups(jobs);
    let mut workers = Vec::with_capacity(groups.len());
    for group in &groups {
        memory::check(jobs, group.clone(), engine::BYTES_PER_REQUEST)?;
        workers.push(group_workers(jobs, group.clone(), device.limits(), options.seed)?);
    }
    observer.begin_jobs();
    let mut record = empty_record(jobs, options.start);
    for (index, (group, workers)) in groups.iter().zip(workers).enumerate() {
        let name = jobs[group.start].name.as_str();
        let share = 1.0 / groups.len() as f64;
        let start = record.end;
        let engine = Engine::new(device, jobs, workers, start);
        let mut outcome = engine.run(name, index as f64 * share, share, observer)?;
        if let Some(fault) = outcome.workers.iter().find_map(Worker::fault) {
            // Who stops a run may do so by its traces' readers.
            if observer.progress(name, index as f64 * share) {
                return Err(RunError::Trace(fault.clone()));
            }
            outcome.interrupted = true;
        }
        let ends_all = outcome.ends_all;
        keep(&mut record, index, start, outcome);
        if record.interrupted || ends_all {
            break;
        }
    }
    observer.end_jobs();
    Ok(record)
}

/// Offsets and lengths in bytes that the read jobs will read, with the index of the job: the
/// regions of their clones, or what a trace reads.
///
/// # Errors
/// [`RunError::Job`] where a job does not fit the device, [`RunError::Trace`] where a trace cannot be read.
pub fn regions(jobs: &[Job], limits: &Limits) -> Result<Vec<(usize, u64, u64)>, RunError> {
    let mut regions = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        if let Some(replay) = &job.replay {
            let extents = read_extents(&replay.trace, limits)?;
            regions.extend(extents.into_iter().map(|(offset, bytes)| (index, offset, bytes)));
            continue;
        }
        for clone in (0..job.num_jobs.max(1)).filter(|_| job.pattern.reads) {
            let (offset, bytes) = Generator::new(job, clone, limits, 0).map_err(Box::new)?.region();
            regions.push((index, offset, bytes));
        }
    }
    regions.dedup();
    Ok(regions)
}

/// Ranges of jobs that run together.
fn stonewall_groups(jobs: &[Job]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if !job.stonewall => group.end = index + 1,
            _ => groups.push(index..index + 1),
        }
    }
    groups
}

fn group_workers(jobs: &[Job], group: Range<usize>, limits: &Limits, seed: u64) -> Result<Vec<Worker>, RunError> {
    let mut workers = Vec::new();
    for index in group {
        let job = &jobs[index];
        // Equal jobs must not do the same: every job has its own stream, the first the seed itself.
        let seed = seed.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        if job.time_based && job.runtime.is_none() && job.number_ios.is_none() && job.steady_state.is_none() {
            return Err(RunError::Endless { name: job.name.clone() });
        }
        for clone in 0..job.num_jobs.max(1) {
            workers.push(Worker::new(job, index, clone, limits, seed)?);
        }
    }
    Ok(workers)
}

fn empty_record(jobs: &[Job], start: Nanos) -> Record {
    // A trace may be larger than everything measured, and is not part of the result.
    let without_trace = |job: &Job| {
        let mut job = job.clone();
        job.replay = None;
        job
    };
    let jobs = jobs.iter().map(without_trace).collect();
    Record { jobs, groups: Vec::new(), clones: Vec::new(), start, end: start, interrupted: false }
}

fn keep(record: &mut Record, group: usize, start: Nanos, outcome: Outcome) {
    record.end = outcome.end;
    record.interrupted |= outcome.interrupted;
    record.groups.push(GroupRecord {
        start: start.max(outcome.series.start),
        end: outcome.end,
        counters_at_start: outcome.counters_at_start,
        counters_at_end: outcome.counters_at_end,
        layers: outcome.layers,
        busy: outcome.busy,
        series: outcome.series,
    });
    record.clones.extend(outcome.workers.into_iter().map(|worker| CloneRecord {
        job: worker.job,
        clone: worker.clone,
        group,
        start: worker.measured_from,
        end: worker.ended,
        error: worker.error,
        range: worker.range(),
        latency_depth: worker.depth_found(),
        tally: worker.tally,
        series: worker.rates.series,
        log: worker.log,
        steady: worker.steady,
    }));
}
