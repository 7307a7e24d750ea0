//! Places of a job whose region is divided: into files, or into stretches with gaps between them.

use crate::workload::addresses::{Addresses, Direction, Span};
use crate::workload::distribution::{Blocks, Skew};
use crate::workload::error::{Misfit, Problem};
use crate::workload::job::{Distribution, FileService, Files, Job, Strides};
use crate::workload::random::{Purpose, Stream, mix};

/// Places requests in a divided region; spans count from the region's start.
#[derive(Clone, Debug)]
pub enum Places {
    /// Files, one after the other.
    Files(Box<FilePlaces>),
    /// Stretches.
    Strides(Box<StridePlaces>),
}

impl Places {
    /// For a region of so many sectors; `None` where it is not divided.
    ///
    /// # Errors
    /// Files and stretches that hold no block.
    pub fn new(job: &Job, sectors: u64, sector_bytes: u32, seed: u64) -> Result<Option<Places>, Misfit> {
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
        }
    }

    /// The next request's place.
    pub fn next(&mut self, direction: Direction) -> Span {
        match self {
            Places::Files(places) => places.next(direction),
            Places::Strides(places) => places.next(direction),
        }
    }

    /// Starts over.
    pub fn restart(&mut self) {
        match self {
            Places::Files(places) => places.files.iter_mut().for_each(File::restart),
            Places::Strides(places) => places.go_to(0),
        }
    }
}

#[derive(Clone, Debug)]
struct File {
    first: u64,
    sectors: u64,
    /// Sectors that are still to be transferred in this pass.
    left: u64,
    addresses: Addresses,
}

impl File {
    fn restart(&mut self) {
        self.left = self.sectors;
        self.addresses.restart();
    }
}

/// A job's files.
#[derive(Clone, Debug)]
pub struct FilePlaces {
    files: Vec<File>,
    service: FileService,
    skew: Option<Skew>,
    stream: Stream,
    current: usize,
    stay: u32,
    stay_left: u32,
}

impl FilePlaces {
    fn new(job: &Job, sectors: u64, sector_bytes: u32, seed: u64) -> Result<FilePlaces, Misfit> {
        let Files { count, sizes, service, stay } = job.files;
        let mut stream = Stream::new(seed, Purpose::File);
        let block = u64::from(smallest_block(job) / sector_bytes).max(1);
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
            let addresses = Addresses::new(job, length, sector_bytes, mix(seed ^ index))
                .map_err(|problem| ("random_distribution", String::new(), problem))?;
            files.push(File { first, sectors: length, left: length, addresses });
            first += length;
        }
        let distribution = match service {
            FileService::Zipf(theta) => Distribution::Zipf { theta, center: None, ranks: None },
            FileService::Pareto(h) => Distribution::Pareto { h, center: None },
            FileService::Normal(deviation_percent) => Distribution::Normal { deviation_percent, center: 0.5 },
            _ => Distribution::Uniform,
        };
        let blocks = Blocks { count: u64::from(count), bytes: 1 };
        let skew = Skew::new(&distribution, &[], blocks, &mut stream)
            .map_err(|problem| ("file_service_type", String::new(), problem))?;
        Ok(FilePlaces { files, service, skew, stream, current: 0, stay, stay_left: stay })
    }

    fn next(&mut self, direction: Direction) -> Span {
        if self.files.iter().all(|file| file.left == 0) {
            self.files.iter_mut().for_each(|file| file.left = file.sectors);
        }
        if self.stay_left == 0 || self.files[self.current].left == 0 || self.skew.is_some() {
            self.current = self.choose();
            self.stay_left = self.stay;
        }
        if self.service != FileService::Sequential {
            self.stay_left -= 1;
        }
        let file = &mut self.files[self.current];
        let (start, length) = file.addresses.next(direction);
        file.left = file.left.saturating_sub(u64::from(length));
        (file.first + start, length)
    }

    /// The file after this one, or one at random; of those that are not done.
    fn choose(&mut self) -> usize {
        let count = self.files.len();
        let wanted = match (&self.skew, self.service) {
            (Some(skew), _) => skew.next(&mut self.stream) as usize,
            (None, FileService::Random) => self.stream.below(count as u64) as usize,
            _ => (self.current + 1) % count,
        };
        let not_done = |index: &usize| self.files[*index].left > 0;
        (0..count).map(|step| (wanted + step) % count).find(not_done).unwrap_or(wanted)
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
        let largest = u64::from(largest_block(job) / sector_bytes);
        let range = in_sectors(strides.range_bytes).min(sectors);
        if range < largest {
            let message = "a stretch holds no block";
            let problem = Problem::new(message, "give a larger zonesize or zonerange, or a smaller bs");
            return Err(("zonesize", strides.range_bytes.to_string(), problem));
        }
        let addresses = Addresses::new(job, range, sector_bytes, seed)
            .map_err(|problem| ("random_distribution", String::new(), problem))?;
        let (size, skip) = (in_sectors(strides.size_bytes), in_sectors(strides.skip_bytes));
        Ok(StridePlaces { addresses, sectors, size, range, skip, base: 0, transferred: 0 })
    }

    fn next(&mut self, direction: Direction) -> Span {
        if self.transferred >= self.size {
            // A stretch that reaches beyond the region is left out.
            let next = self.base.saturating_add(self.range).saturating_add(self.skip);
            self.go_to(if next.saturating_add(self.range) > self.sectors { 0 } else { next });
        }
        let (start, length) = self.addresses.next(direction);
        self.transferred += u64::from(length);
        (self.base + start, length)
    }

    fn go_to(&mut self, base: u64) {
        self.base = base;
        self.transferred = 0;
        self.addresses.restart();
    }
}

fn sizes(job: &Job) -> impl Iterator<Item = u32> + '_ {
    let sizes = &job.block_sizes;
    [&sizes.read, &sizes.write, &sizes.trim].into_iter().flatten().map(|share| share.bytes)
}

fn smallest_block(job: &Job) -> u32 {
    sizes(job).min().unwrap_or(1)
}

fn largest_block(job: &Job) -> u32 {
    sizes(job).max().unwrap_or(1)
}
