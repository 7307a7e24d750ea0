//! A job under construction: options are put in one by one, then it is completed as fio would,
//! with the defaults that depend on several options at once.

use super::error::Problem;
use super::job::{BlockSizes, SteadyMetric};
use super::job::{Distribution, Extent, Job, PerDirection, Replay, SizeShare, SteadyRule};
use super::trace;
use ssdlab_device::units::Nanos;

/// The page cache's page, and the smallest sector of a drive.
const PAGE_BYTES: u32 = 4096;
const LEAST_SECTOR_BYTES: u32 = 512;

/// Gives the text of a file that a job names (`read_iolog`), or why it cannot be had
/// (without its path, which the option names).
pub type ReadFile<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// Criterion of `steadystate`, before its window is known.
#[derive(Clone, Copy, Debug)]
pub struct Criterion {
    /// What is watched.
    pub metric: SteadyMetric,
    /// Slope rather than deviation.
    pub slope: bool,
    /// Limit.
    pub limit: f64,
    /// In percent of the mean.
    pub limit_is_percent: bool,
}

/// A job and what its options said beyond it.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The job so far.
    pub job: Job,
    /// `bs`; gives way to a `bssplit`.
    pub block_bytes: PerDirection<u32>,
    /// `bssplit`.
    pub split: Option<PerDirection<BlockSizes>>,
    /// `filesize`.
    pub file_size: Option<Extent>,
    /// A synchronous engine, by name.
    pub synchronous_engine: Option<String>,
    /// `zero_buffers`.
    pub zero_buffers: bool,
    /// `fsync_on_close`.
    pub fsync_on_close: bool,
    /// `random_generator=lfsr` visits every block once without a map.
    pub full_period_generator: bool,
    /// `read_iolog`.
    pub read_iolog: Option<String>,
    /// Not `replay_no_stall`.
    pub replay_timed: bool,
    /// `replay_time_scale`.
    pub replay_time_percent: u64,
    /// `replay_scale`: offsets are divided by it.
    pub replay_scale: u64,
    /// `replay_align`: offsets are rounded down to a multiple of it.
    pub replay_align: u64,
    /// `steadystate`.
    pub criterion: Option<Criterion>,
    /// `ss_dur`.
    pub steady_window: Nanos,
    /// `ss_ramp`.
    pub steady_ramp: Nanos,
    /// `ss_interval`.
    pub steady_interval: Nanos,
}

impl Default for Draft {
    fn default() -> Draft {
        Draft {
            job: Job::default(),
            block_bytes: PerDirection::all(4096),
            split: None,
            file_size: None,
            synchronous_engine: None,
            zero_buffers: false,
            fsync_on_close: false,
            full_period_generator: false,
            read_iolog: None,
            replay_timed: true,
            replay_time_percent: 100,
            replay_scale: 1,
            replay_align: 1,
            criterion: None,
            steady_window: Nanos::ZERO,
            steady_ramp: Nanos::ZERO,
            steady_interval: Nanos(1_000_000_000),
        }
    }
}

