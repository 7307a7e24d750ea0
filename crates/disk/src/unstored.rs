//! What a poisoned medium could not take: units written, and ranges of units trimmed, which read as zeroes.
//!
//! A write lies over the trims before it; a trim takes what was written before. It grows until the drive is opened again
//! or loses power, by what is written and by the trims that do not touch each other.

use crate::unit::{Pool, Unit};
use std::collections::BTreeMap;
use std::ops::Range;

/// Units that are not in the medium as they should be.
#[derive(Clone, Debug, Default)]
pub struct Unstored {
    written: BTreeMap<u32, Unit>,
    trimmed: Vec<Range<u32>>,
}

impl Unstored {
    /// A unit, or a part of one, is written.
    pub fn write(&mut self, lpn: u32, unit: &Unit, pool: &mut Pool) {
        self.written.entry(lpn).or_insert_with(|| pool.take()).lay_over(unit);
    }

    /// Units are trimmed.
    pub fn trim(&mut self, units: Range<u32>) {
        self.written.retain(|lpn, _| !units.contains(lpn));
        match self.trimmed.last_mut() {
            Some(last) if last.end == units.start => last.end = units.end,
            _ => self.trimmed.push(units),
        }
    }

    /// Puts what is known of a run of a unit's sectors over their bytes in the medium.
    pub fn lay_into(&self, lpn: u32, run: &Range<usize>, bytes: &mut [u8]) {
        if self.trimmed.iter().any(|units| units.contains(&lpn)) {
            bytes.fill(0);
        }
        if let Some(unit) = self.written.get(&lpn) {
            unit.lay_into(run, bytes);
        }
    }

    /// Power fails: nothing is kept any more. The units that were written.
    pub fn take(&mut self) -> BTreeMap<u32, Unit> {
        self.trimmed.clear();
        std::mem::take(&mut self.written)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand, units of two sectors of one byte: a trim takes a write, and a write lies over the trim.
    #[test]
    fn the_last_one_counts() {
        let (mut unstored, mut pool) = (Unstored::default(), Pool::new(2, 1));
        let read = |unstored: &Unstored, lpn| {
            let mut bytes = [9; 2];
            unstored.lay_into(lpn, &(0..2), &mut bytes);
            bytes
        };
        let mut unit = Unit::new(2, 1);
        unit.bring(&(1..2), 1, Some(&[5]));
        unstored.write(3, &unit, &mut pool);
        assert_eq!([read(&unstored, 3), read(&unstored, 4)], [[9, 5], [9, 9]]);
        (3..5).for_each(|lpn| unstored.trim(lpn..lpn + 1));
        assert_eq!([read(&unstored, 3), read(&unstored, 4)], [[0, 0], [0, 0]]);
        assert_eq!(unstored.trimmed.len(), 1, "neighbours are one range");
        unstored.write(4, &unit, &mut pool);
        assert_eq!(read(&unstored, 4), [0, 5]);
        assert_eq!(unstored.take().into_keys().collect::<Vec<_>>(), [4]);
        assert_eq!(read(&unstored, 3), [9, 9]);
    }
}
