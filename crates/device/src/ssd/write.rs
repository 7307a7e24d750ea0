//! Writes and zeroes: into the buffer, or without one to the dies, and on to whoever waits for them.
//!
//! A unit that a write covers only in part needs the rest of its old contents: it is read first
//! (read-modify-write) if it lies in flash.

use crate::block::{Completion, Operation, Request, Status, Tag};
use crate::ftl::mapping::Place;
use crate::nand::contents::{Contents, Part};
use crate::ssd::Ssd;
use crate::ssd::commands::Command;
use crate::ssd::dies::ReadOwner;
use crate::ssd::pending::{Owner, Unit};
use crate::ssd::pieces::Piece;
use crate::ssd::write_buffer::Slot;
use crate::units::Ppn;

impl<C: Contents> Ssd<C> {
    /// Write data has crossed the link, or zeroes are to be written, for which none crosses.
    #[inline(always)]
    pub(super) fn take_write(&mut self, index: u32, done: &mut Vec<Completion>) {
        let Command { tag, request, .. } = *self.commands.get(index);
        if self.shape.is_out_of_range(&request) {
            return self.complete(index, Status::OutOfRange, done);
        }
        if self.ftl.is_read_only() {
            return self.complete(index, Status::WriteProtected, done);
        }
        if !self.buffer.is_present() {
            self.take_unbuffered(index, tag, &request, done);
        } else if !self.buffer.is_stalled() {
            self.take_alone(index, done);
        } else {
            self.buffer.stall(index);
        }
        if !self.pending.is_empty() && self.dies.ring.has_idle() {
            self.feed_dies();
        }
    }

    #[inline(always)]
    fn take_unbuffered(&mut self, index: u32, tag: Tag, request: &Request, done: &mut Vec<Completion>) {
        let bytes = self.shape.flash_bytes(request.compress_percent);
        if let Some(lpn) = self.shape.unit_size.whole_unit(request)
            && request.operation == Operation::Write
            && self.pending.none_parked()
        {
            let part = Part { tag, lpn, at: 0, sectors: (0, request.sectors), zeroes: false };
            let held = self.ftl.flash.contents.take(part);
            self.ftl.counters.host_pages_written += 1;
            let unit = Unit { lpn, owner: Owner::Command(index), bytes, held };
            if !self.write_at_once(&unit) {
                self.pending.push(unit);
            }
            return;
        }
        self.take_pieces(index, bytes, done);
    }

    /// As [`Ssd::take_unbuffered`], of whatever is to be written.
    #[inline(never)]
    fn take_pieces(&mut self, index: u32, bytes: u32, done: &mut Vec<Completion>) {
        let request = self.commands.get(index).request;
        for piece in self.shape.unit_size.pieces(&request) {
            if request.operation == Operation::WriteZeroes && self.is_zeroed_by_map(&piece) {
                continue;
            }
            let command = self.commands.get_mut(index);
            command.remaining += 1;
            let part = piece.part(command.tag, request.operation == Operation::WriteZeroes);
            let held = self.ftl.flash.contents.take(part);
            self.ftl.counters.host_pages_written += 1;
            let unit = Unit { lpn: piece.lpn, owner: Owner::Command(index), bytes, held };
            self.meet_unit(piece.lpn);
            match self.ftl.place(piece.lpn) {
                _ if self.pending.is_parked(piece.lpn) => self.pending.follow(unit),
                Place::Flash(ppn) if !self.shape.is_whole(&piece) => self.read_first(ppn, unit),
                _ => self.pending.push(unit),
            }
        }
        self.part_done(index, done);
    }

    /// Zeroes that need no write: a whole unit is unmapped, and what is unmapped reads as zeroes.
    fn is_zeroed_by_map(&mut self, piece: &Piece) -> bool {
        if self.shape.is_whole(piece) {
            self.trim_unit(piece.lpn);
        }
        self.ftl.place(piece.lpn) == Place::Unmapped
    }

    /// A read-modify-write: the unit becomes pending when its old contents are there.
    pub(super) fn read_first(&mut self, ppn: Ppn, unit: Unit<C::Held>) {
        self.ftl.counters.read_modify_writes += 1;
        let number = self.pending.park(unit);
        self.read_unit(ppn, ReadOwner::Parked(number));
    }

    /// As [`Ssd::take_buffered`], of a command behind which none waits.
    #[inline(never)]
    fn take_alone(&mut self, index: u32, done: &mut Vec<Completion>) {
        self.take_buffered(index, done);
    }

    /// Moves a command's units into the buffer, as far as there is room; done when all are in.
    #[inline(always)]
    fn take_buffered(&mut self, index: u32, done: &mut Vec<Completion>) -> bool {
        let Command { tag, request, .. } = *self.commands.get(index);
        let bytes = self.shape.flash_bytes(request.compress_percent);
        if request.fua {
            self.begin_fua();
        }
        let are_in = if request.operation == Operation::Write
            && let Some(lpn) = self.shape.unit_size.whole_unit(&request)
        {
            self.buffer_part(Part { tag, lpn, at: 0, sectors: (0, request.sectors), zeroes: false }, bytes)
        } else {
            self.buffer_pieces(index, bytes)
        };
        if !are_in {
            self.buffer.stall_again(index);
        } else if request.fua && self.shape.limits.volatile_cache {
            self.begin_flush(index, true, done);
        } else {
            self.complete(index, Status::Success, done);
        }
        are_in
    }

