//! What the arm does next, and reading ahead while nobody wants it.
//!
//! Reading ahead goes on from where a read ended, until a segment is full; a read that continues it
//! waits for its sectors to pass and seeks nothing. Anything else breaks it off.

use super::arm::Access;
use super::{Event, Hdd};
use crate::block::Operation;
use crate::units::Nanos;
use std::ops::Range;

/// What the arm is at.
#[derive(Clone, Debug)]
pub struct Job {
    /// The command it serves; none while it writes what is in the cache.
    pub command: Option<usize>,
    /// What it reads or writes.
    pub sectors: Range<u64>,
    /// When its first sector begins to pass.
    began: Nanos,
    /// What passed before it, as part of the same reading.
    from: u64,
}

/// Reading ahead.
#[derive(Clone, Debug)]
pub struct ReadAhead {
    /// The sector that began to pass at `began`.
    from: u64,
    began: Nanos,
    /// All before this one is in the cache.
    kept: u64,
    /// What the host has had.
    consumed: u64,
    limit: u64,
}

/// What may be done next.
#[derive(Clone, Copy)]
enum Candidate {
    Command(usize),
    Cached(u64),
}

impl Hdd {
    /// Gives the arm something to do, if it is free and there is something.
    pub(super) fn start_next(&mut self) {
        if self.job.is_some() {
            return;
        }
        self.keep_read_ahead();
        match self.choose() {
            Some(Candidate::Command(slot)) => {
                self.queue.retain(|&queued| queued != slot);
                let command = self.commands[slot];
                match command.request.operation {
                    Operation::Read => self.begin_read(slot, command.sectors()),
                    _ => self.begin_access(Some(slot), command.sectors(), true),
                }
            }
            Some(Candidate::Cached(start)) => {
                let sectors = self.dirty.take(start, self.arm.geometry.track_end(start));
                self.begin_access(None, sectors, true);
            }
            None => {}
        }
    }

    /// The candidate with the least weighted positioning time; of equals the one that came first.
    fn choose(&self) -> Option<Candidate> {
        let commands = self.queue.iter().map(|&slot| {
            let command = &self.commands[slot];
            let cost = self.command_positioning(slot);
            (self.weighted(cost, command.arrived), command.arrived, Candidate::Command(slot))
        });
        let cached = self.dirty.iter().filter(|_| self.writes_back()).map(|(start, since)| {
            let (seek, rotation) = self.arm.positioning(start, true, self.now);
            (self.weighted(seek + rotation, since), since, Candidate::Cached(start))
        });
        commands.chain(cached).min_by_key(|(cost, since, _)| (*cost, *since)).map(|(_, _, candidate)| candidate)
    }

    fn writes_back(&self) -> bool {
        self.queue.is_empty() || !self.flushes.is_empty() || !self.waiting.is_empty() || self.taken * 2 > self.room
    }

    fn weighted(&self, cost: Nanos, since: Nanos) -> Nanos {
        let aging = self.config.hdd.aging_ms.0.0 as f64;
        let age = self.now.saturating_sub(since).0 as f64;
        Nanos((cost.0 as f64 * aging / (aging + age)) as u64)
    }

    fn command_positioning(&self, slot: usize) -> Nanos {
        let command = &self.commands[slot];
        let reads = command.request.operation == Operation::Read;
        let sectors = command.sectors();
        let first = match self.continued(&sectors).filter(|_| reads) {
            Some(ahead) if ahead.kept < ahead.limit => {
                let passes = ahead.began + self.arm.geometry.transfer(ahead.from, sectors.start.max(ahead.from + 1));
                return passes.saturating_sub(self.now);
            }
            Some(ahead) => ahead.kept.max(sectors.start),
            None => sectors.start,
        };
        let (seek, rotation) = self.arm.positioning(first, !reads, self.now);
        seek + rotation
    }

    /// The reading ahead, if a read continues it.
    fn continued(&self, sectors: &Range<u64>) -> Option<&ReadAhead> {
        self.read_ahead.as_ref().filter(|ahead| (ahead.consumed..=ahead.limit).contains(&sectors.start))
    }

