//! The text that blkparse prints of a blktrace:
//! `major,minor cpu sequence seconds pid action rwbs sector + sectors [process]`.
//!
//! Requests are taken where they were queued (action Q), or, where a trace has none, where they
//! were issued to the driver (D). Sectors are 512 bytes. `rwbs` names the kind: R, W, D for
//! discard; a leading F is a flush before it. A request of another kind (N has no data) is left out
//! and counted. The summary that blkparse adds is passed over; a line that is of neither, an action or a
//! kind that blkparse does not have, is refused.

use super::devices::Devices;
use super::left_out::LeftOut;
use super::{CUT, DAMAGED, Entry, Fault, number, seconds};
use ssdlab_device::block::Operation;

const SECTOR_BYTES: u64 = 512;
/// Actions of blkparse 1.3: its manual page, "Trace actions", and what it prints of plugs and messages.
const ACTIONS: &[&str] = &["A", "B", "C", "D", "F", "G", "I", "M", "P", "Q", "R", "S", "T", "U", "UT", "X", "m"];
/// Letters of a kind: reads, writes, discards, flushes, none, and their marks (ahead, barrier, metadata, sync,
/// secure).
const KINDS: &str = "RWDFNABMSE";
/// How lines of its summary begin.
const SUMMARY: &[&str] = &[
    "CPU",
    "Total",
    "Events",
    "Skips",
    "Input file",
    "Throughput",
    "Read",
    "Write",
    "PC Read",
    "PC Write",
    "IO unplugs",
    "Timer unplugs",
    "Allocation wait",
    "Dispatch wait",
    "Completion wait",
    "Discard",
    "Merges",
    "Trace started",
];
/// Up to the length; what follows is the name of the process.
const FIELDS: usize = 10;

/// Whether a line tells of an event: it begins with a device number.
pub(super) fn is_event(line: &str) -> bool {
    let device = line.split_whitespace().next().and_then(|field| field.split_once(','));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    device.is_some_and(|(major, minor)| digits(major) && digits(minor))
}

/// Whether a line tells of an event and of an action, so that it can be nothing else.
pub(super) fn is_whole_event(line: &str) -> bool {
    is_event(line) && line.split_ascii_whitespace().nth(5).is_some()
}

/// Which events are requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Q, where a request was queued.
    Queued,
    /// D, where it was issued to the driver.
    Issued,
}

impl Action {
    /// The requests of a line, as far as it has them.
    pub fn entries(
        self,
        line: u64,
        content: &str,
        devices: &mut Devices,
        left_out: &mut LeftOut,
    ) -> Result<[Option<Entry>; 2], Fault> {
        if !is_event(content) {
            return if is_summary(content) { Ok([None, None]) } else { Err(foreign(line, content)) };
        }
        let mut fields = [""; FIELDS];
        let found = content.split_ascii_whitespace().take(FIELDS);
        let count = found.zip(&mut fields).map(|(field, place)| *place = field).count();
        let fields = &fields[..count];
        let Some(action) = fields.get(5) else {
            return Err((line, "an action is missing".into(), CUT));
        };
        if !ACTIONS.contains(action) {
            return Err((line, format!("'{action}' is no action of blkparse"), DAMAGED));
        }
        let wanted = match self {
            Action::Queued => "Q",
            Action::Issued => "D",
        };
        if *action != wanted || !devices.takes(fields[0], line)? {
            return Ok([None, None]);
        }
        let requests = requests(fields, line)?;
        if requests == [None, None] && fields[6].starts_with(|kind| !matches!(kind, 'R' | 'W' | 'D')) {
            left_out
                .add(line, || format!("its kind is '{}', which neither reads, writes, trims nor flushes", fields[6]));
        }
        Ok(requests)
    }
}

/// Whether a line is of the summary: a heading such as `CPU0 (8,0):` or `fio (1234)`, or a count of its own.
fn is_summary(line: &str) -> bool {
    let is_heading = line.ends_with(')') && line.contains(" (");
    is_heading || SUMMARY.iter().any(|begin| line.starts_with(begin))
}

/// What a line of another program is told as.
fn foreign(line: u64, content: &str) -> Fault {
    let shown: String = content.chars().take(40).collect();
    (line, format!("'{shown}' is no line of blkparse"), DAMAGED)
}

