//! What a loss of power did, sector by sector, and whose fault it is.
//!
//! A drive keeps its word where it loses only what nobody was promised: a write that no flush, FUA or protected buffer
//! covers. What else is gone, torn or unreadable is the drive's fault; what it does not name is the program's.

use ssdlab_device::block::{Request, Tag};
use std::ops::Range;

/// What became of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A write is gone from it: what stood there before stands there again.
    Lost,
    /// As lost, and other sectors of the same unit that were programmed with it are there.
    Torn,
    /// As lost, though flash had it.
    RolledBack,
    /// It cannot be read until it is written.
    Unreadable,
}

impl What {
    /// As Python and the command name it.
    pub fn name(self) -> &'static str {
        match self {
            What::Lost => "lost",
            What::Torn => "torn",
            What::RolledBack => "rolled-back",
            What::Unreadable => "unreadable",
        }
    }
}

/// A write's sector that a loss of power took, as the image knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    /// The sector.
    pub lba: u64,
    /// The write that had brought it; 0 where that is not known, of what cannot be read.
    pub write: u64,
    /// What became of it.
    pub what: What,
}

/// A sector that a cut took something from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The sector.
    pub lba: u64,
    /// The number of the write that is gone from it, counted from 1; 0 where no write is known.
    pub write: u64,
    /// That write had been acknowledged.
    pub was_acknowledged: bool,
    /// What became of the sector.
    pub what: What,
    /// The last write to the sector that was acknowledged: known where faults are armed, of writes since.
    pub acknowledged: Option<u64>,
    /// The last write to the sector that the host was promised (flush, FUA, a buffer that is not volatile): as before.
    pub flushed: Option<u64>,
    /// The drive broke its word: what stands there is older than what it had promised, or torn, or cannot be read.
    pub breaks_promise: bool,
}

/// What a loss of power did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Sectors of which writes are gone, or which are unreadable.
    pub losses: Vec<Loss>,
    /// Commands under way that never end.
    pub dropped: Vec<(Tag, Request)>,
    /// Sectors that a fault might have taken back, and could not: what had stood there was no longer kept.
    pub undo_dropped: Vec<Range<u64>>,
}

impl Cut {
    /// Losses for which the drive is to blame.
    pub fn broken_promises(&self) -> impl Iterator<Item = &Loss> {
        self.losses.iter().filter(|loss| loss.breaks_promise)
    }
}
