//! Spare blocks: how many there must be, what stands in for those that fail, and what ran out.

use crate::config::DriveConfig;
use crate::config::ftl::{Frontiers, GcPace};
use crate::ftl::layout::kept_per_die;
use crate::nand::geometry::Geometry;
use serde::{Deserialize, Serialize};

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

/// The spare of a drive.
#[derive(Clone, Debug)]
pub struct Spare {
    /// Blocks of each die that must stay free or open.
    pub(super) kept_per_die: u32,
    /// Free blocks of a die that stand in for those that fail, as long as the spare has them: where
    /// the host may take all but the one that a victim is collected into.
    pub(super) reserve: u32,
    pub(super) reserve_at_most: u32,
    pub(super) shortage: Option<Shortage>,
}

impl Spare {
    /// The spare of a drive whose blocks were not counted yet.
    pub fn new(config: &DriveConfig, geometry: &Geometry) -> Spare {
        Spare {
            kept_per_die: kept_per_die(config, geometry),
            reserve: 0,
            reserve_at_most: reserve_at_most(config),
            shortage: None,
        }
    }

    /// Blocks that a die keeps for those that fail.
    #[inline]
    pub fn reserve(&self) -> u32 {
        self.reserve
    }

    /// What ran out, where nothing more is written.
    pub fn shortage(&self) -> Option<Shortage> {
        self.shortage
    }

    /// Something ran out; what ran out first counts.
    #[cold]
    pub fn run_out(&mut self, of: Shortage) {
        self.shortage = self.shortage.or(Some(of));
    }

    /// Good blocks beyond those that `filled` of them, full of data, and all dies need.
    pub fn blocks(&self, good: i64, filled: i64, dies: u32) -> i64 {
        good - filled - i64::from(dies) * i64::from(self.kept_per_die)
    }

    /// So many are left. Below none the drive goes read-only; nothing acknowledged is lost by that.
    pub fn update(&mut self, blocks: i64, dies: u32) {
        if blocks < 0 {
            self.run_out(Shortage::GoodBlocks);
        }
        self.reserve = (blocks.max(0) as u32 / dies).min(self.reserve_at_most);
    }
}

/// Free blocks that a die keeps for those that fail; where a batch is collected, the watermark does.
fn reserve_at_most(config: &DriveConfig) -> u32 {
    let can_fail = config.nand.erase_limit_us.is_some() || config.reliability.program_fail_share > 0.0;
    match (can_fail, config.ftl.frontiers, config.ftl.gc_pace) {
        (false, ..) | (_, Frontiers::HostGc, GcPace::Batch) => 0,
        (_, Frontiers::Single, _) => 2,
        (_, Frontiers::HostGc, GcPace::Smooth) => 1,
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: 4 dies keep 3 blocks each, so of 100 good blocks, 80 of them full, 8 are spare, 2 a die;
    /// with 11 fewer the drive is read-only.
    #[test]
    fn the_reserve_follows_the_spare_until_it_is_used_up() {
        let mut spare = Spare { kept_per_die: 3, reserve: 0, reserve_at_most: 2, shortage: None };
        assert_eq!(spare.blocks(100, 80, 4), 8);
        spare.update(8, 4);
        assert_eq!((spare.reserve(), spare.shortage()), (2, None));
        spare.update(5, 4);
        assert_eq!((spare.reserve(), spare.shortage()), (1, None));
        spare.update(spare.blocks(89, 80, 4), 4);
        assert_eq!((spare.reserve(), spare.shortage()), (0, Some(Shortage::GoodBlocks)));
        spare.run_out(Shortage::FreeBlocks);
        assert_eq!(spare.shortage(), Some(Shortage::GoodBlocks));
    }
}
