//! From a job to its requests, one by one, for a drive of given limits.
//!
//! The region is `[offset, offset + size)` of the drive; a size in percent is a share of the
//! drive, cut at its end, and an offset in percent is rounded up to the smallest block, both as in
//! fio. In which passes the job goes over it, and when it is done, is told in [`passes`].
//! `time_based` has no end here: the run's clock ends it, and each pass has an order of its own.
//!
//! Reads of a mix are drawn with probability `rwmixread`. A `trimwrite` trims each block and then
//! writes it; its amount is counted in writes. The same seed gives the same requests always:
//! `randrepeat=0` does not make runs differ, it gives each job of a run a stream of its own by
//! its name, where jobs otherwise draw alike.

mod afterwards;
mod passes;
mod places;
mod sequence;
mod sprandom;

use super::addresses::{Addresses, AtEnd, Direction, READ, Span, TRIM, UniformBlocks, WRITE};
pub use super::error::JobError;
use super::error::{Misfit, Problem};
use super::job::{Extent, Job};
pub use super::player::Planned;
use super::player::Player;
use super::random::{Purpose, Stream, hash, mix};
use super::region::{check_sizes, in_bytes, largest_block, pass_bytes, region};
use super::trace::TraceError;
use afterwards::Afterwards;
use passes::Passes;
use places::Places;
use ssdlab_device::block::{Limits, Operation, Request};
use ssdlab_device::units::Lba;

/// What directions a job's requests take.
#[derive(Clone, Copy, Debug)]
enum Mix {
    Only(Direction),
    /// Reads with this share in percent, and writes.
    ReadsAndWrites(u32),
    /// Each block trimmed, then written.
    TrimThenWrite,
}

/// Gives a job's requests in their order.
#[derive(Clone, Debug)]
pub struct Generator {
    addresses: Addresses,
    /// Of a region that is divided, in place of `addresses`.
    places: Option<Box<Places>>,
    /// What follows writes, and whether it does now.
    afterwards: Option<Box<Afterwards>>,
    afterwards_due: bool,
    trim_operation: Operation,
    replay: Option<Player>,
    mix: Mix,
    mix_stream: Stream,
    sector_bytes: u64,
    /// First sector and sectors of the region.
    first: u64,
    sectors: u64,
    issued: u64,
    passes: Passes,
    /// What chooses directions, as it was at the start.
    mix_start: Stream,
    requests_left: u64,
    /// The second half of a `trimwrite`.
    to_write: Option<Span>,
    writes: u64,
    flush_every: [u64; 2],
    flush_due: bool,
    flush_at_end: bool,
    /// Writes come with FUA: all of them, or every so many (0 none).
    fua: bool,
    fua_every: u64,
    compress_percent: u8,
}

impl Generator {
    /// The requests of one clone of a job.
    ///
    /// # Errors
    /// A block size that is not a multiple of the sector, and a region that is empty or does not
    /// lie on the drive.
    pub fn new(job: &Job, clone: u32, limits: &Limits, seed: u64) -> Result<Generator, JobError> {
        let blame = |(option, value, problem): Misfit| JobError {
            file: format!("job {}", job.name).into(),
            line: None,
            option: option.into(),
            value: value.into(),
            message: problem.message.into(),
            remedy: problem.remedy.into(),
        };
        Generator::build(job, clone, limits, seed).map_err(blame)
    }

