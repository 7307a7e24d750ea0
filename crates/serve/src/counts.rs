//! What was asked, and how it went: sums since the server began.

use crate::request::{Command, Request};
use std::time::Duration;

/// Requests that came to the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reads.
    pub reads: u64,
    /// Bytes of reads.
    pub read_bytes: u64,
    /// Writes with data.
    pub writes: u64,
    /// Bytes of writes.
    pub written_bytes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims.
    pub trims: u64,
    /// Bytes of trims.
    pub trimmed_bytes: u64,
    /// Writes of zeroes.
    pub zeroes: u64,
    /// Bytes of zeroes.
    pub zeroed_bytes: u64,
    /// Questions where holes are.
    pub statuses: u64,
    /// Of all these, the ones that failed.
    pub failed: u64,
}

impl Counts {
    /// A request comes.
    pub fn count(&mut self, request: &Request) {
        let none = &mut 0;
        let (requests, bytes) = match request.command {
            Command::Read { .. } | Command::Compare | Command::Verify => (&mut self.reads, &mut self.read_bytes),
            Command::Write { .. } => (&mut self.writes, &mut self.written_bytes),
            Command::Flush => (&mut self.flushes, none),
            Command::Trim { .. } => (&mut self.trims, &mut self.trimmed_bytes),
            Command::WriteZeroes { .. } => (&mut self.zeroes, &mut self.zeroed_bytes),
            Command::BlockStatus { .. } => (&mut self.statuses, none),
            Command::Cache | Command::WriteUncorrectable => return,
        };
        *requests += 1;
        *bytes += u64::from(request.length);
    }
}

/// How long after their time answers were given, of a drive that goes by the wall clock. Zero as long as the machine keeps up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Instants at which requests ended.
    pub events: u64,
    /// Together.
    pub total: Duration,
    /// The latest.
    pub worst: Duration,
}

impl Lateness {
    /// Requests that ended were answered so late.
    pub fn note(&mut self, late: Duration) {
        self.events += 1;
        self.total = self.total.saturating_add(late);
        self.worst = self.worst.max(late);
    }

    /// On average.
    pub fn mean(&self) -> Duration {
        u32::try_from(self.events).ok().and_then(|events| self.total.checked_div(events)).unwrap_or_default()
    }
}

/// What became of those who came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// Connections that are open.
    pub open: usize,
    /// Connections so far.
    pub taken: u64,
    /// Hung up on at once, since there were too many.
    pub too_many: u64,
    /// Left in order, or vanished.
    pub left: u64,
    /// Broke the protocol.
    pub broke_protocol: u64,
    /// Were too slow to ask or to take an answer.
    pub too_slow: u64,
}
