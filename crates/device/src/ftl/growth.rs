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
use crate::units::BlockId;
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

/// A block that is sealed in the large drive.
#[derive(Clone, Copy, Debug)]
struct Sealed {
    /// Blocks sealed in the small drive since it was.
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
    /// What each block of the small drive becomes in the copy that is being added.
    copies: Vec<Option<BlockId>>,
    /// What the copies have counted.
    pub(super) counters: Counters,
    /// Good blocks of each die that nothing was copied into, the next one last.
    untouched: Vec<Vec<BlockId>>,
    /// Of those, the ones that stay free.
    kept_free: Vec<usize>,
    sealed: Vec<Sealed>,
    /// Blocks that something was copied into, and their erases.
    copied_blocks: u64,
    erases: u64,
}

impl Growing {
    /// No copy yet, into a drive with these good blocks on its dies.
    pub fn new(growth: Growth, mut good: Vec<Vec<BlockId>>) -> Growing {
        good.iter_mut().for_each(|blocks| blocks.reverse());
        Growing {
            growth,
            copied: 0,
            copies: Vec::new(),
            counters: Counters::default(),
            kept_free: vec![0; good.len()],
            untouched: good,
            sealed: Vec::new(),
            copied_blocks: 0,
            erases: 0,
        }
    }

    /// The next copy begins, of a drive with so many blocks.
    pub(super) fn begin_copy(&mut self, blocks: u32) {
        self.copies.clear();
        self.copies.resize(blocks as usize, None);
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

    /// So many blocks of a die stay free.
    pub(super) fn keep_free(&mut self, die: usize, blocks: usize) {
        self.kept_free[die] = blocks;
    }

    /// A block of a die for what it works on.
    ///
    /// # Panics
    /// Where it has none left.
    pub(super) fn take_block(&mut self, die: usize) -> BlockId {
        self.untouched[die].pop().expect("a die has more good blocks than it works on")
    }

    /// A block of a die for one that is sealed; none where the rest stay free.
    pub(super) fn take_block_to_seal(&mut self, die: usize) -> Option<BlockId> {
        let blocks = &mut self.untouched[die];
        if blocks.len() > self.kept_free[die] { blocks.pop() } else { None }
    }

    /// A block of this copy will be sealed; since it was in the small drive, `age` others were.
    pub(super) fn seal_later(&mut self, group: Group, age: u64) {
        self.sealed.push(Sealed { age, copy: self.copied, group });
    }

    /// The blocks to be sealed, each with the number of its sealing, which rises: as many were sealed between
    /// two as in the small drive, times the copies.
    pub(super) fn in_order(&mut self) -> impl Iterator<Item = (Group, u64)> {
        self.sealed.sort_unstable_by_key(|sealed| (Reverse(sealed.age), sealed.copy));
        let (oldest, copies) = (self.sealed.first().map_or(0, |sealed| sealed.age), u64::from(self.growth.copies));
        let number = move |sealed: &Sealed| (oldest - sealed.age) * copies + u64::from(sealed.copy) + 1;
        self.sealed.iter().map(move |sealed| (sealed.group, number(sealed)))
    }

    /// Blocks that nothing was copied into, and how often blocks of the copies were erased on average.
    pub(super) fn left_over(&self) -> (impl Iterator<Item = BlockId>, u32) {
        let mean = (self.erases / self.copied_blocks.max(1)) as u32;
        (self.untouched.iter().flat_map(|blocks| blocks.iter().rev().copied()), mean)
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

    /// By hand: two copies of blocks of age 5 and 3 are sealed as numbers 1, 2 and 5, 6; of three blocks one
    /// stays free, and has been erased as often as the others on average.
    #[test]
    fn blocks_are_sealed_in_order_of_age_and_some_stay_free() {
        let growth = Growth { copies: 2, run: 1, used: 8 };
        let mut growing = Growing::new(growth, vec![vec![BlockId(0), BlockId(1), BlockId(2)]]);
        growing.keep_free(0, 1);
        assert_eq!(growing.take_block(0), BlockId(0));
        assert_eq!(growing.take_block_to_seal(0), Some(BlockId(1)));
        assert_eq!(growing.take_block_to_seal(0), None);
        growing.begin_copy(3);
        [(0, 4), (2, 6)]
            .into_iter()
            .for_each(|(block, erases)| growing.block_becomes(BlockId(block), BlockId(1), erases));
        assert_eq!([0, 1, 2].map(|block| growing.copy_of(BlockId(block))), [Some(BlockId(1)), None, Some(BlockId(1))]);
        for (first, age) in [(0, 3), (2, 5)] {
            growing.copied = 0;
            growing.seal_later(Group(first), age);
            growing.copied = 1;
            growing.seal_later(Group(first + 1), age);
        }
        let order: Vec<_> = growing.in_order().map(|(group, number)| (group.0, number)).collect();
        assert_eq!(order, [(2, 1), (3, 2), (0, 5), (1, 6)]);
        let (left, erases) = growing.left_over();
        assert_eq!((left.collect::<Vec<_>>(), erases), (vec![BlockId(2)], 5));
    }
}
