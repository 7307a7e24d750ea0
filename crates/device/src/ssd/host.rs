//! Host commands: accepted, cut into mapping units, completed.
//!
//! A unit that a write covers only in part needs the rest of its old contents: it is read first
//! (read-modify-write) if it lies in flash. A trim acts only on whole, aligned granules; reads of
//! unmapped units touch no flash and are counted.

use crate::block::{Busy, Completion, Operation, Request, Status, Tag};
use crate::ftl::Place;
use crate::nand::array::Payload;
use crate::ssd::die::{FlashRead, ReadOwner};
use crate::ssd::pieces::Piece;
use crate::ssd::{Lane, Ssd};
use crate::units::{Lpn, Nanos, Ppn};
use std::collections::VecDeque;

/// Who waits for a unit to be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A command (no buffer).
    Command(u32),
    /// A slot of the write buffer.
    Slot(u32),
    /// Nobody: the drive's own writes.
    Drive,
}

/// A unit on its way to flash.
#[derive(Clone, Copy, Debug)]
pub struct Unit<S> {
    /// Which one.
    pub lpn: Lpn,
    /// Who waits.
    pub owner: Owner,
    /// Bytes in flash: fewer than a unit has where data is compressed.
    pub bytes: u32,
    /// Its contents.
    pub stamp: S,
}

/// A command under way.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    tag: Tag,
    request: Request,
    /// Flash operations, units or transfers still to come.
    remaining: u32,
    /// Units already taken by the buffer.
    taken: u32,
    status: Status,
}

/// Commands and the queues they wait in.
#[derive(Debug, Default)]
pub struct Front {
    commands: Vec<Command>,
    free: Vec<u32>,
    outstanding: u32,
    /// Leaving the controller, in order.
    accepted: VecDeque<(Nanos, u32)>,
    /// Write data crossing the link, in order.
    data_in: VecDeque<(Nanos, u32)>,
    /// Read data crossing the link, in order.
    data_out: VecDeque<(Nanos, u32)>,
    /// Writes for which the buffer has no room, in order.
    stalled: VecDeque<u32>,
    /// Flushes and the epoch they wait for.
    flushes: VecDeque<(u64, u32)>,
}

impl Front {
    fn start(&mut self, command: Command) -> u32 {
        self.outstanding += 1;
        match self.free.pop() {
            Some(index) => {
                self.commands[index as usize] = command;
                index
            }
            None => {
                self.commands.push(command);
                self.commands.len() as u32 - 1
            }
        }
    }

    /// Commands that the host waits for.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// A write waits for room in the buffer.
    pub fn is_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }
}

impl<P: Payload> Ssd<P> {
    pub(super) fn accept(&mut self, tag: Tag, request: Request) -> Result<(), Busy> {
        if self.front.outstanding >= self.limits.queue_depth {
            return Err(Busy);
        }
        let command = Command { tag, request, remaining: 0, taken: 0, status: Status::Success };
        let index = self.front.start(command);
        if self.front.outstanding == 1 {
            self.end_idling();
        }
        let time = self.config.link.command_us.0 + self.controller_time(&request);
        let ready = self.controller.reserve(self.now, time);
        self.ftl.counters.controller_ns += time.0;
        if request.operation == Operation::Write {
            self.prefetch_old(&request);
        }
        if request.operation == Operation::Write && !self.times.half_duplex {
            // Full duplex: write data crosses in the order of commands, so the link's turn is known already.
            let crossing = self.link_time(&request);
            let done = self.link_in.reserve(ready, crossing);
            self.push_data_in(done, index);
        } else {
            if self.front.accepted.is_empty() {
                self.schedule(Lane::Command, ready);
            }
            self.front.accepted.push_back((ready, index));
        }
        Ok(())
    }

    /// While a write is on its way its map entry, fetched by the hint, tells what else it will touch.
    #[inline]
    fn prefetch_old(&self, request: &Request) {
        let (lpn, _) = self.unit_size.split(request.lba.0);
        if lpn < u64::from(self.ftl.exported) {
            self.ftl.prefetch_old(Lpn(lpn as u32));
        }
    }

