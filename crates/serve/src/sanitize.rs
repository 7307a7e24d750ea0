//! A sanitize that takes the drive's time, by the machine's clock: it stands still without power, and goes on with it.

use ssdlab_device::ssd::past::Progress;
use std::time::Instant;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SanitizeOperation {
    /// When it last stood still, or began.
    stood: Progress,
    /// Since when it goes on; none without power.
    since: Option<Instant>,
}

impl SanitizeOperation {
    /// It has come so far, and waits for power.
    pub fn stands(stood: Progress) -> SanitizeOperation {
        SanitizeOperation { stood, since: None }
    }

    /// How far it is.
    pub fn progress(&self, now: Instant) -> Progress {
        let more = self.since.map_or(0, |since| now.saturating_duration_since(since).as_nanos() as u64);
        Progress { done_ns: self.stood.done_ns.saturating_add(more), ..self.stood }
    }

    /// The power is gone.
    pub fn stop(&mut self, now: Instant) {
        *self = SanitizeOperation::stands(self.progress(now));
    }

    /// The power is back, or has never been gone.
    pub fn go_on(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::clock::wall;
    use std::time::Duration;

    /// By hand: without power nothing comes to it, and what was done before counts.
    #[test]
    fn it_stands_still_without_power() {
        const SECOND: u64 = 1_000_000_000;
        let begun = wall();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let mut operation = SanitizeOperation::stands(Progress { lasts_ns: 4 * SECOND, done_ns: SECOND });
        operation.go_on(begun);
        let done = |operation: &SanitizeOperation, seconds| operation.progress(at(seconds)).done_ns / SECOND;
        assert_eq!((done(&operation, 0), done(&operation, 1)), (1, 2));
        operation.stop(at(1));
        assert_eq!(done(&operation, 100), 2);
        operation.go_on(at(100));
        operation.go_on(at(101));
        assert_eq!((done(&operation, 102), operation.progress(at(102)).parts()), (4, None));
    }
}
