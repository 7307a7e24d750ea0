//! The floor: page mapping and greedy garbage collection as fast as one core does them.
//!
//! Models the logical-to-physical map, the reverse map, the number of valid pages of each block,
//! greedy victims from one list per valid count, and the moves of a single frontier (a victim is
//! collected into the next open block, and the host fills its rest). Leaves out everything else: no
//! time, no dies, no events, no payload, no wear. A simulator with all of that is measured against
//! it: what a drive model costs beyond the bookkeeping that no page-mapped drive can do without.
//!
//! [`Moves`] says how a victim is emptied: page by page, as one writes it down, or in two passes over
//! the block, which only a loop without time can do, since its moves all happen at once.
//!
//! Write amplification = programs / host writes; [`crate::theory`] gives what it has to be.

mod blocks_by_valid;
#[cfg(test)]
mod test;

use blocks_by_valid::BlocksByValid;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// In the reverse map: no unit lives here.
const NONE: u32 = u32::MAX;
/// How many writes before its use a line of the map is fetched.
const MAP_AHEAD: usize = 64;
/// How many writes before its use a line of the reverse map is fetched, for which the map is read.
const OWNER_AHEAD: usize = 32;
/// How many moves before its use a line of the map is fetched.
const MOVES_AHEAD: usize = 32;
/// Reverse map entries in one cache line.
const OWNERS_PER_LINE: usize = 16;

/// How the valid pages of a victim are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// One after the other, each valid page into the next free one.
    PageByPage,
    /// The owners of a block at once and without a branch, then their map entries; the owners of the
    /// next victim are fetched before it is needed.
    WholeBlock,
}

/// What a number of host writes cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Units that the host wrote.
    pub writes: u64,
    /// Units that were programmed: the host's and the moved ones.
    pub programs: u64,
}

impl Outcome {
    /// Programs per host write.
    pub fn write_amplification(&self) -> f64 {
        self.programs as f64 / self.writes as f64
    }
}

/// Fills a drive sequentially, overwrites uniformly at random `warmup_writes` units, then
/// `measured_writes` more, and says what the latter cost.
///
/// To time the measured part alone, use [`BareLoop`].
///
/// # Errors
/// As [`BareLoop::filled`].
pub fn run(
    units: u32,
    pages_per_block: u32,
    over_provisioning: f64,
    seed: u64,
    warmup_writes: u64,
    measured_writes: u64,
) -> Result<Outcome, GeometryError> {
    let mut drive = BareLoop::filled(units, pages_per_block, over_provisioning, seed, Moves::WholeBlock)?;
    drive.write_randomly(warmup_writes);
    Ok(drive.write_randomly(measured_writes))
}

/// A drive that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GeometryError {
    /// Nothing to map, or blocks of no pages.
    #[error("{units} units in blocks of {pages_per_block} pages: both must be at least 1")]
    Empty {
        /// Exported units.
        units: u32,
        /// Pages of a block.
        pages_per_block: u32,
    },
    /// No page to collect into.
    #[error(
        "over-provisioning {over_provisioning}: more than 0 is needed, and at least one spare page \
         in all blocks together"
    )]
    NoSpare {
        /// As given.
        over_provisioning: f64,
    },
    /// Physical pages are counted in 32 bits.
    #[error("{pages} physical pages: at most {} can be numbered; export less", u32::MAX)]
    TooLarge {
        /// Physical pages, the pages of a block rounded up to a power of two.
        pages: u64,
    },
}

/// A page-mapped drive without time.
pub struct BareLoop {
    /// Where each unit lives.
    map: Vec<u32>,
    /// Which unit lives in each page, or [`NONE`].
    owner: Vec<u32>,
    by_valid: BlocksByValid,
    /// Blocks start at multiples of 2^`block_shift`, so that no page number is ever divided.
    block_shift: u32,
    pages_per_block: u32,
    /// The page programmed next.
    frontier: u32,
    /// The end of the open block.
    frontier_end: u32,
    /// The one erased block, which the next victim is collected into.
    erased: u32,
    /// The units written next; the first is at `upcoming_at`.
    upcoming: [u32; MAP_AHEAD],
    upcoming_at: usize,
    random: Xoshiro256PlusPlus,
    programs: u64,
    moves: Moves,
}

