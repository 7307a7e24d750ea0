//! Blocks that may not be erased yet: of which a row under way supersedes a unit.
//!
//! Until the row is programmed the block holds the newest whole copy of the unit: were the block erased and the
//! power cut, nothing would be left of it. Only rows of the host count: those of a job supersede units of its own
//! victim, which it erases last.

use crate::units::{BlockId, DieId};

/// No block.
const NONE: u32 = u32::MAX;

/// Blocks by the die that programs the row.
#[derive(Clone, Debug)]
pub struct Superseded {
    /// The block of each die's row of one unit: side by side, so that all are looked through at once.
    only: Vec<u32>,
    /// Those of each die's row, where a row may have several units.
    rows: Vec<Vec<u32>>,
}

impl Superseded {
    /// No row is under way on any of these dies.
    pub fn new(dies: u32, one_unit_rows: bool) -> Superseded {
        let dies = dies as usize;
        match one_unit_rows {
            true => Superseded { only: vec![NONE; dies], rows: Vec::new() },
            false => Superseded { only: Vec::new(), rows: vec![Vec::new(); dies] },
        }
    }

    /// A die's row supersedes a unit of this block.
    #[inline(always)]
    pub fn add(&mut self, die: DieId, block: BlockId) {
        match self.rows.get_mut(usize::from(die.0)) {
            Some(row) => row.push(block.0),
            None => self.add_only(die, block),
        }
    }

    /// As [`Superseded::add`], where a row is one unit.
    #[inline(always)]
    pub fn add_only(&mut self, die: DieId, block: BlockId) {
        self.only[usize::from(die.0)] = block.0;
    }

    /// A die's row is programmed.
    #[inline(always)]
    pub fn end(&mut self, die: DieId) {
        match self.rows.get_mut(usize::from(die.0)) {
            Some(row) => row.clear(),
            None => self.only[usize::from(die.0)] = NONE,
        }
    }

    /// Some row under way supersedes a unit of this block.
    #[inline]
    pub fn holds(&self, block: BlockId) -> bool {
        self.only.contains(&block.0) || self.rows.iter().any(|blocks| blocks.contains(&block.0))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// A block is held from the first unit of a row to the end of that row, and by each die for itself.
    #[test]
    fn a_block_is_held_until_the_row_is_programmed() {
        let mut superseded = Superseded::new(2, false);
        [5, 6, 6, 5].map(BlockId).iter().for_each(|block| superseded.add(DieId(0), *block));
        superseded.add(DieId(1), BlockId(6));
        assert_eq!([5, 6, 7].map(|block| superseded.holds(BlockId(block))), [true, true, false]);
        superseded.end(DieId(0));
        assert_eq!([5, 6].map(|block| superseded.holds(BlockId(block))), [false, true]);
        superseded.end(DieId(1));
        assert!(!superseded.holds(BlockId(6)));
    }

    /// Where a row is one unit, it supersedes one at most.
    #[test]
    fn a_row_of_one_unit_holds_one_block() {
        let mut superseded = Superseded::new(2, true);
        superseded.add(DieId(1), BlockId(3));
        assert!(superseded.holds(BlockId(3)));
        superseded.end(DieId(1));
        assert!(!superseded.holds(BlockId(3)));
    }
}
