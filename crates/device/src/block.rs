//! The waist: everything that stores blocks is one [`Device`] in virtual time.
//!
//! A device is told the time and never asks for it. The caller submits requests, asks when
//! something will next happen, and advances the device; `advance` stops at the first instant that
//! completes something, so that a layer above can answer at that very instant.

use crate::counters::Counters;
use crate::units::{Lba, Nanos};
use serde::{Deserialize, Serialize};
use std::ops::{AddAssign, Sub};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operation {
    /// Bring sectors to the host.
    Read,
    /// Store sectors.
    Write,
    /// Tell that sectors are no longer needed (ATA TRIM, NVMe Deallocate).
    Trim,
    /// Make sectors read as zeroes (NVMe Write Zeroes).
    WriteZeroes,
    /// Make everything acknowledged so far durable.
    Flush,
}

impl Operation {
    /// Kinds of operation.
    pub const COUNT: usize = 5;

    /// Whether it may change what can be read.
    #[inline]
    pub fn changes_data(self) -> bool {
        matches!(self, Operation::Write | Operation::Trim | Operation::WriteZeroes)
    }
}

/// One command from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub operation: Operation,
    /// First sector; ignored for a flush.
    pub lba: Lba,
    /// Number of sectors; zero for a flush.
    pub sectors: u32,
    /// Force unit access: a write completes only when it is durable.
    pub fua: bool,
    /// By how many percent the data can be compressed, 0 to 100 (fio's `buffer_compress_percentage`).
    pub compress_percent: u8,
}

impl Request {
    /// A plain request of incompressible data, without FUA.
    #[inline]
    pub fn new(operation: Operation, lba: Lba, sectors: u32) -> Request {
        Request { operation, lba, sectors, fua: false, compress_percent: 0 }
    }

    /// Counts the command as done. Bytes trimmed are the device's to count: it may trim whole granules only.
    #[inline]
    pub fn count(&self, counters: &mut Counters, sector_bytes: u32) {
        let bytes = u64::from(self.sectors) * u64::from(sector_bytes);
        match self.operation {
            Operation::Read => {
                counters.host_reads += 1;
                counters.host_bytes_read += bytes;
            }
            Operation::Write => {
                counters.host_writes += 1;
                counters.host_bytes_written += bytes;
            }
            _ => self.count_without_data(counters),
        }
    }

    #[inline(never)]
    fn count_without_data(&self, counters: &mut Counters) {
        match self.operation {
            Operation::Flush => counters.host_flushes += 1,
            _ => counters.host_trims += 1,
        }
    }
}

/// The caller's name for a request, given back on completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Status {
    /// Done.
    Success,
    /// At least one sector could not be corrected (NVMe: Unrecovered Read Error).
    MediaError,
    /// The drive is read-only, its spare is used up (NVMe: Namespace is Write Protected).
    WriteProtected,
    /// The request reaches beyond the device (NVMe: LBA Out of Range).
    OutOfRange,
}

impl Status {
    /// This status, or what came after it: the first error counts.
    pub fn or(self, later: Status) -> Status {
        if self == Status::Success { later } else { self }
    }
}

/// A finished request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The tag given at submission.
    pub tag: Tag,
    /// How it ended.
    pub status: Status,
}

/// The device takes no more requests until one completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// What a device tells about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of a sector, the unit of [`Lba`].
    pub sector_bytes: u32,
    /// Exported sectors.
    pub sectors: u64,
    /// Requests that may be outstanding at once.
    pub queue_depth: u32,
    /// Bytes that one trim must cover, aligned, to have an effect.
    pub discard_granularity_bytes: u32,
    /// Acknowledged writes may be lost on a power cut until a flush.
    pub volatile_cache: bool,
    /// Size and alignment at which a write costs least, in bytes.
    pub optimal_io_bytes: u32,
}

impl Limits {
    /// Exported bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.sectors * u64::from(self.sector_bytes)
    }
}

/// Requests and bytes by operation that crossed one border.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Read requests.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Trim requests.
    pub trims: u64,
    /// Bytes trimmed.
    pub trimmed_bytes: u64,
    /// Write-zeroes requests.
    pub write_zeroes: u64,
    /// Bytes made zero.
    pub zeroed_bytes: u64,
    /// Flushes.
    pub flushes: u64,
}

