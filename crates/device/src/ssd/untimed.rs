//! Writes and trims without a clock: what preconditioning does, at the speed of the FTL.
//!
//! A die takes the next row, or the next row of its job, when it is done with the last: each has a clock
//! of its own, the sum of the times of its operations, and the die whose clock is first goes on. So a die
//! that collects more takes fewer rows of the host, and the drive ends in the state that collection keeps
//! under load: jobs lie where they are, and go on with the first timed write. The host has a clock too: it
//! writes as fast as controller and link take commands, and is ahead of the dies by the buffer at most.
//! Where that is slower than the flash, dies have time to spare, in which smooth jobs go on.
//!
//! Time of a row: tPROG + channel; of a job's row: Σ tR + 2 channel + tPROG; of an erase: tBERS; of a
//! command: controller or link, the longer. Left out: waiting for channels, coalescing in the buffer, reads.

use super::Ssd;
use crate::block::Request;
use crate::ftl::Shortage;
use crate::ftl::frontier::{Purpose, Readiness};
use crate::ftl::reclaim::Step;
use crate::nand::array::Payload;
use crate::nand::geometry::Geometry;
use crate::sim::calendar::{Calendar, Event};
use crate::units::{DieId, Lpn, Nanos};

/// The row that is gathered, and the clocks of the dies.
pub(super) struct RowNow<S> {
    units: Vec<(Lpn, S)>,
    bytes_left: u32,
    most: usize,
    row_bytes: u32,
    /// When each die is done with what it does.
    clocks: Calendar,
    /// Dies that could do nothing, until a block is sealed or freed, or no die is left that can.
    waiting: Vec<u16>,
    blocks_changed: u64,
    /// When controller and link have taken what the host has written so far.
    host: Nanos,
    /// What the host is ahead of the dies at most: as many commands as the buffer or the queue holds.
    ahead: Nanos,
}

impl<S> RowNow<S> {
    pub(super) fn new(geometry: &Geometry, ahead: Nanos) -> RowNow<S> {
        let most = (geometry.units_per_row * geometry.packing) as usize;
        let row_bytes = geometry.row_bytes.max(geometry.unit_bytes);
        let mut clocks = Calendar::new(geometry.dies as usize);
        (0..geometry.dies as usize).for_each(|slot| clocks.schedule(Nanos::ZERO, Event { slot, kind: 0 }));
        let (units, waiting) = (Vec::with_capacity(most), Vec::new());
        let host = Nanos::ZERO;
        RowNow { units, bytes_left: row_bytes, most, row_bytes, clocks, waiting, blocks_changed: 0, host, ahead }
    }

    /// Each die begins at a time of its own below `most`, spread evenly by the golden ratio.
    fn stagger(&mut self, dies: usize, most: Nanos) {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        for slot in 0..dies {
            let share = (slot as f64 * GOLDEN).fract();
            self.clocks.schedule(Nanos((most.0 as f64 * share) as u64), Event { slot, kind: 0 });
        }
    }

    fn is_full(&self, bytes: u32) -> bool {
        bytes > self.bytes_left || self.units.len() == self.most
    }

    fn add(&mut self, lpn: Lpn, stamp: S, bytes: u32) {
        self.units.push((lpn, stamp));
        self.bytes_left -= bytes;
    }

    /// When a die that is free now can have the next row of the host.
    fn next_row(&mut self, now: Nanos) -> Nanos {
        self.host = self.host.max(now.saturating_sub(self.ahead));
        self.host.max(now)
    }

    /// How far the host is ahead of the die that is free next, of what the buffer allows; `None` where no
    /// clock has moved, since nothing was written here: a drive that was read from its file.
    fn share_ahead(&self) -> Option<f64> {
        let free = self.clocks.first_time();
        let share = free.saturating_sub(self.host).0 as f64 / self.ahead.0.max(1) as f64;
        (free > Nanos::ZERO).then_some(share.min(1.0))
    }

    /// Dies that waited go on at this time; false where none did.
    fn recall(&mut self, now: Nanos) -> bool {
        let clocks = &mut self.clocks;
        self.waiting.iter().for_each(|&die| clocks.schedule(now, Event { slot: usize::from(die), kind: 0 }));
        !std::mem::take(&mut self.waiting).is_empty()
    }
}

/// What a die did in its turn.
enum Turn {
    /// It programmed so many units of the row, in this time.
    Wrote(usize, Nanos),
    /// It programmed a row of its job, or erased, in this time.
    Collected(Nanos),
    /// It can do nothing until other dies have.
    Waits,
}

