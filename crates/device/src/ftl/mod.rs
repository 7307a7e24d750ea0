//! The flash translation layer: decides which page is read, programmed, erased; knows no time.
//!
//! Page mapping over mapping units: `map` leads from a logical unit to its slot in flash, `reverse`
//! back (it is the out-of-band record). A write goes to the next slot of an open block of the die it
//! is sent to, and its old slot becomes invalid. The drive above decides *when* and, by which die is
//! free, *where to*; garbage collection runs as one job a die, move by move ([`reclaim`]).
//!
//! What recovery needs holds at every step: a victim is erased only after its copies are
//! programmed, a moved unit keeps its record, a trim is journalled (both in [`Payload`]).
//!
//! Memory: 4 B a logical unit and 4 B a slot, of those that were ever used.
//!
//! Left out: mapping by extents, hybrid mapping of early drives, recovery itself.

pub mod backlog;
pub mod empty;
pub mod frontier;
pub mod grow;
pub mod layout;
mod packing;
pub mod pool;
pub mod reclaim;
pub mod table;
pub mod translation;
pub mod victim;
pub mod view;

use crate::config::DriveConfig;
use crate::config::ftl::{Frontiers, FtlConfig, GcPace, Striping};
use crate::counters::Counters;
use crate::ftl::backlog::Backlog;
use crate::ftl::frontier::Frontier;
use crate::ftl::layout::{kept_per_die, layout, own_units, reserved_for_slc, slc_blocks_per_die};
use crate::ftl::pool::{Counter, Group, GroupTable};
use crate::ftl::reclaim::{Gathered, Job, Source};
use crate::ftl::table::Table;
use crate::ftl::translation::MapCache;
use crate::ftl::victim::VictimPolicy;
use crate::nand::array::{Array, Payload};
use crate::nand::geometry::Geometry;
use crate::parameter::Problem;
use crate::sim::random::{Purpose, Stream};
use crate::units::{BlockId, DieId, Lpn, Ppn};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Marks an unmapped unit in `map` and an invalid slot in `reverse`.
const NONE: u32 = u32::MAX;
/// From this number on an entry of `map` is a slot of the write buffer, which has the newest data; below
/// it lie the physical page numbers.
const FIRST_BUFFERED: u32 = NONE - MOST_BUFFER_SLOTS;
/// Slots that a write buffer has at most.
pub const MOST_BUFFER_SLOTS: u32 = (1 << 24) - 1;

/// An entry of the map is a slot of the write buffer.
#[inline(always)]
fn is_buffered(entry: u32) -> bool {
    entry.wrapping_sub(FIRST_BUFFERED) < MOST_BUFFER_SLOTS
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

/// What a drive that became read-only has too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shortage {
    /// Blocks went bad until the spare was used up.
    GoodBlocks,
    /// No die has a free block, or a block that gains one when it is collected.
    FreeBlocks,
}

impl std::fmt::Display for Shortage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Shortage::GoodBlocks => "good blocks: so many have gone bad that the spare area is used up",
            Shortage::FreeBlocks => {
                "free blocks: collection gains none on any die, since the spare area is too small for blocks of \
                 this size; give more over_provisioning, or smaller blocks"
            }
        })
    }
}

/// What a die works on. In this order what a host write touches lies in one cache line, and what each
/// move touches in that one and the next.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(C, align(64))]
struct DieState {
    frontiers: [Frontier; 4],
    /// Which of the `sources` comes next.
    #[serde(skip)]
    next_source: u32,
    /// Where the victim's counter of valid units is.
    #[serde(skip)]
    victim_counter: Counter,
    /// Collections since static wear levelling looked last.
    jobs_since_leveling: u32,
    /// A block failed and took the reserve of a single frontier: the host waits until it is back.
    short: bool,
    /// Between the watermarks: collection goes on until there are `gc_high_blocks`.
    collecting: bool,
    /// Where a row is one unit: the victim's slots that were valid when its job began. Not saved: it
    /// follows from the job.
    #[serde(skip)]
    sources: Vec<Source>,
    job: Option<Job>,
    /// Where a row is several units: those of the job.
    gathered: Gathered,
    /// Blocks in which a program failed: collected first, then retired.
    doomed: Vec<BlockId>,
    /// Smooth pace: rows of the job owed before the next host row, and what each host row adds while
    /// the present job lasts.
    owed: f64,
    owed_per_row: f64,
}

