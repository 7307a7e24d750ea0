//! Where each logical unit is: the map, the map back, and the flash copies behind buffered units.
//!
//! `map` leads from a logical unit to its slot in flash or in the write buffer; `reverse` leads from a slot in
//! flash back, as the out-of-band record does, and has no entry for a slot that is not valid. A unit in the
//! buffer keeps its copy in flash, its *shadow*, until the new data is programmed.

use crate::ftl::map_log::MapLog;
use crate::ftl::packing::reverse_map;
use crate::ftl::table::{NONE, Table};
use crate::nand::geometry::Geometry;
use crate::units::{Lpn, Ppn};
use std::ops::Range;

/// From this number on an entry of the map is a slot of the write buffer, which has the newest data; below
/// it lie the physical page numbers.
const FIRST_BUFFERED: u32 = NONE - MOST_BUFFER_SLOTS;
/// Slots that a write buffer has at most.
pub const MOST_BUFFER_SLOTS: u32 = (1 << 24) - 1;

/// An entry of the map is a slot of the write buffer.
#[inline(always)]
fn is_buffered(entry: u32) -> bool {
    entry.wrapping_sub(FIRST_BUFFERED) < MOST_BUFFER_SLOTS
}

/// A slot, where there is one.
#[inline(always)]
fn slot(entry: u32) -> Option<Ppn> {
    (entry != NONE).then_some(Ppn(entry))
}

/// Where a logical unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Never written, or trimmed: reads as zeroes, without touching flash.
    Unmapped,
    /// In the write buffer.
    Buffer(u32),
    /// In flash.
    Flash(Ppn),
}

/// Which version of a unit goes to flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The only one: none is in the buffer.
    Only,
    /// The newest one, in that slot of the buffer.
    Newest(u32),
    /// An older one than that in this slot of the buffer.
    OlderThan(u32),
}

/// The map both ways.
#[derive(Clone)]
pub struct Mapping {
    map: Table,
    reverse: Table,
    /// The flash copy that a buffered unit replaces, by buffer slot.
    shadows: Vec<u32>,
    /// What is written of its changes.
    pub(super) log: MapLog,
}

impl Mapping {
    /// So many logical units, of which none is mapped.
    pub fn new(units: usize, geometry: &Geometry, log: MapLog) -> Mapping {
        Mapping { map: Table::new(units), reverse: reverse_map(geometry), shadows: Vec::new(), log }
    }

    /// As it was saved, with nothing in the buffer: the map back follows from the map.
    pub(super) fn restore(map: Table, shadows: Vec<u32>, log: MapLog, geometry: &Geometry) -> Mapping {
        let mut reverse = reverse_map(geometry);
        for (lpn, ppn) in map.iter().enumerate().filter(|(_, ppn)| *ppn != NONE) {
            reverse.set(ppn, lpn as u32);
        }
        Mapping { map, reverse, shadows, log }
    }

    /// What is saved: the map and the shadows.
    pub(super) fn saved(&self) -> (&Table, &[u32]) {
        (&self.map, &self.shadows)
    }

    /// Logical units.
    pub fn units(&self) -> usize {
        self.map.entries()
    }

    /// Where a unit is.
    #[inline]
    pub fn place(&self, lpn: Lpn) -> Place {
        match self.map.get(lpn.0) {
            NONE => Place::Unmapped,
            entry if entry >= FIRST_BUFFERED => Place::Buffer(entry - FIRST_BUFFERED),
            ppn => Place::Flash(Ppn(ppn)),
        }
    }

    /// Where a unit is that is mapped and not in the buffer.
    #[inline(always)]
    pub(super) fn entry(&self, lpn: Lpn) -> Ppn {
        Ppn(self.map.get(lpn.0))
    }

    /// The slot of flash that holds a unit's newest programmed data; none where it is unmapped, or only in
    /// the buffer.
    pub fn flash_slot(&self, lpn: Lpn) -> Option<Ppn> {
        match self.place(lpn) {
            Place::Unmapped => None,
            Place::Buffer(slot) => self.shadow(slot),
            Place::Flash(ppn) => Some(ppn),
        }
    }

    /// The unit whose record lies in a slot, where the slot is valid.
    #[inline(always)]
    pub fn owner(&self, ppn: Ppn) -> Option<Lpn> {
        Some(self.reverse.get(ppn.0)).filter(|lpn| *lpn != NONE).map(Lpn)
    }

