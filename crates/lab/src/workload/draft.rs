//! A job under construction: options are put in one by one, then it is completed as fio would,
//! with the defaults that depend on several options at once.

use super::error::Problem;
use super::job::{
    BlockSizes, Distribution, ExitWhat, Extent, Job, LatencyTarget, PerDirection, Replay, SizeShare, SteadyMetric,
    SteadyRule, Strides, Verify,
};
use super::trace::{Open, Trace, TraceOptions};
use ssdlab_device::units::Nanos;

mod order;
mod range;

use order::Order;
use range::{SECTOR, range_shares, rounded_down};

/// The page cache's page, and the smallest sector of a drive.
const PAGE_BYTES: u32 = 4096;
const LEAST_SECTOR_BYTES: u32 = 512;

/// Gives the text of a file that a job includes, or why it cannot be had
/// (without its path, which the option names).
pub type ReadFile<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// Finds a trace that a job replays (`read_iolog`): how it is opened, or why it cannot be
/// (without its path).
pub type FindTrace<'a> = &'a dyn Fn(&str) -> Result<Open, String>;

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

/// The number after the colon of `rw`: a run of requests, or a hole between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternSuffix {
    /// Of a random pattern: requests before a new place is drawn.
    Run(u32),
    /// Of a sequential pattern: bytes left out after each request.
    Hole(i64),
}

/// What the writes of the sg engine are (`sg_write_mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SgWrite {
    /// Writes.
    #[default]
    Write,
    /// VERIFY commands: the drive reads the blocks.
    Verify,
    /// WRITE SAME without data: the drive zeroes the blocks.
    Zeroes,
}

