//! The record of a run: everything measured, in plain data, before anyone formats it.

use super::requests::RequestLog;
use super::series::{Done, Series, Written};
use super::tally::Tally;
use crate::workload::job::{ByteRange, Job, SteadyRule};
use serde::Serialize;
use ssdlab_device::block::LayerCounts;
use ssdlab_device::counters::Counters;
use ssdlab_device::units::Nanos;

/// All that a run did.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The jobs, as they were given.
    pub jobs: Vec<Job>,
    /// Stonewall groups, in order; those never reached because of an interruption are missing.
    pub groups: Vec<GroupRecord>,
    /// Clones, in order of their jobs.
    pub clones: Vec<CloneRecord>,
    /// Virtual time at the beginning.
    pub start: Nanos,
    /// Virtual time at the end.
    pub end: Nanos,
    /// The observer stopped it early.
    pub interrupted: bool,
}

/// Jobs that ran together, and what the device did meanwhile.
#[derive(Clone, Debug, Serialize)]
pub struct GroupRecord {
    /// When its figures begin (after the longest ramp of its jobs).
    pub start: Nanos,
    /// When the last of its jobs ended.
    pub end: Nanos,
    /// The device's counters at `start`.
    pub counters_at_start: Counters,
    /// The device's counters at `end`.
    pub counters_at_end: Counters,
    /// What each device of a stack did meanwhile; of a drive alone only its counters.
    pub layers: LayerCounts,
    /// Time during which the device held at least one request.
    pub busy: Nanos,
    /// What the device wrote over time.
    pub series: Series<Written>,
}

impl GroupRecord {
    /// What the device counted during the group.
    pub fn counters(&self) -> Counters {
        self.counters_at_end - self.counters_at_start
    }
}

/// One clone of a job.
#[derive(Clone, Debug, Serialize)]
pub struct CloneRecord {
    /// Index of its job.
    pub job: usize,
    /// Which clone of the job.
    pub clone: u32,
    /// Index of its stonewall group.
    pub group: usize,
    /// When its figures begin (after its ramp).
    pub start: Nanos,
    /// When its last request completed.
    pub end: Nanos,
    /// Linux's number of the error that ended it, 0 for none.
    pub error: u32,
    /// Where on the device it worked.
    pub range: ByteRange,
    /// The depth that a search with `latency_target` has found.
    pub latency_depth: Option<u32>,
    /// What it measured.
    pub tally: Tally,
    /// What it completed over time, to its own end.
    pub series: Series<Done>,
    /// Its requests, where a log of them is wanted.
    #[serde(skip)]
    pub log: Option<Box<RequestLog>>,
    /// fio's steady-state rule, where the job has one.
    pub steady: Option<SteadyRecord>,
}

/// Where fio's steady-state rule ended up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteadyRecord {
    /// The rule.
    pub rule: SteadyRule,
    /// It was met, and ended the job.
    pub attained: bool,
    /// The figure compared with the limit, in its unit or in percent.
    pub criterion: f64,
    /// Greatest distance from the mean, where the rule looks at that.
    pub max_deviation: f64,
    /// Slope per sample, where the rule looks at that.
    pub slope: f64,
    /// IOPS of the window's samples.
    pub iops: Vec<u64>,
    /// Bytes a second of the window's samples.
    pub bytes_per_s: Vec<u64>,
    /// Mean latencies of the window's samples.
    pub latency_ns: Vec<u64>,
}
