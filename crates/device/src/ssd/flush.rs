//! Flush and FUA: done when what was acknowledged is durable.
//!
//! ```text
//!   flush ─► buffer drained ─┬────────────────────────────────► done     the map is safe, or unchanged
//!                            └─► page of the map's journal ───► done     else
//! ```
//! With power-loss protection all that is acknowledged is durable, and a flush is a command and no more.
//! A write with FUA is a write that is done like a flush behind it: when all that the buffer held is
//! programmed. With `buffer.fua_past_slc` what is programmed from its beginning until then goes past the SLC
//! cache; the page of the journal goes into it. Left out: a way past the buffer for the FUA write alone.

use crate::block::{Completion, Operation, Status};
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::journal::Journal;
use crate::ssd::pending::{Owner, Unit};
use crate::ssd::write_buffer::Flush;

impl<C: Contents> Ssd<C> {
    /// A flush, or a write with FUA that the buffer has taken (`is_write`), begins to wait.
    pub(super) fn begin_flush(&mut self, command: u32, is_write: bool, done: &mut Vec<Completion>) {
        if !self.shape.limits.volatile_cache {
            return self.complete(command, Status::Success, done);
        }
        let changes = self.ftl.counters.map_changes() + u64::from(is_write);
        self.buffer.begin_flush(Flush { command, changes, is_write });
        self.finish_flushes(done);
        self.feed_dies();
    }

    /// A write with FUA goes into the buffer.
    #[cold]
    pub(super) fn begin_fua(&mut self) {
        self.ftl.pass_slc(self.shape.limits.volatile_cache && self.shape.config.buffer.fua_past_slc);
    }

    /// Flushes for which the buffer has drained go on: to the journal, or they are done.
    pub(super) fn finish_flushes(&mut self, done: &mut Vec<Completion>) {
        for _ in 0..self.buffer.close_drained() {
            if let Some(flush) = self.buffer.take_flush() {
                self.journal_or_complete(flush, done);
            }
        }
        if !self.buffer.waits_for_fua() {
            self.ftl.pass_slc(false);
        }
        self.write_journal();
    }

    /// A command without a buffer has ended: one with FUA waits for the journal too.
    #[cold]
    pub(super) fn end_with_fua(&mut self, command: u32, status: Status, done: &mut Vec<Completion>) {
        let is_write = self.commands.get(command).request.operation != Operation::Read;
        if status != Status::Success || !is_write {
            return self.complete(command, status, done);
        }
        self.begin_flush(command, true, done);
    }

    /// Ends a flush that needs no page of the journal; another waits for the next one.
    fn journal_or_complete(&mut self, flush: Flush, done: &mut Vec<Completion>) {
        match &mut self.journal {
            Some(journal) if !self.ftl.is_read_only() && !journal.holds(&flush) => journal.wait(flush),
            _ => self.complete(flush.command, Status::Success, done),
        }
    }

    /// Begins a page of the journal, if flushes wait for one: it goes before what else is pending.
    fn write_journal(&mut self) {
        let Some(lpn) = self.journal.as_mut().and_then(Journal::begin_page) else { return };
        self.ftl.counters.journal_pages_written += 1;
        self.pending.push_first(Unit {
            lpn,
            owner: Owner::Journal,
            bytes: self.shape.unit_bytes,
            held: C::Held::default(),
        });
        self.feed_dies();
    }

    /// A page of the journal is programmed: its flushes are done, and those that came meanwhile go on.
    #[cold]
    pub(super) fn journal_written(&mut self, done: &mut Vec<Completion>) {
        let Some(journal) = &mut self.journal else { return };
        let (mut riders, mut waiting) = journal.end_page();
        riders.drain(..).for_each(|command| self.complete(command, Status::Success, done));
        waiting.drain(..).for_each(|flush| self.journal_or_complete(flush, done));
        if let Some(journal) = &mut self.journal {
            journal.keep_room(riders, waiting);
        }
        self.write_journal();
    }

    /// Nothing is under way, and the map counts as saved: after untimed writes, and after a power cut.
    pub(super) fn forget_changes(&mut self) {
        self.ftl.pass_slc(false);
        let changes = self.ftl.counters.map_changes();
        if let Some(journal) = &mut self.journal {
            journal.forget(changes);
        }
    }
}