impl BareLoop {
    /// A drive after one sequential fill.
    ///
    /// The blocks of `over_provisioning` all take part in garbage collection; the one that must stay
    /// erased comes on top.
    ///
    /// # Errors
    /// Where there is nothing to map, no spare, or more pages than 32 bits number.
    pub fn filled(
        units: u32,
        pages_per_block: u32,
        over_provisioning: f64,
        seed: u64,
        moves: Moves,
    ) -> Result<BareLoop, GeometryError> {
        let collected = collected_blocks(units, pages_per_block, over_provisioning)?;
        let stride = u64::from(pages_per_block).next_power_of_two();
        let block_shift = stride.trailing_zeros();
        let pages = (collected + 1).saturating_mul(stride);
        if pages > u64::from(NONE) {
            return Err(GeometryError::TooLarge { pages });
        }
        let mut drive = BareLoop {
            map: vec![NONE; units as usize],
            owner: vec![NONE; pages as usize],
            by_valid: BlocksByValid::new(collected as u32 + 1, pages_per_block),
            block_shift,
            pages_per_block,
            frontier: 0,
            frontier_end: 0,
            erased: collected as u32,
            upcoming: [0; MAP_AHEAD],
            upcoming_at: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            programs: 0,
            moves,
        };
        drive.fill(collected as u32);
        Ok(drive)
    }

    /// Writes all units in order; what blocks are left then hold no valid page.
    fn fill(&mut self, collected: u32) {
        let units = self.map.len() as u32;
        let opened = units.div_ceil(self.pages_per_block);
        for block in 0..collected {
            // The open block counts its pages still to be written as valid, see `open_at`.
            let valid = if block < opened { self.pages_per_block } else { 0 };
            self.by_valid.link(block, valid);
        }
        for unit in 0..units {
            if unit % self.pages_per_block == 0 {
                self.open_at(unit / self.pages_per_block, 0);
            }
            self.program(unit);
        }
        for slot in 0..MAP_AHEAD {
            self.upcoming[slot] = self.draw();
        }
    }

    /// Overwrites `count` units drawn uniformly at random.
    pub fn write_randomly(&mut self, count: u64) -> Outcome {
        let programs_before = self.programs;
        for _ in 0..count {
            let unit = self.next_unit();
            self.overwrite(unit);
        }
        Outcome { writes: count, programs: self.programs - programs_before }
    }

    /// The unit to write now; draws a later one in its place and fetches what is needed soon.
    #[inline]
    fn next_unit(&mut self) -> u32 {
        let at = self.upcoming_at;
        let later = self.draw();
        prefetch(&self.map, later as usize);
        let unit = std::mem::replace(&mut self.upcoming[at], later);
        self.upcoming_at = (at + 1) % MAP_AHEAD;
        // Garbage collection may move that unit meanwhile: then the wrong line was fetched, no more.
        let soon = self.upcoming[(at + OWNER_AHEAD) % MAP_AHEAD];
        prefetch(&self.owner, self.map[soon as usize] as usize);
        unit
    }

    /// A unit, all alike (the bias of the multiplication is below 2⁻³²).
    #[inline]
    fn draw(&mut self) -> u32 {
        let units = self.map.len() as u128;
        ((u128::from(self.random.next_u64()) * units) >> 64) as u32
    }

    /// One host write.
    #[inline]
    fn overwrite(&mut self, unit: u32) {
        self.invalidate(self.map[unit as usize]);
        if self.frontier == self.frontier_end {
            self.collect();
        }
        self.program(unit);
        if self.moves == Moves::WholeBlock && self.frontier_end - self.frontier == OWNER_AHEAD as u32 {
            self.fetch_likely_victim();
        }
    }

    /// Puts a unit into the next page of the open block.
    #[inline]
    fn program(&mut self, unit: u32) {
        self.map[unit as usize] = self.frontier;
        self.owner[self.frontier as usize] = unit;
        self.frontier += 1;
        self.programs += 1;
    }

    #[inline]
    fn invalidate(&mut self, page: u32) {
        self.owner[page as usize] = NONE;
        let block = page >> self.block_shift;
        let valid = self.by_valid.unlink(block) - 1;
        self.by_valid.link(block, valid);
    }

    /// Moves the block with the fewest valid pages to the front of the erased one, opens that for
    /// the host, and erases the victim.
    fn collect(&mut self) {
        let victim = self.by_valid.pop_fewest();
        let target = self.erased;
        let moved = match self.moves {
            Moves::PageByPage => self.move_pages(victim, target),
            Moves::WholeBlock => self.move_block(victim, target),
        };
        self.programs += u64::from(moved);
        self.by_valid.link(target, self.pages_per_block);
        self.open_at(target, moved);
        self.erased = victim;
    }

