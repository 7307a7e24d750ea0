//! What a job is, once a fio job file or command line has been understood: plain data, no text.
//!
//! Sizes are bytes, times are virtual. Nothing here knows a device; what depends on one (a size in
//! percent, "the whole device") is resolved by [`crate::workload::generate`] when the job starts.

mod control;
mod placement;

pub use control::{ExitWhat, Flow, LatencyTarget};
pub use placement::{FileService, Files, Sprandom, Strides, TrimWritten, Verify};

use super::trace::Trace;
use serde::{Deserialize, Serialize};
use ssdlab_device::units::Nanos;

/// Reads, writes, trims, and in which order of addresses (fio's `rw`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// Reads are part of the job.
    pub reads: bool,
    /// Writes are part of the job.
    pub writes: bool,
    /// Trims are part of the job. With writes too, each block is trimmed, then written (`trimwrite`).
    pub trims: bool,
    /// Random addresses rather than sequential ones.
    pub random: bool,
}

/// A size or an offset: in bytes, or as a share of the target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Extent {
    /// So many bytes.
    Bytes(u64),
    /// So many percent of the target's size.
    Percent(f64),
}

/// A stretch of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteRange {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// One entry of `bssplit`: a block size and its share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeShare {
    /// Block size in bytes.
    pub bytes: u32,
    /// Share in percent; the shares of one direction add up to 100.
    pub percent: f64,
}

/// Block sizes of one direction: a single size is one share of 100 %.
pub type BlockSizes = Vec<SizeShare>;

/// A zone of `random_distribution=zoned` or `zoned_abs`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// Share of the accesses, in percent.
    pub access_percent: f64,
    /// Size of the zone: a share of the target, or bytes for `zoned_abs`.
    pub size: Extent,
}

/// How random addresses are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Distribution {
    /// Every block alike.
    Uniform,
    /// Zipf with exponent theta.
    Zipf {
        /// Exponent, > 0, ≠ 1.
        theta: f64,
        /// Where the hottest block lies, 0 to 1 of the range; drawn where not given.
        center: Option<f64>,
        /// Ranks that the blocks share evenly among them, no fewer than there are blocks; one a block where not given.
        ranks: Option<u64>,
    },
    /// Pareto with input 0 < h < 1, as fio scales it.
    Pareto {
        /// fio's input value.
        h: f64,
        /// Where the hottest block lies, 0 to 1 of the range; drawn where not given.
        center: Option<f64>,
    },
    /// fio's normal.
    Normal {
        /// fio's deviation, in percent of the range.
        deviation_percent: f64,
        /// Shifts the places, from the middle at 0.5; none shifts nothing.
        center: Option<f64>,
    },
    /// Consecutive zones with their own shares, for each direction.
    Zoned(PerDirection<Vec<Zone>>),
    /// Zones whose blocks lie mixed over the whole range, each zone's in every stretch of it.
    Scattered(PerDirection<Vec<Zone>>),
    /// Given blocks in a given order, again and again.
    Sequence {
        /// Numbers of the blocks.
        blocks: Vec<u64>,
        /// Each round counts them from where the one before began, plus their number (`random_sequence_stride`).
        strides: bool,
    },
}

/// Values for reads, writes and trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

/// What fio's `steadystate` watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SteadyMetric {
    /// IOPS.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// Mean completion latency.
    Latency,
}

/// fio's own steady-state stop rule (`steadystate`, `ss_dur`, `ss_ramp`, `ss_interval`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyRule {
    /// What is watched.
    pub metric: SteadyMetric,
    /// Least-squares slope rather than the greatest deviation from the mean.
    pub slope: bool,
    /// The limit: in percent of the mean, or in IOPS, bytes a second or nanoseconds.
    pub limit: f64,
    /// The limit is in percent.
    pub limit_is_percent: bool,
    /// Length of the window.
    pub window: Nanos,
    /// Not looked at before this time.
    pub ramp: Nanos,
    /// Distance of two samples.
    pub interval: Nanos,
}

/// Distance of fio's bandwidth and IOPS samples.
const SAMPLE_INTERVAL: Nanos = Nanos(500_000_000);

