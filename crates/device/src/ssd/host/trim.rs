//! Trim: unmaps whole, aligned granules.
//!
//! Controller time of a trim: `trim_command_us` + ranges · `trim_range_us` + units · `trim_unit_us`.

use super::Owner;
use crate::block::Request;
use crate::config::drive::Protocol;
use crate::ftl::mapping::Place;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::units::{Lpn, Nanos};

/// Sectors of one range of ATA's DATA SET MANAGEMENT, whose length has 16 bits (ACS-3).
const ATA_RANGE_SECTORS: u32 = 65_535;

impl<C: Contents> Ssd<C> {
    /// Controller time that a trim's size costs.
    pub(in crate::ssd) fn trim_time(&self, sectors: u32) -> Nanos {
        let controller = &self.config.controller;
        let ranges = match self.config.link.protocol {
            Protocol::SataIde | Protocol::SataNcq => sectors.div_ceil(ATA_RANGE_SECTORS),
            Protocol::Nvme => 1,
        };
        let units = sectors / self.unit_size.sectors();
        Nanos(controller.trim_range_us.0.0 * u64::from(ranges) + controller.trim_unit_us.0.0 * u64::from(units))
    }

    /// Unmaps the whole granules that a request covers, where the drive has TRIM.
    pub(super) fn trim(&mut self, request: &Request) {
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

    pub(super) fn trim_unit(&mut self, lpn: Lpn) {
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
        self.ftl.mapping.unbuffer(lpn, slot);
        if let Some(place) = self.pending.iter().position(|unit| unit.owner == Owner::Slot(slot)) {
            self.pending.remove(place);
            self.buffer.give_back(slot);
        } else {
            // Its old contents are being read: it is dropped when they arrive.
            self.dies.iter_mut().for_each(|die| die.drop_parked(Owner::Slot(slot)));
        }
    }
}
