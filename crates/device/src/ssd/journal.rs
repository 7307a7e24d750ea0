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

use crate::ssd::write_buffer::Flush;
use crate::units::Lpn;

/// Which changes are in flash, and who waits for the others.
#[derive(Clone, Debug)]
pub struct Journal {
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
    /// The journal of a drive at rest, of which `changes` are in flash: its page is that logical unit.
    pub fn new(lpn: Lpn, changes: u64) -> Journal {
        Journal { lpn, held: changes, coming: None, riders: Vec::new(), waiting: Vec::new() }
    }

    /// The pages in flash hold what a flush has to make durable.
    pub fn holds(&self, flush: &Flush) -> bool {
        !flush.is_write && flush.changes <= self.held
    }

    /// A flush waits for the next page.
    pub fn wait(&mut self, flush: Flush) {
        self.waiting.push(flush);
    }

    /// All that waits boards the next page, if there is any and none is being written; returns its unit.
    pub fn begin_page(&mut self) -> Option<Lpn> {
        if self.coming.is_some() || self.waiting.is_empty() {
            return None;
        }
        self.coming = self.waiting.iter().map(|flush| flush.changes).max();
        self.riders.extend(self.waiting.drain(..).map(|flush| flush.command));
        Some(self.lpn)
    }

    /// The page is programmed: takes the commands that waited for it, and the flushes that came meanwhile.
    pub fn end_page(&mut self) -> (Vec<u32>, Vec<Flush>) {
        self.held = self.held.max(self.coming.take().unwrap_or(0));
        (std::mem::take(&mut self.riders), std::mem::take(&mut self.waiting))
    }

    /// The room of lists that [`Journal::end_page`] gave away is kept.
    pub fn keep_room(&mut self, riders: Vec<u32>, mut waiting: Vec<Flush>) {
        debug_assert!(riders.is_empty() && waiting.is_empty() && self.riders.is_empty());
        waiting.append(&mut self.waiting);
        (self.riders, self.waiting) = (riders, waiting);
    }

    /// Nothing is under way, and so many changes count as saved.
    pub fn forget(&mut self, changes: u64) {
        (self.held, self.coming) = (changes, None);
        self.riders.clear();
        self.waiting.clear();
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn flush(command: u32, changes: u64) -> Flush {
        Flush { command, changes, is_write: false }
    }

    /// Flushes that come while a page is written share the next one, and one that found nothing new needs none.
    #[test]
    fn flushes_share_a_page() {
        let mut journal = Journal::new(Lpn(9), 0);
        assert!(journal.holds(&flush(1, 0)) && !journal.holds(&flush(1, 3)));
        journal.wait(flush(1, 3));
        assert_eq!(journal.begin_page(), Some(Lpn(9)));
        journal.wait(flush(2, 4));
        journal.wait(flush(3, 5));
        assert_eq!(journal.begin_page(), None, "one page at a time");
        let (mut riders, mut waiting) = journal.end_page();
        assert_eq!((riders.as_slice(), waiting.len()), ([1].as_slice(), 2));
        assert!(journal.holds(&flush(4, 3)) && !journal.holds(&waiting[0]));
        waiting.drain(..).for_each(|flush| journal.wait(flush));
        riders.clear();
        journal.keep_room(riders, waiting);
        assert_eq!(journal.begin_page(), Some(Lpn(9)));
        assert_eq!(journal.end_page().0, [2, 3]);
        assert!(journal.holds(&flush(5, 5)));
    }
}
