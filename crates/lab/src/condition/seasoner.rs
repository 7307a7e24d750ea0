//! The steps from one condition to the next: fill, overwrite, settle.

use super::{Season, Seasoned};
use crate::run::Observer;
use crate::workload::generate::{Generator, JobError};
use crate::workload::job::{Extent, Job, Pattern, PerDirection, SizeShare};
use ssdlab_device::block::{Device, Operation, Request, Status};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::units::Lba;
use std::collections::VecDeque;

/// Rounds at most, rounds after the first collection at least, and those of a window, where a round is the least: a
/// quarter of the capacity. Longer rounds are as many fewer.
const ROUNDS_AT_MOST: u64 = 50;
const ROUNDS_PER_CAPACITY: u64 = 4;
const ROUNDS_AFTER_FIRST_COLLECTION: u64 = 3 * ROUNDS_PER_CAPACITY;
pub const WINDOW: u64 = 5;
const LEAST_WINDOW: u64 = 2;
const STEADY_WITHIN: f64 = 0.005;
/// Bytes of one write while the drive is filled.
pub const FILL_BYTES: u32 = 128 << 10;
/// Bytes of one random overwrite, where the mapping unit is not larger.
pub const OVERWRITE_BYTES: u32 = 4096;
/// Random requests, and commands in order, between two questions to the observer.
const REQUESTS_PER_QUESTION: u64 = 1 << 14;
const COMMANDS_PER_QUESTION: u64 = 1 << 9;
/// A mix in which no write comes for so many requests is taken to have none.
const READS_BETWEEN_WRITES: u32 = 1 << 20;
/// How far ahead of a write its map entry is fetched, and the old slot behind it.
const AHEAD: [usize; 2] = [48, 24];

/// Writes sectors in order without time, `command_bytes` at a time, asking before each command.
pub fn write_in_order<D: Device + ?Sized>(
    device: &mut D,
    start: u64,
    end: u64,
    command_bytes: u32,
    goes_on: &mut dyn FnMut(u64) -> bool,
) {
    let step = u64::from(command_bytes / device.limits().sector_bytes);
    for lba in (start..end).step_by(step as usize) {
        if !goes_on(lba) {
            return;
        }
        let status = device.apply_now(Request::new(Operation::Write, Lba(lba), step.min(end - lba) as u32));
        if status == Status::WriteProtected {
            return;
        }
    }
}

/// A device on its way.
pub struct Seasoner<'a, D: Seasoned + ?Sized> {
    /// The device.
    pub device: &'a mut D,
    observer: &'a mut dyn Observer,
    sector_bytes: u32,
    unit_bytes: u32,
    /// Units that are exported.
    exported: u64,
    /// Units that the host uses.
    pub units: u64,
    /// How it went so far.
    pub season: Season,
}

