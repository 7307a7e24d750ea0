//! Open blocks: where the next unit goes.
//!
//! Each die has up to four: for the host, for collection (with `host-gc`), in SLC mode, and for cold data
//! that static wear levelling moves, which is the most worn block that was free. Units are put into the
//! open row one by one; [`Ftl::end_row`] programs it, filled up with nothing if need be. With a single
//! frontier collection writes to the host's block.

use crate::config::ftl::{Frontiers, GcPace};
use crate::ftl::pool::Group;
use crate::ftl::{Ftl, NONE, is_buffered};
use crate::nand::array::Payload;
use crate::units::{BlockId, DieId, Lpn, Nanos, Ppn};
use serde::{Deserialize, Serialize};

/// Which open block of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// What the host writes (and with a single frontier everything).
    Host = 0,
    /// What collection moves.
    Collection = 1,
    /// What the host writes with one bit a cell.
    Slc = 2,
    /// Cold data that wear levelling moves.
    Leveling = 3,
}

/// An open block, or none.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Frontier {
    block: u32,
    /// Next slot.
    slot: u32,
    /// First slot of the open row.
    row_start: u32,
    /// Rows not yet programmed.
    rows_left: u32,
}

impl Default for Frontier {
    fn default() -> Frontier {
        Frontier { block: NONE, slot: 0, row_start: 0, rows_left: 0 }
    }
}

impl Frontier {
    /// A row can be put into it.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.rows_left > 0
    }

    /// It has room for more than one row.
    #[inline]
    pub fn stays_open(&self) -> bool {
        self.rows_left > 1
    }

    /// Takes the next row where that is one slot; returns the block and the slot.
    #[inline]
    pub fn take_row(&mut self) -> (BlockId, u32) {
        let slot = self.slot;
        self.slot += 1;
        self.row_start = self.slot;
        self.rows_left -= 1;
        (BlockId(self.block), slot)
    }

    /// The same frontier in another block, where its copy lies.
    pub(super) fn moved_to(self, block: BlockId) -> Frontier {
        Frontier { block: block.0, ..self }
    }

    /// The open block.
    pub fn block(&self) -> BlockId {
        BlockId(self.block)
    }

    /// Slots that are written or left out.
    pub fn slots_used(&self) -> u32 {
        self.slot
    }

    /// Rows that can still be programmed.
    pub fn rows_left(&self) -> u32 {
        self.rows_left
    }
}

/// Whether a die can take a host write now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Yes, to this frontier.
    Write(Purpose),
    /// Collection has to run first.
    Collect,
    /// Other dies have to fill their lanes of the open superblocks first.
    Wait,
}

/// Superblocks that may be open at once for one purpose: dies run ahead of each other no further.
const OPEN_SUPERBLOCKS: usize = 2;

/// What programming a row took and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Programmed {
    /// Array time, of failed attempts too.
    pub time: Nanos,
}

impl<P: Payload> Ftl<P> {
    /// Whether a die can take a host write, opening a block where it may.
    #[inline]
    pub fn readiness(&mut self, die: DieId) -> Readiness {
        if self.slc_limit > 0 && self.slc_ready(die) {
            return Readiness::Write(Purpose::Slc);
        }
        if self.has_room(die, Purpose::Host) && !self.dies[usize::from(die.0)].short {
            return Readiness::Write(Purpose::Host);
        }
        self.open_for_host(die)
    }

    #[inline]
    fn has_room(&self, die: DieId, purpose: Purpose) -> bool {
        self.dies[usize::from(die.0)].frontiers[purpose as usize].rows_left > 0
    }

    #[cold]
    fn open_for_host(&mut self, die: DieId) -> Readiness {
        if self.dies[usize::from(die.0)].short {
            if self.free_groups(die) <= self.reserve {
                return Readiness::Collect;
            }
            self.dies[usize::from(die.0)].short = false;
            return self.readiness(die);
        }
        if self.width > 1 {
            if self.has_successor(die, Purpose::Host) && self.open(die, Purpose::Host) {
                return Readiness::Write(Purpose::Host);
            }
            if self.open_superblocks[Purpose::Host as usize].len() >= OPEN_SUPERBLOCKS {
                return Readiness::Wait;
            }
        }
        let free = self.free_groups(die);
        let config = self.config();
        let (low, high) = (config.gc_low_blocks, config.gc_high_blocks);
        let may_open = match (config.frontiers, config.gc_pace) {
            (Frontiers::Single, _) | (Frontiers::HostGc, GcPace::Smooth) => free > 1 + self.reserve,
            (Frontiers::HostGc, GcPace::Batch) => {
                let state = &mut self.dies[usize::from(die.0)];
                state.collecting = free <= low || state.collecting && free < high;
                !state.collecting
            }
        };
        if may_open && self.open(die, Purpose::Host) {
            return Readiness::Write(Purpose::Host);
        }
        Readiness::Collect
    }

