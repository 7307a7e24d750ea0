//! Plays a recorded trace: its requests in order, at their times or as fast as the depth allows.
//!
//! The trace is read as it is played. A further round begins when the trace's last request was due.

use super::error::Misfit;
use super::job::{Job, Replay};
use super::trace::{Entry, Replayed, TraceError};
use ssdlab_device::block::{Limits, Request};
use ssdlab_device::units::{Lba, Nanos};

/// A request and when it may be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// What to submit.
    pub request: Request,
    /// Of a timed replay: not before this time, counted from the job's start.
    pub not_before: Option<Nanos>,
}

/// Plays a trace.
#[derive(Debug)]
pub struct Player {
    replay: Replay,
    /// Of this round; opened with its first request.
    requests: Option<Replayed>,
    /// Requests left of this round.
    left: u64,
    /// Rounds still to play, this one included.
    rounds: u64,
    total_rounds: u64,
    /// When this round began.
    start: Nanos,
    sector_bytes: u64,
    capacity_bytes: u64,
    /// Why it stopped before the end.
    fault: Option<TraceError>,
}

impl Player {
    /// The trace of a job that has one.
    ///
    /// # Errors
    /// Requests that do not fit the drive.
    pub fn new(job: &Job, limits: &Limits) -> Result<Option<Player>, Misfit> {
        let Some(replay) = &job.replay else {
            return Ok(None);
        };
        if let Some(problem) = replay.trace.refusal(limits) {
            return Err(("read_iolog", replay.trace.path().to_string(), problem));
        }
        let rounds = if job.time_based { u64::MAX } else { u64::from(job.loops) };
        Ok(Some(Player {
            replay: replay.clone(),
            requests: None,
            left: replay.trace.survey().requests(),
            rounds,
            total_rounds: rounds,
            start: Nanos::ZERO,
            sector_bytes: u64::from(limits.sector_bytes),
            capacity_bytes: limits.capacity_bytes(),
            fault: None,
        }))
    }

    /// The next request; the trace begins anew as often as the job loops.
    pub fn next(&mut self) -> Option<Planned> {
        if self.left == 0 && self.rounds > 0 {
            self.start += self.replay.trace.last();
            self.rounds -= 1;
            self.left = self.replay.trace.survey().requests();
            self.requests = None;
        }
        if self.rounds == 0 {
            return None;
        }
        self.left -= 1;
        match self.next_entry() {
            Ok(entry) => Some(self.planned(&entry)),
            Err(fault) => {
                self.fault = Some(fault);
                self.stop();
                None
            }
        }
    }

    fn next_entry(&mut self) -> Result<Entry, TraceError> {
        let requests = match &mut self.requests {
            Some(requests) => requests,
            None => self.requests.insert(self.replay.trace.requests(self.capacity_bytes)?),
        };
        let entry = requests.next_entry()?.ok_or_else(|| requests.changed())?;
        let ends_at = entry.offset.checked_add(entry.bytes);
        let is_whole = (entry.offset | entry.bytes).is_multiple_of(self.sector_bytes);
        if !is_whole || ends_at.is_none_or(|end| end > self.capacity_bytes) {
            return Err(requests.changed());
        }
        Ok(entry)
    }

    fn planned(&self, entry: &Entry) -> Planned {
        let sectors = (entry.bytes / self.sector_bytes) as u32;
        let lba = Lba(entry.offset / self.sector_bytes);
        let not_before = self.replay.timed.then(|| self.start + entry.at);
        Planned { request: Request::new(entry.operation, lba, sectors), not_before }
    }

    /// Plays no more.
    pub fn stop(&mut self) {
        self.rounds = 0;
    }

    /// Why it stopped before the end, if it did.
    pub fn fault(&self) -> Option<&TraceError> {
        self.fault.as_ref()
    }

    /// Bytes of all rounds together.
    pub fn total_bytes(&self) -> u64 {
        self.replay.trace.survey().bytes().saturating_mul(self.total_rounds)
    }
}

impl Clone for Player {
    /// A player that begins this round anew.
    fn clone(&self) -> Player {
        Player {
            replay: self.replay.clone(),
            requests: None,
            left: self.replay.trace.survey().requests(),
            fault: self.fault.clone(),
            ..*self
        }
    }
}
