//! A server in a box: bytes of a client in, what the machines said and what goes back out. Used by the properties and
//! by the fuzz target.
//!
//! It answers every request in one of the ways that a server may, and holds the machines to what they promise.

use ssdlab_serve::nbd::command::Error;
use ssdlab_serve::nbd::export::{Agreed, Export};
use ssdlab_serve::nbd::handshake::{Handshake, Step};
use ssdlab_serve::nbd::reply::{Extent, Replies};
use ssdlab_serve::nbd::session::{Event, Session};
use ssdlab_serve::request::{Command, Request};
use std::sync::Arc;

/// The drive of 1 MiB in sectors of 4096 bytes that is offered, and one that knows next to nothing.
pub fn exports() -> Arc<[Export]> {
    let drive = Export {
        name: "drive".into(),
        description: "a drive".into(),
        size: 1 << 20,
        minimum_block: 4096,
        preferred_block: 16384,
        maximum_payload: 1 << 18,
        read_only: false,
        trim: true,
        multi_conn: true,
        fua: true,
        flush: true,
        cache: true,
        write_zeroes: true,
    };
    let bare = Export { name: "bare".into(), trim: false, fua: false, flush: false, cache: false, ..drive.clone() };
    let shown = Export { name: "shown".into(), minimum_block: 512, read_only: true, ..drive.clone() };
    Arc::new([drive, bare, shown])
}

/// What a stream came to, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    Step(Step),
    Event(Event),
    Payload(Vec<u8>),
}

/// One connection.
pub struct Connection {
    handshake: Handshake,
    session: Option<Session>,
    /// What is left of the payload of a write.
    payload: usize,
    pub ended: bool,
    pub seen: Vec<Seen>,
    pub out: Vec<u8>,
}

impl Connection {
    pub fn new() -> Connection {
        let handshake = Handshake::new(exports()).expect("good exports");
        Connection { handshake, session: None, payload: 0, ended: false, seen: Vec::new(), out: Vec::new() }
    }

    /// Takes a portion of the client's stream; says how much, which is all unless the connection ended.
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while !self.ended {
            if self.payload > 0 {
                let (payload, after) = rest.split_at(self.payload.min(rest.len()));
                let Some(Seen::Payload(whole)) = self.seen.last_mut() else { panic!("a payload belongs to a write") };
                whole.extend(payload);
                self.payload -= payload.len();
                rest = after;
                if self.payload > 0 {
                    break;
                }
            }
            let (taken, more) = match self.session.is_some() {
                false => self.shake(rest),
                true => self.serve(rest),
            };
            assert!(taken <= rest.len());
            assert!(!more || taken == rest.len(), "more is asked for, and bytes are left");
            assert!(more || self.ended || taken > 0, "nothing was taken, and nothing asked for");
            rest = &rest[taken..];
            if more {
                break;
            }
        }
        bytes.len() - rest.len()
    }

    fn shake(&mut self, bytes: &[u8]) -> (usize, bool) {
        let (taken, step) = self.handshake.take(bytes, &mut self.out);
        match &step {
            Step::More => return (taken, true),
            Step::Answered => {}
            Step::Go(agreed) => self.session = Some(Session::new(Agreed::clone(agreed))),
            Step::Aborted | Step::Broken(_) => self.ended = true,
        }
        self.seen.push(Seen::Step(step));
        (taken, false)
    }

    fn serve(&mut self, bytes: &[u8]) -> (usize, bool) {
        let Some(session) = &mut self.session else { panic!("the handshake is over") };
        let (taken, event) = session.take(bytes);
        let replies = session.replies();
        if event == Event::More {
            return (taken, true);
        }
        self.seen.push(Seen::Event(event.clone()));
        match event {
            Event::More => {}
            Event::Request(request) => {
                assert_is_sound(&request, session.agreed());
                self.payload = request.payload();
                if self.payload > 0 {
                    self.seen.push(Seen::Payload(Vec::new()));
                }
                answer(replies, &request, &mut self.out);
            }
            Event::Refused(refusal) => replies.refused(&mut self.out, &refusal),
            Event::Disconnect | Event::Broken(_) => self.ended = true,
        }
        (taken, false)
    }
}

/// Takes a stream in portions of those sizes, over and over, and says how much of it was taken.
fn fed(bytes: &[u8], portions: &[usize]) -> (Connection, usize) {
    let (mut connection, mut at) = (Connection::new(), 0);
    for portion in portions.iter().cycle() {
        let end = (at + portion).min(bytes.len());
        at += connection.feed(&bytes[at..end]);
        if connection.ended || at == bytes.len() {
            break;
        }
    }
    (connection, at)
}

/// A stream comes to the same in one piece and in portions, and all of it is taken unless the connection ends.
pub fn assert_portions_do_not_matter(bytes: &[u8], portions: &[usize]) {
    let (whole, taken) = fed(bytes, &[bytes.len().max(1)]);
    let (split, split_taken) = fed(bytes, portions);
    assert_eq!(whole.seen, split.seen);
    assert_eq!(whole.out, split.out);
    assert_eq!((whole.ended, taken), (split.ended, split_taken));
    assert!(whole.ended || taken == bytes.len());
}

/// The drive may carry it out as it is.
fn assert_is_sound(request: &Request, agreed: &Agreed) {
    let &Request { offset, length, command, .. } = request;
    let export = &agreed.export;
    assert!(u128::from(offset) + u128::from(length) <= u128::from(export.size));
    assert_eq!((offset % u64::from(export.minimum_block), length % export.minimum_block), (0, 0));
    assert_eq!(length == 0, command == Command::Flush);
    assert!(!(command.writes() && export.read_only));
    assert!(request.payload() <= export.maximum_payload as usize);
    match command {
        Command::Read { dont_fragment } => {
            assert!(length <= export.maximum_payload && (agreed.structured_replies || !dont_fragment));
        }
        Command::Write { fua } | Command::Trim { fua } | Command::WriteZeroes { fua, .. } if fua => assert!(export.fua),
        Command::BlockStatus { .. } => assert!(agreed.base_allocation && agreed.structured_replies),
        _ => {}
    }
}

/// One of the answers that a server may give, chosen by the cookie. Data are letters `d`.
fn answer(replies: Replies, request: &Request, out: &mut Vec<u8>) {
    let &Request { cookie, offset, length, command } = request;
    match command {
        _ if cookie % 8 == 7 => replies.error_at(out, cookie, Error::Eio, "a media error", offset),
        Command::Read { .. } => match replies.fragments(request) {
            Some(mut fragments) if cookie % 2 == 0 => {
                while fragments.left() > 0 {
                    let data = fragments.data(out, 4096);
                    out.extend(std::iter::repeat_n(b'd', data as usize));
                    fragments.hole(out, 8192);
                }
            }
            _ => {
                replies.read(out, request);
                out.extend(std::iter::repeat_n(b'd', length as usize));
            }
        },
        Command::BlockStatus { .. } => {
            let extents = (0..cookie % 16).map(|index| Extent { length: 4096, hole: index % 3 == 0, zero: true });
            replies.block_status(out, request, extents);
        }
        _ => replies.done(out, cookie),
    }
}
