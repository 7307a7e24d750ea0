//! Traces that jobs name: files that are read as often as they are replayed, and what can be read once alone.

use crate::input::{Input, TRACE_BYTES};
use crate::mend;
use crate::watch::Callback;
use pyo3::PyResult;
use ssdlab_lab::workload::trace::{Open, Trace, TraceOptions};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::time::Duration;

/// A run tells how far it is more often, so that nothing else is told while it goes on.
const SILENCE: Duration = Duration::from_millis(250);
/// Between two questions; unpacked it may be a thousand times as much.
const PIECE_BYTES: usize = 1 << 16;

/// How a trace is opened. A pipe gives its bytes once, so that they are held.
///
/// # Errors
/// It is not there, or may not be read; it is a pipe and too long.
pub fn find(path: &str, callback: &Callback) -> Result<Open, String> {
    let open = opener(path).map_err(|error| {
        let text = error.to_string();
        text.split(" (os error").next().unwrap_or_default().to_string()
    })?;
    let callback = callback.clone();
    Ok(Arc::new(move || Ok(Box::new(Stoppable { file: open()?, callback: callback.clone() }))))
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

/// A file whose reading fails once the callback asks to stop, whoever reads it and however much is passed over.
struct Stoppable {
    file: Box<dyn Read + Send>,
    callback: Callback,
}

impl Read for Stoppable {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.callback.is_stopped("read trace", 0.0, SILENCE) {
            return Err(io::Error::other("stopped"));
        }
        let length = into.len().min(PIECE_BYTES);
        self.file.read(&mut into[..length])
    }
}

/// What a trace holds, as JSON; of several devices that of `device`.
pub fn survey(path: &str, device: Option<String>, callback: &Callback) -> PyResult<String> {
    let open = find(path, callback).map_err(|why| mend(format!("{path}: {why}\ncheck the name")))?;
    let options = TraceOptions { device, ..TraceOptions::default() };
    let trace = Trace::read(path, open, options);
    callback.check_stopped()?;
    Ok(trace.map_err(mend)?.survey().to_json().to_string())
}