    /// An SLC block is open, or one may be opened without touching what collection needs.
    fn slc_ready(&mut self, die: DieId) -> bool {
        if self.has_room(die, Purpose::Slc) {
            return true;
        }
        if self.has_successor(die, Purpose::Slc) {
            return self.open(die, Purpose::Slc);
        }
        let in_use = self.slc_in_use[self.pool_of_die(die)];
        // A dynamic cache gives its blocks back in time: folding needs a free block for every `bits` of them.
        let keep = self.config().gc_high_blocks + 2 + in_use / self.geometry.page_kinds;
        let may_open = in_use < self.slc_limit && (in_use < self.slc_reserved || self.free_groups(die) > keep);
        may_open && self.open(die, Purpose::Slc)
    }

    /// With superblocks: another die has opened the next one already.
    fn has_successor(&self, die: DieId, purpose: Purpose) -> bool {
        self.width > 1 && self.next_superblock(die, purpose) != NONE
    }

    /// The first open superblock whose lane on this die is untouched.
    fn next_superblock(&self, die: DieId, purpose: Purpose) -> u32 {
        let open = &self.open_superblocks[purpose as usize];
        open.iter().copied().find(|&group| self.lane_unused(group, die)).unwrap_or(NONE)
    }

    /// The lane of a die in an open superblock has not been written.
    fn lane_unused(&self, group: u32, die: DieId) -> bool {
        let block = BlockId(group * self.width + u32::from(die.0));
        !self.array.is_bad(block) && self.array.programmed_rows(block) == 0
    }

    /// Opens the next block of a die; false where none is free.
    pub(crate) fn open(&mut self, die: DieId, purpose: Purpose) -> bool {
        loop {
            let Some(group) = self.next_group(die, purpose) else { return false };
            let lane = if self.width == 1 { 0 } else { u32::from(die.0) };
            let block = BlockId(group.0 * self.width + lane);
            let rows = match (self.array.is_bad(block), purpose) {
                (true, _) => 0,
                (false, Purpose::Slc) => self.geometry.rows / self.geometry.page_kinds,
                (false, _) => self.geometry.rows,
            };
            let rows = rows / self.geometry.rows_per_unit * self.geometry.rows_per_unit;
            if rows > 0 {
                self.array.set_slc(block, purpose == Purpose::Slc);
            }
            self.dies[usize::from(die.0)].frontiers[purpose as usize] =
                Frontier { block: block.0, slot: 0, row_start: 0, rows_left: rows };
            if rows > 0 {
                self.groups.add_valid(group, self.slots);
                return true;
            }
        }
    }

    /// The next group of a die's frontier: with superblocks the one that another die opened, else a free one.
    fn next_group(&mut self, die: DieId, purpose: Purpose) -> Option<Group> {
        let opened = if self.width > 1 { self.next_superblock(die, purpose) } else { NONE };
        if opened != NONE {
            return Some(Group(opened));
        }
        let (pool, width) = (self.pool_of_die(die), self.width);
        if width > 1 && self.open_superblocks[purpose as usize].len() >= OPEN_SUPERBLOCKS {
            return None;
        }
        let array = &self.array;
        let erases = |group: Group| array.erases(BlockId(group.0 * width));
        let group = match purpose {
            // Cold data let the most worn block rest.
            Purpose::Leveling => self.groups.open(pool, Some(&|group| u32::MAX - erases(group)))?,
            _ if self.config().dynamic_wear_leveling => self.groups.open(pool, Some(&erases))?,
            _ => self.groups.open(pool, None)?,
        };
        if purpose == Purpose::Slc {
            self.slc_in_use[pool] += 1;
        }
        if width > 1 {
            self.open_superblocks[purpose as usize].push(group.0);
            let good = (0..width).filter(|lane| !self.array.is_bad(BlockId(group.0 * width + lane))).count();
            self.lanes_left[group.0 as usize] = good as u16;
        }
        Some(group)
    }

    /// Puts a unit into the open row of a frontier that has room; its old place becomes invalid.
    #[inline(always)]
    pub fn put(&mut self, die: DieId, purpose: Purpose, lpn: Lpn, stamp: P::Stamp) -> Ppn {
        let ppn = self.take_slot(die, purpose);
        let old = self.map.replace(lpn.0, ppn.0);
        debug_assert!(!is_buffered(old), "unbuffer before put");
        if old != NONE {
            self.invalidate(Ppn(old));
        }
        self.reverse.set(ppn.0, lpn.0);
        self.payload.program(ppn, lpn, stamp);
        ppn
    }