impl Traffic {
    /// Adds a request.
    pub fn count(&mut self, request: &Request, sector_bytes: u32) {
        let bytes = u64::from(request.sectors) * u64::from(sector_bytes);
        let (requests, sum) = match request.operation {
            Operation::Read => (&mut self.reads, &mut self.read_bytes),
            Operation::Write => (&mut self.writes, &mut self.written_bytes),
            Operation::Trim => (&mut self.trims, &mut self.trimmed_bytes),
            Operation::WriteZeroes => (&mut self.write_zeroes, &mut self.zeroed_bytes),
            Operation::Flush => {
                self.flushes += 1;
                return;
            }
        };
        *requests += 1;
        *sum += bytes;
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.reads += other.reads;
        self.read_bytes += other.read_bytes;
        self.writes += other.writes;
        self.written_bytes += other.written_bytes;
        self.trims += other.trims;
        self.trimmed_bytes += other.trimmed_bytes;
        self.write_zeroes += other.write_zeroes;
        self.zeroed_bytes += other.zeroed_bytes;
        self.flushes += other.flushes;
    }
}

impl Sub for Traffic {
    type Output = Traffic;
    fn sub(self, earlier: Traffic) -> Traffic {
        Traffic {
            reads: self.reads - earlier.reads,
            read_bytes: self.read_bytes - earlier.read_bytes,
            writes: self.writes - earlier.writes,
            written_bytes: self.written_bytes - earlier.written_bytes,
            trims: self.trims - earlier.trims,
            trimmed_bytes: self.trimmed_bytes - earlier.trimmed_bytes,
            write_zeroes: self.write_zeroes - earlier.write_zeroes,
            zeroed_bytes: self.zeroed_bytes - earlier.zeroed_bytes,
            flushes: self.flushes - earlier.flushes,
        }
    }
}

/// What a device of a stack counted, and those below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LayerCounts {
    /// What it is called.
    pub name: String,
    /// What was asked of it. Empty for a drive, which has [`Counters`].
    pub taken: Traffic,
    /// What it asked of each device below.
    pub asked: Vec<Traffic>,
    /// What else it counted: sums only, so that a difference is what happened in between.
    pub counts: Vec<(String, u64)>,
    /// The devices below.
    pub below: Vec<LayerCounts>,
}

impl LayerCounts {
    /// What was counted since an earlier reading of the same devices.
    pub fn since(&self, earlier: &LayerCounts) -> LayerCounts {
        let counts = self.counts.iter().zip(&earlier.counts);
        LayerCounts {
            name: self.name.clone(),
            taken: self.taken - earlier.taken,
            asked: self.asked.iter().zip(&earlier.asked).map(|(now, before)| *now - *before).collect(),
            counts: counts.map(|((name, now), (_, before))| (name.clone(), now.saturating_sub(*before))).collect(),
            below: self.below.iter().zip(&earlier.below).map(|(now, before)| now.since(before)).collect(),
        }
    }
}

/// Anything that stores blocks, in virtual time.
pub trait Device {
    /// Capacity, sector, discard granularity, volatile cache.
    fn limits(&self) -> &Limits;

    /// Hands over a request at time `now`, which must not be before any earlier call's time.
    ///
    /// # Errors
    /// [`Busy`] when the queue is full; the request is not taken.
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy>;

    /// When something will happen inside next, if anything is under way.
    fn next_event(&self) -> Option<Nanos>;

    /// Lives on until `to`, or until the first instant that completes something, whichever is
    /// earlier; appends that instant's completions to `done` and returns the instant.
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos;

    /// Soon to be asked for: a device may fetch its map's cache lines. Never changes behaviour.
    fn hint(&self, lba: Lba) {
        let _ = lba;
    }

    /// A write of it will be asked for even sooner: a device may fetch what else it will touch.
    fn hint_write(&self, lba: Lba) {
        let _ = lba;
    }

    /// What the device counted since it was made, up to the instant that it has lived to.
    fn counters(&mut self) -> Counters {
        Counters::default()
    }

    /// Something the user gave it was wrong: it goes on, but what it does is not what was asked for.
    fn is_faulty(&self) -> bool {
        false
    }

    /// Does a request without time: what seasoning does. A read does nothing; a flush makes
    /// everything of before take effect, and must come last.
    fn apply_now(&mut self, request: Request) -> Status {
        let _ = request;
        Status::Success
    }

    /// Does without time, once and before all else, what setting the device up writes: encryption
    /// that first fills the drive. Most devices write nothing then.
    fn prepare_now(&mut self) {}

    /// What this device and those below it counted.
    fn layers(&mut self) -> LayerCounts {
        let counts = self.counters().entries().map(|(name, value)| (name.to_string(), value)).collect();
        LayerCounts { name: "drive".into(), counts, ..LayerCounts::default() }
    }

    /// The power fails at `now`: requests under way are dropped without completion, and what was
    /// only in a volatile buffer is lost.
    fn cut_power(&mut self, now: Nanos);
}
