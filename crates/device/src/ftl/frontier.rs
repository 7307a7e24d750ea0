//! Open blocks: where the next unit goes.
//!
//! Each die has up to four: for the host, for collection (with `host-gc`), in SLC mode, and for cold data
//! that static wear levelling moves, which is the most worn block that was free. With a single frontier
//! collection writes to the host's block.

use crate::ftl::table::NONE;
use crate::nand::geometry::Geometry;
use crate::units::{BlockId, Ppn};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which open block of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// What the host writes (and with a single frontier everything).
    Host = 0,
    /// What collection moves.
    Collection = 1,
    /// What the host writes with one bit a cell.
    Slc = 2,
    /// Cold data that wear levelling moves.
    Leveling = 3,
}

/// An open block, or none.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Frontier {
    block: u32,
    /// Next slot.
    slot: u32,
    /// First slot of the open row.
    row_start: u32,
    /// Rows not yet programmed.
    rows_left: u32,
}

impl Default for Frontier {
    fn default() -> Frontier {
        Frontier { block: NONE, slot: 0, row_start: 0, rows_left: 0 }
    }
}

impl Frontier {
    /// A block of which nothing is programmed, with so many rows.
    pub fn open(block: BlockId, rows: u32) -> Frontier {
        Frontier { block: block.0, slot: 0, row_start: 0, rows_left: rows }
    }

    /// No more is written to the block.
    pub fn close(&mut self) {
        self.rows_left = 0;
    }

    /// A row can be put into it.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.rows_left > 0
    }

    /// It has room for more than one row.
    #[inline(always)]
    pub fn stays_open(&self) -> bool {
        self.rows_left > 1
    }

    /// The same frontier in another block, where its copy lies.
    pub(super) fn moved_to(self, block: BlockId) -> Frontier {
        Frontier { block: block.0, ..self }
    }

    /// The open block.
    #[inline(always)]
    pub fn block(&self) -> BlockId {
        BlockId(self.block)
    }

    /// Slots that are written or left out.
    pub fn slots_used(&self) -> u32 {
        self.slot
    }

    /// Rows that can still be programmed.
    pub fn rows_left(&self) -> u32 {
        self.rows_left
    }

    /// Slots that may still be put into the open row.
    pub fn row_slots_left(&self, geometry: &Geometry) -> u32 {
        let in_row = geometry.units_per_row * geometry.packing - (self.slot - self.row_start);
        in_row.min(geometry.slots() - self.slot)
    }

    /// The next slot.
    #[inline(always)]
    pub fn next_slot(&self, geometry: &Geometry) -> Ppn {
        debug_assert!(self.has_room());
        geometry.ppn(self.block(), self.slot)
    }

    /// Takes so many slots of the open row, which their group counts already.
    #[inline(always)]
    pub fn take_slots(&mut self, count: u32) {
        self.slot += count;
    }

    /// Takes the next slot.
    #[inline(always)]
    pub fn take_slot(&mut self, geometry: &Geometry) -> Ppn {
        let ppn = self.next_slot(geometry);
        self.take_slots(1);
        ppn
    }

    /// Takes the next row, of so many slots, whether all are used or not.
    #[inline(always)]
    pub fn fill_row(&mut self, slots: u32) {
        self.slot += slots;
        self.row_start = self.slot;
        self.rows_left -= 1;
    }

    /// Takes the next row where that is one slot.
    #[inline(always)]
    pub fn take_row(&mut self, geometry: &Geometry) -> Ppn {
        self.take_rows(geometry, 1)
    }

    /// Takes the next rows where each is one slot; returns the first.
    #[inline(always)]
    pub fn take_rows(&mut self, geometry: &Geometry, count: u32) -> Ppn {
        let first = geometry.ppn(self.block(), self.slot);
        self.slot += count;
        self.row_start = self.slot;
        self.rows_left -= count;
        first
    }

    /// Ends the open row, which is programmed as it is, filled up with nothing if need be; returns the slots
    /// that were put into it.
    #[inline(always)]
    pub fn end_row(&mut self, geometry: &Geometry) -> Range<u32> {
        let used = self.row_start..self.slot;
        if geometry.packing == 1 {
            self.slot = self.row_start + geometry.units_per_row;
        }
        self.row_start = self.slot;
        self.rows_left -= geometry.rows_per_unit;
        used
    }
}
