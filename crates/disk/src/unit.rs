//! The sectors of one mapping unit in RAM, and a pool of them: no allocation in the steady state.

use std::ops::Range;

/// Sectors of a unit. Which of them it has is told by the write that brought each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The bytes of all sectors; of those that no write brought they mean nothing.
    pub bytes: Box<[u8]>,
    /// The number of the write that brought each sector, 0 where none did.
    pub brought: Box<[u64]>,
}

impl Unit {
    /// Nothing yet of a unit of so many sectors of so many bytes.
    pub fn new(sectors: usize, sector_bytes: usize) -> Unit {
        Unit { bytes: vec![0; sectors * sector_bytes].into(), brought: vec![0; sectors].into() }
    }

    /// Its runs of sectors that writes brought.
    pub fn runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for sector in (0..self.brought.len()).filter(|sector| self.brought[*sector] != 0) {
            match runs.last_mut() {
                Some(run) if run.end == sector => run.end += 1,
                _ => runs.push(sector..sector + 1),
            }
        }
        runs
    }

    /// No write brought any sector of it.
    pub fn is_empty(&self) -> bool {
        self.brought.iter().all(|write| *write == 0)
    }

    fn sector_bytes(&self) -> usize {
        self.bytes.len() / self.brought.len()
    }

    /// The bytes of a run of sectors.
    pub fn of(&self, run: &Range<usize>) -> &[u8] {
        let sector = self.sector_bytes();
        &self.bytes[run.start * sector..run.end * sector]
    }

    /// The bytes of a run of sectors, to be changed.
    pub fn of_mut(&mut self, run: &Range<usize>) -> &mut [u8] {
        let sector = self.sector_bytes();
        &mut self.bytes[run.start * sector..run.end * sector]
    }

    /// A write brings a run of sectors, or zeroes.
    pub fn bring(&mut self, run: &Range<usize>, write: u64, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.of_mut(run).copy_from_slice(bytes),
            None => self.of_mut(run).fill(0),
        }
        self.brought[run.clone()].fill(write);
    }

    /// Takes over the sectors that another has.
    pub fn lay_over(&mut self, other: &Unit) {
        for run in other.runs() {
            self.of_mut(&run).copy_from_slice(other.of(&run));
            self.brought[run.clone()].copy_from_slice(&other.brought[run]);
        }
    }
}

/// Units that are not in use.
#[derive(Clone, Debug)]
pub struct Pool {
    sectors: usize,
    sector_bytes: usize,
    free: Vec<Unit>,
}

impl Pool {
    /// Of units of so many sectors of so many bytes.
    pub fn new(sectors: usize, sector_bytes: usize) -> Pool {
        Pool { sectors, sector_bytes, free: Vec::new() }
    }

    /// An empty unit.
    pub fn take(&mut self) -> Unit {
        self.free.pop().unwrap_or_else(|| Unit::new(self.sectors, self.sector_bytes))
    }

    /// A unit is no longer needed.
    pub fn give_back(&mut self, mut unit: Unit) {
        unit.brought.fill(0);
        self.free.push(unit);
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: of five sectors of two bytes, writes 7 and 8 bring the first and the last two.
    #[test]
    fn runs_are_what_writes_brought() {
        let mut unit = Unit::new(5, 2);
        assert!(unit.is_empty() && unit.runs().is_empty());
        unit.bring(&(0..1), 7, Some(&[1, 2]));
        unit.bring(&(3..5), 8, Some(&[3, 4, 5, 6]));
        assert_eq!(unit.runs(), [0..1, 3..5]);
        assert_eq!((unit.of(&(3..5)), &unit.brought[..]), ([3, 4, 5, 6].as_slice(), [7, 0, 0, 8, 8].as_slice()));
        let mut below = Unit::new(5, 2);
        below.bring(&(0..5), 1, Some(&[9; 10]));
        below.lay_over(&unit);
        assert_eq!(&below.bytes[..], [1, 2, 9, 9, 9, 9, 3, 4, 5, 6]);
        unit.bring(&(4..5), 9, None);
        assert_eq!(unit.of(&(4..5)), [0, 0]);
    }

    /// What comes out of the pool is empty, whatever it held.
    #[test]
    fn a_pool_gives_empty_units() {
        let mut pool = Pool::new(2, 4);
        let mut unit = pool.take();
        unit.bring(&(0..2), 3, None);
        pool.give_back(unit);
        assert!(pool.take().is_empty());
    }
}