    fn build(job: &Job, clone: u32, limits: &Limits, seed: u64) -> Result<Generator, Misfit> {
        let sector_bytes = u64::from(limits.sector_bytes);
        let replay = Player::new(job, limits)?;
        let (first, sectors) = match &replay {
            Some(_) => (0, limits.sectors),
            None => {
                check_sizes(job, sector_bytes)?;
                region(job, clone, limits)?
            }
        };
        let seed = stream_seed(job, clone, seed);
        let at_end = at_end(job, first, sectors, limits)?;
        let addresses = Addresses::new(job, sectors, limits.sector_bytes, seed, at_end)
            .map_err(|problem| ("random_distribution", String::new(), problem))?;
        let places = Places::new(job, sectors, limits.sector_bytes, seed)?.map(Box::new);
        let once = places.as_ref().map_or(sectors, |places| places.sectors());
        let in_sectors = |extent| in_bytes(extent, sectors * sector_bytes).div_ceil(sector_bytes).max(1);
        let of_file = job.pass_size.map(|size| Extent::Bytes(pass_bytes(job, size, sectors * sector_bytes)));
        let pass_size = of_file.or(job.size.filter(|_| job.strides.is_some()));
        let size = pass_size.map_or(once, |extent| in_sectors(extent).min(once));
        let limit = job.io_size.map_or(size, in_sectors);
        let passes = Passes::new(job, once, size, limit, largest_block(job) / sector_bytes);
        let most_requests = |ios: u64| ios.saturating_mul(u64::from(job.loops));
        let factor = if matches!(mix_of(job), Mix::TrimThenWrite) { 2 } else { 1 };
        let pattern = job.pattern;
        let mut generator = Generator {
            addresses,
            places,
            afterwards: None,
            afterwards_due: false,
            trim_operation: if job.zeroes { Operation::WriteZeroes } else { Operation::Trim },
            replay,
            mix: mix_of(job),
            mix_stream: Stream::new(seed, Purpose::Mix),
            sector_bytes,
            first,
            sectors,
            issued: 0,
            passes,
            mix_start: Stream::new(seed, Purpose::Mix),
            requests_left: job.number_ios.map_or(u64::MAX, |ios| most_requests(ios).saturating_mul(factor)),
            to_write: None,
            writes: 0,
            flush_every: [job.fsync, job.fdatasync].map(u64::from),
            flush_due: false,
            flush_at_end: job.end_fsync && (pattern.writes || job.replay.is_some()) && !job.layout_only,
            fua: job.synchronous_writes && limits.volatile_cache,
            fua_every: if limits.volatile_cache { u64::from(job.barrier_every) } else { 0 },
            compress_percent: job.compress_percent,
        };
        generator.afterwards = Afterwards::new(job, &generator, seed);
        Ok(generator)
    }

    /// Ends the job here: what is left is the flush of `end_fsync`, if any.
    pub fn stop(&mut self) {
        self.passes.stop();
        self.to_write = None;
        self.flush_due = false;
        (self.afterwards, self.afterwards_due) = (None, false);
        if let Some(player) = &mut self.replay {
            player.stop();
        }
    }

    /// Why a trace could not be played to its end.
    pub fn fault(&self) -> Option<&TraceError> {
        self.replay.as_ref().and_then(Player::fault)
    }

    /// Offset and length of the region, in bytes.
    pub fn region(&self) -> (u64, u64) {
        (self.first * self.sector_bytes, self.sectors * self.sector_bytes)
    }

    /// Bytes the job means to transfer; `None` where only time ends it.
    pub fn total_bytes(&self) -> Option<u64> {
        let expected = self.passes.expected()?;
        match &self.replay {
            Some(player) => Some(player.total_bytes()),
            None => Some(expected.saturating_mul(self.sector_bytes)),
        }
    }

    /// Sectors issued, and those of a pass of the random map; `None` where there is none.
    pub fn passes(&self) -> Option<(u64, u64)> {
        let has_map = self.places.is_none() && self.replay.is_none() && self.addresses.has_map();
        has_map.then_some((self.issued, self.passes.places))
    }

    /// Puts the next requests into places, or `None` when the job is done. Written where they stay:
    /// a request that is copied as soon as it was put together stalls the processor.
    #[inline]
    pub fn refill(&mut self, places: &mut [Option<Planned>]) {
        match self.alike(places.len() as u64) {
            Some((direction, blocks)) => self.draw_alike(direction, blocks, places),
            None => places.iter_mut().for_each(|place| self.refill_one(place)),
        }
    }

