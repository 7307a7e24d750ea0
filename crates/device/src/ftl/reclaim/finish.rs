//! The end of a job: its victim is erased, and free again or retired.
//!
//! The erase waits until each row that superseded a unit of the victim has been programmed, since until then the
//! victim holds the newest whole copy of the unit.

use crate::ftl::Ftl;
use crate::ftl::job::Reason;
use crate::ftl::table::NONE;
use crate::nand::contents::Contents;
use crate::units::{DieId, Nanos};

impl<C: Contents> Ftl<C> {
    /// The erase has to wait for a row under way on some die.
    pub fn erase_waits(&self, die: DieId) -> bool {
        self.blocks.superseded.holds(self.die(die).job().victim())
    }

    /// The row, or the move, that a die programs has ended.
    #[inline(always)]
    pub fn program_ended(&mut self, die: DieId) {
        self.flash.contents.program_ends(die);
        self.blocks.superseded.end(die);
    }

    /// The erase of a die has ended.
    #[inline(always)]
    pub fn erase_ended(&mut self, die: DieId) {
        self.flash.contents.erase_ends(die);
    }

    /// Erases the victim and ends the job; returns the array time.
    pub fn finish_job(&mut self, die: DieId) -> Nanos {
        let job = self.die_mut(die).job.take().expect("a job is under way");
        let block = job.victim();
        let group = self.blocks.group_of(block);
        let first = self.geometry.ppn(block, 0).0;
        let used = first..first + self.blocks.slots_in_use(&self.flash.array, &self.geometry, block);
        if self.kind.plain {
            // Of what the job has moved the record stayed: nobody asked for it any more.
            self.mapping.forget(used);
        } else {
            debug_assert!(self.mapping.owners(used).all(|lpn| lpn == NONE), "what was moved left no record");
        }
        self.blocks.packing.note(block, 0);
        let was_slc = self.flash.array.is_slc(block);
        let failing = job.reason == Reason::Retiring;
        let (time, is_good) = self.flash.erase(die, &self.geometry, block, failing, &mut self.counters);
        if !is_good {
            let takes_reserve = self.kind.single_frontier && self.spare.reserve() > 0;
            self.die_mut(die).short = takes_reserve;
            self.check_spare();
        }
        if self.blocks.end_lane(group) {
            if was_slc {
                self.slc.release(self.blocks.groups.pool(group));
            }
            self.blocks.release_if_good(&self.flash.array, group);
        }
        time
    }
}
