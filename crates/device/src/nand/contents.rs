//! What flash and the controller's RAM hold besides their state: nothing in simulation, records and bytes
//! when served or tested.
//!
//! Truth and damage are kept apart: contents are what was programmed; the error model of the array decides
//! what a read sees. Bytes are read and merged at the instant of the decision, not when its time has passed:
//! a read is delivered when the map is looked up, a unit is completed when it is put into its slot, from the
//! slot that the map named then. So no later change of the map can give it older data.
//!
//! The bytes of a command lie under its tag, where whoever submits it puts them.

use crate::block::Tag;
use crate::units::{Lpn, Ppn};

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

/// What was read is not what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// What RAM and flash hold besides their state. `()` in simulation: no size, no code.
pub trait Contents {
    /// What RAM holds of one unit, by number. The default is nothing of the host's: preconditioning, map pages.
    type Held: Copy + Default;
    /// False where what only contents need is not compiled.
    const KEEPS: bool;
    /// A part of a command, or zeroes, is in RAM now. A part without sectors is a unit to be written again
    /// as it lies in flash.
    fn take(&mut self, part: Part) -> Self::Held;
    /// A part of a command goes over what is held of the same unit.
    fn overwrite(&mut self, held: Self::Held, part: Part);
    /// What is held is dropped without being programmed.
    fn release(&mut self, held: Self::Held);
    /// A part goes to the command.
    ///
    /// # Errors
    /// [`Damaged`] where it can no longer be read.
    fn deliver(&mut self, part: Part, from: Whence<Self::Held>) -> Result<(), Damaged>;
    /// A unit goes into its slot, completed from its old one, and is no longer held.
    fn put(&mut self, to: Ppn, lpn: Lpn, held: Self::Held, old: Option<Ppn>);
    /// A unit is moved; its record, with the original write's sequence, moves along.
    fn copy(&mut self, from: Ppn, to: Ppn);
    /// A block is erased: slots `first` up to but without `end`.
    fn erase(&mut self, first: Ppn, end: Ppn);
    /// A mapped unit is trimmed: before the map forgets it.
    fn trim(&mut self, lpn: Lpn);
    /// The key is thrown away: what was programmed before can no longer be read.
    fn discard_key(&mut self) {}
}

impl Contents for () {
    type Held = ();
    const KEEPS: bool = false;
    #[inline(always)]
    fn take(&mut self, _: Part) {}
    #[inline(always)]
    fn overwrite(&mut self, (): (), _: Part) {}
    #[inline(always)]
    fn release(&mut self, (): ()) {}
    #[inline(always)]
    fn deliver(&mut self, _: Part, _: Whence<()>) -> Result<(), Damaged> {
        Ok(())
    }
    #[inline(always)]
    fn put(&mut self, _: Ppn, _: Lpn, (): (), _: Option<Ppn>) {}
    #[inline(always)]
    fn copy(&mut self, _: Ppn, _: Ppn) {}
    #[inline(always)]
    fn erase(&mut self, _: Ppn, _: Ppn) {}
    #[inline(always)]
    fn trim(&mut self, _: Lpn) {}
}
