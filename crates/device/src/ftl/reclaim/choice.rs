//! The next victim: what is failing first, then what is to be folded, then what wear levelling or the
//! policy names. A victim is taken only if there is room for what is valid in it.

use crate::ftl::Ftl;
use crate::ftl::frontier::Purpose;
use crate::ftl::job::Reason;
use crate::ftl::pool::Group;
use crate::ftl::rules::Rules;
use crate::ftl::victim::Leveling;
use crate::nand::contents::Contents;
use crate::units::{BlockId, DieId};
use std::cmp::Reverse;

/// Jobs after which static wear levelling looks for a block that is left behind, and after a look that
/// found one: the less often it looks the less it costs, and with the second a worn drive still catches up.
const JOBS_PER_LOOK: u32 = 32;
const JOBS_PER_LEVELING: u32 = 8;
/// Data is cold that stayed where it is while so many times as many groups were sealed as the drive has:
/// under uniform writes each group is sealed anew once in about as many.
const ROUNDS_UNTIL_COLD: u64 = 2;
/// A victim gains at least one of so many units, or collection is taken to gain nothing: more moves for
/// each write of the host are a drive that stands still.
const UNITS_PER_GAIN: u32 = 1024;

impl<C: Contents> Ftl<C> {
    /// Units for which a die (with superblocks: its pool) has room without erasing anything. A die
    /// whose last free block went bad moves to other dies, into what those do not have to keep free.
    fn room(&self, die: DieId, purpose: Purpose) -> u32 {
        let own: u32 =
            self.dies[self.blocks.sharing(die)].iter().map(|state| state.frontier(purpose).rows_left()).sum();
        let rows = own + self.parked_rows(die, purpose);
        let free = self.free_groups(die);
        let lends = free == 0 && !self.blocks.span_dies();
        let groups = if lends { self.blocks_to_lend() } else { free * self.blocks.width };
        let room = rows / self.geometry.rows_per_unit * self.geometry.units_per_row;
        // Of each stream but one a row more may be filled up.
        let filled_up = (self.blocks.streams.count() - 1) * (self.geometry.units_per_row - 1);
        (room + groups * self.geometry.units_per_block()).saturating_sub(filled_up)
    }

    /// Free blocks of all dies beyond the one that each has to keep.
    fn blocks_to_lend(&self) -> u32 {
        let lent = |die: usize| self.free_groups(DieId(die as u16)).saturating_sub(1);
        (0..self.dies.len()).map(lent).sum()
    }

    /// The next victim of a die's pool, why it is taken, and the block of it that is failing.
    pub(super) fn choose(&mut self, die: DieId) -> Option<(Group, Reason, Option<BlockId>)> {
        let room = self.room(die, self.destination());
        if let Some(block) = self.take_doomed(die, room) {
            return Some((self.blocks.group_of(block), Reason::Retiring, Some(block)));
        }
        if let Some(group) = self.foldable(die, room) {
            return Some((group, Reason::Folding, None));
        }
        if let Some(group) = self.lagging(die) {
            return Some((group, Reason::Leveling, None));
        }
        let picked = self.choose_garbage(die)?;
        let pool = self.blocks.pool_of(die);
        // Where the policy's victim needs more room than is left, the one that needs least may still fit.
        let group = if self.fits(pool, picked, room) { picked } else { self.best_of_all(pool)? };
        self.fits(pool, group, room).then_some((group, Reason::Garbage, None))
    }

    /// A group is full, and there is room for what is valid in it.
    fn fits(&self, pool: usize, group: Group, room: u32) -> bool {
        let is_full = self.blocks.groups.is_sealed(group) || self.slc.is_sealed(pool, group);
        is_full && self.room_for(group) <= room
    }

    fn room_for(&self, group: Group) -> u32 {
        self.blocks.room_for(&self.flash.array, &self.geometry, group)
    }

    /// A block in which a program failed. It comes back to nobody: a block's room must be left to collect
    /// the next.
    fn take_doomed(&mut self, die: DieId, room: u32) -> Option<BlockId> {
        let left = room.saturating_sub(self.group_units());
        let pool = self.blocks.pool_of(die);
        let fitting = |block: &BlockId| self.fits(pool, self.blocks.group_of(*block), left);
        let place = self.die(die).doomed.iter().position(fitting)?;
        Some(self.die_mut(die).doomed.swap_remove(place))
    }

    /// The SLC block to be folded. Folding gains nothing for data where the cache's blocks are its own: it
    /// must leave what the watermarks ask for, and so waits for idle time.
    fn foldable(&self, die: DieId, room: u32) -> Option<Group> {
        let pool = self.blocks.pool_of(die);
        let high = self.rules.config.gc_high_blocks;
        let kept = if self.slc.owns_all(pool) { high * self.group_units() } else { 0 };
        self.slc.oldest(pool).filter(|group| self.room_for(*group) + kept <= room)
    }

