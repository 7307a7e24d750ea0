//! A [`Record`](crate::run::Record) as fio would have written it: its JSON field for field and in
//! its order, its normal text, and beside them one object `ssdlab` per job about the drive.
//!
//! Where fio and a simulated host differ: `slat_ns` is 0 for every request, because submission
//! costs nothing, so `clat_ns` equals `lat_ns`; CPU figures and faults are 0; rates are divided
//! by the exact virtual time, of which `runtime` shows whole milliseconds; requests are submitted
//! and reaped one by one. Percentiles come from a histogram whose buckets are a thousandth wide.

mod drift;
mod drive;
mod fields;
mod json;
mod latency;
mod layers;
mod logs;
mod merge;
mod normal;
mod number;
mod page;
mod terse;
#[cfg(test)]
mod test;
mod without;

pub use json::{to_json, to_json_text};
pub use logs::logs;
pub use normal::{NOT_IN_NORMAL, to_normal};
pub use terse::to_terse;
pub use without::read_without;

use serde_json::{Map, Value};
use ssdlab_device::config::power::PowerConfig;

/// What the record itself does not know.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Name of the drive's profile.
    pub profile: String,
    /// Version of this program.
    pub version: String,
    /// Seed of the run.
    pub seed: u64,
    /// The drive's condition when the jobs began: `fresh`, `filled`, `used`, `steady:uniform`, `steady:job`.
    pub condition: String,
    /// What the drive was written by on its way into the condition, and since; `None` of a fresh one that no job wrote to.
    pub conditioned_by: Option<String>,
    /// Whether the steady condition was reached; `None` where it was not asked for.
    pub steady_reached: Option<bool>,
    /// Why it was not.
    pub not_steady: Option<String>,
    /// Wall time of the jobs, in seconds.
    pub wall_s: f64,
    /// Process CPU time of the jobs, in seconds.
    pub cpu_s: f64,
    /// Dies of all drives, for their utilization.
    pub dies: u32,
    /// Channels of all drives, for their utilization.
    pub channels: u32,
    /// Drives, for the utilization of their links and controllers.
    pub drives: u32,
    /// The drive's power states; `None` where they are left out.
    pub power: Option<PowerConfig>,
    /// Seconds since 1970 at the end of the run; 0 for none.
    pub timestamp: u64,
    /// The same in milliseconds.
    pub timestamp_ms: u64,
    /// The same as text.
    pub time: String,
    /// Options of the job file's `[global]` section.
    pub global_options: Map<String, Value>,
    /// More for the `ssdlab` objects.
    pub extra: Map<String, Value>,
}
