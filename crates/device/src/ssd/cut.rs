//! The end of what is under way: a drive that has become read-only, a power cut, a drive that is put away.

use crate::block::{Completion, Status};
use crate::ftl::mapping::Place;
use crate::ftl::spare::Shortage;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::pending::{Owner, Unit};

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
            self.complete(number, Status::WriteProtected, done);
        }
    }

    /// The power is gone: commands are dropped, and what was only in a volatile buffer is lost.
    pub(super) fn lose_power(&mut self) {
        let busy = self.commands.outstanding() > 0 || self.buffer.used() > 0;
        self.ftl.counters.unsafe_shutdowns += u64::from(busy);
        self.rests = true;
        self.empty_buffer(!self.shape.limits.volatile_cache);
        self.ftl.backlog.clear();
        self.rest();
        self.restart();
    }

    /// Puts the drive away without time: what the buffer holds is programmed, a row under way counts as
    /// programmed, and collection stays where it is, as it is under load.
    pub fn put_away(&mut self) {
        self.flush_now();
        // A drive that rests has its backlog, and nothing else.
        if !self.rests {
            self.stop_here();
        }
    }

    /// As [`Ssd::put_away`], of a drive that does not rest.
    pub(super) fn stop_here(&mut self) {
        debug_assert_eq!(self.commands.outstanding(), 0, "the host waits for nothing");
        self.rests = true;
        self.ftl.backlog.clear();
        self.empty_buffer(true);
        self.restart();
    }

    /// What the buffer holds is saved to flash without time, or lost.
    fn empty_buffer(&mut self, saved: bool) {
        for unit in self.pending.drain() {
            if let Owner::Slot(slot) = unit.owner
                && self.ftl.place(unit.lpn) == Place::Buffer(slot)
            {
                self.ftl.mapping.unbuffer(unit.lpn, slot);
                if saved {
                    self.save_now(&unit);
                    continue;
                }
                self.ftl.counters.units_lost_at_power_cut += 1;
            }
            self.ftl.flash.contents.release(unit.held);
        }
    }

    /// A unit is programmed without time; at a power cut on the capacitors' charge.
    fn save_now(&mut self, unit: &Unit<C::Held>) {
        self.ftl.backlog.keep(unit.lpn, unit.bytes);
        self.put_row_now(&[(unit.lpn, unit.held)]);
    }

    /// Nothing is under way; a row that was counts as programmed, and jobs go on with the next write.
    fn restart(&mut self) {
        self.dies.clear();
        self.buffer.clear();
        self.commands.clear();
        self.lanes = Default::default();
        self.forget_changes();
        (self.idle_work, self.rests) = (false, true);
        if let Some(cache) = &mut self.ftl.map_cache {
            cache.loads.clear();
        }
    }
}
