//! The flash translation layer: decides which page is read, programmed, erased; knows no time.
//!
//! Page mapping over mapping units. A write goes to the next slot of an open block of the die it
//! is sent to, and its old slot becomes invalid. The drive above decides *when* and, by which die is
//! free, *where to*; garbage collection runs as one job a die, move by move ([`reclaim`]).
//!
//! Parts, each with a state of its own: [`mapping`] (with [`map_log`]), [`blocks`] (with [`pool`], [`packing`], [`streams`], [`invalidations`]), [`slc`], [`spare`],
//! [`die`] (with [`frontier`], [`job`]), [`rules`], [`translation`], [`backlog`], and the flash below. Steps work on
//! the parts together: `write`, [`reclaim`], `plain` (the common case of both in one go), `empty`, [`view`]
//! (for pictures), [`grow`] (a large drive out of small ones, by [`growth`]). [`saved`] is what a drive file keeps.
//!
//! What recovery needs holds at every step: a victim is erased only after its copies are
//! programmed, a moved unit keeps its record, a trim is journalled (both in [`Contents`]).
//!
//! Memory: 4 B a logical unit and 4 B a slot, of those that were ever used.
//!
//! Left out: mapping by extents, hybrid mapping of early drives, recovery itself.

pub mod backlog;
pub mod blocks;
mod copy;
pub mod die;
pub mod empty;
pub mod foreign;
pub mod frontier;
pub mod grow;
pub mod growth;
pub mod invalidations;
pub mod job;
pub mod layout;
mod lose;
pub mod map_log;
pub mod mapping;
pub mod packing;
mod plain;
pub mod pool;
pub mod reclaim;
mod recover;
pub mod rules;
pub mod saved;
mod scan;
pub mod separate;
pub mod slc;
pub mod spare;
pub mod streams;
pub mod superseded;
pub mod table;
pub mod translation;
pub mod victim;
pub mod view;
mod write;

use crate::config::DriveConfig;
use crate::config::ftl::{Frontiers, Striping};
use crate::counters::Counters;
use crate::ftl::backlog::Backlog;
use crate::ftl::blocks::Blocks;
use crate::ftl::die::DieState;
use crate::ftl::frontier::Purpose;
use crate::ftl::layout::{layout, own_units};
use crate::ftl::map_log::MapLog;
use crate::ftl::mapping::{Mapping, Place};
use crate::ftl::rules::Rules;
use crate::ftl::slc::SlcCache;
use crate::ftl::spare::Spare;
use crate::ftl::translation::MapCache;
use crate::ftl::victim::VictimPolicy;
use crate::nand::array::Array;
use crate::nand::contents::Contents;
use crate::nand::flash::Flash;
use crate::nand::geometry::Geometry;
use crate::parameter::Problem;
use crate::sim::random::{self, Stream};
use crate::units::{DieId, Lpn, Nanos, Ppn};
use serde::{Deserialize, Serialize};

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

/// What the configuration decides and is asked for with every unit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Kind {
    /// A row is one unit, the common case.
    one_unit_rows: bool,
    /// Slots of a block.
    slots: u32,
    /// The common case, for which there is a short way (`plain`).
    #[serde(skip)]
    plain: bool,
    /// As `plain`, but flash may fail: moves have a short way still.
    #[serde(skip)]
    moves_plainly: bool,
    /// The same where a row is several units.
    #[serde(skip)]
    moves_rows_plainly: bool,
    /// A unit of the host goes into a slot, and nothing more has to be asked.
    #[serde(skip)]
    puts_plainly: bool,
    /// Dies that share a group: 1, or with superblocks all or so many.
    width: u32,
    /// Collection writes to the host's open block.
    single_frontier: bool,
    /// Collection is spread between host writes: it starts at the low watermark.
    smooth: bool,
    /// Rows of parity or of the map's log follow others.
    writes_own: bool,
    /// The policy keeps streams apart.
    #[serde(skip)]
    separates: bool,
    /// The policy asks for times of invalidation.
    #[serde(skip)]
    notes_invalidations: bool,
}

impl Kind {
    fn new(config: &DriveConfig, geometry: &Geometry) -> Kind {
        Kind {
            one_unit_rows: geometry.units_per_row * geometry.packing == 1,
            slots: geometry.slots(),
            plain: false,
            moves_plainly: false,
            moves_rows_plainly: false,
            puts_plainly: false,
            width: match config.ftl.striping {
                Striping::PerDie => 1,
                Striping::Superblock => config.ftl.superblock_dies.unwrap_or(geometry.dies),
            },
            single_frontier: config.ftl.frontiers == Frontiers::Single,
            smooth: config.ftl.is_smooth(),
            writes_own: geometry.parity_rows > 0 || config.ftl.map_log_entry_bytes > 0.0,
            separates: false,
            notes_invalidations: false,
        }
    }
}

