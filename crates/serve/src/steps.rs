//! What the drive is asked for one request of a client: one command, or several after each other.
//!
//! | a client | drive |
//! |---|---|
//! | read, write (FUA), flush | the same |
//! | compare | a read |
//! | verify | reads of at most 1 MiB |
//! | trim | trims of at most 64 MiB |
//! | write zeroes | write zeroes of at most 64 MiB: whole units are unmapped |
//! | write zeroes, no hole | writes of at most 1 MiB of zeroes |
//! | trim or zeroes with FUA | a flush behind them |
//!
//! Pieces end at multiples of their greatest size, so that no granule of the drive's is cut in two. They are what keeps
//! a request for 4 GiB from holding up the others. Left out: cache, which the drive has nothing for; block status and
//! write uncorrectable take no time.

use crate::request::{Command, Request};
use ssdlab_disk::{Lba, Operation};

/// The greatest trim or write of zeroes, in bytes.
const MOST_WITHOUT_DATA: u64 = 64 << 20;
/// The greatest write of zeroes as data, and read of what is kept, in bytes.
const MOST_ZEROES: u64 = 1 << 20;

/// Commands of the drive, the next one in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    operation: Operation,
    fua: bool,
    sectors: (u64, u64),
    piece_sectors: u64,
    /// A flush is still to come.
    flush: bool,
}

impl Steps {
    /// What a request comes to; nothing where the drive has no part in it.
    pub fn of(request: &Request, sector_bytes: u32) -> Steps {
        let sector_bytes = u64::from(sector_bytes.max(1));
        let first = request.offset / sector_bytes;
        let sectors = (first, first + u64::from(request.length) / sector_bytes);
        let steps = |operation, most: u64| Steps {
            operation,
            fua: false,
            sectors,
            piece_sectors: (most / sector_bytes).max(1),
            flush: false,
        };
        match request.command {
            Command::Read { .. } | Command::Compare => steps(Operation::Read, u64::MAX),
            Command::Verify => steps(Operation::Read, MOST_ZEROES),
            Command::Write { fua } => Steps { fua, ..steps(Operation::Write, u64::MAX) },
            Command::Trim { fua } => Steps { flush: fua, ..steps(Operation::Trim, MOST_WITHOUT_DATA) },
            Command::WriteZeroes { fua, no_hole: false } => {
                Steps { flush: fua, ..steps(Operation::WriteZeroes, MOST_WITHOUT_DATA) }
            }
            Command::WriteZeroes { fua, no_hole: true } => Steps { flush: fua, ..steps(Operation::Write, MOST_ZEROES) },
            Command::Flush => Steps { sectors: (0, 0), flush: true, ..steps(Operation::Flush, u64::MAX) },
            Command::Cache | Command::BlockStatus { .. } | Command::WriteUncorrectable => {
                Steps { sectors: (0, 0), ..steps(Operation::Read, 1) }
            }
        }
    }

    /// The command that is next, if there is one.
    pub fn next(&self) -> Option<ssdlab_disk::Request> {
        let (first, end) = self.sectors;
        if first < end {
            let request = ssdlab_disk::Request::new(self.operation, Lba(first), (self.piece_end() - first) as u32);
            return Some(ssdlab_disk::Request { fua: self.fua, ..request });
        }
        self.flush.then_some(ssdlab_disk::Request::new(Operation::Flush, Lba(0), 0))
    }

    /// The next one is done.
    pub fn step(&mut self) {
        if self.sectors.0 < self.sectors.1 {
            self.sectors.0 = self.piece_end();
        } else {
            self.flush = false;
        }
    }

    fn piece_end(&self) -> u64 {
        let (first, end) = self.sectors;
        (first / self.piece_sectors + 1).saturating_mul(self.piece_sectors).min(end)
    }
}

/// Memory that a request takes until its reply is sent.
pub fn bytes_of(request: &Request) -> u64 {
    match request.command {
        Command::Read { .. } | Command::Write { .. } => request.length.into(),
        Command::Compare => 2 * u64::from(request.length),
        Command::Verify | Command::WriteZeroes { no_hole: true, .. } => u64::from(request.length).min(MOST_ZEROES),
        _ => 0,
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn asked(command: Command, offset: u64, length: u32) -> Vec<(Operation, u64, u32, bool)> {
        let mut steps = Steps::of(&Request { cookie: 0, offset, length, command }, 512);
        let mut asked = Vec::new();
        while let Some(request) = steps.next() {
            asked.push((request.operation, request.lba.0, request.sectors, request.fua));
            steps.step();
        }
        asked
    }

    /// By hand: what goes to the drive for each command.
    #[test]
    fn commands_by_hand() {
        use Operation::{Flush, Read, Trim, Write, WriteZeroes};
        assert_eq!(asked(Command::Read { dont_fragment: false }, 4096, 1024), [(Read, 8, 2, false)]);
        assert_eq!(asked(Command::Write { fua: true }, 512, 32 << 20), [(Write, 1, 65536, true)]);
        assert_eq!(asked(Command::Flush, 0, 0), [(Flush, 0, 0, false)]);
        assert_eq!(asked(Command::Cache, 0, 512), []);
        assert_eq!(asked(Command::BlockStatus { one: false }, 0, 512), []);
        assert_eq!(asked(Command::Trim { fua: true }, 512, 1024), [(Trim, 1, 2, false), (Flush, 0, 0, false)]);
        let zeroes = Command::WriteZeroes { fua: false, no_hole: false };
        assert_eq!(
            asked(zeroes, (64 << 20) - 512, 1024),
            [(WriteZeroes, 131071, 1, false), (WriteZeroes, 131072, 1, false)]
        );
        let data = Command::WriteZeroes { fua: true, no_hole: true };
        assert_eq!(
            asked(data, 1024, 2 << 20),
            [(Write, 2, 2046, false), (Write, 2048, 2048, false), (Write, 4096, 2, false), (Flush, 0, 0, false)]
        );
    }

    /// All of 4 GiB is asked for, each sector once.
    #[test]
    fn nothing_is_left_out() {
        let asked = asked(Command::Trim { fua: false }, 3 << 10, u32::MAX / 512 * 512);
        let mut next = 6;
        for (_, lba, sectors, _) in asked {
            assert_eq!(lba, next);
            next += u64::from(sectors);
        }
        assert_eq!(next, 6 + u64::from(u32::MAX / 512));
    }
}