    /// The direction and the blocks of the next requests where all are drawn alike and independently:
    /// one direction, one size, uniformly random, and nothing comes between them.
    #[inline]
    fn alike(&self, count: u64) -> Option<(Direction, UniformBlocks)> {
        let Mix::Only(direction @ (READ | WRITE)) = self.mix else { return None };
        let is_plain = self.flush_every == [0, 0] && self.fua_every == 0;
        if !is_plain || self.places.is_some() || self.afterwards.is_some() {
            return None;
        }
        let blocks = self.addresses.uniform(direction)?;
        let is_due = self.to_write.is_some() || self.flush_due || self.replay.is_some();
        let last = self.issued.saturating_add(count * u64::from(blocks.sectors));
        let fits = last <= self.passes.end && count <= self.requests_left;
        (!is_due && fits).then_some((direction, blocks))
    }

    #[inline]
    fn draw_alike(&mut self, direction: Direction, blocks: UniformBlocks, places: &mut [Option<Planned>]) {
        let count = places.len() as u64;
        self.requests_left -= count;
        self.issued += count * u64::from(blocks.sectors);
        let (operation, compress_percent) = match direction {
            READ => (Operation::Read, 0),
            _ => (Operation::Write, self.compress_percent),
        };
        self.writes += if direction == WRITE { count } else { 0 };
        let (first, fua) = (self.first, self.fua && direction == WRITE);
        self.addresses.draw(direction, blocks, places.iter_mut(), |place, start| {
            let plain = Request::new(operation, Lba(first + start), blocks.sectors);
            let request = Request { compress_percent, fua, ..plain };
            *place = Some(Planned { request, not_before: None });
        });
    }

    /// Puts the next request into a place.
    #[inline]
    fn refill_one(&mut self, place: &mut Option<Planned>) {
        let is_due = self.to_write.is_some() || self.flush_due || self.afterwards_due || self.replay.is_some();
        if is_due || self.issued >= self.passes.end || self.requests_left == 0 {
            *place = self.next_due();
            return;
        }
        let direction = match self.mix {
            Mix::Only(direction) => direction,
            Mix::TrimThenWrite => TRIM,
            Mix::ReadsAndWrites(reads) if self.mix_stream.percent(reads) => READ,
            Mix::ReadsAndWrites(_) => WRITE,
        };
        let span = match &mut self.places {
            None => self.addresses.next(direction),
            Some(places) => places.next(direction),
        };
        let Some(span) = span else {
            self.passes.end_here(self.issued);
            *place = self.next_due();
            return;
        };
        if matches!(self.mix, Mix::TrimThenWrite) {
            self.to_write = Some(span);
        } else {
            self.issued += u64::from(span.1);
        }
        *place = Some(self.issue(direction, span));
    }

    /// The next request where something else is due before one is drawn.
    #[inline(never)]
    fn next_due(&mut self) -> Option<Planned> {
        if self.replay.is_some() {
            return self.next_replayed();
        }
        if std::mem::take(&mut self.flush_due) {
            return Some(self.flush());
        }
        if let Some(span) = self.to_write.take() {
            return Some(self.issue(WRITE, span));
        }
        if self.afterwards_due {
            return self.next_afterwards();
        }
        if self.issued >= self.passes.end || self.requests_left == 0 {
            self.afterwards_due = self.afterwards.as_mut().is_some_and(|afterwards| afterwards.ends());
            if self.afterwards_due {
                return self.next_afterwards();
            }
        }
        if self.requests_left > 0 && (self.issued < self.passes.end || self.next_pass()) {
            return self.next();
        }
        self.closing_flush()
    }

    #[inline(always)]
    fn issue(&mut self, direction: Direction, span: Span) -> Planned {
        self.requests_left -= 1;
        let (operation, compress_percent) = match direction {
            READ => (Operation::Read, 0),
            WRITE => (Operation::Write, self.compress_percent),
            _ => (self.trim_operation, 0),
        };
        let mut fua = false;
        if direction == WRITE {
            self.count_write();
            fua = self.fua || self.fua_every > 0 && self.writes.is_multiple_of(self.fua_every);
            if let Some(afterwards) = &mut self.afterwards {
                self.afterwards_due = afterwards.wrote(span);
            }
            if matches!(self.mix, Mix::TrimThenWrite) {
                self.issued += u64::from(span.1);
            }
        }
        let lba = Lba(self.first + span.0);
        let request = Request { compress_percent, fua, ..Request::new(operation, lba, span.1) };
        Planned { request, not_before: None }
    }

