//! Progress, cancelling and the wall clock, which the engine itself does not have.

use crate::Cancelled;
use cpu_time::ThreadTime;
use pyo3::prelude::*;
use ssdlab_lab::output::Context;
use ssdlab_lab::run::Observer;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Between two calls of the callback.
const EVERY: Duration = Duration::from_millis(50);

/// The callback of Python, shared by a run and the traces that it reads.
///
/// Without a callback the interpreter's signals are looked at instead.
#[derive(Clone)]
pub struct Callback(Arc<Mutex<State>>);

struct State {
    progress: Option<Py<PyAny>>,
    told: Option<Instant>,
    stopped: bool,
    error: Option<PyErr>,
}

impl Callback {
    /// Calls `progress(phase, share)`.
    pub fn new(progress: Option<Py<PyAny>>) -> Callback {
        Callback(Arc::new(Mutex::new(State { progress, told: None, stopped: false, error: None })))
    }

    /// The callback's own error, or the stop that it asked for.
    pub fn check(&self, stopped: bool) -> PyResult<()> {
        match self.state().error.take() {
            Some(error) => Err(error),
            None if stopped => Err(Cancelled::new_err("stopped")),
            None => Ok(()),
        }
    }

    /// As [`Callback::check`], of a stop that was told before.
    pub fn check_stopped(&self) -> PyResult<()> {
        let stopped = self.state().stopped;
        self.check(stopped)
    }

    /// Tells how far it is if nothing was told for so long, and whether it is to stop: once asked to, always.
    pub fn is_stopped(&self, phase: &str, share: f64, after: Duration) -> bool {
        let mut state = self.state();
        if !state.stopped && state.told.is_none_or(|told| told.elapsed() >= after) {
            state.told = Some(Instant::now());
            state.stopped = !state.tell(phase, share);
        }
        state.stopped
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn tell(&mut self, phase: &str, share: f64) -> bool {
        let answer = Python::try_attach(|py| match &self.progress {
            Some(progress) => progress.call1(py, (phase, share.clamp(0.0, 1.0)))?.is_truthy(py),
            None => py.check_signals().map(|()| true),
        });
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

/// Passes progress on to Python and measures the job.
///
/// A run stays on its thread, so that thread's CPU time is the run's, whatever runs beside it.
pub struct Watch {
    callback: Callback,
    began: Option<(Instant, ThreadTime)>,
    spent: (f64, f64),
}

impl Watch {
    /// A watch that tells this callback.
    pub fn new(callback: Callback) -> Watch {
        Watch { callback, began: None, spent: (0.0, 0.0) }
    }

    /// The callback's own error, or the stop that it asked for.
    pub fn check(&self, stopped: bool) -> PyResult<()> {
        self.callback.check(stopped)
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
        self.callback.is_stopped(phase, share, EVERY)
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
