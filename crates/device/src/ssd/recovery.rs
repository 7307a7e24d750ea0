//! After a loss of power the map is brought in line with what is known to be written and to be trimmed.
//!
//! What is known is the contents' affair. Here a unit is mapped or it is not: one that should be is written without time,
//! in the order given, one that should not be is unmapped. None of it counts as the host's, nor as the drive's: counters
//! stay as they were. Left out: the time that a drive takes for it.

use crate::ftl::mapping::Place;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::units::Lpn;

impl<C: Contents> Ssd<C> {
    /// Maps and unmaps units, each named once. A read-only drive stays as it is.
    pub fn recover(&mut self, units: impl IntoIterator<Item = (Lpn, bool)>) {
        let counters = self.ftl.counters;
        for (lpn, should_be_mapped) in units {
            let is_mapped = self.ftl.place(lpn) != Place::Unmapped;
            if self.ftl.is_read_only() {
                break;
            }
            if should_be_mapped && !is_mapped {
                self.write_now(lpn, 0);
            } else if is_mapped && !should_be_mapped {
                self.ftl.trim(lpn);
            }
        }
        self.flush_now();
        self.ftl.backlog.clear();
        self.ftl.counters = counters;
        self.forget_changes();
    }
}
