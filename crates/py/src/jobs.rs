//! The jobs of a job file and of flags, with what only the machine at hand knows.

use crate::input::{Input, TRACE_BYTES};
use crate::mend;
use crate::surroundings;
use pyo3::PyResult;
use ssdlab_lab::workload::parse::{JobFile, Surroundings, parse};

/// The jobs of a job file and flags; traces they name are read here.
pub fn jobs_of(job_text: Option<&str>, job_name: &str, flags: &[String]) -> PyResult<JobFile> {
    let mut read = |path: &str| {
        let text = Input::open(path).and_then(|input| input.read_text(TRACE_BYTES));
        text.map_err(|error| error.to_string())
    };
    let around = Surroundings {
        read_file: &mut read,
        variable: &|name| std::env::var(name).ok(),
        machine: surroundings::machine(),
    };
    parse(job_text.map(|text| (text, job_name)), flags, around).map_err(mend)
}
