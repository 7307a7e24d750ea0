//! Trim: unmaps whole, aligned granules.

use crate::block::{Completion, Request, Status};
use crate::ftl::mapping::Place;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::pending::Owner;
use crate::units::Lpn;

impl<C: Contents> Ssd<C> {
    /// A trim has had its controller time: a read-only drive refuses it, since it could not keep it.
    pub(super) fn begin_trim(&mut self, number: u32, request: &Request, done: &mut Vec<Completion>) {
        if self.ftl.is_read_only() {
            return self.complete(number, Status::WriteProtected, done);
        }
        self.trim(request);
        self.complete(number, Status::Success, done);
    }

    /// Unmaps the whole granules that a request covers, where the drive has TRIM.
    fn trim(&mut self, request: &Request) {
        if !self.shape.config.ftl.trim {
            return;
        }
        for lpn in self.shape.trimmed_units(request) {
            self.trim_unit(Lpn(lpn as u32));
        }
    }

    pub(super) fn trim_unit(&mut self, lpn: Lpn) {
        self.meet_unit(lpn);
        if let Place::Buffer(slot) = self.ftl.place(lpn) {
            // A unit leaves the buffer without being programmed.
            self.ftl.mapping.unbuffer(lpn, slot);
            if C::KEEPS && self.ftl.place(lpn) == Place::Unmapped {
                // The FTL tells of units that lie in flash.
                self.ftl.flash.contents.trim(lpn);
            }
            let (contents, buffer) = (&mut self.ftl.flash.contents, &mut self.buffer);
            self.pending.forget(lpn, |unit| {
                contents.release(unit.held);
                if let Owner::Slot(slot) = unit.owner {
                    buffer.give_back(slot);
                }
            });
        }
        if self.ftl.trim(lpn) {
            self.ftl.counters.host_bytes_trimmed += u64::from(self.shape.unit_bytes);
            self.ftl.touch_map(lpn, true);
            self.drain_map_work(None);
        }
    }
}
