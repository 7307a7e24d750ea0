//! The journal: changed metadata blocks of one transaction, written together.
//!
//! A commit waits for the data that was submitted before it (ordered mode), writes a descriptor and
//! the blocks into the journal's ring, flushes the drive's cache, and writes the commit record with
//! forced unit access. Then the blocks are dirty where they belong, and what was deleted may be
//! discarded. One commit at a time; a transaction gathers meanwhile.
//!
//! Blocks of a commit = 1 descriptor per 500 blocks + blocks + 1 record.
//!
//! Left out: running out of ring (its blocks are written home by age, long before), revoke records,
//! checksums, a commit record without barrier.

use super::Kernel;
use crate::files::allocator::Extent;
use crate::files::system::{Discard, Metadata};
use ssdlab_device::block::Operation;
use std::collections::BTreeSet;

/// Tags that one descriptor block holds: 4096 bytes, 8 bytes each, less headers.
const TAGS: u64 = 500;

/// How far a commit is, with the number of the last request to wait for.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Data(u32),
    Blocks(u32),
    Barrier(u32),
    Record(u32),
}

#[derive(Clone, Debug)]
struct Commit {
    blocks: BTreeSet<u64>,
    freed: Vec<Extent>,
    stage: Stage,
}

/// The journal's state.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    area: Extent,
    block_units: u64,
    /// Where the ring goes on, in units from its start.
    head: u64,
    running: BTreeSet<u64>,
    freed: Vec<Extent>,
    committing: Option<Commit>,
    /// Transactions whose commit is over.
    committed: u64,
    /// Units written.
    pub(super) written_units: u64,
}

impl Journal {
    /// An empty journal; without area none is kept.
    pub(super) fn new(area: Extent, block_units: u64) -> Journal {
        Journal {
            area,
            block_units,
            head: 0,
            running: BTreeSet::new(),
            freed: Vec::new(),
            committing: None,
            committed: 0,
            written_units: 0,
        }
    }

    /// A metadata block changes in the running transaction.
    pub(super) fn add(&mut self, block: u64) {
        self.running.insert(block);
    }

    /// Number of the transaction that a change of now belongs to.
    fn number(&self) -> u64 {
        self.committed + 1 + u64::from(self.committing.is_some())
    }

    /// The next stretches of the ring.
    fn take(&mut self, blocks: u64) -> Vec<Extent> {
        let mut rest = blocks * self.block_units;
        self.written_units += rest;
        let mut extents = Vec::new();
        while rest > 0 {
            let units = rest.min(self.area.units - self.head);
            extents.push(Extent { start: self.area.start + self.head, units });
            self.head = (self.head + units) % self.area.units;
            rest -= units;
        }
        extents
    }
}

impl Kernel<'_> {
    /// Space became free: it is discarded with the commit, if at all.
    pub(super) fn free(&mut self, freed: Vec<Extent>) {
        if self.system.file_system.discard != Discard::Continuous {
            return;
        }
        match self.system.file_system.metadata {
            Metadata::Journal => self.journal.freed.extend(freed),
            Metadata::Synchronous => self.discard(&freed),
        }
    }

    fn discard(&mut self, freed: &[Extent]) {
        freed.iter().for_each(|&extent| self.ask(Operation::Trim, extent, false));
    }

    /// Begins to commit the running transaction, unless there is none or a commit is under way.
    pub(super) fn begin_commit(&mut self) {
        let journal = &mut self.journal;
        if journal.committing.is_none() && !journal.running.is_empty() {
            let (blocks, freed) = (std::mem::take(&mut journal.running), std::mem::take(&mut journal.freed));
            journal.committing = Some(Commit { blocks, freed, stage: Stage::Data(self.port.last()) });
            self.commit_on();
        }
    }

    /// Takes the commit as far as it goes now.
    pub(super) fn commit_on(&mut self) {
        while let Some(mut commit) = self.journal.committing.take() {
            let (Stage::Data(number) | Stage::Blocks(number) | Stage::Barrier(number) | Stage::Record(number)) =
                commit.stage;
            if !self.port.is_written(number) {
                self.journal.committing = Some(commit);
                return;
            }
            if let Stage::Record(_) = commit.stage {
                self.journal.committed += 1;
                commit.blocks.into_iter().for_each(|block| self.soil_block(block));
                self.discard(&commit.freed);
                return;
            }
            commit.stage = self.next_stage(&commit);
            self.journal.committing = Some(commit);
        }
    }

    /// Submits what comes after a stage.
    fn next_stage(&mut self, commit: &Commit) -> Stage {
        match commit.stage {
            Stage::Data(_) => {
                let blocks = commit.blocks.len() as u64;
                self.write_ring(blocks.div_ceil(TAGS) + blocks, false);
                Stage::Blocks(self.port.last())
            }
            Stage::Blocks(_) => {
                if self.port.limits().volatile_cache {
                    self.ask(Operation::Flush, Extent { start: 0, units: 0 }, false);
                }
                Stage::Barrier(self.port.last())
            }
            Stage::Barrier(_) | Stage::Record(_) => {
                self.write_ring(1, true);
                Stage::Record(self.port.last())
            }
        }
    }

    fn write_ring(&mut self, blocks: u64, fua: bool) {
        let most = self.most_units();
        for extent in self.journal.take(blocks) {
            let mut at = extent.start;
            while at < extent.end() {
                let units = most.min(extent.end() - at);
                self.ask(Operation::Write, Extent { start: at, units }, fua);
                at += units;
            }
        }
    }

    /// Commits everything up to now and waits for it.
    pub(super) fn commit(&mut self) {
        if self.journal.running.is_empty() && self.journal.committing.is_none() {
            return;
        }
        let number = if self.journal.running.is_empty() { self.journal.number() - 1 } else { self.journal.number() };
        while self.journal.committed < number {
            self.begin_commit();
            self.wait(|kernel| kernel.journal.committing.is_none());
        }
    }
}
