//! The jobs of a job file and of flags, with what only the machine at hand knows.

use crate::input::{Input, TEXT_BYTES};
use crate::mend;
use crate::watch::Callback;
use crate::{surroundings, traces};
use pyo3::prelude::*;
use ssdlab_lab::workload::parse::{JobFile, Surroundings, parse};

/// The jobs of a job file and flags. Traces that they name are looked through here, and read again in a run, until
/// the callback asks to stop.
pub fn jobs_of(job_text: Option<&str>, job_name: &str, flags: &[String], callback: &Callback) -> PyResult<JobFile> {
    let mut read = |path: &str| {
        let text = Input::open(path).and_then(|input| input.read_text(TEXT_BYTES));
        text.map_err(|error| error.to_string())
    };
    let around = Surroundings {
        read_file: &mut read,
        find_trace: &|path| traces::find(path, callback),
        variable: &|name| std::env::var(name).ok(),
        machine: surroundings::machine(),
    };
    let jobs = parse(job_text.map(|text| (text, job_name)), flags, around);
    callback.check_stopped()?;
    jobs.map_err(mend)
}
