//! Demand-cached mapping (after DFTL): the map lies in flash as translation pages, and a cache of
//! given size holds those in use.
//!
//! A translation page is one mapping unit of 4 B entries and lives beyond the exported units in the
//! same map, so that it is written, collected and counted like data. A miss costs a flash read of
//! the page, if it was ever written; a dirty page that leaves the cache is written. Replacement: LRU.
//! A read that misses waits for its translation pages before its own flash read starts. A write does
//! not wait: its entry is needed only when the unit is programmed; the load costs die time only.
//!
//! Left out: caching single entries, batching of updates by translation page during collection, and
//! waiting for a page that another command is loading already.

use crate::config::DriveConfig;
use crate::ftl::layout::translation_pages;
use crate::ftl::table::NONE;
use crate::units::{Lpn, Ppn};
use serde::{Deserialize, Serialize};

/// One translation page's place in the LRU list.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Node {
    newer: u32,
    older: u32,
    cached: bool,
    dirty: bool,
}

/// The cache of translation pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MapCache {
    nodes: Vec<Node>,
    newest: u32,
    oldest: u32,
    cached: u32,
    capacity: u32,
    entries_per_page: u32,
    first_page: u32,
    /// Flash reads that misses ask for, until the drive fetches them.
    pub loads: Vec<Ppn>,
    /// Dirty pages to be written, until the drive fetches them.
    pub evictions: Vec<Lpn>,
}

impl MapCache {
    /// The cache that a configuration asks for; none where the whole map is in RAM.
    pub fn new(config: &DriveConfig, exported: u32) -> Option<MapCache> {
        let bytes = config.ftl.mapping_cache_bytes?.0;
        let unit = config.unit_bytes();
        let entries_per_page = (unit / 4) as u32;
        let node = Node { newer: NONE, older: NONE, cached: false, dirty: false };
        Some(MapCache {
            nodes: vec![node; translation_pages(config, u64::from(exported)) as usize],
            newest: NONE,
            oldest: NONE,
            cached: 0,
            capacity: (bytes / unit).max(1) as u32,
            entries_per_page,
            first_page: exported,
            loads: Vec::new(),
            evictions: Vec::new(),
        })
    }

    /// Translation pages of the drive.
    pub fn pages(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Nothing is cached, and nothing waits to be loaded or written.
    pub fn forget(&mut self) {
        self.nodes.fill(Node { newer: NONE, older: NONE, cached: false, dirty: false });
        (self.newest, self.oldest, self.cached) = (NONE, NONE, 0);
        self.loads.clear();
        self.evictions.clear();
    }

    /// The unit's entry lies in a translation page: it is no translation page itself.
    pub fn holds(&self, lpn: Lpn) -> bool {
        lpn.0 < self.first_page
    }

    /// Looks a unit up; returns the page that has to be loaded and the dirty one that has to leave, as
    /// logical units.
    pub fn access(&mut self, lpn: Lpn, dirty: bool) -> (Option<Lpn>, Option<Lpn>) {
        let page = lpn.0 / self.entries_per_page;
        let missed = !self.nodes[page as usize].cached;
        let mut evicted = None;
        if missed {
            if self.cached == self.capacity {
                evicted = self.drop_oldest();
            }
            self.cached += 1;
            self.nodes[page as usize].cached = true;
        } else {
            self.unlink(page);
        }
        self.push_newest(page);
        self.nodes[page as usize].dirty |= dirty;
        let unit = |page: u32| Lpn(self.first_page + page);
        (missed.then_some(unit(page)), evicted.map(unit))
    }

    fn drop_oldest(&mut self) -> Option<u32> {
        let page = self.oldest;
        self.unlink(page);
        self.cached -= 1;
        let node = &mut self.nodes[page as usize];
        node.cached = false;
        std::mem::take(&mut node.dirty).then_some(page)
    }

    fn push_newest(&mut self, page: u32) {
        let before = std::mem::replace(&mut self.newest, page);
        self.nodes[page as usize].older = before;
        self.nodes[page as usize].newer = NONE;
        match before {
            NONE => self.oldest = page,
            before => self.nodes[before as usize].newer = page,
        }
    }

    fn unlink(&mut self, page: u32) {
        let Node { newer, older, .. } = self.nodes[page as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.nodes[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.nodes[older as usize].newer = newer,
        }
    }
}