impl<'a, D: Seasoned + ?Sized> Seasoner<'a, D> {
    /// A device of which the host uses a share.
    pub fn new(device: &'a mut D, span: f64, observer: &'a mut dyn Observer) -> Seasoner<'a, D> {
        let (sector_bytes, unit_bytes) = (device.limits().sector_bytes, device.unit_bytes());
        let exported = device.limits().capacity_bytes().div_ceil(u64::from(unit_bytes));
        let units = ((exported as f64 * span).round() as u64).clamp(1, exported);
        Seasoner { device, observer, sector_bytes, unit_bytes, exported, units, season: Season::default() }
    }

    /// Sectors that the host uses; the last unit may lie beyond the end in part.
    fn sectors(&self) -> u64 {
        let sectors = self.units * u64::from(self.unit_bytes / self.sector_bytes);
        sectors.min(self.device.limits().sectors)
    }

    /// 128 KiB in order, once.
    pub fn fill(&mut self) {
        let end = self.sectors();
        let command = FILL_BYTES.max(self.unit_bytes) / self.unit_bytes * self.unit_bytes;
        let (observer, season) = (&mut *self.observer, &mut self.season);
        let mut commands = 0;
        write_in_order(self.device, 0, end, command, &mut |lba| {
            commands += 1;
            let ask = commands % COMMANDS_PER_QUESTION == 1;
            season.interrupted |= ask && !observer.progress("fill", lba as f64 / end as f64);
            !season.interrupted
        });
        self.flush();
    }

    /// Random overwrites that amount to what is used, once.
    pub fn overwrite(&mut self, seed: u64) {
        // The workload's own stream, apart from every stream of the drive.
        let mut stream = Stream::new(!seed, Purpose::Victim);
        let bytes = (OVERWRITE_BYTES / self.unit_bytes).max(1) * self.unit_bytes;
        let sectors = bytes / self.sector_bytes;
        let chunks = (self.units * u64::from(self.unit_bytes) / u64::from(bytes)) as u32;
        let mut ahead: VecDeque<Lba> = VecDeque::with_capacity(AHEAD[0] + 1);
        for done in 0..chunks {
            while ahead.len() <= AHEAD[0] {
                let lba = Lba(u64::from(stream.below(chunks)) * u64::from(sectors));
                self.device.hint(lba);
                ahead.push_back(lba);
            }
            self.device.hint_old(ahead[AHEAD[1]]);
            let first = ahead.pop_front().expect("filled");
            let status = self.device.apply_now(Request::new(Operation::Write, first, sectors));
            if status == Status::WriteProtected {
                return;
            }
            if u64::from(done).is_multiple_of(REQUESTS_PER_QUESTION)
                && !self.goes_on("use", f64::from(done) / f64::from(chunks))
            {
                return;
            }
        }
        self.flush();
    }

    /// Rounds of the job's writes until write amplification stays.
    pub fn settle(&mut self, jobs: &[Job], seed: u64) -> Result<(), Box<JobError>> {
        let mut writers = self.writers(jobs, seed)?;
        let least = (self.units / ROUNDS_PER_CAPACITY).max(1);
        // In least rounds: all that was written, and what was since the first collection.
        let (mut rounds, mut rounds_with_collection) = (0, 0);
        let mut reached = false;
        while !reached && rounds < ROUNDS_AT_MOST {
            let (before, start) = (self.device.counters(), self.device.written_units());
            if !self.round(&mut writers, least, "settle", rounds as f64 / ROUNDS_AT_MOST as f64) {
                break;
            }
            let length = ((self.device.written_units() - start + least / 2) / least).max(1);
            rounds += length;
            rounds_with_collection += if before.blocks_erased > 0 { length } else { 0 };
            self.season.rounds.extend((self.device.counters() - before).write_amplification());
            let window = WINDOW.div_ceil(length).max(LEAST_WINDOW);
            reached = rounds_with_collection >= ROUNDS_AFTER_FIRST_COLLECTION
                && is_steady(&self.season.rounds, window as usize);
        }
        self.season.steady_reached = Some(reached);
        Ok(())
    }

    /// Endless generators of the jobs' writes: of the first stonewall group that writes, or uniform
    /// ones where none does. Where fio repeats the order of its random map, it is that of the run;
    /// other draws are apart from the run's.
    pub fn writers(&self, jobs: &[Job], seed: u64) -> Result<Vec<Generator>, Box<JobError>> {
        let mut writing: Vec<Job> = first_writing_group(jobs);
        if writing.is_empty() {
            writing.push(self.uniform(0));
        }
        let mut generators = Vec::new();
        for job in &mut writing {
            let ends = Job { number_ios: None, io_size: None, pass_size: None, ..job.clone() };
            *job = Job { time_based: true, fsync: 0, fdatasync: 0, ..ends };
            for clone in 0..job.num_jobs {
                let limits = self.device.limits();
                let generator = Generator::new(job, clone, limits, !seed)?;
                let is_mapped = generator.passes().is_some();
                generators.push(if is_mapped { Generator::new(job, clone, limits, seed)? } else { generator });
            }
        }
        Ok(generators)
    }

    /// Uniform random writes of 4 KiB, or of a larger mapping unit, over what is used.
    pub fn uniform(&self, compress_percent: u8) -> Job {
        let bytes = (OVERWRITE_BYTES / self.unit_bytes).max(1) * self.unit_bytes;
        let span = Extent::Bytes(self.units * u64::from(self.unit_bytes));
        Job {
            pattern: Pattern { reads: false, writes: true, trims: false, random: true },
            block_sizes: PerDirection::all(vec![SizeShare { bytes, percent: 100.0 }]),
            no_random_map: true,
            size: (self.units < self.exported).then_some(span),
            compress_percent,
            ..Job::default()
        }
    }

    /// Writes `units` units from the generators in turn, and then to the end of a pass of their random
    /// maps, where all have one; false when stopped or nothing can be written.
    pub fn round(&mut self, writers: &mut [Generator], units: u64, phase: &str, share: f64) -> bool {
        let end = self.device.written_units() + units;
        let pass: Option<u64> = writers.iter().map(|writer| Some(writer.passes()?.1)).sum();
        let mut pass_end = None;
        let mut ahead: VecDeque<Request> = VecDeque::with_capacity(AHEAD[0] + 1);
        let (mut turn, mut requests) = (0, 0u64);
        loop {
            while ahead.len() <= AHEAD[0] && pass_end.is_none_or(|end| issued(writers) < end) {
                let Some(request) = next_change(writers, &mut turn) else { return false };
                self.device.hint(request.lba);
                ahead.push_back(request);
            }
            if let Some(later) = ahead.get(AHEAD[1]) {
                self.device.hint_old(later.lba);
            }
            let Some(request) = ahead.pop_front() else { return true };
            self.device.apply_now(request);
            requests += 1;
            if self.device.is_read_only() {
                return false;
            }
            if pass_end.is_none() && self.device.written_units() >= end {
                let Some(pass) = pass else { return true };
                pass_end = Some(issued(writers).next_multiple_of(pass));
            }
            if requests.is_multiple_of(REQUESTS_PER_QUESTION) && !self.goes_on(phase, share) {
                return false;
            }
        }
    }

    /// Makes everything of before take effect.
    pub fn flush(&mut self) {
        self.device.apply_now(Request::new(Operation::Flush, Lba(0), 0));
    }

    /// Tells the observer, and whether it goes on.
    pub fn goes_on(&mut self, phase: &str, share: f64) -> bool {
        let goes_on = self.observer.progress(phase, share) && !self.device.is_faulty();
        self.season.interrupted |= !goes_on;
        goes_on
    }
}

