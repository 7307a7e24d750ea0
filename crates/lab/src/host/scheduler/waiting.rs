//! Requests that wait: by age, by sector, and by where they end, so that a new one finds what it
//! touches.

use ssdlab_device::block::{Operation, Request, Tag};
use ssdlab_device::units::{Lba, Nanos};
use std::collections::{BTreeMap, BTreeSet};

/// A request that waits or is in the device, and the requests of the host that are part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// What will be asked.
    pub request: Request,
    /// When the first of its parts arrived.
    pub arrived: Nanos,
    /// Whose it is.
    pub tags: Vec<Tag>,
}

impl Piece {
    fn start(&self) -> u64 {
        self.request.lba.0
    }

    fn end(&self) -> u64 {
        self.request.lba.0 + u64::from(self.request.sectors)
    }
}

/// Reads, or all that changes something.
#[derive(Default)]
pub struct Side {
    /// By age: numbers are given in order of arrival.
    pieces: BTreeMap<u64, Piece>,
    by_start: BTreeSet<(u64, u64)>,
    by_end: BTreeSet<(u64, u64)>,
}

impl Side {
    /// The oldest piece, with its number.
    pub fn oldest(&self) -> Option<(u64, &Piece)> {
        self.pieces.first_key_value().map(|(&number, piece)| (number, piece))
    }

    /// The first piece that begins at a sector or after it.
    pub fn at_or_after(&self, sector: u64) -> Option<(u64, &Piece)> {
        self.by_start.range((sector, 0)..).next().map(|&(_, number)| (number, &self.pieces[&number]))
    }

    /// The last piece that begins before a sector.
    pub fn before(&self, sector: u64) -> Option<(u64, &Piece)> {
        self.by_start.range(..(sector, 0)).next_back().map(|&(_, number)| (number, &self.pieces[&number]))
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Takes a piece out.
    pub fn take(&mut self, number: u64) -> Piece {
        let piece = self.pieces.remove(&number).expect("it waits");
        self.by_start.remove(&(piece.start(), number));
        self.by_end.remove(&(piece.end(), number));
        piece
    }

    fn put(&mut self, number: u64, piece: Piece) {
        self.by_start.insert((piece.start(), number));
        self.by_end.insert((piece.end(), number));
        self.pieces.insert(number, piece);
    }

    /// A piece that ends where this one begins, or begins where it ends (`front`), and may grow.
    fn neighbour(&self, piece: &Piece, front: bool, most: u32, since: Nanos) -> Option<u64> {
        let (set, sector) = if front { (&self.by_start, piece.end()) } else { (&self.by_end, piece.start()) };
        let fits = |number: &u64| {
            let other = &self.pieces[number];
            let sectors = u64::from(other.request.sectors) + u64::from(piece.request.sectors);
            other.arrived >= since && alike(&other.request, &piece.request) && sectors <= u64::from(most)
        };
        set.range((sector, 0)..=(sector, u64::MAX)).map(|&(_, number)| number).find(fits)
    }
}

/// Of one kind, so that they can be asked as one.
fn alike(a: &Request, b: &Request) -> bool {
    (a.operation, a.fua, a.compress_percent) == (b.operation, b.fua, b.compress_percent)
}

/// All that waits.
#[derive(Default)]
pub struct Waiting {
    /// Reads, and all that changes something.
    pub sides: [Side; 2],
    /// Requests merged at the back and at the front of others.
    pub merged: [u64; 2],
    next: u64,
}

/// The side of an operation.
pub fn side(operation: Operation) -> usize {
    usize::from(operation != Operation::Read)
}

impl Waiting {
    /// Puts a piece behind all that waits.
    pub fn push(&mut self, piece: Piece) {
        self.sides[side(piece.request.operation)].put(self.next, piece);
        self.next += 1;
    }

    /// Makes a piece part of one that it touches and that has arrived since a time; gives it back
    /// where there is none.
    pub fn merge(&mut self, piece: Piece, most: u32, since: Nanos) -> Option<Piece> {
        let side = &mut self.sides[side(piece.request.operation)];
        for front in [false, true] {
            let Some(number) = side.neighbour(&piece, front, most, since) else { continue };
            let mut grown = side.take(number);
            grown.request.lba = Lba(grown.start().min(piece.start()));
            grown.request.sectors += piece.request.sectors;
            grown.tags.extend(piece.tags);
            side.put(number, grown);
            self.merged[usize::from(front)] += 1;
            return None;
        }
        Some(piece)
    }
}