    #[inline]
    fn controller_time(&self, request: &Request) -> Nanos {
        let controller = &self.config.controller;
        let base = match request.operation {
            Operation::Read => controller.read_command_us.0,
            Operation::Write => controller.write_command_us.0,
            Operation::Trim | Operation::WriteZeroes => controller.trim_command_us.0,
            Operation::Flush => Nanos::ZERO,
        };
        if controller.unit_us.0 == Nanos::ZERO || !matches!(request.operation, Operation::Read | Operation::Write) {
            return base;
        }
        let units = u64::from(request.sectors.div_ceil(self.unit_size.sectors())).max(1);
        base + Nanos(controller.unit_us.0.0 * (units - 1))
    }

    fn link_time(&mut self, request: &Request) -> Nanos {
        let bytes = u64::from(request.sectors) * u64::from(self.limits.sector_bytes);
        let time = Nanos((bytes as f64 * self.times.nanos_per_link_byte).ceil() as u64);
        self.ftl.counters.link_ns += time.0;
        time
    }

    fn push_data_in(&mut self, done: Nanos, index: u32) {
        if self.front.data_in.is_empty() {
            self.schedule(Lane::DataIn, done);
        }
        self.front.data_in.push_back((done, index));
    }

    pub(super) fn lane_event(&mut self, lane: usize, done: &mut Vec<Completion>) {
        const COMMAND: usize = Lane::Command as usize;
        const DATA_IN: usize = Lane::DataIn as usize;
        const DATA_OUT: usize = Lane::DataOut as usize;
        match lane {
            COMMAND => {
                let (_, index) = self.front.accepted.pop_front().expect("a command was scheduled");
                self.schedule_first(Lane::Command);
                self.begin(index, done);
            }
            DATA_IN => {
                let (_, index) = self.front.data_in.pop_front().expect("data was scheduled");
                self.schedule_first(Lane::DataIn);
                self.take_write(index, done);
            }
            DATA_OUT => {
                let (_, index) = self.front.data_out.pop_front().expect("data was scheduled");
                self.schedule_first(Lane::DataOut);
                self.part_done(index, done);
            }
            _ => self.idle_event(),
        }
    }

    fn schedule_first(&mut self, lane: Lane) {
        let queue = match lane {
            Lane::Command => &self.front.accepted,
            Lane::DataIn => &self.front.data_in,
            _ => &self.front.data_out,
        };
        let time = queue.front().map_or(Nanos::NEVER, |(time, _)| *time);
        self.schedule(lane, time);
    }

    /// A command has had its controller time.
    fn begin(&mut self, index: u32, done: &mut Vec<Completion>) {
        let request = self.front.commands[index as usize].request;
        let end = request.lba.0.checked_add(u64::from(request.sectors));
        if request.operation != Operation::Flush && end.is_none_or(|end| end > self.limits.sectors) {
            return self.complete(index, Status::OutOfRange, done);
        }
        match request.operation {
            Operation::Read => self.look_up(index),
            Operation::Write => {
                let time = self.link_time(&request);
                let crossed = self.reserve_link_in(time);
                self.push_data_in(crossed, index);
            }
            Operation::Trim => {
                self.trim(&request);
                self.complete(index, Status::Success, done);
            }
            Operation::WriteZeroes => self.take_write(index, done),
            Operation::Flush => self.begin_flush(index, done),
        }
    }

    fn reserve_link_in(&mut self, time: Nanos) -> Nanos {
        if self.times.half_duplex {
            self.link_out.reserve(self.now, time)
        } else {
            self.link_in.reserve(self.now, time)
        }
    }

    // ---- reads ----

    /// The map entries of a read are looked up; where they are not cached it waits for them.
    fn look_up(&mut self, index: u32) {
        if self.ftl.map_cache.is_some() {
            let request = self.front.commands[index as usize].request;
            for piece in self.unit_size.pieces(&request) {
                self.ftl.touch_map(piece.lpn, false);
            }
            let loads = self.drain_map_work(Some(index));
            self.front.commands[index as usize].remaining = loads;
            if loads > 0 {
                return;
            }
        }
        self.begin_read(index);
    }

