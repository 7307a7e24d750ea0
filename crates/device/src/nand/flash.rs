//! Flash: the array's state and what lies in it, changed together; its errors are counted here.

use crate::counters::Counters;
use crate::nand::array::{Array, Failed};
use crate::nand::contents::{Contents, Row};
use crate::nand::geometry::Geometry;
use crate::nand::reliability::ReadOutcome;
use crate::units::{BlockId, DieId, Lpn, Nanos, Ppn};

/// All blocks of a drive, and their contents.
#[derive(Clone)]
pub struct Flash<C: Contents = ()> {
    /// State, wear and times.
    pub array: Array,
    /// What the slots hold.
    pub contents: C,
}

impl<C: Contents> Flash<C> {
    /// A unit goes into a slot of a row that [`Flash::program`] will program, completed from its old slot.
    #[inline(always)]
    pub fn put(&mut self, to: Ppn, lpn: Lpn, held: C::Held, old: Option<Ppn>) {
        self.contents.put(to, lpn, held, old);
    }

    /// As [`Flash::put`], of a unit that lies in another slot; its record goes along.
    #[inline(always)]
    pub fn copy(&mut self, from: Ppn, to: Ppn) {
        self.contents.copy(from, to);
    }

    /// A die programs the next `rows` rows of a block, into which these slots were put; returns the array time.
    ///
    /// # Errors
    /// [`Failed`] when a program failed, which is counted.
    #[inline(always)]
    pub fn program(&mut self, by: DieId, row: Row, rows: u32, counters: &mut Counters) -> (Nanos, Result<(), Failed>) {
        let block = row.block;
        self.contents.program_begins(by, row);
        let (time, outcome) = self.array.program(block, rows);
        if outcome.is_err() {
            counters.program_failures += 1;
        }
        (time, outcome)
    }

    /// A block is read, by the host or for a move: it may go wrong, which is counted.
    #[inline]
    pub fn read(&mut self, block: BlockId, counters: &mut Counters) -> ReadOutcome {
        let outcome = self.array.read(block);
        if outcome != ReadOutcome::default() {
            counters.read_retries += u64::from(outcome.retries);
            counters.uncorrectable_reads += u64::from(outcome.uncorrectable);
        }
        outcome
    }

    /// A die erases a block; it is retired where that fails, or where it is `failing`. Returns the array time and
    /// whether the block can be used again.
    pub fn erase(
        &mut self,
        by: DieId,
        geometry: &Geometry,
        block: BlockId,
        failing: bool,
        counters: &mut Counters,
    ) -> (Nanos, bool) {
        let first = geometry.ppn(block, 0).0;
        self.contents.erase_begins(by, first..first + geometry.slots());
        let (time, outcome) = self.array.erase(block, false);
        counters.blocks_erased += 1;
        counters.erase_failures += u64::from(outcome.is_err());
        let is_good = outcome.is_ok() && !failing;
        if !is_good {
            counters.grown_bad_blocks += 1;
            self.array.retire(block);
        }
        (time, is_good)
    }
}
