//! What the host wrote and trimmed since the checkpoint: two bits a mapping unit.
//!
//! With it the map of a checkpoint of any age is brought in line with the image: units marked as written are mapped,
//! those marked as trimmed are not, the others are as they were.

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
    /// Bytes that whoever keeps the marks in a file has not seen yet.
    changed: Range<usize>,
}

impl Since {
    /// So many untouched units.
    pub fn new(units: u32) -> Since {
        Since { bits: vec![0; units.div_ceil(4) as usize], units, changed: 0..0 }
    }

    /// From the bytes that a file kept; `None` where they are too few or too many, or no marks.
    pub fn from_bytes(units: u32, bits: Vec<u8>) -> Option<Since> {
        let is_mark = |byte: &u8| (0..4).all(|place| byte >> (2 * place) & 3 < 3);
        let fits = bits.len() == units.div_ceil(4) as usize && bits.iter().all(is_mark);
        fits.then_some(Since { bits, units, changed: 0..0 })
    }

    /// The bytes that a file keeps.
    pub fn bytes(&self) -> &[u8] {
        &self.bits
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
                let seen = self.changed.is_empty();
                self.changed.start = if seen { byte } else { self.changed.start.min(byte) };
                self.changed.end = self.changed.end.max(byte + 1);
            }
        }
    }

    /// The range of bytes that changed since it was last asked for.
    pub fn take_changed(&mut self) -> Range<usize> {
        std::mem::replace(&mut self.changed, 0..0)
    }

    /// All units are untouched.
    pub fn clear(&mut self) {
        self.bits.fill(0);
        self.changed = 0..self.bits.len();
    }

    /// The units that were marked so.
    pub fn marked(&self, mark: Mark) -> impl Iterator<Item = u32> + '_ {
        (0..self.units).filter(move |unit| self.of(*unit) == mark)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: units 3 and 4 lie in different bytes; the last mark counts.
    #[test]
    fn the_last_mark_counts() {
        let mut since = Since::new(6);
        since.mark(3..5, Mark::Written);
        assert_eq!(since.bytes(), [0b0100_0000, 0b0000_0001]);
        assert_eq!(since.take_changed(), 0..2);
        since.mark(4..9, Mark::Trimmed);
        assert_eq!(since.take_changed(), 1..2);
        since.mark(5..6, Mark::Trimmed);
        assert_eq!(since.take_changed(), 0..0, "nothing new");
        assert_eq!(since.marked(Mark::Trimmed).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(
            Since::from_bytes(6, since.bytes().to_vec()).map(|read| read.marked(Mark::Written).collect()),
            Some(vec![3])
        );
        since.clear();
        assert_eq!(since, Since { changed: 0..2, ..Since::new(6) });
    }

    /// Bytes that are no marks, or of another drive, are not taken.
    #[test]
    fn foreign_bytes_are_refused() {
        assert_eq!(Since::from_bytes(6, vec![0; 3]), None);
        assert_eq!(Since::from_bytes(6, vec![0, 0b1100]), None);
    }
}
