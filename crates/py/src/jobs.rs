//! The jobs of a job file and of flags, with what only the machine at hand knows.

use crate::input::{Input, TEXT_BYTES};
use crate::mend;
use crate::{surroundings, traces};
use pyo3::prelude::*;
use ssdlab_lab::workload::parse::{JobFile, Surroundings, Traces, parse};
use std::cell::RefCell;

/// The jobs of a job file and flags; traces they name are looked through here, as long as `goes_on` says.
pub fn jobs_of(
    job_text: Option<&str>,
    job_name: &str,
    flags: &[String],
    goes_on: &dyn Fn() -> bool,
) -> PyResult<JobFile> {
    let mut read = |path: &str| {
        let text = Input::open(path).and_then(|input| input.read_text(TEXT_BYTES));
        text.map_err(|error| error.to_string())
    };
    let around = Surroundings {
        read_file: &mut read,
        traces: Traces { open: &traces::find, goes_on },
        variable: &|name| std::env::var(name).ok(),
        machine: surroundings::machine(),
    };
    parse(job_text.map(|text| (text, job_name)), flags, around).map_err(mend)
}

/// As [`jobs_of`], until the interpreter is told to stop.
pub fn jobs_until_signal(job_text: Option<&str>, job_name: &str, flags: &[String]) -> PyResult<JobFile> {
    let signal = RefCell::new(None);
    let goes_on = || match Python::attach(|py| py.check_signals()) {
        Ok(()) => true,
        Err(error) => {
            *signal.borrow_mut() = Some(error);
            false
        }
    };
    let jobs = jobs_of(job_text, job_name, flags, &goes_on);
    signal.take().map_or(jobs, Err)
}
