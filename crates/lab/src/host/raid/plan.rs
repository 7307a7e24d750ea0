//! What a request on one stripe reads and writes: pure arithmetic, carried out elsewhere.
//!
//! With parity a stripe is handled in bands: rows of whole pages (or cache lines) over which the same
//! data units are written, wholly or in part. For each band the way with the fewest reads is taken:
//!
//! | way | reads | computes parity from |
//! |---|---|---|
//! | reconstruct | data units that are not wholly written; none where all are | all data |
//! | modify | what will be overwritten, and parity | old and new data, old parity |
//! | recover | all that is left, as much parity as data units are lost | all data, the lost recovered |
//!
//! Of two with as many reads the first in this table is taken, as md does. Reads of lost data recover
//! them. Mirrored data are written to every copy that is left and read from one.

use super::layout::{Layout, Place};
use super::ranges::Ranges;

/// Sectors of one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// Which member.
    pub member: usize,
    /// First sector on it.
    pub lba: u64,
    /// Number of sectors.
    pub sectors: u64,
}

/// How the parity of a band comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// There is none to compute.
    Plain,
    /// From all data, written and read.
    Reconstruct,
    /// From old and new data and old parity.
    Modify,
    /// From all data, after lost units were recovered.
    Recover,
}

/// Rows of a stripe that are handled alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// First sector within the chunks.
    pub from: u64,
    /// Sector after the last.
    pub to: u64,
    /// How parity comes about.
    pub way: Way,
    /// Places read.
    pub reads: Vec<usize>,
    /// Places written.
    pub writes: Vec<usize>,
}

/// What is to be done on one stripe: read, compute, write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Bands in order.
    pub bands: Vec<Band>,
    /// Sectors that go into the computation of parity or of what is lost.
    pub computed_sectors: u64,
}

/// A stripe as it is now: where its places are, and which of them are lost.
#[derive(Clone, Debug)]
pub struct Stripe {
    /// Data units, then parities; or copies.
    pub places: Vec<Place>,
    /// Which places are on members that have failed.
    pub lost: Vec<bool>,
    /// Data units.
    pub data: usize,
    /// Sectors of each place.
    pub sectors: u64,
    has_parity: bool,
    chunk: u64,
}

/// How much of a unit a write covers within a band.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cover {
    Nothing,
    Part,
    Whole,
}

impl Stripe {
    /// A stripe of an array; `lost` tells of each member.
    pub fn new(layout: &Layout, stripe: u64, lost: impl Fn(usize) -> bool) -> Stripe {
        let places = layout.places(stripe);
        Stripe {
            lost: places.iter().map(|place| lost(place.member)).collect(),
            places,
            data: layout.data,
            sectors: layout.unit_sectors(stripe),
            has_parity: layout.has_parity(),
            chunk: layout.chunk,
        }
    }

    /// Rows that a write of `ranges` (sectors of the stripe's data) concerns, in units of `page`.
    pub fn rows(&self, ranges: &Ranges, page: u64) -> (u64, u64) {
        let unit = if self.has_parity { page } else { 1 };
        let mut rows = (self.sectors, 0);
        for (_, from, to) in self.by_unit(ranges) {
            rows = (rows.0.min(from / unit * unit), rows.1.max(to.next_multiple_of(unit)));
        }
        rows
    }

    /// Writes `ranges`, in whole pages where parity must be kept right.
    pub fn write(&self, ranges: &Ranges, page: u64) -> Plan {
        let parity_left = (self.data..self.places.len()).any(|place| !self.lost[place]);
        if !self.has_parity || !parity_left {
            return Plan { bands: self.plain_bands(ranges), computed_sectors: 0 };
        }
        let mut plan = Plan::default();
        let mut cuts: Vec<u64> = Vec::new();
        for (_, from, to) in self.by_unit(ranges) {
            cuts.extend([from, to].iter().flat_map(|at| [at / page * page, at.next_multiple_of(page)]));
        }
        cuts.sort_unstable();
        cuts.dedup();
        for pair in cuts.windows(2) {
            let covers = self.covers(ranges, pair[0], pair[1]);
            if covers.iter().any(|cover| *cover != Cover::Nothing) {
                plan.add(self.write_band(&covers, pair[0], pair[1]), self);
            }
        }
        plan
    }

