//! Commands as a program gives them: by byte, under names of its own that are used once.
//!
//! ```text
//! submit(name, asked, data) ─► wait(name) ─► what was read
//!                           power_cut(seed) ─► Cut, and the names that were dropped
//! ```
//! A [`Tag`] is free again once its command has ended; a name is not, so that whoever asks late hears what became of
//! the command: done, failed, or dropped by the last loss of power. What ended is kept until it is waited for.
//!
//! Left out: parts of sectors. A drive writes whole ones, and what a program does instead is the program's to say.

use crate::disk::{Busy, Disk, Done, Failure};
use crate::losses::Cut;
use crate::medium::Medium;
use ssdlab_device::block::{Operation, Request, Tag};
use ssdlab_device::units::{Lba, Nanos};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

/// What a command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What to do.
    pub operation: Operation,
    /// Its first byte.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
    /// A write completes only when it is durable.
    pub fua: bool,
}

impl fmt::Display for Asked {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = match self.operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Trim => "trim",
            Operation::WriteZeroes => "write of zeroes",
            Operation::Flush => return to.write_str("flush"),
        };
        write!(to, "{operation} of {} bytes at offset {}", self.length, self.offset)
    }
}

/// Why a command did not do what it asked for.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CommandError {
    /// It does not cover whole sectors, or none.
    #[error("{asked}: the drive takes whole sectors of {sector_bytes} bytes, at least one\n\
             to cover it, use offset {} and length {}", .asked.first(*.sector_bytes), .asked.whole(*.sector_bytes))]
    Unaligned {
        /// What was asked for.
        asked: Asked,
        /// Bytes of a sector.
        sector_bytes: u32,
    },
    /// It reaches beyond the end.
    #[error("{asked}: reaches beyond the end of the drive, which has {capacity_bytes} bytes\nstay below that")]
    OutOfRange {
        /// What was asked for.
        asked: Asked,
        /// Bytes of the drive.
        capacity_bytes: u64,
    },
    /// The queue is full.
    #[error("{asked}: the drive has {queue_depth} commands under way and takes no more\nwait for one of them")]
    Busy {
        /// What was asked for.
        asked: Asked,
        /// Commands that it takes.
        queue_depth: u32,
    },
    /// It failed.
    #[error("{asked}: {failure}")]
    Failed {
        /// What was asked for.
        asked: Asked,
        /// Why.
        failure: Failure,
    },
    /// It never ends.
    #[error("{asked}: it was under way when the power was cut, and never ends\nsubmit it again")]
    Dropped {
        /// What was asked for.
        asked: Asked,
    },
    /// The drive's victim policy, which is somebody else's, gave a wrong answer.
    #[error("{0}")]
    Policy(String),
    /// There is none of that name.
    #[error(
        "there is no such command to wait for: it was waited for before, dropped by an earlier loss of power, or \
             given to another drive"
    )]
    Unknown,
}

impl Asked {
    /// Where the first sector begins that it touches.
    fn first(&self, sector_bytes: u32) -> u64 {
        self.offset - self.offset % u64::from(sector_bytes)
    }

    /// Bytes of the sectors that it touches, at least one.
    fn whole(&self, sector_bytes: u32) -> u64 {
        let reach = self.offset % u64::from(sector_bytes) + self.length.max(1);
        reach.div_ceil(u64::from(sector_bytes)) * u64::from(sector_bytes)
    }

    /// As the drive takes it.
    fn request(&self, sector_bytes: u32, capacity_bytes: u64) -> Result<Request, CommandError> {
        let asked = *self;
        if self.operation == Operation::Flush {
            return Ok(Request::new(Operation::Flush, Lba(0), 0));
        }
        let sector = u64::from(sector_bytes);
        let end = self.offset.checked_add(self.length).filter(|end| *end <= capacity_bytes);
        let sectors = end.and_then(|_| u32::try_from(self.length / sector).ok());
        let Some(sectors) = sectors else { return Err(CommandError::OutOfRange { asked, capacity_bytes }) };
        if self.length == 0 || !self.offset.is_multiple_of(sector) || !self.length.is_multiple_of(sector) {
            return Err(CommandError::Unaligned { asked, sector_bytes });
        }
        Ok(Request { fua: self.fua, ..Request::new(self.operation, Lba(self.offset / sector), sectors) })
    }
}

