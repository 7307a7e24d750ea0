use super::super::export::{Export, example};
use super::*;

fn agreed(export: Export) -> Agreed {
    Agreed { export, structured_replies: true, base_allocation: true }
}

fn head(command: u16, flags: u16, offset: u64, length: u32) -> RequestHead {
    RequestHead { magic: wire::NBD_REQUEST_MAGIC, flags, command, cookie: 9, offset, length }
}

fn error(agreed: &Agreed, head: RequestHead) -> Option<Error> {
    check(&head, agreed).err().map(|refusal| refusal.error)
}

const FUA: u16 = 1;
const NO_HOLE: u16 = 2;
const DF: u16 = 4;
const REQ_ONE: u16 = 8;
const FAST_ZERO: u16 = 16;

/// Each command with all its flags becomes what it asks for.
#[test]
fn commands_by_hand() {
    let command = |command, flags| check(&head(command, flags, 512, 1024), &agreed(example())).map(|r| r.command);
    assert_eq!(command(0, FUA), Ok(Command::Read { dont_fragment: false }));
    assert_eq!(command(0, DF), Ok(Command::Read { dont_fragment: true }));
    assert_eq!(command(1, FUA), Ok(Command::Write { fua: true }));
    assert_eq!(command(1, 0), Ok(Command::Write { fua: false }));
    assert_eq!(command(4, FUA), Ok(Command::Trim { fua: true }));
    assert_eq!(command(5, FUA), Ok(Command::Cache));
    assert_eq!(command(6, FAST_ZERO), Ok(Command::WriteZeroes { fua: false, no_hole: false }));
    assert_eq!(command(6, FUA | NO_HOLE), Ok(Command::WriteZeroes { fua: true, no_hole: true }));
    assert_eq!(command(7, REQ_ONE | FUA), Ok(Command::BlockStatus { one: true }));
    let flush = check(&head(3, FUA, 0, 0), &agreed(example()));
    assert_eq!(flush, Ok(Request { cookie: 9, offset: 0, length: 0, command: Command::Flush }));
}

/// A flag is refused where it means nothing or was not offered; unknown commands are.
#[test]
fn flags_and_commands_that_are_unknown() {
    let all = agreed(example());
    let known = [DF | FUA, FUA, 0, FUA, FUA, FUA, FUA | NO_HOLE | FAST_ZERO, FUA | REQ_ONE];
    for (command, known) in (0..).zip(known).filter(|(command, _)| *command != wire::NBD_CMD_DISC) {
        let length = if command == wire::NBD_CMD_FLUSH { 0 } else { 512 };
        for flag in (0..16).map(|bit| 1 << bit) {
            let expected = (known & flag == 0).then_some(Error::Einval);
            assert_eq!(error(&all, head(command, flag, 0, length)), expected, "{command} {flag:#x}");
        }
    }
    assert_eq!(error(&all, head(8, 0, 0, 512)), Some(Error::Einval));
    let simple = Agreed { structured_replies: false, base_allocation: false, ..all };
    assert_eq!(error(&simple, head(0, DF, 0, 512)), Some(Error::Einval));
    let plain = agreed(Export { fua: false, trim: false, ..example() });
    assert_eq!(error(&plain, head(1, FUA, 0, 512)), Some(Error::Einval));
    assert_eq!(error(&plain, head(6, FAST_ZERO, 0, 512)), Some(Error::Einval));
}

/// What was not offered is refused, and only that.
#[test]
fn only_what_was_offered() {
    let bare = Export { trim: false, flush: false, cache: false, write_zeroes: false, ..example() };
    let bare = Agreed { export: bare, structured_replies: true, base_allocation: false };
    for command in [4, 5, 6, 7] {
        assert_eq!(error(&bare, head(command, 0, 0, 512)), Some(Error::Einval), "{command}");
    }
    assert_eq!(error(&bare, head(3, 0, 0, 0)), Some(Error::Einval));
    assert_eq!(error(&bare, head(0, 0, 0, 512)), None);
    assert_eq!(error(&bare, head(1, 0, 0, 512)), None);
}

/// Nothing is written to what is read-only, and all else goes on.
#[test]
fn read_only() {
    let export = agreed(Export { read_only: true, ..example() });
    for (command, expected) in [(0, None), (1, Some(())), (4, Some(())), (5, None), (6, Some(())), (7, None)] {
        let expected = expected.map(|()| Error::Eperm);
        assert_eq!(error(&export, head(command, 0, 0, 512)), expected, "{command}");
    }
    assert_eq!(error(&export, head(3, 0, 0, 0)), None);
}

/// The last sector is within; one more is not, and no sum of offset and length comes round.
#[test]
fn the_end_of_the_export() {
    let export = agreed(example());
    let beyond = [Error::Einval, Error::Enospc, Error::Einval, Error::Einval, Error::Enospc, Error::Einval];
    for (command, beyond) in [0, 1, 4, 5, 6, 7].into_iter().zip(beyond) {
        assert_eq!(error(&export, head(command, 0, (1 << 20) - 512, 512)), None);
        assert_eq!(error(&export, head(command, 0, (1 << 20) - 512, 1024)), Some(beyond), "{command}");
        assert_eq!(error(&export, head(command, 0, u64::MAX - 511, 512)), Some(beyond), "{command}");
    }
}

/// Whole sectors, and at least one; a flush has neither offset nor length.
#[test]
fn sectors() {
    for minimum_block in [512_u32, 4096] {
        let export = agreed(Export { minimum_block, ..example() });
        let sector = u64::from(minimum_block);
        assert_eq!(error(&export, head(0, 0, sector, minimum_block)), None);
        for (offset, length) in [(sector, 0), (sector / 2, minimum_block), (sector, minimum_block / 2), (1, 1)] {
            assert_eq!(error(&export, head(0, 0, offset, length)), Some(Error::Einval), "{offset} {length}");
        }
    }
    assert_eq!(error(&agreed(example()), head(3, 0, 512, 0)), Some(Error::Einval));
    assert_eq!(error(&agreed(example()), head(3, 0, 0, 512)), Some(Error::Einval));
}

/// Reads and writes carry no more than was said; what carries nothing may be longer.
#[test]
fn maximum_payload() {
    let structured = agreed(Export { maximum_payload: 4096, ..example() });
    let simple = Agreed { structured_replies: false, ..structured.clone() };
    assert_eq!(error(&structured, head(0, 0, 0, 4096)), None);
    assert_eq!(error(&structured, head(0, 0, 0, 4608)), Some(Error::Eoverflow));
    assert_eq!(error(&simple, head(0, 0, 0, 4608)), Some(Error::Einval));
    assert_eq!(error(&structured, head(1, 0, 0, 4608)), Some(Error::Einval));
    for command in [4, 5, 6, 7] {
        assert_eq!(error(&structured, head(command, 0, 0, 1 << 20)), None);
    }
}

/// Zeroes without a hole are data to the drive, so they are not fast.
#[test]
fn fast_zeroes() {
    let export = agreed(example());
    assert_eq!(error(&export, head(6, FAST_ZERO, 0, 512)), None);
    assert_eq!(error(&export, head(6, FAST_ZERO | NO_HOLE, 0, 512)), Some(Error::Enotsup));
}

/// Errors have the numbers of the specification.
#[test]
fn numbers_of_errors() {
    let errors = [Error::Eperm, Error::Eio, Error::Einval, Error::Enospc, Error::Eoverflow, Error::Enotsup];
    assert_eq!(errors.map(|error| error as u32), [1, 5, 22, 28, 75, 95]);
    assert_eq!(Error::Eshutdown as u32, 108);
}
