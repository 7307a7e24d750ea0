//! Bytes on their way to a file: Python's `ssdlab.ground.output` alone writes files, and is handed pieces here.
//!
//! Between two pieces it is asked whether to go on, so that even a large drive file stops soon.

use crate::Cancelled;
use crate::watch::Watch;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Handed over between two questions whether to go on.
const PIECE_BYTES: usize = 4 << 20;

/// What makes an `Output`: `ssdlab.ground.output.PendingFile`, called with path, option and whether the file must be new.
pub type Files = Py<PyAny>;

/// A place that can be written to, tried before the long work whose result it takes.
pub struct Output {
    pending: Py<PyAny>,
}

impl Output {
    /// The place called `path` by an option that may go without saying; with `must_be_new` a file that appears there
    /// meanwhile is not replaced.
    ///
    /// # Errors
    /// What is there cannot be replaced, or the folder cannot be written to.
    pub fn at(files: &Files, option: &str, path: &str, must_be_new: bool) -> PyResult<Output> {
        attached(|py| Ok(Output { pending: files.call1(py, (path, option, must_be_new))? }))
    }

    /// Writes all of it; `false` where it was stopped, and then nothing is left behind.
    ///
    /// # Errors
    /// The file system is full, or something is in the way by now.
    pub fn write(&self, bytes: &[u8], watch: &mut Watch) -> PyResult<bool> {
        for (number, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
            if watch.is_stopped("write", (number * PIECE_BYTES) as f64 / bytes.len() as f64) {
                return attached(|py| self.pending.call_method0(py, "discard").map(|_| false));
            }
            attached(|py| self.pending.call_method1(py, "add", (PyBytes::new(py, piece),)))?;
        }
        attached(|py| self.pending.call_method0(py, "finish").map(|_| true))
    }
}

/// Asks Python, unless the interpreter is about to end: then nobody waits for the file.
fn attached<T>(ask: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
    Python::try_attach(ask).unwrap_or_else(|| Err(Cancelled::new_err("stopped")))
}
