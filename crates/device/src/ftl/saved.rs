//! What a drive file keeps of an FTL, in the file's order: fields may move between parts without a new format.
//!
//! Left out: the map back and the list of a victim's units, which follow from the map; parameters and policy,
//! which the drive's configuration names.

use crate::counters::Counters;
use crate::ftl::Kind;
use crate::ftl::backlog::Backlog;
use crate::ftl::die::DieState;
use crate::ftl::invalidations::Invalidations;
use crate::ftl::map_log::MapLog;
use crate::ftl::pool::GroupTable;
use crate::ftl::spare::Shortage;
use crate::ftl::streams::Streams;
use crate::ftl::table::Table;
use crate::ftl::translation::MapCache;
use crate::nand::array::Array;
use crate::nand::geometry::Geometry;
use crate::sim::random::Stream;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::VecDeque;

/// An FTL as it is kept.
#[derive(Serialize, Deserialize)]
pub struct Saved<'a> {
    pub(super) geometry: Geometry,
    pub(super) exported: u32,
    pub(super) array: Cow<'a, Array>,
    pub(super) counters: Counters,
    pub(super) shortage: Option<Shortage>,
    pub(super) backlog: Cow<'a, Backlog>,
    pub(super) seed: u64,
    pub(super) map: Cow<'a, Table>,
    pub(super) shadows: Cow<'a, [u32]>,
    pub(super) map_log: Cow<'a, MapLog>,
    pub(super) groups: Cow<'a, GroupTable>,
    pub(super) dies: Cow<'a, [DieState]>,
    pub(super) streams: Cow<'a, Streams>,
    pub(super) invalidations: Cow<'a, Invalidations>,
    pub(super) open_superblocks: Cow<'a, [Vec<u32>; 4]>,
    pub(super) lane: u32,
    pub(super) filled: Cow<'a, [u32]>,
    pub(super) lanes_left: Cow<'a, [u16]>,
    pub(super) draws: Cow<'a, Stream>,
    pub(super) map_cache: Cow<'a, Option<MapCache>>,
    pub(super) kept_per_die: u32,
    pub(super) reserve: u32,
    pub(super) reserve_at_most: u32,
    pub(super) slc_limit: u32,
    pub(super) slc_reserved: u32,
    pub(super) slc_in_use: Cow<'a, [u32]>,
    pub(super) slc_sealed: Cow<'a, [VecDeque<u32>]>,
    pub(super) kind: Kind,
}
