//! The end of a job: its victim is erased, and free again or retired.

use crate::ftl::Ftl;
use crate::ftl::job::Reason;
use crate::nand::contents::Contents;
use crate::units::{DieId, Nanos};

impl<C: Contents> Ftl<C> {
    /// Erases the victim and ends the job; returns the array time.
    pub fn finish_job(&mut self, die: DieId) -> Nanos {
        let job = self.die_mut(die).job.take().expect("a job is under way");
        let block = job.victim();
        let group = self.blocks.group_of(block);
        let first = self.geometry.ppn(block, 0).0;
        // Of what the job has moved the record stayed: nobody asked for it any more.
        let used = self.blocks.slots_in_use(&self.flash.array, &self.geometry, block);
        self.mapping.forget(first..first + used);
        self.blocks.packing.note(block, 0);
        let was_slc = self.flash.array.is_slc(block);
        let failing = job.reason == Reason::Retiring;
        let (time, is_good) = self.flash.erase(&self.geometry, block, failing, &mut self.counters);
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