/// What became of the commands of a drive.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    under_way: BTreeMap<Tag, (u64, Asked)>,
    ended: BTreeMap<u64, Result<Vec<u8>, CommandError>>,
    /// Those that the last loss of power dropped.
    dropped: BTreeMap<u64, Asked>,
    done: Vec<Done>,
}

impl Commands {
    /// Hands over a command under a new name, with the bytes that a write brings, which tell its length.
    ///
    /// # Errors
    /// It does not fit the drive, or the queue is full; the drive has not seen it then.
    pub fn submit<M: Medium>(
        &mut self,
        disk: &mut Disk<M>,
        name: u64,
        asked: Asked,
        data: Vec<u8>,
    ) -> Result<(), CommandError> {
        let asked =
            if asked.operation == Operation::Write { Asked { length: data.len() as u64, ..asked } } else { asked };
        let limits = disk.limits();
        let queue_depth = limits.queue_depth;
        let request = asked.request(limits.sector_bytes, limits.capacity_bytes())?;
        let bytes = if asked.operation == Operation::Read { vec![0; asked.length as usize] } else { data };
        let tag = disk.submit(disk.now(), request, bytes);
        let tag = tag.map_err(|Busy(_)| CommandError::Busy { asked, queue_depth })?;
        self.under_way.insert(tag, (name, asked));
        Ok(())
    }

    /// Lives on until a command has ended; gives what it read, once.
    ///
    /// # Errors
    /// Why it failed; that power was cut, or that there is none of the name.
    pub fn wait<M: Medium>(&mut self, disk: &mut Disk<M>, name: u64) -> Result<Vec<u8>, CommandError> {
        loop {
            if let Some(fault) = disk.ssd().ftl.policy_fault() {
                return Err(CommandError::Policy(fault.to_string()));
            }
            if let Some(outcome) = self.ended.remove(&name) {
                return outcome;
            }
            if let Some(&asked) = self.dropped.get(&name) {
                return Err(CommandError::Dropped { asked });
            }
            let is_under_way = self.under_way.values().any(|(given, _)| *given == name);
            if !is_under_way || !self.advance_once(disk, Nanos::NEVER) {
                return Err(CommandError::Unknown);
            }
        }
    }

    /// Lives on until the next event; `false` where there is none to come.
    pub fn step<M: Medium>(&mut self, disk: &mut Disk<M>) -> bool {
        disk.next_event().is_some_and(|next| self.advance_once(disk, next))
    }

    /// Lives on until `to`, whatever ends meanwhile.
    pub fn advance<M: Medium>(&mut self, disk: &mut Disk<M>, to: Nanos) {
        while disk.now() < to {
            self.advance_once(disk, to);
        }
    }

    /// Power fails and comes back; the names of what was dropped come with what was lost, in order.
    pub fn power_cut<M: Medium>(&mut self, disk: &mut Disk<M>, seed: u64) -> (Cut, impl Iterator<Item = u64>) {
        self.dropped = std::mem::take(&mut self.under_way).into_values().collect();
        (disk.power_cut(seed), self.dropped.keys().copied())
    }

    /// Lives on until commands end, or until `to`; `false` where nothing is to come.
    fn advance_once<M: Medium>(&mut self, disk: &mut Disk<M>, to: Nanos) -> bool {
        let goes_on = disk.next_event().is_some();
        disk.advance(to, &mut self.done);
        self.note_ends();
        goes_on
    }

    fn note_ends(&mut self) {
        for Done { tag, outcome, bytes, .. } in self.done.drain(..) {
            let Some((name, asked)) = self.under_way.remove(&tag) else { continue };
            let read = if asked.operation == Operation::Read { bytes } else { Vec::new() };
            self.ended.insert(name, outcome.map(|()| read).map_err(|failure| CommandError::Failed { asked, failure }));
        }
    }
}
