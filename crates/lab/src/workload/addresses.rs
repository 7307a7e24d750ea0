//! Where the next request goes and how long it is, within a region, in sectors.
//!
//! As in fio, each direction keeps its own sequential position: after the direction's last
//! request, random or not. Without `norandommap` each block of the region is visited once before
//! any is visited again; where block sizes are mixed, a map of the smallest blocks keeps the
//! account and a request is cut at the first block already visited ([`super::free_blocks`]).
//!
//! Two things differ from fio. Where all blocks are of one size, every order of them is as likely; fio goes on to
//! the next free block where a draw was visited, so that towards the end of a pass neighbours follow each other a
//! little more often (a pass over a full drive: write amplification 6.610 and 6.608, over a used one 7.39 and 7.37).
//! Directions with different smallest blocks have no common map here, and do without one; fio counts the blocks of
//! all directions in one map and breaks a pass off where they do not match.

use super::distribution::{Blocks, Skew};
use super::error::Problem;
use super::free_blocks::FreeBlocks;
use super::job::{BlockSizes, Distribution, Job, PerDirection};
use super::permutation::Cover;
use super::random::{Purpose, Stream};

/// Reads, writes or trims, as an index.
pub type Direction = usize;
/// Index of reads.
pub const READ: Direction = 0;
/// Index of writes.
pub const WRITE: Direction = 1;
/// Index of trims.
pub const TRIM: Direction = 2;

/// A stretch of the region: first sector, counted from the region's start, and length.
pub type Span = (u64, u32);

/// Block sizes of a direction, in sectors.
#[derive(Clone, Debug)]
enum Sizes {
    Fixed(u32),
    /// Sizes with their accumulated shares of 2⁶⁴.
    Split(Vec<(u64, u32)>),
}

impl Sizes {
    fn new(sizes: &BlockSizes, sector_bytes: u32) -> Sizes {
        if let [only] = sizes.as_slice() {
            return Sizes::Fixed(only.bytes / sector_bytes);
        }
        let mut percent = 0.0;
        let table = sizes.iter().map(|share| {
            percent += share.percent;
            // The cast saturates, so that the last size takes all that rounding leaves.
            ((percent / 100.0 * 2f64.powi(64)) as u64, share.bytes / sector_bytes)
        });
        Sizes::Split(table.collect())
    }

    /// A size that fits into `room` sectors, as fio draws it: the first that fits of the drawn one and those behind
    /// it, or else another draw. The smallest one fits.
    #[inline]
    fn next(&self, stream: &mut Stream, room: u64) -> u32 {
        match self {
            Sizes::Fixed(sectors) => *sectors,
            Sizes::Split(table) => loop {
                let draw = stream.next();
                let drawn = table.partition_point(|(up_to, _)| *up_to < draw).min(table.len() - 1);
                let fits = |(_, sectors): &&(u64, u32)| u64::from(*sectors) <= room;
                if let Some((_, sectors)) = table[drawn..].iter().find(fits) {
                    return *sectors;
                }
            },
        }
    }
}

/// Blocks of one size of which each is drawn as likely.
#[derive(Clone, Copy, Debug)]
pub struct UniformBlocks {
    /// Number of blocks.
    positions: u64,
    /// Distance of their starts, in sectors.
    unit: u64,
    /// Sectors of one.
    pub sectors: u32,
}

/// What one direction needs to place a request.
#[derive(Clone, Debug)]
struct Lane {
    sizes: Sizes,
    /// Of sequential requests, where they have their own.
    sequential_sizes: Option<Sizes>,
    /// Sectors of the smallest block.
    smallest: u64,
    /// Random starts are multiples of so many sectors.
    unit: u64,
    /// Multiples of the unit at which the smallest block fits.
    positions: u64,
    random_percent: u32,
    /// Where sequential I/O goes on.
    last_end: u64,
    /// Where the last request went.
    last: Span,
}

/// How random starts are drawn.
#[derive(Clone, Debug)]
enum Choice {
    /// Independently of each other.
    Uniform,
    /// Each block once: blocks of one size.
    Once(Cover),
    /// Each block once: blocks of several sizes.
    Mapped(FreeBlocks),
    /// With a skew, for each direction.
    Skewed(Box<[Option<Skew>; 3]>),
}

/// What happens where the places are used up: the map is full, or a run is at the end of the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// They begin again: only time, or another rule, ends this.
    StartOver,
    /// The pass ends.
    EndPass,
    /// The pass ends, but a run of a random job jumps: its region ends with the drive.
    Jump,
}

/// Places requests in a region.
#[derive(Clone, Debug)]
pub struct Addresses {
    lanes: [Lane; 3],
    choice: Choice,
    /// Sectors of the region.
    sectors: u64,
    random: bool,
    /// Every request is placed at random: neither runs nor a sequential share.
    always_random: bool,
    run: u32,
    run_left: u32,
    repeats_place: bool,
    /// Sectors left out after each sequential request.
    hole: i64,
    at_end: AtEnd,
    full_period: bool,
    draws: Draws,
    /// The draws as they were at the start.
    start: Draws,
}