/// `zonemode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneMode {
    /// There are no zones.
    None,
    /// Some is worked on, then some is left out.
    Strided,
    /// Those of a zoned drive, which ours are not.
    Zoned,
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
    /// `bsrange`; takes the place of `bs`.
    pub range: PerDirection<Option<(u32, u32)>>,
    /// `bs_unaligned`: sizes of a range in steps of a sector of 512 bytes.
    pub bs_unaligned: bool,
    /// `filesize`.
    pub file_size: Option<Extent>,
    /// `filesize=1m-4m`.
    pub file_sizes: Option<(u64, u64)>,
    /// `fill_device`.
    pub fill_device: bool,
    /// `zonemode`.
    pub zone_mode: ZoneMode,
    /// `zonesize`, `zonerange`, `zoneskip`.
    pub zone: Strides,
    /// The number after the colon of `rw`.
    pub pattern_suffix: Option<PatternSuffix>,
    /// `exitall`.
    pub exit_all: bool,
    /// `exit_what`.
    pub exit_what: ExitWhat,
    /// In which order blocks come, where a job says so itself.
    pub order: Order,
    /// `latency_target`.
    pub latency_target: Option<Nanos>,
    /// `latency_window`.
    pub latency_window: Option<Nanos>,
    /// `latency_percentile`.
    pub latency_percentile: f64,
    /// `latency_run`.
    pub latency_run: bool,
    /// `verify` names a check.
    pub verify: bool,
    /// `do_verify`.
    pub do_verify: bool,
    /// `verify_only`.
    pub verify_only: bool,
    /// `verify_backlog`.
    pub verify_backlog: u64,
    /// `verify_backlog_batch`.
    pub verify_batch: u64,
    /// What the sg engine's writes are.
    pub sg_write: SgWrite,
    /// `buffer_pattern` is given.
    pub has_pattern: bool,
    /// `buffer_compress_percentage` is given.
    pub has_compression: bool,
    /// A synchronous engine, by name.
    pub synchronous_engine: Option<String>,
    /// The engine sends commands to the drive itself, past any page cache.
    pub engine_is_direct: bool,
    /// `zero_buffers`.
    pub zero_buffers: bool,
    /// `fsync_on_close`.
    pub fsync_on_close: bool,
    /// `read_iolog`.
    pub read_iolog: Option<String>,
    /// Not `replay_no_stall`.
    pub replay_timed: bool,
    /// `replay_device`, `replay_skip`, `replay_scale`, `replay_align`, `replay_time_scale`.
    pub replay: TraceOptions,
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
            range: PerDirection::default(),
            bs_unaligned: false,
            file_size: None,
            file_sizes: None,
            fill_device: false,
            zone_mode: ZoneMode::None,
            zone: Strides::default(),
            pattern_suffix: None,
            exit_all: false,
            exit_what: ExitWhat::default(),
            order: Order::default(),
            latency_target: None,
            latency_window: None,
            latency_percentile: 100.0,
            latency_run: false,
            verify: false,
            do_verify: true,
            verify_only: false,
            verify_backlog: 0,
            verify_batch: 0,
            sg_write: SgWrite::default(),
            has_pattern: false,
            has_compression: false,
            synchronous_engine: None,
            engine_is_direct: false,
            zero_buffers: false,
            fsync_on_close: false,
            read_iolog: None,
            replay_timed: true,
            replay: TraceOptions::default(),
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
    /// The finished job; a trace it names is found by `find_trace`.
    ///
    /// # Errors
    /// Options that contradict each other, and an unreadable trace.
    pub fn complete(mut self, find_trace: FindTrace<'_>) -> Result<Job, Blame> {
        self.complete_pattern()?;
        self.job.block_sizes = self.block_sizes()?;
        self.round_to_pages();
        self.complete_sizes()?;
        self.complete_engine();
        self.complete_random_map();
        self.job.end_fsync |= self.fsync_on_close;
        // A pattern that repeats packs like zeros, unless a share is asked for.
        if self.zero_buffers || (self.has_pattern && !self.has_compression) {
            self.job.compress_percent = 100;
        }
        self.complete_verify();
        self.complete_strides()?;
        self.complete_order()?;
        self.complete_latency_target()?;
        self.job.exit_all = self.exit_all.then_some(self.exit_what);
        self.check_rates()?;
        if self.job.time_based && self.job.runtime.is_none() {
            let problem = Problem::new("needs a runtime", "add runtime=60 or leave time_based out");
            return Err(("time_based", problem));
        }
        self.job.steady_state = self.steady_rule()?;
        self.job.replay = self.replay(find_trace)?;
        Ok(self.job)
    }

    /// The suffix of `rw`, and what stands in for the writes of the sg engine.
    fn complete_pattern(&mut self) -> Result<(), Blame> {
        match self.pattern_suffix {
            None => {}
            Some(PatternSuffix::Run(requests)) => self.job.sequential_run = requests,
            Some(PatternSuffix::Hole(bytes)) => self.job.hole_bytes = bytes,
        }
        let pattern = &mut self.job.pattern;
        let writes_only = pattern.writes && !pattern.reads && !pattern.trims;
        if self.sg_write != SgWrite::Write && !writes_only {
            return Err(("sg_write_mode", Problem::new("goes with writes only", "use rw=write or rw=randwrite")));
        }
        match self.sg_write {
            SgWrite::Write => {}
            SgWrite::Verify => (pattern.reads, pattern.writes) = (true, false),
            SgWrite::Zeroes => {
                (pattern.trims, pattern.writes) = (true, false);
                self.job.zeroes = true;
            }
        }
        Ok(())
    }

    fn block_sizes(&mut self) -> Result<PerDirection<BlockSizes>, Blame> {
        let one = |bytes: u32, range: Option<(u32, u32)>| match range {
            None => Ok(vec![SizeShare { bytes, percent: 100.0 }]),
            Some((least, most)) => range_shares(least, most, if self.bs_unaligned { SECTOR } else { least }),
        };
        let (bytes, range) = (self.block_bytes, self.range);
        let sizes = |bytes, range| one(bytes, range).map_err(|problem| ("bsrange", problem));
        let split = self.split.clone().unwrap_or_default();
        let of = |split: BlockSizes, bytes, range| match split.is_empty() {
            true => sizes(bytes, range),
            false => Ok(rounded_down(split, self.bs_unaligned)),
        };
        Ok(PerDirection {
            read: of(split.read, bytes.read, range.read)?,
            write: of(split.write, bytes.write, range.write)?,
            trim: of(split.trim, bytes.trim, range.trim)?,
        })
    }

    /// What is written is read back, or with `verify_only` only read.
    fn complete_verify(&mut self) {
        let writes = self.job.pattern.writes;
        if self.verify_only && writes {
            (self.job.pattern.reads, self.job.pattern.writes, self.job.pattern.trims) = (true, false, false);
        } else if self.verify && writes && (self.do_verify || self.verify_backlog > 0) {
            self.job.verify = Some(Verify { backlog: self.verify_backlog, batch: self.verify_batch });
        }
        if !self.verify {
            // As in fio, only what is to be verified is trimmed.
            self.job.trim_written = Default::default();
        }
    }

    fn complete_strides(&mut self) -> Result<(), Blame> {
        let mut zone = self.zone;
        match self.zone_mode {
            ZoneMode::None if zone.size_bytes > 0 => {
                return Err(("zonesize", Problem::new("needs zonemode=strided", "add it, or leave zonesize out")));
            }
            ZoneMode::None | ZoneMode::Zoned => return Ok(()),
            ZoneMode::Strided => {}
        }
        if zone.size_bytes == 0 && zone.range_bytes == 0 {
            let remedy = "add the length of a stretch, such as zonesize=256m";
            return Err(("zonemode", Problem::new("needs zonesize", remedy)));
        }
        if zone.size_bytes == 0 {
            zone.size_bytes = zone.range_bytes;
        }
        if zone.range_bytes == 0 {
            zone.range_bytes = zone.size_bytes;
        }
        if self.job.files.count > 1 {
            return Err(("zonemode", Problem::new("a job with strides has one file", "leave nrfiles out")));
        }
        self.job.strides = Some(zone);
        Ok(())
    }

    fn complete_latency_target(&mut self) -> Result<(), Blame> {
        let Some(target) = self.latency_target else { return Ok(()) };
        let Some(window) = self.latency_window else {
            let remedy = "add the time each depth is tried for, such as latency_window=1s";
            return Err(("latency_target", Problem::new("needs latency_window", remedy)));
        };
        let percentile = self.latency_percentile;
        self.job.latency_target = Some(LatencyTarget { target, window, percentile, goes_on: self.latency_run });
        Ok(())
    }

    /// A block that is no whole number of sectors gets to the drive through the page cache only, in whole
    /// pages. With `direct`, and an engine that sends commands itself, it is refused where the drive's sector is known.
    fn round_to_pages(&mut self) {
        if self.job.direct || self.engine_is_direct {
            return;
        }
        let sizes = &mut self.job.block_sizes;
        let shares = [&mut sizes.read, &mut sizes.write, &mut sizes.trim].into_iter().flatten();
        for share in shares.filter(|share| !share.bytes.is_multiple_of(LEAST_SECTOR_BYTES)) {
            self.job.rounded_block_bytes = self.job.rounded_block_bytes.or(Some(share.bytes));
            share.bytes = share.bytes.checked_next_multiple_of(PAGE_BYTES).unwrap_or(share.bytes);
        }
    }

    /// `filesize` makes the region, and leaves to `size` the amount of a pass, where that is less (fio's rule).
    fn complete_sizes(&mut self) -> Result<(), Blame> {
        let whole = |extent: &Extent| matches!(extent, Extent::Bytes(0));
        self.job.size = self.job.size.filter(|size| !whole(size));
        self.job.io_size = self.job.io_size.filter(|size| !whole(size));
        let fills = self.fill_device && self.job.size.is_none();
        if let Some(sizes) = self.file_sizes {
            self.job.pass_size = self.job.size;
            self.job.size = Some(Extent::Bytes(sizes.1.saturating_mul(u64::from(self.job.files.count))));
            self.job.files.sizes = Some(sizes);
        } else if let Some(file_size) = self.file_size.filter(|size| !whole(size)) {
            self.job.pass_size = self.job.size;
            let offset = match self.job.offset {
                Extent::Bytes(bytes) => bytes,
                Extent::Percent(_) => 0,
            };
            self.job.size = Some(match file_size {
                // A file counts from the start of the target, and is worked on from the offset.
                Extent::Bytes(bytes) if bytes > offset => {
                    Extent::Bytes((bytes - offset).saturating_mul(u64::from(self.job.files.count)))
                }
                Extent::Bytes(bytes) => {
                    let message = format!("has {bytes} bytes, and the offset is {offset}");
                    return Err(("filesize", Problem::new(message, "give a larger filesize or a smaller offset")));
                }
                share @ Extent::Percent(_) => share,
            });
        }
        if fills {
            self.job.size = None;
        }
        Ok(())
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

    fn replay(&self, find_trace: FindTrace<'_>) -> Result<Option<Replay>, Blame> {
        let Some(path) = &self.read_iolog else {
            return Ok(None);
        };
        let blame = |problem: Problem| ("read_iolog", problem);
        if self.job.write_iolog.is_some() {
            let problem = Problem::new("excludes write_iolog", "give one of the two");
            return Err(blame(problem));
        }
        let open = find_trace(path).map_err(|why| {
            blame(Problem::new(why, "name a fio iolog, a text of blkparse, or the CSV of a block trace"))
        })?;
        let trace = Trace::read(path, open, self.replay.clone());
        let trace = trace.map_err(|error| blame(Problem::new(error.reason(), error.remedy)))?;
        Ok(Some(Replay { trace, timed: self.replay_timed }))
    }
}
