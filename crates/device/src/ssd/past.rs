//! What a drive remembers that hosts did to it: commands that failed, self-tests, the last sanitize. It outlives a loss of
//! power, and the process that serves the drive.
//!
//! ```text
//!   progress of a sanitize = 65536 · time that it had power / time that it takes, rounded down; over at 65536
//! ```
//!
//! Left out: which parameter of a command was wrong; the hour at which a self-test was run.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Entries of the error log that are kept.
pub const MOST_ERRORS: usize = 64;
/// Entries of the self-test log that are kept.
pub const MOST_SELF_TESTS: usize = 20;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Past {
    /// Commands that failed.
    pub errors: Errors,
    /// Self-tests, the last one in front.
    pub self_tests: VecDeque<SelfTest>,
    /// The last sanitize.
    pub sanitize: Option<Sanitize>,
}

/// Commands that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// All that there were.
    pub count: u64,
    /// The last ones, the last in front.
    pub entries: VecDeque<Failed>,
}

/// A command that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    /// Counted from 1.
    pub number: u64,
    /// Of which queue.
    pub queue: u16,
    /// The command's identifier.
    pub command: u16,
    /// The status field of its completion.
    pub status: u16,
    /// The first sector that it named.
    pub sector: u64,
}

/// A self-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfTest {
    /// NVMe's code: 1 is short, 2 extended.
    pub code: u8,
    /// It found nothing.
    pub passed: bool,
}

/// A sanitize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sanitize {
    /// Command dword 10, which asked for it.
    pub asked: u32,
    /// What became of it.
    pub state: SanitizeState,
}

/// What became of a sanitize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SanitizeState {
    /// It was done.
    Done,
    /// It goes on.
    UnderWay(Progress),
    /// The drive could not.
    Failed,
}

/// How far something is that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// What it takes, in nanoseconds.
    pub lasts_ns: u64,
    /// What of that has passed.
    pub done_ns: u64,
}

impl Progress {
    /// How far it is, of 65536 parts; none where it is over.
    pub fn parts(&self) -> Option<u16> {
        let parts = (65536 * u128::from(self.done_ns)).checked_div(self.lasts_ns.into())?;
        u16::try_from(parts).ok()
    }
}

impl Errors {
    /// One more.
    pub fn note(&mut self, queue: u16, command: u16, status: u16, sector: u64) {
        self.count += 1;
        self.entries.push_front(Failed { number: self.count, queue, command, status, sector });
        self.entries.truncate(MOST_ERRORS);
    }
}

impl Past {
    /// A sanitize is under way: nothing else is done to the data meanwhile.
    pub fn is_sanitizing(&self) -> bool {
        matches!(self.sanitize, Some(Sanitize { state: SanitizeState::UnderWay(_), .. }))
    }

    /// A self-test was run.
    pub fn note_self_test(&mut self, code: u8, passed: bool) {
        self.self_tests.push_front(SelfTest { code, passed });
        self.self_tests.truncate(MOST_SELF_TESTS);
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: of the last failures 64 are kept, of self-tests 20; counts go on.
    #[test]
    fn old_entries_go() {
        let mut past = Past::default();
        (0..100).for_each(|command| past.errors.note(1, command, 0x4016, 7));
        (0..30).for_each(|number| past.note_self_test(1, number % 2 == 0));
        let Errors { count, entries } = &past.errors;
        assert_eq!((*count, entries.len(), entries[0].number, entries[63].command), (100, MOST_ERRORS, 100, 36));
        assert_eq!((past.self_tests.len(), past.self_tests[0].passed), (MOST_SELF_TESTS, false));
    }

    /// By hand: a quarter is 16384 parts, and the end is none of them; what takes no time is over.
    #[test]
    fn progress_by_hand() {
        let parts = |lasts_ns, done_ns| Progress { lasts_ns, done_ns }.parts();
        assert_eq!([parts(4, 0), parts(4, 1), parts(4, 4), parts(0, 0)], [Some(0), Some(16384), None, None]);
        assert_eq!(parts(u64::MAX, u64::MAX - 1), Some(65535));
    }
}
