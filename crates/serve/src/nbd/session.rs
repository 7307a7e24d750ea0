//! The transmission phase: requests come in, in any portions.
//!
//! Heads are gathered; payloads are not. After a write that may be carried out the next [`Request::payload`] bytes of the
//! stream are the caller's; the payload of a write that is refused is skipped here, and only then is the refusal told,
//! since clients do not expect a reply to what they still send.

use super::command::{self, Refusal};
use super::export::Agreed;
use super::reply::Replies;
use super::violation::Violation;
use super::wire::{self, RequestHead};
use crate::request::Request;

/// What came of a portion of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// All bytes are consumed, and no request is whole.
    More,
    /// To be carried out. Its payload, if it has one, comes next and is not for the session.
    Request(Request),
    /// To be answered with an error.
    Refused(Refusal),
    /// The client leaves: end what is under way, and hang up without an answer.
    Disconnect,
    /// Hang up.
    Broken(Violation),
}

/// One connection in the transmission phase.
#[derive(Debug)]
pub struct Session {
    agreed: Agreed,
    head: [u8; RequestHead::BYTES],
    /// Bytes of the head that are there.
    filled: usize,
    /// What is left of the payload of a write that is refused.
    skipped: Option<(u32, Refusal)>,
    end: Option<Event>,
}

impl Session {
    /// Begins where the handshake ended.
    pub fn new(agreed: Agreed) -> Session {
        Session { agreed, head: [0; RequestHead::BYTES], filled: 0, skipped: None, end: None }
    }

    /// What was agreed on.
    pub fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    /// Writes the replies of this connection; may be handed to whoever sends them.
    pub fn replies(&self) -> Replies {
        Replies::new(&self.agreed)
    }

    /// Takes bytes up to the next event, and says how many it took. After the end it takes nothing and repeats it.
    pub fn take(&mut self, bytes: &[u8]) -> (usize, Event) {
        if let Some(end) = &self.end {
            return (0, end.clone());
        }
        let mut rest = bytes;
        let event = self.skip(&mut rest).or_else(|| self.gather(&mut rest)).unwrap_or(Event::More);
        if matches!(event, Event::Disconnect | Event::Broken(_)) {
            self.end = Some(event.clone());
        }
        (bytes.len() - rest.len(), event)
    }

    /// Drops the payload of a write that is refused.
    fn skip(&mut self, rest: &mut &[u8]) -> Option<Event> {
        let (left, refusal) = self.skipped?;
        let dropped = rest.len().min(left as usize);
        *rest = rest.get(dropped..).unwrap_or_default();
        let left = left - dropped as u32;
        self.skipped = (left > 0).then_some((left, refusal));
        Some(if left > 0 { Event::More } else { Event::Refused(refusal) })
    }

    /// Completes the head, and goes by it.
    fn gather(&mut self, rest: &mut &[u8]) -> Option<Event> {
        let free = self.head.get_mut(self.filled..)?;
        let (new, after) = rest.split_at_checked(free.len()).unwrap_or((rest, &[]));
        free.get_mut(..new.len())?.copy_from_slice(new);
        self.filled += new.len();
        *rest = after;
        if self.filled < RequestHead::BYTES {
            return None;
        }
        self.filled = 0;
        let head = RequestHead::read(&self.head)?;
        if head.magic != wire::NBD_REQUEST_MAGIC {
            return Some(Event::Broken(Violation::RequestMagic(head.magic)));
        }
        if head.command == wire::NBD_CMD_DISC {
            return Some(Event::Disconnect);
        }
        if head.command == wire::NBD_CMD_WRITE && head.length > wire::MAX_PAYLOAD_BYTES {
            return Some(Event::Broken(Violation::PayloadTooLong { length: head.length }));
        }
        match command::check(&head, &self.agreed) {
            Ok(request) => Some(Event::Request(request)),
            Err(refusal) if head.command == wire::NBD_CMD_WRITE && head.length > 0 => {
                self.skipped = Some((head.length, refusal));
                self.skip(rest)
            }
            Err(refusal) => Some(Event::Refused(refusal)),
        }
    }
}

#[cfg(test)]
mod test;
