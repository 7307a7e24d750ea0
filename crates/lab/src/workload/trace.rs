//! Recorded requests: fio iologs v2 and v3, blktrace text, and the CSV of published block traces.
//!
//! The format is found by the beginning, and so is packing (gzip, Zstandard). A trace may be of any
//! length: it is read twice, once to look at every line before anything runs ([`Survey`]) and once as
//! it is replayed, a line at a time. Times count from the first request, whatever clock the trace
//! had; requests that stand up to 65,536 lines from their place in time are brought into order. A
//! trace of several devices is refused until one is named. What a trace tells of and no drive can
//! replay is counted and told ([`LeftOut`]). Not read: binary blktrace (print it with
//! blkparse first), process names, response times.

mod adjust;
mod blktrace;
mod csv;
mod devices;
mod iolog;
mod left_out;
mod lines;
mod order;
mod packed;
mod survey;

pub use adjust::{Adjust, Fitted, Scale};
pub use iolog::{iolog_end, iolog_line, iolog_start};
pub use left_out::LeftOut;
pub use survey::{Count, Survey};

use super::error::Problem;
use blktrace::Action;
use order::{Ordered, Requests};
use serde::{Deserialize, Serialize};
use ssdlab_device::block::{Limits, Operation};
use ssdlab_device::units::Nanos;
use std::fmt;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

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
    pub line: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// What helps.
    pub remedy: String,
}

impl TraceError {
    /// Line and reason, without the file's name.
    pub fn reason(&self) -> String {
        match self.line {
            Some(line) => format!("line {line}: {}", self.message),
            None => self.message.clone(),
        }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.line.is_some() { "," } else { ":" };
        write!(f, "{}{separator} {}\n  {}", self.file, self.reason(), self.remedy)
    }
}

impl std::error::Error for TraceError {}

/// What is wrong with a trace: line (0 for the whole file), reason, remedy.
type Fault = (u64, String, &'static str);

const CUT: &str = "the file may be cut off: copy it again, or delete this line";
const DAMAGED: &str = "mend or delete this line";
/// Opens a trace at its beginning, as often as it is asked to. Who gives it may stop the reading: a reader that
/// fails ends whatever reads.
pub type Open = Arc<dyn Fn() -> io::Result<Box<dyn Read + Send>> + Send + Sync>;

/// What of a trace is replayed, and how it is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceOptions {
    /// The device, of several; `None` for the only one.
    pub device: Option<String>,
    /// Which requests, where and when.
    pub adjust: Adjust,
}

/// A trace that was read once and can be read again.
#[derive(Clone)]
pub struct Trace {
    path: String,
    open: Open,
    options: TraceOptions,
    action: Action,
    survey: Survey,
}

impl Trace {
    /// Reads a trace to its end; `path` is for messages only.
    ///
    /// # Errors
    /// An empty, cut or unknown file, with the line to blame.
    pub fn read(path: &str, open: Open, options: TraceOptions) -> Result<Trace, TraceError> {
        let survey = Survey::default();
        let mut trace = Trace { path: path.into(), open, options, action: Action::Queued, survey };
        trace.look_through().map_err(|fault| trace.error(fault))?;
        Ok(trace)
    }

    /// A trace that is held as a text.
    ///
    /// # Errors
    /// As [`Trace::read`].
    pub fn of_text(path: &str, text: &str, options: TraceOptions) -> Result<Trace, TraceError> {
        let bytes: Arc<[u8]> = text.as_bytes().into();
        let open: Open = Arc::new(move || Ok(Box::new(Cursor::new(Arc::clone(&bytes)))));
        Trace::read(path, open, options)
    }

    /// Its name, for messages.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What it holds.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// How its offsets are made to fit a drive, in words; `None` where they stay.
    pub fn told(&self, capacity_bytes: u64) -> Option<String> {
        self.fitted(capacity_bytes).map(|fitted| format!("{}: {fitted}", self.path))
    }

    /// What of it is not replayed, in words; `None` where it is whole.
    pub fn left_out(&self) -> Option<String> {
        let left_out = &self.survey.left_out;
        (left_out.requests > 0).then(|| format!("{}: {left_out}", self.path))
    }

    fn fitted(&self, capacity_bytes: u64) -> Option<Fitted> {
        self.options.adjust.fitted(self.survey.end_bytes(), capacity_bytes)
    }

    /// Its last time, counted from the first request as it is replayed.
    pub fn last(&self) -> Nanos {
        self.options.adjust.time(self.survey.duration())
    }

    /// Why a drive of these limits cannot carry it out.
    pub fn refusal(&self, limits: &Limits) -> Option<Problem> {
        self.survey.refusal(limits, self.fitted(limits.capacity_bytes()).is_some())
    }

    /// Its requests for a drive, from the first one.
    ///
    /// # Errors
    /// It cannot be opened any more.
    pub fn requests(&self, capacity_bytes: u64) -> Result<Replayed, TraceError> {
        let requests = self.open_requests().map_err(|fault| self.error(fault))?;
        let ordered = Ordered::new(requests, self.survey.is_in_order);
        Ok(Replayed { ordered, trace: self.clone(), fitted: self.fitted(capacity_bytes) })
    }

