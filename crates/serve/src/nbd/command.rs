//! Requests of the transmission phase: what one asks for, and whether the export can do it.
//!
//! A request that passes is within the export, in whole sectors, at least one, and uses nothing that was not offered, so
//! that the drive may carry it out as it is. Errors are those that the specification names for each case.

use super::export::Agreed;
use super::wire::{self, RequestHead};
use crate::request::{Command, Fault, Request};

/// The errors that a request can be answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Error {
    /// Writing to what is read-only.
    Eperm = wire::NBD_EPERM,
    /// The drive failed, is off or poisoned.
    Eio = wire::NBD_EIO,
    /// No request of this export's.
    Einval = wire::NBD_EINVAL,
    /// Written beyond the end.
    Enospc = wire::NBD_ENOSPC,
    /// Too much in one request.
    Eoverflow = wire::NBD_EOVERFLOW,
    /// Zeroes are not faster than data.
    Enotsup = wire::NBD_ENOTSUP,
    /// The server ends.
    Eshutdown = wire::NBD_ESHUTDOWN,
}

impl Error {
    /// The error that answers a request that failed.
    pub fn of(fault: Fault, command: Command) -> Error {
        match fault {
            Fault::WriteProtected => Error::Eperm,
            Fault::OutOfRange if command.writes() => Error::Enospc,
            Fault::OutOfRange => Error::Einval,
            Fault::Ends => Error::Eshutdown,
            Fault::Media | Fault::NoPower | Fault::Broken | Fault::Unequal => Error::Eio,
        }
    }
}

/// A request that is answered with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// What the reply repeats.
    pub cookie: u64,
    /// Which error.
    pub error: Error,
    /// In words, for the client's user.
    pub why: &'static str,
}

/// The request, or why it is none. `NBD_CMD_DISC` is not asked about here.
pub(super) fn check(head: &RequestHead, agreed: &Agreed) -> Result<Request, Refusal> {
    let read = command(head, agreed).and_then(|command| {
        offered(command, head, agreed)?;
        place(command, head, agreed)?;
        Ok(Request { cookie: head.cookie, offset: head.offset, length: head.length, command })
    });
    read.map_err(|(error, why)| Refusal { cookie: head.cookie, error, why })
}

type Wrong = (Error, &'static str);

/// The command, with flags that it knows.
fn command(head: &RequestHead, agreed: &Agreed) -> Result<Command, Wrong> {
    let has = |flag| head.flags & flag != 0;
    let fua = has(wire::NBD_CMD_FLAG_FUA);
    let (command, flags) = match head.command {
        wire::NBD_CMD_READ => {
            let dont_fragment = has(wire::NBD_CMD_FLAG_DF);
            (Command::Read { dont_fragment }, if agreed.structured_replies { wire::NBD_CMD_FLAG_DF } else { 0 })
        }
        wire::NBD_CMD_WRITE => (Command::Write { fua }, 0),
        wire::NBD_CMD_FLUSH => (Command::Flush, 0),
        wire::NBD_CMD_TRIM => (Command::Trim { fua }, 0),
        wire::NBD_CMD_CACHE => (Command::Cache, 0),
        wire::NBD_CMD_WRITE_ZEROES => {
            let no_hole = has(wire::NBD_CMD_FLAG_NO_HOLE);
            let fast = if agreed.export.zeroes_fast() { wire::NBD_CMD_FLAG_FAST_ZERO } else { 0 };
            (Command::WriteZeroes { fua, no_hole }, wire::NBD_CMD_FLAG_NO_HOLE | fast)
        }
        wire::NBD_CMD_BLOCK_STATUS => {
            (Command::BlockStatus { one: has(wire::NBD_CMD_FLAG_REQ_ONE) }, wire::NBD_CMD_FLAG_REQ_ONE)
        }
        _ => return Err((Error::Einval, "The server does not know this command.")),
    };
    // Clients may set FUA on any command where it was offered.
    let offered = if agreed.export.fua { wire::NBD_CMD_FLAG_FUA } else { 0 };
    // Who may not write shall hear that, whatever the flags.
    if agreed.export.read_only && command.writes() {
        return Err((Error::Eperm, "The export is read-only."));
    }
    if head.flags & !(flags | offered) != 0 {
        return Err((Error::Einval, "A flag of the command was not offered for it."));
    }
    Ok(command)
}

/// The command was offered, and can be done as the flags want it.
fn offered(command: Command, head: &RequestHead, agreed: &Agreed) -> Result<(), Wrong> {
    let export = &agreed.export;
    let (offered, why) = match command {
        Command::Read { .. } | Command::Write { .. } => (true, ""),
        Command::Flush => (export.flush, "Flush was not offered."),
        Command::Trim { .. } => (export.trim, "Trim was not offered."),
        Command::Cache => (export.cache, "Cache was not offered."),
        Command::WriteZeroes { .. } => (export.write_zeroes, "Write zeroes was not offered."),
        Command::BlockStatus { .. } => (agreed.base_allocation, "No metadata context was selected."),
        Command::Compare | Command::Verify | Command::WriteUncorrectable => (false, "NBD has no such command."),
    };
    if !offered {
        return Err((Error::Einval, why));
    }
    let fast = head.flags & wire::NBD_CMD_FLAG_FAST_ZERO != 0;
    if fast && matches!(command, Command::WriteZeroes { no_hole: true, .. }) {
        return Err((Error::Enotsup, "Zeroes without a hole are not written faster than data."));
    }
    Ok(())
}

/// Offset and length are whole sectors of the export, and no more than one request may carry.
fn place(command: Command, head: &RequestHead, agreed: &Agreed) -> Result<(), Wrong> {
    let &RequestHead { offset, length, .. } = head;
    let export = &agreed.export;
    if command == Command::Flush {
        return if (offset, length) == (0, 0) {
            Ok(())
        } else {
            Err((Error::Einval, "A flush has no offset or length."))
        };
    }
    if length == 0 {
        return Err((Error::Einval, "The length is zero."));
    }
    if offset.checked_add(length.into()).is_none_or(|end| end > export.size) {
        let adds = matches!(command, Command::Write { .. } | Command::WriteZeroes { .. });
        let error = if adds { Error::Enospc } else { Error::Einval };
        return Err((error, "The request reaches beyond the end of the export."));
    }
    let sector = u64::from(export.minimum_block);
    if !offset.is_multiple_of(sector) || !u64::from(length).is_multiple_of(sector) {
        return Err((Error::Einval, "Offset or length is no multiple of the minimum block size."));
    }
    if length > export.maximum_payload {
        let why = "The length exceeds the maximum payload size.";
        match command {
            Command::Read { .. } if agreed.structured_replies => return Err((Error::Eoverflow, why)),
            Command::Read { .. } | Command::Write { .. } => return Err((Error::Einval, why)),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod test;