/// The state that is saved and restored.
#[derive(Serialize, Deserialize)]
pub struct Ftl<P: Payload = ()> {
    /// The shape of the flash.
    pub geometry: Geometry,
    /// Units the host sees.
    pub exported: u32,
    /// The flash.
    pub array: Array,
    /// What the drive has counted.
    pub counters: Counters,
    /// What ran out, where nothing more is written.
    pub shortage: Option<Shortage>,
    /// What lies in the write buffer when a drive at rest is written to.
    pub backlog: Backlog,
    /// What decides what chance decides.
    pub seed: u64,
    /// What the slots hold besides their records.
    #[serde(skip)]
    pub payload: P,
    #[serde(skip)]
    config: Option<FtlConfig>,
    #[serde(skip)]
    policy: Option<Box<dyn VictimPolicy>>,
    map: Table,
    /// Not saved: it follows from the map.
    #[serde(skip)]
    reverse: Table,
    /// The flash copy that a buffered unit replaces, by buffer slot.
    shadows: Vec<u32>,
    groups: GroupTable,
    dies: Vec<DieState>,
    /// Superblocks that some die has still to fill, in the order of opening, by purpose.
    open_superblocks: [Vec<u32>; 4],
    /// With superblocks: the lane that took the last row of moves.
    lane: u32,
    /// Slots in use of each block; kept only where compression makes them differ.
    filled: Vec<u32>,
    /// Dies still collecting, or writing, a superblock.
    lanes_left: Vec<u16>,
    victim_draws: Stream,
    /// The mapping cache, where the map is demand-cached.
    pub map_cache: Option<MapCache>,
    kept_per_die: u32,
    /// Free blocks of a die that stand in for those that fail, as long as the spare has them: where
    /// the host may take all but the one that a victim is collected into.
    reserve: u32,
    reserve_at_most: u32,
    /// Blocks (superblocks) of a pool that may be in SLC mode at once.
    slc_limit: u32,
    /// Blocks (superblocks) of a pool that only the SLC cache may use: all of a static cache's.
    slc_reserved: u32,
    /// Blocks (superblocks) of each pool that are in SLC mode: open, sealed or being folded.
    slc_in_use: Vec<u32>,
    /// Those of each pool that are full and wait to be folded, oldest first. They are no candidates
    /// for garbage collection: few units are valid in them, but a static cache's gain no room for data.
    slc_sealed: Vec<VecDeque<u32>>,
    /// A row is one unit, the common case; and how many slots a block has.
    one_unit_rows: bool,
    slots: u32,
    /// The common case, for which the hot path has a short way: a row is one unit, a block is collected
    /// alone, nothing fails, there is no SLC mode, and the whole map is in RAM.
    #[serde(skip)]
    plain: bool,
    /// Dies that share a group: 1, or all with superblocks.
    width: u32,
    /// Collection writes to the host's open block.
    single_frontier: bool,
    /// Collection is spread between host writes: it starts at the low watermark.
    smooth: bool,
}

