//! Writes and trims without a clock: what preconditioning does, at the speed of the FTL.
//!
//! A die takes the next row, or the next row of its job, when it is done with the last: each has a clock
//! of its own, the sum of the times of its operations, and the die whose clock is first goes on. So a die
//! that collects more takes fewer rows of the host, and the drive ends in the state that collection keeps
//! under load: jobs lie where they are, and go on with the first timed write. The host has a clock too: it
//! writes as fast as controller and link take commands, and is ahead of the dies by the buffer at most.
//! Where that is slower than the flash, dies have time to spare, in which smooth jobs go on.
//!
//! Time of a row: tPROG + channel; of a job's row: Σ tR + units · move_unit_us + 2 channel + tPROG, and where the
//! controller takes time for moves the wait for its turn (`move_processor`); of an erase: tBERS; of a command:
//! controller, link or pace, the longest. Left out: waiting for channels, coalescing in the buffer, reads.

use super::Ssd;
use crate::block::Request;
use crate::ftl::Readiness;
use crate::ftl::frontier::Purpose;
use crate::ftl::mapping::Version;
use crate::ftl::reclaim::Step;
use crate::ftl::spare::Shortage;
use crate::nand::contents::Contents;
use crate::units::{DieId, Lpn, Nanos};

/// What a die did in its turn.
enum Turn {
    /// It programmed so many units of the row, in this time.
    Wrote(usize, Nanos),
    /// It programmed a row of its job, or erased, in this time.
    Collected(Nanos),
    /// It can do nothing until other dies have.
    Waits,
}

impl<C: Contents> Ssd<C> {
    /// Writes a unit. Units gather until a row is full; the row goes to the die that is free first.
    /// False once the drive is read-only.
    #[inline]
    pub fn write_now(&mut self, lpn: Lpn, compress_percent: u8) -> bool {
        if !self.is_away() {
            self.stop_here();
        }
        let bytes = self.shape.flash_bytes(compress_percent);
        if self.row.has_no_room(bytes) {
            self.program_gathered_now();
        }
        self.ftl.backlog.sample(lpn, bytes);
        if self.row.add(lpn, C::Held::default(), bytes) {
            self.program_gathered_now();
        }
        !self.ftl.is_read_only()
    }

    /// Programs what [`Ssd::write_now`] has gathered, and notes how full the buffer would be now: for the
    /// end of a stretch of writes.
    pub fn flush_now(&mut self) {
        self.program_gathered_now();
        self.program_apart_now();
        if let Some(share) = self.row.share_ahead() {
            self.ftl.backlog.fill(share);
        }
    }

    /// The dies of a drive that was made out of copies begin at times of their own, spread over those of programming
    /// so many blocks: else dies whose copies were alike would collect in step for long.
    pub fn stagger_now(&mut self, blocks: u32) {
        let geometry = self.ftl.geometry;
        let program = self.shape.config.nand.program_us.0.iter().copied().max().unwrap_or_default();
        let row = program + self.shape.times.channel_row + self.shape.times.flash_command;
        self.row.stagger(geometry.dies as usize, Nanos(row.0 * u64::from(geometry.rows) * u64::from(blocks)));
    }

    fn program_gathered_now(&mut self) {
        let units = self.row.take();
        if self.ftl.gathers_streams() {
            self.sort_now(&units);
        } else {
            self.put_now(&units);
        }
        self.row.begin(units);
    }

    /// Units go to rows of their streams; those that are full are programmed.
    #[cold]
    fn sort_now(&mut self, units: &[(Lpn, C::Held)]) {
        for unit in units {
            let stream = self.ftl.stream_of_write(unit.0);
            if let Some(whole) = self.row.add_apart(stream, *unit) {
                self.put_now(&whole);
            }
        }
    }

    /// Programs what is left of each stream.
    fn program_apart_now(&mut self) {
        for rest in self.row.take_apart() {
            self.put_now(&rest);
        }
    }

    fn put_now(&mut self, mut rest: &[(Lpn, C::Held)]) {
        while !rest.is_empty() && !self.ftl.is_read_only() {
            let written = self.put_row_now(rest) as u64;
            self.ftl.counters.host_pages_written += written;
            self.write_map_now();
            rest = &rest[written as usize..];
        }
    }

    /// A write command of which the units are written without time: it is counted, and takes the host's time.
    pub(super) fn take_command_now(&mut self, request: &Request) {
        let bytes = self.bytes_of(request);
        self.count_command_now(bytes);
        let paced = match &mut self.link.pace {
            Some(pace) if self.ftl.is_short_of_blocks() => pace.time_of(bytes),
            _ => Nanos::ZERO,
        };
        self.row.take_command(self.shape.command_time(request).max(self.link.time_of(bytes)).max(paced));
    }

    /// Counts a write command of so many bytes, whose units were written without time.
    pub fn count_command_now(&mut self, bytes: u64) {
        self.ftl.counters.host_writes += 1;
        self.ftl.counters.host_bytes_written += bytes;
    }

    /// Unmaps a unit without time, where the drive has TRIM and can still be written.
    pub fn trim_now(&mut self, lpn: Lpn) {
        if !self.shape.config.ftl.trim || self.ftl.is_read_only() {
            return;
        }
        if !self.is_away() {
            self.stop_here();
        }
        // A gathered write of the same unit comes before its trim; others need not be programmed for it.
        if self.row.holds(lpn) {
            self.program_gathered_now();
            self.program_apart_now();
        }
        self.ftl.trim(lpn);
    }

    /// Asks for the cache line of a coming [`Ssd::write_now`].
    #[inline]
    pub fn hint_now(&self, lpn: Lpn) {
        self.ftl.mapping.prefetch(lpn);
    }