/// fio's log files of bandwidth, latency and IOPS over time (`write_bw_log` and its relatives).
///
/// A log is named after its prefix, an empty one after its job: `PREFIX_bw.NUMBER.log`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logs {
    /// Prefix of the bandwidth log.
    pub bandwidth: Option<String>,
    /// Prefix of the latency logs.
    pub latency: Option<String>,
    /// Prefix of the log of IOPS.
    pub iops: Option<String>,
    /// Means over windows of this length; zero logs each request.
    pub window: Nanos,
    /// The longest latency of a window instead of the mean.
    pub maximum: bool,
    /// Offsets stand in the log.
    pub offset: bool,
    /// Each clone has files of its own, with its number.
    pub per_job: bool,
}

impl Default for Logs {
    fn default() -> Logs {
        Logs {
            bandwidth: None,
            latency: None,
            iops: None,
            window: Nanos::ZERO,
            maximum: false,
            offset: false,
            per_job: true,
        }
    }
}

impl Logs {
    /// There is a log to write.
    pub fn are_wanted(&self) -> bool {
        self.bandwidth.is_some() || self.latency.is_some() || self.iops.is_some()
    }
}

/// A recorded trace that takes the place of the pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The trace.
    pub trace: Trace,
    /// Requests are issued at their recorded times (false: as fast as the depth allows).
    pub timed: bool,
}

