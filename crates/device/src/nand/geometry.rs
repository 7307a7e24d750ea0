//! Where things lie: dies, blocks, rows and mapping units, as plain arithmetic.
//!
//! A *row* is what one program operation writes: a page, or with multi-plane operation the pages of
//! the same number in all planes of a die. A *block* here is what one erase operation erases, so
//! with multi-plane operation the blocks of all planes. A *slot* is the place of one mapping unit.
//! Blocks of neighbouring numbers lie on neighbouring dies, and neighbouring dies on neighbouring
//! channels: die = block mod dies, channel = die mod channels.
//!
//! A physical page number is block << slot_bits | slot, so that it is taken apart without a
//! division; where the slots of a block are not a power of two, some numbers do not exist.

use crate::units::{BlockId, DieId, Ppn};
use serde::{Deserialize, Serialize};

/// The shape of the flash as the FTL sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Buses.
    pub channels: u32,
    /// Dies in all.
    pub dies: u32,
    /// Blocks in all; the first dies may have one more than the last.
    pub blocks: u32,
    /// Rows of a block that hold data.
    pub rows: u32,
    /// Rows of a block that hold parity, beyond those with data.
    #[serde(default)]
    pub parity_rows: u32,
    /// Page kinds that take turns row by row (bits a cell).
    pub page_kinds: u32,
    /// Planes that work together in a row.
    pub planes: u32,
    /// Data bytes of a row.
    pub row_bytes: u32,
    /// Data bytes of a mapping unit.
    pub unit_bytes: u32,
    /// Units that a row holds uncompressed; 1 where a unit is larger than a row.
    pub units_per_row: u32,
    /// Rows that a unit takes; 1 where a unit is not larger than a row.
    pub rows_per_unit: u32,
    /// Units at most in a slot's space: more than 1 where data is compressed.
    pub packing: u32,
    /// Bits of a slot number.
    pub slot_bits: u32,
}

impl Geometry {
    /// A small drive for tests: pages of 4 KiB, blocks of 16 rows, so many units in a row.
    #[cfg(test)]
    pub(crate) fn small(channels: u32, dies: u32, units_per_row: u32) -> Geometry {
        Geometry {
            channels,
            dies,
            blocks: 16 * dies,
            rows: 16,
            parity_rows: 0,
            page_kinds: 1,
            planes: 1,
            row_bytes: 4096 * units_per_row,
            unit_bytes: 4096,
            units_per_row,
            rows_per_unit: 1,
            packing: 1,
            slot_bits: (16 * units_per_row).next_power_of_two().trailing_zeros(),
        }
    }

    /// Rows of a block, in steps of what one unit or row takes.
    #[inline(always)]
    pub fn steps(&self) -> u32 {
        // A division is slow, and mostly by one.
        if self.rows_per_unit == 1 { self.rows } else { self.rows / self.rows_per_unit }
    }

    /// Slots of a block.
    #[inline]
    pub fn slots(&self) -> u32 {
        self.steps() * self.units_per_row * self.packing
    }

    /// Units that a block holds uncompressed.
    pub fn units_per_block(&self) -> u32 {
        self.slots() / self.packing
    }

    /// Bytes of a block, with those of parity.
    pub fn block_bytes(&self) -> u64 {
        u64::from(self.rows + self.parity_rows) * u64::from(self.row_bytes)
    }

    /// Units that would fit a block whose parity rows held data too.
    pub fn physical_units_per_block(&self) -> u32 {
        (self.rows + self.parity_rows) / self.rows_per_unit * self.units_per_row
    }

    /// Rows of parity, in steps of what one unit or row takes, that follow the step which ends with so many rows.
    /// They lie evenly: behind k of n steps with data come ⌊k · parity steps / n⌋ with parity. So one comes behind the
    /// k-th where k · parity steps mod n is less than the parity steps, of which there are n at most.
    #[inline]
    pub fn parity_behind(&self, rows: u32) -> u32 {
        if self.parity_rows == 0 {
            return 0;
        }
        let (mut steps, mut of, mut parity) = (rows, self.rows, self.parity_rows);
        if self.rows_per_unit > 1 {
            [steps, of, parity] = [steps, of, parity].map(|rows| rows / self.rows_per_unit);
        }
        debug_assert!(parity <= of, "a stripe has a page of data at least");
        u32::from(steps * parity % of < parity)
    }

    /// The physical page number of a block's slot.
    #[inline]
    pub fn ppn(&self, block: BlockId, slot: u32) -> Ppn {
        Ppn(block.0 << self.slot_bits | slot)
    }

    /// The block of a physical page.
    #[inline]
    pub fn block(&self, ppn: Ppn) -> BlockId {
        BlockId(ppn.0 >> self.slot_bits)
    }

    /// The slot of a physical page in its block.
    #[inline]
    pub fn slot(&self, ppn: Ppn) -> u32 {
        ppn.0 & ((1 << self.slot_bits) - 1)
    }

    /// The row of a slot, where units are not packed by compression.
    #[inline]
    pub fn row(&self, slot: u32) -> u32 {
        slot / self.units_per_row * self.rows_per_unit
    }

    /// The die of a block.
    #[inline]
    pub fn die(&self, block: BlockId) -> DieId {
        DieId((block.0 % self.dies) as u16)
    }

    /// The channel of a die.
    #[inline]
    pub fn channel(&self, die: DieId) -> u32 {
        u32::from(die.0) % self.channels
    }

    /// One more than the greatest physical page number.
    pub fn ppn_end(&self) -> usize {
        (self.blocks as usize) << self.slot_bits
    }

    /// Physical bytes.
    pub fn physical_bytes(&self) -> u64 {
        u64::from(self.blocks) * self.block_bytes()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: 13 rows with data and 3 of parity; the last of each third is followed by one, and all come.
    #[test]
    fn parity_lies_evenly() {
        let geometry = Geometry { rows: 13, parity_rows: 3, ..Geometry::small(1, 1, 4) };
        let behind: Vec<u32> = (1..=13).filter(|rows| geometry.parity_behind(*rows) > 0).collect();
        assert_eq!(behind, [5, 9, 13]);
        assert_eq!((geometry.block_bytes(), geometry.physical_units_per_block()), (16 * 16384, 64));
    }

    proptest::proptest! {
        /// Behind any number of steps lie as many with parity as the share of all tells, rounded down.
        #[test]
        fn parity_adds_up_to_its_share(rows in 1u32..700, parity in 0u32..350) {
            let parity_rows = parity.min(rows);
            let geometry = Geometry { rows, parity_rows, ..Geometry::small(1, 1, 4) };
            let behind = (1..=rows).scan(0, |sum, step| { *sum += geometry.parity_behind(step); Some(*sum) });
            for (step, sum) in (1..).zip(behind) {
                proptest::prop_assert_eq!(sum, step * parity_rows / rows);
            }
        }
    }

    /// A unit of two rows has parity of two rows.
    #[test]
    fn parity_of_large_units_comes_in_units() {
        let shape = Geometry { rows: 14, parity_rows: 2, rows_per_unit: 2, ..Geometry::small(1, 1, 1) };
        let behind: Vec<u32> = (1..=7).map(|unit| shape.parity_behind(2 * unit)).collect();
        assert_eq!(behind, [0, 0, 0, 0, 0, 0, 1]);
    }
}
