//! The text that blkparse prints of a blktrace:
//! `major,minor cpu sequence seconds pid action rwbs sector + sectors [process]`.
//!
//! Requests are taken where they were queued (action Q), or, where a trace has none, where they
//! were issued to the driver (D). Sectors are 512 bytes. `rwbs` names the kind: R, W, D for
//! discard; a leading F is a flush before it. The summary that blkparse adds is passed over.

use super::{CUT, DAMAGED, Entry, Fault, number, numbered};
use ssdlab_device::block::Operation;
use ssdlab_device::units::Nanos;

const SECTOR_BYTES: u64 = 512;

/// Whether a line tells of an event: it begins with a device number.
pub(super) fn is_event(line: &str) -> bool {
    let device = line.split_whitespace().next().and_then(|field| field.split_once(','));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    device.is_some_and(|(major, minor)| digits(major) && digits(minor))
}

pub(super) fn parse(text: &str) -> Result<Vec<Entry>, Fault> {
    let (mut queued, mut issued) = (Vec::new(), Vec::new());
    let mut device = None;
    for (line, content) in numbered(text).filter(|(_, content)| is_event(content)) {
        let fields: Vec<&str> = content.split_whitespace().collect();
        let Some(action) = fields.get(5) else {
            return Err((line, "an action is missing".into(), CUT));
        };
        let entries = match *action {
            "Q" => &mut queued,
            "D" => &mut issued,
            _ => continue,
        };
        if *device.get_or_insert(fields[0]) != fields[0] {
            let message = format!("{} is a second device in the trace", fields[0]);
            return Err((line, message, "a trace is played on one drive: split it by device"));
        }
        entries.extend(requests(&fields, line)?.into_iter().flatten());
    }
    Ok(if queued.is_empty() { issued } else { queued })
}

/// The flush and the transfer that one event stands for, as far as it has them.
fn requests(fields: &[&str], line: u32) -> Result<[Option<Entry>; 2], Fault> {
    let at = seconds(fields[3], line)?;
    let Some(kind) = fields.get(6) else {
        return Err((line, "a kind is missing".into(), CUT));
    };
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

/// Seconds with up to nine decimals, exactly.
fn seconds(field: &str, line: u32) -> Result<Nanos, Fault> {
    let (whole, decimals) = field.split_once('.').unwrap_or((field, ""));
    let decimals: String = decimals.chars().chain("000000000".chars()).take(9).collect();
    let whole = number(Some(whole), line, "time")?;
    let nanos = number(Some(&decimals), line, "time")?;
    let total = whole.checked_mul(1_000_000_000).and_then(|whole| whole.checked_add(nanos));
    total.map(Nanos).ok_or_else(|| (line, format!("time {field} is too large"), DAMAGED))
}

#[cfg(test)]
mod test {
    use super::super::parse_trace;
    use super::*;

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

    /// A cut last line is named.
    #[test]
    fn a_cut_line_is_named() {
        let text = "8,0 3 1 0.0 697 Q W 8 + 8 [a]\n8,0 3 1 0.1 697 Q W 223";
        let error = parse_trace(text, "t").unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (Some(2), "a length is missing"));
        assert!(parse_trace(&text[..text.len() - 8], "t").unwrap_err().line == Some(2));
    }
}
