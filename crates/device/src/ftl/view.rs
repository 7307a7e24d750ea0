//! The FTL seen from outside, for pictures and tests: states of blocks, and what is being collected.
//!
//! Read only; nothing here lies in the way of a write.

use crate::ftl::Ftl;
use crate::ftl::frontier::{Frontier, Purpose};
use crate::ftl::job::Reason;
use crate::nand::contents::{Contents, Row};
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

impl<C: Contents> Ftl<C> {
    /// The state of a block.
    pub fn block_state(&self, block: BlockId) -> BlockState {
        if self.flash.array.is_bad(block) {
            return BlockState::Bad;
        }
        if self.victims().any(|(victim, _)| victim == block) {
            return BlockState::Collecting;
        }
        match self.frontier_in(block) {
            Some(purpose) if purpose == Purpose::Host as usize || purpose == Purpose::Slc as usize => BlockState::Open,
            Some(_) => BlockState::OpenForMoves,
            None if self.flash.array.programmed_rows(block) == 0 => BlockState::Free,
            None => BlockState::Sealed,
        }
    }

    /// The share of what was programmed into a block, or into the superblock that it is a part of, that is still valid.
    /// While the host's writes go there, what it has still to take counts as valid.
    pub fn valid_share(&self, block: BlockId) -> f64 {
        let group = self.blocks.group_of(block);
        let programmed: u32 = self.blocks.lanes(group).map(|lane| self.slots_programmed(lane)).sum();
        f64::from(self.blocks.groups.valid(group)) / f64::from(programmed.max(1))
    }

    /// Which frontier of its die a block with room is.
    pub(super) fn frontier_in(&self, block: BlockId) -> Option<usize> {
        let die = self.geometry.die(block);
        let is_here = |frontier: &Frontier| frontier.has_room() && frontier.block() == block;
        let own = self.die(die).frontiers.iter().position(is_here);
        own.or_else(|| {
            self.blocks.streams.parked(die).find(|(_, each)| is_here(each)).map(|(purpose, _)| purpose as usize)
        })
    }

    /// Blocks that jobs empty now, and why.
    pub fn victims(&self) -> impl Iterator<Item = (BlockId, Reason)> + '_ {
        self.dies.iter().filter_map(|die| die.job.as_ref()).map(|job| (job.victim(), job.reason))
    }

    /// Units in the lower pages of the cells that a row goes to, which programming it further puts at risk: rows of a
    /// block take turns in its page kinds. With one bit a cell there are none.
    pub fn units_below(&self, row: &Row) -> Vec<Lpn> {
        let geometry = &self.geometry;
        if self.flash.array.is_slc(row.block) || row.slots.is_empty() {
            return Vec::new();
        }
        let first = self.row(Ppn(row.slots.start));
        let cells = first - first % geometry.page_kinds;
        let shares = |ppn: &Ppn| (cells..first).contains(&(self.row(*ppn) + geometry.rows_per_unit - 1));
        let slots = (0..self.slots_programmed(row.block)).map(|slot| geometry.ppn(row.block, slot));
        slots.filter(shares).filter_map(|ppn| self.mapping.owner(ppn)).collect()
    }

    /// Slots of a block that were programmed since its last erase.
    pub fn slots_programmed(&self, block: BlockId) -> u32 {
        let geometry = &self.geometry;
        self.flash.array.programmed_rows(block) / geometry.rows_per_unit * geometry.units_per_row * geometry.packing
    }
}
