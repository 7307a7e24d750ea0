//! Where a sector lies, and when it passes under its head.
//!
//! Sectors are numbered along a track, then over the heads of a cylinder, then inwards. Zones have
//! equally many cylinders and a number of sectors per track of their own. Each track begins where the
//! head arrives after a switch from the track before (skew), so that one function says all:
//!
//! ```text
//! P(sector) = track·R + switches before it + ⌊index·R / sectors per track⌋     R: a revolution
//! angle of a sector = P mod R          time to stream from a to b = P(b) − P(a)
//! sectors per track = rate of the zone · (R + mean switch) / bytes of a sector
//! ```
//!
//! A revolution is a whole number of nanoseconds (7200 a minute: 8 333 333), so that no angle is ever
//! rounded. Left out: spare sectors and remapped ones, and the drive's own order of heads.

use crate::config::hdd::HddConfig;
use crate::parameter::Milliseconds;
use crate::units::Nanos;

/// Where a sector lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Cylinder, from the outermost.
    pub cylinder: u64,
    /// Head.
    pub head: u64,
    /// Number along the track.
    pub index: u64,
    /// Sectors of that track.
    pub per_track: u64,
}

#[derive(Clone, Debug)]
struct Zone {
    first_sector: u64,
    first_cylinder: u64,
    per_track: u64,
}

/// The layout of a disk.
#[derive(Clone, Debug)]
pub struct Geometry {
    zones: Vec<Zone>,
    /// Cylinders in use.
    pub cylinders: u64,
    /// Heads.
    pub heads: u64,
    /// A revolution.
    pub revolution: Nanos,
    /// From one head of a cylinder to the next, ready to write.
    head_skew: Nanos,
    /// From the last head of a cylinder to the first of the next, ready to write.
    cylinder_skew: Nanos,
}

/// Time of a change of head.
pub fn head_switch(config: &HddConfig) -> Nanos {
    config.hdd.head_switch_ms.as_ref().map_or(config.hdd.track_to_track_ms.0, |Milliseconds(time)| *time)
}

impl Geometry {
    /// Lays the capacity out.
    pub fn new(config: &HddConfig) -> Geometry {
        let heads = u64::from(config.hdd.heads);
        let settle = config.hdd.write_settle_ms.0;
        let mut geometry = Geometry {
            zones: Vec::new(),
            cylinders: 0,
            heads,
            revolution: Nanos((60e9 / f64::from(config.hdd.rpm)).round() as u64),
            head_skew: head_switch(config) + settle,
            cylinder_skew: config.hdd.track_to_track_ms.0 + settle,
        };
        let per_track: Vec<u64> = (0..config.hdd.zones).map(|zone| geometry.sectors_per_track(config, zone)).collect();
        let sectors = config.export.capacity_bytes.0 / u64::from(config.export.sector_bytes);
        let round = heads * per_track.iter().sum::<u64>();
        let in_zone = sectors.div_ceil(round);
        let (mut first_sector, mut first_cylinder) = (0, 0);
        for per_track in per_track {
            geometry.zones.push(Zone { first_sector, first_cylinder, per_track });
            first_sector += in_zone * heads * per_track;
            first_cylinder += in_zone;
        }
        geometry.cylinders = geometry.place(sectors - 1).cylinder + 1;
        geometry
    }

    fn sectors_per_track(&self, config: &HddConfig, zone: u32) -> u64 {
        let (outer, inner) = (config.hdd.outer_mb_per_s, config.hdd.inner_mb_per_s);
        let inward = f64::from(zone) / f64::from((config.hdd.zones - 1).max(1));
        let rate = outer + (inner - outer) * inward;
        let track_s = (self.period().0 as f64 / self.heads as f64) / 1e9;
        let physical = u64::from(config.hdd.physical_sector_bytes);
        let fit = (rate * 1e6 * track_s / physical as f64).round() as u64;
        fit.max(1) * (physical / u64::from(config.export.sector_bytes))
    }

    /// Time to stream over a cylinder, up to the first sector of the next.
    fn period(&self) -> Nanos {
        Nanos(self.heads * self.revolution.0 + (self.heads - 1) * self.head_skew.0 + self.cylinder_skew.0)
    }