/// One job, with everything fio would have defaulted filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The section's name, or `name=`.
    pub name: String,
    /// The options as they were given, for fio's "job options".
    pub options: Vec<(String, String)>,
    /// `filename`, where given: names a drive of the run, not a file.
    pub filename: Option<String>,
    /// What is done in which order.
    pub pattern: Pattern,
    /// Block sizes.
    pub block_sizes: PerDirection<BlockSizes>,
    /// Sizes go by order instead of direction: those of reads hold for sequential requests, those of
    /// writes for random ones (`bs_is_seq_rand`).
    pub sizes_by_order: bool,
    /// Alignment of random offsets in bytes; 0 means the smallest block size.
    pub block_align: PerDirection<u64>,
    /// Share of reads in a mix, in percent.
    pub read_percent: u32,
    /// Region of the job: its size; `None` means up to the end of the target.
    pub size: Option<Extent>,
    /// Bytes of one pass, where it is less than the region: fio's `size` beside a `filesize`.
    #[serde(default)]
    pub pass_size: Option<Extent>,
    /// Bytes to transfer; `None` means those of a pass.
    pub io_size: Option<Extent>,
    /// Start of the region.
    pub offset: Extent,
    /// An offset in percent is rounded up to a multiple of this; 0 means the smallest block.
    pub offset_align: u64,
    /// The files that the region is divided into.
    pub files: Files,
    /// Stretches of the region that are left out.
    pub strides: Option<Strides>,
    /// Added to the offset for each further clone of `numjobs`.
    pub offset_increment: Extent,
    /// Each clone's own range, once the drive is known; empty where the job works on the drive itself.
    pub own_ranges: Vec<ByteRange>,
    /// Requests kept outstanding.
    pub io_depth: u32,
    /// Once full, the queue is filled again when it has drained to this; 0 keeps it full.
    pub depth_low: u32,
    /// Completions are taken when so many are there (`iodepth_batch_complete_min`).
    pub reap: u32,
    /// Clones of this job.
    pub num_jobs: u32,
    /// End of the job in virtual time.
    pub runtime: Option<Nanos>,
    /// Goes on until `runtime`, repeating the work.
    pub time_based: bool,
    /// Run before figures count.
    pub ramp_time: Nanos,
    /// Starts so much later; drawn between the two for each clone.
    pub start_delay: (Nanos, Nanos),
    /// Starts when the job of this name has ended.
    pub wait_for: Option<String>,
    /// Its end ends other jobs (`exitall`).
    pub exit_all: Option<ExitWhat>,
    /// Its end by an error ends all other jobs.
    pub exit_all_on_error: bool,
    /// Errors of these requests do not end it.
    pub continue_on_error: PerDirection<bool>,
    /// Keeps step with other jobs.
    pub flow: Flow,
    /// Only what reads need is written first, and nothing is run (`create_only`).
    pub layout_only: bool,
    /// Times the whole work is done.
    pub loops: u32,
    /// Stops after so many requests.
    pub number_ios: Option<u64>,
    /// Starts only after the jobs before it have ended.
    pub stonewall: bool,
    /// Report the clones of a group as one.
    pub group_reporting: bool,
    /// Starts a new reporting group.
    pub new_group: bool,
    /// Cap in bytes a second.
    pub rate: PerDirection<Option<u64>>,
    /// Cap in requests a second.
    pub rate_iops: PerDirection<Option<u64>>,
    /// Least bytes a second; a job that falls behind ends with an error.
    pub rate_min: PerDirection<Option<u64>>,
    /// Least requests a second.
    pub rate_iops_min: PerDirection<Option<u64>>,
    /// Time over which the least rates are averaged.
    pub rate_cycle: Nanos,
    /// Requests come as a Poisson process of the given rate (`rate_process=poisson`).
    pub rate_poisson: bool,
    /// A pause does not count as time to catch up.
    pub rate_ignores_thinking: bool,
    /// A longer latency ends the job with an error.
    pub max_latency: PerDirection<Option<Nanos>>,
    /// Looks for the depth that meets a latency.
    pub latency_target: Option<LatencyTarget>,
    /// Pause after each `think_blocks` requests.
    pub think_time: Nanos,
    /// Requests between two pauses.
    pub think_blocks: u32,
    /// Requests are counted when they are issued, not when they complete.
    pub think_by_issue: bool,
    /// Pause also after so much time; 0 never.
    pub think_io_time: Nanos,
    /// The same addresses at every run of the same seed (fio's default).
    pub rand_repeat: bool,
    /// fio's `randseed`, mixed into the run's own seed.
    pub rand_seed: Option<u64>,
    /// Random blocks may repeat before all were visited.
    pub no_random_map: bool,
    /// Each block is visited once without a map, and requests are not cut (`random_generator=lfsr`).
    #[serde(default)]
    pub full_period: bool,
    /// Preconditions the drive in one pass, in place of a random order.
    #[serde(default)]
    pub sprandom: Option<Sprandom>,
    /// How random addresses are drawn.
    pub distribution: Distribution,
    /// A random address starts a run of so many consecutive requests (fio's `rw=randread:8`).
    pub sequential_run: u32,
    /// The requests of such a run all go to the same place (`rw_sequencer=identical`).
    pub repeats_place: bool,
    /// Bytes left out after each sequential request; below 0 goes backwards (fio's `rw=read:-8k`).
    pub hole_bytes: i64,
    /// Share of random addresses, in percent.
    pub percent_random: PerDirection<u32>,
    /// New buffer contents for every request.
    pub refill_buffers: bool,
    /// How far the contents can be compressed, in percent.
    pub compress_percent: u8,
    /// Reads back what it has written.
    pub verify: Option<Verify>,
    /// Trims some of what it has written.
    pub trim_written: TrimWritten,
    /// Trims are write-zeroes commands (`sg_write_mode=write_same_ndob`).
    pub zeroes: bool,
    /// Flush after so many writes; 0 never.
    pub fsync: u32,
    /// As `fsync`, data only; the same to a block device.
    pub fdatasync: u32,
    /// Each write is durable when it completes (`sync`): FUA, where the drive has a volatile cache.
    pub synchronous_writes: bool,
    /// Every so many writes one goes as a barrier, durable with all before it; 0 never.
    pub barrier_every: u32,
    /// Flush at the end.
    pub end_fsync: bool,
    /// A block size as given, where the page cache makes whole pages of it.
    pub rounded_block_bytes: Option<u32>,
    /// Requests bypass the page cache.
    pub direct: bool,
    /// A synchronous engine was named: the depth is 1.
    pub synchronous_engine: Option<String>,
    /// An engine was named that queues requests; fio's default does not.
    #[serde(default)]
    pub is_queued_by_engine: bool,
    /// A trace instead of the pattern.
    #[serde(skip)]
    pub replay: Option<Replay>,
    /// Where to write the requests as a fio iolog.
    pub write_iolog: Option<String>,
    /// fio's log files.
    pub logs: Logs,
    /// Time between two samples of the bandwidth.
    pub bandwidth_interval: Nanos,
    /// Time between two samples of the IOPS.
    pub iops_interval: Nanos,
    /// fio's own steady-state rule.
    pub steady_state: Option<SteadyRule>,
    /// Percentiles to report, rising; empty means fio's default.
    pub percentiles: Vec<f64>,
}

