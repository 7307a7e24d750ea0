//! Flush and FUA: done when what was acknowledged is durable.
//!
//! ```text
//!   flush ─► buffer drained ─┬────────────────────────────────► done     the map is safe, or unchanged
//!                            └─► page of the map's journal ───► done     else
//! ```
//! With power-loss protection all that is acknowledged is durable, and a flush is a command and no more.
//! A write with FUA is a write that is done like a flush behind it: when all that the buffer held is
//! programmed. Left out: a way past the buffer for the FUA write alone.

use super::Flush;
use crate::block::{Completion, Operation, Status};
use crate::nand::contents::Contents;
use crate::ssd::Ssd;

impl<C: Contents> Ssd<C> {
    /// A flush, or a write with FUA that the buffer has taken (`is_write`), begins to wait.
    pub(super) fn begin_flush(&mut self, command: u32, is_write: bool, done: &mut Vec<Completion>) {
        if !self.limits.volatile_cache {
            return self.complete(command, Status::Success, done);
        }
        let flush = Flush { command, changes: self.changes() + u64::from(is_write), is_write };
        let epoch = self.buffer.begin_flush();
        self.front.flushes.push_back((epoch, flush));
        self.finish_flushes(done);
        self.feed_dies();
    }

    /// Flushes for which the buffer has drained go on: to the journal, or they are done.
    pub(super) fn finish_flushes(&mut self, done: &mut Vec<Completion>) {
        let drained = self.buffer.drained_until();
        while let Some(&(epoch, flush)) = self.front.flushes.front() {
            if epoch >= drained {
                break;
            }
            self.front.flushes.pop_front();
            self.journal_or_complete(flush, done);
        }
        self.write_journal();
    }

    /// A command without a buffer has ended: one with FUA waits for the journal too.
    #[cold]
    pub(super) fn end_with_fua(&mut self, command: u32, status: Status, done: &mut Vec<Completion>) {
        let is_write = self.front.commands[command as usize].request.operation != Operation::Read;
        if status != Status::Success || !is_write {
            return self.complete(command, status, done);
        }
        self.begin_flush(command, true, done);
    }

    /// Ends a flush that needs no page of the journal; another waits for the next one.
    pub(in crate::ssd) fn journal_or_complete(&mut self, flush: Flush, done: &mut Vec<Completion>) {
        match &mut self.journal {
            Some(journal) if !self.ftl.is_read_only() && !journal.holds(&flush) => journal.wait(flush),
            _ => self.complete(flush.command, Status::Success, done),
        }
    }
}
