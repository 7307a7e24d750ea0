//! When a job starts and ends beside its own work, and what couples it to other jobs.

use serde::{Deserialize, Serialize};
use ssdlab_device::units::Nanos;

/// Which jobs end when a job with `exitall` ends (fio's `exit_what`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExitWhat {
    /// Those of its reporting group.
    #[default]
    Group,
    /// All that run now; what waits behind the next stonewall is still done.
    Stonewall,
    /// All, and what has not started is left out.
    All,
}

/// Keeps the numbers of requests of several jobs in proportion (`flow`, `flow_id`, `flow_sleep`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Jobs of the same number are held against each other.
    pub id: u64,
    /// Share of this job; 0 leaves it out.
    pub weight: u32,
    /// A job that is ahead asks again after this time; 0 asks as soon as another one has issued.
    pub sleep: Nanos,
}

/// Looks for the greatest depth that meets a latency (`latency_target` and what belongs to it).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// Latency to meet.
    pub target: Nanos,
    /// Time each depth is tried for.
    pub window: Nanos,
    /// Share of the requests that must meet it, in percent.
    pub percentile: f64,
    /// Go on at that depth once it is found; otherwise the job ends.
    pub goes_on: bool,
}
