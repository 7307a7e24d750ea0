//! What a job does with what it has written: reads it back (`verify`), trims some of it.
//!
//! Blocks are read in the order in which they were written. They are not remembered: a copy of the
//! generator, as it was at the start, draws the same writes again. fio does the same where each block is
//! written once; without a random map it reads in the order of addresses, each block once.

use super::{Generator, Planned};
use crate::workload::addresses::Span;
use crate::workload::job::{Job, TrimWritten, Verify};
use crate::workload::random::{Purpose, Stream};
use ssdlab_device::block::{Operation, Request};
use ssdlab_device::units::Lba;
use std::collections::VecDeque;

/// What follows writes.
#[derive(Clone, Debug)]
pub struct Afterwards {
    reading: Option<Reading>,
    trimming: Option<Trimming>,
}

#[derive(Clone, Debug)]
struct Reading {
    rule: Verify,
    /// Draws the writes again.
    replica: Generator,
    /// Written and not read yet.
    pending: u64,
    /// To be read now.
    due: u64,
}

#[derive(Clone, Debug)]
struct Trimming {
    rule: TrimWritten,
    stream: Stream,
    chosen: VecDeque<Span>,
    writes: u64,
    /// To be trimmed now.
    due: u64,
}

impl Afterwards {
    /// Of a job that asks for it; `generator` is as at the job's start.
    pub fn new(job: &Job, generator: &Generator, seed: u64) -> Option<Box<Afterwards>> {
        if !job.pattern.writes || job.replay.is_some() {
            return None;
        }
        let replica =
            || Generator { flush_every: [0, 0], flush_at_end: false, requests_left: u64::MAX, ..generator.clone() };
        let reading = job.verify.map(|rule| Reading { rule, replica: replica(), pending: 0, due: 0 });
        let trims = job.trim_written;
        let trimming = (trims.percent > 0 && trims.backlog > 0).then(|| Trimming {
            rule: trims,
            stream: Stream::new(seed, Purpose::Trim),
            chosen: VecDeque::new(),
            writes: 0,
            due: 0,
        });
        (reading.is_some() || trimming.is_some()).then(|| Box::new(Afterwards { reading, trimming }))
    }

    /// A write was issued; true if something follows it.
    pub fn wrote(&mut self, span: Span) -> bool {
        let mut due = false;
        if let Some(trimming) = &mut self.trimming {
            if trimming.stream.percent(trimming.rule.percent) {
                trimming.chosen.push_back(span);
            }
            trimming.writes += 1;
            if trimming.writes.is_multiple_of(trimming.rule.backlog) {
                trimming.due = if trimming.rule.batch > 0 { trimming.rule.batch } else { trimming.rule.backlog };
                due = true;
            }
        }
        if let Some(reading) = &mut self.reading {
            reading.pending += 1;
            let backlog = reading.rule.backlog;
            if backlog > 0 && reading.pending.is_multiple_of(backlog) {
                reading.due = if reading.rule.batch > 0 { reading.rule.batch } else { backlog };
                due = true;
            }
        }
        due
    }

    /// All writes of this pass are issued; true if something is left to be read.
    pub fn ends(&mut self) -> bool {
        self.reading.as_mut().is_some_and(|reading| {
            reading.due = reading.pending;
            reading.due > 0
        })
    }

    /// What is due now: trims before reads.
    pub fn next(&mut self, first: u64) -> Option<Planned> {
        if let Some(trimming) = self.trimming.as_mut().filter(|trimming| trimming.due > 0) {
            trimming.due -= 1;
            match trimming.chosen.pop_front() {
                Some(span) => {
                    let request = Request::new(Operation::Trim, Lba(first + span.0), span.1);
                    return Some(Planned { request, not_before: None });
                }
                None => trimming.due = 0,
            }
        }
        let reading = self.reading.as_mut().filter(|reading| reading.due > 0 && reading.pending > 0)?;
        reading.due -= 1;
        reading.pending -= 1;
        let written = reading.replica.find(|planned| planned.request.operation == Operation::Write);
        let Some(Planned { request: Request { lba, sectors, .. }, .. }) = written else {
            reading.pending = 0;
            return None;
        };
        Some(Planned { request: Request::new(Operation::Read, lba, sectors), not_before: None })
    }
}