    /// A translation page that a read waits for is there; with the last one it goes on.
    pub(super) fn map_loaded(&mut self, index: u32, uncorrectable: bool) {
        if uncorrectable {
            self.fail(index);
        }
        self.front.commands[index as usize].remaining -= 1;
        if self.front.commands[index as usize].remaining == 0 {
            self.begin_read(index);
        }
    }

    fn begin_read(&mut self, index: u32) {
        let request = self.front.commands[index as usize].request;
        self.front.commands[index as usize].remaining = 1;
        let mut ready_sectors = 0;
        let mut open: Option<FlashRead> = None;
        for piece in self.unit_size.pieces(&request) {
            let sectors = piece.covered.1 - piece.covered.0;
            match self.ftl.place(piece.lpn) {
                Place::Unmapped => {
                    self.ftl.counters.unmapped_reads += 1;
                    ready_sectors += sectors;
                }
                Place::Buffer(_) => {
                    self.ftl.counters.buffer_read_hits += 1;
                    ready_sectors += sectors;
                }
                Place::Flash(ppn) => self.add_read(&mut open, index, ppn, piece.covered),
            }
        }
        if let Some(read) = open {
            self.start_read(read);
        }
        self.front.commands[index as usize].remaining -= 1;
        if ready_sectors > 0 || self.front.commands[index as usize].remaining == 0 {
            self.front.commands[index as usize].remaining += 1;
            self.send_out(index, ready_sectors);
        }
    }

    /// Adds a unit to the flash read under construction, or starts a new one: neighbouring units of
    /// one row are sensed together.
    fn add_read(&mut self, open: &mut Option<FlashRead>, index: u32, ppn: Ppn, covered: (u32, u32)) {
        self.ftl.counters.nand_pages_read += 1;
        let geometry = &self.ftl.geometry;
        let (block, mut row) = (geometry.block(ppn), geometry.row(geometry.slot(ppn)));
        let (first, end) = (covered.0 * self.limits.sector_bytes, covered.1 * self.limits.sector_bytes);
        let (bytes, mut rows) = (end - first, 1);
        if geometry.rows_per_unit > 1 {
            row += first / geometry.row_bytes;
            rows = end.div_ceil(geometry.row_bytes) - first / geometry.row_bytes;
        }
        if let Some(read) = open
            && read.block == block
            && read.row == row
        {
            read.bytes += bytes;
            return;
        }
        let read = FlashRead { block, row, rows, bytes, owner: ReadOwner::Command(index) };
        if let Some(complete) = open.replace(read) {
            self.start_read(complete);
        }
    }

    fn start_read(&mut self, read: FlashRead) {
        if let ReadOwner::Command(index) = read.owner {
            self.front.commands[index as usize].remaining += 1;
        }
        self.queue_read(read);
    }

    /// Data is at hand: it crosses the link.
    pub(super) fn send_out(&mut self, index: u32, sectors: u32) {
        let bytes = u64::from(sectors) * u64::from(self.limits.sector_bytes);
        self.send_out_bytes(index, bytes);
    }

    pub(super) fn send_out_bytes(&mut self, index: u32, bytes: u64) {
        let time = Nanos((bytes as f64 * self.times.nanos_per_link_byte).ceil() as u64);
        self.ftl.counters.link_ns += time.0;
        let crossed = self.link_out.reserve(self.now, time);
        if self.front.data_out.is_empty() {
            self.schedule(Lane::DataOut, crossed);
        }
        self.front.data_out.push_back((crossed, index));
    }

    pub(super) fn fail(&mut self, index: u32) {
        self.front.commands[index as usize].status = Status::MediaError;
    }

    fn part_done(&mut self, index: u32, done: &mut Vec<Completion>) {
        let command = &mut self.front.commands[index as usize];
        command.remaining -= 1;
        if command.remaining == 0 {
            let status = command.status;
            self.complete(index, status, done);
        }
    }

    // ---- writes ----