/// The flash translation layer of one drive, and the flash below it.
pub struct Ftl<C: Contents = ()> {
    /// The shape of the flash.
    pub geometry: Geometry,
    /// Units the host sees.
    pub exported: u32,
    /// What decides what chance decides.
    pub seed: u64,
    /// The flash.
    pub flash: Flash<C>,
    /// Where each unit is.
    pub mapping: Mapping,
    /// Which blocks are free, open, sealed, collected.
    blocks: Blocks,
    slc: SlcCache,
    /// Blocks that may still fail, and what ran out.
    pub spare: Spare,
    dies: Vec<DieState>,
    rules: Rules,
    /// The mapping cache, where the map is demand-cached.
    pub map_cache: Option<MapCache>,
    /// What the drive has counted.
    pub counters: Counters,
    /// What lies in the write buffer when a drive at rest is written to.
    pub backlog: Backlog,
    kind: Kind,
}

/// Groups of blocks, as [`Ftl::supply`] counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// Free for data.
    pub free: u32,
    /// In all.
    pub all: u32,
    /// Where foreground collection begins.
    pub low: u32,
}

impl<C: Contents> Ftl<C> {
    /// A factory-new FTL with the policy that the configuration names.
    ///
    /// # Errors
    /// The key that makes the drive impossible.
    pub fn new(config: &DriveConfig, seed: u64, contents: C) -> Result<Ftl<C>, Problem> {
        Ftl::with_policy(config, seed, contents, config.ftl.gc.build()?)
    }

    /// A factory-new FTL with a policy of one's own.
    ///
    /// # Errors
    /// The key that makes the drive impossible.
    pub fn with_policy(
        config: &DriveConfig,
        seed: u64,
        contents: C,
        policy: Box<dyn VictimPolicy>,
    ) -> Result<Ftl<C>, Problem> {
        let (geometry, exported) = layout(config)?;
        let array = Array::new(geometry, &config.nand, &config.reliability, seed);
        let kind = Kind::new(config, &geometry);
        let blocks = Blocks::new(&geometry, kind.width, policy.order());
        let logical = exported as usize + own_units(config, u64::from(exported)) as usize;
        let mut ftl = Ftl {
            geometry,
            exported,
            seed,
            flash: Flash { array, contents },
            mapping: Mapping::new(logical, &geometry, MapLog::new(config, &geometry)),
            slc: SlcCache::new(config, &geometry, blocks.groups.pools()),
            blocks,
            spare: Spare::new(config, &geometry),
            dies: vec![DieState::default(); geometry.dies as usize],
            rules: Rules { config: config.ftl.clone(), policy, draws: Stream::new(seed, random::Purpose::Victim) },
            map_cache: MapCache::new(config, exported),
            counters: Counters::default(),
            backlog: Backlog::default(),
            kind,
        };
        ftl.release_good_groups();
        ftl.check_spare();
        ftl.begin_policy(config)?;
        Ok(ftl)
    }

    /// Settles which short ways there are: where nothing else happens besides.
    fn find_short_ways(&mut self) {
        let one_slot_rows = self.kind.one_unit_rows && self.geometry.rows_per_unit == 1;
        let alone = !self.blocks.span_dies() && !self.slc.is_present() && self.map_cache.is_none();
        let costs_no_more = !self.kind.writes_own && self.rules.config.move_unit_us.0 == Nanos::ZERO;
        let tells_nobody = !self.kind.separates && !self.kind.notes_invalidations;
        self.kind.moves_plainly = !C::KEEPS && one_slot_rows && alone && costs_no_more && tells_nobody;
        self.kind.plain = self.kind.moves_plainly && self.flash.array.is_reliable();
        let unpacked = self.geometry.packing == 1;
        let rows = unpacked && self.geometry.units_per_row > 1;
        self.kind.moves_rows_plainly = rows && alone && !self.kind.writes_own && !self.kind.separates;
        self.kind.puts_plainly = unpacked && self.map_cache.is_none() && tells_nobody;
    }

    /// The common case goes the general way too: the drive has to be asked before each program.
    pub fn leave_short_ways(&mut self) {
        (self.kind.plain, self.kind.moves_plainly) = (false, false);
        (self.kind.moves_rows_plainly, self.kind.puts_plainly) = (false, false);
    }

    #[inline(always)]
    fn die(&self, die: DieId) -> &DieState {
        &self.dies[usize::from(die.0)]
    }

    #[inline(always)]
    fn die_mut(&mut self, die: DieId) -> &mut DieState {
        &mut self.dies[usize::from(die.0)]
    }

