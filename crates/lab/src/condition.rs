//! Conditions of a drive, and how it is brought into them.
//!
//! | condition | how |
//! |---|---|
//! | fresh | out of the box |
//! | filled | fresh, then 128 KiB sequential writes over the exported range once |
//! | used | filled, then random 4 KiB (or mapping-unit) overwrites that amount to the capacity once |
//! | steady | used, then the job's own writes in rounds of a quarter of the capacity: at least three capacities after the first garbage collection, until the mean write amplification of five rounds differs from that of the five before by less than 0.5 %, at most 50 rounds |
//!
//! Seasoning has no clock: the FTL decides at its own speed, and the drive ends idle with everything
//! programmed. What only time brings (idle-time collection, the write buffer's coalescing) does not
//! happen in it. With a span below 1 the host uses only that first part of the exported range, so
//! that the rest stays unwritten and serves as spare area.

use crate::run::Observer;
use crate::workload::generate::{Generator, JobError};
use crate::workload::job::{Extent, Job, Pattern};
use serde::{Deserialize, Serialize};
use ssdlab_device::block::{Device, Operation, Request};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::Lpn;
use std::collections::VecDeque;
use std::fmt;

/// What has been done to a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    /// Out of the box.
    #[default]
    Fresh,
    /// Written once, in order.
    Filled,
    /// Filled, and overwritten at random once.
    Used,
    /// Used until write amplification no longer changes.
    Steady,
}

impl Condition {
    /// All conditions, in the order in which a drive goes through them.
    pub const ALL: [Condition; 4] = [Condition::Fresh, Condition::Filled, Condition::Used, Condition::Steady];

    /// The condition of that name.
    pub fn named(name: &str) -> Option<Condition> {
        Condition::ALL.into_iter().find(|condition| condition.to_string() == name)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::Fresh => "fresh",
            Condition::Filled => "filled",
            Condition::Used => "used",
            Condition::Steady => "steady",
        })
    }
}

/// How seasoning went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Season {
    /// Write amplification of each round on the way to the steady condition.
    pub rounds: Vec<f64>,
    /// Whether the stop rule was met; `None` where steady was not asked for.
    pub steady_reached: Option<bool>,
    /// Stopped by the observer.
    pub interrupted: bool,
}

const ROUNDS_AT_MOST: usize = 50;
const ROUNDS_PER_CAPACITY: u64 = 4;
const CAPACITIES_AFTER_FIRST_COLLECTION: u64 = 3;
const WINDOW: usize = 5;
const STEADY_WITHIN: f64 = 0.005;
/// Bytes of one write while the drive is filled.
const FILL_BYTES: u32 = 128 << 10;
/// Units between two questions to the observer.
const UNITS_PER_QUESTION: u64 = 1 << 18;
/// A mix in which no write comes for so many requests is taken to have none.
const READS_BETWEEN_WRITES: u32 = 1 << 20;
/// How far ahead of a write its map entry is fetched, and the old slot behind it.
const AHEAD: [usize; 2] = [48, 24];

/// Brings a drive from one condition into a later one.
///
/// # Errors
/// Where the job does not fit the drive.
pub fn season(
    ssd: &mut Ssd,
    from: Condition,
    to: Condition,
    jobs: &[Job],
    span: f64,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Season, Box<JobError>> {
    let mut seasoner = Seasoner::new(ssd, span, observer);
    let steps: &[Condition] = &Condition::ALL[from as usize + 1..(to as usize + 1).max(from as usize + 1)];
    for step in steps {
        match step {
            Condition::Fresh => {}
            Condition::Filled => seasoner.fill(),
            Condition::Used => seasoner.overwrite(seed),
            Condition::Steady => seasoner.settle(jobs, seed)?,
        }
        if seasoner.season.interrupted {
            break;
        }
    }
    let season = std::mem::take(&mut seasoner.season);
    ssd.flush_now();
    Ok(season)
}

/// Writes what a read job will read and has never been written, as fio lays out its file.
pub fn lay_out(ssd: &mut Ssd, regions: &[(usize, u64, u64)]) -> u64 {
    let unit = u64::from(ssd.unit_bytes());
    let mut written = 0;
    for &(_, offset, bytes) in regions {
        for lpn in offset / unit..(offset + bytes).div_ceil(unit).min(u64::from(ssd.ftl.exported)) {
            if ssd.ftl.place(Lpn(lpn as u32)) == ssdlab_device::ftl::Place::Unmapped {
                ssd.write_now(Lpn(lpn as u32), 0);
                written += unit;
            }
        }
    }
    ssd.flush_now();
    written
}

struct Seasoner<'a> {
    ssd: &'a mut Ssd,
    observer: &'a mut dyn Observer,
    /// Units that the host uses.
    units: u32,
    /// Units of one random overwrite.
    chunk: u32,
    season: Season,
}