    #[inline]
    fn count_write(&mut self) {
        self.writes += 1;
        if self.flush_every != [0, 0] {
            let due = |every: &u64| *every > 0 && self.writes.is_multiple_of(*every);
            self.flush_due = self.flush_every.iter().any(due);
        }
    }

    fn flush(&self) -> Planned {
        Planned { request: Request::new(Operation::Flush, Lba(0), 0), not_before: None }
    }

    fn closing_flush(&mut self) -> Option<Planned> {
        std::mem::take(&mut self.flush_at_end).then(|| self.flush())
    }

    /// What follows the writes so far, and then what the job goes on with.
    fn next_afterwards(&mut self) -> Option<Planned> {
        let next = self.afterwards.as_mut().and_then(|afterwards| afterwards.next(self.first));
        if next.is_none() {
            self.afterwards_due = false;
            return self.next();
        }
        next
    }

    /// Goes over the region once more, if there is another pass.
    fn next_pass(&mut self) -> bool {
        if !self.passes.begin_next(self.issued) {
            return false;
        }
        let repeat = self.passes.repeat;
        if repeat {
            self.mix_stream = self.mix_start.clone();
        }
        self.addresses.restart(repeat);
        if let Some(places) = &mut self.places {
            places.restart(repeat);
        }
        true
    }

    fn next_replayed(&mut self) -> Option<Planned> {
        let next = self.replay.as_mut().filter(|_| self.requests_left > 0).and_then(Player::next);
        match next {
            Some(mut planned) => {
                self.requests_left -= u64::from(planned.request.operation != Operation::Flush);
                if planned.request.operation == Operation::Write {
                    planned.request.compress_percent = self.compress_percent;
                    planned.request.fua = self.fua;
                }
                Some(planned)
            }
            None => self.closing_flush(),
        }
    }
}

impl Iterator for Generator {
    type Item = Planned;

    /// The next request, or `None` when the job is done.
    #[inline]
    fn next(&mut self) -> Option<Planned> {
        let mut next = None;
        self.refill_one(&mut next);
        next
    }
}

fn mix_of(job: &Job) -> Mix {
    let pattern = job.pattern;
    match (pattern.reads, pattern.writes, pattern.trims) {
        (true, true, _) => Mix::ReadsAndWrites(job.read_percent),
        (_, true, true) => Mix::TrimThenWrite,
        (true, ..) => Mix::Only(READ),
        (_, true, _) => Mix::Only(WRITE),
        _ => Mix::Only(TRIM),
    }
}

/// What fio does where the places are used up. A sequential job that leaves holes begins again at the start of a whole
/// drive, and at the end of it if it goes backwards.
fn at_end(job: &Job, first: u64, sectors: u64, limits: &Limits) -> Result<AtEnd, Misfit> {
    if !job.hole_bytes.unsigned_abs().is_multiple_of(limits.sector_bytes.into()) {
        let remedy = format!("the drive's sector has {} bytes", limits.sector_bytes);
        let problem = Problem::new("is not a multiple of the sector", remedy);
        return Err(("rw", job.hole_bytes.to_string(), problem));
    }
    Ok(match job.hole_bytes {
        0 if job.time_based => AtEnd::StartOver,
        0 if first + sectors == limits.sectors => AtEnd::Jump,
        0 => AtEnd::EndPass,
        hole if hole < 0 || (first, sectors) == (0, limits.sectors) => AtEnd::StartOver,
        _ => AtEnd::EndPass,
    })
}

/// Jobs draw alike unless a seed or `randrepeat=0` sets them apart; clones always differ.
fn stream_seed(job: &Job, clone: u32, seed: u64) -> u64 {
    let own = match job.rand_seed {
        Some(own) => mix(own),
        None if job.rand_repeat => 0,
        None => hash(&job.name),
    };
    mix(mix(seed).wrapping_add(u64::from(clone)) ^ own)
}

#[cfg(test)]
mod test;