/// Where random requests go, how long they are, and which are random.
#[derive(Clone, Debug)]
struct Draws {
    place: Stream,
    size: Stream,
    order: Stream,
}

impl Addresses {
    /// For a job's region of so many sectors, at least one block; sizes were found to be
    /// multiples of the sector.
    ///
    /// # Errors
    /// Zones that do not fit the region.
    pub fn new(job: &Job, sectors: u64, sector_bytes: u32, seed: u64, at_end: AtEnd) -> Result<Addresses, Problem> {
        let of = |purpose| Stream::new(seed, purpose);
        let start = Draws { place: of(Purpose::Address), size: of(Purpose::Size), order: of(Purpose::Order) };
        let mut draws = start.clone();
        let lane = |sizes: &BlockSizes, align: u64, random_percent: u32| {
            let smallest = sizes.iter().map(|s| s.bytes / sector_bytes).min().unwrap_or(1);
            let smallest = u64::from(smallest);
            let unit = if align == 0 { smallest } else { align / u64::from(sector_bytes) };
            let positions = sectors.saturating_sub(smallest) / unit + 1;
            let sizes = Sizes::new(sizes, sector_bytes);
            let sequential_sizes = job.sizes_by_order.then(|| Sizes::new(&job.block_sizes.read, sector_bytes));
            Lane { sizes, sequential_sizes, smallest, unit, positions, random_percent, last_end: 0, last: (0, 0) }
        };
        let (sizes, align, percent) = (&job.sizes_of_directions(), job.block_align, job.percent_random);
        let lanes = [
            lane(&sizes.read, align.read, percent.read),
            lane(&sizes.write, align.write, percent.write),
            lane(&sizes.trim, align.trim, percent.trim),
        ];
        let active: Vec<&Lane> = active(job).into_iter().map(|direction| &lanes[direction]).collect();
        let always_random = job.sequential_run == 1 && active.iter().all(|lane| lane.random_percent == 100);
        let choice = match job.distribution {
            Distribution::Uniform => Choice::uniform(&active, job, sectors, &mut draws.place),
            _ => Choice::skewed(&lanes, job, sector_bytes, &mut draws.place)?,
        };
        Ok(Addresses {
            choice,
            sectors,
            random: job.pattern.random,
            always_random,
            run: job.sequential_run,
            run_left: 0,
            repeats_place: job.repeats_place,
            hole: job.hole_bytes / i64::from(sector_bytes),
            at_end,
            full_period: job.full_period,
            draws,
            start,
            lanes,
        })
    }

    /// The next request's place; `None` where the places are used up and a pass ends with them.
    #[inline]
    pub fn next(&mut self, direction: Direction) -> Option<Span> {
        let span = if self.random && (self.always_random || self.wants_random(direction)) {
            self.random_span(direction)?
        } else if self.random && self.repeats_place && self.run_left + 1 < self.run {
            self.lanes[direction].last
        } else {
            self.sequential_span(direction)?
        };
        let lane = &mut self.lanes[direction];
        lane.last_end = span.0 + u64::from(span.1);
        lane.last = span;
        Some(span)
    }

    /// The blocks of a direction where each request's is drawn independently of all others, uniformly,
    /// and all are of one size.
    #[inline]
    pub fn uniform(&self, direction: Direction) -> Option<UniformBlocks> {
        let lane = &self.lanes[direction];
        match (&self.choice, &lane.sizes) {
            (Choice::Uniform, &Sizes::Fixed(sectors)) if self.random && self.always_random => {
                Some(UniformBlocks { positions: lane.positions, unit: lane.unit, sectors })
            }
            _ => None,
        }
    }

    /// Each block is visited once before any is again.
    pub fn has_map(&self) -> bool {
        self.random && self.always_random && matches!(self.choice, Choice::Once(_) | Choice::Mapped(_))
    }

    /// Draws the first sectors of such blocks, one for each place.
    #[inline]
    pub fn draw<T>(
        &mut self,
        direction: Direction,
        blocks: UniformBlocks,
        places: impl Iterator<Item = T>,
        mut put: impl FnMut(T, u64),
    ) {
        let mut stream = self.draws.place.clone();
        let mut start = self.lanes[direction].last_end;
        for place in places {
            start = stream.below(blocks.positions) * blocks.unit;
            put(place, start);
        }
        self.draws.place = stream;
        self.lanes[direction].last_end = start + u64::from(blocks.sectors);
    }

    /// Starts over: with the draws of the start or, where none repeats, with others. The places of a skewed
    /// distribution are others always, those of a full period never, as in fio.
    pub fn restart(&mut self, repeat: bool) {
        self.go_to_start();
        if repeat {
            (self.draws.size, self.draws.order) = (self.start.size.clone(), self.start.order.clone());
        }
        let places_repeat = repeat || self.full_period;
        if places_repeat && !matches!(self.choice, Choice::Skewed(_)) {
            self.draws.place = self.start.place.clone();
        }
        match &mut self.choice {
            Choice::Once(cover) => cover.restart(&mut self.draws.place),
            Choice::Mapped(map) => map.clear(),
            Choice::Uniform | Choice::Skewed(_) => {}
        }
    }

