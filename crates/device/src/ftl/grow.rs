//! A large drive out of copies of a small one that is in steady state.
//!
//! Dies of a page-mapped drive collect each for itself, so a drive of many dies is, in steady state, many
//! times a drive of a few. Copy c of so many, k, becomes dies of the large drive, or a part of their blocks;
//! of its logical units, run q (units that one command writes together) becomes run
//!
//! ```text
//!   q·k + (c + r(q)) mod k,   r: any number that follows from q
//! ```
//! of the large one: neighbours there lie on dies that chance decides, and what is written more often in
//! some part of the small drive is so in the same part of the large. The caller lets the small drive go on
//! between two copies, so that the dies do not collect in step.
//!
//! Copied are sealed blocks with their order of sealing and their wear; one of the copies that share a die
//! brings its open and free blocks and its job too, of the others a victim is sealed again. The large drive's
//! bad blocks are its own: a die that has fewer good blocks than the small one leaves some out, a die that
//! has more begins with more free ones. What so is mapped nowhere the host has to write once more.
//!
//! Left out: SLC mode, superblocks, a demand-cached map, packed units ([`Ftl::can_grow`]).

use crate::counters::Counters;
use crate::ftl::pool::{Group, GroupTable};
use crate::ftl::{DieState, Ftl, NONE};
use crate::units::{BlockId, DieId};
use std::cmp::Reverse;

/// How a small drive becomes a large one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Copies, a multiple of the times that the large drive has the dies of the small one.
    pub copies: u32,
    /// Units that the host writes together, of which both drives' hold whole multiples.
    pub run: u32,
    /// Units that the host of the large drive uses: those from the first on.
    pub used: u32,
}

impl Growth {
    /// The unit of the large drive that a copy of a unit becomes; none where it has no such unit.
    #[inline]
    fn unit(&self, lpn: u32, copy: u32) -> Option<u32> {
        // A division takes as long as all the rest.
        let (run, place) = if self.run == 1 { (lpn, 0) } else { (lpn / self.run, lpn % self.run) };
        let copies = u64::from(self.copies);
        let turned = u64::from(copy) + ((u64::from(scattered(run)) * copies) >> 32);
        let turned = if turned < copies { turned } else { turned - copies };
        let unit = (u64::from(run) * copies + turned) * u64::from(self.run) + u64::from(place);
        (unit < u64::from(self.used)).then_some(unit as u32)
    }
}

/// A number that follows from another and looks like chance: the finalizer of SplitMix64 (Steele et al. 2014).
fn scattered(number: u32) -> u32 {
    let mut mixed = u64::from(number).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> 32) as u32
}

/// A block that is sealed in the large drive.
#[derive(Clone, Copy, Debug)]
struct Sealed {
    /// Blocks sealed in the small drive since it was.
    age: u64,
    copy: u32,
    group: Group,
}

/// A large drive on its way: nothing works but what is here.
pub struct Growing {
    large: Ftl,
    growth: Growth,
    copied: u32,
    /// Good blocks of each die that nothing was copied into, the next one last.
    spare: Vec<Vec<BlockId>>,
    /// Of those, the ones that stay free.
    kept_free: Vec<usize>,
    sealed: Vec<Sealed>,
    counters: Counters,
    /// Erases of the blocks copied.
    erases: u64,
}

impl Ftl {
    /// A drive in steady state is many times a smaller one, and nothing is in it that cannot be copied.
    pub fn can_grow(&self) -> bool {
        self.width == 1 && self.slc_limit == 0 && self.map_cache.is_none() && self.geometry.packing == 1
    }

    /// Free blocks of a die with which the host opens no more.
    pub fn blocks_kept_free(&self) -> u32 {
        let low = if self.single_frontier { 0 } else { self.config().gc_low_blocks };
        low.max(1 + self.reserve)
    }

    /// Begins to grow, from a drive fresh out of the box.
    pub fn grow(mut self, growth: Growth) -> Growing {
        assert!(self.can_grow(), "the caller has asked");
        let order = self.policy.as_ref().expect("configured").order();
        self.groups = GroupTable::new(self.geometry.blocks, self.geometry.dies, self.groups.capacity(), order);
        let good = |die: u32| {
            let blocks = (die..self.geometry.blocks).step_by(self.geometry.dies as usize).map(BlockId);
            let mut good: Vec<BlockId> = blocks.filter(|block| !self.array.is_bad(*block)).collect();
            good.reverse();
            good
        };
        Growing {
            spare: (0..self.geometry.dies).map(good).collect(),
            kept_free: vec![0; self.geometry.dies as usize],
            sealed: Vec::new(),
            counters: Counters::default(),
            erases: 0,
            copied: 0,
            growth,
            large: self,
        }
    }

    /// A frontier has room in this block.
    fn is_open(&self, block: BlockId) -> bool {
        let state = &self.dies[usize::from(self.geometry.die(block).0)];
        state.frontiers.iter().any(|frontier| frontier.has_room() && frontier.block() == block)
    }

    /// The die's job empties this block.
    fn is_victim(&self, block: BlockId) -> bool {
        let job = self.dies[usize::from(self.geometry.die(block).0)].job.as_ref();
        job.is_some_and(|job| job.seen().0 == block)
    }
}

