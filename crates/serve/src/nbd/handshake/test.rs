use super::super::export::example;
use super::*;

fn shaken(flags: u32) -> Handshake {
    let second = Export { name: "second".into(), description: String::new(), size: 4096, read_only: true, ..example() };
    let mut handshake = Handshake::new(Arc::new([example(), second])).expect("good exports");
    assert_eq!(handshake.take(&flags.to_be_bytes(), &mut Vec::new()), (4, Step::More));
    handshake
}

/// An option as a client sends it.
fn option(option: u32, data: &[u8]) -> Vec<u8> {
    [b"IHAVEOPT", &option.to_be_bytes()[..], &(data.len() as u32).to_be_bytes(), data].concat()
}

/// A reply as the specification spells it.
fn reply(option: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let magic = 0x0003_e889_0455_65a9_u64.to_be_bytes();
    [&magic[..], &option.to_be_bytes(), &kind.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data].concat()
}

/// Sends an option, whole, to a client's handshake.
fn send(handshake: &mut Handshake, number: u32, data: &[u8]) -> (Step, Vec<u8>) {
    let (bytes, mut out) = (option(number, data), Vec::new());
    let (taken, step) = handshake.take(&bytes, &mut out);
    assert_eq!(taken, bytes.len());
    (step, out)
}

/// The type of the last reply, where it has a text or nothing.
fn kind(out: &[u8]) -> u32 {
    u32::from_be_bytes(out[12..16].try_into().expect("four bytes"))
}

const INVALID: u32 = 0x8000_0003;
const UNKNOWN: u32 = 0x8000_0006;

/// The old option answers with size and flags, and 124 zeroes unless the client does without; flags tell of no DF.
#[test]
fn export_name_by_hand() {
    for (flags, zeroes) in [(0, 124), (1, 124), (2, 0), (3, 0)] {
        let (step, out) = send(&mut shaken(flags), 1, b"drive");
        assert_eq!(out, [&b"\x00\x00\x00\x00\x00\x10\x00\x00\x0d\x6d"[..], &vec![0; zeroes]].concat());
        let agreed = Agreed { export: example(), structured_replies: false, base_allocation: false };
        assert_eq!(step, Step::Go(Box::new(agreed)));
    }
    let (step, out) = send(&mut shaken(3), 1, b"no\nsuch");
    assert_eq!((step, out.len()), (Step::Broken(Violation::UnknownExport("no\\nsuch".into())), 0));
}

/// Go and info tell the export and its blocks always, name and description where asked; only go ends the handshake.
#[test]
fn info_and_go_by_hand() {
    let mut handshake = shaken(3);
    let blocks = b"\x00\x03\x00\x00\x02\x00\x00\x00\x10\x00\x02\x00\x00\x00";
    let (step, out) = send(&mut handshake, 6, b"\x00\x00\x00\x06second\x00\x00");
    assert_eq!(step, Step::Answered);
    let export = b"\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x05\x0f";
    assert_eq!(out, [reply(6, 3, export), reply(6, 3, blocks), reply(6, 1, b"")].concat());
    // The default export, with an information that nobody knows among those asked for.
    let (step, out) = send(&mut handshake, 7, b"\x00\x00\x00\x00\x00\x04\x00\x01\x00\x02\x00\x03\x00\x09");
    assert!(matches!(step, Step::Go(agreed) if agreed.export == example()));
    let export = b"\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x0d\x6d";
    let named = [reply(7, 3, b"\x00\x01drive"), reply(7, 3, b"\x00\x02a drive")].concat();
    assert_eq!(out, [reply(7, 3, export), reply(7, 3, blocks), named, reply(7, 1, b"")].concat());
}

/// What is no request of information is refused, and an unknown name, and the client may go on.
#[test]
fn wrong_info_is_refused() {
    let mut handshake = shaken(3);
    for data in [&b""[..], b"\x00\x00\x00\x05a\x00\x00", b"\x00\x00\x00\x00\x00\x01", b"\x00\x00\x00\x00\x00\x00\x00"] {
        let (step, out) = send(&mut handshake, 7, data);
        assert_eq!((step, kind(&out)), (Step::Answered, INVALID), "{data:?}");
    }
    let (step, out) = send(&mut handshake, 7, b"\x00\x00\x00\x01\xff\x00\x00");
    assert_eq!((step, kind(&out)), (Step::Answered, UNKNOWN));
    assert!(matches!(send(&mut handshake, 7, b"\x00\x00\x00\x00\x00\x00").0, Step::Go(_)));
}

/// The list has a reply for each export, the description after the name.
#[test]
fn list_by_hand() {
    let mut handshake = shaken(3);
    let (first, second) = (b"\x00\x00\x00\x05drivea drive", b"\x00\x00\x00\x06second");
    let expected = [reply(3, 2, first), reply(3, 2, second), reply(3, 1, b"")].concat();
    assert_eq!(send(&mut handshake, 3, b""), (Step::Answered, expected));
    assert_eq!(kind(&send(&mut handshake, 3, b"x").1), INVALID);
}

/// An abort is acknowledged, with data too, and ends it for good.
#[test]
fn abort_ends() {
    let mut handshake = shaken(3);
    assert_eq!(send(&mut handshake, 2, b"bye"), (Step::Aborted, reply(2, 1, b"")));
    assert_eq!(handshake.take(&option(3, b""), &mut Vec::new()), (0, Step::Aborted));
}

/// TLS, withdrawn options and those of extensions are refused, and the connection goes on.
#[test]
fn unknown_options_are_refused() {
    let mut handshake = shaken(3);
    for number in [0, 4, 5, 11, 12, u32::MAX] {
        let (step, out) = send(&mut handshake, number, b"");
        assert_eq!((step, kind(&out)), (Step::Answered, 0x8000_0001), "{number}");
    }
    assert_eq!(kind(&send(&mut handshake, 5, b"x").1), INVALID);
    assert_eq!(kind(&send(&mut handshake, 11, b"x").1), 0x8000_0001);
}