    /// The second half of the hint, when the map's line has arrived.
    #[inline]
    pub fn hint_old_now(&self, lpn: Lpn) {
        self.ftl.mapping.prefetch_old(lpn);
    }

    /// Programs units, a row at most, on the die that is free first; returns how many. None where no die
    /// can take any, and the drive is read-only then.
    pub(super) fn put_row_now(&mut self, units: &[(Lpn, C::Held)]) -> usize {
        debug_assert!(self.rests, "nothing is under way in virtual time");
        let mut waited = false;
        loop {
            let Some((now, die)) = self.row.first_free() else {
                // Every die waits: once more from the start, since what they did may have helped the others.
                if waited || !self.row.recall(Nanos::ZERO) {
                    self.ftl.spare.run_out(Shortage::FreeBlocks);
                    return 0;
                }
                waited = true;
                continue;
            };
            let row = self.row.next_row(now);
            let turn = if row > now { self.spare_turn_now(die, now) } else { None };
            let (done, written) = match turn.unwrap_or_else(|| self.turn_now(die, now, units)) {
                Turn::Wrote(count, time) => (row + time, count),
                Turn::Collected(time) => (now + time, 0),
                Turn::Waits => {
                    self.row.wait(die);
                    continue;
                }
            };
            waited = false;
            self.row.occupy(die, done);
            self.row.recall_after(|| self.ftl.blocks_changed(), now);
            if written > 0 || self.ftl.is_read_only() {
                return written;
            }
        }
    }

    /// What a die does that would have to wait for the host, as `Ssd::work_in_spare_time`.
    fn spare_turn_now(&mut self, die: DieId, now: Nanos) -> Option<Turn> {
        let works = self.ftl.is_smooth()
            && (self.ftl.has_job(die) || self.ftl.wants_collection(die) && self.ftl.start_job(die))
            && self.ftl.has_job(die);
        works.then(|| Turn::Collected(self.job_row_now(die, now)))
    }

    /// What a die that is free does next: as `Ssd::choose_work`, with a host that always has more.
    fn turn_now(&mut self, die: DieId, now: Nanos, units: &[(Lpn, C::Held)]) -> Turn {
        self.ftl.meet_unit(die, units[0].0);
        if self.ftl.has_job(die) && self.ftl.job_is_due(die) {
            return Turn::Collected(self.job_row_now(die, now));
        }
        match self.ftl.readiness(die) {
            Readiness::Write(purpose) => return self.write_row_now(die, purpose, units),
            Readiness::Collect if self.ftl.has_job(die) || self.ftl.start_job(die) => {}
            Readiness::Wait if self.ftl.has_job(die) => {}
            Readiness::Wait => return Turn::Waits,
            // Nothing can be collected; where a block still has room it is used up.
            Readiness::Collect => {
                return match self.ftl.readiness(die) {
                    Readiness::Write(purpose) => self.write_row_now(die, purpose, units),
                    _ => Turn::Waits,
                };
            }
        }
        match self.ftl.has_job(die) {
            true => Turn::Collected(self.job_row_now(die, now)),
            // With superblocks: the die has no good block in this one.
            false => Turn::Waits,
        }
    }

    /// Puts and programs units on a die that is ready.
    fn write_row_now(&mut self, die: DieId, purpose: Purpose, units: &[(Lpn, C::Held)]) -> Turn {
        let count = units.len().min(self.ftl.row_slots_left(die, purpose) as usize);
        for &(lpn, held) in &units[..count] {
            self.ftl.touch_map(lpn, true);
            self.ftl.put(die, purpose, lpn, Version::Only, held);
        }
        let programmed = self.ftl.end_row(die, die, purpose);
        self.ftl.program_ended(die);
        if self.ftl.is_smooth() && (self.ftl.has_job(die) || self.ftl.wants_collection(die) && self.ftl.start_job(die))
        {
            self.ftl.owe(die);
        }
        Turn::Wrote(count, self.shape.times.flash_command + self.shape.times.channel_row + programmed)
    }

    /// The next row of a die's job, or its erase, from `now` on; returns the time. A row is programmed when the
    /// controller is done with its units.
    fn job_row_now(&mut self, die: DieId, now: Nanos) -> Nanos {
        let (mut time, mut gathered) = (self.shape.times.flash_command, 0);
        loop {
            match self.ftl.job_step(die) {
                Step::Read(source) => {
                    time += self.ftl.flash.array.read_time(source.block, source.row, self.ftl.geometry.rows_per_unit);
                    time += Nanos(self.shape.times.move_unit.0 * u64::from(source.units));
                    gathered += u64::from(source.units);
                }
                Step::Program => {
                    let (programmed, moved) = self.ftl.program_gathered(die);
                    let processed = Nanos(self.shape.config.controller.move_unit_us.0.0 * u64::from(moved));
                    time = self.row.take_move(now + time, processed) - now + programmed;
                    self.ftl.program_ended(die);
                    if self.ftl.is_smooth() {
                        self.ftl.pay(die);
                    }
                    let data = Nanos(self.shape.times.channel_unit.0 * gathered) + self.shape.times.channel_row;
                    return if self.shape.times.copyback { time } else { time + data };
                }
                Step::Erase => {
                    time += self.ftl.finish_job(die);
                    self.ftl.erase_ended(die);
                    return time;
                }
            }
        }
    }

    /// Writes the translation pages that left the mapping cache.
    fn write_map_now(&mut self) {
        let Some(cache) = &mut self.ftl.map_cache else { return };
        cache.loads.clear();
        for lpn in std::mem::take(&mut cache.evictions) {
            self.put_row_now(&[(lpn, C::Held::default())]);
        }
    }
}
