//! What flash and the controller's RAM hold besides their state: nothing in simulation, records and bytes
//! when served or tested.
//!
//! Truth and damage are kept apart: contents are what was programmed; the error model of the array decides
//! what a read sees.

use crate::units::{Lpn, Ppn};

/// What the array holds besides its state: nothing in simulation, records and bytes when served or
/// tested. A stamp is what one write of one unit brings along.
pub trait Contents {
    /// Stands for the contents of one unit.
    type Stamp: Copy + Default;
    /// The stamp of the next write of a unit.
    fn stamp(&mut self, lpn: Lpn) -> Self::Stamp;
    /// The stamp of what lies in a slot: a unit that is taken into the buffer again keeps it.
    fn read(&self, from: Ppn) -> Self::Stamp;
    /// A unit is programmed together with its out-of-band record.
    fn program(&mut self, to: Ppn, lpn: Lpn, stamp: Self::Stamp);
    /// A unit is moved; its record, with the original write's sequence, moves along.
    fn copy(&mut self, from: Ppn, to: Ppn);
    /// A block is erased: slots `first` up to but without `end`.
    fn erase(&mut self, first: Ppn, end: Ppn);
    /// A trim of a mapped unit is journalled.
    fn trim(&mut self, lpn: Lpn);
    /// The key is thrown away: what was programmed before can no longer be read.
    fn discard_key(&mut self) {}
}

impl Contents for () {
    type Stamp = ();
    #[inline]
    fn stamp(&mut self, _: Lpn) {}
    #[inline]
    fn read(&self, _: Ppn) {}
    #[inline]
    fn program(&mut self, _: Ppn, _: Lpn, (): ()) {}
    #[inline]
    fn copy(&mut self, _: Ppn, _: Ppn) {}
    #[inline]
    fn erase(&mut self, _: Ppn, _: Ppn) {}
    #[inline]
    fn trim(&mut self, _: Lpn) {}
}
