//! Places of a job whose region is divided, into files or into stretches with gaps between them, or whose blocks have
//! an order of their own.

use super::sequence::Sequence;
use super::sprandom::Pass;
use crate::workload::addresses::{Addresses, AtEnd, Direction, Span};
use crate::workload::distribution::{Blocks, Skew};
use crate::workload::error::{Misfit, Problem};
use crate::workload::job::{Distribution, FileService, Files, Job, Strides};
use crate::workload::random::{Purpose, Stream, mix};
use crate::workload::region::largest_block;

/// fio draws from so many ranks a file, where files have a skew.
const RANKS_OF_A_FILE_LOG2: u32 = 10;

/// Places requests where [`Addresses`] alone do not; spans count from the region's start.
#[derive(Clone, Debug)]
pub enum Places {
    /// Files, one after the other.
    Files(Box<FilePlaces>),
    /// Stretches.
    Strides(Box<StridePlaces>),
    /// Blocks in a given order.
    Sequence(Box<Sequence>),
    /// A pass that preconditions the drive.
    Sprandom(Box<Pass>),
}

impl Places {
    /// For a region of so many sectors; `None` where [`Addresses`] do.
    ///
    /// # Errors
    /// Files, stretches and regions that hold no block, and a sequence that does not fit.
    pub fn new(job: &Job, sectors: u64, sector_bytes: u32, seed: u64) -> Result<Option<Places>, Misfit> {
        if let Some(shape) = job.sprandom {
            return Ok(Some(Places::Sprandom(Box::new(Pass::new(job, shape, sectors, sector_bytes, seed)?))));
        }
        if let (Distribution::Sequence { blocks, strides }, true) = (&job.distribution, job.pattern.random) {
            let sequence = Sequence::new(job, blocks, *strides, sectors, sector_bytes)?;
            return Ok(Some(Places::Sequence(Box::new(sequence))));
        }
        if let Some(strides) = job.strides {
            return Ok(Some(Places::Strides(Box::new(StridePlaces::new(job, strides, sectors, sector_bytes, seed)?))));
        }
        if job.files.count == 1 && job.files.sizes.is_none() {
            return Ok(None);
        }
        Ok(Some(Places::Files(Box::new(FilePlaces::new(job, sectors, sector_bytes, seed)?))))
    }

    /// Sectors that one pass transfers.
    pub fn sectors(&self) -> u64 {
        match self {
            Places::Files(places) => places.files.iter().map(|file| file.sectors).sum(),
            Places::Strides(places) => places.sectors,
            Places::Sequence(places) => places.sectors,
            Places::Sprandom(pass) => pass.sectors(),
        }
    }

    /// The next request's place; `None` where they are used up.
    pub fn next(&mut self, direction: Direction) -> Option<Span> {
        match self {
            Places::Files(places) => places.next(direction),
            Places::Strides(places) => Some(places.next(direction)),
            Places::Sequence(places) => places.next(direction),
            Places::Sprandom(pass) => pass.next(),
        }
    }

    /// Starts over.
    pub fn restart(&mut self, repeat: bool) {
        match self {
            Places::Files(places) => places.restart(repeat),
            Places::Strides(places) => places.go_to(0, repeat),
            // It counts on through all passes.
            Places::Sequence(_) => {}
            Places::Sprandom(pass) => pass.restart(repeat),
        }
    }
}

#[derive(Clone, Debug)]
struct File {
    first: u64,
    sectors: u64,
    is_done: bool,
    addresses: Addresses,
}

impl File {
    fn restart(&mut self, repeat: bool) {
        self.is_done = false;
        self.addresses.restart(repeat);
    }
}

/// A job's files.
#[derive(Clone, Debug)]
pub struct FilePlaces {
    files: Vec<File>,
    service: FileService,
    skew: Option<Skew>,
    stream: Stream,
    /// The stream as it was when the files had their sizes.
    start: Stream,
    current: usize,
    stay: u32,
    stay_left: u32,
}

