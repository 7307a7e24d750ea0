//! Progress, cancelling and the wall clock, which the engine itself does not have.

use crate::Cancelled;
use cpu_time::ThreadTime;
use pyo3::prelude::*;
use ssdlab_lab::output::Context;
use ssdlab_lab::run::Observer;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Between two calls of the callback.
const EVERY: Duration = Duration::from_millis(50);

/// Passes progress on to Python and measures the job.
///
/// A run stays on its thread, so that thread's CPU time is the run's, whatever runs beside it.
pub struct Watch {
    progress: Option<Py<PyAny>>,
    told: Option<Instant>,
    began: Option<(Instant, ThreadTime)>,
    spent: (f64, f64),
    stopped: bool,
    error: Option<PyErr>,
}

impl Watch {
    /// A watch that calls `progress(phase, share)`.
    pub fn new(progress: Option<Py<PyAny>>) -> Watch {
        Watch { progress, told: None, began: None, spent: (0.0, 0.0), stopped: false, error: None }
    }

    /// The callback's own error, or the stop that it asked for.
    pub fn check(&mut self, stopped: bool) -> PyResult<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None if stopped => Err(Cancelled::new_err("stopped")),
            None => Ok(()),
        }
    }

    /// As [`Watch::check`], of a stop that was told before.
    pub fn check_stopped(&mut self) -> PyResult<()> {
        self.check(self.stopped)
    }

    /// Writes the clocks into a result.
    pub fn stamp(&self, context: &mut Context) {
        (context.wall_s, context.cpu_s) = self.spent;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        context.timestamp = now.as_secs();
        context.timestamp_ms = now.as_millis() as u64;
    }

    /// Tells how far it is, and whether it is to stop: once asked to, always.
    pub fn is_stopped(&mut self, phase: &str, share: f64) -> bool {
        if !self.stopped && self.told.is_none_or(|told| told.elapsed() >= EVERY) {
            self.told = Some(Instant::now());
            self.stopped = !self.tell(phase, share);
        }
        self.stopped
    }

    fn tell(&mut self, phase: &str, share: f64) -> bool {
        let Some(progress) = &self.progress else { return true };
        let answer = Python::try_attach(|py| progress.call1(py, (phase, share.clamp(0.0, 1.0)))?.is_truthy(py));
        match answer {
            Some(Ok(goes_on)) => goes_on,
            Some(Err(error)) => {
                self.error = Some(error);
                false
            }
            // The interpreter is about to end, and nobody waits for the answer.
            None => false,
        }
    }
}

impl Observer for Watch {
    fn begin_jobs(&mut self) {
        self.began = Some((Instant::now(), ThreadTime::now()));
    }

    fn end_jobs(&mut self) {
        if let Some((wall, cpu)) = &self.began {
            self.spent = (wall.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
        }
    }

    fn progress(&mut self, phase: &str, share: f64) -> bool {
        !self.is_stopped(phase, share)
    }
}