    /// Sequential I/O goes on at the start.
    fn go_to_start(&mut self) {
        for lane in &mut self.lanes {
            lane.last_end = 0;
        }
    }

    /// Whether this one request of a random job leaves the sequence.
    fn wants_random(&mut self, direction: Direction) -> bool {
        if self.run_left > 0 {
            self.run_left -= 1;
            return false;
        }
        self.run_left = self.run - 1;
        self.draws.order.percent(self.lanes[direction].random_percent)
    }

    #[inline]
    fn random_span(&mut self, direction: Direction) -> Option<Span> {
        let lane = &self.lanes[direction];
        let block = match &mut self.choice {
            Choice::Uniform => self.draws.place.below(lane.positions),
            Choice::Once(cover) => match cover.next_in_round() {
                Some(block) => block,
                None if self.at_end != AtEnd::StartOver => return None,
                None => {
                    cover.restart(&mut self.draws.place);
                    cover.next_in_round().unwrap_or(0)
                }
            },
            Choice::Mapped(map) => {
                let draw = self.draws.place.below(map.count());
                let block = match map.next_free(draw) {
                    Some(block) => block,
                    None if self.at_end != AtEnd::StartOver => return None,
                    None => {
                        map.clear();
                        self.draws.place.below(map.count())
                    }
                };
                let sectors = lane.sizes.next(&mut self.draws.size, self.sectors - block * lane.unit);
                let blocks = map.visit(block, u64::from(sectors).div_ceil(lane.unit));
                return Some((block * lane.unit, sectors.min((blocks * lane.unit) as u32)));
            }
            Choice::Skewed(skews) => match &skews[direction] {
                Some(skew) => skew.next(&mut self.draws.place),
                None => 0,
            },
        };
        let start = block * lane.unit;
        Some((start, lane.sizes.next(&mut self.draws.size, self.sectors - start)))
    }

    /// Goes on where the direction's last request ended.
    fn sequential_span(&mut self, direction: Direction) -> Option<Span> {
        let lane = &self.lanes[direction];
        let next = if self.hole == 0 || lane.last_end == 0 { lane.last_end } else { self.beyond_hole(lane) };
        let at_end = lane.last_end >= self.sectors || next + lane.smallest > self.sectors;
        let start = match self.at_end {
            _ if !at_end => next,
            AtEnd::StartOver => 0,
            AtEnd::Jump if self.random => return self.random_span(direction),
            AtEnd::Jump | AtEnd::EndPass => return None,
        };
        let sizes = lane.sequential_sizes.as_ref().unwrap_or(&lane.sizes);
        Some((start, sizes.next(&mut self.draws.size, self.sectors - start)))
    }

    /// Where a sequential request goes that leaves a hole; backwards it begins again at the end.
    #[cold]
    fn beyond_hole(&self, lane: &Lane) -> u64 {
        match lane.last_end.checked_add_signed(self.hole) {
            Some(start) => start,
            None => self.sectors.saturating_add_signed(self.hole),
        }
    }
}

/// The directions whose sizes place requests; a `trimwrite` goes by its trims.
pub fn active(job: &Job) -> Vec<Direction> {
    let pattern = job.pattern;
    let all = [(READ, pattern.reads), (WRITE, pattern.writes && !pattern.trims), (TRIM, pattern.trims)];
    all.into_iter().filter(|(_, active)| *active).map(|(direction, _)| direction).collect()
}

impl Choice {
    fn uniform(active: &[&Lane], job: &Job, sectors: u64, stream: &mut Stream) -> Choice {
        let unit = active.first().map_or(1, |lane| lane.unit);
        let alike = active.iter().all(|lane| lane.unit == unit && lane.smallest == unit);
        if !job.pattern.random || job.no_random_map && !job.full_period || !alike {
            return Choice::Uniform;
        }
        let fixed = |lane: &&Lane| matches!(lane.sizes, Sizes::Fixed(_)) || job.full_period;
        match active.iter().all(fixed) {
            true => Choice::Once(Cover::new(sectors / unit, stream)),
            false => Choice::Mapped(FreeBlocks::new(sectors / unit)),
        }
    }

    fn skewed(lanes: &[Lane; 3], job: &Job, sector_bytes: u32, stream: &mut Stream) -> Result<Choice, Problem> {
        let zones = match &job.distribution {
            Distribution::Zoned(zones) | Distribution::Scattered(zones) => zones.clone(),
            _ => PerDirection::default(),
        };
        let zones = [&zones.read, &zones.write, &zones.trim];
        let mut skews = [None, None, None];
        for direction in active(job) {
            let lane = &lanes[direction];
            let bytes = lane.unit * u64::from(sector_bytes);
            let blocks = Blocks { count: lane.positions, bytes };
            // One spread for all directions: what is hot to read is hot to write.
            let mut own = stream.clone();
            skews[direction] = Skew::new(&job.distribution, zones[direction], blocks, &mut own)?;
        }
        Ok(Choice::Skewed(Box::new(skews)))
    }
}
