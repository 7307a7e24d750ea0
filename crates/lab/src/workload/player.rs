//! Plays a recorded trace: its requests in order, at their times or as fast as the depth allows.
//!
//! A further round begins when the trace's last request was due.

use super::error::{Misfit, Problem};
use super::job::Job;
use super::trace::Entry;
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
#[derive(Clone, Debug)]
pub struct Player {
    entries: Vec<Entry>,
    position: usize,
    /// Rounds still to play, this one included.
    rounds: u64,
    total_rounds: u64,
    timed: bool,
    /// When this round began.
    start: Nanos,
    sector_bytes: u64,
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
        let blame = |problem| ("read_iolog", replay.path.clone(), problem);
        let (sector, capacity) = (u64::from(limits.sector_bytes), limits.capacity_bytes());
        for (index, entry) in replay.entries.iter().enumerate() {
            let Entry { offset, bytes, .. } = *entry;
            let what = || format!("request {}: offset {offset}, length {bytes}", index + 1);
            if offset.checked_add(bytes).is_none_or(|end| end > capacity) {
                let message = format!("{}: beyond the drive's {capacity} bytes", what());
                let remedy = "take a larger drive, or divide the offsets with replay_scale";
                return Err(blame(Problem::new(message, remedy)));
            }
            if bytes / sector > u64::from(u32::MAX) {
                return Err(blame(Problem::new(format!("{}: too long", what()), "split it")));
            }
            if !offset.is_multiple_of(sector) || !bytes.is_multiple_of(sector) {
                let message = format!("{}: not in whole sectors of {sector} bytes", what());
                let remedy = "round the offsets with replay_align, or take a drive of 512-byte sectors";
                return Err(blame(Problem::new(message, remedy)));
            }
        }
        let rounds = if job.time_based { u64::MAX } else { u64::from(job.loops) };
        Ok(Some(Player {
            entries: replay.entries.clone(),
            position: 0,
            rounds: if replay.entries.is_empty() { 0 } else { rounds },
            total_rounds: rounds,
            timed: replay.timed,
            start: Nanos::ZERO,
            sector_bytes: sector,
        }))
    }

    /// The next request; the trace begins anew as often as the job loops.
    pub fn next(&mut self) -> Option<Planned> {
        if self.position == self.entries.len() && self.rounds > 0 {
            self.start += self.entries.last().map_or(Nanos::ZERO, |entry| entry.at);
            self.rounds -= 1;
            self.position = 0;
        }
        if self.rounds == 0 {
            return None;
        }
        let entry = self.entries[self.position];
        self.position += 1;
        let sectors = (entry.bytes / self.sector_bytes) as u32;
        let lba = Lba(entry.offset / self.sector_bytes);
        let not_before = self.timed.then(|| self.start + entry.at);
        Some(Planned { request: Request::new(entry.operation, lba, sectors), not_before })
    }

    /// Plays no more.
    pub fn stop(&mut self) {
        self.rounds = 0;
    }

    /// Bytes of all rounds together.
    pub fn total_bytes(&self) -> u64 {
        let round: u64 = self.entries.iter().map(|entry| entry.bytes).sum();
        round.saturating_mul(self.total_rounds)
    }
}
