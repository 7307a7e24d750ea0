//! The FTL seen from outside, for pictures and tests: states of blocks, and what is being collected.
//!
//! Read only; nothing here lies in the way of a write.

use crate::ftl::frontier::Purpose;
use crate::ftl::reclaim::Reason;
use crate::ftl::{Ftl, Place};
use crate::nand::array::Payload;
use crate::units::{BlockId, Lpn, Ppn};
use serde::Serialize;

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockState {
    /// Erased, and not opened yet.
    Free,
    /// The host's writes go here.
    Open,
    /// What is moved goes here.
    OpenForMoves,
    /// Full, and a candidate for collection.
    Sealed,
    /// A job moves its valid units away.
    Collecting,
    /// Not used any more.
    Bad,
}

impl<P: Payload> Ftl<P> {
    /// The state of a block.
    pub fn block_state(&self, block: BlockId) -> BlockState {
        if self.array.is_bad(block) {
            return BlockState::Bad;
        }
        if self.victims().any(|(victim, _)| victim == block) {
            return BlockState::Collecting;
        }
        match self.frontier_in(block) {
            Some(purpose) if purpose == Purpose::Host as usize || purpose == Purpose::Slc as usize => BlockState::Open,
            Some(_) => BlockState::OpenForMoves,
            None if self.array.programmed_rows(block) == 0 => BlockState::Free,
            None => BlockState::Sealed,
        }
    }

    /// Which frontier of its die a block with room is.
    fn frontier_in(&self, block: BlockId) -> Option<usize> {
        let frontiers = &self.dies[usize::from(self.geometry.die(block).0)].frontiers;
        frontiers.iter().position(|frontier| frontier.has_room() && frontier.block() == block)
    }

    /// Blocks that jobs empty now, and why.
    pub fn victims(&self) -> impl Iterator<Item = (BlockId, Reason)> + '_ {
        self.dies.iter().filter_map(|die| die.job.as_ref()).map(|job| job.seen())
    }

    /// The slot of flash that holds a unit's newest programmed data; none where it is unmapped, or only in the buffer.
    pub fn flash_slot(&self, lpn: Lpn) -> Option<Ppn> {
        match self.place(lpn) {
            Place::Unmapped => None,
            Place::Buffer(slot) => self.shadow(slot),
            Place::Flash(ppn) => Some(ppn),
        }
    }

    /// Slots of a block that were programmed since its last erase.
    pub fn slots_programmed(&self, block: BlockId) -> u32 {
        let geometry = &self.geometry;
        self.array.programmed_rows(block) / geometry.rows_per_unit * geometry.units_per_row * geometry.packing
    }
}
