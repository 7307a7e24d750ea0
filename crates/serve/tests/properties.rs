//! What holds for any bytes of a client, in any portions.

mod stream;

use proptest::prelude::*;
use ssdlab_serve::nbd::handshake::{MAX_OPTION_BYTES, Step};
use ssdlab_serve::nbd::session::Event;
use ssdlab_serve::request::{Command, Request};
use std::collections::BTreeMap;
use stream::{Connection, Seen, assert_portions_do_not_matter, exports};

/// An option, mostly one that is known, with data that mostly fit.
fn option() -> impl Strategy<Value = Vec<u8>> {
    let names = prop_oneof![Just("drive"), Just("bare"), Just("shown"), Just(""), Just("none")];
    let name = names.prop_map(|name| [&(name.len() as u32).to_be_bytes()[..], name.as_bytes()].concat());
    let wishes = prop::collection::vec(0..5_u16, 0..4).prop_map(|wishes| {
        let list = wishes.iter().flat_map(|wish| wish.to_be_bytes());
        (wishes.len() as u16).to_be_bytes().into_iter().chain(list).collect::<Vec<u8>>()
    });
    let queries = prop_oneof![Just("base:allocation"), Just("base:"), Just("x-y:z")];
    let queries = prop::collection::vec(queries, 0..3).prop_map(|queries| {
        let list =
            queries.iter().flat_map(|query| [&(query.len() as u32).to_be_bytes()[..], query.as_bytes()].concat());
        (queries.len() as u32).to_be_bytes().into_iter().chain(list).collect::<Vec<u8>>()
    });
    prop_oneof![
        4 => Just((8, Vec::new())),
        4 => (9..11_u32, name.clone(), queries).prop_map(|(option, name, more)| (option, [name, more].concat())),
        2 => (6..7_u32, name.clone(), wishes.clone()).prop_map(|(option, name, more)| (option, [name, more].concat())),
        2 => (name, wishes).prop_map(|(name, more)| (7, [name, more].concat())),
        1 => (0..12_u32, prop::collection::vec(any::<u8>(), 0..20)),
        1 => Just((1, b"drive".to_vec())),
        1 => (any::<u32>(), Just(vec![0; MAX_OPTION_BYTES as usize + 1])),
    ]
    .prop_map(|(option, data)| {
        [b"IHAVEOPT", &option.to_be_bytes()[..], &(data.len() as u32).to_be_bytes(), &data].concat()
    })
}

/// A request, mostly one that is known and within the drive, with its payload.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let flags = prop_oneof![4 => Just(0_u16), 4 => (0..5).prop_map(|bit| 1_u16 << bit), 1 => any::<u16>()];
    let offset = prop_oneof![8 => (0..260_u64).prop_map(|sector| sector * 4096), 1 => any::<u64>()];
    let length = prop_oneof![8 => (0..8_u32).prop_map(|sectors| sectors * 4096), 1 => 0..100_000_u32];
    (flags, 0..9_u16, any::<u64>(), offset, length).prop_map(|(flags, command, cookie, offset, length)| {
        let payload = if command == 1 { vec![b'w'; length as usize] } else { Vec::new() };
        let kind = [b"\x25\x60\x95\x13", &flags.to_be_bytes()[..], &command.to_be_bytes()].concat();
        [&kind[..], &cookie.to_be_bytes(), &offset.to_be_bytes(), &length.to_be_bytes(), &payload].concat()
    })
}

/// A client's stream: flags, options, a choice, requests, and here and there a byte that is wrong.
fn client() -> impl Strategy<Value = Vec<u8>> {
    let go = Just(b"IHAVEOPT\x00\x00\x00\x07\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00".to_vec());
    let flags = prop_oneof![8 => Just(3_u32), 1 => 0..5_u32];
    let options = prop::collection::vec(option(), 0..5);
    let requests = prop::collection::vec(request(), 0..12);
    let wrong = prop::option::weighted(0.3, (any::<prop::sample::Index>(), any::<u8>()));
    (flags, options, go, requests, wrong).prop_map(|(flags, options, go, requests, wrong)| {
        let mut bytes = [&flags.to_be_bytes()[..], &options.concat(), &go, &requests.concat()].concat();
        if let Some((place, byte)) = wrong {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes
    })
}

/// Reads replies as a client does: by the cookies of reads, since a simple reply does not tell its length.
struct Replied<'a> {
    rest: &'a [u8],
    reads: BTreeMap<u64, u32>,
}