    fn begin_read(&mut self, slot: usize, sectors: Range<u64>) {
        match self.continued(&sectors).cloned() {
            Some(ahead) if ahead.kept < ahead.limit => {
                let passed = ahead.began + self.arm.geometry.transfer(ahead.from, sectors.end);
                let transfer = passed.saturating_sub(self.now);
                self.counts.transfer_ns += transfer.0;
                self.job = Some(Job { command: Some(slot), sectors, began: ahead.began, from: ahead.from });
                self.at(self.now + transfer, Event::ArmDone);
            }
            Some(ahead) => self.begin_access(Some(slot), ahead.kept.max(sectors.start)..sectors.end, false),
            None => self.begin_access(Some(slot), sectors, false),
        }
    }

    fn begin_access(&mut self, command: Option<usize>, sectors: Range<u64>, writes: bool) {
        self.break_off_read_ahead();
        let access = self.arm.access(&sectors, writes, self.now);
        self.count_access(&access);
        let began = self.now + access.positioning();
        self.at(self.now + access.total(), Event::ArmDone);
        self.job = Some(Job { command, from: sectors.start, sectors, began });
    }

    fn count_access(&mut self, access: &Access) {
        self.counts.accesses += 1;
        self.counts.seek_ns += access.seek.0;
        self.counts.rotation_ns += access.rotation.0;
        self.counts.rewrite_ns += access.rewrite.0;
        self.counts.transfer_ns += access.transfer.0;
        self.counters.read_modify_writes += access.cut_sectors;
    }

    pub(super) fn arm_done(&mut self) {
        let Some(job) = self.job.take() else { return };
        self.arm.stay_at(job.sectors.end - 1);
        match job.command {
            None => {
                self.taken -= job.sectors.end - job.sectors.start;
                self.admit();
                self.flush_done();
            }
            Some(slot) if self.commands[slot].request.operation == Operation::Read => {
                self.read_done(&job);
                self.send_out(slot);
            }
            Some(slot) => self.ends(slot),
        }
    }

    fn read_done(&mut self, job: &Job) {
        let end = job.sectors.end;
        let kept = self.read_ahead.take().map_or(job.from, |ahead| ahead.kept);
        self.read_cache.fill(&(kept.min(job.sectors.start)..end));
        if self.config.hdd.read_ahead && self.read_cache.segment_sectors > 0 {
            let limit = self.ahead_of(end);
            self.read_ahead = Some(ReadAhead { from: job.from, began: job.began, kept: end, consumed: end, limit });
        }
    }

    fn ahead_of(&self, sector: u64) -> u64 {
        (sector + self.read_cache.segment_sectors).min(self.limits.sectors)
    }

    /// Puts what has been read ahead by now into the cache.
    pub(super) fn keep_read_ahead(&mut self) {
        if self.job.is_some() {
            return;
        }
        let Some(ahead) = &mut self.read_ahead else { return };
        let stream = self.arm.geometry.begin(ahead.from) + self.now.saturating_sub(ahead.began);
        let passed = self.arm.geometry.passed(stream).clamp(ahead.kept, ahead.limit);
        self.read_cache.fill(&(ahead.kept..passed));
        ahead.kept = passed;
    }

    /// The host has had all before `consumed` out of the cache: reading ahead goes on, or begins again.
    pub(super) fn prolong_read_ahead(&mut self, consumed: u64) {
        let Some(mut ahead) = self.read_ahead.take() else { return };
        if self.job.is_none() && (ahead.consumed..=ahead.kept).contains(&consumed) {
            let stopped = ahead.kept == ahead.limit;
            ahead.consumed = consumed;
            ahead.limit = self.ahead_of(consumed);
            if stopped && ahead.kept < ahead.limit {
                self.arm.stay_at(ahead.kept - 1);
                let (seek, rotation) = self.arm.positioning(ahead.kept, false, self.now);
                (ahead.from, ahead.began) = (ahead.kept, self.now + seek + rotation);
            }
        }
        self.read_ahead = Some(ahead);
    }

    fn break_off_read_ahead(&mut self) {
        if let Some(ahead) = self.read_ahead.take() {
            self.arm.stay_at(ahead.kept - 1);
        }
    }
}