impl<P: Payload> Ssd<P> {
    /// Writes a unit. Units gather until a row is full; the row goes to the die that is free first.
    /// False once the drive is read-only.
    #[inline]
    pub fn write_now(&mut self, lpn: Lpn, compress_percent: u8) -> bool {
        if !self.rests {
            self.stop_here();
        }
        let bytes = self.flash_bytes(compress_percent);
        if self.row_now.is_full(bytes) {
            self.program_gathered_now();
        }
        let stamp = self.ftl.payload.stamp(lpn);
        self.ftl.backlog.sample(lpn, bytes);
        self.row_now.add(lpn, stamp, bytes);
        if self.row_now.bytes_left == 0 {
            self.program_gathered_now();
        }
        !self.ftl.is_read_only()
    }

    /// Programs what [`Ssd::write_now`] has gathered, and notes how full the buffer would be now: for the
    /// end of a stretch of writes.
    pub fn flush_now(&mut self) {
        self.program_gathered_now();
        if let Some(share) = self.row_now.share_ahead() {
            self.ftl.backlog.fill(share);
        }
    }

    /// The dies of a drive that was made out of copies begin at times of their own, spread over those of programming
    /// so many blocks: else dies whose copies were alike would collect in step for long.
    pub fn stagger_now(&mut self, blocks: u32) {
        let geometry = self.ftl.geometry;
        let program = self.config.nand.program_us.0.iter().copied().max().unwrap_or_default();
        let row = program + self.times.channel_row + self.times.flash_command;
        self.row_now.stagger(geometry.dies as usize, Nanos(row.0 * u64::from(geometry.rows) * u64::from(blocks)));
    }

    fn program_gathered_now(&mut self) {
        let mut units = std::mem::take(&mut self.row_now.units);
        let mut rest = units.as_slice();
        while !rest.is_empty() && !self.ftl.is_read_only() {
            let written = self.put_row_now(rest) as u64;
            self.ftl.counters.host_pages_written += written;
            self.write_map_now();
            rest = &rest[written as usize..];
        }
        units.clear();
        (self.row_now.units, self.row_now.bytes_left) = (units, self.row_now.row_bytes);
    }

    /// A write command of which the units are written without time: it is counted, and takes the host's time.
    pub(super) fn take_command_now(&mut self, request: &Request) {
        let bytes = u64::from(request.sectors) * u64::from(self.limits.sector_bytes);
        self.count_command_now(bytes);
        self.row_now.host += self.command_time(request).max(self.link_times.of(bytes));
    }

    /// Counts a write command of so many bytes, whose units were written without time.
    pub fn count_command_now(&mut self, bytes: u64) {
        self.ftl.counters.host_writes += 1;
        self.ftl.counters.host_bytes_written += bytes;
    }

    /// Unmaps a unit without time, where the drive has TRIM.
    pub fn trim_now(&mut self, lpn: Lpn) {
        if !self.config.ftl.trim {
            return;
        }
        if !self.rests {
            self.stop_here();
        }
        // A gathered write of the same unit comes before its trim; others need not be programmed for it.
        if self.row_now.units.iter().any(|(gathered, _)| *gathered == lpn) {
            self.program_gathered_now();
        }
        self.ftl.trim(lpn);
    }

    /// Asks for the cache line of a coming [`Ssd::write_now`].
    #[inline]
    pub fn hint_now(&self, lpn: Lpn) {
        self.ftl.prefetch_map(lpn);
    }

    /// The second half of the hint, when the map's line has arrived.
    #[inline]
    pub fn hint_old_now(&self, lpn: Lpn) {
        self.ftl.prefetch_old(lpn);
    }

    /// Programs units, a row at most, on the die that is free first; returns how many. None where no die
    /// can take any, and the drive is read-only then.
    pub(super) fn put_row_now(&mut self, units: &[(Lpn, P::Stamp)]) -> usize {
        debug_assert!(self.rests, "nothing is under way in virtual time");
        let mut waited = false;
        loop {
            let now = self.row_now.clocks.first_time();
            if now == Nanos::NEVER {
                // Every die waits: once more from the start, since what they did may have helped the others.
                if waited || !self.row_now.recall(Nanos::ZERO) {
                    self.ftl.shortage = self.ftl.shortage.or(Some(Shortage::FreeBlocks));
                    return 0;
                }
                waited = true;
                continue;
            }
            let slot = self.row_now.clocks.first().slot;
            let die = DieId(slot as u16);
            let row = self.row_now.next_row(now);
            let turn = if row > now { self.spare_turn_now(die) } else { None };
            let (done, written) = match turn.unwrap_or_else(|| self.turn_now(die, units)) {
                Turn::Wrote(count, time) => (row + time, count),
                Turn::Collected(time) => (now + time, 0),
                Turn::Waits => {
                    self.row_now.clocks.take_back(slot);
                    self.row_now.waiting.push(die.0);
                    continue;
                }
            };
            waited = false;
            self.row_now.clocks.schedule(done, Event { slot, kind: 0 });
            self.recall_now(now);
            if written > 0 || self.ftl.is_read_only() {
                return written;
            }
        }
    }