impl<'a> Replied<'a> {
    fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        bytes
    }

    fn number(&mut self, length: usize) -> u64 {
        self.bytes(length).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// The cookie of the next reply, its error, and the stretch of the export that it told the contents of.
    fn reply(&mut self) -> (u64, u64, u64, u64) {
        if self.number(4) == 0x6744_6698 {
            let (error, cookie) = (self.number(4), self.number(8));
            let length = if error == 0 { self.reads.get(&cookie).copied().unwrap_or(0) } else { 0 };
            assert!(self.bytes(length as usize).iter().all(|byte| *byte == b'd'));
            return (cookie, error, 0, length.into());
        }
        self.chunks()
    }

    /// Chunks up to the last, after the first one's magic number.
    fn chunks(&mut self) -> (u64, u64, u64, u64) {
        let (mut first, mut end) = (None, None);
        loop {
            let (done, kind, cookie, length) = (self.number(2), self.number(2), self.number(8), self.number(4));
            let mut payload = Replied { rest: self.bytes(length as usize), reads: BTreeMap::new() };
            match kind {
                0x8001 | 0x8002 => {
                    assert_eq!(done, 1);
                    return (cookie, payload.number(4), 0, 0);
                }
                5 => {
                    assert_eq!((done, payload.number(4), payload.rest.len() % 8), (1, 1, 0));
                    return (cookie, 0, 0, 0);
                }
                1 | 2 => {
                    let offset = payload.number(8);
                    let told = if kind == 1 { payload.rest.len() as u64 } else { payload.number(4) };
                    assert!(told > 0 && end.is_none_or(|end| end == offset), "fragments follow each other");
                    first = first.or(Some(offset));
                    end = Some(offset + told);
                }
                kind => panic!("chunk {kind}"),
            }
            if done == 1 {
                let first = first.expect("a read");
                return (cookie, 0, first, end.expect("a read") - first);
            }
            assert_eq!(self.number(4), 0x668e_33ef);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any bytes, in any portions, are taken without a panic, and portions make no difference.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), portions in prop::collection::vec(1..40_usize, 1..5)) {
        assert_portions_do_not_matter(&bytes, &portions);
        assert_portions_do_not_matter(&[&[0, 0, 0, 3], &bytes[..]].concat(), &portions);
        let go = b"\x00\x00\x00\x03IHAVEOPT\x00\x00\x00\x07\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00";
        assert_portions_do_not_matter(&[go, &bytes[..]].concat(), &portions);
    }

    /// What a client sends comes to the same in any portions.
    #[test]
    fn portions_make_no_difference(bytes in client(), portions in prop::collection::vec(1..5000_usize, 1..5)) {
        assert_portions_do_not_matter(&bytes, &portions);
    }

    /// Each request has one reply with its cookie, which the client can read, and a read that succeeds is told whole.
    #[test]
    fn replies_are_read(requests in prop::collection::vec(request(), 0..12), structured in any::<bool>()) {
        let agree = b"IHAVEOPT\x00\x00\x00\x08\x00\x00\x00\x00".repeat(usize::from(structured));
        let select = b"\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0fbase:allocation";
        let select = [&b"IHAVEOPT\x00\x00\x00\x0a\x00\x00\x00\x1b"[..], select].concat();
        let go = b"IHAVEOPT\x00\x00\x00\x07\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00";
        let mut connection = Connection::new();
        connection.feed(&[&[0, 0, 0, 3], &agree[..], &select, go].concat());
        let Some(Seen::Step(Step::Go(agreed))) = connection.seen.last() else { panic!("{:?}", connection.seen) };
        prop_assert_eq!((agreed.structured_replies, agreed.base_allocation), (structured, structured));
        prop_assert_eq!(&agreed.export, &exports()[0]);
        connection.seen.clear();
        connection.out.clear();
        connection.feed(&requests.concat());
        let events = connection.seen.iter().filter_map(|seen| match seen {
            Seen::Event(Event::Request(request)) => Some((request.cookie, Some(*request))),
            Seen::Event(Event::Refused(refusal)) => Some((refusal.cookie, None)),
            _ => None,
        });
        let sent = requests.iter().map(|bytes| (u16::from_be_bytes([bytes[6], bytes[7]]), &bytes[8..16]));
        let sent = sent.take_while(|(command, _)| *command != 2).map(|(_, cookie)| cookie.to_vec());
        prop_assert!(sent.eq(events.clone().map(|(cookie, _)| cookie.to_be_bytes().to_vec())), "a request was missed");
        let is_read = |request: &Request| matches!(request.command, Command::Read { .. });
        let reads = events.clone().filter_map(|(cookie, request)| Some((cookie, request.filter(is_read)?.length)));
        let mut replied = Replied { rest: &connection.out, reads: reads.collect() };
        for (cookie, request) in events {
            let (replied_cookie, error, offset, length) = replied.reply();
            prop_assert_eq!(replied_cookie, cookie);
            prop_assert_eq!(error != 0, request.is_none() || cookie % 8 == 7);
            if let Some(request) = request.filter(is_read).filter(|_| error == 0) {
                prop_assert_eq!(length, u64::from(request.length));
                prop_assert!(!structured || offset == request.offset);
            }
        }
        prop_assert!(replied.rest.is_empty());
    }
}
