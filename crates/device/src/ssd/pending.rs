//! Units on their way to flash: pending, parked until their old contents are read, or behind a parked one.
//!
//! Units of one mapping unit stay in their order: behind a parked one later writes of it *follow*, until
//! it becomes pending.

use crate::sim::slots::Slots;
use crate::units::Lpn;
use std::collections::VecDeque;
use std::ops::Range;

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
pub struct Unit<H> {
    /// Which one.
    pub lpn: Lpn,
    /// Who waits.
    pub owner: Owner,
    /// Bytes in flash: fewer than a unit has where data is compressed; none where it is not to be
    /// programmed after all.
    pub bytes: u32,
    /// What RAM holds of it.
    pub held: H,
}

/// All units on their way.
#[derive(Clone, Debug)]
pub struct Pending<H> {
    units: VecDeque<Unit<H>>,
    parked: Slots<Unit<H>>,
    followers: Vec<Unit<H>>,
}

impl<H> Default for Pending<H> {
    fn default() -> Pending<H> {
        Pending { units: VecDeque::new(), parked: Slots::default(), followers: Vec::new() }
    }
}

impl<H: Copy> Pending<H> {
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
    pub fn iter(&self) -> impl Iterator<Item = &Unit<H>> {
        self.units.iter()
    }

    /// The units at these places, as far as there are so many.
    #[inline(always)]
    pub fn range(&self, places: Range<usize>) -> impl Iterator<Item = &Unit<H>> {
        let end = places.end.min(self.units.len());
        self.units.range(places.start.min(end)..end)
    }

    /// The next unit.
    #[inline(always)]
    pub fn front(&self) -> Option<&Unit<H>> {
        self.units.front()
    }

    /// Takes the next unit.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Unit<H>> {
        self.units.pop_front()
    }

    /// Takes the first unit that is wanted.
    pub fn take_first(&mut self, is_wanted: impl FnMut(&Unit<H>) -> bool) -> Option<Unit<H>> {
        let place = self.units.iter().position(is_wanted)?;
        self.units.remove(place)
    }

    /// A unit comes last.
    #[inline(always)]
    pub fn push(&mut self, unit: Unit<H>) {
        self.units.push_back(unit);
    }

    /// A unit comes before all others.
    pub fn push_first(&mut self, unit: Unit<H>) {
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
    pub fn park(&mut self, unit: Unit<H>) -> u32 {
        self.parked.insert(unit)
    }

    /// A parked unit.
    pub fn parked(&self, number: u32) -> &Unit<H> {
        self.parked.get(number)
    }

    /// A unit comes behind the parked one of the same number.
    pub fn follow(&mut self, unit: Unit<H>) {
        self.followers.push(unit);
    }

    /// Later versions of a unit that is going to be parked come behind it.
    #[cold]
    pub fn hold_back(&mut self, lpn: Lpn) {
        let followers = &mut self.followers;
        self.units.retain(|unit| {
            let follows = unit.lpn == lpn;
            if follows {
                followers.push(*unit);
            }
            !follows
        });
    }

    /// A parked unit's old contents are there: it becomes pending, behind earlier writes of the same unit and
    /// before those that followed. Returns it instead where it is not to be programmed after all.
    pub fn unpark(&mut self, number: u32) -> Option<Unit<H>> {
        let unit = self.parked.remove(number);
        let is_forgotten = unit.bytes == 0;
        if !is_forgotten {
            self.units.push_back(unit);
        }
        let units = &mut self.units;
        self.followers.retain(|follower| {
            let follows = follower.lpn == unit.lpn;
            if follows {
                units.push_back(*follower);
            }
            !follows
        });
        is_forgotten.then_some(unit)
    }

    /// The versions of a unit that the buffer holds are not to be programmed after all. Tells of those that were pending;
    /// a parked one is given back when its read ends.
    pub fn forget(&mut self, lpn: Lpn, mut tell: impl FnMut(&Unit<H>)) {
        let is_meant = |unit: &Unit<H>| unit.lpn == lpn && matches!(unit.owner, Owner::Slot(_));
        let mut keep = |unit: &Unit<H>| {
            let is_forgotten = is_meant(unit);
            if is_forgotten {
                tell(unit);
            }
            !is_forgotten
        };
        self.units.retain(&mut keep);
        self.followers.retain(keep);
        self.parked.iter_mut().filter(|unit| is_meant(unit)).for_each(|unit| unit.bytes = 0);
    }

    /// Takes the pending units with such an owner out.
    pub fn take(&mut self, is_taken: impl Fn(Owner) -> bool) -> Vec<Unit<H>> {
        let (taken, left) = self.units.drain(..).partition::<VecDeque<_>, _>(|unit| is_taken(unit.owner));
        self.units = left;
        taken.into()
    }

    /// Takes all units: those that are pending first, then those that are parked, then those that follow.
    pub fn drain(&mut self) -> Vec<Unit<H>> {
        let waiting = self.units.drain(..).chain(self.parked.iter().copied()).chain(self.followers.drain(..)).collect();
        self.parked.clear();
        waiting
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn unit(lpn: u32, held: u32) -> Unit<u32> {
        Unit { lpn: Lpn(lpn), owner: Owner::Slot(held), bytes: 4096, held }
    }

    fn held(pending: &mut Pending<u32>) -> Vec<u32> {
        std::iter::from_fn(|| pending.pop()).map(|unit| unit.held).collect()
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
        assert_eq!(held(&mut pending), [4, 1, 2]);
        [unit(9, 5), unit(7, 6), unit(7, 7)].into_iter().for_each(|unit| pending.push(unit));
        pending.hold_back(Lpn(7));
        let number = pending.park(unit(7, 8));
        assert_eq!(held(&mut pending), [5], "the others wait");
        assert!(pending.unpark(number).is_none());
        assert_eq!(held(&mut pending), [8, 6, 7]);
    }

    /// A unit forgotten while it is parked comes back unwritten; a pending one is gone at once.
    #[test]
    fn a_forgotten_unit_is_not_programmed() {
        let mut pending = Pending::default();
        pending.push(unit(1, 1));
        let number = pending.park(unit(2, 2));
        pending.follow(unit(2, 3));
        let mut forgotten = Vec::new();
        [1, 2].iter().for_each(|lpn| pending.forget(Lpn(*lpn), |unit| forgotten.push(unit.held)));
        assert_eq!(forgotten, [1, 3]);
        pending.follow(unit(2, 4));
        assert_eq!(pending.unpark(number).map(|unit| unit.held), Some(2));
        assert_eq!(held(&mut pending), [4], "what came later is programmed");
    }

    /// All are taken at once, the pending ones first; or those of some owners.
    #[test]
    fn all_can_be_taken() {
        let mut pending = Pending::default();
        pending.park(unit(1, 1));
        pending.push(unit(2, 2));
        pending.push(unit(3, 3));
        pending.follow(unit(1, 4));
        let taken = pending.take(|owner| owner == Owner::Slot(2));
        assert_eq!(taken.iter().map(|unit| unit.held).collect::<Vec<_>>(), [2]);
        assert_eq!(pending.drain().iter().map(|unit| unit.held).collect::<Vec<_>>(), [3, 1, 4]);
        assert!(pending.is_empty() && pending.none_parked());
    }
}