    /// The open block is linked with all its pages counted as valid, those still to be written too:
    /// victims are only chosen when it is full, and then its count is right.
    fn open_at(&mut self, block: u32, page: u32) {
        let start = block << self.block_shift;
        self.frontier = start + page;
        self.frontier_end = start + self.pages_per_block;
    }

    /// Moves a victim's valid pages one after the other; returns how many there were.
    fn move_pages(&mut self, victim: u32, target: u32) -> u32 {
        let (from, start) = (victim << self.block_shift, target << self.block_shift);
        let mut to = start;
        for page in from..from + self.pages_per_block {
            if let Some(&later) = self.owner.get(page as usize + MOVES_AHEAD) {
                prefetch(&self.map, later as usize);
            }
            let unit = self.owner[page as usize];
            if unit != NONE {
                self.owner[to as usize] = unit;
                self.map[unit as usize] = to;
                to += 1;
            }
        }
        to - start
    }

    /// Moves a victim's valid pages in two passes; returns how many there were.
    fn move_block(&mut self, victim: u32, target: u32) -> u32 {
        let moved = self.compact(victim, target);
        self.remap(target, moved);
        moved
    }

    /// Copies the valid owners of one block to the front of another and counts them. Without a
    /// branch, which would be mispredicted at every second page; what stands after the last valid
    /// one is overwritten by the host before anyone reads it.
    fn compact(&mut self, victim: u32, target: u32) -> u32 {
        let pages = self.pages_per_block as usize;
        let from = (victim as usize) << self.block_shift;
        let to = (target as usize) << self.block_shift;
        let (from, to) = two_slices(&mut self.owner, from, to, pages);
        let mut moved = 0;
        for &unit in from {
            to[moved] = unit;
            moved += usize::from(unit != NONE);
        }
        moved as u32
    }

    /// Tells the map where the first `moved` units of a block live now.
    fn remap(&mut self, block: u32, moved: u32) {
        let start = block << self.block_shift;
        let owners = &self.owner[start as usize..(start + moved) as usize];
        for &unit in owners.iter().take(MOVES_AHEAD) {
            prefetch(&self.map, unit as usize);
        }
        for (index, &unit) in owners.iter().enumerate() {
            if let Some(&later) = owners.get(index + MOVES_AHEAD) {
                prefetch(&self.map, later as usize);
            }
            self.map[unit as usize] = start + index as u32;
        }
    }

    /// Fetches the owners of the block that is the victim if nothing changes until then.
    fn fetch_likely_victim(&self) {
        let Some(block) = self.by_valid.fewest() else {
            return;
        };
        let start = (block as usize) << self.block_shift;
        for line in (0..self.pages_per_block as usize).step_by(OWNERS_PER_LINE) {
            prefetch(&self.owner, start + line);
        }
    }
}

/// How many blocks take part in garbage collection.
fn collected_blocks(units: u32, pages_per_block: u32, over_provisioning: f64) -> Result<u64, GeometryError> {
    if units == 0 || pages_per_block == 0 {
        return Err(GeometryError::Empty { units, pages_per_block });
    }
    let physical = f64::from(units) * (1.0 + over_provisioning);
    let blocks = (physical / f64::from(pages_per_block)).round();
    let has_spare = over_provisioning > 0.0 && blocks * f64::from(pages_per_block) > f64::from(units);
    if !has_spare {
        return Err(GeometryError::NoSpare { over_provisioning });
    }
    Ok(blocks.min(f64::from(u32::MAX)) as u64)
}

/// Two stretches of the same length that do not overlap: one to read, one to write.
fn two_slices(all: &mut [u32], read: usize, write: usize, length: usize) -> (&[u32], &mut [u32]) {
    if read < write {
        let (low, high) = all.split_at_mut(write);
        (&low[read..read + length], &mut high[..length])
    } else {
        let (low, high) = all.split_at_mut(read);
        (&high[..length], &mut low[write..write + length])
    }
}

/// Asks the processor to bring the cache line of an entry, where it knows how.
#[inline(always)]
fn prefetch(entries: &[u32], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = entries.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch is a hint: it reads nothing the program sees and never faults, whatever
        // the address; SSE, which it belongs to, is part of x86_64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (entries, index);
}
