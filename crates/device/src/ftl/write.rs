//! Writes: whether a die can take one, the block that it opens, and the row that it programs.
//!
//! Units are put into the open row one by one; [`Ftl::end_row`] programs it. Where a program fails, the units
//! of the row go to another block, and the failed one is collected and retired.

use crate::config::ftl::{Frontiers, GcPace};
use crate::ftl::frontier::{Frontier, Purpose};
use crate::ftl::mapping::{Place, Version};
use crate::ftl::pool::Group;
use crate::ftl::{Ftl, Readiness};
use crate::nand::contents::{Contents, Row};
use crate::units::{BlockId, DieId, Lpn, Nanos, Ppn};
use std::ops::Range;

impl<C: Contents> Ftl<C> {
    /// Whether a die can take a host write, opening a block where it may.
    #[inline]
    pub fn readiness(&mut self, die: DieId) -> Readiness {
        if self.slc.is_present() {
            if !self.kind.smooth && self.folds_under_load(die) {
                return Readiness::Collect;
            }
            if !self.slc.is_passed && self.slc_ready(die) {
                return Readiness::Write(Purpose::Slc);
            }
        }
        if self.has_room(die, Purpose::Host) && !self.die(die).short {
            return Readiness::Write(Purpose::Host);
        }
        self.open_for_host(die)
    }

    #[inline]
    pub(super) fn has_room(&self, die: DieId, purpose: Purpose) -> bool {
        self.die(die).frontier(purpose).has_room()
    }

    #[cold]
    fn open_for_host(&mut self, die: DieId) -> Readiness {
        if self.die(die).short {
            if self.free_groups(die) <= self.spare.reserve() {
                return Readiness::Collect;
            }
            self.die_mut(die).short = false;
            return self.readiness(die);
        }
        if self.has_successor(die, Purpose::Host) && self.open(die, Purpose::Host) {
            return Readiness::Write(Purpose::Host);
        }
        if self.blocks.are_superblocks_open(die, Purpose::Host) {
            return Readiness::Wait;
        }
        if self.may_open_for_host(die) && self.open(die, Purpose::Host) {
            return Readiness::Write(Purpose::Host);
        }
        Readiness::Collect
    }

    /// The host may take another free block, by the watermarks.
    fn may_open_for_host(&mut self, die: DieId) -> bool {
        let free = self.free_groups(die);
        let config = &self.rules.config;
        let (low, high) = (config.gc_low_blocks, config.gc_high_blocks);
        match (config.frontiers, config.gc_pace) {
            (Frontiers::Single, _) | (Frontiers::HostGc, GcPace::Smooth) => free > 1 + self.spare.reserve(),
            (Frontiers::HostGc, GcPace::Batch) => {
                let state = self.die_mut(die);
                state.collecting = free <= low || state.collecting && free < high;
                !state.collecting
            }
        }
    }

    /// What the host writes from now on goes past the SLC cache, or into it again.
    pub fn pass_slc(&mut self, is_passed: bool) {
        self.slc.is_passed = is_passed;
    }

    /// An SLC block is open, or one may be opened without touching what collection needs.
    fn slc_ready(&mut self, die: DieId) -> bool {
        if self.has_room(die, Purpose::Slc) {
            return true;
        }
        if self.has_successor(die, Purpose::Slc) {
            return self.open(die, Purpose::Slc);
        }
        let pool = self.blocks.pool_of(die);
        // A dynamic cache gives its blocks back in time: folding needs a free block for every `bits` of them.
        let kept = self.rules.config.gc_high_blocks + 2 + self.slc.in_use(pool) / self.geometry.page_kinds;
        self.slc.may_open(pool, self.free_groups(die), kept) && self.open(die, Purpose::Slc)
    }

    /// With superblocks: another die has opened the next one already.
    fn has_successor(&self, die: DieId, purpose: Purpose) -> bool {
        self.blocks.span_dies() && self.blocks.next_superblock(&self.flash.array, die, purpose).is_some()
    }

    /// Opens the next block of a die; false where none is free.
    pub(super) fn open(&mut self, die: DieId, purpose: Purpose) -> bool {
        loop {
            let Some(group) = self.next_group(die, purpose) else { return false };
            let block = self.blocks.lane_of(group, die);
            let rows = self.rows_to_write(block, purpose);
            if rows > 0 {
                self.flash.array.set_slc(block, purpose == Purpose::Slc);
            }
            *self.die_mut(die).frontier_mut(purpose) = Frontier::open(block, rows);
            if rows > 0 {
                self.blocks.groups.add_valid(group, self.blocks.slots);
                self.blocks.streams.note_open(die, purpose, group);
                self.blocks.invalidations.note(group);
                return true;
            }
        }
    }