    /// The unit lies in this slot, and not in the buffer.
    #[inline(always)]
    pub fn leads_to(&self, lpn: Lpn, ppn: Ppn) -> bool {
        self.map.get(lpn.0) == ppn.0
    }

    /// No unit has ever been in the buffer.
    #[inline(always)]
    pub fn never_buffered(&self) -> bool {
        self.shadows.is_empty()
    }

    /// Units of a range that hold data in flash or buffer.
    pub fn mapped(&self, units: Range<u32>) -> usize {
        self.map.range(units).filter(|entry| *entry != NONE).count()
    }

    /// Fetches the cache line of a unit's entry.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        self.map.prefetch(lpn.0);
    }

    /// Fetches what invalidating a unit's old slot touches, when its entry is at hand.
    #[inline]
    pub fn prefetch_old(&self, lpn: Lpn) {
        let ppn = self.map.get(lpn.0);
        if ppn < FIRST_BUFFERED {
            self.reverse.prefetch(ppn);
        }
    }

    /// Fetches the entry of a unit in that slot of the buffer, and what invalidating its flash copy touches.
    #[inline]
    pub fn prefetch_buffered(&self, lpn: Lpn, slot: u32) {
        self.map.prefetch(lpn.0);
        if let Some(&copy) = self.shadows.get(slot as usize) {
            self.reverse.prefetch(copy);
        }
    }

    /// Fetches the map back of a slot, which need not exist.
    #[inline(always)]
    pub fn prefetch_slot(&self, slot: u32) {
        self.reverse.prefetch(slot);
    }

    /// Fetches the map back of these slots.
    pub fn prefetch_slots(&self, slots: Range<u32>) {
        const ENTRIES_PER_LINE: usize = 16;
        slots.step_by(ENTRIES_PER_LINE).for_each(|slot| self.reverse.prefetch(slot));
    }

    /// Fetches the map's lines of the units that lie in these slots.
    #[inline]
    pub fn prefetch_owners(&self, slots: Range<u32>) {
        if slots.end as usize <= self.reverse.entries() {
            self.reverse.range(slots).for_each(|lpn| self.map.prefetch(lpn));
        }
    }

    /// Adds those of these slots that are valid, and fetches the map's lines of the units in those `ahead` of them;
    /// returns how many are valid. Without a branch for each slot: which ones are valid is chance.
    #[inline(always)]
    pub(super) fn gather_valid(&self, slots: Range<u32>, ahead: u32, into: &mut Vec<u32>) -> u32 {
        match slots.len() {
            2 => self.gather_few::<2>(slots.start, ahead, into),
            4 => self.gather_few::<4>(slots.start, ahead, into),
            8 => self.gather_few::<8>(slots.start, ahead, into),
            _ => self.gather_many(slots, ahead, into),
        }
    }

    /// As [`Mapping::gather_valid`], of a number of slots for which the loops are unrolled.
    #[inline(always)]
    fn gather_few<const N: usize>(&self, first: u32, ahead: u32, into: &mut Vec<u32>) -> u32 {
        if let Some(later) = self.reverse.window::<N>(first + ahead) {
            later.into_iter().for_each(|lpn| self.map.prefetch(lpn));
        }
        let (mut valid, mut count) = ([0; N], 0);
        let lpns = self.reverse.window::<N>(first).expect("the slots lie in the table");
        for (slot, lpn) in (first..).zip(lpns) {
            valid[count % N] = slot;
            count += usize::from(lpn != NONE);
        }
        into.extend_from_slice(&valid);
        into.truncate(into.len() - N + count);
        count as u32
    }

    #[inline(never)]
    fn gather_many(&self, slots: Range<u32>, ahead: u32, into: &mut Vec<u32>) -> u32 {
        self.prefetch_owners(slots.start + ahead..slots.end + ahead);
        let before = into.len();
        into.extend(slots.clone());
        let mut kept = before;
        for (slot, lpn) in slots.clone().zip(self.reverse.range(slots)) {
            into[kept] = slot;
            kept += usize::from(lpn != NONE);
        }
        into.truncate(kept);
        (kept - before) as u32
    }

    /// The unit in each of these slots, [`NONE`] where it is not valid.
    #[inline(always)]
    pub(super) fn owners(&self, slots: Range<u32>) -> impl Iterator<Item = u32> {
        self.reverse.range(slots)
    }

    /// A unit is now in the write buffer; its flash copy stays until the new one is programmed.
    #[inline(always)]
    pub fn buffer(&mut self, lpn: Lpn, slot: u32) {
        let old = self.map.replace(lpn.0, FIRST_BUFFERED + slot);
        debug_assert!(!is_buffered(old), "a unit is buffered once");
        match self.shadows.get_mut(slot as usize) {
            Some(shadow) => *shadow = old,
            None => self.first_shadow(slot, old),
        }
    }

    /// A unit in the write buffer is now in another slot of it, with the flash copy that it had.
    pub(crate) fn buffer_again(&mut self, lpn: Lpn, older: u32, newer: u32) {
        let copy = self.shadow(older);
        self.unbuffer(lpn, older);
        self.buffer(lpn, newer);
        debug_assert_eq!(self.shadow(newer), copy);
    }

    /// A slot of the buffer is used for the first time.
    #[cold]
    fn first_shadow(&mut self, slot: u32, old: u32) {
        self.shadows.resize(slot as usize, NONE);
        self.shadows.push(old);
    }

    /// The flash copy behind a buffered unit, if there is one.
    pub fn shadow(&self, slot_in_buffer: u32) -> Option<Ppn> {
        slot(self.shadows[slot_in_buffer as usize])
    }

    /// A buffered unit is lost (power cut) or handed to flash: the map shows its flash copy again.
    pub fn unbuffer(&mut self, lpn: Lpn, slot: u32) {
        debug_assert_eq!(self.map.get(lpn.0), FIRST_BUFFERED + slot);
        let copy = std::mem::replace(&mut self.shadows[slot as usize], NONE);
        self.map.set(lpn.0, copy);
    }

    /// A unit, which is not in the buffer, goes to a slot; returns its old one, which is no longer valid.
    #[inline(always)]
    pub(super) fn put(&mut self, lpn: Lpn, to: Ppn) -> Option<Ppn> {
        let old = self.map.replace(lpn.0, to.0);
        debug_assert!(!is_buffered(old), "unbuffer before put");
        if old != NONE {
            self.reverse.set(old, NONE);
        }
        self.reverse.set(to.0, lpn.0);
        slot(old)
    }

    /// As [`Mapping::put`], of a unit in that slot of the buffer, where it is no longer.
    #[inline(always)]
    pub(super) fn put_buffered(&mut self, lpn: Lpn, slot_in_buffer: u32, to: Ppn) -> Option<Ppn> {
        debug_assert_eq!(self.map.get(lpn.0), FIRST_BUFFERED + slot_in_buffer);
        let old = std::mem::replace(&mut self.shadows[slot_in_buffer as usize], NONE);
        self.map.set(lpn.0, to.0);
        let mut reverse = self.reverse.slice_mut();
        if old != NONE {
            reverse.set(old, NONE);
        }
        reverse.set(to.0, lpn.0);
        slot(old)
    }

    /// An older version of a unit in the buffer goes to a slot: it is the flash copy of the newer one. Returns what was.
    pub(super) fn put_shadow(&mut self, lpn: Lpn, newer: u32, to: Ppn) -> Option<Ppn> {
        let old = std::mem::replace(&mut self.shadows[newer as usize], to.0);
        if old != NONE {
            self.reverse.set(old, NONE);
        }
        self.reverse.set(to.0, lpn.0);
        slot(old)
    }

    /// A unit that is mapped nowhere is in this slot, of which the record is set apart.
    #[inline(always)]
    pub(super) fn set_entry(&mut self, lpn: Lpn, slot: Ppn) {
        self.map.set(lpn.0, slot.0);
    }

    /// A slot holds this unit, of which the entry is set apart.
    #[inline(always)]
    pub(super) fn set_record(&mut self, slot: Ppn, lpn: Lpn) {
        self.reverse.set(slot.0, lpn.0);
    }

    /// A unit is no longer needed; returns its slot, which is no longer valid.
    pub(super) fn unmap(&mut self, lpn: Lpn) -> Option<Ppn> {
        let old = self.map.replace(lpn.0, NONE);
        if old != NONE {
            self.reverse.set(old, NONE);
        }
        slot(old)
    }

    /// The unit in a valid slot goes to another; returns it. In the buffer it stays where it is, and its
    /// shadow moves.
    #[inline(always)]
    pub(super) fn move_slot(&mut self, from: Ppn, to: Ppn) -> Lpn {
        let lpn = Lpn(self.reverse.get(from.0));
        self.move_slots(&[from.0], to, |_, _| ());
        lpn
    }

    /// As [`Mapping::move_slot`], of a unit that the map is known to lead to.
    #[inline(always)]
    pub(super) fn move_flash_unit(&mut self, lpn: Lpn, from: Ppn, to: Ppn) {
        debug_assert!(self.leads_to(lpn, from) && self.owner(from) == Some(lpn), "the map leads there and back");
        self.map.set(lpn.0, to.0);
        let mut reverse = self.reverse.slice_mut();
        reverse.set(from.0, NONE);
        reverse.set(to.0, lpn.0);
    }

    /// As [`Mapping::move_slot`], of the units in those slots that are valid, to slots one behind the other; tells from
    /// where to where each goes, and returns how many they are.
    #[inline(always)]
    pub(super) fn move_slots(&mut self, slots: &[u32], to: Ppn, mut moves: impl FnMut(Ppn, Ppn)) -> u32 {
        let (mut map, mut reverse) = (self.map.slice_mut(), self.reverse.slice_mut());
        let mut next = to;
        for from in slots.iter().copied().map(Ppn) {
            let lpn = reverse.replace(from.0, NONE);
            if lpn == NONE {
                continue;
            }
            reverse.set(next.0, lpn);
            // In the buffer it stays where it is, and its flash copy moves.
            match map.get(lpn) {
                entry if entry == from.0 => map.set(lpn, next.0),
                entry => self.shadows[(entry - FIRST_BUFFERED) as usize] = next.0,
            }
            moves(from, next);
            next.0 += 1;
        }
        next.0 - to.0
    }

    /// As [`Mapping::move_slot`], of a unit known to lie in flash alone; the record in its old slot stays
    /// until [`Mapping::forget`].
    #[inline(always)]
    pub(super) fn move_unit(&mut self, lpn: Lpn, to: Ppn) {
        self.map.set(lpn.0, to.0);
        self.reverse.set(to.0, lpn.0);
    }

    /// Records of erased slots are gone.
    pub(super) fn forget(&mut self, slots: Range<u32>) {
        self.reverse.forget(slots);
    }

    /// Nothing is mapped. No unit may be buffered.
    pub(super) fn clear(&mut self, geometry: &Geometry) {
        self.map.clear();
        self.reverse = reverse_map(geometry);
    }

    /// Checks that the map leads to each valid slot once, and each slot back; returns the slots of the
    /// mapped units. `has_moved` tells of slots whose record only waits to be erased.
    ///
    /// # Panics
    /// When that is not so.
    pub(super) fn check(&self, has_moved: impl Fn(Ppn) -> bool) -> Vec<Ppn> {
        let units = (0..self.units() as u32).map(Lpn);
        let mapped: Vec<(Lpn, Ppn)> = units.filter_map(|lpn| Some((lpn, self.flash_slot(lpn)?))).collect();
        for &(lpn, ppn) in &mapped {
            assert_eq!(self.owner(ppn), Some(lpn), "the map leads back");
        }
        let in_use = (0..).zip(self.reverse.iter()).filter(|&(ppn, lpn)| lpn != NONE && !has_moved(Ppn(ppn))).count();
        assert_eq!(in_use, mapped.len(), "no slot is valid without a map entry");
        mapped.into_iter().map(|(_, ppn)| ppn).collect()
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// The plain map: each unit's slot in flash and, while it waits, in the buffer.
    #[derive(Default)]
    struct Plain {
        flash: HashMap<u32, u32>,
        buffer: HashMap<u32, u32>,
    }

    impl Plain {
        fn place(&self, lpn: u32) -> Place {
            let in_flash = || self.flash.get(&lpn).map_or(Place::Unmapped, |ppn| Place::Flash(Ppn(*ppn)));
            self.buffer.get(&lpn).map_or_else(in_flash, |slot| Place::Buffer(*slot))
        }
    }

    /// By hand: of five slots the second and the fourth are valid; they move to the next ones in order, of a buffered
    /// unit its flash copy.
    #[test]
    fn valid_slots_are_gathered_and_moved() {
        let mut mapping = Mapping::new(20, &Geometry::small(1, 1, 1), MapLog::default());
        mapping.put(Lpn(7), Ppn(1));
        mapping.put(Lpn(9), Ppn(3));
        mapping.buffer(Lpn(9), 0);
        let mut gathered = vec![40];
        assert_eq!((mapping.gather_valid(0..5, 6, &mut gathered), &gathered[..]), (2, &[40, 1, 3][..]));
        assert_eq!((mapping.gather_valid(0..4, 60, &mut gathered), &gathered[3..]), (2, &[1, 3][..]));
        let mut moves = Vec::new();
        assert_eq!(mapping.move_slots(&[0, 1, 2, 3], Ppn(10), |from, to| moves.push((from.0, to.0))), 2);
        assert_eq!(moves, [(1, 10), (3, 11)]);
        assert_eq!((mapping.place(Lpn(7)), mapping.place(Lpn(9))), (Place::Flash(Ppn(10)), Place::Buffer(0)));
        assert_eq!((mapping.shadow(0), mapping.check(|_| false).len()), (Some(Ppn(11)), 2));
    }

    /// By hand: of two versions in the buffer the older one is put first; it is the unit's flash copy until the newer one
    /// is put, and moves as such.
    #[test]
    fn an_older_version_is_the_flash_copy_of_the_newer_one() {
        let mut mapping = Mapping::new(4, &Geometry::small(1, 1, 1), MapLog::default());
        mapping.put(Lpn(2), Ppn(0));
        mapping.buffer(Lpn(2), 5);
        mapping.buffer_again(Lpn(2), 5, 7);
        assert_eq!((mapping.place(Lpn(2)), mapping.shadow(7)), (Place::Buffer(7), Some(Ppn(0))));
        assert_eq!(mapping.put_shadow(Lpn(2), 7, Ppn(1)), Some(Ppn(0)), "the first copy is no longer valid");
        assert_eq!(mapping.move_slot(Ppn(1), Ppn(9)), Lpn(2));
        assert_eq!((mapping.place(Lpn(2)), mapping.check(|_| false)), (Place::Buffer(7), vec![Ppn(9)]));
        assert_eq!(mapping.put_buffered(Lpn(2), 7, Ppn(3)), Some(Ppn(9)));
        assert_eq!(mapping.place(Lpn(2)), Place::Flash(Ppn(3)));
    }

    proptest! {
        /// Whatever is put, buffered, unbuffered, moved and unmapped, the map is a plain one, both ways.
        #[test]
        fn it_is_a_plain_map(steps in prop::collection::vec((0u8..5, 0u32..20), 1..200)) {
            let mut mapping = Mapping::new(20, &Geometry::small(1, 1, 1), MapLog::default());
            let (mut plain, mut next) = (Plain::default(), 0);
            for (step, lpn) in steps {
                let buffered = plain.buffer.get(&lpn).copied();
                match (step, buffered) {
                    (0, None) => {
                        prop_assert_eq!(mapping.put(Lpn(lpn), Ppn(next)).map(|ppn| ppn.0), plain.flash.insert(lpn, next));
                        next += 1;
                    }
                    (1, None) => {
                        mapping.buffer(Lpn(lpn), lpn);
                        plain.buffer.insert(lpn, lpn);
                    }
                    (2, Some(slot)) => {
                        mapping.unbuffer(Lpn(lpn), slot);
                        plain.buffer.remove(&lpn);
                    }
                    (3, _) if plain.flash.contains_key(&lpn) => {
                        let from = plain.flash.insert(lpn, next).unwrap();
                        prop_assert_eq!(mapping.move_slot(Ppn(from), Ppn(next)), Lpn(lpn));
                        next += 1;
                    }
                    (4, None) => prop_assert_eq!(mapping.unmap(Lpn(lpn)).map(|ppn| ppn.0), plain.flash.remove(&lpn)),
                    _ => {}
                }
                let mut slots: Vec<u32> = mapping.check(|_| false).into_iter().map(|ppn| ppn.0).collect();
                let mut expected: Vec<u32> = plain.flash.values().copied().collect();
                slots.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(slots, expected);
                (0..20).for_each(|lpn| assert_eq!(mapping.place(Lpn(lpn)), plain.place(lpn)));
            }
        }
    }
}
