//! An FTL from what a drive file kept of it, and the other way round.

use crate::config::DriveConfig;
use crate::ftl::Ftl;
use crate::ftl::blocks::Blocks;
use crate::ftl::mapping::Mapping;
use crate::ftl::packing::Packing;
use crate::ftl::rules::Rules;
use crate::ftl::saved::Saved;
use crate::ftl::slc::SlcCache;
use crate::ftl::spare::Spare;
use crate::ftl::superseded::Superseded;
use crate::nand::contents::Contents;
use crate::nand::flash::Flash;
use crate::parameter::Problem;
use std::borrow::Cow;

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
            map_log: Cow::Borrowed(&self.mapping.log),
            groups: Cow::Borrowed(&self.blocks.groups),
            dies: Cow::Borrowed(&self.dies),
            streams: Cow::Borrowed(&self.blocks.streams),
            invalidations: Cow::Borrowed(&self.blocks.invalidations),
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

    /// The FTL again that was kept, with the policy that the configuration names, and these contents.
    ///
    /// # Errors
    /// What is wrong with a policy that does not come along.
    pub fn restore(saved: Saved<'_>, config: &DriveConfig, contents: C) -> Result<Ftl<C>, Problem> {
        let geometry = saved.geometry;
        let mut array = saved.array.into_owned();
        array.configure(&config.nand, &config.reliability);
        let policy = config.ftl.gc.build()?;
        let mut ftl = Ftl {
            geometry,
            exported: saved.exported,
            seed: saved.seed,
            mapping: Mapping::restore(
                saved.map.into_owned(),
                saved.shadows.into_owned(),
                saved.map_log.into_owned(),
                &geometry,
            ),
            flash: Flash { array, contents },
            blocks: Blocks {
                groups: saved.groups.into_owned(),
                width: saved.kind.width,
                slots: saved.kind.slots,
                open_superblocks: saved.open_superblocks.into_owned(),
                lane: saved.lane,
                lanes_left: saved.lanes_left.into_owned(),
                packing: Packing { filled: saved.filled.into_owned() },
                superseded: Superseded::new(geometry.dies, saved.kind.one_unit_rows),
                streams: saved.streams.into_owned(),
                invalidations: saved.invalidations.into_owned(),
            },
            slc: SlcCache::restore(
                (saved.slc_limit, saved.slc_reserved),
                config.ftl.slc_fold_at,
                saved.slc_in_use.into_owned(),
                saved.slc_sealed.into_owned(),
            ),
            spare: Spare {
                kept_per_die: saved.kept_per_die,
                reserve: saved.reserve,
                reserve_at_most: saved.reserve_at_most,
                shortage: saved.shortage,
            },
            dies: saved.dies.into_owned(),
            rules: Rules { config: config.ftl.clone(), policy, draws: saved.draws.into_owned() },
            map_cache: saved.map_cache.into_owned(),
            counters: saved.counters,
            backlog: saved.backlog.into_owned(),
            kind: saved.kind,
        };
        ftl.begin_policy(config)?;
        Ok(ftl)
    }
}
