//! What lies in the write buffer when the clock of a preconditioned drive starts.
//!
//! Where flash is slower than the host, the buffer is full under load, and a write waits until a unit of it
//! is programmed; else it holds what the host is ahead. Preconditioning programs every unit at once, so its
//! buffer is empty. For a run to begin as it goes on, the first write finds in the buffer as many writes as
//! under load, those that would have come next: a sample of those that came, one in
//!
//! ```text
//!   every = units exported / slots of the buffer
//! ```
//! so that they are as old as what a random write replaces. They are no new data: each is programmed once
//! more, and its copy in flash stays valid until then, so a power cut loses nothing.

use crate::units::Lpn;
use serde::{Deserialize, Serialize};

/// The newest of the sample, as many as the buffer has slots: a ring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Each with the bytes that it takes in flash.
    units: Vec<(Lpn, u32)>,
    /// Where the oldest is, once there are `slots`.
    oldest: usize,
    slots: usize,
    /// Of the slots, those in use under load.
    in_use: usize,
    every: u32,
    /// Writes until the next of the sample.
    left: u32,
}

impl Backlog {
    /// For a drive with so many units and slots of its buffer; what is in it stays.
    pub fn limit(&mut self, exported: u32, slots: usize) {
        self.slots = slots;
        self.every = (exported / slots.max(1) as u32).max(1);
        self.left = self.left.min(self.every);
    }

    /// A unit was written without a clock: one of several is kept.
    #[inline]
    pub fn sample(&mut self, lpn: Lpn, bytes: u32) {
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        self.left = self.every - 1;
        self.add(lpn, bytes);
    }

    /// So large a share of the slots is in use.
    #[inline]
    pub fn fill(&mut self, share: f64) {
        self.in_use = (self.slots as f64 * share) as usize;
    }

    /// A unit lay in the buffer when the clock stopped.
    pub fn keep(&mut self, lpn: Lpn, bytes: u32) {
        self.add(lpn, bytes);
        self.in_use = self.units.len();
    }

    fn add(&mut self, lpn: Lpn, bytes: u32) {
        if self.units.len() < self.slots {
            self.units.push((lpn, bytes));
        } else if self.slots > 0 {
            self.units[self.oldest] = (lpn, bytes);
            self.oldest = (self.oldest + 1) % self.slots;
        }
    }

    /// Nothing lies in the buffer.
    pub fn clear(&mut self) {
        self.units.clear();
        self.oldest = 0;
    }

    /// Takes the units out, the oldest first.
    pub fn take(&mut self) -> Vec<(Lpn, u32)> {
        let mut units = std::mem::take(&mut self.units);
        units.rotate_left(self.oldest);
        self.oldest = 0;
        units.split_off(units.len().saturating_sub(self.in_use))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn backlog(exported: u32, slots: usize) -> Backlog {
        let mut backlog = Backlog::default();
        backlog.limit(exported, slots);
        backlog.fill(1.0);
        backlog
    }

    #[test]
    fn the_newest_come_out_oldest_first_and_only_once() {
        let mut backlog = backlog(3, 3);
        (0..5).for_each(|lpn| backlog.sample(Lpn(lpn), 4096));
        assert_eq!(backlog.take(), [2, 3, 4].map(|lpn| (Lpn(lpn), 4096)));
        assert_eq!(backlog.take(), []);
        backlog.sample(Lpn(7), 512);
        assert_eq!(backlog.take(), [(Lpn(7), 512)]);
    }

    /// The sample reaches back as far as the capacity.
    #[test]
    fn one_write_in_several_is_kept() {
        let mut backlog = backlog(100, 4);
        (0..100).for_each(|lpn| backlog.sample(Lpn(lpn), 4096));
        assert_eq!(backlog.take(), [0, 25, 50, 75].map(|lpn| (Lpn(lpn), 4096)));
    }

    /// Of four slots half are in use: the newest two.
    #[test]
    fn as_many_come_out_as_are_in_use() {
        let mut backlog = backlog(4, 4);
        backlog.fill(0.5);
        (0..9).for_each(|lpn| backlog.sample(Lpn(lpn), 4096));
        assert_eq!(backlog.take(), [7, 8].map(|lpn| (Lpn(lpn), 4096)));
        backlog.keep(Lpn(1), 512);
        assert_eq!(backlog.take(), [(Lpn(1), 512)]);
    }

    #[test]
    fn a_drive_without_a_buffer_keeps_nothing() {
        let mut backlog = backlog(100, 0);
        (0..1000).for_each(|lpn| backlog.sample(Lpn(lpn), 4096));
        assert_eq!(backlog.take(), []);
    }
}
