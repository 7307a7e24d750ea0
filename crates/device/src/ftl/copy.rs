//! The same FTL once more, as it is: to try several ends of one history.

use crate::ftl::Ftl;
use crate::nand::contents::Contents;

impl<C: Contents + Clone> Ftl<C> {
    /// A copy, where the policy can be copied.
    pub fn copy(&self) -> Option<Ftl<C>> {
        Some(Ftl {
            geometry: self.geometry,
            exported: self.exported,
            seed: self.seed,
            flash: self.flash.clone(),
            mapping: self.mapping.clone(),
            blocks: self.blocks.clone(),
            slc: self.slc.clone(),
            spare: self.spare.clone(),
            dies: self.dies.clone(),
            rules: self.rules.copy()?,
            map_cache: self.map_cache.clone(),
            counters: self.counters,
            backlog: self.backlog.clone(),
            kind: self.kind,
        })
    }
}
