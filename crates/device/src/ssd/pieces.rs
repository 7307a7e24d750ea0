//! Requests cut into mapping units.
//!
//! A unit has nearly always a power of two of sectors; then an address is taken apart by shifting, and
//! a request costs no division.

use crate::block::{Request, Tag};
use crate::nand::contents::Part;
use crate::units::Lpn;

/// The part of a unit that a request covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The unit.
    pub lpn: Lpn,
    /// First and end sector inside the unit.
    pub covered: (u32, u32),
    /// The part's first sector, counted from the request's first.
    pub at: u32,
}

impl Piece {
    /// The piece as a part of that command.
    #[inline(always)]
    pub fn part(&self, tag: Tag, zeroes: bool) -> Part {
        Part { tag, lpn: self.lpn, at: self.at, sectors: self.covered, zeroes }
    }
}

/// How many sectors a mapping unit has.
#[derive(Clone, Copy, Debug)]
pub struct UnitSize {
    sectors: u32,
    shift: Option<u32>,
}

impl UnitSize {
    /// A unit of so many sectors.
    pub fn new(sectors: u32) -> UnitSize {
        UnitSize { sectors, shift: sectors.is_power_of_two().then(|| sectors.trailing_zeros()) }
    }

    /// Sectors of a unit.
    #[inline]
    pub fn sectors(self) -> u32 {
        self.sectors
    }

    /// The unit of a sector, and its place in it.
    #[inline]
    pub fn split(self, sector: u64) -> (u64, u32) {
        match self.shift {
            Some(shift) => (sector >> shift, sector as u32 & (self.sectors - 1)),
            None => (sector / u64::from(self.sectors), (sector % u64::from(self.sectors)) as u32),
        }
    }

    /// The unit that a request covers, if it covers one alone and all of it.
    #[inline]
    pub fn whole_unit(self, request: &Request) -> Option<Lpn> {
        if request.sectors != self.sectors {
            return None;
        }
        let (unit, offset) = self.split(request.lba.0);
        (offset == 0).then_some(Lpn(unit as u32))
    }

    /// The units that a request touches, in order.
    #[inline]
    pub fn pieces(self, request: &Request) -> Pieces {
        let (unit, offset) = self.split(request.lba.0);
        Pieces { unit: unit as u32, offset, at: 0, left: request.sectors, size: self.sectors }
    }
}

/// Units of a request that are still to come.
#[derive(Clone, Debug)]
pub struct Pieces {
    unit: u32,
    offset: u32,
    at: u32,
    left: u32,
    size: u32,
}

impl Iterator for Pieces {
    type Item = Piece;

    #[inline]
    fn next(&mut self) -> Option<Piece> {
        if self.left == 0 {
            return None;
        }
        let end = self.size.min(self.offset.saturating_add(self.left));
        let piece = Piece { lpn: Lpn(self.unit), covered: (self.offset, end), at: self.at };
        self.left -= end - self.offset;
        self.at += end - self.offset;
        self.unit = self.unit.wrapping_add(1);
        self.offset = 0;
        Some(piece)
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::block::Operation;
    use crate::units::Lba;
    use proptest::prelude::*;

    proptest! {
        /// The pieces of a request cover its sectors once and in order, whatever the unit's size.
        #[test]
        fn pieces_cover_the_request(lba in 0u64..5000, sectors in 0u32..200, size in prop_oneof![Just(8u32), Just(32), 1u32..50]) {
            let request = Request::new(Operation::Write, Lba(lba), sectors);
            let pieces = UnitSize::new(size).pieces(&request);
            let covered: Vec<u64> = pieces
                .flat_map(|piece| (piece.covered.0..piece.covered.1).map(move |sector| u64::from(piece.lpn.0 * size + sector)))
                .collect();
            prop_assert_eq!(covered, (lba..lba + u64::from(sectors)).collect::<Vec<_>>());
        }
    }
}
