//! Which waiting request goes next.
//!
//! - `none`, `noop`: the oldest.
//! - `deadline`: batches of one direction in order of sectors. Between batches reads go first, until
//!   writes have been passed over `writes_starved` times; a batch begins with the oldest request where
//!   that has expired, else where the last batch of its direction ended.
//! - `cfq`: reads and writes take turns, a slice of time each. Within a slice the nearest request
//!   goes next, a step back counting `back_seek_penalty` times; a slice begins with the oldest request
//!   where that has expired. A rotational device without further reads is left idle for `slice_idle`
//!   while writes wait, because the next read is likely to be near. What makes cfq what it is, a queue
//!   and a slice per process, cannot be told from a block request and is left out; so are groups, the
//!   preemption of slices, and its own limits of depth.

use super::waiting::{Piece, Side, Waiting, side};
use super::{SchedulerConfig, SchedulerPolicy};
use ssdlab_device::block::Request;
use ssdlab_device::units::Nanos;

const READS: usize = 0;
const CHANGES: usize = 1;

/// What to do now.
pub enum Choice {
    /// Send this.
    Go(Piece),
    /// Wait for a nearer one until then.
    Idle(Nanos),
    /// Nothing waits.
    Nothing,
}

/// A policy and where it stands.
pub struct Policy {
    config: SchedulerConfig,
    back_seek_max_sectors: u64,
    /// The side whose turn it is, and how many of its requests have gone in a row.
    turn: usize,
    batch: u32,
    starved: u32,
    /// The sector behind the last request, of each side.
    position: [u64; 2],
    /// The sector behind the last request of all.
    head: u64,
    slice_end: Nanos,
    reads_in_device: u32,
    last_read: Nanos,
}

impl Policy {
    /// A policy that has seen nothing yet.
    pub fn new(config: &SchedulerConfig, sector_bytes: u32) -> Policy {
        Policy {
            config: config.clone(),
            back_seek_max_sectors: u64::from(config.back_seek_max) * 1024 / u64::from(sector_bytes),
            turn: READS,
            batch: 0,
            starved: 0,
            position: [0; 2],
            head: 0,
            slice_end: Nanos::ZERO,
            reads_in_device: 0,
            last_read: Nanos::ZERO,
        }
    }

    /// A request came back.
    pub fn completed(&mut self, now: Nanos, request: &Request) {
        if side(request.operation) == READS {
            self.last_read = now;
            self.reads_in_device -= 1;
        }
    }

    /// Takes the next request out of those that wait.
    pub fn next(&mut self, now: Nanos, waiting: &mut Waiting) -> Choice {
        if waiting.sides.iter().all(Side::is_empty) {
            return Choice::Nothing;
        }
        match self.config.policy {
            SchedulerPolicy::None | SchedulerPolicy::Noop => Choice::Go(self.oldest(waiting)),
            SchedulerPolicy::Deadline => Choice::Go(self.deadline(now, waiting)),
            SchedulerPolicy::Cfq => self.cfq(now, waiting),
        }
    }

    fn deadline(&mut self, now: Nanos, waiting: &mut Waiting) -> Piece {
        let following = waiting.sides[self.turn].at_or_after(self.position[self.turn]);
        if let Some((number, _)) = following.filter(|_| (1..self.config.fifo_batch).contains(&self.batch)) {
            self.batch += 1;
            return self.take(number, waiting);
        }
        self.turn = self.deadline_turn(waiting);
        self.batch = 1;
        let expire = [self.config.read_expire_ms.0, self.config.write_expire_ms.0][self.turn];
        let side = &waiting.sides[self.turn];
        let (oldest, piece) = side.oldest().expect("its turn");
        let following = side.at_or_after(self.position[self.turn]).filter(|_| piece.arrived + expire > now);
        let number = following.map_or(oldest, |(number, _)| number);
        self.take(number, waiting)
    }

