//! fio's iolog, versions 2 and 3.
//!
//! Version 2: `file action [offset length]`, where `wait` brings time forward by its offset in
//! microseconds; fio drops waits below 100 µs. Version 3: `microseconds file action [offset
//! length]`. `add`, `open` and `close` frame the requests. Offsets and lengths are bytes.

use super::devices::Devices;
use super::{CUT, DAMAGED, Entry, Fault, number, time};
use ssdlab_device::block::Operation;
use ssdlab_device::units::Nanos;

/// fio drops shorter waits of a version 2 log.
const SHORTEST_WAIT_US: u64 = 100;
const HEADING: &str = "fio version ";

/// What a log is about, line by line.
#[derive(Debug)]
pub(super) struct Reader {
    /// Each line begins with its time (version 3).
    has_times: bool,
    /// Microseconds; of version 2, added up.
    now: u64,
    closed: bool,
}

impl Reader {
    /// A reader of the version that the first line names, if it is that of an iolog.
    pub fn of(first: &str) -> Option<Result<Reader, Fault>> {
        let has_times = match first.strip_prefix(HEADING)?.trim() {
            "2 iolog" => false,
            "3 iolog" => true,
            other => {
                let message = format!("version '{other}' is not known");
                return Some(Err((1, message, "record the log with fio 3, or write version 2")));
            }
        };
        Some(Ok(Reader { has_times, now: 0, closed: false }))
    }

    /// The format's name.
    pub fn name(&self) -> &'static str {
        if self.has_times { "fio iolog, version 3" } else { "fio iolog, version 2" }
    }

    /// The request of a line, if it has one.
    pub fn entry(&mut self, line: u64, content: &str, devices: &mut Devices) -> Result<Option<Entry>, Fault> {
        if content.starts_with(HEADING) {
            return Ok(None);
        }
        let mut fields = content.split_ascii_whitespace();
        if self.has_times {
            self.now = number(fields.next(), line, "time")?;
        }
        let file = fields.next().ok_or_else(|| (line, "a file is missing".into(), CUT))?;
        let action = fields.next().ok_or_else(|| (line, "an action is missing".into(), CUT))?;
        self.closed = action == "close";
        let operation = match action {
            "add" | "open" | "close" => return Ok(None),
            "wait" => {
                self.wait(number(fields.next(), line, "time")?, line)?;
                return Ok(None);
            }
            "read" => Operation::Read,
            "write" => Operation::Write,
            "trim" => Operation::Trim,
            "sync" | "datasync" => Operation::Flush,
            _ => {
                return Err((line, format!("'{action}' is not an action of an iolog"), DAMAGED));
            }
        };
        if !devices.takes(file, line)? {
            return Ok(None);
        }
        let at = time(self.now, 1000, line)?;
        if operation == Operation::Flush {
            return Ok(Some(Entry { at, operation, offset: 0, bytes: 0 }));
        }
        let offset = number(fields.next(), line, "offset")?;
        let bytes = number(fields.next(), line, "length")?;
        if bytes == 0 {
            return Err((line, "a request of length 0".into(), DAMAGED));
        }
        Ok(Some(Entry { at, operation, offset, bytes }))
    }

    fn wait(&mut self, microseconds: u64, line: u64) -> Result<(), Fault> {
        if microseconds >= SHORTEST_WAIT_US {
            let later = self.now.checked_add(microseconds);
            self.now = later.ok_or_else(|| (line, "waits too long".into(), DAMAGED))?;
        }
        Ok(())
    }

    /// Looks at the end: a log that was cut may end within a line.
    pub fn end(&self, (line, is_whole): (u64, bool)) -> Result<(), Fault> {
        if !is_whole && !self.closed {
            return Err((line, "the last line has no end, and the file was not closed".into(), CUT));
        }
        Ok(())
    }
}

/// How an iolog of version 3 for one file begins.
pub fn iolog_start(file: &str) -> String {
    format!("fio version 3 iolog\n0 {file} add\n0 {file} open\n")
}

/// One request's line in an iolog of version 3.
pub fn iolog_line(at: Nanos, file: &str, operation: Operation, offset: u64, bytes: u64) -> String {
    let action = match operation {
        Operation::Read => "read",
        Operation::Write | Operation::WriteZeroes => "write",
        Operation::Trim => "trim",
        Operation::Flush => "sync",
    };
    format!("{} {file} {action} {offset} {bytes}\n", at.0 / 1000)
}

/// How an iolog of version 3 ends.
pub fn iolog_end(at: Nanos, file: &str) -> String {
    format!("{} {file} close\n", at.0 / 1000)
}

#[cfg(test)]
mod test {
    use super::super::parse_trace;
    use super::*;

    fn entry(at_us: u64, operation: Operation, offset: u64, bytes: u64) -> Entry {
        Entry { at: Nanos(at_us * 1000), operation, offset, bytes }
    }

    /// A log as fio 3.33 writes it: times from the first request, sync without a length.
    #[test]
    fn version_3_of_fio() {
        let text = "fio version 3 iolog\n15 x.0.0 add\n78 x.0.0 open\n83 x.0.0 write 0 4096\n\
                    91 x.0.0 sync 8192 0\n92 x.0.0 trim 12288 4096\n98 x.0.0 close\n";
        let expected = vec![
            entry(0, Operation::Write, 0, 4096),
            entry(8, Operation::Flush, 0, 0),
            entry(9, Operation::Trim, 12288, 4096),
        ];
        assert_eq!(parse_trace(text, "t"), Ok(expected));
    }

    /// In version 2 waits add up, and those below 100 µs are dropped.
    #[test]
    fn version_2_waits() {
        let text = "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x read 0 512\n\
                    /dev/x wait 99 0\n/dev/x wait 1500 0\n/dev/x write 512 512\n\
                    /dev/x datasync 0 0\n/dev/x close\n";
        let entries = parse_trace(text, "t").unwrap();
        assert_eq!(entries[1], entry(1500, Operation::Write, 512, 512));
        assert_eq!(entries[2].operation, Operation::Flush);
    }

    /// What is written is read back.
    #[test]
    fn written_logs_are_read_back() {
        let all = [
            entry(0, Operation::Read, 4096, 512),
            entry(7, Operation::Write, 0, 4096),
            entry(7, Operation::Trim, 8192, 4096),
        ];
        let line = |e: &Entry| iolog_line(e.at, "d", e.operation, e.offset, e.bytes);
        let lines: String = all.iter().map(line).collect();
        let text = iolog_start("d") + &lines + &iolog_end(Nanos(9000), "d");
        assert_eq!(parse_trace(&text, "t").unwrap(), all);
    }

    /// Cut, damaged and mixed logs name the line.
    #[test]
    fn faults_name_the_line() {
        let start = "fio version 3 iolog\n0 f add\n0 f open\n";
        let cases = [
            ("5 f write 4096", 4, "length is missing"),
            ("5 f wri", 4, "'wri' is not an action of an iolog"),
            ("5 f write 4096 40", 4, "the last line has no end, and the file was not closed"),
            ("x f write 0 1\n", 4, "'x' is no time"),
            ("5 f write 0 512\n6 g write 0 512\n", 5, "g is a second device in the trace, after f"),
            ("5 f read 0 0\n", 4, "a request of length 0"),
        ];
        for (rest, line, message) in cases {
            let error = parse_trace(&(start.to_string() + rest), "t").unwrap_err();
            assert_eq!((error.line, error.message.as_str()), (Some(line), message), "{rest}");
            assert!(!error.remedy.is_empty());
        }
    }
}