    /// Rows of a block, in whole units; none of a bad one.
    fn rows_to_write(&self, block: BlockId, purpose: Purpose) -> u32 {
        let rows = match (self.flash.array.is_bad(block), purpose) {
            (true, _) => 0,
            (false, Purpose::Slc) => self.geometry.rows / self.geometry.page_kinds,
            (false, _) => self.geometry.rows,
        };
        rows / self.geometry.rows_per_unit * self.geometry.rows_per_unit
    }

    /// The next group of a die's frontier: with superblocks the one that another die opened, else a free one.
    fn next_group(&mut self, die: DieId, purpose: Purpose) -> Option<Group> {
        if self.blocks.span_dies()
            && let Some(opened) = self.blocks.next_superblock(&self.flash.array, die, purpose)
        {
            return Some(opened);
        }
        if self.blocks.are_superblocks_open(die, purpose) {
            return None;
        }
        let group = self.take_free_group(die, purpose)?;
        if purpose == Purpose::Slc {
            self.slc.open(self.blocks.pool_of(die));
        }
        if self.blocks.span_dies() {
            self.blocks.open_superblock(&self.flash.array, group, purpose);
        }
        Some(group)
    }

    fn take_free_group(&mut self, die: DieId, purpose: Purpose) -> Option<Group> {
        if let Some(group) = self.policy_opens(die, purpose) {
            self.blocks.groups.open_group(group);
            return Some(group);
        }
        let (array, width, pool) = (&self.flash.array, self.blocks.width, self.blocks.pool_of(die));
        let erases = |group: Group| array.erases(BlockId(group.0 * width));
        let groups = &mut self.blocks.groups;
        match purpose {
            // Cold data let the most worn block rest.
            Purpose::Leveling => groups.open(pool, Some(&|group| u32::MAX - erases(group))),
            _ if self.rules.config.dynamic_wear_leveling => groups.open(pool, Some(&erases)),
            _ => groups.open(pool, None),
        }
    }

    /// Puts a unit into the open row of a frontier that has room; its old place becomes invalid.
    #[inline(always)]
    pub fn put(&mut self, die: DieId, purpose: Purpose, lpn: Lpn, version: Version, held: C::Held) -> Ppn {
        let ppn = self.dies[usize::from(die.0)].frontier_mut(purpose).take_slot(&self.geometry);
        let old = match version {
            Version::Newest(slot) => self.mapping.put_buffered(lpn, slot, ppn),
            Version::Only => self.mapping.put(lpn, ppn),
            Version::OlderThan(slot) => self.mapping.put_shadow(lpn, slot, ppn),
        };
        if let Some(old) = old {
            self.blocks.invalidate(self.geometry.block(old));
            self.blocks.superseded.add(die, self.geometry.block(old));
        }
        if self.kind.notes_invalidations || self.kind.separates {
            self.note_write(lpn, old);
        }
        self.flash.put(ppn, lpn, held, old);
        ppn
    }

    /// A unit of the host goes into a slot, and nothing more has to be asked: nothing is packed, the map is in RAM, and the
    /// policy looks at blocks alone.
    #[inline(always)]
    pub fn puts_plainly(&self) -> bool {
        self.kind.puts_plainly
    }

    /// The next slot of the open row of a frontier that has room.
    #[inline(always)]
    pub fn next_slot(&self, die: DieId, purpose: Purpose) -> Ppn {
        self.die(die).frontier(purpose).next_slot(&self.geometry)
    }

    /// Takes so many slots of the open row, into which units were put by [`Ftl::put_buffered`].
    #[inline(always)]
    pub fn take_slots(&mut self, die: DieId, purpose: Purpose, count: u32) {
        self.die_mut(die).frontier_mut(purpose).take_slots(count);
    }

    /// As [`Ftl::put`], of a unit in that slot of the buffer, where [`Ftl::puts_plainly`].
    #[inline(always)]
    pub fn put_buffered(&mut self, die: DieId, lpn: Lpn, buffered: u32, held: C::Held, to: Ppn) {
        let old = self.mapping.put_buffered(lpn, buffered, to);
        if let Some(old) = old {
            let block = self.geometry.block(old);
            self.blocks.invalidate(block);
            self.blocks.superseded.add(die, block);
        }
        self.flash.put(to, lpn, held, old);
    }

    /// Slots that may still be put into the open row.
    #[inline]
    pub fn row_slots_left(&self, die: DieId, purpose: Purpose) -> u32 {
        if self.kind.one_unit_rows { 1 } else { self.die(die).frontier(purpose).row_slots_left(&self.geometry) }
    }