impl FilePlaces {
    fn new(job: &Job, sectors: u64, sector_bytes: u32, seed: u64) -> Result<FilePlaces, Misfit> {
        let Files { count, sizes, service, stay } = job.files;
        let mut stream = Stream::new(seed, Purpose::File);
        let block = u64::from(smallest_block(job) / sector_bytes).max(1);
        let at_end = if job.time_based && job.pattern.random { AtEnd::StartOver } else { AtEnd::Jump };
        let (mut files, mut first) = (Vec::with_capacity(count as usize), 0);
        for index in 0..u64::from(count) {
            let wanted = match sizes {
                None => sectors / u64::from(count),
                Some((least, most)) => (least + stream.below(most - least + 1)) / u64::from(sector_bytes),
            };
            let length = wanted.min(sectors - first) / block * block;
            if length == 0 {
                let message = format!("{count} files leave one without room for a block");
                return Err(("nrfiles", count.to_string(), Problem::new(message, "give fewer files or a larger size")));
            }
            let addresses = Addresses::new(job, length, sector_bytes, mix(seed ^ index), at_end)
                .map_err(|problem| ("random_distribution", String::new(), problem))?;
            files.push(File { first, sectors: length, is_done: false, addresses });
            first += length;
        }
        let distribution = match service {
            FileService::Zipf(theta) => Distribution::Zipf { theta, center: None, ranks: None },
            FileService::Pareto(h) => Distribution::Pareto { h, center: None },
            FileService::Normal(deviation_percent) => Distribution::Normal { deviation_percent, center: None },
            _ => Distribution::Uniform,
        };
        let blocks = Blocks { count: u64::from(count) << RANKS_OF_A_FILE_LOG2, bytes: 1 };
        let skew = Skew::new(&distribution, &[], blocks, &mut stream)
            .map_err(|problem| ("file_service_type", String::new(), problem))?
            .map(Skew::unhashed);
        let start = stream.clone();
        Ok(FilePlaces { files, service, skew, stream, start, current: count as usize - 1, stay, stay_left: 0 })
    }

    fn restart(&mut self, repeat: bool) {
        if repeat {
            self.stream = self.start.clone();
        }
        self.stay_left = 0;
        self.files.iter_mut().for_each(|file| file.restart(repeat));
    }

    /// In a file that is used up there is no place any more in this pass; where files have a skew, it begins again.
    fn next(&mut self, direction: Direction) -> Option<Span> {
        loop {
            if self.stay_left == 0 || self.files[self.current].is_done {
                self.current = self.choose()?;
                self.stay_left = self.stay;
            }
            if self.service != FileService::Sequential {
                self.stay_left -= 1;
            }
            let file = &mut self.files[self.current];
            match (file.addresses.next(direction), &self.skew) {
                (Some((start, length)), _) => return Some((file.first + start, length)),
                (None, Some(_)) => file.restart(false),
                (None, None) => file.is_done = true,
            }
        }
    }

    /// The file after this one, or one at random; of those that are not done.
    fn choose(&mut self) -> Option<usize> {
        let count = self.files.len();
        let left = || self.files.iter().enumerate().filter(|(_, file)| !file.is_done).map(|(index, _)| index);
        match (&self.skew, self.service) {
            (Some(skew), _) => Some((skew.next(&mut self.stream) >> RANKS_OF_A_FILE_LOG2) as usize),
            (None, FileService::Random) => match left().count() as u64 {
                0 => None,
                files => left().nth(self.stream.below(files) as usize),
            },
            _ => {
                let after = (1..=count).map(|step| (self.current + step) % count);
                after.into_iter().find(|index| !self.files[*index].is_done)
            }
        }
    }
}

/// Stretches with gaps between them.
#[derive(Clone, Debug)]
pub struct StridePlaces {
    addresses: Addresses,
    /// Sectors of the region.
    sectors: u64,
    size: u64,
    range: u64,
    skip: u64,
    base: u64,
    transferred: u64,
}

impl StridePlaces {
    fn new(job: &Job, strides: Strides, sectors: u64, sector_bytes: u32, seed: u64) -> Result<StridePlaces, Misfit> {
        let in_sectors = |bytes: u64| bytes / u64::from(sector_bytes);
        let largest = largest_block(job) / u64::from(sector_bytes);
        let range = in_sectors(strides.range_bytes).min(sectors);
        if range < largest {
            let message = "a stretch holds no block";
            let problem = Problem::new(message, "give a larger zonesize or zonerange, or a smaller bs");
            return Err(("zonesize", strides.range_bytes.to_string(), problem));
        }
        let addresses = Addresses::new(job, range, sector_bytes, seed, AtEnd::StartOver)
            .map_err(|problem| ("random_distribution", String::new(), problem))?;
        let (size, skip) = (in_sectors(strides.size_bytes), in_sectors(strides.skip_bytes));
        Ok(StridePlaces { addresses, sectors, size, range, skip, base: 0, transferred: 0 })
    }

    fn next(&mut self, direction: Direction) -> Span {
        if self.transferred >= self.size {
            // A stretch that reaches beyond the region is left out.
            let next = self.base.saturating_add(self.range).saturating_add(self.skip);
            self.go_to(if next.saturating_add(self.range) > self.sectors { 0 } else { next }, false);
        }
        // Without an end of its own a stretch has a next place always.
        let (start, length) = self.addresses.next(direction).unwrap_or((0, 0));
        self.transferred += u64::from(length);
        (self.base + start, length)
    }

    fn go_to(&mut self, base: u64, repeat: bool) {
        self.base = base;
        self.transferred = 0;
        self.addresses.restart(repeat);
    }
}

fn sizes(job: &Job) -> impl Iterator<Item = u32> + '_ {
    let sizes = &job.block_sizes;
    [&sizes.read, &sizes.write, &sizes.trim].into_iter().flatten().map(|share| share.bytes)
}

fn smallest_block(job: &Job) -> u32 {
    sizes(job).min().unwrap_or(1)
}
