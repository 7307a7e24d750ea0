//! A trace read once from end to end: what it holds, and what would keep it from being replayed.

use super::{Adjust, Entry, LeftOut};
use crate::workload::error::Problem;
use serde::Serialize;
use serde_json::{Value, json};
use ssdlab_device::block::{Limits, Operation};
use ssdlab_device::units::Nanos;

/// Sectors of up to this many bytes, as a power of two, are told apart.
const LARGEST_SECTOR_BITS: usize = 16;

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// How many.
    pub requests: u64,
    /// Their lengths together.
    pub bytes: u64,
}

/// A request that is remembered for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// Counted from 1.
    number: u64,
    offset: u64,
    bytes: u64,
}

impl Place {
    fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    fn problem(&self, what: &str, remedy: &str) -> Problem {
        let message = format!("request {}: offset {}, length {}: {what}", self.number, self.offset, self.bytes);
        Problem::new(message, remedy)
    }
}

/// What a trace holds, after what is left out of it and scaled as asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The format's name.
    pub format: &'static str,
    /// What it is packed with.
    pub packer: Option<&'static str>,
    /// The device whose requests these are.
    pub device: String,
    /// Reads.
    pub reads: Count,
    /// Writes.
    pub writes: Count,
    /// Trims.
    pub trims: Count,
    /// Flushes.
    pub flushes: Count,
    /// Requests that it tells of and that cannot be replayed.
    pub left_out: LeftOut,
    /// The first time of the trace's clock.
    pub(super) start: Nanos,
    /// The last time of it.
    pub(super) last: Nanos,
    pub(super) is_in_order: bool,
    farthest: Option<Place>,
    longest: Option<Place>,
    /// The first request whose offset or length is a multiple of so many bytes (a power of two) and of no more.
    whole: [Option<Place>; LARGEST_SECTOR_BITS],
    /// The same of lengths alone.
    lengths: [Option<Place>; LARGEST_SECTOR_BITS],
}

impl Survey {
    /// Of no request yet.
    pub(super) fn new(format: &'static str, packer: Option<&'static str>) -> Survey {
        Survey { format, packer, start: Nanos::NEVER, is_in_order: true, ..Survey::default() }
    }

    /// Takes the next request of the file.
    pub(super) fn add(&mut self, raw: &Entry, adjust: &Adjust) {
        self.is_in_order &= raw.at >= self.last;
        self.start = self.start.min(raw.at);
        self.last = self.last.max(raw.at);
        let Some((offset, bytes)) = adjust.extent(raw) else { return };
        let count = match raw.operation {
            Operation::Read => &mut self.reads,
            Operation::Write | Operation::WriteZeroes => &mut self.writes,
            Operation::Trim => &mut self.trims,
            Operation::Flush => &mut self.flushes,
        };
        count.requests += 1;
        count.bytes = count.bytes.saturating_add(bytes);
        let place = Place { number: self.requests(), offset, bytes };
        let end = |known: &Option<Place>| known.map_or(0, |known| known.end());
        if place.end() > end(&self.farthest) {
            self.farthest = Some(place);
        }
        if bytes > self.longest.map_or(0, |known| known.bytes) {
            self.longest = Some(place);
        }
        for (firsts, multiple) in [(&mut self.whole, offset | bytes), (&mut self.lengths, bytes)] {
            let first = firsts.get_mut(multiple.trailing_zeros() as usize);
            first.map(|first| first.get_or_insert(place));
        }
    }

    /// Its requests, of all kinds.
    pub fn requests(&self) -> u64 {
        [self.reads, self.writes, self.trims, self.flushes].iter().map(|count| count.requests).sum()
    }

    /// The lengths of all requests together.
    pub fn bytes(&self) -> u64 {
        [self.reads, self.writes, self.trims, self.flushes].iter().fold(0, |sum, count| sum.saturating_add(count.bytes))
    }

    /// The drive must have so many bytes, unless the trace is fitted to it.
    pub fn end_bytes(&self) -> u64 {
        self.farthest.map_or(0, |place| place.end())
    }

    /// From the first to the last request, by the trace's clock.
    pub fn duration(&self) -> Nanos {
        self.last - self.start.min(self.last)
    }

    /// As JSON, for those who look at a trace.
    pub fn to_json(&self) -> Value {
        json!({
            "format": self.format,
            "packed_with": self.packer,
            "device": self.device,
            "requests": self.requests(),
            "reads": self.reads,
            "writes": self.writes,
            "trims": self.trims,
            "flushes": self.flushes,
            "left_out": self.left_out,
            "end_bytes": self.end_bytes(),
            "duration_ns": self.duration().0,
            "in_order": self.is_in_order,
        })
    }

    /// Why a drive of these limits cannot carry out a request; `is_fitted` where offsets are made to fit.
    pub(super) fn refusal(&self, limits: &Limits, is_fitted: bool) -> Option<Problem> {
        let capacity = limits.capacity_bytes();
        let sector = u64::from(limits.sector_bytes);
        if let Some(place) = self.farthest.filter(|place| !is_fitted && place.end() > capacity) {
            let remedy = "take a larger drive, or make the trace smaller: replay_scale=fit";
            return Some(place.problem(&format!("beyond the drive's {capacity} bytes"), remedy));
        }
        if let Some(place) =
            self.longest.filter(|place| place.bytes / sector > u64::from(u32::MAX) || place.bytes > capacity)
        {
            return Some(place.problem("too long", "split it"));
        }
        let firsts = if is_fitted { &self.lengths } else { &self.whole };
        let coarse = (sector.trailing_zeros() as usize).min(LARGEST_SECTOR_BITS);
        let first = firsts[..coarse].iter().flatten().min_by_key(|place| place.number)?;
        let remedy = "round the offsets with replay_align, or take a drive of 512-byte sectors";
        Some(first.problem(&format!("not in whole sectors of {sector} bytes"), remedy))
    }
}