/// Contexts need structured replies; listing knows the wildcard and no query at all, selecting the name alone.
#[test]
fn contexts_by_hand() {
    let query = |queries: &[&[u8]]| {
        let queries = queries.iter().map(|query| [&(query.len() as u32).to_be_bytes()[..], query].concat());
        let queries: Vec<_> = queries.collect();
        [&b"\x00\x00\x00\x05drive"[..], &(queries.len() as u32).to_be_bytes(), &queries.concat()].concat()
    };
    let mut handshake = shaken(3);
    assert_eq!(kind(&send(&mut handshake, 9, &query(&[])).1), INVALID);
    assert_eq!(kind(&send(&mut handshake, 10, &query(&[b"base:allocation"])).1), INVALID);
    assert_eq!(kind(&send(&mut handshake, 8, b"x").1), INVALID);
    assert_eq!(send(&mut handshake, 8, b""), (Step::Answered, reply(8, 1, b"")));
    let cases: [(&[&[u8]], bool, bool); 6] = [
        (&[], true, false),
        (&[b"base:"], true, false),
        (&[b"base:allocation"], true, true),
        (&[b"qemu:dirty-bitmap:x", b"base:allocation", b"base:allocation"], true, true),
        (&[b"base:else", b"x-other:", b"nothing"], false, false),
        (&[b"base:allocation "], false, false),
    ];
    for (queries, listed, selected) in cases {
        for (number, found, id) in [(9, listed, b"\0\0\0\0"), (10, selected, b"\0\0\0\x01")] {
            let context = reply(number, 4, &[&id[..], b"base:allocation"].concat());
            let expected = [if found { context } else { Vec::new() }, reply(number, 1, b"")].concat();
            assert_eq!(send(&mut handshake, number, &query(queries)), (Step::Answered, expected), "{queries:?}");
        }
        assert_eq!(handshake.base_allocation, selected.then_some(0));
    }
    let mut short = query(&[b"base:allocation"]);
    short.pop();
    assert_eq!(kind(&send(&mut handshake, 10, &short).1), INVALID);
    assert_eq!(kind(&send(&mut handshake, 10, b"\x00\x00\x00\x04none\x00\x00\x00\x00").1), UNKNOWN);
}

/// Block status is agreed on only for the export that it was selected for, and a failed selection takes it back.
#[test]
fn a_context_belongs_to_its_export() {
    let select = b"\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0fbase:allocation";
    for (again, name, expected) in
        [(false, &b"drive"[..], true), (false, b"second", false), (false, b"", true), (true, b"drive", false)]
    {
        let mut handshake = shaken(3);
        send(&mut handshake, 8, b"");
        send(&mut handshake, 10, select);
        if again {
            assert_eq!(kind(&send(&mut handshake, 10, b"").1), INVALID);
        }
        let Step::Go(agreed) = send(&mut handshake, 1, name).0 else { panic!("the export is there") };
        assert_eq!((agreed.structured_replies, agreed.base_allocation), (true, expected));
    }
}

/// Each breach ends the connection with its reason.
#[test]
fn breaches_end_it() {
    let broken = |flags, bytes: &[u8]| match shaken(flags).take(bytes, &mut Vec::new()).1 {
        Step::Broken(violation) => violation,
        step => panic!("{step:?}"),
    };
    let mut handshake = Handshake::new(Arc::new([])).expect("no export is wrong");
    let (_, step) = handshake.take(&7_u32.to_be_bytes(), &mut Vec::new());
    assert_eq!(step, Step::Broken(Violation::ClientFlags(7)));
    assert_eq!(broken(3, b"GET / HTTP/1.1\r\n"), Violation::OptionMagic(u64::from_be_bytes(*b"GET / HT")));
    assert_eq!(broken(0, &option(7, b"")), Violation::NotFixedNewstyle(7));
    let head = |option: u32, length: u32| [b"IHAVEOPT", &option.to_be_bytes()[..], &length.to_be_bytes()].concat();
    let too_long = |option, length, limit| Violation::OptionTooLong { option, length, limit };
    assert_eq!(broken(3, &head(1, 65_537)), too_long(1, 65_537, 65_536));
    assert_eq!(broken(3, &head(9, u32::MAX)), too_long(9, u32::MAX, 1 << 25));
}

/// A long option is skipped in portions without being kept, answered at its end, and the next one is understood.
#[test]
fn long_options_are_skipped() {
    let mut handshake = shaken(3);
    let (bytes, mut out) = (option(99, &vec![7; 100_000]), Vec::new());
    for portion in bytes.chunks(30_000) {
        assert!(out.is_empty());
        assert_eq!(handshake.take(portion, &mut out).0, portion.len());
        assert!(handshake.kept.capacity() <= 1 << 16);
    }
    assert_eq!(kind(&out), 0x8000_0009);
    assert_eq!(send(&mut handshake, 8, b""), (Step::Answered, reply(8, 1, b"")));
}

/// Messages in one portion come one a call, and what follows the choice is left for the session.
#[test]
fn what_follows_is_left() {
    let mut handshake = shaken(3);
    let bytes = [option(8, b""), option(7, b"\0\0\0\0\0\0"), b"requests".to_vec()].concat();
    let (first, step) = handshake.take(&bytes, &mut Vec::new());
    assert_eq!((first, step), (16, Step::Answered));
    let (second, step) = handshake.take(&bytes[first..], &mut Vec::new());
    assert!(matches!(step, Step::Go(_)));
    assert_eq!(&bytes[first + second..], b"requests");
}