    /// Write data has crossed the link, or zeroes are to be written, for which none crosses.
    fn take_write(&mut self, index: u32, done: &mut Vec<Completion>) {
        let request = self.front.commands[index as usize].request;
        let end = request.lba.0.checked_add(u64::from(request.sectors));
        if end.is_none_or(|end| end > self.limits.sectors) {
            return self.complete(index, Status::OutOfRange, done);
        }
        if self.ftl.read_only {
            return self.complete(index, Status::WriteProtected, done);
        }
        if !self.buffer.is_present() {
            self.take_unbuffered(index, done);
        } else if self.front.stalled.is_empty() {
            self.take_buffered(index, done);
        } else {
            self.front.stalled.push_back(index);
        }
        self.feed_dies();
    }

    fn take_unbuffered(&mut self, index: u32, done: &mut Vec<Completion>) {
        let request = self.front.commands[index as usize].request;
        self.front.commands[index as usize].remaining = 1;
        let bytes = self.flash_bytes(request.compress_percent);
        for piece in self.unit_size.pieces(&request) {
            if request.operation == Operation::WriteZeroes && self.is_zeroed_by_map(&piece) {
                continue;
            }
            self.front.commands[index as usize].remaining += 1;
            let stamp = self.ftl.payload.stamp(piece.lpn);
            self.ftl.counters.host_pages_written += 1;
            let unit = Unit { lpn: piece.lpn, owner: Owner::Command(index), bytes, stamp };
            match self.ftl.place(piece.lpn) {
                _ if self.is_parked(piece.lpn) => self.followers.push(unit),
                Place::Flash(ppn) if piece.covered != (0, self.unit_size.sectors()) => self.read_first(ppn, unit),
                _ => self.pending.push_back(unit),
            }
        }
        self.part_done(index, done);
    }

    /// Zeroes that need no write: a whole unit is unmapped, and what is unmapped reads as zeroes.
    fn is_zeroed_by_map(&mut self, piece: &Piece) -> bool {
        if piece.covered == (0, self.unit_size.sectors()) {
            self.trim_unit(piece.lpn);
        }
        self.ftl.place(piece.lpn) == Place::Unmapped
    }

    /// An earlier write of the unit waits for its old contents; later ones must stay behind it.
    fn is_parked(&mut self, lpn: Lpn) -> bool {
        self.parked > 0 && self.dies.iter_mut().any(|die| die.parked_units().any(|unit| unit.lpn == lpn))
    }

    /// A read-modify-write: the unit becomes pending when its old contents are there.
    pub(super) fn read_first(&mut self, ppn: Ppn, unit: Unit<P::Stamp>) {
        self.ftl.counters.read_modify_writes += 1;
        let geometry = self.ftl.geometry;
        let slot = self.dies[usize::from(geometry.die(geometry.block(ppn)).0)].park(unit);
        self.parked += 1;
        self.queue_read(FlashRead::of_unit(&geometry, ppn, ReadOwner::Parked(slot)));
    }

    /// Moves a command's units into the buffer, as far as there is room; done when all are in.
    fn take_buffered(&mut self, index: u32, done: &mut Vec<Completion>) -> bool {
        let Command { request, taken, .. } = self.front.commands[index as usize];
        let bytes = self.flash_bytes(request.compress_percent);
        for (number, piece) in (0..).zip(self.unit_size.pieces(&request)).skip(taken as usize) {
            if request.operation == Operation::WriteZeroes && self.is_zeroed_by_map(&piece) {
                continue;
            }
            if !self.buffer_piece(&piece, bytes) {
                self.front.commands[index as usize].taken = number;
                self.front.stalled.push_front(index);
                return false;
            }
        }
        if request.fua && self.limits.volatile_cache {
            self.begin_flush(index, done);
        } else {
            self.complete(index, Status::Success, done);
        }
        true
    }

