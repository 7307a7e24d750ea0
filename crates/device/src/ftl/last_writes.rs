//! What was written last without a clock: it lies in the write buffer when the clock starts.
//!
//! Under load the buffer is full, and a write waits until a unit of it is programmed. Preconditioning
//! programs every unit at once, so the buffer of a drive at rest is empty. For a run to begin as it goes
//! on, the units written last are taken into the buffer again at the first write: their copies in flash
//! stay valid until then, so a power cut loses nothing.

use crate::units::Lpn;
use serde::{Deserialize, Serialize};

/// The units written last, as many as the buffer has slots: a ring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWrites {
    units: Vec<(Lpn, u32)>,
    /// Where the oldest is, once there are `most`.
    oldest: usize,
    most: usize,
}

impl LastWrites {
    /// Remembers as many as the buffer has slots.
    pub fn limit(&mut self, slots: usize) {
        self.most = slots;
    }

    /// A unit was written that takes so many bytes in flash.
    #[inline]
    pub fn add(&mut self, lpn: Lpn, bytes: u32) {
        if self.units.len() < self.most {
            self.units.push((lpn, bytes));
        } else if self.most > 0 {
            self.units[self.oldest] = (lpn, bytes);
            self.oldest += 1;
            self.oldest = if self.oldest == self.most { 0 } else { self.oldest };
        }
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.units.clear();
        self.oldest = 0;
    }

    /// Takes them out, the oldest first.
    pub fn take(&mut self) -> Vec<(Lpn, u32)> {
        let mut units = std::mem::take(&mut self.units);
        units.rotate_left(self.oldest);
        self.oldest = 0;
        units
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_newest_come_out_oldest_first_and_only_once() {
        let mut last = LastWrites::default();
        last.limit(3);
        (0..5).for_each(|lpn| last.add(Lpn(lpn), 4096));
        assert_eq!(last.take(), [2, 3, 4].map(|lpn| (Lpn(lpn), 4096)));
        assert_eq!(last.take(), []);
        last.add(Lpn(7), 512);
        assert_eq!(last.take(), [(Lpn(7), 512)]);
    }

    #[test]
    fn a_drive_without_a_buffer_remembers_nothing() {
        let mut last = LastWrites::default();
        last.add(Lpn(1), 4096);
        assert_eq!(last.take(), []);
    }
}
