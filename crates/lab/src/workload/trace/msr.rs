//! The block traces of MSR Cambridge: lines of
//! `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! The timestamp counts 100 ns ticks; offset and size are bytes. The response time is left out:
//! the simulated drive has its own.

use super::{CUT, DAMAGED, Entry, Fault, number, numbered, time};
use ssdlab_device::block::Operation;

const FIELDS: usize = 7;
const TICK_NS: u64 = 100;

/// Whether a file with this first line is such a trace, with or without a heading.
pub(super) fn is_first_line(line: &str) -> bool {
    line.split(',').count() == FIELDS && !line.contains(char::is_whitespace)
}

pub(super) fn parse(text: &str) -> Result<Vec<Entry>, Fault> {
    let mut entries = Vec::new();
    let (mut device, mut start) = (None, None);
    for (line, content) in numbered(text) {
        let fields: Vec<&str> = content.split(',').map(str::trim).collect();
        if line == 1 && fields[0].eq_ignore_ascii_case("timestamp") {
            continue;
        }
        if fields.len() != FIELDS {
            let message = format!("{} fields instead of {FIELDS}", fields.len());
            return Err((line, message, CUT));
        }
        let this = (fields[1], fields[2]);
        if *device.get_or_insert(this) != this {
            let message = format!("disk {} of {} is a second one in the trace", this.1, this.0);
            return Err((line, message, "a trace is played on one drive: split it by disk"));
        }
        let ticks = number(fields.first().copied(), line, "time")?;
        // The clock started in 1601: counted from the first line, times fit 64 bits of nanoseconds.
        let start = *start.get_or_insert(ticks);
        let ticks = ticks
            .checked_sub(start)
            .ok_or_else(|| (line, "lies before the first line".to_string(), "sort the trace by its first field"))?;
        let operation = match fields[3].to_ascii_lowercase().as_str() {
            "read" => Operation::Read,
            "write" => Operation::Write,
            other => {
                return Err((line, format!("'{other}' is neither Read nor Write"), DAMAGED));
            }
        };
        let offset = number(fields.get(4).copied(), line, "offset")?;
        let bytes = number(fields.get(5).copied(), line, "size")?;
        if bytes == 0 {
            return Err((line, "a request of size 0".into(), DAMAGED));
        }
        entries.push(Entry { at: time(ticks, TICK_NS, line)?, operation, offset, bytes });
    }
    Ok(entries)
}

#[cfg(test)]
mod test {
    use super::super::parse_trace;
    use super::*;
    use ssdlab_device::units::Nanos;

    const LINES: &str = "128166372003061629,hm,1,Read,383496192,32768,113736\n\
                         128166372016382155,hm,1,Write,2822144,4096,123\n";

    /// Ticks of 100 ns count from the first line; heading or none.
    #[test]
    fn ticks_become_nanoseconds() {
        let write = Entry { at: Nanos(13_320_526 * 100), operation: Operation::Write, offset: 2_822_144, bytes: 4096 };
        let entries = parse_trace(LINES, "t").unwrap();
        assert_eq!((entries[0].at, entries[1]), (Nanos(0), write));
        let headed = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
        assert_eq!(parse_trace(&(headed.to_string() + LINES), "t"), Ok(entries));
    }

    /// Cut lines, second disks and unknown types name the line.
    #[test]
    fn faults_name_the_line() {
        let cases = [
            ("128166372026382155,hm,1,Wri", "4 fields instead of 7"),
            ("128166372026382155,hm,2,Read,0,512,1\n", "disk 2 of hm is a second one in the trace"),
            ("128166372026382155,hm,1,Trim,0,512,1\n", "'trim' is neither Read nor Write"),
            ("1,hm,1,Read,0,512,1\n", "lies before the first line"),
        ];
        for (rest, message) in cases {
            let error = parse_trace(&(LINES.to_string() + rest), "t").unwrap_err();
            assert_eq!((error.line, error.message.as_str()), (Some(3), message));
        }
    }
}
