//! Where compressed units lie: a row holds as many as its bytes allow, a block's slots count them up.
//!
//! Of a block only the sums are kept: its units are taken to be spread evenly over its rows, so that data
//! that do not compress lie where they would without compression, and zeros as densely as they can.

use crate::ftl::table::Table;
use crate::nand::array::Array;
use crate::nand::geometry::Geometry;
use crate::units::{BlockId, Ppn};

/// How full a block is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    /// Slots in use.
    pub(super) slots: u32,
    /// Rows programmed, in steps of what one unit or row takes.
    pub(super) rows: u32,
}

impl Fill {
    /// The row of a slot.
    fn row(self, slot: u32) -> u32 {
        let row = u64::from(slot) * u64::from(self.rows) / u64::from(self.slots.max(1));
        (row as u32).min(self.rows.saturating_sub(1))
    }

    /// First and end of the slots of a row.
    pub(super) fn slots_of(self, row: u32) -> (u32, u32) {
        let first = |row: u32| (u64::from(row) * u64::from(self.slots)).div_ceil(u64::from(self.rows.max(1))) as u32;
        (first(row), first(row + 1))
    }
}

/// A reverse map in which nothing is valid. Where units are packed there are slots for the best case,
/// and blocks of other data use few of theirs: on huge pages the rest would take memory as well.
pub(super) fn reverse_map(geometry: &Geometry) -> Table {
    let slots = geometry.ppn_end();
    if geometry.packing == 1 { Table::new(slots) } else { Table::sparse(slots) }
}

/// How full the blocks are.
#[derive(Clone, Debug)]
pub struct Packing {
    /// Slots in use of each block; kept only where compression makes them differ.
    pub(super) filled: Vec<u32>,
}

impl Packing {
    /// Blocks with nothing in them.
    pub fn new(geometry: &Geometry) -> Packing {
        Packing { filled: if geometry.packing > 1 { vec![0; geometry.blocks as usize] } else { Vec::new() } }
    }

    /// Nothing lies in any block.
    pub fn clear(&mut self) {
        self.filled.fill(0);
    }

    /// The fill of a block; `None` where nothing is packed, so that all blocks fill alike.
    #[inline]
    pub(super) fn fill(&self, array: &Array, geometry: &Geometry, block: BlockId) -> Option<Fill> {
        let slots = *self.filled.get(block.0 as usize)?;
        Some(Fill { slots, rows: array.programmed_rows(block) / geometry.rows_per_unit })
    }

    /// The first row of the unit at a physical page.
    #[inline]
    pub fn row(&self, array: &Array, geometry: &Geometry, ppn: Ppn) -> u32 {
        let slot = geometry.slot(ppn);
        if geometry.packing == 1 { geometry.row(slot) } else { self.packed_row(array, geometry, ppn) }
    }

    fn packed_row(&self, array: &Array, geometry: &Geometry, ppn: Ppn) -> u32 {
        let fill = self.fill(array, geometry, geometry.block(ppn));
        fill.map_or(0, |fill| fill.row(geometry.slot(ppn))) * geometry.rows_per_unit
    }

    /// Notes how many slots of a block are in use, where units are packed.
    #[inline]
    pub fn note(&mut self, block: BlockId, slots: u32) {
        if let Some(filled) = self.filled.get_mut(block.0 as usize) {
            *filled = slots;
        }
    }

    /// Units in a row of these blocks on average, where they are packed.
    pub fn units_per_row(
        &self,
        array: &Array,
        geometry: &Geometry,
        blocks: impl Iterator<Item = BlockId>,
    ) -> Option<f64> {
        let (mut slots, mut rows) = (0, 0);
        for block in blocks {
            let fill = self.fill(array, geometry, block)?;
            slots += fill.slots;
            rows += fill.rows;
        }
        Some((f64::from(slots) / f64::from(rows.max(1))).max(f64::from(geometry.units_per_row)))
    }
}
