//! The end of what is under way: a drive that has become read-only, a power cut, a drive that is put away.

use crate::block::{Completion, Status};
use crate::ftl::mapping::Place;
use crate::ftl::spare::Shortage;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::pending::{Owner, Unit};
use crate::ssd::write_buffer::Slot;
use crate::units::{DieId, Nanos};

impl<C: Contents> Ssd<C> {
    /// Nothing is under way, and yet units are pending for which a command waits.
    pub(super) fn is_stuck(&self) -> bool {
        self.commands.outstanding() > 0 && !self.pending.is_empty()
    }

    /// No die can take what is pending: the drive is read-only. Commands that wait for it end with an
    /// error; what the buffer has acknowledged stays in it and can be read.
    #[cold]
    pub(super) fn give_up(&mut self, done: &mut Vec<Completion>) {
        self.ftl.spare.run_out(Shortage::FreeBlocks);
        for unit in self.pending.take(|owner| matches!(owner, Owner::Command(_) | Owner::Journal)) {
            self.ftl.flash.contents.release(unit.held);
        }
        self.forget_changes();
        self.buffer.forget_waiting();
        self.commands.forget_held();
        for number in self.commands.numbers() {
            self.end(number, Status::WriteProtected, done);
        }
    }

    /// The power is gone: commands are dropped, and of what was only in the buffer that is lost which it does not keep.
    /// Nothing runs any more: no row is programmed, no block collected.
    pub fn lose_power(&mut self, now: Nanos, keeps: impl Fn(C::Held) -> bool) {
        self.now = now;
        self.catch_up_all();
        let busy = self.commands.outstanding() > 0 || self.buffer.used() > 0;
        self.ftl.counters.unsafe_shutdowns += u64::from(busy);
        self.end_operations();
        let buffered = self.take_buffered_units();
        self.ftl.backlog.clear();
        self.rest();
        self.restart();
        for slot in buffered {
            if !keeps(slot.held) {
                self.ftl.counters.units_lost_at_power_cut += 1;
                self.ftl.flash.contents.release(slot.held);
            } else if let Some(number) = self.buffer.take(slot.lpn, slot.covered, slot.bytes, || slot.held) {
                self.pend_buffered(number);
            }
        }
    }

    /// Puts the drive away without time: what the buffer holds is programmed, a row under way counts as
    /// programmed, and collection stays where it is, as it is under load.
    pub fn put_away(&mut self) {
        self.flush_now();
        // A drive that rests has its backlog, and nothing else.
        if !self.is_away() {
            self.stop_here();
        }
    }

    /// Nothing is under way, and nothing waits in the buffer.
    #[inline(always)]
    pub(super) fn is_away(&self) -> bool {
        self.rests && self.pending.is_empty()
    }

    /// As [`Ssd::put_away`], of a drive that does not rest.
    pub(super) fn stop_here(&mut self) {
        debug_assert_eq!(self.commands.outstanding(), 0, "the host waits for nothing");
        self.catch_up_all();
        self.rests = true;
        self.ftl.backlog.clear();
        self.end_operations();
        for slot in self.take_buffered_units() {
            self.ftl.backlog.keep(slot.lpn, slot.bytes);
            self.put_row_now(&[(slot.lpn, slot.held)]);
        }
        self.restart();
    }

    /// Takes what only the buffer holds out of it, in the order in which it would be programmed. What else
    /// waits is dropped: its commands are.
    fn take_buffered_units(&mut self) -> Vec<Slot<C::Held>> {
        let mut buffered = Vec::new();
        for Unit { lpn, owner, held, .. } in self.pending.drain() {
            match owner {
                Owner::Slot(slot) if self.ftl.place(lpn) == Place::Buffer(slot) => {
                    self.ftl.mapping.unbuffer(lpn, slot);
                    buffered.push(self.buffer.slots[slot as usize]);
                }
                _ => self.ftl.flash.contents.release(held),
            }
        }
        buffered
    }

    /// Rows and erases under way count as done.
    fn end_operations(&mut self) {
        for die in (0..self.dies.count()).map(|die| DieId(die as u16)) {
            self.ftl.program_ended(die);
            self.ftl.erase_ended(die);
        }
    }

    /// Nothing is under way; a row that was counts as programmed, and jobs go on with the next write.
    fn restart(&mut self) {
        self.dies.clear();
        self.buffer.clear();
        self.commands.clear();
        self.arrivals = Default::default();
        self.forget_changes();
        (self.idle_work, self.rests) = (false, true);
        if let Some(cache) = &mut self.ftl.map_cache {
            cache.loads.clear();
        }
    }
}
