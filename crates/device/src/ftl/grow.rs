//! A large drive out of copies of a small one that is in steady state.
//!
//! Dies of a page-mapped drive collect each for itself, so a drive of many dies is, in steady state, many
//! times a drive of a few. A copy of so many becomes dies of the large drive, or a part of their blocks; which
//! of its units becomes which is told in `growth`. The caller lets the small drive go on between two copies, so
//! that the dies do not collect in step.
//!
//! Copied are sealed blocks with their order of sealing and their wear; one of the copies that share a die
//! brings its open and free blocks and its job too, of the others a victim is sealed again. The large drive's
//! bad blocks are its own: a die that has fewer good blocks than the small one leaves some out, a die that
//! has more begins with more free ones. What so is mapped nowhere the host has to write once more.
//!
//! A superblock consists of those of the same copies of a narrower one, all taken at one time; what the small drive
//! works on is left out there, since each lane would be at work in step. Blocks that only an SLC cache may use are full
//! of what was overwritten, as they are without idle time. The cache of a map begins empty: it fills at once.
//!
//! Left out: what a dynamic SLC cache borrows, and contents.

use crate::ftl::Ftl;
use crate::ftl::growth::{Growing, Growth};
use crate::ftl::pool::Group;
use crate::ftl::table::NONE;
use crate::ftl::translation::MapCache;
use crate::units::{BlockId, DieId, Lpn, Ppn};

impl Ftl {
    /// Free blocks of a die with which the host opens no more.
    pub fn blocks_kept_free(&self) -> u32 {
        let low = if self.kind.single_frontier { 0 } else { self.rules.config.gc_low_blocks };
        low.max(1 + self.spare.reserve())
    }

    /// Dies that choose victims together.
    pub fn dies_of_a_pool(&self) -> u32 {
        self.blocks.width
    }

    /// Copies of a small drive are a drive like this one: what a block holds is alike.
    pub fn grows_from(&self, small: &Ftl) -> bool {
        let lanes_match = self.blocks.width.is_multiple_of(small.blocks.width);
        lanes_match && self.blocks.slots == small.blocks.slots && self.blocks.span_dies() == small.blocks.span_dies()
    }

    /// Begins to grow from drives like this one, out of the box: nothing may be written until [`Ftl::end_growth`].
    pub fn begin_growth(&mut self, growth: Growth, small: &Ftl) -> Growing {
        assert!(self.grows_from(small), "the caller has asked");
        self.blocks.clear(self.rules.policy.order());
        let lanes = self.blocks.width / small.blocks.width;
        let parts = growth.copies / (self.geometry.dies / small.geometry.dies);
        let pools = self.blocks.groups.pools();
        let mut good = vec![Vec::new(); pools];
        let is_good = |group: &Group| self.blocks.lanes(*group).any(|block| !self.flash.array.is_bad(block));
        self.blocks.all_groups().filter(is_good).for_each(|group| good[self.blocks.groups.pool(group)].push(group));
        Growing::new(growth, good, parts, lanes)
    }

    /// Adds a copy of the small drive as it is now.
    pub fn add_copy(&mut self, growing: &mut Growing, small: &Ftl) {
        growing.begin_copy(small.geometry.blocks, small.blocks.all_groups().count() as u32);
        let (place, pools) = (growing.place(), small.blocks.groups.pools());
        for from in 0..pools {
            let to = place.turn as usize * pools + from;
            if place.part == 0 && !self.blocks.span_dies() {
                self.copy_die_at_work(growing, small, DieId(from as u16), to);
            }
            if place.part == 0 && place.lane == 0 {
                growing.keep_free(to, small.blocks.groups.free(from) + self.slc.reserved as usize);
            }
            self.copy_sealed_groups(growing, small, from, to);
        }
        self.copy_units(growing, small);
        growing.counters = growing.counters + small.counters;
        growing.copied += 1;
    }

    /// Ends it: the drive can be written to. Units that no copy brought are unmapped.
    pub fn end_growth(&mut self, mut growing: Growing) {
        assert_eq!(growing.copied, growing.growth.copies, "all copies are there");
        for (group, number) in growing.in_order() {
            self.blocks.groups.seal_as(group, number);
        }
        self.exhaust_slc(&mut growing);
        for group in growing.left_over() {
            for block in self.blocks.lanes(group) {
                self.flash.array.set_used(block, 0, growing.mean_erases());
            }
            self.blocks.groups.release(group);
        }
        self.counters = growing.counters;
    }

    /// Blocks that only the SLC cache may use are full of what was overwritten since: without idle time nothing
    /// empties them.
    fn exhaust_slc(&mut self, growing: &mut Growing) {
        let (rows, each) = (self.geometry.rows / self.geometry.page_kinds, self.geometry.rows_per_unit);
        for pool in 0..self.blocks.groups.pools() {
            for group in growing.take_left_over(pool, self.slc.reserved) {
                let lanes = self.blocks.lanes(group);
                for block in lanes.filter(|block| !self.flash.array.is_bad(*block)).collect::<Vec<_>>() {
                    self.flash.array.set_slc(block, true);
                    self.flash.array.set_used(block, rows / each * each, growing.mean_erases());
                }
                self.slc.open(pool);
                self.slc.seal(pool, group);
            }
        }
    }