    fn buffer_piece(&mut self, piece: &Piece, bytes: u32) -> bool {
        if let Place::Buffer(slot) = self.ftl.place(piece.lpn) {
            let held = &mut self.buffer.slots[slot as usize];
            let touches = piece.covered.0 <= held.covered.1 && held.covered.0 <= piece.covered.1;
            // Pieces with a gap between them need the old contents after all: covered stays as it was.
            if touches {
                held.covered = (held.covered.0.min(piece.covered.0), held.covered.1.max(piece.covered.1));
            }
            held.bytes = bytes;
            let stamp = self.ftl.payload.stamp(piece.lpn);
            self.restamp(slot, stamp);
            self.ftl.counters.host_pages_written += 1;
            self.ftl.counters.buffer_coalesced += 1;
            return true;
        }
        let Some(slot) = self.buffer.take(piece.lpn, piece.covered, bytes) else { return false };
        let stamp = self.ftl.payload.stamp(piece.lpn);
        self.ftl.counters.host_pages_written += 1;
        self.ftl.buffer(piece.lpn, slot);
        self.pending.push_back(Unit { lpn: piece.lpn, owner: Owner::Slot(slot), bytes, stamp });
        true
    }

    /// Overwrites the contents of a unit that waits in the buffer. Only payloads have contents.
    fn restamp(&mut self, slot: u32, stamp: P::Stamp) {
        if size_of::<P::Stamp>() == 0 {
            return;
        }
        let waiting = self.pending.iter_mut().chain(self.dies.iter_mut().flat_map(|die| die.parked_units()));
        for unit in waiting {
            if unit.owner == Owner::Slot(slot) {
                unit.stamp = stamp;
            }
        }
    }

    /// Bytes that a unit takes in flash.
    pub(super) fn flash_bytes(&self, compress_percent: u8) -> u32 {
        let unit = self.ftl.geometry.unit_bytes;
        match self.times.compression_floor {
            None => unit,
            Some(floor) => (f64::from(unit) * (1.0 - f64::from(compress_percent) / 100.0).max(floor)) as u32,
        }
    }

    /// A unit is programmed: whoever waited for it goes on.
    pub(super) fn unit_programmed(&mut self, owner: Owner, done: &mut Vec<Completion>) {
        match owner {
            Owner::Command(index) => self.part_done(index, done),
            Owner::Slot(slot) => {
                if self.buffer.give_back(slot) {
                    self.finish_flushes(done);
                }
                while let Some(index) = self.front.stalled.pop_front() {
                    if !self.take_buffered(index, done) {
                        break;
                    }
                }
            }
            Owner::Drive => {}
        }
    }

    // ---- flush, trim ----

    fn begin_flush(&mut self, index: u32, done: &mut Vec<Completion>) {
        if !self.limits.volatile_cache {
            return self.complete(index, Status::Success, done);
        }
        let epoch = self.buffer.begin_flush();
        self.front.flushes.push_back((epoch, index));
        self.finish_flushes(done);
        self.feed_dies();
    }

    fn finish_flushes(&mut self, done: &mut Vec<Completion>) {
        let drained = self.buffer.drained_until();
        while let Some(&(epoch, index)) = self.front.flushes.front() {
            if epoch >= drained {
                break;
            }
            self.front.flushes.pop_front();
            self.complete(index, Status::Success, done);
        }
    }

    /// Unmaps the whole granules that a request covers, where the drive has TRIM.
    fn trim(&mut self, request: &Request) {
        if !self.config.ftl.trim {
            return;
        }
        let granule = u64::from(self.limits.discard_granularity_bytes / self.limits.sector_bytes)
            .max(u64::from(self.unit_size.sectors()));
        let first = request.lba.0.div_ceil(granule) * granule;
        let end = (request.lba.0 + u64::from(request.sectors)) / granule * granule;
        let per_unit = u64::from(self.unit_size.sectors());
        for lpn in first / per_unit..end.max(first) / per_unit {
            self.trim_unit(Lpn(lpn as u32));
        }
    }

    fn trim_unit(&mut self, lpn: Lpn) {
        if let Place::Buffer(slot) = self.ftl.place(lpn) {
            self.forget_buffered(lpn, slot);
        }
        if self.ftl.trim(lpn) {
            self.ftl.counters.host_bytes_trimmed += u64::from(self.ftl.geometry.unit_bytes);
            self.ftl.touch_map(lpn, true);
            self.drain_map_work(None);
        }
    }

