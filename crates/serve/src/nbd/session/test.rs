use super::super::command::Error;
use super::super::export::example;
use super::*;
use crate::request::Command;

fn session() -> Session {
    Session::new(Agreed { export: example(), structured_replies: false, base_allocation: false })
}

/// A request with the cookie `ABCDEFGH`, spelled as in the specification.
fn request(flags: u16, command: u16, offset: u64, length: u32) -> Vec<u8> {
    let kind = [b"\x25\x60\x95\x13", &flags.to_be_bytes()[..], &command.to_be_bytes()].concat();
    [&kind[..], b"ABCDEFGH", &offset.to_be_bytes(), &length.to_be_bytes()].concat()
}

const COOKIE: u64 = 0x4142_4344_4546_4748;

/// A write is told once its head is whole, and its payload is left where it is.
#[test]
fn the_payload_is_left() {
    let mut session = session();
    let write = request(1, 1, 512, 1024);
    let bytes = [&write[..], &[7; 1024], &request(0, 3, 0, 0)].concat();
    assert_eq!(session.take(&bytes[..27]), (27, Event::More));
    let (taken, event) = session.take(&bytes[27..]);
    let expected = Request { cookie: COOKIE, offset: 512, length: 1024, command: Command::Write { fua: true } };
    assert_eq!((taken, event), (1, Event::Request(expected)));
    let rest = &bytes[28 + expected.payload()..];
    let expected = Request { cookie: COOKIE, offset: 0, length: 0, command: Command::Flush };
    assert_eq!(session.take(rest), (28, Event::Request(expected)));
    assert_eq!(expected.payload(), 0);
    assert_eq!(session.take(b""), (0, Event::More));
}

/// A write that is refused is told after its payload, in whatever portions, and the next request is understood.
#[test]
fn a_refused_payload_is_skipped() {
    for portion in [1, 100, 4096] {
        let mut session = session();
        let mut bytes = [&request(0, 1, 1 << 20, 1024)[..], &[7; 1024], &request(0, 0, 0, 512)].concat();
        let mut events = Vec::new();
        while !bytes.is_empty() {
            let (taken, event) = session.take(&bytes[..portion.min(bytes.len())]);
            assert!(taken > 0, "the session ended: {event:?}");
            bytes.drain(..taken);
            events.extend((event != Event::More).then_some((bytes.len(), event)));
        }
        let [(28, Event::Refused(refusal)), (0, Event::Request(_))] = events[..] else { panic!("{events:?}") };
        assert_eq!((refusal.cookie, refusal.error), (COOKIE, Error::Enospc));
    }
}

/// A refused request without payload is told at once: also an empty write, and an unknown command with a length.
#[test]
fn refusals_without_payload() {
    for (command, length) in [(1, 0), (0, 0), (77, 1024)] {
        let (taken, event) = session().take(&[request(0, command, 0, length), vec![7; 10]].concat());
        assert!(matches!((taken, event), (28, Event::Refused(_))), "{command}");
    }
}

/// Garbage and endless payloads end the connection with a reason; the client leaves with a request; both are for good.
#[test]
fn ends() {
    let ends = [
        (request(0, 2, 0, 0), Event::Disconnect),
        (b"GET / HTTP/1.1\r\nHost: drive\r\n".to_vec(), Event::Broken(Violation::RequestMagic(0x4745_5420))),
        (request(0, 1, 0, (1 << 25) + 1), Event::Broken(Violation::PayloadTooLong { length: (1 << 25) + 1 })),
    ];
    for (bytes, end) in ends {
        let mut session = session();
        assert_eq!(session.take(&bytes), (28, end.clone()));
        assert_eq!(session.take(&request(0, 0, 0, 512)), (0, end));
    }
    let longest = request(0, 1, 0, 1 << 25);
    let mut session = session();
    assert_eq!(session.take(&longest), (28, Event::More));
    assert_eq!(session.take(&vec![0; 1 << 25]).0, 1 << 25);
}
