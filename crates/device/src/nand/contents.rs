//! What flash and the controller's RAM hold besides their state: nothing in simulation, records and bytes
//! when served or tested.
//!
//! Truth and damage are kept apart: contents are what was programmed; the error model of the array decides
//! what a read sees. Bytes are read and merged at the instant of the decision, not when its time has passed:
//! a read is delivered when the map is looked up, a unit is completed when it is put into its slot, from the
//! slot that the map named then. So no later change of the map can give it older data.
//!
//! Programs and erases begin and end, each by the die whose event ends it; without time the end follows at once.
//! An erase begins only when every row that superseded a unit of its block has ended, and every copy of one.
//!
//! The bytes of a command lie under its tag, where whoever submits it puts them.

use crate::block::Tag;
use crate::units::{BlockId, DieId, Lpn, Ppn};
use std::ops::Range;

/// What a command covers of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The command.
    pub tag: Tag,
    /// The unit.
    pub lpn: Lpn,
    /// First sector of the part, counted from the command's first.
    pub at: u32,
    /// First and end sector in the unit.
    pub sectors: (u32, u32),
    /// The sectors are zeroes: the command brings no data.
    pub zeroes: bool,
}

/// Where a part that is read lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence<H> {
    /// In flash.
    Flash(Ppn),
    /// In RAM; sectors that were not written lie in flash, or are zeroes.
    Ram(H, Option<Ppn>),
    /// Nowhere: it reads as zeroes.
    Nothing,
}

/// Slots that are programmed together; the others of their row stay empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The block.
    pub block: BlockId,
    /// First and end physical page number.
    pub slots: Range<u32>,
}

/// What was read is not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// What RAM and flash hold besides their state. `()` in simulation: no size, no code.
///
/// By default a call changes nothing: an implementation has those that matter to it.
pub trait Contents {
    /// What RAM holds of one unit, by number. The default is nothing of the host's: preconditioning, map pages.
    type Held: Copy + Default;
    /// False where what only contents need is not compiled.
    const KEEPS: bool;
    /// A part of a command, or zeroes, is in RAM now. A part without sectors is a unit to be written again
    /// as it lies in flash.
    #[inline(always)]
    fn take(&mut self, _part: Part) -> Self::Held {
        Self::Held::default()
    }
    /// As [`Contents::take`], of a unit of which an older version is held, and stays so: who keeps parts lays the newer
    /// one over a copy of it.
    #[inline(always)]
    fn take_beside(&mut self, _older: Self::Held, part: Part) -> Self::Held {
        self.take(part)
    }
    /// A part of a command goes over what is held of the same unit.
    #[inline(always)]
    fn overwrite(&mut self, _held: Self::Held, _part: Part) {}
    /// What is held is dropped without being programmed.
    #[inline(always)]
    fn release(&mut self, _held: Self::Held) {}
    /// A part goes to the command.
    ///
    /// # Errors
    /// [`Damaged`] where it can no longer be read.
    #[inline(always)]
    fn deliver(&mut self, _part: Part, _from: Whence<Self::Held>) -> Result<(), Damaged> {
        Ok(())
    }
    /// A unit goes into its slot, completed from its old one, and is no longer held.
    #[inline(always)]
    fn put(&mut self, _to: Ppn, _lpn: Lpn, _held: Self::Held, _old: Option<Ppn>) {}
    /// A unit is moved; its record, with the original write's sequence, moves along.
    #[inline(always)]
    fn copy(&mut self, _from: Ppn, _to: Ppn) {}
    /// What was put or copied since is a row that this die programs from now on; with a failed program it is
    /// several rows, one after the other.
    #[inline(always)]
    fn program_begins(&mut self, _by: DieId, _row: Row) {}
    /// What this die programs, if anything, is programmed.
    #[inline(always)]
    fn program_ends(&mut self, _by: DieId) {}
    /// This die erases a block from now on. With superblocks others may program it already: that ends the erase.
    #[inline(always)]
    fn erase_begins(&mut self, _by: DieId, _slots: Range<u32>) {}
    /// What this die erases is erased.
    #[inline(always)]
    fn erase_ends(&mut self, _by: DieId) {}
    /// A unit that flash or RAM holds is trimmed: before the map forgets it.
    #[inline(always)]
    fn trim(&mut self, _lpn: Lpn) {}
    /// The key is thrown away: what was programmed before can no longer be read.
    fn discard_key(&mut self) {}
}

impl Contents for () {
    type Held = ();
    const KEEPS: bool = false;
}
