//! Commands of the NVM command set: NVM Command Set Specification 1.0, section 3.
//!
//! | command | what the drive is asked |
//! |---|---|
//! | flush, write, read, compare, verify | the same; writes with FUA where the volatile cache is off |
//! | write zeroes | zeroes, whole units of which are unmapped |
//! | write uncorrectable | reads fail there until it is written again |
//! | dataset management, deallocate | a trim for each range |
//!
//! Left out: fused commands, protection information, copy, reservations: Invalid Opcode or Invalid Field.

use super::command::{Sgl, Submission};
use super::facts::Namespace;
use super::fields::{u32_at, u64_at};
use super::pdu::MOST_IN_CAPSULE;
use super::status::Status;
use crate::request::{Command, Request};

const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
const WRITE_UNCORRECTABLE: u8 = 0x04;
const COMPARE: u8 = 0x05;
const WRITE_ZEROES: u8 = 0x08;
const DATASET_MANAGEMENT: u8 = 0x09;
const VERIFY: u8 = 0x0C;

const FORCE_UNIT_ACCESS: u32 = 1 << 30;
const DEALLOCATE: u32 = 1 << 2;
const EVERY_NAMESPACE: u32 = u32::MAX;
/// Bytes of a range of dataset management.
const RANGE_BYTES: u32 = 16;

/// Data that one command carries at most: 2^[`MOST_TRANSFER`] pages of 4 KiB (MDTS).
pub const MOST_TRANSFER: u8 = 8;
const MOST_BYTES: u32 = 4096 << MOST_TRANSFER;

/// What a command comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The drive is asked; the data that it needs come from the host.
    Drive(Request),
    /// So many bytes of ranges come from the host, each to be deallocated.
    Deallocate(u32),
    /// There is nothing to do.
    Nothing,
}

impl Asked {
    /// Bytes that come from the host.
    pub fn host_bytes(&self) -> u32 {
        match self {
            Asked::Drive(request) => request.payload() as u32,
            Asked::Deallocate(bytes) => *bytes,
            Asked::Nothing => 0,
        }
    }
}

/// What a command asks, of a namespace whose volatile cache is on or off.
///
/// # Errors
/// The status that it ends with.
pub fn read(submission: &Submission, namespace: &Namespace, cache_is_on: bool) -> Result<Asked, Status> {
    let is_for_all = submission.namespace == EVERY_NAMESPACE && submission.opcode == FLUSH;
    if submission.namespace != Namespace::ID && !is_for_all {
        return Err(Status::INVALID_NAMESPACE);
    }
    if submission.is_fused() {
        return Err(Status::INVALID_FIELD);
    }
    let fua = submission.dword(12) & FORCE_UNIT_ACCESS != 0;
    let durable = fua || !cache_is_on;
    let asked = match submission.opcode {
        FLUSH => Asked::Drive(request(submission, 0, 0, Command::Flush)),
        READ => placed(submission, namespace, Command::Read { dont_fragment: true })?,
        WRITE => placed(submission, namespace, Command::Write { fua: durable })?,
        COMPARE => placed(submission, namespace, Command::Compare)?,
        VERIFY => placed(submission, namespace, Command::Verify)?,
        WRITE_ZEROES => placed(submission, namespace, Command::WriteZeroes { fua: durable, no_hole: false })?,
        WRITE_UNCORRECTABLE => placed(submission, namespace, Command::WriteUncorrectable)?,
        DATASET_MANAGEMENT if submission.dword(11) & DEALLOCATE == 0 || !namespace.trims => Asked::Nothing,
        DATASET_MANAGEMENT => Asked::Deallocate(((submission.dword(10) & 0xFF) + 1) * RANGE_BYTES),
        _ => return Err(Status::INVALID_OPCODE),
    };
    check_data(submission, &asked)?;
    Ok(asked)
}

fn request(submission: &Submission, offset: u64, length: u32, command: Command) -> Request {
    Request { cookie: submission.id.into(), offset, length, command }
}

/// A command for a range of sectors that lies in the namespace.
fn placed(submission: &Submission, namespace: &Namespace, command: Command) -> Result<Asked, Status> {
    let sectors = u64::from(submission.dword(12) & 0xFFFF) + 1;
    let (offset, length) = namespace.bytes(submission.start(), sectors).ok_or(Status::LBA_OUT_OF_RANGE)?;
    let carries = matches!(command, Command::Read { .. } | Command::Write { .. } | Command::Compare);
    if carries && length > MOST_BYTES {
        return Err(Status::INVALID_FIELD);
    }
    Ok(Asked::Drive(request(submission, offset, length, command)))
}

/// The list says where the data are, and that they are all there.
fn check_data(submission: &Submission, asked: &Asked) -> Result<(), Status> {
    let Sgl { kind, length, offset } = submission.sgl;
    let is_read = matches!(asked, Asked::Drive(Request { command: Command::Read { .. }, .. }));
    let needed = match asked {
        Asked::Drive(request) if is_read => request.length,
        _ => asked.host_bytes(),
    };
    match kind {
        _ if needed == 0 => Ok(()),
        Sgl::TRANSPORT | Sgl::IN_CAPSULE if length < needed => Err(Status::SGL_LENGTH),
        Sgl::TRANSPORT => Ok(()),
        Sgl::IN_CAPSULE if is_read || offset != 0 || length > MOST_IN_CAPSULE => Err(Status::INVALID_FIELD),
        Sgl::IN_CAPSULE => Ok(()),
        _ => Err(Status::SGL_TYPE),
    }
}

/// The trims that the ranges of a deallocate come to.
///
/// # Errors
/// One reaches beyond the end; nothing is deallocated then.
pub fn ranges(submission: &Submission, namespace: &Namespace, bytes: &[u8]) -> Result<Vec<Request>, Status> {
    let command = Command::Trim { fua: false };
    let found = bytes.chunks_exact(RANGE_BYTES as usize).map(|range| {
        let (first, sectors) = (u64_at(range, 8), u64::from(u32_at(range, 4)));
        let (offset, length) = namespace.span(first, sectors).ok_or(Status::LBA_OUT_OF_RANGE)?;
        Ok(pieces(offset, length).map(|(offset, length)| request(submission, offset, length, command)).collect())
    });
    let found: Vec<Vec<Request>> = found.collect::<Result<_, Status>>()?;
    Ok(found.concat())
}

/// A range in pieces that a request can name.
fn pieces(offset: u64, length: u64) -> impl Iterator<Item = (u64, u32)> {
    const PIECE: u64 = 1 << 30;
    (0..length.div_ceil(PIECE)).map(move |number| {
        let begins = number * PIECE;
        (offset + begins, PIECE.min(length - begins) as u32)
    })
}

#[cfg(test)]
mod test;