/// A problem and the option to blame.
pub type Blame = (&'static str, Problem);

impl Draft {
    /// The finished job; a trace it names is read through `read_file`.
    ///
    /// # Errors
    /// Options that contradict each other, and an unreadable trace.
    pub fn complete(mut self, read_file: ReadFile<'_>) -> Result<Job, Blame> {
        self.job.block_sizes = self.block_sizes();
        self.round_to_pages();
        self.complete_sizes();
        self.complete_engine();
        self.complete_random_map();
        self.job.end_fsync |= self.fsync_on_close;
        if self.zero_buffers {
            self.job.compress_percent = 100;
        }
        self.check_rates()?;
        if self.job.time_based && self.job.runtime.is_none() {
            let problem = Problem::new("needs a runtime", "add runtime=60 or leave time_based out");
            return Err(("time_based", problem));
        }
        self.job.steady_state = self.steady_rule()?;
        self.job.replay = self.replay(read_file)?;
        Ok(self.job)
    }

    fn block_sizes(&self) -> PerDirection<BlockSizes> {
        let one = |bytes: u32| vec![SizeShare { bytes, percent: 100.0 }];
        self.split.clone().unwrap_or_else(|| self.block_bytes.map(one))
    }

    /// A block that is no whole number of sectors gets to the drive through the page cache only, in whole
    /// pages. With `direct` it is refused where the drive's sector is known.
    fn round_to_pages(&mut self) {
        if self.job.direct {
            return;
        }
        let sizes = &mut self.job.block_sizes;
        let shares = [&mut sizes.read, &mut sizes.write, &mut sizes.trim].into_iter().flatten();
        for share in shares.filter(|share| !share.bytes.is_multiple_of(LEAST_SECTOR_BYTES)) {
            self.job.rounded_block_bytes = self.job.rounded_block_bytes.or(Some(share.bytes));
            share.bytes = share.bytes.checked_next_multiple_of(PAGE_BYTES).unwrap_or(share.bytes);
        }
    }

    /// `filesize` makes the region, and leaves to `size` the amount of I/O (fio's rule).
    fn complete_sizes(&mut self) {
        let whole = |extent: &Extent| matches!(extent, Extent::Bytes(0));
        self.job.size = self.job.size.filter(|size| !whole(size));
        self.job.io_size = self.job.io_size.filter(|size| !whole(size));
        if let Some(file_size) = self.file_size.filter(|size| !whole(size)) {
            self.job.io_size = self.job.io_size.or(self.job.size);
            self.job.size = Some(file_size);
        }
    }

    fn complete_engine(&mut self) {
        if let Some(engine) = self.synchronous_engine.take() {
            self.job.io_depth = 1;
            self.job.synchronous_engine = Some(engine);
        }
    }

    /// A skewed distribution and an alignment of its own have no random map, as in fio.
    fn complete_random_map(&mut self) {
        let own_alignment = self.job.block_align != PerDirection::default();
        self.job.no_random_map &= !self.full_period_generator;
        self.job.no_random_map |= own_alignment || self.job.distribution != Distribution::Uniform;
    }

    fn check_rates(&self) -> Result<(), Blame> {
        let (rate, iops) = (&self.job.rate, &self.job.rate_iops);
        if *rate != PerDirection::default() && *iops != PerDirection::default() {
            return Err(("rate", Problem::new("excludes rate_iops", "give one of the two")));
        }
        Ok(())
    }

    fn steady_rule(&self) -> Result<Option<SteadyRule>, Blame> {
        let Some(criterion) = self.criterion else {
            return Ok(None);
        };
        let (window, interval) = (self.steady_window.0, self.steady_interval.0);
        if window == 0 {
            let remedy = "add the length of the window, such as ss_dur=60";
            return Err(("steadystate", Problem::new("needs ss_dur", remedy)));
        }
        if interval == 0 || !window.is_multiple_of(interval) || window <= interval {
            let remedy = format!("the interval is {} s", self.steady_interval.as_s());
            let message = "must be two or more times ss_interval, a whole number of times";
            return Err(("steadystate_duration", Problem::new(message, remedy)));
        }
        Ok(Some(SteadyRule {
            metric: criterion.metric,
            slope: criterion.slope,
            limit: criterion.limit,
            limit_is_percent: criterion.limit_is_percent,
            window: self.steady_window,
            ramp: self.steady_ramp,
            interval: self.steady_interval,
        }))
    }

    fn replay(&self, read_file: ReadFile<'_>) -> Result<Option<Replay>, Blame> {
        let Some(path) = &self.read_iolog else {
            return Ok(None);
        };
        let blame = |problem: Problem| ("read_iolog", problem);
        if self.job.write_iolog.is_some() {
            let problem = Problem::new("excludes write_iolog", "give one of the two");
            return Err(blame(problem));
        }
        let text = read_file(path).map_err(|why| {
            blame(Problem::new(why, "name a fio iolog, a text of blkparse, or a trace of MSR Cambridge"))
        })?;
        let mut entries =
            trace::parse_trace(&text, path).map_err(|error| blame(Problem::new(error.reason(), error.remedy)))?;
        for entry in &mut entries {
            let scaled = u128::from(entry.at.0) * u128::from(self.replay_time_percent) / 100;
            entry.at = Nanos(u64::try_from(scaled).unwrap_or(Nanos::NEVER.0));
            entry.offset = entry.offset / self.replay_scale / self.replay_align * self.replay_align;
        }
        Ok(Some(Replay { path: path.clone(), entries, timed: self.replay_timed }))
    }
}