    /// A unit leaves the buffer without being programmed.
    fn forget_buffered(&mut self, lpn: Lpn, slot: u32) {
        self.ftl.unbuffer(lpn, slot);
        if let Some(place) = self.pending.iter().position(|unit| unit.owner == Owner::Slot(slot)) {
            self.pending.remove(place);
            self.buffer.give_back(slot);
        } else {
            // Its old contents are being read: it is dropped when they arrive.
            self.dies.iter_mut().for_each(|die| die.drop_parked(Owner::Slot(slot)));
        }
    }

    // ---- common ----

    pub(super) fn complete(&mut self, index: u32, status: Status, done: &mut Vec<Completion>) {
        let Command { tag, request, .. } = self.front.commands[index as usize];
        self.front.free.push(index);
        self.front.outstanding -= 1;
        if status == Status::Success {
            self.count(&request);
        }
        done.push(Completion { tag, status });
        if self.front.outstanding == 0 {
            self.start_idling();
        }
    }

    fn count(&mut self, request: &Request) {
        let bytes = u64::from(request.sectors) * u64::from(self.limits.sector_bytes);
        let counters = &mut self.ftl.counters;
        match request.operation {
            Operation::Read => {
                counters.host_reads += 1;
                counters.host_bytes_read += bytes;
            }
            Operation::Write => {
                counters.host_writes += 1;
                counters.host_bytes_written += bytes;
            }
            Operation::Flush => counters.host_flushes += 1,
            Operation::Trim | Operation::WriteZeroes => counters.host_trims += 1,
        }
    }

    /// Nothing is under way, and yet units are pending for which a command waits.
    pub(super) fn is_stuck(&self) -> bool {
        self.front.outstanding > 0 && !self.pending.is_empty()
    }

    /// No die can take what is pending: the drive is read-only. Commands that wait for it end with an
    /// error; what the buffer has acknowledged stays in it and can be read.
    #[cold]
    pub(super) fn give_up(&mut self, done: &mut Vec<Completion>) {
        self.ftl.read_only = true;
        self.pending.retain(|unit| !matches!(unit.owner, Owner::Command(_)));
        self.front.stalled.clear();
        self.front.flushes.clear();
        let mut waits = vec![true; self.front.commands.len()];
        self.front.free.iter().for_each(|&index| waits[index as usize] = false);
        for index in (0..waits.len()).filter(|&index| waits[index]) {
            self.complete(index as u32, Status::WriteProtected, done);
        }
    }

    /// The power is gone: commands are dropped, and what was only in a volatile buffer is lost.
    pub(super) fn lose_power(&mut self) {
        let volatile = self.limits.volatile_cache;
        self.finish_jobs_now();
        self.ftl.counters.unsafe_shutdowns += u64::from(self.front.outstanding > 0 || self.buffer.used() > 0);
        let waiting: Vec<Unit<P::Stamp>> = self.pending.drain(..).collect();
        let parked: Vec<Unit<P::Stamp>> =
            self.dies.iter_mut().flat_map(|die| die.parked_units().map(|unit| *unit).collect::<Vec<_>>()).collect();
        for unit in waiting.iter().chain(&parked) {
            if let Owner::Slot(slot) = unit.owner
                && self.ftl.place(unit.lpn) == Place::Buffer(slot)
            {
                self.ftl.unbuffer(unit.lpn, slot);
                if volatile {
                    self.ftl.counters.units_lost_at_power_cut += 1;
                } else {
                    self.save_on_capacitors(unit);
                }
            }
        }
        let now = self.now;
        self.restart(now);
    }

    /// A protected buffer is programmed on the capacitors' charge.
    fn save_on_capacitors(&mut self, unit: &Unit<P::Stamp>) {
        for die in 0..self.dies.len() {
            let die = crate::units::DieId(die as u16);
            if let Some(purpose) = self.ftl.make_ready_now(die) {
                self.ftl.put(die, purpose, unit.lpn, unit.stamp);
                self.ftl.end_row(die, purpose);
                return;
            }
        }
    }
}
