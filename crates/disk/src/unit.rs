//! The sectors of one mapping unit in RAM, and a pool of them: no allocation in the steady state.

use std::ops::Range;

/// Sectors of a unit. Which of them it has is told by the write that brought each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The bytes of all sectors; of those that no write brought they mean nothing.
    pub bytes: Box<[u8]>,
    /// The number of the write that brought each sector, 0 where none did.
    pub brought: Box<[u64]>,
    /// Parts of writes that are whole or not at all, oldest first, also of those that later ones went over.
    pub groups: Vec<Layer>,
}

/// A part of a write that may have to go back while the unit stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The write.
    pub write: u64,
    /// What RAM held where it lies, if anything.
    pub under: Option<Box<Unit>>,
}

impl Unit {
    /// Nothing yet of a unit of so many sectors of so many bytes.
    pub fn new(sectors: usize, sector_bytes: usize) -> Unit {
        Unit { bytes: vec![0; sectors * sector_bytes].into(), brought: vec![0; sectors].into(), groups: Vec::new() }
    }

    /// Its runs of sectors that writes brought, in order.
    pub fn runs(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let is_brought = |write: &u64| *write != 0;
            let start = at + self.brought[at..].iter().position(is_brought)?;
            let length = self.brought[start..].iter().take_while(|write| is_brought(write)).count();
            at = start + length;
            Some(start..at)
        })
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

    /// As [`Unit::bring`], of a write that may have to go back: what was here is kept below it.
    pub fn bring_over(&mut self, run: &Range<usize>, write: u64, bytes: Option<&[u8]>) {
        let is_over = self.brought[run.clone()].iter().any(|write| *write != 0);
        let under = is_over.then(|| {
            let mut under = Unit::new(self.brought.len(), self.sector_bytes());
            under.of_mut(run).copy_from_slice(self.of(run));
            under.brought[run.clone()].copy_from_slice(&self.brought[run.clone()]);
            Box::new(under)
        });
        self.groups.push(Layer { write, under });
        self.bring(run, write, bytes);
    }

    /// What writes that stand have brought of a sector, below those that do not.
    pub fn below(&self, sector: usize, is_gone: impl Fn(u64) -> bool) -> Option<&[u8]> {
        let layers = self.groups.iter().rev().filter_map(|layer| layer.under.as_deref());
        let stands = |under: &&Unit| under.brought[sector] != 0 && !is_gone(under.brought[sector]);
        layers.into_iter().find(stands).map(|under| under.of(&(sector..sector + 1)))
    }

    /// Puts those of a run of sectors that it has over the bytes of that run.
    pub fn lay_into(&self, run: &Range<usize>, bytes: &mut [u8]) {
        let sector = self.sector_bytes();
        for place in run.clone().filter(|place| self.brought[*place] != 0) {
            let at = (place - run.start) * sector;
            bytes[at..at + sector].copy_from_slice(self.of(&(place..place + 1)));
        }
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
        unit.groups.clear();
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
        assert!(unit.is_empty() && unit.runs().next().is_none());
        unit.bring(&(0..1), 7, Some(&[1, 2]));
        unit.bring(&(3..5), 8, Some(&[3, 4, 5, 6]));
        assert_eq!(unit.runs().collect::<Vec<_>>(), [0..1, 3..5]);
        assert_eq!((unit.of(&(3..5)), &unit.brought[..]), ([3, 4, 5, 6].as_slice(), [7, 0, 0, 8, 8].as_slice()));
        let mut below = Unit::new(5, 2);
        below.bring(&(0..5), 1, Some(&[9; 10]));
        below.lay_over(&unit);
        assert_eq!(&below.bytes[..], [1, 2, 9, 9, 9, 9, 3, 4, 5, 6]);
        let mut read = [7; 6];
        unit.lay_into(&(1..4), &mut read);
        assert_eq!(read, [7, 7, 7, 7, 3, 4], "of sectors 1 to 3 it has the last");
        unit.bring(&(4..5), 9, None);
        assert_eq!(unit.of(&(4..5)), [0, 0]);
    }

    /// By hand: writes 4, 5 and 6 lie over each other; without 6 the last sector is that of 5, without 5 and 6 that of 4.
    #[test]
    fn what_lies_below_is_kept() {
        let mut unit = Unit::new(2, 1);
        unit.bring(&(1..2), 4, Some(&[4]));
        unit.bring_over(&(0..2), 5, Some(&[5, 5]));
        unit.bring_over(&(1..2), 6, Some(&[6]));
        let below = |gone: &[u64]| unit.below(1, |write| gone.contains(&write));
        assert_eq!((below(&[6]), below(&[5, 6]), below(&[4, 5, 6])), (Some(&[5_u8][..]), Some(&[4_u8][..]), None));
        assert_eq!(unit.below(0, |write| write == 5), None, "nothing lay there");
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