    /// Programs the open row of a die, as the work of die `by`; returns the array time, of failed attempts too.
    #[inline(always)]
    pub fn end_row(&mut self, by: DieId, die: DieId, purpose: Purpose) -> Nanos {
        let frontier = self.dies[usize::from(die.0)].frontier_mut(purpose);
        let slots = frontier.end_row(&self.geometry);
        let (block, full) = (frontier.block(), !frontier.has_room());
        let padding = self.geometry.units_per_row.saturating_sub(slots.end - slots.start);
        if self.geometry.packing > 1 {
            self.blocks.packing.note(block, slots.end);
        } else if padding > 0 {
            self.blocks.groups.skip_valid(self.blocks.group_of(block), padding);
        }
        self.counters.nand_pages_written += u64::from(self.geometry.units_per_row);
        self.counters.padding_pages_written += u64::from(padding);
        let first = self.geometry.ppn(block, 0).0;
        let row = Row { block, slots: first + slots.start..first + slots.end };
        let (time, outcome) = self.flash.program(by, row, self.geometry.rows_per_unit, &mut self.counters);
        if outcome.is_err() {
            return time + self.replace_row(by, die, purpose, block, slots);
        }
        let own =
            if self.kind.writes_own { self.write_own_rows(block, slots.end - slots.start, time) } else { Nanos::ZERO };
        if full {
            self.seal(die, purpose);
        }
        time + own
    }

    /// What the drive writes behind a row with so many units: parity of its stripe, and the map's log. Each row of
    /// it takes as long as the one before, on the same die; with parity that is so on average, since stripes take turns.
    #[inline(never)]
    fn write_own_rows(&mut self, block: BlockId, units: u32, time: Nanos) -> Nanos {
        let units_per_row = u64::from(self.geometry.units_per_row);
        let parity = self.geometry.parity_behind(self.flash.array.programmed_rows(block));
        self.mapping.log.note(units);
        let log = self.mapping.log.take_rows();
        self.counters.parity_pages_written += u64::from(parity) * units_per_row;
        self.counters.map_log_pages_written += u64::from(log) * units_per_row;
        self.counters.nand_pages_written += u64::from(parity + log) * units_per_row;
        Nanos(time.0 * u64::from(parity + log))
    }

    /// A lane is full, or no more is written to it; with the last one its group is sealed.
    #[cold]
    fn seal(&mut self, die: DieId, purpose: Purpose) {
        let frontier = *self.die(die).frontier(purpose);
        let group = self.blocks.group_of(frontier.block());
        self.blocks.groups.skip_valid(group, self.blocks.slots - frontier.slots_used());
        if !self.blocks.fill_lane(group, purpose) {
            return;
        }
        if purpose == Purpose::Slc {
            self.slc.seal(self.blocks.groups.pool(group), group);
        } else {
            self.blocks.groups.seal(group);
        }
    }

    /// A program failed: its units are written elsewhere (the controller still has them). Returns the time.
    #[cold]
    pub(super) fn replace_row(
        &mut self,
        by: DieId,
        die: DieId,
        purpose: Purpose,
        block: BlockId,
        slots: Range<u32>,
    ) -> Nanos {
        let takes_reserve = self.kind.single_frontier && self.spare.reserve() > 0;
        let state = self.die_mut(die);
        state.frontier_mut(purpose).close();
        state.short = takes_reserve;
        self.seal(die, purpose);
        let is_open = self.open(die, purpose);
        // With no block to go to the row counts as programmed; the block is still retired later.
        for slot in if is_open { slots } else { 0..0 } {
            let from = self.geometry.ppn(block, slot);
            if self.mapping.owner(from).is_some() {
                self.move_unit(from, die, purpose);
            }
        }
        self.die_mut(die).doomed.push(block);
        if is_open { self.end_row(by, die, purpose) } else { Nanos::ZERO }
    }

    /// A map entry is used (`dirty`: changed). Flash reads and writes that this costs are left in
    /// the cache's lists for the drive to fetch; without a demand-cached map nothing happens.
    #[inline]
    pub fn touch_map(&mut self, lpn: Lpn, dirty: bool) {
        if self.map_cache.is_some() {
            self.look_up(lpn, dirty);
        }
    }

    #[cold]
    fn look_up(&mut self, lpn: Lpn, dirty: bool) {
        let Some(cache) = self.map_cache.as_mut().filter(|cache| cache.holds(lpn)) else { return };
        let (load, evict) = cache.access(lpn, dirty);
        if let Some(page) = load
            && let Place::Flash(ppn) = self.mapping.place(page)
        {
            self.counters.map_pages_read += 1;
            cache.loads.push(ppn);
        }
        if let Some(page) = evict {
            self.counters.map_pages_written += 1;
            cache.evictions.push(page);
        }
    }
}