impl<'a> Seasoner<'a> {
    fn new(ssd: &'a mut Ssd, span: f64, observer: &'a mut dyn Observer) -> Seasoner<'a> {
        let units = ((f64::from(ssd.ftl.exported) * span).round() as u32).clamp(1, ssd.ftl.exported);
        let chunk = (4096 / ssd.unit_bytes()).max(1);
        Seasoner { ssd, observer, units, chunk, season: Season::default() }
    }

    fn fill(&mut self) {
        let per_command = (FILL_BYTES / self.ssd.unit_bytes()).max(1);
        for lpn in 0..self.units {
            self.ssd.write_now(Lpn(lpn), 0);
            if lpn % per_command == 0 {
                self.ssd.count_command_now();
            }
            if u64::from(lpn).is_multiple_of(UNITS_PER_QUESTION)
                && !self.goes_on("fill", f64::from(lpn) / f64::from(self.units))
            {
                return;
            }
        }
        self.ssd.flush_now();
    }

    fn overwrite(&mut self, seed: u64) {
        // The workload's own stream, apart from every stream of the drive.
        let mut stream = Stream::new(!seed, Purpose::Victim);
        let chunks = self.units / self.chunk;
        let mut ahead: VecDeque<u32> = VecDeque::with_capacity(AHEAD[0] + 1);
        for done in 0..chunks {
            while ahead.len() <= AHEAD[0] {
                let lpn = stream.below(chunks) * self.chunk;
                self.ssd.hint_now(Lpn(lpn));
                ahead.push_back(lpn);
            }
            self.ssd.hint_old_now(Lpn(ahead[AHEAD[1]]));
            let first = ahead.pop_front().expect("filled");
            self.ssd.count_command_now();
            (first..first + self.chunk).for_each(|lpn| {
                self.ssd.write_now(Lpn(lpn), 0);
            });
            if u64::from(done).is_multiple_of(UNITS_PER_QUESTION)
                && !self.goes_on("use", f64::from(done) / f64::from(chunks))
            {
                return;
            }
        }
        self.ssd.flush_now();
    }

    /// Rounds of the job's writes until write amplification stays.
    fn settle(&mut self, jobs: &[Job], seed: u64) -> Result<(), Box<JobError>> {
        let mut writers = self.writers(jobs, seed)?;
        let round_units = (u64::from(self.units) / ROUNDS_PER_CAPACITY).max(1);
        let mut rounds_with_collection = 0;
        let mut reached = false;
        while self.season.rounds.len() < ROUNDS_AT_MOST && !reached {
            let before = self.ssd.counters();
            let share = self.season.rounds.len() as f64 / ROUNDS_AT_MOST as f64;
            if !self.round(&mut writers, round_units, share) {
                break;
            }
            let after = self.ssd.counters();
            rounds_with_collection += u64::from(before.blocks_erased > 0);
            self.season.rounds.extend((after - before).write_amplification());
            reached = rounds_with_collection >= CAPACITIES_AFTER_FIRST_COLLECTION * ROUNDS_PER_CAPACITY
                && is_steady(&self.season.rounds);
        }
        self.season.steady_reached = Some(reached);
        Ok(())
    }

    /// Endless generators of the jobs' writes: of the first stonewall group that writes, or 4 KiB
    /// uniform where none does.
    fn writers(&self, jobs: &[Job], seed: u64) -> Result<Vec<Generator>, Box<JobError>> {
        let span = Extent::Bytes(u64::from(self.units) * u64::from(self.ssd.unit_bytes()));
        let uniform = Job {
            pattern: Pattern { reads: false, writes: true, trims: false, random: true },
            no_random_map: true,
            size: (self.units < self.ssd.ftl.exported).then_some(span),
            ..Job::default()
        };
        let mut writing: Vec<Job> = first_writing_group(jobs).to_vec();
        if writing.is_empty() {
            writing.push(uniform);
        }
        let mut generators = Vec::new();
        for job in &mut writing {
            *job = Job { time_based: true, number_ios: None, fsync: 0, fdatasync: 0, io_size: None, ..job.clone() };
            for clone in 0..job.num_jobs {
                generators.push(Generator::new(job, clone, self.ssd.limits(), !seed)?);
            }
        }
        Ok(generators)
    }

    /// Writes `units` units from the generators in turn; false when stopped or nothing can be written.
    fn round(&mut self, writers: &mut [Generator], units: u64, share: f64) -> bool {
        let end = self.ssd.counters().host_pages_written + units;
        let mut ahead: VecDeque<Request> = VecDeque::with_capacity(AHEAD[0] + 1);
        let (mut turn, mut requests) = (0, 0u64);
        loop {
            while ahead.len() <= AHEAD[0] {
                let Some(request) = next_change(writers, &mut turn) else { return false };
                self.ssd.hint(request.lba);
                ahead.push_back(request);
            }
            let sectors_per_unit = u64::from(self.ssd.unit_bytes() / self.ssd.limits().sector_bytes);
            let soon = ahead[AHEAD[1]].lba.0 / sectors_per_unit;
            self.ssd.hint_old_now(Lpn(soon as u32));
            let request = ahead.pop_front().expect("filled");
            self.apply(&request, sectors_per_unit);
            requests += 1;
            if self.ssd.ftl.read_only || self.ssd.counters().host_pages_written >= end {
                return !self.ssd.ftl.read_only;
            }
            if requests.is_multiple_of(UNITS_PER_QUESTION) && !self.goes_on("settle", share) {
                return false;
            }
        }
    }

    fn apply(&mut self, request: &Request, sectors_per_unit: u64) {
        let end = request.lba.0 + u64::from(request.sectors);
        match request.operation {
            Operation::Write => {
                self.ssd.count_command_now();
                for lpn in request.lba.0 / sectors_per_unit..end.div_ceil(sectors_per_unit) {
                    self.ssd.write_now(Lpn(lpn as u32), request.compress_percent);
                }
            }
            Operation::Trim | Operation::WriteZeroes => {
                // Only whole granules, as in the timed drive.
                let limits = self.ssd.limits();
                let granule = u64::from(limits.discard_granularity_bytes / limits.sector_bytes).max(sectors_per_unit);
                let first = request.lba.0.div_ceil(granule) * granule;
                let end = end / granule * granule;
                for lpn in first / sectors_per_unit..end.max(first) / sectors_per_unit {
                    self.ssd.trim_now(Lpn(lpn as u32));
                }
            }
            Operation::Read | Operation::Flush => {}
        }
    }

    fn goes_on(&mut self, phase: &str, share: f64) -> bool {
        let goes_on = self.observer.progress(phase, share);
        self.season.interrupted |= !goes_on;
        goes_on
    }
}

