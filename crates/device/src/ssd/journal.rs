//! The journal of the map: what a flush has to write where the map is lost with the power.
//!
//! The map lies in the drive's RAM. Without power-loss protection its changes have to be in flash before a
//! flush is done, or what was flushed could not be found again. One page, a mapping unit, stands for all of
//! them: it goes to the next free die like any write, alone in its row unless other writes are pending. The
//! newest page has a logical unit of its own beyond the exported ones, so the one before becomes invalid and
//! is collected like data. Flushes that come while a page is being written share the next one.
//!
//! What counts as a change is a command: writes, trims and write-zeroes that have completed. Left out: how
//! many entries a page holds, pages written between flushes, what collection moves (it rides along),
//! snapshots of the whole map, and reading the journal after a power cut.

use crate::block::{Completion, Status};
use crate::config::DriveConfig;
use crate::ftl::Ftl;
use crate::ftl::layout::own_units;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::host::{Flush, Owner, Unit};
use crate::units::Lpn;

/// Which changes are in flash, and who waits for the others.
#[derive(Debug)]
pub(super) struct Journal {
    /// The logical unit of the newest page.
    lpn: Lpn,
    /// Changes that the pages in flash hold, counted as commands.
    held: u64,
    /// Those that the page being written will hold; `None` where none is.
    coming: Option<u64>,
    /// Commands that wait for the page being written.
    riders: Vec<u32>,
    /// Flushes that wait for the next one.
    waiting: Vec<Flush>,
}

impl Journal {
    /// The journal of a drive at rest; none where the map needs none.
    pub(super) fn new<C: Contents>(config: &DriveConfig, ftl: &Ftl<C>) -> Option<Journal> {
        let last = u64::from(ftl.exported) + own_units(config, u64::from(ftl.exported)) - 1;
        config.journals_map().then(|| Journal {
            lpn: Lpn(last as u32),
            held: ftl.counters.map_changes(),
            coming: None,
            riders: Vec::new(),
            waiting: Vec::new(),
        })
    }

    /// The pages in flash hold what a flush has to make durable.
    pub(super) fn holds(&self, flush: &Flush) -> bool {
        !flush.is_write && flush.changes <= self.held
    }

    /// A flush waits for the next page.
    pub(super) fn wait(&mut self, flush: Flush) {
        self.waiting.push(flush);
    }

    /// All that waits boards the next page, if there is any and none is being written; returns its unit.
    fn begin_page(&mut self) -> Option<Lpn> {
        if self.coming.is_some() || self.waiting.is_empty() {
            return None;
        }
        self.coming = self.waiting.iter().map(|flush| flush.changes).max();
        self.riders.extend(self.waiting.drain(..).map(|flush| flush.command));
        Some(self.lpn)
    }

    fn end_page(&mut self) {
        self.held = self.held.max(self.coming.take().unwrap_or(0));
    }
}

impl<C: Contents> Ssd<C> {
    /// Commands done that may have changed the map.
    pub(super) fn changes(&self) -> u64 {
        self.ftl.counters.map_changes()
    }

    /// Begins a page of the journal, if flushes wait for one: it goes before what else is pending.
    pub(super) fn write_journal(&mut self) {
        let Some(lpn) = self.journal.as_mut().and_then(Journal::begin_page) else { return };
        self.ftl.counters.journal_pages_written += 1;
        let (stamp, bytes) = (self.ftl.flash.contents.stamp(lpn), self.ftl.geometry.unit_bytes);
        self.pending.push_front(Unit { lpn, owner: Owner::Journal, bytes, stamp });
        self.feed_dies();
    }

    /// A page of the journal is programmed: its flushes are done, and those that came meanwhile go on.
    #[cold]
    pub(super) fn journal_written(&mut self, done: &mut Vec<Completion>) {
        let Some(journal) = &mut self.journal else { return };
        journal.end_page();
        let (mut riders, mut waiting) = (std::mem::take(&mut journal.riders), std::mem::take(&mut journal.waiting));
        riders.drain(..).for_each(|command| self.complete(command, Status::Success, done));
        waiting.drain(..).for_each(|flush| self.journal_or_complete(flush, done));
        if let Some(journal) = &mut self.journal {
            // The room is kept; who has to wait again goes back to it.
            journal.riders = riders;
            waiting.append(&mut journal.waiting);
            journal.waiting = waiting;
        }
        self.write_journal();
    }

    /// Nothing is under way, and the map counts as saved: after untimed writes, and after a power cut.
    pub(super) fn forget_changes(&mut self) {
        let held = self.changes();
        if let Some(journal) = &mut self.journal {
            (journal.held, journal.coming) = (held, None);
            journal.riders.clear();
            journal.waiting.clear();
        }
    }
}