    /// Where a sector lies.
    pub fn place(&self, sector: u64) -> Place {
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_sector <= sector) - 1];
        let offset = sector - zone.first_sector;
        let track = offset / zone.per_track;
        Place {
            cylinder: zone.first_cylinder + track / self.heads,
            head: track % self.heads,
            index: offset % zone.per_track,
            per_track: zone.per_track,
        }
    }

    fn track_begin(&self, place: Place) -> u64 {
        place.cylinder * self.period().0 + place.head * (self.revolution + self.head_skew).0
    }

    /// P of a sector: when it passes by while the disk is streamed from its beginning.
    pub fn begin(&self, sector: u64) -> Nanos {
        let place = self.place(sector);
        Nanos(self.track_begin(place) + place.index * self.revolution.0 / place.per_track)
    }

    /// When it has passed by.
    pub fn end(&self, sector: u64) -> Nanos {
        let place = self.place(sector);
        Nanos(self.track_begin(place) + (place.index + 1) * self.revolution.0 / place.per_track)
    }

    /// Time to stream over sectors `first..end`.
    pub fn transfer(&self, first: u64, end: u64) -> Nanos {
        self.end(end - 1) - self.begin(first)
    }

    /// The first sector that has not wholly passed by at a time of the stream.
    pub fn passed(&self, time: Nanos) -> u64 {
        let cylinder = time.0 / self.period().0;
        let in_cylinder = time.0 % self.period().0;
        let track_time = (self.revolution + self.head_skew).0;
        let head = (in_cylinder / track_time).min(self.heads - 1);
        let in_track = (in_cylinder - head * track_time).min(self.revolution.0);
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_cylinder <= cylinder) - 1];
        let track = (cylinder - zone.first_cylinder) * self.heads + head;
        let begin = zone.first_sector + track * zone.per_track;
        // ⌊i·R/n⌋ ≤ t for the greatest i is ⌊((t + 1)·n − 1) / R⌋.
        begin + (((in_track + 1) * zone.per_track - 1) / self.revolution.0).min(zone.per_track)
    }

    /// The first sector of the track after that of a sector.
    pub fn track_end(&self, sector: u64) -> u64 {
        let place = self.place(sector);
        sector - place.index + place.per_track
    }

    /// How long after `now` a sector begins to pass by; the disk stood at `phase` at time 0.
    pub fn rotation_to(&self, sector: u64, now: Nanos, phase: Nanos) -> Nanos {
        let turn = self.revolution.0;
        let angle = (now.0 + phase.0) % turn;
        Nanos((self.begin(sector).0 % turn + turn - angle) % turn)
    }
}

#[cfg(test)]
mod test {
    use super::super::test::config;
    use super::*;
    use proptest::prelude::*;

    fn geometry() -> Geometry {
        Geometry::new(&config(&[("hdd.outer_mb_per_s", "120"), ("hdd.inner_mb_per_s", "60"), ("hdd.zones", "5")]))
    }

    /// A sector begins when the one before it has ended, or a switch later on the next track; streaming
    /// the outermost and the innermost zone gives their rates.
    #[test]
    fn streams_at_the_rates_of_its_zones() {
        let geometry = geometry();
        let last = 1_024_000_000 / 512 - 1;
        for (first, rate) in [(0, 120.0), (last - 60_000, 60.0)] {
            let sectors = 60_000;
            let measured =
                f64::from(sectors) * 512e3 / geometry.transfer(first, first + u64::from(sectors as u32)).0 as f64;
            assert!((measured / rate - 1.0).abs() < 0.005, "{measured} {rate}");
        }
    }

    proptest! {
        /// Sectors pass by in their order, and what has passed at a sector's end is all up to it.
        #[test]
        fn passes_in_order(sector in 0u64..1_900_000) {
            let geometry = geometry();
            let (begin, end, next) = (geometry.begin(sector), geometry.end(sector), geometry.begin(sector + 1));
            prop_assert!(begin < end && end <= next);
            prop_assert_eq!(geometry.passed(end), sector + 1);
            prop_assert_eq!(geometry.passed(Nanos(end.0 - 1)), sector);
            let (now, later) = (geometry.place(sector), geometry.place(sector + 1));
            let switch = if now.cylinder != later.cylinder { 1_000_000 } else if now.head != later.head { 500_000 } else { 0 };
            prop_assert_eq!((next - end).0, switch);
        }
    }
}
