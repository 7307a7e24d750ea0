//! Writes and trims without time: what seasoning does, at the speed of the FTL.

use super::Ssd;
use crate::ftl::Ftl;
use crate::ftl::frontier::{Purpose, Readiness};
use crate::nand::array::Payload;
use crate::nand::geometry::Geometry;
use crate::units::{DieId, Lpn};

/// The row that seasoning gathers.
pub(super) struct RowNow {
    units: Vec<Lpn>,
    bytes_left: u32,
    most: usize,
}

impl RowNow {
    pub(super) fn new(geometry: &Geometry) -> RowNow {
        let most = (geometry.units_per_row * geometry.packing) as usize;
        RowNow { units: Vec::with_capacity(most), bytes_left: geometry.row_bytes.max(geometry.unit_bytes), most }
    }
}

impl<P: Payload> Ssd<P> {
    /// Writes a unit without time: what seasoning does, at the speed of the FTL. Units gather until
    /// a row is full; the row goes to the next die that can take one. False once the drive is read-only.
    #[inline]
    pub fn write_now(&mut self, lpn: Lpn, compress_percent: u8) -> bool {
        let bytes = self.flash_bytes(compress_percent);
        if bytes > self.row_now.bytes_left || self.row_now.units.len() == self.row_now.most {
            self.flush_now();
        }
        self.row_now.units.push(lpn);
        self.row_now.bytes_left -= bytes;
        if self.row_now.bytes_left == 0 {
            self.flush_now();
        }
        !self.ftl.read_only
    }

    /// Programs what [`Ssd::write_now`] has gathered.
    pub fn flush_now(&mut self) {
        let units = std::mem::take(&mut self.row_now.units);
        let mut rest = units.as_slice();
        while !rest.is_empty() && !self.ftl.read_only {
            let written = self.write_row_now(rest);
            rest = &rest[written..];
        }
        self.row_now = RowNow::new(&self.ftl.geometry);
        self.row_now.units = units;
        self.row_now.units.clear();
    }

    /// Counts a write command of which the units were written without time.
    pub fn count_command_now(&mut self) {
        self.ftl.counters.host_writes += 1;
    }

    /// Unmaps a unit without time, where the drive has TRIM.
    pub fn trim_now(&mut self, lpn: Lpn) {
        if !self.config.ftl.trim {
            return;
        }
        // A gathered write of the same unit comes before its trim; others need not be programmed for it.
        if self.row_now.units.contains(&lpn) {
            self.flush_now();
        }
        self.ftl.trim(lpn);
    }

    /// Asks for the cache line of a coming [`Ssd::write_now`].
    #[inline]
    pub fn hint_now(&self, lpn: Lpn) {
        self.ftl.prefetch_map(lpn);
    }

    /// The second half of the hint, when the map's line has arrived.
    #[inline]
    pub fn hint_old_now(&self, lpn: Lpn) {
        self.ftl.prefetch_old(lpn);
    }

    /// Writes units to the next die that can take them, a row at most; returns how many.
    fn write_row_now(&mut self, units: &[Lpn]) -> usize {
        let dies = self.ftl.geometry.dies;
        for _ in 0..dies {
            self.rotor = if self.rotor + 1 == dies { 0 } else { self.rotor + 1 };
            let die = DieId(self.rotor as u16);
            if self.ftl.has_job(die) {
                self.finish_jobs_now();
            }
            if let Some(purpose) = self.ftl.make_ready_now(die) {
                let count = units.len().min(self.ftl.row_slots_left(die, purpose) as usize);
                self.ftl.counters.host_pages_written += count as u64;
                self.ftl.counters.host_bytes_written += count as u64 * u64::from(self.ftl.geometry.unit_bytes);
                self.ftl.write_row_now(die, purpose, &units[..count]);
                self.write_map_now();
                return count;
            }
        }
        self.ftl.read_only = true;
        0
    }

    /// Writes the translation pages that left the mapping cache.
    fn write_map_now(&mut self) {
        let Some(cache) = &mut self.ftl.map_cache else { return };
        cache.loads.clear();
        for lpn in std::mem::take(&mut cache.evictions) {
            let die = DieId(self.rotor as u16);
            if let Some(purpose) = self.ftl.make_ready_now(die) {
                self.ftl.write_row_now(die, purpose, &[lpn]);
            }
        }
    }
}

impl<P: Payload> Ftl<P> {
    /// Makes a die ready for a row without time; `None` where it cannot take any more.
    ///
    /// Where collection is spread between host writes it starts at the low watermark, as in timed
    /// running, and not only when the last free block is needed.
    pub(super) fn make_ready_now(&mut self, die: DieId) -> Option<Purpose> {
        while self.is_smooth() && self.wants_collection(die) && self.collect_now(die) {}
        while self.readiness(die) == Readiness::Collect && self.collect_now(die) {}
        match self.readiness(die) {
            Readiness::Write(purpose) => Some(purpose),
            Readiness::Collect | Readiness::Wait => None,
        }
    }

    /// Puts and programs a row without time.
    pub(super) fn write_row_now(&mut self, die: DieId, purpose: Purpose, units: &[Lpn]) {
        for &lpn in units {
            let stamp = self.payload.stamp(lpn);
            self.touch_map(lpn, true);
            self.put(die, purpose, lpn, stamp);
        }
        self.end_row(die, purpose);
    }
}