    /// As [`Ssd::take_buffered`], of whatever is to be written: false where there is no room for all of it.
    #[inline(never)]
    fn buffer_pieces(&mut self, index: u32, bytes: u32) -> bool {
        let Command { tag, request, taken, .. } = *self.commands.get(index);
        for (number, piece) in (0..).zip(self.shape.unit_size.pieces(&request)).skip(taken as usize) {
            if request.operation == Operation::WriteZeroes && self.is_zeroed_by_map(&piece) {
                continue;
            }
            let part = piece.part(tag, request.operation == Operation::WriteZeroes);
            if !self.buffer_part(part, bytes) {
                self.commands.get_mut(index).taken = number;
                return false;
            }
        }
        true
    }

    /// Moves a part of a command into the buffer, over what lies there of the same unit; false where there is
    /// no room.
    #[inline(always)]
    fn buffer_part(&mut self, part: Part, bytes: u32) -> bool {
        let Part { lpn, sectors, .. } = part;
        let contents = &mut self.ftl.flash.contents;
        if let Place::Buffer(slot) = self.ftl.mapping.place(lpn) {
            return self.write_again(slot, part, bytes);
        }
        let mut held = C::Held::default();
        let hold = || {
            held = contents.take(part);
            held
        };
        let Some(slot) = self.buffer.take(lpn, sectors, bytes, hold) else { return false };
        self.ftl.counters.host_pages_written += 1;
        self.ftl.mapping.buffer(lpn, slot);
        self.pending.push(Unit { lpn, owner: Owner::Slot(slot), bytes, held });
        true
    }

    /// Moves a part of a command of which the buffer has the unit over it, or beside it; false where there is no room.
    #[inline(never)]
    fn write_again(&mut self, slot: u32, part: Part, bytes: u32) -> bool {
        if self.buffer.joins(slot) {
            self.coalesce(slot, part, bytes);
            return true;
        }
        self.supersede(slot, part, bytes)
    }

    /// Moves a part of a command into the buffer beside an older version of the unit, which is programmed as well;
    /// false where there is no room.
    fn supersede(&mut self, older: u32, part: Part, bytes: u32) -> bool {
        let Part { lpn, sectors, .. } = part;
        let (contents, held) = (&mut self.ftl.flash.contents, self.buffer.slots[older as usize].held);
        let newer = self.buffer.take(lpn, sectors, bytes, || contents.take_beside(held, part));
        let Some(newer) = newer else { return false };
        self.ftl.counters.host_pages_written += 1;
        self.buffer.slots[older as usize].is_superseded = true;
        self.ftl.mapping.buffer_again(lpn, older, newer);
        let unit = Unit { lpn, owner: Owner::Slot(newer), bytes, held: self.buffer.slots[newer as usize].held };
        if self.pending.is_parked(lpn) {
            self.pending.follow(unit);
        } else {
            self.pending.push(unit);
        }
        true
    }

    /// Moves a part of a command into a slot of the buffer, over what lies there of the same unit.
    fn coalesce(&mut self, slot: u32, part: Part, bytes: u32) {
        let (slot, sectors) = (&mut self.buffer.slots[slot as usize], part.sectors);
        let touches = sectors.0 <= slot.covered.1 && slot.covered.0 <= sectors.1;
        // Parts with a gap between them need the old contents after all: covered stays as it was.
        if touches {
            slot.covered = (slot.covered.0.min(sectors.0), slot.covered.1.max(sectors.1));
        }
        slot.bytes = bytes;
        self.ftl.flash.contents.overwrite(slot.held, part);
        self.ftl.counters.host_pages_written += 1;
        self.ftl.counters.buffer_coalesced += 1;
    }

    /// What a slot of the buffer holds is to be programmed.
    #[inline(always)]
    pub(super) fn pend_buffered(&mut self, slot: u32) {
        let Slot { lpn, bytes, held, .. } = self.buffer.slots[slot as usize];
        self.ftl.mapping.buffer(lpn, slot);
        self.pending.push(Unit { lpn, owner: Owner::Slot(slot), bytes, held });
    }

    /// The writes that would have come next lie in the buffer, and in flash until they are programmed again.
    pub(super) fn fill_buffer(&mut self) {
        let whole = (0, self.shape.unit_size.sectors());
        for (lpn, bytes) in self.ftl.backlog.take() {
            let Place::Flash(_) = self.ftl.place(lpn) else { continue };
            let as_it_lies = Part { tag: Tag(0), lpn, at: 0, sectors: (0, 0), zeroes: false };
            let contents = &mut self.ftl.flash.contents;
            let Some(slot) = self.buffer.take(lpn, whole, bytes, || contents.take(as_it_lies)) else { break };
            self.pend_buffered(slot);
        }
    }

    /// A unit is programmed: whoever waited for it goes on.
    #[inline(always)]
    pub(super) fn unit_programmed(&mut self, owner: Owner, done: &mut Vec<Completion>) {
        match owner {
            Owner::Command(index) => self.part_done(index, done),
            _ => self.drive_programmed(owner, done),
        }
    }

    /// As [`Ssd::unit_programmed`], of a unit that no command waits for.
    #[inline(never)]
    fn drive_programmed(&mut self, owner: Owner, done: &mut Vec<Completion>) {
        match owner {
            Owner::Slot(slot) => self.slot_programmed(slot, done),
            Owner::Journal => self.journal_written(done),
            Owner::Command(_) | Owner::Drive => {}
        }
    }

    /// A slot of the buffer is free again: flushes may be complete, and writes that waited for room go on.
    fn slot_programmed(&mut self, slot: u32, done: &mut Vec<Completion>) {
        if self.buffer.give_back(slot) {
            self.finish_flushes(done);
        }
        self.take_stalled(done);
    }

    /// Slots of the buffer are free: writes that waited for room go on, as far as it goes.
    #[inline(never)]
    pub(super) fn take_stalled(&mut self, done: &mut Vec<Completion>) {
        while let Some(index) = self.buffer.take_stalled() {
            if !self.take_buffered(index, done) {
                break;
            }
        }
    }
}
