//! Replies of the transmission phase, simple or structured, as was agreed on.
//!
//! A reply is written to the end of a `Vec`; data of a read are not copied: a head says how many bytes come next, and the
//! caller sends them from where they lie. Replies may be sent in any order, and chunks of different replies between each
//! other. A success without data is a simple reply, which is allowed in any case and shorter.

use super::command::{Error, Refusal};
use super::export::Agreed;
use super::handshake::BASE_ALLOCATION_ID;
use super::wire::{self, MAX_STRING_BYTES};
use crate::request::{Command, Request};

/// Extents that one reply tells at most; the client asks on.
pub const MAX_EXTENTS: usize = 1 << 16;

/// How replies of a connection are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replies {
    structured: bool,
}

/// A stretch of the export for block status, from where the one before ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// In bytes.
    pub length: u64,
    /// Nothing is stored there.
    pub hole: bool,
    /// It reads as zeroes.
    pub zero: bool,
}

impl Extent {
    fn status(self) -> u32 {
        u32::from(self.hole) * wire::NBD_STATE_HOLE + u32::from(self.zero) * wire::NBD_STATE_ZERO
    }
}

impl Replies {
    pub(super) fn new(agreed: &Agreed) -> Replies {
        Replies { structured: agreed.structured_replies }
    }

    /// Anything but a read or a block status was done.
    pub fn done(self, out: &mut Vec<u8>, cookie: u64) {
        wire::simple_reply(out, cookie, 0);
    }

    /// A read was done; its `length` bytes of data come next.
    pub fn read(self, out: &mut Vec<u8>, request: &Request) {
        match self.fragments_of(request) {
            Some(mut whole) => drop(whole.data(out, request.length)),
            None => wire::simple_reply(out, request.cookie, 0),
        }
    }

    /// A read is answered in fragments, holes among them; none where the client did not agree to that, or wants this one
    /// whole.
    pub fn fragments(self, request: &Request) -> Option<Fragments> {
        if matches!(request.command, Command::Read { dont_fragment: false }) {
            self.fragments_of(request)
        } else {
            None
        }
    }

    fn fragments_of(self, request: &Request) -> Option<Fragments> {
        let &Request { cookie, offset, length, .. } = request;
        self.structured.then_some(Fragments { cookie, offset, left: length })
    }

    /// A request failed, in words for the client's user where they can be sent. Fragments of a read may have been sent.
    pub fn error(self, out: &mut Vec<u8>, cookie: u64, error: Error, why: &str) {
        self.failure(out, cookie, error, why, None);
    }

    /// As [`Replies::error`], and at which offset of the export: not for a flush.
    pub fn error_at(self, out: &mut Vec<u8>, cookie: u64, error: Error, why: &str, offset: u64) {
        self.failure(out, cookie, error, why, Some(offset));
    }

    /// A request was refused.
    pub fn refused(self, out: &mut Vec<u8>, refusal: &Refusal) {
        self.error(out, refusal.cookie, refusal.error, refusal.why);
    }

    fn failure(self, out: &mut Vec<u8>, cookie: u64, error: Error, why: &str, offset: Option<u64>) {
        if !self.structured {
            return wire::simple_reply(out, cookie, error as u32);
        }
        let why = string(why);
        let (kind, more) = match offset {
            None => (wire::NBD_REPLY_TYPE_ERROR, 0),
            Some(_) => (wire::NBD_REPLY_TYPE_ERROR_OFFSET, 8),
        };
        wire::chunk_head(out, cookie, kind, wire::NBD_REPLY_FLAG_DONE, 6 + why.len() as u32 + more);
        out.extend((error as u32).to_be_bytes());
        out.extend((why.len() as u16).to_be_bytes());
        out.extend_from_slice(why.as_bytes());
        out.extend(offset.iter().flat_map(|offset| offset.to_be_bytes()));
    }

    /// Tells extents from the request's offset on, up to its end and no further, neighbours of one status as one. Where
    /// none are given, all counts as stored.
    pub fn block_status(self, out: &mut Vec<u8>, request: &Request, extents: impl IntoIterator<Item = Extent>) {
        let one = matches!(request.command, Command::BlockStatus { one: true });
        let told = merged(extents, request.length, if one { 1 } else { MAX_EXTENTS });
        let length = 4 + 8 * told.len() as u32;
        wire::chunk_head(out, request.cookie, wire::NBD_REPLY_TYPE_BLOCK_STATUS, wire::NBD_REPLY_FLAG_DONE, length);
        out.extend(BASE_ALLOCATION_ID.to_be_bytes());
        out.extend(told.iter().flat_map(|(length, status)| [length.to_be_bytes(), status.to_be_bytes()]).flatten());
    }
}

/// As much of a text as the protocol allows in one string.
fn string(text: &str) -> &str {
    let fits = (0..=MAX_STRING_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    fits.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// At most so many lengths with their status, at least one, together at most `left` bytes.
fn merged(extents: impl IntoIterator<Item = Extent>, mut left: u32, most: usize) -> Vec<(u32, u32)> {
    let asked = left;
    let mut told: Vec<(u32, u32)> = Vec::new();
    for extent in extents.into_iter().filter(|extent| extent.length > 0) {
        let length = extent.length.min(left.into()) as u32;
        let full = told.len() == most;
        match told.last_mut() {
            Some((before, status)) if *status == extent.status() => *before += length,
            _ if full => break,
            _ => told.push((length, extent.status())),
        }
        left -= length;
        if left == 0 {
            break;
        }
    }
    if told.is_empty() {
        told.push((asked, 0));
    }
    told
}

/// The fragments of a read, from its offset on. The one that reaches the end is the last.
#[derive(Debug)]
pub struct Fragments {
    cookie: u64,
    offset: u64,
    left: u32,
}

impl Fragments {
    /// Bytes that no fragment has told yet.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// So many bytes of data come next. Says how many, since no fragment goes beyond the request.
    pub fn data(&mut self, out: &mut Vec<u8>, length: u32) -> u32 {
        let length = length.min(self.left);
        if length > 0 {
            self.chunk(out, wire::NBD_REPLY_TYPE_OFFSET_DATA, length, 8 + length);
        }
        length
    }

    /// So many bytes are zeroes, and not sent. Says how many.
    pub fn hole(&mut self, out: &mut Vec<u8>, length: u32) -> u32 {
        let length = length.min(self.left);
        if length > 0 {
            self.chunk(out, wire::NBD_REPLY_TYPE_OFFSET_HOLE, length, 12);
            out.extend(length.to_be_bytes());
        }
        length
    }

    fn chunk(&mut self, out: &mut Vec<u8>, kind: u16, length: u32, payload: u32) {
        let offset = self.offset;
        self.left -= length;
        self.offset += u64::from(length);
        let flags = if self.left == 0 { wire::NBD_REPLY_FLAG_DONE } else { 0 };
        wire::chunk_head(out, self.cookie, kind, flags, payload);
        out.extend(offset.to_be_bytes());
    }
}

#[cfg(test)]
mod test;
