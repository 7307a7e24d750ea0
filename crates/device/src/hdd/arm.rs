//! The arm over the turning disk: how long it takes to reach a sector, and what passes under it.
//!
//! ```text
//! positioning = seek or switch + rotation until the sector begins
//! ```
//! A write of a part of a physical sector reads that sector first and comes back to it: one revolution
//! more, two where the write is longer than a revolution and both its ends are cut (512e). Left out:
//! reading from the middle of a wanted track on arrival.

use super::geometry::{Geometry, Place, head_switch};
use super::seek::SeekCurve;
use crate::config::hdd::HddConfig;
use crate::units::Nanos;
use std::ops::Range;

/// Where the arm is, and what it knows of the disk.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The layout under it.
    pub geometry: Geometry,
    curve: SeekCurve,
    head_switch: Nanos,
    write_settle: Nanos,
    /// How far the disk had turned at time 0.
    phase: Nanos,
    at: Place,
    /// Sectors that are written at once.
    physical: u64,
}

/// How long an access takes, part by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Seek or switch of head.
    pub seek: Nanos,
    /// Waiting for the sector.
    pub rotation: Nanos,
    /// Revolutions for physical sectors that are written in part.
    pub rewrite: Nanos,
    /// Physical sectors that are written in part.
    pub cut_sectors: u64,
    /// The data passing by.
    pub transfer: Nanos,
}

impl Access {
    /// From the beginning until the data begin to pass.
    pub fn positioning(&self) -> Nanos {
        self.seek + self.rotation
    }

    /// All of it.
    pub fn total(&self) -> Nanos {
        self.positioning() + self.rewrite + self.transfer
    }
}

impl Arm {
    /// An arm over the outermost cylinder of a disk that stands at `phase`.
    pub fn new(config: &HddConfig, phase: impl FnOnce(Nanos) -> Nanos) -> Arm {
        let geometry = Geometry::new(config);
        let hdd = &config.hdd;
        let full = hdd.full_stroke_ms.as_ref().map(|full| full.0);
        Arm {
            curve: SeekCurve::new(geometry.cylinders, hdd.track_to_track_ms.0, hdd.average_seek_ms.0, full),
            head_switch: head_switch(config),
            write_settle: hdd.write_settle_ms.0,
            phase: phase(geometry.revolution),
            at: geometry.place(0),
            physical: u64::from(hdd.physical_sector_bytes / config.export.sector_bytes),
            geometry,
        }
    }

    /// The arm follows the track of a sector.
    pub fn stay_at(&mut self, sector: u64) {
        self.at = self.geometry.place(sector);
    }

    /// Seek and rotation to a sector.
    pub fn positioning(&self, sector: u64, writes: bool, now: Nanos) -> (Nanos, Nanos) {
        let to = self.geometry.place(sector);
        let settle = if writes { self.write_settle } else { Nanos::ZERO };
        let seek = match to.cylinder.abs_diff(self.at.cylinder) {
            0 if to.head == self.at.head => Nanos::ZERO,
            0 => self.head_switch + settle,
            distance => self.curve.time(distance) + settle,
        };
        (seek, self.geometry.rotation_to(sector, now + seek, self.phase))
    }

    /// What reading or writing sectors takes from now on.
    pub fn access(&self, sectors: &Range<u64>, writes: bool, now: Nanos) -> Access {
        let transfer = self.geometry.transfer(sectors.start, sectors.end);
        let cut_sectors = if writes { self.cut_sectors(sectors) } else { 0 };
        let first = if cut_sectors > 0 { sectors.start / self.physical * self.physical } else { sectors.start };
        let (seek, rotation) = self.positioning(first, writes, now);
        let turns = if transfer <= self.geometry.revolution { cut_sectors.min(1) } else { cut_sectors };
        let rewrite = Nanos(turns * self.geometry.revolution.0);
        Access { seek, rotation, rewrite, cut_sectors, transfer }
    }

    /// Physical sectors of which a write covers only a part.
    fn cut_sectors(&self, sectors: &Range<u64>) -> u64 {
        let begins_inside = !sectors.start.is_multiple_of(self.physical);
        let ends_inside = !sectors.end.is_multiple_of(self.physical);
        let same = sectors.start / self.physical == (sectors.end - 1) / self.physical;
        u64::from(begins_inside) + u64::from(ends_inside && !(begins_inside && same))
    }
}

#[cfg(test)]
mod test {
    use super::super::test::config;
    use super::*;

    /// Cut ends of a write, by hand: none, the beginning, the end, both, both inside one sector.
    #[test]
    fn cut_sectors_are_counted_once() {
        let arm = Arm::new(&config(&[("hdd.physical_sector_bytes", "4096")]), |_| Nanos::ZERO);
        let cut = |sectors| arm.cut_sectors(&sectors);
        assert_eq!([cut(8..24), cut(9..24), cut(8..23), cut(9..23), cut(9..15)], [0, 1, 1, 2, 1]);
        let extra = |sectors| arm.access(&sectors, true, Nanos::ZERO).rewrite.0 / arm.geometry.revolution.0;
        assert_eq!([extra(8..16), extra(9..17), extra(1..80_001)], [0, 1, 2]);
        assert_eq!(arm.access(&(9..17), false, Nanos::ZERO).rewrite, Nanos::ZERO);
    }
}
