//! How a small drive becomes a large one: which unit of a copy becomes which, and what of the copies is not yet
//! in order.
//!
//! Of the small drive's logical units, run q (units that one command writes together) becomes in copy c of k run
//!
//! ```text
//!   q·k + (c + r(q)) mod k,   r: any number that follows from q
//! ```
//! of the large one: neighbours there lie on dies that chance decides, and what is written more often in some
//! part of the small drive is so in the same part of the large.

use crate::counters::Counters;
use crate::ftl::pool::Group;
use crate::ftl::table::NONE;
use crate::units::{BlockId, Lpn, Ppn};
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
    pub(super) fn unit(&self, lpn: u32, copy: u32) -> Option<u32> {
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

/// Every so many-th group, then those behind them, and so on: each share lies all over the pool.
fn in_turns(groups: &[Group], parts: usize) -> impl DoubleEndedIterator<Item = Group> {
    (0..parts).flat_map(move |part| groups.iter().skip(part).step_by(parts).copied())
}

/// Copies whose units are written into the map together: as many as a cache line has entries.
const MOST_GATHERED: u32 = 16;
/// Not more than one in so many of all copies is gathered: what is gathered takes as much memory as its part of the map.
const COPIES_PER_GATHERED: u32 = 8;

/// Where a copy goes. A *turn* fills pools anew, each *part* so large a share of their groups, each *lane* so many
/// dies of these groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which pools.
    pub turn: u32,
    /// Which share of their groups.
    pub part: u32,
    /// Which dies of these.
    pub lane: u32,
}

/// A group that is sealed in the large drive.
#[derive(Clone, Copy, Debug)]
struct Sealed {
    /// Groups sealed in the small drive since it was.
    age: u64,
    copy: u32,
    group: Group,
}

/// What is known of a large drive on its way, besides what it has become so far.
#[derive(Debug)]
pub struct Growing {
    /// How it grows.
    pub growth: Growth,
    /// Copies that it has.
    pub(super) copied: u32,
    /// Copies that share pools, and of those the ones that share groups.
    parts: u32,
    lanes: u32,
    /// What each group and each block of the small drive becomes in the copy that is being added.
    groups: Vec<Option<Group>>,
    copies: Vec<Option<BlockId>>,
    /// Slots of the units of copies, not yet in the map of the large drive.
    gathered: Vec<(u32, Vec<u32>)>,
    /// What the copies have counted.
    pub(super) counters: Counters,
    /// Groups of each pool that nothing was copied into, the next one last.
    untouched: Vec<Vec<Group>>,
    /// Of those, the ones that stay free.
    kept_free: Vec<usize>,
    sealed: Vec<Sealed>,
    /// Blocks that something was copied into, and their erases.
    copied_blocks: u64,
    erases: u64,
}

impl Growing {
    /// No copy yet, into pools with these groups, which as many copies share as it takes to fill them.
    pub fn new(growth: Growth, mut good: Vec<Vec<Group>>, parts: u32, lanes: u32) -> Growing {
        good.iter_mut().for_each(|groups| *groups = in_turns(groups, parts as usize).rev().collect());
        Growing {
            growth,
            copied: 0,
            parts,
            lanes,
            groups: Vec::new(),
            copies: Vec::new(),
            gathered: Vec::new(),
            counters: Counters::default(),
            kept_free: vec![0; good.len()],
            untouched: good,
            sealed: Vec::new(),
            copied_blocks: 0,
            erases: 0,
        }
    }

    /// Where the next copy goes.
    pub(super) fn place(&self) -> Place {
        let (copy, lane) = (self.copied / self.lanes, self.copied % self.lanes);
        Place { turn: copy / self.parts, part: copy % self.parts, lane }
    }

    /// The next copy shares no groups with the last one: the small drive may go on before it.
    pub fn may_go_on(&self) -> bool {
        self.place().lane == 0
    }

    /// The next copy begins, of a drive with so many blocks in so many groups.
    pub(super) fn begin_copy(&mut self, blocks: u32, groups: u32) {
        self.copies.clear();
        self.copies.resize(blocks as usize, None);
        if self.place().lane == 0 {
            self.groups.clear();
            self.groups.resize(groups as usize, None);
        }
    }

    /// A block of the small drive, erased so often, becomes one of the large drive.
    pub(super) fn block_becomes(&mut self, from: BlockId, to: BlockId, erases: u32) {
        self.copies[from.0 as usize] = Some(to);
        self.copied_blocks += 1;
        self.erases += u64::from(erases);
    }

    /// What a block of the small drive has become in this copy.
    #[inline]
    pub(super) fn copy_of(&self, block: BlockId) -> Option<BlockId> {
        self.copies[block.0 as usize]
    }

    /// What a unit of the small drive becomes in this copy.
    #[inline]
    pub(super) fn unit(&self, lpn: u32) -> Option<u32> {
        self.growth.unit(lpn, self.copied)
    }

    /// What a translation page of the small drive becomes, of a large one that has so many.
    pub(super) fn page(&self, page: u32, pages: u32) -> Option<u32> {
        Growth { run: 1, used: pages, ..self.growth }.unit(page, self.copied)
    }