impl<P: Payload> Ftl<P> {
    /// Nothing more is written.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.shortage.is_some()
    }

    /// A factory-new FTL with the policy that the configuration names.
    ///
    /// # Errors
    /// The key that makes the drive impossible.
    pub fn new(config: &DriveConfig, seed: u64, payload: P) -> Result<Ftl<P>, Problem> {
        Ftl::with_policy(config, seed, payload, config.ftl.gc.build())
    }

    /// A factory-new FTL with a policy of one's own.
    ///
    /// # Errors
    /// The key that makes the drive impossible.
    pub fn with_policy(
        config: &DriveConfig,
        seed: u64,
        payload: P,
        policy: Box<dyn VictimPolicy>,
    ) -> Result<Ftl<P>, Problem> {
        let (geometry, exported) = layout(config)?;
        let array = Array::new(geometry, &config.nand, &config.reliability, seed);
        let width = lanes(config, &geometry);
        let groups = geometry.blocks / width;
        let map_cache = MapCache::new(config, exported);
        let logical = exported as usize + own_units(config, u64::from(exported)) as usize;
        let mut ftl = Ftl {
            geometry,
            exported,
            array,
            counters: Counters::default(),
            shortage: None,
            backlog: Backlog::default(),
            seed,
            payload,
            config: Some(config.ftl.clone()),
            map: Table::new(logical),
            reverse: packing::reverse_map(&geometry),
            shadows: Vec::new(),
            groups: GroupTable::new(groups, geometry.dies / width, geometry.slots() * width, policy.order()),
            policy: Some(policy),
            dies: vec![DieState::default(); geometry.dies as usize],
            open_superblocks: Default::default(),
            lane: 0,
            filled: if geometry.packing > 1 { vec![0; geometry.blocks as usize] } else { Vec::new() },
            lanes_left: vec![0; groups as usize],
            victim_draws: Stream::new(seed, Purpose::Victim),
            map_cache,
            kept_per_die: kept_per_die(config, &geometry),
            reserve: 0,
            reserve_at_most: reserve(config),
            slc_limit: slc_blocks_per_die(config, &geometry),
            slc_reserved: reserved_for_slc(config, &geometry),
            slc_in_use: vec![0; (geometry.dies / width) as usize],
            slc_sealed: vec![VecDeque::new(); (geometry.dies / width) as usize],
            one_unit_rows: geometry.units_per_row * geometry.packing == 1,
            slots: geometry.slots(),
            plain: false,
            width,
            single_frontier: config.ftl.frontiers == Frontiers::Single,
            smooth: config.ftl.gc_pace == GcPace::Smooth && config.ftl.frontiers == Frontiers::HostGc,
        };
        (0..groups).map(Group).for_each(|group| ftl.release_if_good(group));
        ftl.check_spare();
        ftl.plain = ftl.is_plain();
        Ok(ftl)
    }

    /// Never goes the short way of the common case. Only slower: there so that the two can be compared.
    pub fn take_the_long_way(&mut self) {
        self.plain = false;
    }

    fn is_plain(&self) -> bool {
        let one_slot_rows = self.one_unit_rows && self.geometry.rows_per_unit == 1;
        let alone = self.width == 1 && self.slc_limit == 0 && self.map_cache.is_none();
        one_slot_rows && alone && self.array.is_reliable()
    }

    /// Gives a restored FTL back what is not saved.
    pub fn configure(&mut self, config: &DriveConfig, policy: Box<dyn VictimPolicy>) {
        self.config = Some(config.ftl.clone());
        self.policy = Some(policy);
        self.array.configure(&config.nand, &config.reliability);
        self.reverse = packing::reverse_map(&self.geometry);
        for (lpn, ppn) in self.map.iter().enumerate().filter(|(_, ppn)| *ppn != NONE) {
            self.reverse.set(ppn, lpn as u32);
        }
        self.plain = self.is_plain();
    }

    fn config(&self) -> &FtlConfig {
        self.config.as_ref().expect("a restored FTL is configured before use")
    }

    #[inline]
    fn group_of(&self, block: BlockId) -> Group {
        match self.width {
            1 => Group(block.0),
            width => Group(block.0 / width),
        }
    }

    #[inline]
    fn pool_of_die(&self, die: DieId) -> usize {
        if self.width > 1 { 0 } else { usize::from(die.0) }
    }

    /// Free groups that a die can open for data: those that wait for a static SLC cache do not count.
    pub fn free_groups(&self, die: DieId) -> u32 {
        let pool = self.pool_of_die(die);
        let waiting = if self.slc_reserved == 0 { 0 } else { self.slc_reserved.saturating_sub(self.slc_in_use[pool]) };
        (self.groups.free(pool) as u32).saturating_sub(waiting)
    }

    /// Changes as often as a block is sealed, chosen as victim or freed.
    #[inline]
    pub fn blocks_changed(&self) -> u64 {
        self.groups.changes()
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

    /// Fetches the cache lines that a coming write or read of a unit needs: its map entry.
    #[inline]
    pub fn prefetch_map(&self, lpn: Lpn) {
        self.map.prefetch(lpn.0);
    }

    /// Fetches what invalidating a unit's old slot touches, when its map entry is at hand.
    #[inline]
    pub fn prefetch_old(&self, lpn: Lpn) {
        let ppn = self.map.get(lpn.0);
        if ppn < FIRST_BUFFERED {
            self.reverse.prefetch(ppn);
        }
    }

    /// A unit is now in the write buffer; its flash copy stays until the new one is programmed.
    pub fn buffer(&mut self, lpn: Lpn, slot: u32) {
        if self.shadows.len() <= slot as usize {
            self.shadows.resize(slot as usize + 1, NONE);
        }
        let old = self.map.replace(lpn.0, FIRST_BUFFERED + slot);
        debug_assert!(!is_buffered(old), "a unit is buffered once");
        self.shadows[slot as usize] = old;
    }

    /// The flash copy behind a buffered unit, if there is one.
    pub fn shadow(&self, slot: u32) -> Option<Ppn> {
        Some(self.shadows[slot as usize]).filter(|ppn| *ppn != NONE).map(Ppn)
    }

    /// A buffered unit is lost (power cut) or handed to flash: the map shows its flash copy again.
    pub fn unbuffer(&mut self, lpn: Lpn, slot: u32) {
        debug_assert_eq!(self.map.get(lpn.0), FIRST_BUFFERED + slot);
        let copy = std::mem::replace(&mut self.shadows[slot as usize], NONE);
        self.map.set(lpn.0, copy);
    }

    /// A unit is no longer needed; returns whether it held data. A buffered one must be unbuffered first.
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        let old = self.map.replace(lpn.0, NONE);
        if old == NONE {
            return false;
        }
        self.payload.trim(lpn);
        self.invalidate(Ppn(old));
        true
    }

    #[inline(always)]
    fn invalidate(&mut self, ppn: Ppn) {
        self.reverse.set(ppn.0, NONE);
        self.groups.remove_valid(self.group_of(self.geometry.block(ppn)));
    }

    /// Frees a group, or the part of it that is good; a superblock lives as long as one lane is good.
    fn release_if_good(&mut self, group: Group) {
        let width = self.width;
        let blocks = group.0 * width..(group.0 + 1) * width;
        if blocks.into_iter().any(|block| !self.array.is_bad(BlockId(block))) {
            self.groups.release(group);
        }
    }

    /// Goes read-only when what is good no longer holds the exported units and the blocks that must
    /// stay free or open. Nothing acknowledged is lost: what is written stays readable.
    fn check_spare(&mut self) {
        let spare = self.spare_blocks();
        if spare < 0 {
            self.shortage = self.shortage.or(Some(Shortage::GoodBlocks));
        }
        self.reserve = (spare.max(0) as u32 / self.geometry.dies).min(self.reserve_at_most);
    }

    /// Good blocks beyond what the exported units, the translation pages of a demand-cached map, a
    /// static SLC cache and the blocks that must stay free or open need.
    pub fn spare_blocks(&self) -> i64 {
        let good = i64::from(self.geometry.blocks) - self.array.bad_blocks() as i64;
        let filled = self.map.entries().div_ceil(self.geometry.units_per_block() as usize) as i64;
        good - filled - i64::from(self.geometry.dies) * i64::from(self.kept_per_die)
    }

    /// Units that hold data in flash or buffer.
    pub fn mapped_units(&self) -> usize {
        self.map.range(0..self.exported).filter(|ppn| *ppn != NONE).count()
    }

    /// Checks that every mapped unit is valid exactly once and that valid counts add up.
    ///
    /// # Panics
    /// When an invariant is broken.
    pub fn check(&self) {
        let mut valid = vec![0u32; self.lanes_left.len()];
        let flash_copy =
            |entry: u32| if is_buffered(entry) { self.shadows[(entry - FIRST_BUFFERED) as usize] } else { entry };
        for (lpn, entry) in self.map.iter().enumerate() {
            let ppn = flash_copy(entry);
            if ppn != NONE {
                assert_eq!(self.reverse.get(ppn), lpn as u32, "the reverse map leads back");
                valid[self.group_of(self.geometry.block(Ppn(ppn))).0 as usize] += 1;
            }
        }
        let has_moved = |ppn: u32| self.dies.iter().any(|die| die.has_moved(&self.geometry, Ppn(ppn)));
        let slots_in_use = (0..).zip(self.reverse.iter()).filter(|&(ppn, lpn)| lpn != NONE && !has_moved(ppn)).count();
        assert_eq!(slots_in_use, valid.iter().sum::<u32>() as usize, "no slot is valid without a map entry");
        for frontier in self.dies.iter().flat_map(|die| die.frontiers).filter(Frontier::has_room) {
            valid[self.group_of(frontier.block()).0 as usize] += self.slots - frontier.slots_used();
        }
        for (group, &count) in valid.iter().enumerate() {
            assert_eq!(self.groups.valid(Group(group as u32)), count, "valid counts add up");
        }
    }
}

/// Free blocks that a die keeps for those that fail; where a batch is collected, the watermark does.
fn reserve(config: &DriveConfig) -> u32 {
    let can_fail = config.nand.erase_limit_us.is_some() || config.reliability.program_fail_share > 0.0;
    match (can_fail, config.ftl.frontiers, config.ftl.gc_pace) {
        (false, ..) | (_, Frontiers::HostGc, GcPace::Batch) => 0,
        (_, Frontiers::Single, _) => 2,
        (_, Frontiers::HostGc, GcPace::Smooth) => 1,
    }
}

fn lanes(config: &DriveConfig, geometry: &Geometry) -> u32 {
    match config.ftl.striping {
        Striping::PerDie => 1,
        Striping::Superblock => geometry.dies,
    }
}
