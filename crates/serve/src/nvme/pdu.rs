//! The transport's protocol data units (PDUs): NVMe over TCP Transport Specification 1.0, section 3.6.
//!
//! ```text
//!   head (8) │ rest of the header │ header digest │ padding up to PDO │ data │ data digest
//!   ◄───────────── HLEN ─────────►                                    ◄── PLEN ends here ──►
//! ```
//! A head is checked before anything is made room for: what it announces is bounded by [`MOST_DATA`], so that a host's
//! word alone takes no memory. Digests are CRC32C. A head that cannot be right ends the connection, as [`Fatal`] says why;
//! a wrong data digest ends its command alone.

use super::fields::{Page, u8_at, u16_at, u32_at};

/// Initialize connection: the host's first PDU.
pub const IC_REQUEST: u8 = 0x00;
/// The controller's answer to it.
pub const IC_RESPONSE: u8 = 0x01;
/// The host ends the connection.
pub const HOST_TERMINATES: u8 = 0x02;
/// The controller does.
pub const CONTROLLER_TERMINATES: u8 = 0x03;
/// A command.
pub const CAPSULE_COMMAND: u8 = 0x04;
/// A completion.
pub const CAPSULE_RESPONSE: u8 = 0x05;
/// Data from the host, for which the controller had room.
pub const HOST_DATA: u8 = 0x06;
/// Data to the host.
pub const CONTROLLER_DATA: u8 = 0x07;
/// The controller has room for data (R2T).
pub const READY_TO_TRANSFER: u8 = 0x09;

const HEADER_DIGEST: u8 = 1;
const DATA_DIGEST: u8 = 1 << 1;
const LAST: u8 = 1 << 2;
const DIGEST_BYTES: usize = 4;
const IC_BYTES: usize = 128;
const SHORT_BYTES: usize = 24;
const COMMAND_BYTES: usize = 72;
const MOST_TERMINATION: u32 = 152;

/// Data that one PDU of the host's carries at most (MAXH2CDATA).
pub const MOST_DATA: u32 = 128 << 10;
/// Data that a capsule carries at most.
pub const MOST_IN_CAPSULE: u32 = 8 << 10;
/// Greater alignments of data than this are none (HPDA).
const MOST_ALIGNMENT: u8 = 31;

/// What ends a connection: fatal error status, figure 25.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Fatal {
    /// A field of the header is wrong.
    InvalidHeader = 1,
    /// This PDU does not come now.
    Sequence = 2,
    /// The header's digest is wrong.
    HeaderDigest = 3,
    /// Data that were not asked for.
    OutOfRange = 4,
    /// More than was said to be possible.
    Limit = 5,
    /// A wish that cannot be had.
    Unsupported = 6,
}

/// What both sides agreed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Headers have a digest.
    pub header_digest: bool,
    /// Data have one.
    pub data_digest: bool,
    /// Data to the host begin at multiples of so many bytes, less one dword.
    alignment: u8,
}

impl Agreed {
    /// What the host wishes, of an [`IC_REQUEST`].
    ///
    /// # Errors
    /// It cannot be had.
    pub fn read(request: &[u8]) -> Result<Agreed, Fatal> {
        let (format, alignment, digests) = (u16_at(request, 8), u8_at(request, 10), u8_at(request, 11));
        if format != 0 || alignment > MOST_ALIGNMENT {
            return Err(Fatal::Unsupported);
        }
        Ok(Agreed { header_digest: digests & HEADER_DIGEST != 0, data_digest: digests & DATA_DIGEST != 0, alignment })
    }

    fn flags(self, has_data: bool) -> u8 {
        let data = if has_data && self.data_digest { DATA_DIGEST } else { 0 };
        data | if self.header_digest { HEADER_DIGEST } else { 0 }
    }

    fn digest_bytes(self) -> usize {
        if self.header_digest { DIGEST_BYTES } else { 0 }
    }
}

/// The first eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Which PDU.
    pub kind: u8,
    hlen: u8,
    pdo: u8,
    plen: u32,
}

/// What comes behind a head, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The rest of the header.
    pub header: usize,
    /// The header has a digest behind it.
    pub header_digest: bool,
    /// Nothing.
    pub padding: usize,
    /// Data.
    pub data: u32,
    /// They have a digest behind them.
    pub data_digest: bool,
}

impl Head {
    /// Bytes of a head.
    pub const BYTES: usize = 8;

    /// Reads a head.
    pub fn read(bytes: &[u8]) -> Head {
        Head { kind: u8_at(bytes, 0), hlen: u8_at(bytes, 2), pdo: u8_at(bytes, 3), plen: u32_at(bytes, 4) }
    }

