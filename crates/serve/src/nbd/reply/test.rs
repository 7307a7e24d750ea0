use super::super::export::example;
use super::*;

const COOKIE: u64 = 0x4142_4344_4546_4748;

fn replies(structured_replies: bool) -> Replies {
    Replies::new(&Agreed { export: example(), structured_replies, base_allocation: structured_replies })
}

fn request(command: Command) -> Request {
    Request { cookie: COOKIE, offset: 4096, length: 2048, command }
}

const READ: Command = Command::Read { dont_fragment: false };
const WHOLE: Command = Command::Read { dont_fragment: true };

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

/// A chunk as the specification spells it.
fn chunk(done: bool, kind: u16, length: u32, payload: &[u8]) -> Vec<u8> {
    let flags = [0, u8::from(done)];
    let head = [b"\x66\x8e\x33\xef", &flags[..], &kind.to_be_bytes(), b"ABCDEFGH"].concat();
    [&head[..], &length.to_be_bytes(), payload].concat()
}

const OFFSET: &[u8] = b"\x00\x00\x00\x00\x00\x00\x10\x00";

/// Without structured replies all replies are simple, and an error has its number alone.
#[test]
fn simple_by_hand() {
    let replies = replies(false);
    assert_eq!(written(|out| replies.done(out, COOKIE)), b"\x67\x44\x66\x98\x00\x00\x00\x00ABCDEFGH");
    assert_eq!(written(|out| replies.read(out, &request(READ))), b"\x67\x44\x66\x98\x00\x00\x00\x00ABCDEFGH");
    let error = written(|out| replies.error_at(out, COOKIE, Error::Eio, "a media error", 4608));
    assert_eq!(error, b"\x67\x44\x66\x98\x00\x00\x00\x05ABCDEFGH");
    assert!(replies.fragments(&request(READ)).is_none());
}

/// A read in one piece is one chunk, the last; the same where it must not be fragmented.
#[test]
fn a_whole_read_by_hand() {
    for command in [READ, WHOLE] {
        let head = written(|out| replies(true).read(out, &request(command)));
        assert_eq!(head, chunk(true, 1, 2056, OFFSET));
    }
    assert!(replies(true).fragments(&request(WHOLE)).is_none());
}

/// Fragments follow each other from the request's offset, the last one says so, and none goes beyond the end.
#[test]
fn fragments_by_hand() {
    let mut fragments = replies(true).fragments(&request(READ)).expect("structured");
    assert_eq!(written(|out| assert_eq!(fragments.data(out, 512), 512)), chunk(false, 1, 520, OFFSET));
    assert_eq!(written(|out| assert_eq!(fragments.hole(out, 0), 0)), b"");
    let hole = written(|out| assert_eq!(fragments.hole(out, 1024), 1024));
    assert_eq!(hole, chunk(false, 2, 12, b"\x00\x00\x00\x00\x00\x00\x12\x00\x00\x00\x04\x00"));
    assert_eq!(fragments.left(), 512);
    let last = written(|out| assert_eq!(fragments.hole(out, 4096), 512));
    assert_eq!(last, chunk(true, 2, 12, b"\x00\x00\x00\x00\x00\x00\x16\x00\x00\x00\x02\x00"));
    assert_eq!(written(|out| assert_eq!(fragments.data(out, 512), 0)), b"");
}

/// An error is a chunk with its number, words, and an offset where there is one.
#[test]
fn errors_by_hand() {
    let error = written(|out| replies(true).error(out, COOKIE, Error::Eperm, "no"));
    assert_eq!(error, chunk(true, 0x8001, 8, b"\x00\x00\x00\x01\x00\x02no"));
    let error = written(|out| replies(true).error_at(out, COOKIE, Error::Eio, "", 4096));
    assert_eq!(error, chunk(true, 0x8002, 14, &[b"\x00\x00\x00\x05\x00\x00", OFFSET].concat()));
    let refusal = Refusal { cookie: COOKIE, error: Error::Einval, why: "no" };
    let error = written(|out| replies(true).refused(out, &refusal));
    assert_eq!(error, chunk(true, 0x8001, 8, b"\x00\x00\x00\x16\x00\x02no"));
}

/// Words are cut at 4096 bytes, never inside a character.
#[test]
fn long_words_are_cut() {
    for (words, kept) in [("x".repeat(5000), 4096), ("é".repeat(3000), 4096), (format!("x{}", "é".repeat(3000)), 4095)]
    {
        let error = written(|out| replies(true).error(out, COOKIE, Error::Eio, &words));
        assert_eq!(error.len(), 20 + 6 + kept);
        assert!(std::str::from_utf8(&error[26..]).is_ok());
    }
}

fn extent(length: u64, hole: bool, zero: bool) -> Extent {
    Extent { length, hole, zero }
}

fn status(one: bool, extents: &[Extent]) -> Vec<u8> {
    written(|out| replies(true).block_status(out, &request(Command::BlockStatus { one }), extents.iter().copied()))
}

/// Neighbours of one status are one extent, the last ends with the request, and one is all where one was asked for.
#[test]
fn block_status_by_hand() {
    let extents =
        [extent(512, false, false), extent(0, true, true), extent(512, false, false), extent(u64::MAX, true, true)];
    let two = b"\x00\x00\x00\x01\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x03";
    assert_eq!(status(false, &extents), chunk(true, 5, 20, two));
    let one = b"\x00\x00\x00\x01\x00\x00\x04\x00\x00\x00\x00\x00";
    assert_eq!(status(true, &extents), chunk(true, 5, 12, one));
    let all = b"\x00\x00\x00\x01\x00\x00\x08\x00\x00\x00\x00\x02";
    assert_eq!(status(true, &[extent(4096, false, true)]), chunk(true, 5, 12, all));
    let unknown = b"\x00\x00\x00\x01\x00\x00\x08\x00\x00\x00\x00\x00";
    assert_eq!(status(false, &[]), chunk(true, 5, 12, unknown));
}

/// No more extents are told than the reply may hold, and an endless description ends.
#[test]
fn extents_are_bounded() {
    let request = Request { length: 1 << 30, ..request(Command::BlockStatus { one: false }) };
    let alternating = (0..).map(|index| extent(512, index % 2 == 0, false));
    let out = written(|out| replies(true).block_status(out, &request, alternating));
    assert_eq!(out.len(), 24 + 8 * MAX_EXTENTS);
    let out = written(|out| replies(true).block_status(out, &request, std::iter::repeat(extent(512, true, true))));
    assert_eq!(out.len(), 24 + 8);
}