    /// Reads `from..to` of the stripe's data: plainly where the units are there, else recovering them.
    /// Mirrored data are read from `copy`.
    pub fn read(&self, from: u64, to: u64, page: u64, copy: usize) -> Plan {
        let mut plan = Plan::default();
        for (unit, low, high) in self.by_unit(&Ranges::of(from, to)) {
            if !self.has_parity {
                plan.add(Band { from: low, to: high, way: Way::Plain, reads: vec![copy], writes: Vec::new() }, self);
            } else if self.lost[unit] {
                plan.add(self.recover_band(low / page * page, high.next_multiple_of(page), Vec::new()), self);
            } else {
                plan.add(Band { from: low, to: high, way: Way::Plain, reads: vec![unit], writes: Vec::new() }, self);
            }
        }
        plan
    }

    /// Rebuilds the places that lie on replaced members.
    pub fn rebuild(&self, replaced: &[usize]) -> Plan {
        let mut plan = Plan::default();
        if replaced.is_empty() {
            return plan;
        }
        let band = if self.has_parity {
            self.recover_band(0, self.sectors, replaced.to_vec())
        } else {
            let copy = self.lost.iter().position(|lost| !lost).unwrap_or(0);
            Band { from: 0, to: self.sectors, way: Way::Plain, reads: vec![copy], writes: replaced.to_vec() }
        };
        plan.add(band, self);
        plan
    }

    /// Reads everything to be compared, and mends the rows of `mismatches`.
    pub fn scrub(&self, mismatches: &Ranges) -> Plan {
        let all = || (0..self.places.len()).collect();
        let way = if self.has_parity { Way::Reconstruct } else { Way::Plain };
        let mut plan = Plan::default();
        let mut at = 0;
        for (from, to) in mismatches.iter().chain([(self.sectors, self.sectors)]) {
            plan.add(Band { from: at, to: from, way, reads: all(), writes: Vec::new() }, self);
            plan.add(Band { from, to, way, reads: all(), writes: (self.data..self.places.len()).collect() }, self);
            at = to;
        }
        plan
    }

    /// Trims `ranges`: of a stripe with parity the whole, or nothing.
    pub fn trim(&self, ranges: &Ranges) -> Plan {
        let whole = self.sectors * self.data as u64;
        if !self.has_parity {
            Plan { bands: self.plain_bands(ranges), computed_sectors: 0 }
        } else if ranges.sectors() < whole {
            Plan::default()
        } else {
            let writes = self.left().collect();
            let band = Band { from: 0, to: self.sectors, way: Way::Plain, reads: Vec::new(), writes };
            Plan { bands: vec![band], computed_sectors: 0 }
        }
    }

    /// Member and address of a place's rows.
    fn access(&self, place: usize, from: u64, to: u64) -> Access {
        let Place { member, lba } = self.places[place];
        Access { member, lba: lba + from, sectors: to - from }
    }

    /// Ranges of the stripe's data as unit, and from where to where in it.
    fn by_unit(&self, ranges: &Ranges) -> Vec<(usize, u64, u64)> {
        let chunk = self.chunk;
        let split = |(from, to): (u64, u64)| {
            (from / chunk..to.div_ceil(chunk)).map(move |unit| {
                let start = unit * chunk;
                (unit as usize, from.max(start) - start, to.min(start + chunk) - start)
            })
        };
        ranges.iter().flat_map(split).collect()
    }

