//! Traces that jobs name: files that are read as often as they are replayed, and what can be read once alone.

use crate::input::{Input, TRACE_BYTES};
use crate::mend;
use crate::watch::Watch;
use pyo3::PyResult;
use ssdlab_lab::workload::trace::{Open, Trace, TraceOptions};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Cursor};
use std::sync::Arc;

/// How a trace is opened. A pipe gives its bytes once, so that they are held.
///
/// # Errors
/// It is not there, or may not be read; it is a pipe and too long.
pub fn find(path: &str) -> Result<Open, String> {
    opener(path).map_err(|error| error.to_string())
}

fn opener(path: &str) -> io::Result<Open> {
    if File::open(path)?.metadata()?.is_file() {
        let path = path.to_string();
        return Ok(Arc::new(move || Ok(Box::new(File::open(&path)?))));
    }
    let input = Input::open(path)?;
    if input.beginning().first() == Some(&0) {
        return Err(io::Error::other("not a text file (UTF-8)"));
    }
    let bytes: Arc<[u8]> = input.read_all(TRACE_BYTES)?.into();
    Ok(Arc::new(move || Ok(Box::new(Cursor::new(Arc::clone(&bytes))))))
}

/// What a trace holds, as JSON; of several devices that of `device`.
pub fn survey(path: &str, device: Option<String>, watch: Watch) -> PyResult<String> {
    let open = find(path).map_err(|why| mend(format!("{path}: {why}\ncheck the name")))?;
    let watch = RefCell::new(watch);
    let goes_on = || !watch.borrow_mut().is_stopped("read trace", 0.0);
    let options = TraceOptions { device, ..TraceOptions::default() };
    let trace = Trace::read(path, open, options, &goes_on);
    watch.into_inner().check_stopped()?;
    Ok(trace.map_err(mend)?.survey().to_json().to_string())
}
