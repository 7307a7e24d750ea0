//! What the host wrote and trimmed since the checkpoint: two bits a mapping unit.
//!
//! With it the map of a checkpoint of any age is brought in line with the image: units marked as written are mapped,
//! those marked as trimmed are not, the others are as they were.

use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::units::Lpn;
use std::ops::Range;

/// What was last done to a unit since the checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    Untouched = 0,
    /// It was written, at least in part.
    Written = 1,
    /// It was trimmed.
    Trimmed = 2,
}

/// The marks of all units, four in a byte, and which bytes of them have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    bits: Vec<u8>,
    units: u32,
    /// Bytes that whoever keeps the marks in a file has not seen yet, neighbours as one.
    changed: Vec<Range<usize>>,
}

impl Since {
    /// So many untouched units.
    pub fn new(units: u32) -> Since {
        Since { bits: vec![0; units.div_ceil(4) as usize], units, changed: Vec::new() }
    }

    /// From the bytes that a file kept; `None` where they are too few or too many, or no marks.
    pub fn from_bytes(units: u32, bits: Vec<u8>) -> Option<Since> {
        let is_mark = |byte: &u8| (0..4).all(|place| byte >> (2 * place) & 3 < 3);
        let fits = bits.len() == units.div_ceil(4) as usize && bits.iter().all(is_mark);
        fits.then_some(Since { bits, units, changed: Vec::new() })
    }

    /// The bytes that a file keeps.
    pub fn bytes(&self) -> &[u8] {
        &self.bits
    }

    /// How many units.
    pub fn units(&self) -> u32 {
        self.units
    }

    /// The mark of a unit.
    pub fn of(&self, unit: u32) -> Mark {
        match self.bits[unit as usize / 4] >> (2 * (unit % 4)) & 3 {
            0 => Mark::Untouched,
            1 => Mark::Written,
            _ => Mark::Trimmed,
        }
    }

    /// Marks units.
    pub fn mark(&mut self, units: Range<u32>, mark: Mark) {
        for unit in units.start..units.end.min(self.units) {
            let (byte, shift) = (unit as usize / 4, 2 * (unit % 4));
            let marked = self.bits[byte] & !(3 << shift) | (mark as u8) << shift;
            if marked != self.bits[byte] {
                self.bits[byte] = marked;
                self.note_change(byte);
            }
        }
    }

    fn note_change(&mut self, byte: usize) {
        match self.changed.last_mut() {
            Some(last) if last.contains(&byte) => {}
            Some(last) if last.end == byte => last.end += 1,
            _ => self.changed.push(byte..byte + 1),
        }
    }

    /// Tells which bytes changed since they were last told, each stretch with what it is now; stops at the first error.
    ///
    /// # Errors
    /// What `tell` says; all counts as told then.
    pub fn tell_changed<E>(&mut self, mut tell: impl FnMut(usize, &[u8]) -> Result<(), E>) -> Result<(), E> {
        let told = self.changed.iter().try_for_each(|range| tell(range.start, &self.bits[range.clone()]));
        self.changed.clear();
        told
    }

    /// All units are untouched. Nothing of it is told as changed: a new account begins empty.
    pub fn clear(&mut self) {
        self.bits.fill(0);
        self.changed.clear();
    }

    /// The units that were marked so.
    pub fn marked(&self, mark: Mark) -> impl Iterator<Item = u32> + '_ {
        (0..self.units).filter(move |unit| self.of(*unit) == mark)
    }
}

impl Since {
    /// What brings the map of the checkpoint in line: units that are mapped, in an order that the seed draws, since by
    /// address a used drive would become a sequential one; then units that are not.
    pub fn to_map(&self, seed: u64) -> impl Iterator<Item = (Lpn, bool)> + '_ {
        let mut draws = Stream::new(seed, Purpose::PowerCut);
        let mut units: Vec<u32> = self.marked(Mark::Written).collect();
        for last in (1..units.len()).rev() {
            units.swap(last, draws.below(last as u32 + 1) as usize);
        }
        let trimmed = self.marked(Mark::Trimmed).map(|unit| (Lpn(unit), false));
        units.into_iter().map(|unit| (Lpn(unit), true)).chain(trimmed)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn told(since: &mut Since) -> Vec<(usize, Vec<u8>)> {
        let mut told = Vec::new();
        let all: Result<(), ()> = since.tell_changed(|at, bytes| {
            told.push((at, bytes.to_vec()));
            Ok(())
        });
        all.unwrap();
        told
    }

    /// By hand: units 3 and 4 lie in different bytes; the last mark counts.
    #[test]
    fn the_last_mark_counts() {
        let mut since = Since::new(6);
        since.mark(3..5, Mark::Written);
        assert_eq!(since.bytes(), [0b0100_0000, 0b0000_0001]);
        assert_eq!(told(&mut since), [(0, vec![0b0100_0000, 0b0000_0001])]);
        since.mark(4..9, Mark::Trimmed);
        assert_eq!(told(&mut since), [(1, vec![0b1010])]);
        since.mark(5..6, Mark::Trimmed);
        assert_eq!(told(&mut since), [], "nothing new");
        assert_eq!(since.marked(Mark::Trimmed).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(
            Since::from_bytes(6, since.bytes().to_vec()).map(|read| read.marked(Mark::Written).collect()),
            Some(vec![3])
        );
        since.clear();
        assert_eq!(since, Since::new(6));
    }

    /// Units far apart are two stretches, whatever lies between.
    #[test]
    fn units_far_apart_are_told_apart() {
        let mut since = Since::new(4000);
        since.mark(0..1, Mark::Written);
        since.mark(3999..4000, Mark::Trimmed);
        assert_eq!(told(&mut since), [(0, vec![1]), (999, vec![0b1000_0000])]);
    }

    /// Bytes that are no marks, or of another drive, are not taken.
    #[test]
    fn foreign_bytes_are_refused() {
        assert_eq!(Since::from_bytes(6, vec![0; 3]), None);
        assert_eq!(Since::from_bytes(6, vec![0, 0b1100]), None);
    }
}