    /// The SLC cache is so full that a block of it is to be folded while the host writes, and one can be.
    pub(in crate::ftl) fn folds_under_load(&self, die: DieId) -> bool {
        self.slc.is_pressed(self.blocks.pool_of(die))
            && !self.is_blocked(die)
            && self.foldable(die, self.room(die, self.destination())).is_some()
    }

    /// Every so many jobs, the block that static wear levelling moves.
    fn lagging(&mut self, die: DieId) -> Option<Group> {
        let state = self.die_mut(die);
        state.jobs_since_leveling += 1;
        if state.jobs_since_leveling < JOBS_PER_LOOK {
            return None;
        }
        state.jobs_since_leveling = 0;
        let (pool, room) = (self.blocks.pool_of(die), self.room(die, Purpose::Leveling));
        let group = self.left_behind(die).filter(|group| self.fits(pool, *group, room))?;
        self.die_mut(die).jobs_since_leveling = JOBS_PER_LOOK - JOBS_PER_LEVELING;
        Some(group)
    }

    fn choose_garbage(&mut self, die: DieId) -> Option<Group> {
        let pool = self.blocks.pool_of(die);
        let picked = self.ask(pool, Rules::pick);
        let capacity = self.group_units();
        // The last row of each block's moves, and of each stream's, is filled up: what gains less gains nothing.
        let filled_up = if self.kind.one_unit_rows { 1 } else { self.blocks.streams.count() };
        let least_gain = (capacity / UNITS_PER_GAIN).max(self.geometry.units_per_row * self.blocks.width * filled_up);
        let gains = |group: Group| self.gain(group) >= least_gain;
        if picked.is_some_and(gains) {
            return picked;
        }
        // A policy may pick a block of which everything is valid; it is moved for nothing, as the
        // closed forms for random victims have it. Where no block gains there is nothing to do.
        let best = self.best_of_all(pool).filter(|best| gains(*best))?;
        // Policies count units, by which a block of packed data, or a superblock with a bad lane, may look
        // emptier or fuller than it is: it would be picked again and again.
        let misleads = self.geometry.packing > 1 || picked.is_some_and(|group| self.good_units(group) < capacity);
        if misleads { Some(best) } else { picked }
    }

    /// Units that a group holds uncompressed.
    fn group_units(&self) -> u32 {
        self.geometry.units_per_block() * self.blocks.width
    }

    /// Units of room that collecting a group makes.
    fn gain(&self, group: Group) -> u32 {
        self.good_units(group).saturating_sub(self.room_for(group))
    }

    /// Units for which the good blocks of a group have room.
    fn good_units(&self, group: Group) -> u32 {
        let is_good = |block: &BlockId| !self.flash.array.is_bad(*block);
        let good = if self.blocks.span_dies() { self.blocks.lanes(group).filter(is_good).count() } else { 1 };
        good as u32 * self.geometry.units_per_block()
    }

    /// The sealed group that gains most, by a search of all.
    fn best_of_all(&self, pool: usize) -> Option<Group> {
        self.blocks.groups.sealed(pool).iter().copied().min_by_key(|group| Reverse(self.gain(*group)))
    }

    /// Whose data static wear levelling moves, by the policy or else by the drive's own rule; none where the spare has
    /// no block for each die that may stay open for cold data.
    fn left_behind(&mut self, die: DieId) -> Option<Group> {
        if self.spare_blocks() < i64::from(self.geometry.dies) {
            return None;
        }
        match self.ask(self.blocks.pool_of(die), Rules::level) {
            Leveling::BuiltIn => self.least_worn(die),
            Leveling::Nothing => None,
            Leveling::Move(group) => Some(group),
        }
    }

    /// The least worn group that holds cold data, if it is too far behind the most worn free one.
    fn least_worn(&self, die: DieId) -> Option<Group> {
        let limit = self.rules.config.static_wear_cycles?;
        let (pool, width, groups) = (self.blocks.pool_of(die), self.blocks.width, &self.blocks.groups);
        let erases = |group: &Group| self.flash.array.erases(BlockId(group.0 * width));
        let cold_age = ROUNDS_UNTIL_COLD * u64::from(self.geometry.blocks / width);
        let cold = groups.sealed(pool).iter().filter(|group| groups.age(**group) >= cold_age);
        let coldest = cold.min_by_key(|group| (erases(group), group.0))?;
        let most = groups.free_groups(pool).map(|group| erases(&group)).max()?;
        (most > limit + erases(coldest)).then_some(*coldest)
    }
}
