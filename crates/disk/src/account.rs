//! What a drive did since its checkpoint, as the bytes of a file: written in place while the drive is open.
//!
//! ```text
//! 0      head: text, then zeroes: "ssdlab since 1", the checkpoint that it follows by its hash, units, open or put-away
//! 4096   counters, in two places by turns, each a line with its CRC-32, its number, and a line a counter
//! 12288  marks of units, four in a byte ([`Since`])
//! ```
//! A process that ends in the middle of a write leaves the other place of counters whole; a mark is a part of one byte.

use crate::since::Since;
use ssdlab_device::counters::Counters;
use twox_hash::XxHash64;

const PLACE_BYTES: usize = 4096;
const MARKS: usize = 3 * PLACE_BYTES;
const MAGIC: &str = "ssdlab since 1";

/// Where marks begin.
pub const MARKS_AT: u64 = MARKS as u64;

/// No drive has more units, and no account more bytes.
pub const MOST_BYTES: u64 = MARKS_AT + (1 << 30);

/// What the file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// What was written and trimmed.
    pub since: Since,
    /// What was counted, where it was.
    pub counters: Option<Counters>,
    /// How often counters were written.
    pub notes: u64,
    /// The drive was put away before it was closed.
    pub was_put_away: bool,
}

impl Account {
    /// From the bytes of a file that follows a checkpoint.
    ///
    /// # Errors
    /// What is wrong with them, as the rest of a sentence about the file.
    pub fn read(bytes: &[u8], checkpoint: &[u8]) -> Result<Account, String> {
        let head = bytes.get(..PLACE_BYTES).ok_or("is truncated: its header is missing")?;
        let (head, rest) = head.split_at(head.iter().position(|byte| *byte == 0).unwrap_or(PLACE_BYTES));
        let head = std::str::from_utf8(head).map_err(|_| "its header is not text")?;
        let mut lines = head.lines();
        if lines.next() != Some(MAGIC) {
            return Err("is from another version of ssdlab, or not a drive's `since` file".into());
        }
        let value = |line: Option<&str>, name: &str| -> Result<String, String> {
            let value = line.and_then(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_string));
            value.ok_or_else(|| format!("its header has no line `{name}`"))
        };
        let follows = value(lines.next(), "checkpoint")?;
        let (counted, state) = (value(lines.next(), "units")?, value(lines.next(), "drive")?);
        if follows != name_of(checkpoint) {
            return Err("does not follow the checkpoint drive.ssd that lies beside it".into());
        }
        if let Some(line) = lines.next() {
            return Err(format!("its header has an unknown line: `{line}`"));
        }
        if rest.iter().any(|byte| *byte != 0) {
            return Err("has unknown bytes after its header".into());
        }
        let units = counted.parse().map_err(|_| format!("its header says `{counted}` units, which is not a number"))?;
        let was_put_away = match state.as_str() {
            "put-away" => true,
            "open" => false,
            other => return Err(format!("says that the drive is `{other}`; expected put-away or open")),
        };
        let marks = bytes.get(MARKS..).ok_or("is truncated: its marks are missing")?.to_vec();
        let since = Since::from_bytes(units, marks).ok_or("its marks are truncated or damaged")?;
        let kept = (1..3).filter_map(|place| read_counters(bytes.get(place * PLACE_BYTES..(place + 1) * PLACE_BYTES)?));
        let last = kept.max_by_key(|(note, _)| *note);
        Ok(Account {
            since,
            counters: last.map(|(_, counters)| counters),
            notes: last.map_or(0, |(note, _)| note),
            was_put_away,
        })
    }
}

/// The bytes of an account that follows a checkpoint.
pub fn to_bytes(checkpoint: &[u8], since: &Since, is_put_away: bool) -> Vec<u8> {
    let mut bytes = head(checkpoint, since.units(), is_put_away);
    bytes.resize(MARKS, 0);
    bytes.extend(since.bytes());
    bytes
}

/// The head of an account.
pub fn head(checkpoint: &[u8], units: u32, is_put_away: bool) -> Vec<u8> {
    let state = if is_put_away { "put-away" } else { "open" };
    let mut head = format!("{MAGIC}\ncheckpoint {}\nunits {units}\ndrive {state}\n", name_of(checkpoint)).into_bytes();
    head.resize(PLACE_BYTES, 0);
    head
}

/// What an account calls its checkpoint. A CRC-32 would be the same for all bytes that end with their own CRC-32, as a
/// drive file's do.
fn name_of(checkpoint: &[u8]) -> String {
    format!("{:016x}", XxHash64::oneshot(0, checkpoint))
}

/// The text before the zeroes that fill a place up.
fn text_of(place: &[u8]) -> Option<&str> {
    let end = place.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&place[..end]).ok()
}