impl Growing {
    /// Adds a copy of the small drive as it is now.
    pub fn add(&mut self, small: &Ftl) {
        let parts = self.growth.copies / (self.large.geometry.dies / small.geometry.dies);
        let (turn, part) = (self.copied / parts, self.copied % parts);
        for die in 0..small.geometry.dies {
            let to = DieId((turn * small.geometry.dies + die) as u16);
            if part == 0 {
                self.copy_die_at_work(small, DieId(die as u16), to);
            }
            self.copy_sealed_blocks(small, die, to, part > 0);
        }
        self.counters = self.counters + small.counters;
        self.copied += 1;
    }

    /// What a die works on: its open blocks and its job; and how many blocks it has free.
    fn copy_die_at_work(&mut self, small: &Ftl, from: DieId, to: DieId) {
        let (state, to) = (&small.dies[usize::from(from.0)], usize::from(to.0));
        let mut copy = DieState { job: None, sources: Vec::new(), next_source: 0, ..state.clone() };
        for frontier in copy.frontiers.iter_mut().filter(|frontier| frontier.has_room()) {
            let block = self.spare[to].pop().expect("a die has more good blocks than open ones");
            let valid = self.copy_units(small, frontier.block(), block);
            self.large.groups.add_valid(Group(block.0), valid + small.slots - frontier.slots_used());
            *frontier = frontier.moved_to(block);
        }
        if let Some(job) = &state.job {
            let block = self.spare[to].pop().expect("as above");
            let valid = self.copy_units(small, job.seen().0, block);
            self.large.groups.add_valid(Group(block.0), valid);
            self.large.lanes_left[block.0 as usize] = 1;
            copy.job = Some(job.restarted_in(block));
        }
        (copy.gathered, copy.doomed) = Default::default();
        self.kept_free[to] = small.groups.free(usize::from(from.0));
        self.large.dies[to] = copy;
    }

    /// In order of block numbers, which say nothing of what is in them: should the die have too few, those
    /// that are left out are any.
    fn copy_sealed_blocks(&mut self, small: &Ftl, from: u32, to: DieId, with_victim: bool) {
        let to = usize::from(to.0);
        for block in (from..small.geometry.blocks).step_by(small.geometry.dies as usize).map(BlockId) {
            let is_empty = small.array.is_bad(block) || small.array.programmed_rows(block) == 0;
            if is_empty || small.is_open(block) || !with_victim && small.is_victim(block) {
                continue;
            }
            if self.spare[to].len() <= self.kept_free[to] {
                return;
            }
            let copy = self.spare[to].pop().expect("just looked");
            let (group, valid) = (Group(copy.0), self.copy_units(small, block, copy));
            self.large.groups.add_valid(group, valid);
            self.sealed.push(Sealed { age: small.groups.age(Group(block.0)), copy: self.copied, group });
        }
    }

    /// Copies what is in a block; returns how many units are valid in the copy.
    fn copy_units(&mut self, small: &Ftl, from: BlockId, to: BlockId) -> u32 {
        let (first, to_first) = (small.geometry.ppn(from, 0).0, self.large.geometry.ppn(to, 0).0);
        let mut valid = 0;
        for (slot, lpn) in (0..small.slots).zip(small.reverse.range(first..first + small.slots)) {
            // What a job under way has moved may still stand in the victim.
            if lpn == NONE || lpn >= small.exported || small.map.get(lpn) != first + slot {
                continue;
            }
            if let Some(unit) = self.growth.unit(lpn, self.copied) {
                self.large.map.set(unit, to_first + slot);
                self.large.reverse.set(to_first + slot, unit);
                valid += 1;
            }
        }
        let erases = small.array.erases(from);
        self.erases += u64::from(erases);
        self.large.array.set_used(to, small.array.programmed_rows(from), erases);
        valid
    }

    /// Ends it: the drive can be written to. Units that no copy brought are unmapped.
    pub fn finish(mut self) -> Ftl {
        assert_eq!(self.copied, self.growth.copies, "all copies are there");
        self.seal();
        let copied = self.large.geometry.blocks as usize - self.spare.iter().map(Vec::len).sum::<usize>();
        let mean = (self.erases / copied.max(1) as u64) as u32;
        for block in self.spare.iter().flat_map(|spare| spare.iter().rev()) {
            self.large.array.set_used(*block, 0, mean);
            self.large.groups.release(Group(block.0));
        }
        self.large.counters = self.counters;
        self.large
    }

    /// As many blocks were sealed between two as in the small drive, times the copies.
    fn seal(&mut self) {
        self.sealed.sort_unstable_by_key(|sealed| (Reverse(sealed.age), sealed.copy));
        let oldest = self.sealed.first().map_or(0, |sealed| sealed.age);
        for sealed in &self.sealed {
            let number = (oldest - sealed.age) * u64::from(self.growth.copies) + u64::from(sealed.copy) + 1;
            self.large.groups.seal_as(sealed.group, number);
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Every unit of the large drive comes from one unit of one copy, and a run stays together.
    #[test]
    fn each_unit_comes_from_one_copy() {
        let growth = Growth { copies: 6, run: 4, used: 24 * 10 };
        let mut from = vec![0; growth.used as usize];
        for (lpn, copy) in (0..40).flat_map(|lpn| (0..6).map(move |copy| (lpn, copy))) {
            let unit = growth.unit(lpn, copy).expect("forty units, six times over");
            from[unit as usize] += 1;
            let first = growth.unit(lpn / 4 * 4, copy).expect("as above");
            assert_eq!((unit - first, first % 4), (lpn % 4, 0));
        }
        assert!(from.iter().all(|times| *times == 1), "{from:?}");
        assert_eq!(growth.unit(40, 0), None, "the large drive ends there");
    }
}
