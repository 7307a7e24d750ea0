//! Units on their way to flash: pending, parked until their old contents are read, or behind a parked one.
//!
//! Units of one mapping unit stay in their order: behind a parked one later writes of it *follow*, until
//! it becomes pending.

use crate::sim::slots::Slots;
use crate::units::Lpn;
use std::collections::VecDeque;

/// Who waits for a unit to be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A command (no buffer).
    Command(u32),
    /// A slot of the write buffer.
    Slot(u32),
    /// Flushes: it is a page of the map's journal.
    Journal,
    /// Nobody: the drive's own writes.
    Drive,
}

/// A unit on its way to flash.
#[derive(Clone, Copy, Debug)]
pub struct Unit<S> {
    /// Which one.
    pub lpn: Lpn,
    /// Who waits.
    pub owner: Owner,
    /// Bytes in flash: fewer than a unit has where data is compressed; none where it is not to be
    /// programmed after all.
    pub bytes: u32,
    /// Its contents.
    pub stamp: S,
}

/// All units on their way.
#[derive(Debug)]
pub struct Pending<S> {
    units: VecDeque<Unit<S>>,
    parked: Slots<Unit<S>>,
    followers: Vec<Unit<S>>,
}

impl<S> Default for Pending<S> {
    fn default() -> Pending<S> {
        Pending { units: VecDeque::new(), parked: Slots::default(), followers: Vec::new() }
    }
}

impl<S: Copy> Pending<S> {
    /// No unit is pending.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Units that are pending.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Those units, the next one first.
    pub fn iter(&self) -> impl Iterator<Item = &Unit<S>> {
        self.units.iter()
    }

    /// The next unit.
    #[inline(always)]
    pub fn front(&self) -> Option<&Unit<S>> {
        self.units.front()
    }

    /// Takes the next unit.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Unit<S>> {
        self.units.pop_front()
    }

    /// A unit comes last.
    #[inline(always)]
    pub fn push(&mut self, unit: Unit<S>) {
        self.units.push_back(unit);
    }

    /// A unit comes before all others.
    pub fn push_first(&mut self, unit: Unit<S>) {
        self.units.push_front(unit);
    }

    /// No unit is parked.
    #[inline(always)]
    pub fn none_parked(&self) -> bool {
        self.parked.is_empty()
    }

    /// A write of this unit is parked: later ones must stay behind it.
    pub fn is_parked(&self, lpn: Lpn) -> bool {
        !self.parked.is_empty() && self.parked.iter().any(|unit| unit.lpn == lpn)
    }

    /// Keeps a unit until its old contents are there; returns its number.
    pub fn park(&mut self, unit: Unit<S>) -> u32 {
        self.parked.insert(unit)
    }

    /// A parked unit.
    pub fn parked(&self, number: u32) -> &Unit<S> {
        self.parked.get(number)
    }

    /// A unit comes behind the parked one of the same number.
    pub fn follow(&mut self, unit: Unit<S>) {
        self.followers.push(unit);
    }

    /// A parked unit's old contents are there: it becomes pending, behind earlier writes of the same unit and
    /// before those that followed. Returns it instead where it is not to be programmed after all.
    pub fn unpark(&mut self, number: u32) -> Option<Unit<S>> {
        let unit = self.parked.remove(number);
        if unit.bytes == 0 {
            return Some(unit);
        }
        self.units.push_back(unit);
        let units = &mut self.units;
        self.followers.retain(|follower| {
            let follows = follower.lpn == unit.lpn;
            if follows {
                units.push_back(*follower);
            }
            !follows
        });
        None
    }

    /// A unit is not to be programmed after all. True where it was pending; a parked one is given back
    /// when its read ends.
    pub fn forget(&mut self, owner: Owner) -> bool {
        if let Some(place) = self.units.iter().position(|unit| unit.owner == owner) {
            self.units.remove(place);
            return true;
        }
        self.parked.iter_mut().filter(|unit| unit.owner == owner).for_each(|unit| unit.bytes = 0);
        false
    }

    /// Other contents for a unit that waits.
    pub fn restamp(&mut self, owner: Owner, stamp: S) {
        let waiting = self.units.iter_mut().chain(self.parked.iter_mut());
        waiting.filter(|unit| unit.owner == owner).for_each(|unit| unit.stamp = stamp);
    }

    /// Only units with such an owner stay pending.
    pub fn retain(&mut self, stays: impl Fn(Owner) -> bool) {
        self.units.retain(|unit| stays(unit.owner));
    }

    /// Takes all units, those that are pending first.
    pub fn drain(&mut self) -> Vec<Unit<S>> {
        let units = self.units.drain(..).chain(self.parked.iter().copied()).collect();
        self.parked.clear();
        self.followers.clear();
        units
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn unit(lpn: u32, stamp: u32) -> Unit<u32> {
        Unit { lpn: Lpn(lpn), owner: Owner::Slot(stamp), bytes: 4096, stamp }
    }

    fn stamps(pending: &mut Pending<u32>) -> Vec<u32> {
        std::iter::from_fn(|| pending.pop()).map(|unit| unit.stamp).collect()
    }

    /// Writes of one unit stay in their order, whatever is read in between.
    #[test]
    fn followers_stay_behind_the_parked_unit() {
        let mut pending = Pending::default();
        let number = pending.park(unit(7, 1));
        assert!(pending.is_parked(Lpn(7)) && !pending.is_parked(Lpn(8)));
        pending.follow(unit(7, 2));
        pending.follow(unit(8, 3));
        pending.push(unit(9, 4));
        assert!(pending.unpark(number).is_none() && pending.none_parked());
        assert_eq!(stamps(&mut pending), [4, 1, 2]);
    }

    /// A unit forgotten while it is parked comes back unwritten; a pending one is gone at once.
    #[test]
    fn a_forgotten_unit_is_not_programmed() {
        let mut pending = Pending::default();
        pending.push(unit(1, 1));
        let number = pending.park(unit(2, 2));
        assert!(pending.forget(Owner::Slot(1)) && !pending.forget(Owner::Slot(2)));
        assert_eq!(pending.unpark(number).map(|unit| unit.stamp), Some(2));
        assert!(pending.is_empty());
    }

    /// New contents reach a unit wherever it waits; all are taken at once, the pending ones first.
    #[test]
    fn all_can_be_restamped_and_taken() {
        let mut pending = Pending::default();
        pending.park(unit(1, 1));
        pending.push(unit(2, 2));
        pending.restamp(Owner::Slot(1), 10);
        pending.restamp(Owner::Slot(2), 20);
        assert_eq!(pending.drain().iter().map(|unit| unit.stamp).collect::<Vec<_>>(), [20, 10]);
        assert!(pending.is_empty() && pending.none_parked());
    }
}