    fn deadline_turn(&mut self, waiting: &Waiting) -> usize {
        let [reads, changes] = &waiting.sides;
        if reads.is_empty() || (!changes.is_empty() && self.starved >= self.config.writes_starved) {
            self.starved = 0;
            return CHANGES;
        }
        self.starved += u32::from(!changes.is_empty());
        READS
    }

    fn cfq(&mut self, now: Nanos, waiting: &mut Waiting) -> Choice {
        let ends = now >= self.slice_end;
        let exhausted = waiting.sides[self.turn].is_empty() && !self.config.sync_writes;
        if let Some(until) = self.idles_until().filter(|until| !ends && exhausted && now < *until) {
            return Choice::Idle(until);
        }
        if ends || exhausted {
            self.begin_slice(now, waiting);
        }
        let number = self.cfq_number(now, ends || exhausted, waiting);
        Choice::Go(self.take(number, waiting))
    }

    /// Until when a rotational device is left idle for the next read.
    fn idles_until(&self) -> Option<Nanos> {
        let until = match self.reads_in_device {
            0 => self.last_read + self.config.slice_idle_ms.0,
            _ => Nanos::NEVER,
        };
        (self.turn == READS && self.config.rotational).then_some(until.min(self.slice_end))
    }

    /// The next slice goes to the other side if it has anything; synchronous writes share that of the reads.
    fn begin_slice(&mut self, now: Nanos, waiting: &Waiting) {
        let other = 1 - self.turn;
        if !self.config.sync_writes && !waiting.sides[other].is_empty() {
            self.turn = other;
        }
        let is_write_slice = self.turn == CHANGES && !self.config.sync_writes;
        let slice = if is_write_slice { self.config.slice_async_ms } else { self.config.slice_sync_ms };
        self.slice_end = now + slice.0;
    }

    /// The nearest request of the slice, at its beginning the oldest if that has expired. Sets the
    /// turn where a slice has both sides.
    fn cfq_number(&mut self, now: Nanos, begins: bool, waiting: &Waiting) -> u64 {
        let expire = [self.config.fifo_expire_sync_ms.0, self.config.fifo_expire_async_ms.0];
        let sides = if self.config.sync_writes { READS..=CHANGES } else { self.turn..=self.turn };
        let candidate = |turn: usize| {
            let side = &waiting.sides[turn];
            let (oldest, piece) = side.oldest()?;
            let expired = begins && piece.arrived + expire[turn] <= now;
            let (cost, number) = if expired { (0, oldest) } else { self.nearest(side)? };
            Some((cost, turn, number))
        };
        let (_, turn, number) = sides.filter_map(candidate).min().expect("something waits");
        self.turn = turn;
        number
    }

    /// The nearest request and its distance, forwards or a little back; the lowest where neither is there.
    fn nearest(&self, side: &Side) -> Option<(u64, u64)> {
        let forward = side.at_or_after(self.head).map(|(number, piece)| (piece.request.lba.0 - self.head, number));
        let back = side.before(self.head).map(|(number, piece)| (self.head - piece.request.lba.0, number));
        let back = back.filter(|(distance, _)| *distance <= self.back_seek_max_sectors);
        let back = back.map(|(distance, number)| (distance * u64::from(self.config.back_seek_penalty), number));
        let lowest = || side.at_or_after(0).map(|(number, _)| (u64::MAX, number));
        forward.into_iter().chain(back).min().or_else(lowest)
    }

    fn take(&mut self, number: u64, waiting: &mut Waiting) -> Piece {
        let piece = waiting.sides[self.turn].take(number);
        self.head = piece.request.lba.0 + u64::from(piece.request.sectors);
        self.position[self.turn] = self.head;
        self.reads_in_device += u32::from(self.turn == READS);
        piece
    }

    fn oldest(&mut self, waiting: &mut Waiting) -> Piece {
        let number = |side: &Side| side.oldest().map_or(u64::MAX, |(number, _)| number);
        let numbers = [number(&waiting.sides[READS]), number(&waiting.sides[CHANGES])];
        self.turn = usize::from(numbers[CHANGES] < numbers[READS]);
        self.take(numbers[self.turn], waiting)
    }
}