/// Counters for the turn of that number: where they are written, and what.
pub fn counters_place(note: u64, counters: &Counters) -> (u64, Vec<u8>) {
    let mut text = format!("note {note}\n");
    for (name, value) in counters.entries().filter(|(_, value)| *value != 0) {
        text += &format!("{name} {value}\n");
    }
    let mut place = format!("{:08x}\n{text}", crc32fast::hash(text.as_bytes())).into_bytes();
    debug_assert!(place.len() < PLACE_BYTES);
    place.resize(PLACE_BYTES, 0);
    ((1 + note % 2) * PLACE_BYTES as u64, place)
}

/// The number of the note and the counters; nothing where the place was never written, or not to its end.
fn read_counters(place: &[u8]) -> Option<(u64, Counters)> {
    let (sum, text) = text_of(place)?.split_once('\n')?;
    if u32::from_str_radix(sum, 16).ok()? != crc32fast::hash(text.as_bytes()) {
        return None;
    }
    let value_of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse().ok())
    };
    Some((value_of("note")?, Counters::by_name(value_of)))
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::since::Mark;

    const CHECKPOINT: &[u8] = b"a checkpoint";

    fn marked() -> Since {
        let mut since = Since::new(9);
        since.mark(2..4, Mark::Written);
        since.mark(8..9, Mark::Trimmed);
        since
    }

    fn read(bytes: &[u8]) -> Result<Account, String> {
        Account::read(bytes, CHECKPOINT)
    }

    fn put(bytes: &mut [u8], (at, place): (u64, Vec<u8>)) {
        bytes[at as usize..][..place.len()].copy_from_slice(&place);
    }

    /// What is written is read; of the counters the newest that is whole.
    #[test]
    fn what_is_written_is_read() {
        let mut bytes = to_bytes(CHECKPOINT, &marked(), true);
        let account = read(&bytes).unwrap();
        assert_eq!(account.since.bytes(), marked().bytes());
        assert_eq!((account.counters, account.notes, account.was_put_away), (None, 0, true));

        let counted = |host_writes| Counters { host_writes, host_flushes: 1, ..Counters::default() };
        put(&mut bytes, counters_place(4, &counted(40)));
        put(&mut bytes, counters_place(5, &counted(50)));
        put(&mut bytes, (0, head(CHECKPOINT, 9, false)));
        let account = read(&bytes).unwrap();
        assert_eq!((account.counters, account.notes, account.was_put_away), (Some(counted(50)), 5, false));

        let (at, place) = counters_place(5, &counted(50));
        let end = place.iter().position(|byte| *byte == 0).unwrap();
        bytes[at as usize + end - 2] ^= 1;
        assert_eq!(read(&bytes).unwrap().counters, Some(counted(40)), "the other place is whole");
    }

    /// All counters at their greatest fit their place.
    #[test]
    fn counters_fit_their_place() {
        let all = Counters::by_name(|_| Some(u64::MAX));
        let (_, place) = counters_place(u64::MAX, &all);
        assert_eq!(place.len(), PLACE_BYTES);
        assert_eq!(read_counters(&place), Some((u64::MAX, all)));
    }

    /// Checkpoints that end with their own CRC-32 are told apart, wherever they differ.
    #[test]
    fn checkpoints_are_told_apart() {
        let sealed = |text: &str| {
            let sum = crc32fast::hash(text.as_bytes()).to_le_bytes();
            [text.as_bytes(), &sum].concat()
        };
        let all = ["0123456789", "x123456789", "012345678x"].map(sealed);
        for one in &all {
            let account = to_bytes(one, &marked(), true);
            let follows = all.iter().filter(|other| Account::read(&account, other).is_ok());
            assert_eq!(follows.count(), 1);
        }
    }

    /// Whatever is wrong is named.
    #[test]
    fn what_is_wrong_is_named() {
        let mut bytes = to_bytes(CHECKPOINT, &marked(), true);
        let wrong = |bytes: &[u8]| read(bytes).unwrap_err();
        assert_eq!(wrong(&bytes[..100]), "is truncated: its header is missing");
        assert_eq!(wrong(&bytes[..MARKS - 1]), "is truncated: its marks are missing");
        assert_eq!(wrong(&bytes[..bytes.len() - 1]), "its marks are truncated or damaged");
        let other = Account::read(&bytes, b"another").unwrap_err();
        assert_eq!(other, "does not follow the checkpoint drive.ssd that lies beside it");
        bytes[..PLACE_BYTES].copy_from_slice(&head(CHECKPOINT, 19, true));
        assert_eq!(wrong(&bytes), "its marks are truncated or damaged");
        bytes[0] ^= 1;
        assert_eq!(wrong(&bytes), "is from another version of ssdlab, or not a drive's `since` file");
        let mut bytes = to_bytes(CHECKPOINT, &marked(), true);
        let end = bytes.iter().position(|byte| *byte == 0).unwrap();
        bytes[PLACE_BYTES - 1] = 7;
        assert_eq!(wrong(&bytes), "has unknown bytes after its header");
        bytes[end..end + 7].copy_from_slice(b"frob 7\n");
        assert_eq!(wrong(&bytes), "its header has an unknown line: `frob 7`");
    }
}