/// The next request of the generators in turn that is no read; `None` where none comes any more.
fn next_change(writers: &mut [Generator], turn: &mut usize) -> Option<Request> {
    for _ in 0..READS_BETWEEN_WRITES {
        let planned = writers[*turn].next()?;
        *turn = (*turn + 1) % writers.len();
        if planned.request.operation != Operation::Read {
            return Some(planned.request);
        }
    }
    None
}

/// The jobs that change data in the first stonewall group in which one writes; traces are left out.
fn first_writing_group(jobs: &[Job]) -> Vec<Job> {
    let mut groups: Vec<Vec<Job>> = vec![Vec::new()];
    for job in jobs {
        if job.stonewall {
            groups.push(Vec::new());
        }
        if (job.pattern.writes || job.pattern.trims) && job.replay.is_none() {
            groups.last_mut().expect("one at least").push(job.clone());
        }
    }
    groups.into_iter().find(|group| group.iter().any(|job| job.pattern.writes)).unwrap_or_default()
}

/// The mean of the last five rounds is within 0.5 % of that of the five before.
fn is_steady(rounds: &[f64]) -> bool {
    let Some(start) = rounds.len().checked_sub(2 * WINDOW) else { return false };
    let mean = |window: &[f64]| window.iter().sum::<f64>() / window.len() as f64;
    let (before, last) = (mean(&rounds[start..start + WINDOW]), mean(&rounds[start + WINDOW..]));
    (last / before - 1.0).abs() < STEADY_WITHIN
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::run::Silent;
    use ssdlab_device::profile::{Profile, built_in};

    fn small(settings: &[(&str, &str)]) -> Ssd {
        let mut all = vec![
            ("capacity_bytes", "64 MiB"),
            ("nand.channels", "2"),
            ("nand.dies_per_channel", "2"),
            ("nand.pages_per_block", "32"),
        ];
        all.extend_from_slice(settings);
        let all: Vec<_> = all.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let profile = Profile::read("theory", "theory", built_in("theory").unwrap(), &all).unwrap();
        Ssd::new(&profile.config, 1, ()).unwrap()
    }

    fn to(ssd: &mut Ssd, condition: Condition, span: f64) -> Season {
        season(ssd, Condition::Fresh, condition, &[], span, 1, &mut Silent).unwrap()
    }

    /// A filled drive was written exactly once, a used one exactly twice, and both are fully mapped.
    #[test]
    fn filled_and_used_write_the_capacity() {
        let mut ssd = small(&[]);
        to(&mut ssd, Condition::Filled, 1.0);
        assert_eq!(ssd.counters().host_pages_written, 16_384);
        assert_eq!(ssd.ftl.mapped_units(), 16_384);
        let mut ssd = small(&[]);
        to(&mut ssd, Condition::Used, 1.0);
        assert_eq!(ssd.counters().host_pages_written, 2 * 16_384);
    }

    /// Steady means the stop rule: more than three capacities of rounds after the first collection,
    /// and two windows that agree.
    #[test]
    fn steady_meets_its_rule() {
        let mut ssd = small(&[]);
        let season = to(&mut ssd, Condition::Steady, 1.0);
        assert_eq!(season.steady_reached, Some(true));
        assert!(season.rounds.len() >= 12 && is_steady(&season.rounds), "{:?}", season.rounds);
    }

    /// The jobs that bring a drive into steady state are those of the first group that writes, its
    /// trims with them.
    #[test]
    fn the_first_writing_group_settles_the_drive() {
        let names = |text: &str| -> Vec<String> {
            let jobs = crate::workload::parse::parse_job_file(text, "test.fio").unwrap().jobs;
            first_writing_group(&jobs).into_iter().map(|job| job.name).collect()
        };
        assert_eq!(names("[t]\nrw=trim\n[w]\nstonewall\nrw=write\n"), ["w"]);
        assert_eq!(names("[r]\nrw=read\n[w]\nrw=randwrite\n[t]\nrw=randtrim\n[x]\nstonewall\nrw=write\n"), ["w", "t"]);
        assert!(names("[r]\nrw=read\n").is_empty());
    }

    /// With a span the rest of the range stays unwritten.
    #[test]
    fn a_span_leaves_the_rest_unwritten() {
        let mut ssd = small(&[]);
        to(&mut ssd, Condition::Steady, 0.75);
        assert_eq!(ssd.ftl.mapped_units(), 12_288);
    }
}