    /// Gathers the slots of this copy's units, in order of the small drive's. With the last copy, and every few, hands
    /// out what was gathered, in order of the large drive's: a unit and its slot each.
    pub(super) fn gather(&mut self, slots: Vec<u32>) -> impl Iterator<Item = (Lpn, Ppn)> {
        self.gathered.push((self.copied, slots));
        let most = (self.growth.copies / COPIES_PER_GATHERED).clamp(1, MOST_GATHERED);
        let is_due = self.gathered.len() as u32 == most || self.copied + 1 == self.growth.copies;
        let gathered = if is_due { std::mem::take(&mut self.gathered) } else { Vec::new() };
        let (growth, copies) = (self.growth, gathered.len());
        let units = gathered.first().map_or(0, |(_, slots)| slots.len());
        let places = (0..units).flat_map(move |lpn| (0..copies).map(move |copy| (lpn, copy)));
        places.filter_map(move |(lpn, copy)| {
            let (copy, slots) = &gathered[copy];
            let slot = Some(slots[lpn]).filter(|slot| *slot != NONE)?;
            Some((Lpn(growth.unit(lpn as u32, *copy)?), Ppn(slot)))
        })
    }

    /// So many groups of a pool stay free.
    pub(super) fn keep_free(&mut self, pool: usize, groups: usize) {
        self.kept_free[pool] = groups;
    }

    /// A group of a pool for what it works on.
    ///
    /// # Panics
    /// Where it has none left.
    pub(super) fn take_group(&mut self, pool: usize) -> Group {
        self.untouched[pool].pop().expect("a pool has more good groups than it works on")
    }

    /// The group of a pool that a sealed one becomes; none where the rest stay free. Since it was sealed in the small
    /// drive, `age` others were.
    pub(super) fn group_to_seal(&mut self, from: Group, pool: usize, age: u64) -> Option<Group> {
        if self.place().lane == 0 && self.untouched[pool].len() > self.kept_free[pool] {
            let group = self.untouched[pool].pop()?;
            self.groups[from.0 as usize] = Some(group);
            self.sealed.push(Sealed { age, copy: self.copied, group });
        }
        self.groups[from.0 as usize]
    }

    /// The groups to be sealed, each with the number of its sealing, which rises: as many were sealed between
    /// two as in the small drive, times the copies.
    pub(super) fn in_order(&mut self) -> impl Iterator<Item = (Group, u64)> {
        self.sealed.sort_unstable_by_key(|sealed| (Reverse(sealed.age), sealed.copy));
        let (oldest, copies) = (self.sealed.first().map_or(0, |sealed| sealed.age), u64::from(self.growth.copies));
        let number = move |sealed: &Sealed| (oldest - sealed.age) * copies + u64::from(sealed.copy) + 1;
        self.sealed.iter().map(move |sealed| (sealed.group, number(sealed)))
    }

    /// Groups that nothing was copied into.
    pub(super) fn left_over(&self) -> impl Iterator<Item = Group> {
        self.untouched.iter().flat_map(|groups| groups.iter().rev().copied())
    }

    /// How often blocks of the copies were erased on average.
    pub(super) fn mean_erases(&self) -> u32 {
        (self.erases / self.copied_blocks.max(1)) as u32
    }

    /// Up to so many groups of a pool that nothing was copied into.
    pub(super) fn take_left_over(&mut self, pool: usize, most: u32) -> Vec<Group> {
        let groups = &mut self.untouched[pool];
        groups.split_off(groups.len().saturating_sub(most as usize))
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

    /// By hand: of seven groups three copies have 0, 3 and 6, then 1 and 4, then 2 and 5.
    #[test]
    fn copies_that_share_a_pool_take_turns() {
        let groups: Vec<Group> = (0..7).map(Group).collect();
        let order: Vec<u32> = in_turns(&groups, 3).map(|group| group.0).collect();
        assert_eq!(order, [0, 3, 6, 1, 4, 2, 5]);
    }

    /// By hand: of twelve copies, two parts by three lanes, the eighth begins the second turn's first part's second lane.
    #[test]
    fn a_copy_has_its_place() {
        let growth = Growth { copies: 12, run: 1, used: 12 };
        let mut growing = Growing::new(growth, vec![Vec::new(); 2], 2, 3);
        let mut places = Vec::new();
        for copied in 0..12 {
            growing.copied = copied;
            places.push(growing.place());
        }
        assert_eq!(places[7], Place { turn: 1, part: 0, lane: 1 });
        assert_eq!(places[11], Place { turn: 1, part: 1, lane: 2 });
        growing.copied = 6;
        assert!(growing.may_go_on());
    }

    /// By hand: two copies of groups of age 5 and 3 are sealed as numbers 1, 2 and 5, 6; of five groups one
    /// stays free, and has been erased as often as the others on average.
    #[test]
    fn groups_are_sealed_in_order_of_age_and_some_stay_free() {
        let growth = Growth { copies: 2, run: 1, used: 8 };
        let mut growing = Growing::new(growth, vec![(0..5).map(Group).collect()], 2, 1);
        growing.keep_free(0, 1);
        for copied in 0..2 {
            growing.copied = copied;
            growing.begin_copy(3, 3);
            let sealed = [(0, 3), (2, 5)].map(|(from, age)| growing.group_to_seal(Group(from), 0, age));
            assert_eq!(sealed, [[Some(Group(0)), Some(Group(2))], [Some(Group(4)), Some(Group(1))]][copied as usize]);
        }
        assert_eq!(growing.group_to_seal(Group(1), 0, 9), None, "the last one stays free");
        [(0, 4), (2, 6)]
            .into_iter()
            .for_each(|(block, erases)| growing.block_becomes(BlockId(block), BlockId(1), erases));
        assert_eq!([0, 1, 2].map(|block| growing.copy_of(BlockId(block))), [Some(BlockId(1)), None, Some(BlockId(1))]);
        let order: Vec<_> = growing.in_order().map(|(group, number)| (group.0, number)).collect();
        assert_eq!(order, [(2, 1), (1, 2), (0, 5), (4, 6)]);
        assert_eq!((growing.left_over().collect::<Vec<_>>(), growing.mean_erases()), (vec![Group(3)], 5));
    }
}
