//! What clients ask of the drive, whatever protocol they speak, and why it fails.
//!
//! A protocol checks what it reads: a request lies within the drive, in whole sectors, at least one, so that the drive may
//! carry it out as it is.

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Send what stands there.
    Read {
        /// In one chunk, holes as zeroes.
        dont_fragment: bool,
    },
    /// Write the payload, `length` bytes that follow in the stream.
    Write {
        /// Reply once it is durable.
        fua: bool,
    },
    /// Make all durable that was replied to.
    Flush,
    /// Forget what stands there.
    Trim {
        /// Reply once it is durable.
        fua: bool,
    },
    /// Get ready to read.
    Cache,
    /// Let it read as zeroes.
    WriteZeroes {
        /// Reply once it is durable.
        fua: bool,
        /// Written, not trimmed.
        no_hole: bool,
    },
    /// Tell where holes and zeroes are.
    BlockStatus {
        /// Only of one extent.
        one: bool,
    },
    /// Say whether what stands there is the payload, `length` bytes that follow in the stream.
    Compare,
    /// Read what stands there, and keep it.
    Verify,
    /// Let it be unreadable until it is written again.
    WriteUncorrectable,
}

impl Command {
    /// It changes what is read.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Command::Write { .. } | Command::Trim { .. } | Command::WriteZeroes { .. } | Command::WriteUncorrectable
        )
    }
}

/// A request that may be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// By which its client knows it, as the protocol has it.
    pub cookie: u64,
    /// In bytes; zero for a flush.
    pub offset: u64,
    /// In bytes; zero for a flush.
    pub length: u32,
    /// What is to be done.
    pub command: Command,
}

impl Request {
    /// Bytes of the stream that belong to it and come next: the caller reads them, not the session.
    pub fn payload(&self) -> usize {
        if matches!(self.command, Command::Write { .. } | Command::Compare) { self.length as usize } else { 0 }
    }
}

/// Why a request was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The drive takes no more writes.
    WriteProtected,
    /// It reaches beyond the end.
    OutOfRange,
    /// The drive cannot read or write there, or its storage failed.
    Media,
    /// What was compared differs.
    Unequal,
    /// The drive has no power, or lost it since the client connected.
    NoPower,
    /// The simulation has broken down.
    Broken,
    /// The server ends.
    Ends,
}
