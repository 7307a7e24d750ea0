//! What a drive file keeps of an FTL, in the file's order: fields may move between parts without a new format.
//!
//! Left out: the map back and the list of a victim's units, which follow from the map; parameters and policy,
//! which the drive's configuration names.

use crate::config::DriveConfig;
use crate::counters::Counters;
use crate::ftl::backlog::Backlog;
use crate::ftl::blocks::Blocks;
use crate::ftl::die::DieState;
use crate::ftl::mapping::Mapping;
use crate::ftl::packing::Packing;
use crate::ftl::pool::GroupTable;
use crate::ftl::rules::Rules;
use crate::ftl::slc::SlcCache;
use crate::ftl::spare::{Shortage, Spare};
use crate::ftl::table::Table;
use crate::ftl::translation::MapCache;
use crate::ftl::{Ftl, Kind};
use crate::nand::array::Array;
use crate::nand::contents::Contents;
use crate::nand::flash::Flash;
use crate::nand::geometry::Geometry;
use crate::sim::random::Stream;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::VecDeque;

/// An FTL as it is kept.
#[derive(Serialize, Deserialize)]
pub struct Saved<'a> {
    geometry: Geometry,
    exported: u32,
    array: Cow<'a, Array>,
    counters: Counters,
    shortage: Option<Shortage>,
    backlog: Cow<'a, Backlog>,
    seed: u64,
    map: Cow<'a, Table>,
    shadows: Cow<'a, [u32]>,
    groups: Cow<'a, GroupTable>,
    dies: Cow<'a, [DieState]>,
    open_superblocks: Cow<'a, [Vec<u32>; 4]>,
    lane: u32,
    filled: Cow<'a, [u32]>,
    lanes_left: Cow<'a, [u16]>,
    draws: Cow<'a, Stream>,
    map_cache: Cow<'a, Option<MapCache>>,
    kept_per_die: u32,
    reserve: u32,
    reserve_at_most: u32,
    slc_limit: u32,
    slc_reserved: u32,
    slc_in_use: Cow<'a, [u32]>,
    slc_sealed: Cow<'a, [VecDeque<u32>]>,
    kind: Kind,
}

impl<C: Contents> Ftl<C> {
    /// What is kept of it; contents are kept by whoever holds them.
    pub fn saved(&self) -> Saved<'_> {
        let (map, shadows) = self.mapping.saved();
        Saved {
            geometry: self.geometry,
            exported: self.exported,
            array: Cow::Borrowed(&self.flash.array),
            counters: self.counters,
            shortage: self.spare.shortage,
            backlog: Cow::Borrowed(&self.backlog),
            seed: self.seed,
            map: Cow::Borrowed(map),
            shadows: Cow::Borrowed(shadows),
            groups: Cow::Borrowed(&self.blocks.groups),
            dies: Cow::Borrowed(&self.dies),
            open_superblocks: Cow::Borrowed(&self.blocks.open_superblocks),
            lane: self.blocks.lane,
            filled: Cow::Borrowed(&self.blocks.packing.filled),
            lanes_left: Cow::Borrowed(&self.blocks.lanes_left),
            draws: Cow::Borrowed(&self.rules.draws),
            map_cache: Cow::Borrowed(&self.map_cache),
            kept_per_die: self.spare.kept_per_die,
            reserve: self.spare.reserve,
            reserve_at_most: self.spare.reserve_at_most,
            slc_limit: self.slc.limit,
            slc_reserved: self.slc.reserved,
            slc_in_use: Cow::Borrowed(&self.slc.in_use),
            slc_sealed: Cow::Borrowed(&self.slc.sealed),
            kind: self.kind,
        }
    }
}

impl Saved<'_> {
    /// The FTL again, with the policy that the configuration names, and these contents.
    pub fn restore<C: Contents>(self, config: &DriveConfig, contents: C) -> Ftl<C> {
        let geometry = self.geometry;
        let mut array = self.array.into_owned();
        array.configure(&config.nand, &config.reliability);
        let policy = config.ftl.gc.build();
        let mut ftl = Ftl {
            geometry,
            exported: self.exported,
            seed: self.seed,
            mapping: Mapping::restore(self.map.into_owned(), self.shadows.into_owned(), &geometry),
            flash: Flash { array, contents },
            blocks: Blocks {
                groups: self.groups.into_owned(),
                width: self.kind.width,
                slots: self.kind.slots,
                open_superblocks: self.open_superblocks.into_owned(),
                lane: self.lane,
                lanes_left: self.lanes_left.into_owned(),
                packing: Packing { filled: self.filled.into_owned() },
            },
            slc: SlcCache {
                limit: self.slc_limit,
                reserved: self.slc_reserved,
                in_use: self.slc_in_use.into_owned(),
                sealed: self.slc_sealed.into_owned(),
            },
            spare: Spare {
                kept_per_die: self.kept_per_die,
                reserve: self.reserve,
                reserve_at_most: self.reserve_at_most,
                shortage: self.shortage,
            },
            dies: self.dies.into_owned(),
            rules: Rules { config: config.ftl.clone(), policy, draws: self.draws.into_owned() },
            map_cache: self.map_cache.into_owned(),
            counters: self.counters,
            backlog: self.backlog.into_owned(),
            kind: self.kind,
        };
        ftl.kind.plain = ftl.is_plain();
        ftl
    }
}