/// Sectors of all requests that the generators gave.
fn issued(writers: &[Generator]) -> u64 {
    writers.iter().filter_map(|writer| writer.passes()).map(|(issued, _)| issued).sum()
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

/// The jobs that change data in each stonewall group in which one writes; traces are left out.
pub fn writing_groups(jobs: &[Job]) -> Vec<Vec<Job>> {
    let mut groups: Vec<Vec<Job>> = vec![Vec::new()];
    for job in jobs {
        if job.stonewall {
            groups.push(Vec::new());
        }
        if (job.pattern.writes || job.pattern.trims) && job.replay.is_none() {
            groups.last_mut().expect("one at least").push(job.clone());
        }
    }
    groups.retain(|group| group.iter().any(|job| job.pattern.writes));
    groups
}

/// The first of [`writing_groups`], empty where none writes.
pub fn first_writing_group(jobs: &[Job]) -> Vec<Job> {
    writing_groups(jobs).into_iter().next().unwrap_or_default()
}

/// The mean of the last rounds is within 0.5 % of that of as many before.
pub fn is_steady(rounds: &[f64], window: usize) -> bool {
    windows(rounds, window).is_some_and(|(before, last)| (last / before - 1.0).abs() < STEADY_WITHIN)
}

/// The means of the last rounds, and of as many before.
pub fn windows(rounds: &[f64], window: usize) -> Option<(f64, f64)> {
    let start = rounds.len().checked_sub(2 * window)?;
    let mean = |window: &[f64]| window.iter().sum::<f64>() / window.len() as f64;
    Some((mean(&rounds[start..start + window]), mean(&rounds[start + window..])))
}
