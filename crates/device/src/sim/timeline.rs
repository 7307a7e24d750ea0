//! A shared resource served in order of asking: a channel, a link, a controller.
//!
//! Reserve late: a reservation is made at the instant the operation reaches the resource, never
//! for a time to come. Booked ahead, the gap before the booking is lost to everybody else.

use crate::units::Nanos;

/// One resource, busy until a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timeline {
    free_at: Nanos,
}

impl Timeline {
    /// Takes the resource from `now` on, as soon as it is free, for `length`; returns when it is done.
    #[inline]
    pub fn reserve(&mut self, now: Nanos, length: Nanos) -> Nanos {
        self.free_at = self.free_at.max(now) + length;
        self.free_at
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Reservations queue behind each other and never start before they were asked for.
    #[test]
    fn reservations_queue() {
        let mut channel = Timeline::default();
        assert_eq!(channel.reserve(Nanos(10), Nanos(5)), Nanos(15));
        assert_eq!(channel.reserve(Nanos(11), Nanos(5)), Nanos(20));
        assert_eq!(channel.reserve(Nanos(30), Nanos(5)), Nanos(35));
    }
}
