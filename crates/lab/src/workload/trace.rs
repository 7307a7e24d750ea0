//! Recorded requests: fio iologs v2 and v3, MSR-Cambridge CSV, blktrace text; and iologs written.
//!
//! The format is found by the first line. Times count from the first request, whatever clock the
//! trace had. A trace belongs to one device; one that mixes several is refused. Left out: binary
//! blktrace (print it with blkparse first), process names, response times.

mod blktrace;
mod iolog;
mod msr;

pub use iolog::{iolog_end, iolog_line, iolog_start};

use serde::{Deserialize, Serialize};
use ssdlab_device::block::Operation;
use ssdlab_device::units::Nanos;
use std::fmt;

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When it was issued, counted from the trace's first request.
    pub at: Nanos,
    /// What it asked for.
    pub operation: Operation,
    /// First byte.
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub bytes: u64,
}

/// A trace that cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceError {
    /// The trace.
    pub file: String,
    /// Line, counted from 1; `None` where the whole file is to blame.
    pub line: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// What helps.
    pub remedy: String,
}

impl TraceError {
    /// Place and reason, without the remedy.
    pub fn reason(&self) -> String {
        match self.line {
            Some(line) => format!("{}, line {line}: {}", self.file, self.message),
            None => format!("{}: {}", self.file, self.message),
        }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}", self.reason(), self.remedy)
    }
}

impl std::error::Error for TraceError {}

/// What is wrong with a trace: line (0 for the whole file), reason, remedy.
type Fault = (u32, String, &'static str);

const CUT: &str = "the file may be cut off: copy it again, or delete this line";
const DAMAGED: &str = "mend or delete this line";

/// The requests of a trace, in the order of their times; `path` is for messages only.
///
/// # Errors
/// An empty, cut or unknown file, with the line to blame.
pub fn parse_trace(text: &str, path: &str) -> Result<Vec<Entry>, TraceError> {
    let error = |(line, message, remedy): Fault| TraceError {
        file: path.to_string(),
        line: (line > 0).then_some(line),
        message,
        remedy: remedy.to_string(),
    };
    let mut entries = parse_known(text).map_err(error)?;
    entries.sort_by_key(|entry| entry.at);
    let Some(start) = entries.first().map(|entry| entry.at) else {
        let remedy = "record again, or check that the right file was named";
        return Err(error((0, "holds no request".into(), remedy)));
    };
    for entry in &mut entries {
        entry.at = entry.at - start;
    }
    Ok(entries)
}

fn parse_known(text: &str) -> Result<Vec<Entry>, Fault> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let Some(first) = first else {
        return Err((0, "the file is empty".into(), "record again, or check the name"));
    };
    if let Some(version) = first.strip_prefix("fio version ") {
        return iolog::parse(text, version);
    }
    if msr::is_first_line(first) {
        return msr::parse(text);
    }
    if text.lines().take(100).any(blktrace::is_event) {
        return blktrace::parse(text);
    }
    let remedy = "traces are fio iologs (v2, v3), MSR-Cambridge CSV and the text of blkparse";
    Err((1, "not a trace of a known format".into(), remedy))
}

/// The lines that are not blank, with their numbers.
fn numbered(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty())
}

/// A number in a field that must be there.
fn number(field: Option<&str>, line: u32, what: &str) -> Result<u64, Fault> {
    let Some(field) = field else {
        return Err((line, format!("{what} is missing"), CUT));
    };
    field.parse().map_err(|_| (line, format!("'{field}' is no {what}"), DAMAGED))
}

/// A time counted in `ticks` of so many nanoseconds.
fn time(ticks: u64, tick_ns: u64, line: u32) -> Result<Nanos, Fault> {
    let nanos = ticks.checked_mul(tick_ns).filter(|nanos| *nanos < Nanos::NEVER.0);
    nanos.map(Nanos).ok_or_else(|| (line, format!("time {ticks} is too large"), DAMAGED))
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    /// Empty files, files without requests and files of another kind say so.
    #[test]
    fn empty_and_unknown_files_are_refused() {
        let reason = |text| parse_trace(text, "t").unwrap_err().reason();
        assert_eq!(reason("\n \n"), "t: the file is empty");
        assert_eq!(reason("fio version 3 iolog\n0 f add\n0 f open\n1 f close\n"), "t: holds no request");
        assert_eq!(reason("hello\nworld\n"), "t, line 1: not a trace of a known format");
    }

    proptest! {
        /// No text makes the readers panic, whatever format it pretends to be.
        #[test]
        fn no_text_panics(
            start in prop_oneof![
                Just("fio version 2 iolog\n"), Just("fio version 3 iolog\n"),
                Just("1,h,0,Read,0,512,1\n"), Just("8,0 1 1 0.5 1 Q W 8 + 8 [a]\n"), Just(""),
            ],
            lines in proptest::collection::vec("[ -~]{0,40}|[0-9]{1,20} f (read|write|sync|wait) [0-9]{1,20} [0-9]{1,20}|[0-9]{1,20},h,0,(Read|Write),[0-9]{1,20},[0-9]{1,20},1|8,0 1 1 [0-9.]{1,20} 1 [QD] [RWDF]{0,3} [0-9]{1,20} \\+ [0-9]{1,20}", 0..8),
        ) {
            let _ = parse_trace(&(start.to_string() + &lines.join("\n")), "t");
        }
    }
}
