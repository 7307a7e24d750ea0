//! Rebuild and scrub: through all stripes, upwards, beside the load.
//!
//! A stripe at a time is read, computed and written as a job of its own, so that no write comes
//! between; two at a time, which is what md's stripe cache of 256 pages holds of its default chunk.
//! The next begins when the rate allows: `sync_max_mb_per_s` of each member, or `sync_min_mb_per_s`
//! while requests are under way or came since the last. Stripes that have begun to be rebuilt are written whole again.

use super::config::{RaidConfig, Scrub};
use super::jobs::{Job, What};
use super::ranges::Ranges;
use super::{Event, Raid};
use crate::host::stacked::Work;
use ssdlab_device::block::{Operation, Request};
use ssdlab_device::units::{Lba, Nanos};
use std::collections::BTreeSet;

const STRIPES_AT_A_TIME: u32 = 2;

/// How far a rebuild or scrub has come.
#[derive(Clone, Debug)]
pub struct Sync {
    what: What,
    stripes: u64,
    /// The next stripe to begin.
    next: u64,
    /// All below are done.
    done: u64,
    /// Done beyond that.
    done_beyond: BTreeSet<u64>,
    under_way: u32,
    next_at: Nanos,
    wake_is_set: bool,
    /// Requests that had come when the last step began.
    requests_taken: u64,
}

impl Sync {
    /// What the configuration asks for, if anything.
    pub fn new(config: &RaidConfig, stripes: u64) -> Option<Sync> {
        let what = match config.scrub {
            _ if config.rebuild => What::Rebuild,
            Scrub::Check | Scrub::Repair => What::Scrub,
            Scrub::Off => return None,
        };
        Some(Sync {
            what,
            stripes,
            next: 0,
            done: 0,
            done_beyond: BTreeSet::new(),
            under_way: 0,
            next_at: Nanos::ZERO,
            wake_is_set: false,
            requests_taken: 0,
        })
    }

    /// Whether a stripe may be used as rebuilt: by a reader once it is done, by who holds its lock
    /// once it has begun, for the rebuild held that lock before.
    pub fn has_rebuilt(&self, stripe: u64, reading: bool) -> bool {
        self.what == What::Rebuild && stripe < if reading { self.done } else { self.next }
    }

    /// The power fails: goes on later from what was done.
    pub fn cut_power(&mut self) {
        self.next = self.done;
        self.done_beyond.clear();
        self.under_way = 0;
        self.wake_is_set = false;
    }

    fn begin(&mut self) {
        self.next += 1;
        self.under_way += 1;
    }

    fn finish(&mut self, stripe: u64) {
        self.under_way -= 1;
        self.done_beyond.insert(stripe);
        while self.done_beyond.remove(&self.done) {
            self.done += 1;
        }
    }
}

impl Raid {
    /// Begins as many stripes as the rate allows.
    pub(super) fn sync_on(&mut self, work: &mut Work) {
        while let Some(sync) = &self.sync
            && sync.next < sync.stripes
            && sync.under_way < STRIPES_AT_A_TIME
        {
            let (what, stripe) = (sync.what.clone(), sync.next);
            let concerned = what == What::Scrub || !self.replaced(stripe).is_empty();
            if concerned && !self.step_is_due(work) {
                return;
            }
            self.sync.iter_mut().for_each(Sync::begin);
            if concerned {
                let request = Request::new(Operation::Write, Lba(0), 0);
                self.submit(Job::new(what, stripe, Ranges::default(), self.page, &request), work);
            } else {
                self.step_done(stripe);
            }
        }
    }

    /// Whether the rate allows the next stripe now; else sets the time at which it will.
    fn step_is_due(&mut self, work: &mut Work) -> bool {
        let step = self.step_time();
        let Some(sync) = &mut self.sync else { return false };
        let is_due = sync.next_at <= work.now();
        if is_due {
            sync.next_at = work.now() + step;
            sync.wake_is_set = false;
            sync.requests_taken = self.requests_taken;
        } else if !std::mem::replace(&mut sync.wake_is_set, true) {
            work.wake_at(sync.next_at, Event::Sync.token());
        }
        is_due
    }

    /// Time that one stripe may take at the rate of now.
    fn step_time(&self) -> Nanos {
        let taken_before = self.sync.as_ref().map_or(0, |sync| sync.requests_taken);
        let busy = !self.requests.is_empty() || self.requests_taken > taken_before;
        let rate = if busy { self.config.sync_min_mb_per_s } else { self.config.sync_max_mb_per_s };
        Nanos::of_transfer(self.layout.chunk * u64::from(self.sector_bytes), rate)
    }

    /// Places of a stripe that are to be rebuilt.
    pub(super) fn replaced(&self, stripe: u64) -> Vec<usize> {
        let is_replaced = |place: &usize| self.failed[self.layout.place(stripe, *place).member];
        (0..self.layout.places_per_stripe()).filter(is_replaced).collect()
    }

    /// A stripe has been rebuilt.
    pub(super) fn rebuilt(&mut self, stripe: u64) {
        self.counts.rebuilt_bytes += self.layout.unit_sectors(stripe) * u64::from(self.sector_bytes);
        self.step_done(stripe);
    }

    /// Rows that a scrub of this stripe mends.
    pub(super) fn to_mend(&self, stripe: u64) -> Ranges {
        match self.config.scrub {
            Scrub::Repair => self.mismatches.get(&stripe).cloned().unwrap_or_default(),
            _ => Ranges::default(),
        }
    }

    /// A stripe has been read and compared, and mended where that was asked for.
    pub(super) fn scrubbed(&mut self, stripe: u64) {
        let bytes = |sectors: u64| sectors * u64::from(self.sector_bytes);
        let mismatched = self.mismatches.get(&stripe).map_or(0, Ranges::sectors);
        self.counts.mismatch_cnt += bytes(mismatched) / 512;
        self.counts.scrubbed_bytes += bytes(self.layout.unit_sectors(stripe));
        if self.config.scrub == Scrub::Repair {
            self.mismatches.remove(&stripe);
        }
        self.step_done(stripe);
    }

    fn step_done(&mut self, stripe: u64) {
        let Some(sync) = &mut self.sync else { return };
        sync.finish(stripe);
        if sync.done == sync.stripes {
            self.sync = None;
            self.failed.fill(false);
        }
    }
}