    /// Dies that wait look again once a block was opened, sealed or freed.
    #[inline]
    fn recall_now(&mut self, now: Nanos) {
        if !self.row_now.waiting.is_empty() {
            let changed = self.ftl.blocks_changed();
            if std::mem::replace(&mut self.row_now.blocks_changed, changed) != changed {
                self.row_now.recall(now);
            }
        }
    }

    /// What a die does that would have to wait for the host, as `Ssd::work_in_spare_time`.
    fn spare_turn_now(&mut self, die: DieId) -> Option<Turn> {
        let works = self.times.smooth
            && (self.ftl.has_job(die) || self.ftl.wants_collection(die) && self.ftl.start_job(die))
            && self.ftl.has_job(die);
        works.then(|| Turn::Collected(self.job_row_now(die)))
    }

    /// What a die that is free does next: as `Ssd::choose_work`, with a host that always has more.
    fn turn_now(&mut self, die: DieId, units: &[(Lpn, P::Stamp)]) -> Turn {
        if self.ftl.has_job(die) && (!self.times.smooth || self.ftl.owes(die)) {
            return Turn::Collected(self.job_row_now(die));
        }
        match self.ftl.readiness(die) {
            Readiness::Write(purpose) => return self.row_now(die, purpose, units),
            Readiness::Collect if self.ftl.has_job(die) || self.ftl.start_job(die) => {}
            Readiness::Wait if self.ftl.has_job(die) => {}
            Readiness::Wait => return Turn::Waits,
            // Nothing can be collected; where a block still has room it is used up.
            Readiness::Collect => {
                return match self.ftl.readiness(die) {
                    Readiness::Write(purpose) => self.row_now(die, purpose, units),
                    _ => Turn::Waits,
                };
            }
        }
        match self.ftl.has_job(die) {
            true => Turn::Collected(self.job_row_now(die)),
            // With superblocks: the die has no good block in this one.
            false => Turn::Waits,
        }
    }

    /// Puts and programs units on a die that is ready.
    fn row_now(&mut self, die: DieId, purpose: Purpose, units: &[(Lpn, P::Stamp)]) -> Turn {
        let count = units.len().min(self.ftl.row_slots_left(die, purpose) as usize);
        for &(lpn, stamp) in &units[..count] {
            self.ftl.touch_map(lpn, true);
            self.ftl.put(die, purpose, lpn, stamp);
        }
        let programmed = self.ftl.end_row(die, purpose).time;
        if self.times.smooth && (self.ftl.has_job(die) || self.ftl.wants_collection(die) && self.ftl.start_job(die)) {
            self.ftl.owe(die);
        }
        Turn::Wrote(count, self.times.flash_command + self.times.channel_row + programmed)
    }

    /// The next row of a die's job, or its erase; returns the time.
    fn job_row_now(&mut self, die: DieId) -> Nanos {
        let (mut time, mut gathered) = (self.times.flash_command, 0);
        loop {
            match self.ftl.job_step(die) {
                Step::Read(source) => {
                    time += self.ftl.array.read_time(source.block, source.row, self.ftl.geometry.rows_per_unit);
                    gathered += u64::from(source.units);
                }
                Step::Program => {
                    time += self.ftl.program_gathered(die).0.time;
                    if self.times.smooth {
                        self.ftl.pay(die);
                    }
                    let data = Nanos(self.times.channel_unit.0 * gathered) + self.times.channel_row;
                    return if self.times.copyback { time } else { time + data };
                }
                Step::Erase => return time + self.ftl.finish_job(die),
            }
        }
    }

    /// Writes the translation pages that left the mapping cache.
    fn write_map_now(&mut self) {
        let Some(cache) = &mut self.ftl.map_cache else { return };
        cache.loads.clear();
        for lpn in std::mem::take(&mut cache.evictions) {
            let stamp = self.ftl.payload.stamp(lpn);
            self.put_row_now(&[(lpn, stamp)]);
        }
    }
}