    fn left(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.places.len()).filter(|place| !self.lost[*place])
    }

    /// Writes to the unit itself, or to every copy.
    fn plain_bands(&self, ranges: &Ranges) -> Vec<Band> {
        let places = |unit: usize| match self.has_parity {
            true => self.left().filter(|place| *place == unit).collect(),
            false => self.left().collect::<Vec<_>>(),
        };
        let band = |(unit, from, to)| Band { from, to, way: Way::Plain, reads: Vec::new(), writes: places(unit) };
        self.by_unit(ranges).into_iter().map(band).collect()
    }

    fn covers(&self, ranges: &Ranges, from: u64, to: u64) -> Vec<Cover> {
        let cover = |unit: usize| {
            let start = unit as u64 * self.chunk;
            match ranges.sectors_within(start + from, start + to) {
                0 => Cover::Nothing,
                covered if covered == to - from => Cover::Whole,
                _ => Cover::Part,
            }
        };
        (0..self.data).map(cover).collect()
    }

    fn write_band(&self, covers: &[Cover], from: u64, to: u64) -> Band {
        let units = |wanted: &dyn Fn(Cover) -> bool| -> Vec<usize> {
            (0..self.data).filter(|unit| wanted(covers[*unit])).collect()
        };
        let written = units(&|cover| cover != Cover::Nothing);
        let parities: Vec<usize> = self.left().filter(|place| *place >= self.data).collect();
        let not_whole = units(&|cover| cover != Cover::Whole);
        let overwritten = [written.clone(), parities.clone()].concat();
        let writes: Vec<usize> = self.left().filter(|place| overwritten.contains(place)).collect();
        let there = |places: &[usize]| places.iter().all(|place| !self.lost[*place]);
        let recover = self.recover_band(from, to, writes.clone());
        let ways =
            [(Way::Reconstruct, not_whole.clone(), there(&not_whole)), (Way::Modify, overwritten, there(&written))];
        ways.into_iter()
            .filter(|(_, _, possible)| *possible)
            .map(|(way, reads, _)| Band { from, to, way, reads, writes: writes.clone() })
            .chain([recover])
            .min_by_key(|band| band.reads.len())
            .expect("recovering is always possible")
    }

    /// Reads what recovers every lost data unit.
    fn recover_band(&self, from: u64, to: u64, writes: Vec<usize>) -> Band {
        let lost = self.lost[..self.data].iter().filter(|lost| **lost).count();
        let data = self.left().filter(|place| *place < self.data);
        let parities = self.left().filter(|place| *place >= self.data).take(lost);
        Band { from, to, way: Way::Recover, reads: data.chain(parities).collect(), writes }
    }
}

impl Plan {
    fn add(&mut self, band: Band, stripe: &Stripe) {
        if band.from >= band.to {
            return;
        }
        let rows = band.to - band.from;
        self.computed_sectors += rows
            * match band.way {
                Way::Plain => 0,
                Way::Reconstruct | Way::Recover => stripe.data as u64,
                // What is overwritten goes in old and new.
                Way::Modify => (band.reads.len() * 2) as u64,
            };
        self.bands.push(band);
    }

    /// What is read, what touches or overlaps in one piece.
    pub fn reads(&self, stripe: &Stripe) -> Vec<Access> {
        merged(
            self.bands.iter().flat_map(|band| band.reads.iter().map(|place| stripe.access(*place, band.from, band.to))),
        )
    }

    /// What is written.
    pub fn writes(&self, stripe: &Stripe) -> Vec<Access> {
        merged(
            self.bands
                .iter()
                .flat_map(|band| band.writes.iter().map(|place| stripe.access(*place, band.from, band.to))),
        )
    }
}

/// Accesses in order of members and addresses, what touches or overlaps in one piece.
pub fn merged(accesses: impl Iterator<Item = Access>) -> Vec<Access> {
    let mut all: Vec<Access> = accesses.collect();
    all.sort_unstable();
    all.dedup_by(|next, kept| {
        let touches = next.member == kept.member && next.lba <= kept.lba + kept.sectors;
        if touches {
            kept.sectors = kept.sectors.max(next.lba + next.sectors - kept.lba);
        }
        touches
    });
    all
}