impl Default for Job {
    fn default() -> Job {
        let four_k = || vec![SizeShare { bytes: 4096, percent: 100.0 }];
        Job {
            name: String::from("job"),
            options: Vec::new(),
            filename: None,
            pattern: Pattern { reads: true, writes: false, trims: false, random: false },
            block_sizes: PerDirection { read: four_k(), write: four_k(), trim: four_k() },
            sizes_by_order: false,
            block_align: PerDirection::default(),
            read_percent: 50,
            size: None,
            pass_size: None,
            io_size: None,
            offset: Extent::Bytes(0),
            offset_increment: Extent::Bytes(0),
            own_ranges: Vec::new(),
            offset_align: 0,
            files: Files::default(),
            strides: None,
            io_depth: 1,
            depth_low: 0,
            reap: 1,
            num_jobs: 1,
            runtime: None,
            time_based: false,
            ramp_time: Nanos::ZERO,
            start_delay: (Nanos::ZERO, Nanos::ZERO),
            wait_for: None,
            exit_all: None,
            exit_all_on_error: false,
            continue_on_error: PerDirection::default(),
            flow: Flow::default(),
            layout_only: false,
            loops: 1,
            number_ios: None,
            stonewall: false,
            group_reporting: false,
            new_group: false,
            rate: PerDirection::default(),
            rate_iops: PerDirection::default(),
            rate_min: PerDirection::default(),
            rate_iops_min: PerDirection::default(),
            rate_cycle: Nanos(1_000_000_000),
            rate_poisson: false,
            rate_ignores_thinking: false,
            max_latency: PerDirection::default(),
            latency_target: None,
            think_time: Nanos::ZERO,
            think_blocks: 1,
            think_by_issue: false,
            think_io_time: Nanos::ZERO,
            rand_repeat: true,
            rand_seed: None,
            no_random_map: false,
            full_period: false,
            sprandom: None,
            distribution: Distribution::Uniform,
            sequential_run: 1,
            repeats_place: false,
            hole_bytes: 0,
            percent_random: PerDirection { read: 100, write: 100, trim: 100 },
            refill_buffers: false,
            compress_percent: 0,
            verify: None,
            trim_written: TrimWritten::default(),
            zeroes: false,
            fsync: 0,
            fdatasync: 0,
            synchronous_writes: false,
            barrier_every: 0,
            end_fsync: false,
            rounded_block_bytes: None,
            direct: false,
            synchronous_engine: None,
            is_queued_by_engine: false,
            replay: None,
            write_iolog: None,
            logs: Logs::default(),
            bandwidth_interval: SAMPLE_INTERVAL,
            iops_interval: SAMPLE_INTERVAL,
            steady_state: None,
            percentiles: Vec::new(),
        }
    }
}

impl<T> PerDirection<T> {
    /// Values made by a function of each direction's value.
    pub fn map<U>(self, change: impl Fn(T) -> U) -> PerDirection<U> {
        PerDirection { read: change(self.read), write: change(self.write), trim: change(self.trim) }
    }
}

impl<T: Clone> PerDirection<T> {
    /// The same value for all directions.
    pub fn all(value: T) -> PerDirection<T> {
        PerDirection { read: value.clone(), write: value.clone(), trim: value }
    }
}

impl Job {
    /// Sizes of random requests, for each direction: with `bs_is_seq_rand` those of writes.
    pub fn sizes_of_directions(&self) -> PerDirection<BlockSizes> {
        if !self.sizes_by_order {
            return self.block_sizes.clone();
        }
        let random = self.pattern.random;
        PerDirection::all(if random { self.block_sizes.write.clone() } else { self.block_sizes.read.clone() })
    }

    /// Whether any stretch of it is like any other on a drive that is steady under it, however long it is: nothing
    /// that it uses up, such as a map of blocks to visit or a trace, and no end that its own figures bring about.
    pub fn is_stationary(&self) -> bool {
        let uses_up = self.pattern.random && !self.no_random_map || self.sprandom.is_some() || self.replay.is_some();
        let ends_by_figures = self.number_ios.is_some() || self.steady_state.is_some() || self.latency_target.is_some();
        !uses_up && !ends_by_figures && self.strides.is_none() && self.verify.is_none() && self.wait_for.is_none()
    }

    /// Whether it works on the same share of any drive, uniformly or in sequence: no place or length of it is in bytes.
    pub fn scales(&self) -> bool {
        let is_share = |extent: &Extent| matches!(extent, Extent::Percent(_) | Extent::Bytes(0));
        let lengths = [self.size, self.pass_size];
        let whole = self.filename.is_none() && self.own_ranges.is_empty() && self.files == Files::default();
        let shares = lengths.iter().flatten().chain([&self.offset, &self.offset_increment]).all(is_share);
        whole && shares && self.distribution == Distribution::Uniform && self.hole_bytes == 0
    }
}
