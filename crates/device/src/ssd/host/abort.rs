//! The end of what is under way: a drive that has become read-only, and a power cut.

use super::{Owner, Unit};
use crate::block::{Completion, Status};
use crate::ftl::{mapping::Place, spare::Shortage};
use crate::nand::contents::Contents;
use crate::ssd::Ssd;

impl<C: Contents> Ssd<C> {
    /// Nothing is under way, and yet units are pending for which a command waits.
    pub(in crate::ssd) fn is_stuck(&self) -> bool {
        self.front.outstanding > 0 && !self.pending.is_empty()
    }

    /// No die can take what is pending: the drive is read-only. Commands that wait for it end with an
    /// error; what the buffer has acknowledged stays in it and can be read.
    #[cold]
    pub(in crate::ssd) fn give_up(&mut self, done: &mut Vec<Completion>) {
        self.ftl.spare.run_out(Shortage::FreeBlocks);
        self.pending.retain(|unit| !matches!(unit.owner, Owner::Command(_) | Owner::Journal));
        self.forget_changes();
        self.front.stalled.clear();
        self.front.flushes.clear();
        self.front.held.clear();
        let mut waits = vec![true; self.front.commands.len()];
        self.front.free.iter().for_each(|&index| waits[index as usize] = false);
        for index in (0..waits.len()).filter(|&index| waits[index]) {
            self.complete(index as u32, Status::WriteProtected, done);
        }
    }

    /// The power is gone: commands are dropped, and what was only in a volatile buffer is lost.
    pub(in crate::ssd) fn lose_power(&mut self) {
        self.ftl.counters.unsafe_shutdowns += u64::from(self.front.outstanding > 0 || self.buffer.used() > 0);
        self.rests = true;
        self.empty_buffer(!self.limits.volatile_cache);
        self.ftl.backlog.clear();
        self.rest();
        let now = self.now;
        self.restart(now);
    }

    /// What the buffer holds is saved to flash without time, or lost.
    pub(in crate::ssd) fn empty_buffer(&mut self, saved: bool) {
        let waiting: Vec<Unit<C::Stamp>> = self.pending.drain(..).collect();
        let parked: Vec<Unit<C::Stamp>> =
            self.dies.iter_mut().flat_map(|die| die.parked_units().map(|unit| *unit).collect::<Vec<_>>()).collect();
        for unit in waiting.iter().chain(&parked) {
            if let Owner::Slot(slot) = unit.owner
                && self.ftl.place(unit.lpn) == Place::Buffer(slot)
            {
                self.ftl.mapping.unbuffer(unit.lpn, slot);
                if saved {
                    self.save_now(unit);
                } else {
                    self.ftl.counters.units_lost_at_power_cut += 1;
                }
            }
        }
    }

    /// A unit is programmed without time; at a power cut on the capacitors' charge.
    fn save_now(&mut self, unit: &Unit<C::Stamp>) {
        self.ftl.backlog.keep(unit.lpn, unit.bytes);
        self.put_row_now(&[(unit.lpn, unit.stamp)]);
    }
}
