//! The next victim: what is failing first, then what is to be folded, then what wear levelling or the
//! policy names. A victim is taken only if there is room for what is valid in it.

use super::Reason;
use crate::ftl::Ftl;
use crate::ftl::frontier::Purpose;
use crate::ftl::pool::Group;
use crate::ftl::victim::Candidates;
use crate::nand::array::Payload;
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

impl<P: Payload> Ftl<P> {
    /// Units for which a die (with superblocks: the drive) has room without erasing anything. A die
    /// whose last free block went bad moves to other dies, into what those do not have to keep free.
    fn room(&self, die: DieId, purpose: Purpose) -> u32 {
        let purpose = purpose as usize;
        let lanes = if self.width == 1 { usize::from(die.0)..usize::from(die.0) + 1 } else { 0..self.dies.len() };
        let rows: u32 = self.dies[lanes].iter().map(|state| state.frontiers[purpose].rows_left()).sum();
        let free = self.free_groups(die);
        let groups = if free == 0 && self.width == 1 { self.blocks_to_lend() } else { free * self.width };
        rows / self.geometry.rows_per_unit * self.geometry.units_per_row + groups * self.geometry.units_per_block()
    }

    /// Free blocks of all dies beyond the one that each has to keep.
    fn blocks_to_lend(&self) -> u32 {
        let lent = |die: usize| self.free_groups(DieId(die as u16)).saturating_sub(1);
        (0..self.dies.len()).map(lent).sum()
    }

    /// The next victim of a die's pool, why it is taken, and the block of it that is failing.
    pub(super) fn choose(&mut self, die: DieId) -> Option<(Group, Reason, Option<BlockId>)> {
        let room = self.room(die, self.destination());
        let index = usize::from(die.0);
        let pool = self.pool_of_die(die);
        let is_full = |ftl: &Self, group: Group| ftl.groups.is_sealed(group) || ftl.slc_sealed[pool].contains(&group.0);
        let fits = |ftl: &Self, group: Group, room: u32| is_full(ftl, group) && ftl.room_for(group) <= room;
        // A retired block comes back to nobody: a block's room must be left to collect the next.
        let block_units = self.geometry.units_per_block() * self.width;
        let spare_room = room.saturating_sub(block_units);
        let fitting = |&i: &usize| fits(self, self.group_of(self.dies[index].doomed[i]), spare_room);
        if let Some(place) = (0..self.dies[index].doomed.len()).find(fitting) {
            let block = self.dies[index].doomed.swap_remove(place);
            return Some((self.group_of(block), Reason::Retiring, Some(block)));
        }
        // Folding gains nothing for data where the cache's blocks are its own: it must leave what the
        // watermarks ask for, and so waits for idle time.
        let is_own = self.slc_in_use[pool] <= self.slc_reserved;
        let kept = if is_own { self.config().gc_high_blocks * block_units } else { 0 };
        if let Some(group) = self.slc_sealed[pool].front().copied().map(Group)
            && self.room_for(group) + kept <= room
        {
            return Some((group, Reason::Folding, None));
        }
        self.dies[index].jobs_since_leveling += 1;
        if self.dies[index].jobs_since_leveling >= JOBS_PER_LOOK {
            self.dies[index].jobs_since_leveling = 0;
            let has_room = |group: &Group| fits(self, *group, self.room(die, Purpose::Leveling));
            if let Some(group) = self.left_behind(die).filter(has_room) {
                self.dies[index].jobs_since_leveling = JOBS_PER_LOOK - JOBS_PER_LEVELING;
                return Some((group, Reason::Leveling, None));
            }
        }
        let picked = self.choose_garbage(die)?;
        // Where the policy's victim needs more room than is left, the one that needs least may still fit.
        let group = if fits(self, picked, room) { picked } else { self.best_of_all(pool)? };
        fits(self, group, room).then_some((group, Reason::Garbage, None))
    }

    fn choose_garbage(&mut self, die: DieId) -> Option<Group> {
        let pool = self.pool_of_die(die);
        let mut policy = self.policy.take().expect("configured");
        let candidates = Candidates { groups: &self.groups, pool };
        let picked = policy.pick(&candidates, &mut self.victim_draws);
        self.policy = Some(policy);
        let capacity = self.geometry.units_per_block() * self.width;
        // The last row of each block's moves is filled up: what gains less than a row gains nothing.
        let least_gain = (capacity / UNITS_PER_GAIN).max(self.geometry.units_per_row * self.width);
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

    /// Units of room that collecting a group makes.
    fn gain(&self, group: Group) -> u32 {
        self.good_units(group).saturating_sub(self.room_for(group))
    }

    /// Units for which the good blocks of a group have room.
    fn good_units(&self, group: Group) -> u32 {
        let blocks = group.0 * self.width..(group.0 + 1) * self.width;
        let good = if self.width == 1 { 1 } else { blocks.filter(|&block| !self.array.is_bad(BlockId(block))).count() };
        good as u32 * self.geometry.units_per_block()
    }

    /// The sealed group that gains most, by a search of all.
    fn best_of_all(&self, pool: usize) -> Option<Group> {
        self.groups.sealed(pool).iter().copied().min_by_key(|group| Reverse(self.gain(*group)))
    }

    /// The least worn group that holds cold data, if it is too far behind the most worn free one; none where the
    /// spare has no block for each die that may stay open for cold data.
    fn left_behind(&self, die: DieId) -> Option<Group> {
        let limit = self.config().static_wear_cycles?;
        if self.spare_blocks() < i64::from(self.geometry.dies) {
            return None;
        }
        let (pool, width) = (self.pool_of_die(die), self.width);
        let erases = |group: &Group| self.array.erases(BlockId(group.0 * width));
        let cold_age = ROUNDS_UNTIL_COLD * u64::from(self.geometry.blocks / width);
        let cold = self.groups.sealed(pool).iter().filter(|group| self.groups.age(**group) >= cold_age);
        let coldest = cold.min_by_key(|group| (erases(group), group.0))?;
        let most = self.groups.free_groups(pool).map(|group| erases(&group)).max()?;
        (most > limit + erases(coldest)).then_some(*coldest)
    }
}