    /// The common case of a row in one go, with the same outcome as [`Ftl::put`] and [`Ftl::end_row`]:
    /// returns the array time. `None`, with nothing changed, where anything else is due: the block is
    /// filled by this or waits for a reserve, the unit is in the buffer.
    #[inline(always)]
    pub fn write_on(&mut self, die: DieId, lpn: Lpn, stamp: P::Stamp) -> Option<Nanos> {
        let state = &mut self.dies[usize::from(die.0)];
        let frontier = &mut state.frontiers[Purpose::Host as usize];
        let old = self.map.get(lpn.0);
        if !self.plain || state.short || !frontier.stays_open() || is_buffered(old) {
            return None;
        }
        let (block, slot) = frontier.take_row();
        let to = self.geometry.ppn(block, slot);
        self.map.set(lpn.0, to.0);
        if old != NONE {
            self.invalidate(Ppn(old));
        }
        self.reverse.set(to.0, lpn.0);
        self.payload.program(to, lpn, stamp);
        self.counters.nand_pages_written += 1;
        Some(self.array.program_row(block))
    }

    /// The next slot of a frontier, whose group counts it already.
    #[inline(always)]
    pub(crate) fn take_slot(&mut self, die: DieId, purpose: Purpose) -> Ppn {
        let frontier = &mut self.dies[usize::from(die.0)].frontiers[purpose as usize];
        debug_assert!(frontier.rows_left > 0);
        let ppn = self.geometry.ppn(BlockId(frontier.block), frontier.slot);
        frontier.slot += 1;
        ppn
    }

    /// Slots that may still be put into the open row.
    #[inline]
    pub fn row_slots_left(&self, die: DieId, purpose: Purpose) -> u32 {
        let frontier = &self.dies[usize::from(die.0)].frontiers[purpose as usize];
        if self.one_unit_rows {
            return 1;
        }
        let in_row = self.geometry.units_per_row * self.geometry.packing - (frontier.slot - frontier.row_start);
        in_row.min(self.geometry.slots() - frontier.slot)
    }

    /// Programs the open row. Where a program fails, its units go to another block and the failed
    /// one is collected and retired.
    #[inline(always)]
    pub fn end_row(&mut self, die: DieId, purpose: Purpose) -> Programmed {
        let index = usize::from(die.0);
        let frontier = &mut self.dies[index].frontiers[purpose as usize];
        let (block, used) = (BlockId(frontier.block), frontier.slot - frontier.row_start);
        if self.geometry.packing == 1 {
            frontier.slot = frontier.row_start + self.geometry.units_per_row;
        }
        let first_slot = std::mem::replace(&mut frontier.row_start, frontier.slot);
        frontier.rows_left -= self.geometry.rows_per_unit;
        let full = frontier.rows_left == 0;
        if self.geometry.packing > 1 {
            self.note_filled(block, first_slot + used);
        }
        let padding = self.geometry.units_per_row.saturating_sub(used);
        if padding > 0 && self.geometry.packing == 1 {
            self.groups.skip_valid(self.group_of(block), padding);
        }
        self.counters.nand_pages_written += u64::from(self.geometry.units_per_row);
        self.counters.padding_pages_written += u64::from(padding);
        let (time, outcome) = self.array.program(block, self.geometry.rows_per_unit);
        if outcome.is_err() {
            return self.replace_row(die, purpose, block, first_slot..first_slot + used, time);
        }
        if full {
            self.seal(die, purpose);
        }
        Programmed { time }
    }

    /// A lane is full, or no more is written to it; with the last one its group is sealed.
    #[cold]
    fn seal(&mut self, die: DieId, purpose: Purpose) {
        let frontier = self.dies[usize::from(die.0)].frontiers[purpose as usize];
        let group = self.group_of(BlockId(frontier.block));
        self.groups.skip_valid(group, self.slots - frontier.slot);
        if self.width > 1 {
            let left = &mut self.lanes_left[group.0 as usize];
            *left -= 1;
            if *left > 0 {
                return;
            }
            self.open_superblocks[purpose as usize].retain(|open| *open != group.0);
        }
        if purpose == Purpose::Slc {
            let pool = self.groups.pool(group);
            self.slc_sealed[pool].push_back(group.0);
        } else {
            self.groups.seal(group);
        }
    }

    /// A program failed: its units are written elsewhere (the controller still has them).
    #[cold]
    fn replace_row(
        &mut self,
        die: DieId,
        purpose: Purpose,
        block: BlockId,
        slots: std::ops::Range<u32>,
        time: Nanos,
    ) -> Programmed {
        self.counters.program_failures += 1;
        let spent = &mut self.dies[usize::from(die.0)].frontiers[purpose as usize];
        spent.rows_left = 0;
        self.dies[usize::from(die.0)].short = self.single_frontier && self.reserve > 0;
        self.seal(die, purpose);
        if !self.open(die, purpose) {
            // No block to go to: the row counts as programmed; the block is still retired later.
            self.dies[usize::from(die.0)].doomed.push(block);
            return Programmed { time };
        }
        for slot in slots {
            let from = self.geometry.ppn(block, slot);
            if self.reverse.get(from.0) != NONE {
                self.move_unit(from, die, purpose);
            }
        }
        self.dies[usize::from(die.0)].doomed.push(block);
        let again = self.end_row(die, purpose);
        Programmed { time: time + again.time }
    }
}