    fn look_through(&mut self) -> Result<(), Fault> {
        let mut requests = self.look_at_lines()?;
        if self.survey.requests() == 0 && requests.is_blktrace() {
            self.action = Action::Issued;
            requests = self.look_at_lines()?;
        }
        if self.survey.requests() == 0 {
            let left_out = &self.survey.left_out;
            let and = if left_out.requests > 0 { format!(": {left_out}") } else { String::new() };
            return Err((
                0,
                requests.devices.none_found() + &and,
                "record again, or check that the right file was named",
            ));
        }
        self.survey.device = requests.devices.name().unwrap_or_default().to_string();
        if !self.survey.is_in_order {
            let mut ordered = Ordered::new(self.open_requests()?, false);
            while ordered.next()?.is_some() {}
        }
        Ok(())
    }

    fn look_at_lines(&mut self) -> Result<Requests, Fault> {
        let mut requests = self.open_requests()?;
        let mut survey = Survey::new(requests.format(), requests.packer);
        while let Some(entry) = requests.next()? {
            survey.add(&entry, &self.options.adjust);
        }
        survey.left_out = requests.left_out.clone();
        self.survey = survey;
        Ok(requests)
    }

    fn open_requests(&self) -> Result<Requests, Fault> {
        let file = (self.open)().map_err(|error| (0, lines::plain(&error), "check the name"))?;
        Requests::open(file, self.options.device.as_deref(), self.action)
    }

    fn error(&self, (line, message, remedy): Fault) -> TraceError {
        let line = (line > 0).then_some(line);
        TraceError { file: self.path.clone(), line, message, remedy: remedy.into() }
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("path", &self.path).field("survey", &self.survey).finish_non_exhaustive()
    }
}

impl PartialEq for Trace {
    fn eq(&self, other: &Trace) -> bool {
        (&self.path, &self.options, &self.survey) == (&other.path, &other.options, &other.survey)
    }
}

/// The requests of a trace in the order of their times, for one drive.
pub struct Replayed {
    ordered: Ordered,
    trace: Trace,
    fitted: Option<Fitted>,
}

impl Replayed {
    /// The next request; `None` at the end.
    ///
    /// # Errors
    /// A line that cannot be read; the trace was looked at before, so that it has changed since.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, TraceError> {
        let adjust = &self.trace.options.adjust;
        while let Some(raw) = self.ordered.next().map_err(|fault| self.trace.error(fault))? {
            let at = adjust.time(raw.at - self.trace.survey.start.min(raw.at));
            let Some((offset, bytes)) = adjust.extent(&raw) else { continue };
            let offset = self.fitted.map_or(offset, |fitted| fitted.offset(offset, bytes));
            return Ok(Some(Entry { at, operation: raw.operation, offset, bytes }));
        }
        Ok(None)
    }

    /// The trace holds another request than before: it was changed meanwhile.
    pub fn changed(&self) -> TraceError {
        self.trace.error((0, "was changed while it was replayed".into(), "run again"))
    }
}

impl fmt::Debug for Replayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replayed").field("trace", &self.trace).finish_non_exhaustive()
    }
}

/// The requests of a text, in the order of their times; `path` is for messages only.
///
/// # Errors
/// An empty, cut or unknown text, with the line to blame.
pub fn parse_trace(text: &str, path: &str) -> Result<Vec<Entry>, TraceError> {
    let trace = Trace::of_text(path, text, TraceOptions::default())?;
    let mut requests = trace.requests(u64::MAX)?;
    let mut entries = Vec::new();
    while let Some(entry) = requests.next_entry()? {
        entries.push(entry);
    }
    Ok(entries)
}

/// A number in a field that must be there.
fn number(field: Option<&str>, line: u64, what: &str) -> Result<u64, Fault> {
    let Some(field) = field else {
        return Err((line, format!("{what} is missing"), CUT));
    };
    field.parse().map_err(|_| (line, format!("'{field}' is no {what}"), DAMAGED))
}

/// A time counted in `ticks` of so many nanoseconds.
fn time(ticks: u64, tick_ns: u64, line: u64) -> Result<Nanos, Fault> {
    let nanos = ticks.checked_mul(tick_ns).filter(|nanos| *nanos < Nanos::NEVER.0);
    nanos.map(Nanos).ok_or_else(|| (line, format!("time {ticks} is too large"), DAMAGED))
}

/// Seconds with up to nine decimals, exactly; further ones are cut.
fn seconds(field: &str, line: u64) -> Result<Nanos, Fault> {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, decimals) = field.split_once('.').unwrap_or((field, ""));
    if whole.is_empty() || !is_digits(whole) || !is_digits(decimals) {
        return Err((line, format!("'{field}' is no time"), DAMAGED));
    }
    let nanos: u64 = format!("{decimals:0<9}")[..9].parse().expect("nine digits");
    let total = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(1_000_000_000)?.checked_add(nanos));
    let total = total.filter(|nanos| *nanos < Nanos::NEVER.0);
    total.map(Nanos).ok_or_else(|| (line, format!("time {field} is too large"), DAMAGED))
}

#[cfg(test)]
mod test;
