//! How a job divides its region (files, zones), and what it does with what it has written.

use serde::{Deserialize, Serialize};

/// Which file of a job the next request goes to (`file_service_type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum FileService {
    /// One after the other, a request each.
    #[default]
    RoundRobin,
    /// Any of those that are not done.
    Random,
    /// One is finished before the next begins.
    Sequential,
    /// Zipf over the files, with this exponent.
    Zipf(f64),
    /// Pareto over the files, with this input.
    Pareto(f64),
    /// Normal over the files, with this deviation in percent.
    Normal(f64),
}

/// The files of a job: stretches of its region, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Files {
    /// Number of files.
    pub count: u32,
    /// Least and greatest size in bytes, each as likely; without it the region is divided evenly.
    pub sizes: Option<(u64, u64)>,
    /// Which file is next.
    pub service: FileService,
    /// Requests before the file changes.
    pub stay: u32,
}

impl Default for Files {
    fn default() -> Files {
        Files { count: 1, sizes: None, service: FileService::default(), stay: 1 }
    }
}

/// `zonemode=strided`: a stretch is worked on, then one is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strides {
    /// Bytes that are transferred in each stretch.
    pub size_bytes: u64,
    /// Length of a stretch.
    pub range_bytes: u64,
    /// Bytes left out behind each stretch.
    pub skip_bytes: u64,
}

/// Reading back what was written (`verify`); nothing is compared, for a drive keeps no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// Read back after so many writes; 0 after all of them.
    pub backlog: u64,
    /// Read back so many at a time; 0 is as many as the backlog.
    pub batch: u64,
}

/// Trimming some of what was written (`trim_percentage`, `trim_backlog`, `trim_backlog_batch`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimWritten {
    /// Share of the written blocks, in percent.
    pub percent: u32,
    /// Trims come after so many writes; 0 never.
    pub backlog: u64,
    /// So many trims at a time; 0 is as many as the backlog.
    pub batch: u64,
}

/// fio's `sprandom` (3.41): one pass of writes that leaves a drive about as uniform random writes leave it in the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sprandom {
    /// Stretches of writes, each with its own share that is written again (`spr_num_regions`).
    pub regions: u32,
    /// Spare space by the exported, above 0 and below 1 (`spr_op`).
    pub over_provisioning: f64,
    /// The drive's write cache; above 0 what is written again comes a region later (`spr_cs`).
    pub cache_bytes: u64,
}

impl Default for Sprandom {
    fn default() -> Sprandom {
        Sprandom { regions: 100, over_provisioning: 0.15, cache_bytes: 0 }
    }
}