/// The flush and the transfer that one event stands for, as far as it has them.
fn requests(fields: &[&str], line: u64) -> Result<[Option<Entry>; 2], Fault> {
    let at = seconds(fields[3], line)?;
    let Some(kind) = fields.get(6) else {
        return Err((line, "a kind is missing".into(), CUT));
    };
    if kind.is_empty() || !kind.chars().all(|letter| KINDS.contains(letter)) {
        return Err((line, format!("'{kind}' is no kind of request"), DAMAGED));
    }
    let flushes = kind.starts_with('F');
    let flush = flushes.then_some(Entry { at, operation: Operation::Flush, offset: 0, bytes: 0 });
    let operation = match kind.trim_start_matches('F').chars().next() {
        Some('R') => Operation::Read,
        Some('W') => Operation::Write,
        Some('D') => Operation::Trim,
        _ => return Ok([flush, None]),
    };
    let has_extent = fields.get(8) == Some(&"+");
    if flushes && !has_extent {
        return Ok([flush, None]);
    }
    let sector = number(fields.get(7).copied(), line, "sector")?;
    if !has_extent {
        return Err((line, "a length is missing".into(), CUT));
    }
    let sectors = number(fields.get(9).copied(), line, "length")?;
    let in_bytes = |sectors: u64| {
        let bytes = sectors.checked_mul(SECTOR_BYTES);
        bytes.ok_or_else(|| (line, format!("{sectors} sectors are too many"), DAMAGED))
    };
    let transfer = Entry { at, operation, offset: in_bytes(sector)?, bytes: in_bytes(sectors)? };
    Ok([flush, Some(transfer).filter(|transfer| transfer.bytes > 0)])
}

#[cfg(test)]
mod test {
    use super::super::{Trace, TraceOptions, parse_trace};
    use super::*;
    use ssdlab_device::units::Nanos;

    const TRACE: &str = "\
  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  Q   W 223490 + 8 [kjournald]
  8,0    3        3     0.000020000   697  D   W 223490 + 8 [kjournald]
  8,0    3        4     1.500001829   697  Q FWS [kjournald]
  8,0    3        5     1.500001900   697  Q   D 0 + 2048 [fstrim]
  8,0    3        6     1.600000000     0  C   W 223490 + 8 [0]
CPU3 (8,0):
 Reads Queued:           0,        0KiB
";

    /// Queued requests count, in bytes, from the first one's time; the rest is passed over.
    #[test]
    fn queue_events_become_requests() {
        let entry = |at, operation, offset, bytes| Entry { at: Nanos(at), operation, offset, bytes };
        let expected = vec![
            entry(0, Operation::Write, 223_490 * 512, 4096),
            entry(1_500_000_000, Operation::Flush, 0, 0),
            entry(1_500_000_071, Operation::Trim, 0, 1 << 20),
        ];
        assert_eq!(parse_trace(TRACE, "t"), Ok(expected));
    }

    /// Without queue events, those issued to the driver count.
    #[test]
    fn issue_events_stand_in() {
        let text = TRACE.replace("  Q ", "  M ");
        assert_eq!(parse_trace(&text, "t").unwrap().len(), 1);
    }

    /// A kind that moves no data is left out, and told with its first line.
    #[test]
    fn other_kinds_are_told() {
        let text = TRACE.to_string() + "  8,0    3        7     1.700000000   697  Q   N 0 + 0 [a]\n";
        let trace = Trace::of_text("t", &text, TraceOptions::default()).unwrap();
        assert_eq!(trace.survey().requests(), 3);
        let told = "t: 1 request is left out, the first in line 9: its kind is 'N', which neither reads, writes, trims nor flushes";
        assert_eq!(trace.left_out().as_deref(), Some(told));
    }

    /// A line, an action or a kind of another program is refused wherever it stands.
    #[test]
    fn nothing_foreign_is_passed_over() {
        let lines: Vec<&str> = TRACE.lines().collect();
        let strange = ["frobnication 7", "8,0 3 1 0.0 697 Z W 8 + 8 [a]", "8,0 3 1 0.0 697 Q X 8 + 8 [a]"];
        for (place, row) in (0..=lines.len()).flat_map(|place| strange.map(|row| (place, row))) {
            let mut changed = lines.clone();
            changed.insert(place, row);
            let error = parse_trace(&changed.join("\n"), "t").unwrap_err();
            assert_eq!(error.line, Some(place as u64 + 1), "{row}");
        }
    }

    /// A cut last line is named.
    #[test]
    fn a_cut_line_is_named() {
        let text = "8,0 3 1 0.0 697 Q W 8 + 8 [a]\n8,0 3 1 0.1 697 Q W 223";
        let error = parse_trace(text, "t").unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (Some(2), "a length is missing"));
        assert!(parse_trace(&text[..text.len() - 8], "t").unwrap_err().line == Some(2));
    }
}
