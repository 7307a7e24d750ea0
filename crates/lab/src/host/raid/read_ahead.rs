//! Reading ahead: which lines are fetched before they are asked for, and what they serve.
//!
//! Adaptive, as controllers document it: once two reads in a row followed each other, lines after
//! the read are fetched. A read that lies in fetched lines is served from them, or waits until they
//! arrive; a write takes its lines out. Left out: any other reading from the cache.

use super::config::ReadAheadPolicy;
use std::collections::{BTreeMap, VecDeque};

/// Streams that are told apart; not published, more than jobs usually run at once.
const STREAMS: usize = 16;

/// What a read finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Something of it was never fetched.
    Missing,
    /// All was fetched, and something is on its way.
    Arriving,
    /// All is there.
    Ready,
}

/// Lines that were read ahead.
#[derive(Clone, Debug)]
pub struct ReadAhead {
    policy: ReadAheadPolicy,
    line_sectors: u64,
    lines_ahead: u64,
    capacity_lines: usize,
    /// End of the last read of each stream, and whether it followed one; the newest last.
    streams: VecDeque<(u64, bool)>,
    /// Lines, and whether they have arrived.
    lines: BTreeMap<u64, bool>,
    /// Lines in the order in which they were fetched.
    order: VecDeque<u64>,
    waiting: Vec<(u32, u64, u64)>,
}

impl ReadAhead {
    /// With nothing fetched yet.
    pub fn new(policy: ReadAheadPolicy, line_sectors: u64, ahead_sectors: u64, capacity_lines: usize) -> ReadAhead {
        ReadAhead {
            policy,
            line_sectors,
            lines_ahead: ahead_sectors.div_ceil(line_sectors),
            capacity_lines,
            streams: VecDeque::new(),
            lines: BTreeMap::new(),
            order: VecDeque::new(),
            waiting: Vec::new(),
        }
    }

    /// Notes a read and tells whether more is to be read after it.
    pub fn note(&mut self, lba: u64, sectors: u64) -> bool {
        let stream = self.streams.iter().position(|(end, _)| *end == lba);
        let follows = stream.is_some();
        let place = stream.unwrap_or(if self.streams.len() < STREAMS { self.streams.len() } else { 0 });
        self.streams.remove(place);
        self.streams.push_back((lba + sectors, follows));
        match self.policy {
            ReadAheadPolicy::Never => false,
            ReadAheadPolicy::Adaptive => follows,
            ReadAheadPolicy::Always => true,
        }
    }

    /// What a read finds.
    pub fn find(&self, lba: u64, sectors: u64) -> Found {
        let states = self.lines_of(lba, sectors).map(|line| self.lines.get(&line).copied());
        states.fold(Found::Ready, |found, state| match (found, state) {
            (Found::Missing, _) | (_, None) => Found::Missing,
            (Found::Arriving, _) | (_, Some(false)) => Found::Arriving,
            (Found::Ready, Some(true)) => Found::Ready,
        })
    }

    /// Lines to fetch after a read that ends at `end`, of an array of `sectors`; they are on their way then.
    pub fn fetch(&mut self, end: u64, sectors: u64) -> Vec<u64> {
        let first = end / self.line_sectors;
        let last = (first + self.lines_ahead).min(sectors / self.line_sectors);
        let new: Vec<u64> = (first..last).filter(|line| !self.lines.contains_key(line)).collect();
        for line in &new {
            self.lines.insert(*line, false);
            self.order.push_back(*line);
        }
        while self.order.len() > self.capacity_lines
            && let Some(oldest) = self.order.pop_front()
        {
            self.lines.remove(&oldest);
        }
        new
    }

    /// A read waits for lines on their way.
    pub fn wait(&mut self, request: u32, lba: u64, sectors: u64) {
        self.waiting.push((request, lba, sectors));
    }

    /// A line has arrived; returns the reads that have all they need, and those whose lines were
    /// taken away meanwhile.
    pub fn arrived(&mut self, line: u64) -> (Vec<u32>, Vec<u32>) {
        if let Some(state) = self.lines.get_mut(&line) {
            *state = true;
        }
        let (mut ready, mut missing) = (Vec::new(), Vec::new());
        let waiting = std::mem::take(&mut self.waiting);
        for (request, lba, sectors) in waiting {
            match self.find(lba, sectors) {
                Found::Ready => ready.push(request),
                Found::Missing => missing.push(request),
                Found::Arriving => self.waiting.push((request, lba, sectors)),
            }
        }
        (ready, missing)
    }

    /// A write takes its lines out.
    pub fn forget(&mut self, lba: u64, sectors: u64) {
        for line in self.lines_of(lba, sectors) {
            if self.lines.remove(&line).is_some() {
                self.order.retain(|kept| *kept != line);
            }
        }
    }

    /// The power fails.
    pub fn clear(&mut self) {
        self.streams.clear();
        self.lines.clear();
        self.order.clear();
        self.waiting.clear();
    }

    fn lines_of(&self, lba: u64, sectors: u64) -> std::ops::Range<u64> {
        lba / self.line_sectors..(lba + sectors).div_ceil(self.line_sectors)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Only a read that follows another makes adaptive read-ahead fetch, also between others.
    #[test]
    fn adaptive_waits_for_a_stream() {
        let mut ahead = ReadAhead::new(ReadAheadPolicy::Adaptive, 8, 16, 8);
        assert!(!ahead.note(0, 4));
        assert!(!ahead.note(100, 4));
        assert!(ahead.note(4, 4));
        assert_eq!(ahead.fetch(8, 1000), [1, 2]);
        assert!(ahead.fetch(8, 1000).is_empty());
    }

    /// A read waits for a line on its way; a write takes a line out, and the read must go to the members.
    #[test]
    fn reads_wait_for_lines_and_writes_take_them_out() {
        let mut ahead = ReadAhead::new(ReadAheadPolicy::Always, 8, 16, 8);
        ahead.fetch(0, 1000);
        assert_eq!(ahead.find(0, 16), Found::Arriving);
        ahead.wait(5, 0, 16);
        assert_eq!(ahead.arrived(0), (vec![], vec![]));
        assert_eq!(ahead.arrived(1), (vec![5], vec![]));
        ahead.wait(6, 0, 16);
        ahead.forget(3, 1);
        assert_eq!(ahead.arrived(1), (vec![], vec![6]));
    }

    /// The oldest lines make room.
    #[test]
    fn the_oldest_lines_go_first() {
        let mut ahead = ReadAhead::new(ReadAheadPolicy::Always, 8, 16, 2);
        ahead.fetch(0, 1000);
        ahead.fetch(80, 1000);
        assert_eq!(ahead.find(0, 1), Found::Missing);
        assert_eq!(ahead.find(80, 1), Found::Arriving);
    }
}