    /// What a die works on: its open blocks and its job.
    fn copy_die_at_work(&mut self, growing: &mut Growing, small: &Ftl, from: DieId, to: usize) {
        let state = small.die(from);
        let mut copy = state.without_job();
        for frontier in copy.frontiers.iter_mut().filter(|frontier| frontier.has_room()) {
            let group = growing.take_group(to);
            self.copy_wear(growing, small, frontier.block(), BlockId(group.0));
            self.blocks.groups.add_valid(group, small.blocks.slots - frontier.slots_used());
            *frontier = frontier.moved_to(BlockId(group.0));
        }
        if let Some(job) = &state.job {
            let group = growing.take_group(to);
            self.copy_wear(growing, small, job.victim(), BlockId(group.0));
            self.blocks.collect_lanes(group, 1);
            copy.restart_job(job.restarted_in(BlockId(group.0)), state);
        }
        self.dies[to] = copy;
    }

    /// In order of their numbers from the one on at which the next victim is looked for, as the large drive looks from
    /// the first on: so what comes next there is as old in each copy. Should the pool have too few groups, those that
    /// are left out are the last victims.
    fn copy_sealed_groups(&mut self, growing: &mut Growing, small: &Ftl, from: usize, to: usize) {
        let groups = || small.blocks.all_groups().filter(|group| small.blocks.groups.pool(*group) == from);
        let turn = small.blocks.groups.laid_out(from).turn as usize;
        for group in groups().skip(turn).chain(groups().take(turn)) {
            if !self.is_copied_as_sealed(growing, small, group) {
                continue;
            }
            let age = small.blocks.groups.age(group);
            let Some(copy) = growing.group_to_seal(group, to, age) else { continue };
            let first = growing.place().lane * small.blocks.width;
            for (lane, block) in (first..).zip(small.blocks.lanes(group)) {
                let copy = BlockId(copy.0 * self.blocks.width + lane);
                if !self.flash.array.is_bad(copy) && !small.flash.array.is_bad(block) {
                    self.copy_wear(growing, small, block, copy);
                }
            }
        }
    }

    /// A group is sealed, or it is what a die of the small drive works on, of which this copy brings only the sealed.
    fn is_copied_as_sealed(&self, growing: &Growing, small: &Ftl, group: Group) -> bool {
        if small.blocks.groups.is_sealed(group) {
            return true;
        }
        let is_victim =
            |block: BlockId| small.dies.iter().filter_map(|die| die.job.as_ref()).any(|job| job.victim() == block);
        !small.blocks.span_dies() && growing.place().part > 0 && is_victim(BlockId(group.0))
    }

    /// How far a block is programmed, and how often it was erased.
    fn copy_wear(&mut self, growing: &mut Growing, small: &Ftl, from: BlockId, to: BlockId) {
        let array = &small.flash.array;
        self.flash.array.set_used(to, array.programmed_rows(from), array.erases(from));
        if let Some(fill) = small.blocks.packing.fill(array, &small.geometry, from) {
            self.blocks.packing.note(to, fill.slots);
        }
        growing.block_becomes(from, to, array.erases(from));
    }

    /// Copies the host's units, and the pages of a cached map, that lie in blocks of which there is a copy; units in
    /// open blocks that have none, and the journal of the map, are left out.
    ///
    /// The map back is written block by block. Of the map, by far the largest, entries of many copies lie side by side:
    /// they are gathered, and written together.
    fn copy_units(&mut self, growing: &mut Growing, small: &Ftl) {
        let slot_in_copy = |lpn: u32| {
            let slot = small.mapping.flash_slot(Lpn(lpn))?;
            let copy = growing.copy_of(small.geometry.block(slot))?;
            Some(self.geometry.ppn(copy, small.geometry.slot(slot)))
        };
        let slots: Vec<u32> = (0..small.exported).map(|lpn| slot_in_copy(lpn).map_or(NONE, |slot| slot.0)).collect();
        let pages: Vec<(u32, Ppn)> = (0..small.map_pages())
            .filter_map(|page| Some((growing.page(page, self.map_pages())?, slot_in_copy(small.exported + page)?)))
            .collect();
        pages.into_iter().for_each(|(page, slot)| self.mapping.set_entry(Lpn(self.exported + page), slot));
        for block in (0..small.geometry.blocks).map(BlockId) {
            if let Some(to) = growing.copy_of(block) {
                self.copy_records(growing, small, block, to);
            }
        }
        for (lpn, slot) in growing.gather(slots) {
            self.mapping.set_entry(lpn, slot);
        }
    }

    /// Copies the records of what is valid in a block.
    fn copy_records(&mut self, growing: &Growing, small: &Ftl, from: BlockId, to: BlockId) {
        let first = small.geometry.ppn(from, 0).0;
        let used = small.blocks.slots_in_use(&small.flash.array, &small.geometry, from);
        // Of what a job has moved the record stays.
        let has_stale = small.dies.iter().filter_map(|die| die.job.as_ref()).any(|job| job.victim() == from);
        let mut valid = 0;
        for (slot, owner) in (first..).zip(small.mapping.owners(first..first + used)) {
            let is_stale = || has_stale && small.mapping.flash_slot(Lpn(owner)) != Some(Ppn(slot));
            if owner == NONE || is_stale() {
                continue;
            }
            let unit = match owner.checked_sub(small.exported) {
                None => growing.unit(owner),
                Some(own) if own < small.map_pages() => {
                    growing.page(own, self.map_pages()).map(|page| self.exported + page)
                }
                Some(_) => None,
            };
            if let Some(unit) = unit {
                self.mapping.set_record(self.geometry.ppn(to, slot - first), Lpn(unit));
                valid += 1;
            }
        }
        self.blocks.groups.add_valid(self.blocks.group_of(to), valid);
    }

    /// Translation pages of a cached map.
    fn map_pages(&self) -> u32 {
        self.map_cache.as_ref().map_or(0, MapCache::pages)
    }
}
