//! Writes and zeroes: into the buffer, or without one to the dies, and on to whoever waits for them.
//!
//! A unit that a write covers only in part needs the rest of its old contents: it is read first
//! (read-modify-write) if it lies in flash.

use super::{Command, Owner, Unit};
use crate::block::{Completion, Operation, Status};
use crate::ftl::mapping::Place;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::die::{FlashRead, ReadOwner};
use crate::ssd::pieces::Piece;
use crate::units::{Lpn, Ppn};

impl<C: Contents> Ssd<C> {
    /// Write data has crossed the link, or zeroes are to be written, for which none crosses.
    #[inline(always)]
    pub(super) fn take_write(&mut self, index: u32, done: &mut Vec<Completion>) {
        let request = self.front.commands[index as usize].request;
        let end = request.lba.0.checked_add(u64::from(request.sectors));
        if end.is_none_or(|end| end > self.limits.sectors) {
            return self.complete(index, Status::OutOfRange, done);
        }
        if self.ftl.is_read_only() {
            return self.complete(index, Status::WriteProtected, done);
        }
        if !self.buffer.is_present() {
            self.take_unbuffered(index, done);
        } else if self.front.stalled.is_empty() {
            self.take_buffered(index, done);
        } else {
            self.front.stalled.push_back(index);
        }
        if !self.pending.is_empty() && self.has_idle() {
            self.feed_dies();
        }
    }

    #[inline(always)]
    fn take_unbuffered(&mut self, index: u32, done: &mut Vec<Completion>) {
        let command = &mut self.front.commands[index as usize];
        let request = command.request;
        command.remaining = 1;
        let bytes = self.flash_bytes(request.compress_percent);
        if let Some(lpn) = self.unit_size.whole_unit(&request)
            && request.operation == Operation::Write
            && self.parked == 0
        {
            let stamp = self.ftl.flash.contents.stamp(lpn);
            self.ftl.counters.host_pages_written += 1;
            let unit = Unit { lpn, owner: Owner::Command(index), bytes, stamp };
            if !self.write_at_once(&unit) {
                self.pending.push_back(unit);
            }
            return;
        }
        for piece in self.unit_size.pieces(&request) {
            if request.operation == Operation::WriteZeroes && self.is_zeroed_by_map(&piece) {
                continue;
            }
            self.front.commands[index as usize].remaining += 1;
            let stamp = self.ftl.flash.contents.stamp(piece.lpn);
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
    pub(in crate::ssd) fn read_first(&mut self, ppn: Ppn, unit: Unit<C::Stamp>) {
        self.ftl.counters.read_modify_writes += 1;
        let geometry = self.ftl.geometry;
        let slot = self.dies[usize::from(geometry.die(geometry.block(ppn)).0)].park(unit);
        self.parked += 1;
        self.queue_read(FlashRead::of_unit(&self.ftl, ppn, ReadOwner::Parked(slot)));
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
            self.begin_flush(index, true, done);
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
            let stamp = self.ftl.flash.contents.stamp(piece.lpn);
            self.restamp(slot, stamp);
            self.ftl.counters.host_pages_written += 1;
            self.ftl.counters.buffer_coalesced += 1;
            return true;
        }
        let Some(slot) = self.buffer.take(piece.lpn, piece.covered, bytes) else { return false };
        let stamp = self.ftl.flash.contents.stamp(piece.lpn);
        self.ftl.counters.host_pages_written += 1;
        self.ftl.mapping.buffer(piece.lpn, slot);
        self.pending.push_back(Unit { lpn: piece.lpn, owner: Owner::Slot(slot), bytes, stamp });
        true
    }

    /// The writes that would have come next lie in the buffer, and in flash until they are programmed again.
    pub(in crate::ssd) fn fill_buffer(&mut self) {
        for (lpn, bytes) in self.ftl.backlog.take() {
            let Place::Flash(copy) = self.ftl.place(lpn) else { continue };
            let Some(slot) = self.buffer.take(lpn, (0, self.unit_size.sectors()), bytes) else { break };
            let stamp = self.ftl.flash.contents.read(copy);
            self.ftl.mapping.buffer(lpn, slot);
            self.pending.push_back(Unit { lpn, owner: Owner::Slot(slot), bytes, stamp });
        }
    }

    /// Overwrites the contents of a unit that waits in the buffer. Only payloads have contents.
    fn restamp(&mut self, slot: u32, stamp: C::Stamp) {
        if size_of::<C::Stamp>() == 0 {
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
    pub(in crate::ssd) fn flash_bytes(&self, compress_percent: u8) -> u32 {
        let unit = self.ftl.geometry.unit_bytes;
        match self.times.compression_floor {
            None => unit,
            Some(floor) => (f64::from(unit) * (1.0 - f64::from(compress_percent) / 100.0).max(floor)) as u32,
        }
    }

    /// A unit is programmed: whoever waited for it goes on.
    #[inline(always)]
    pub(in crate::ssd) fn unit_programmed(&mut self, owner: Owner, done: &mut Vec<Completion>) {
        match owner {
            Owner::Command(index) => self.part_done(index, done),
            Owner::Slot(slot) => self.slot_programmed(slot, done),
            Owner::Journal => self.journal_written(done),
            Owner::Drive => {}
        }
    }

    /// A slot of the buffer is free again: flushes may be complete, and writes that waited for room go on.
    #[inline(never)]
    fn slot_programmed(&mut self, slot: u32, done: &mut Vec<Completion>) {
        if self.buffer.give_back(slot) {
            self.finish_flushes(done);
        }
        while let Some(index) = self.front.stalled.pop_front() {
            if !self.take_buffered(index, done) {
                break;
            }
        }
    }
}
