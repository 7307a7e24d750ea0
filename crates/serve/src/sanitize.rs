//! A sanitize that takes the drive's time, by the machine's clock: it stands still without power, and goes on with it.
//!
//! ```text
//!   progress = 65536 · time that it had power / time that it takes, rounded down; over at 65536
//! ```

use std::time::{Duration, Instant};

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SanitizeOperation {
    lasts: Duration,
    done: Duration,
    /// Since when it goes on; none without power.
    since: Option<Instant>,
}

impl SanitizeOperation {
    /// Begins.
    pub fn begin(lasts: Duration, now: Instant) -> SanitizeOperation {
        SanitizeOperation { lasts, done: Duration::ZERO, since: Some(now) }
    }

    fn done(&self, now: Instant) -> Duration {
        self.done + self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// The power is gone.
    pub fn stop(&mut self, now: Instant) {
        *self = SanitizeOperation { done: self.done(now), since: None, ..*self };
    }

    /// The power is back, or has never been gone.
    pub fn go_on(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// How far it is, of 65536; none where it is over.
    pub fn progress(&self, now: Instant) -> Option<u16> {
        let parts = (65536 * self.done(now).as_nanos()).checked_div(self.lasts.as_nanos())?;
        u16::try_from(parts).ok()
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::clock::wall;

    /// By hand: a quarter of 4 s is 16384 parts; without power nothing comes to it, and at the end it is over.
    #[test]
    fn it_stands_still_without_power() {
        let begun = wall();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let mut operation = SanitizeOperation::begin(Duration::from_secs(4), begun);
        assert_eq!((operation.progress(at(0)), operation.progress(at(1))), (Some(0), Some(16384)));
        operation.stop(at(1));
        assert_eq!(operation.progress(at(100)), Some(16384));
        operation.go_on(at(100));
        operation.go_on(at(101));
        assert_eq!((operation.progress(at(102)), operation.progress(at(103))), (Some(49152), None));
        assert_eq!(SanitizeOperation::begin(Duration::ZERO, begun).progress(begun), None, "as fast as it is computed");
    }
}