    /// Nothing more is written.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.spare.shortage().is_some()
    }

    /// Some die has no more free blocks than collection wants to keep.
    pub fn is_short_of_blocks(&self) -> bool {
        let high = self.rules.config.gc_high_blocks;
        (0..self.dies.len()).any(|die| self.free_groups(DieId(die as u16)) <= high)
    }

    /// What was wrong with an answer of the policy: what the drive has done since is not what was asked for.
    pub fn policy_fault(&self) -> Option<&str> {
        self.rules.policy.fault()
    }

    /// Where a unit is.
    #[inline]
    pub fn place(&self, lpn: Lpn) -> Place {
        self.mapping.place(lpn)
    }

    /// Units that hold data in flash or buffer.
    pub fn mapped_units(&self) -> usize {
        self.mapping.mapped(0..self.exported)
    }

    /// The first row of the unit at a physical page.
    #[inline]
    pub fn row(&self, ppn: Ppn) -> u32 {
        self.blocks.packing.row(&self.flash.array, &self.geometry, ppn)
    }

    /// Free groups that a die can open for data: those that wait for a static SLC cache do not count.
    pub fn free_groups(&self, die: DieId) -> u32 {
        let pool = self.blocks.pool_of(die);
        (self.blocks.groups.free(pool) as u32).saturating_sub(self.slc.waiting(pool))
    }

    /// Room for data: free groups of blocks, all groups, and how many free ones let foreground collection begin.
    pub fn supply(&self) -> Supply {
        let mut dies: Vec<DieId> = (0..self.geometry.dies as u16).map(DieId).collect();
        dies.dedup_by_key(|die| self.blocks.pool_of(*die));
        Supply {
            free: dies.iter().map(|die| self.free_groups(*die)).sum(),
            all: self.blocks.all_groups().count() as u32,
            low: dies.len() as u32 * self.rules.config.gc_low_blocks,
        }
    }

    /// Changes as often as a block is sealed, chosen as victim or freed.
    #[inline]
    pub fn blocks_changed(&self) -> u64 {
        self.blocks.groups.changes()
    }

    /// A unit is no longer needed; returns whether it held data. A buffered one must be unbuffered first.
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        if C::KEEPS && self.mapping.place(lpn) != Place::Unmapped {
            self.flash.contents.trim(lpn);
        }
        if self.kind.separates {
            self.blocks.streams.written(lpn);
        }
        let Some(old) = self.mapping.unmap(lpn) else { return false };
        let block = self.geometry.block(old);
        self.blocks.invalidate(block);
        self.note_invalidation(block);
        self.mapping.log.note(1);
        true
    }

    fn release_good_groups(&mut self) {
        for group in self.blocks.all_groups() {
            self.blocks.release_if_good(&self.flash.array, group);
        }
    }

    /// Goes read-only when what is good no longer holds the exported units and the blocks that must
    /// stay free or open.
    fn check_spare(&mut self) {
        let blocks = self.spare_blocks();
        self.spare.update(blocks, self.geometry.dies);
    }

    /// Good blocks beyond what the exported units, the translation pages of a demand-cached map, a
    /// static SLC cache and the blocks that must stay free or open need.
    pub fn spare_blocks(&self) -> i64 {
        let good = i64::from(self.geometry.blocks) - self.flash.array.bad_blocks() as i64;
        let filled = self.mapping.units().div_ceil(self.geometry.units_per_block() as usize) as i64;
        self.spare.blocks(good, filled, self.geometry.dies)
    }

    /// Checks that every mapped unit is valid exactly once and that valid counts add up.
    ///
    /// # Panics
    /// When an invariant is broken.
    pub fn check(&self) {
        let has_moved = |ppn: Ppn| self.dies.iter().any(|die| die.has_moved(&self.geometry, ppn));
        let mut valid = vec![0u32; self.blocks.all_groups().count()];
        for ppn in self.mapping.check(has_moved) {
            valid[self.blocks.group_of(self.geometry.block(ppn)).0 as usize] += 1;
        }
        let parked =
            (0..self.dies.len()).flat_map(|die| self.blocks.streams.parked(DieId(die as u16))).map(|(_, each)| *each);
        let open = self.dies.iter().flat_map(|die| die.frontiers).chain(parked);
        for frontier in open.filter(|frontier| frontier.has_room()) {
            valid[self.blocks.group_of(frontier.block()).0 as usize] += self.blocks.slots - frontier.slots_used();
        }
        for (group, &count) in self.blocks.all_groups().zip(&valid) {
            assert_eq!(self.blocks.groups.valid(group), count, "valid counts add up");
        }
    }
}