    /// What comes behind it, on a connection that agreed so.
    ///
    /// # Errors
    /// No host sends it, or it announces more than it may.
    pub fn layout(&self, agreed: Agreed) -> Result<Layout, Fatal> {
        let (hlen, most_data) = match self.kind {
            IC_REQUEST => (IC_BYTES, 0),
            CAPSULE_COMMAND => (COMMAND_BYTES, MOST_IN_CAPSULE),
            HOST_DATA => (SHORT_BYTES, MOST_DATA),
            HOST_TERMINATES => (SHORT_BYTES, MOST_TERMINATION),
            _ => return Err(Fatal::InvalidHeader),
        };
        // Neither the first PDU nor the last has digests.
        let agreed = if matches!(self.kind, IC_REQUEST | HOST_TERMINATES) { Agreed::default() } else { agreed };
        let before_data = hlen + agreed.digest_bytes();
        let plen = usize::try_from(self.plen).map_err(|_| Fatal::InvalidHeader)?;
        if usize::from(self.hlen) != hlen || plen < before_data {
            return Err(Fatal::InvalidHeader);
        }
        let header = hlen - Head::BYTES;
        let header_digest = agreed.header_digest;
        if plen == before_data {
            return Ok(Layout { header, header_digest, padding: 0, data: 0, data_digest: false });
        }
        let begins = if self.kind == HOST_TERMINATES { before_data } else { usize::from(self.pdo) };
        let data_digest = agreed.data_digest;
        let ends = plen.checked_sub(if data_digest { DIGEST_BYTES } else { 0 }).ok_or(Fatal::InvalidHeader)?;
        let padding = begins.checked_sub(before_data).ok_or(Fatal::InvalidHeader)?;
        let data = ends.checked_sub(begins).ok_or(Fatal::InvalidHeader)?;
        let data = u32::try_from(data).ok().filter(|data| *data <= most_data).ok_or(Fatal::Limit)?;
        Ok(Layout { header, header_digest, padding, data, data_digest })
    }
}

/// Data from the host: to which command, tag and place they belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostData {
    /// The command.
    pub command: u16,
    /// The tag of the R2T that they answer.
    pub tag: u16,
    /// Where in the command's data they begin.
    pub offset: u32,
    /// Bytes.
    pub length: u32,
}

impl HostData {
    /// Reads it from a header.
    pub fn read(header: &[u8]) -> HostData {
        HostData {
            command: u16_at(header, 8),
            tag: u16_at(header, 10),
            offset: u32_at(header, 12),
            length: u32_at(header, 16),
        }
    }
}

/// The digest of bytes, as it is sent.
pub fn digest(bytes: &[u8]) -> [u8; DIGEST_BYTES] {
    crc32c::crc32c(bytes).to_le_bytes()
}

fn head(kind: u8, flags: u8, hlen: usize, pdo: usize, plen: usize) -> Page {
    Page::new(hlen).put(0, &[kind, flags, hlen as u8, pdo as u8]).put_u32(4, plen as u32)
}

/// A header, and its digest.
fn finish(out: &mut Vec<u8>, agreed: Agreed, header: Page) {
    let bytes = header.bytes();
    out.extend_from_slice(&bytes);
    if agreed.header_digest {
        out.extend_from_slice(&digest(&bytes));
    }
}

/// The answer to an [`IC_REQUEST`].
pub fn ic_response(agreed: Agreed) -> Vec<u8> {
    let digests = agreed.flags(true);
    head(IC_RESPONSE, 0, IC_BYTES, 0, IC_BYTES).put_u8(11, digests).put_u32(12, MOST_DATA).bytes()
}

/// A completion.
pub fn capsule_response(out: &mut Vec<u8>, agreed: Agreed, completion: &[u8]) {
    let plen = SHORT_BYTES + agreed.digest_bytes();
    finish(out, agreed, head(CAPSULE_RESPONSE, agreed.flags(false), SHORT_BYTES, 0, plen).put(8, completion));
}

/// What comes before the data of a command, all of them in one PDU.
pub fn data_head(out: &mut Vec<u8>, agreed: Agreed, command: u16, length: u32) {
    let before = SHORT_BYTES + agreed.digest_bytes();
    let pdo = before.next_multiple_of(4 * (usize::from(agreed.alignment) + 1));
    let plen = pdo + length as usize + if agreed.data_digest { DIGEST_BYTES } else { 0 };
    let header = head(CONTROLLER_DATA, agreed.flags(true) | LAST, SHORT_BYTES, pdo, plen);
    finish(out, agreed, header.put_u16(8, command).put_u32(16, length));
    out.resize(out.len() + pdo - before, 0);
}

/// What comes behind them.
pub fn data_tail(out: &mut Vec<u8>, agreed: Agreed, data: &[u8]) {
    if agreed.data_digest {
        out.extend_from_slice(&digest(data));
    }
}

/// There is room for data of a command.
pub fn ready_to_transfer(out: &mut Vec<u8>, agreed: Agreed, command: u16, tag: u16, length: u32) {
    let plen = SHORT_BYTES + agreed.digest_bytes();
    let header = head(READY_TO_TRANSFER, agreed.flags(false), SHORT_BYTES, 0, plen);
    finish(out, agreed, header.put_u16(8, command).put_u16(10, tag).put_u32(16, length));
}

/// The connection ends for this reason.
pub fn termination(fatal: Fatal) -> Vec<u8> {
    head(CONTROLLER_TERMINATES, 0, SHORT_BYTES, 0, SHORT_BYTES).put_u16(8, fatal as u16).bytes()
}

#[cfg(test)]
mod test;
