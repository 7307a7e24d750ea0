//! A collection under way on one die: its victim, and what it has read and not yet programmed.

use crate::ftl::table::NONE;
use crate::units::BlockId;
use serde::{Deserialize, Serialize};

/// Why a block is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// To gain free space.
    Garbage,
    /// To let cold data wait in a worn block (static wear levelling).
    Leveling,
    /// To write SLC data with all bits a cell.
    Folding,
    /// Because the block is failing.
    Retiring,
}

/// A collection under way on one die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    victim: u32,
    /// Why the victim is emptied.
    pub reason: Reason,
    /// Where a row is several units: the next source row to look at.
    pub(super) cursor: u32,
    /// Where a row is one unit: the slot read and not yet programmed, or [`NONE`].
    pub(super) held: u32,
    /// Units to gather for a row.
    pub(super) units_per_row: u32,
}

impl Job {
    /// A job that has read nothing yet.
    pub fn new(victim: BlockId, reason: Reason, units_per_row: u32) -> Job {
        Job { victim: victim.0, reason, cursor: 0, held: NONE, units_per_row }
    }

    /// The same job on a copy of its victim. It looks for valid units from the start: those that were moved
    /// are none any more, those that were read and not yet programmed are read again.
    pub(super) fn restarted_in(&self, victim: BlockId) -> Job {
        Job::new(victim, self.reason, self.units_per_row)
    }

    /// The block that is emptied.
    #[inline(always)]
    pub fn victim(&self) -> BlockId {
        BlockId(self.victim)
    }
}

/// Units found in one source row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRow {
    /// Block that is read.
    pub block: BlockId,
    /// Row that is read.
    pub row: u32,
    /// Valid units in it.
    pub units: u32,
}

/// What a job has gathered where a row is several units.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Gathered {
    /// Slots read and not yet programmed.
    pub(super) slots: Vec<u32>,
    /// Where data is compressed: units that a row takes on average, and fractions carried along.
    packed: Option<(f64, f64)>,
}

impl Gathered {
    /// Nothing is gathered; of packed units a row takes so many on average.
    pub fn begin(&mut self, packed: Option<f64>) {
        self.slots.clear();
        self.packed = packed.map(|mean| (mean, 0.0));
    }

    /// Nothing is gathered; of packed units a row takes as many as of another job.
    pub(super) fn begin_like(&mut self, other: &Gathered) {
        self.begin(other.packed.map(|(mean, _)| mean));
    }

    /// Units that the next row takes of those gathered: `units_per_row`, or where they are packed the mean.
    pub fn next_row(&mut self, units_per_row: u32) -> u32 {
        match &mut self.packed {
            None => units_per_row,
            Some((mean, credit)) => {
                *credit += *mean;
                let whole = credit.floor().max(1.0);
                *credit -= whole;
                whole as u32
            }
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: rows of 2.5 units on average take 2, 3, 2, 3.
    #[test]
    fn fractions_are_carried_along() {
        let mut gathered = Gathered::default();
        gathered.begin(Some(2.5));
        assert_eq!([4, 4, 4, 4].map(|units| gathered.next_row(units)), [2, 3, 2, 3]);
        gathered.begin(None);
        assert_eq!([4, 3].map(|units| gathered.next_row(units)), [4, 3]);
    }
}
