//! Python bindings: converts, holds no logic.
//!
//! Texts and plain values go in, JSON text comes out; the interpreter's lock is released while the
//! engine works, so that several drives run on several cores. Files are read here (`input`); Python writes them (`output`).

mod disk;
mod drive;
mod folder;
mod held;
mod input;
mod jobs;
mod output;
mod perform;
mod policy;
mod serve;
mod surroundings;
mod traces;
mod watch;

use drive::open;
use jobs::jobs_of;
use output::Files;
use perform::own_jobs;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde_json::json;
use ssdlab_device::config::ftl::GcPolicy;
use ssdlab_device::parameter::{Raw, Value as _};
use ssdlab_lab::condition::compress_percent;
use ssdlab_lab::output::{NOT_IN_NORMAL, read_without, to_normal, to_terse};
use ssdlab_lab::request::RunRequest;
use ssdlab_lab::scale::NoScale;
use ssdlab_lab::session::VERSION;
use ssdlab_lab::workload::job::Job;
use ssdlab_lab::{describe, explain as small_drive, theory as closed_forms};
use std::fmt::Display;
use watch::{Callback, Watch};

pyo3::create_exception!(_engine, EngineError, PyException, "What the user can mend.");
pyo3::create_exception!(_engine, Cancelled, PyException, "The callback asked to stop.");

type Settings = Vec<(String, String)>;

/// Anything the user can mend, as the package's error.
fn mend(error: impl Display) -> PyErr {
    EngineError::new_err(error.to_string())
}

fn request_of(json: &str) -> PyResult<RunRequest> {
    RunRequest::from_json(json).map_err(mend)
}

#[pyfunction]
fn version() -> &'static str {
    VERSION
}

#[pyfunction]
fn profiles() -> String {
    describe::profiles().to_string()
}

#[pyfunction]
fn layers() -> String {
    describe::layer_kinds().to_string()
}

#[pyfunction]
fn show(drive: String, settings: Settings, layers: Vec<String>, scale: Option<String>) -> PyResult<String> {
    let read =
        |text: String| text.clone().try_into().map_err(|error: NoScale| mend(format!("scale {text:?}: {error}")));
    let scale = scale.map(read).transpose()?;
    let request = RunRequest { drive, settings, layers, scale, seed: 1, ..RunRequest::default() };
    Ok(open(&request)?.show().to_string())
}

#[pyfunction]
fn run(py: Python<'_>, request_json: &str, progress: Option<Py<PyAny>>, files: Files) -> PyResult<String> {
    let request = request_of(request_json)?;
    py.detach(|| {
        let callback = Callback::new(progress);
        let file = jobs_of(request.job_text.as_deref(), &request.job_name, &request.flags, &callback)?;
        perform::run(&request, &file, &files, &mut Watch::new(callback))
    })
}

#[pyfunction]
fn check_job(job_text: Option<&str>, job_name: &str, flags: Vec<String>) -> PyResult<String> {
    let file = jobs_of(job_text, job_name, &flags, &Callback::new(None))?;
    let names: Vec<&str> = file.jobs.iter().map(|job| job.name.as_str()).collect();
    let compress_percent = compress_percent(&file.jobs);
    let together = file.jobs.iter().skip(1).all(|job| !job.stonewall);
    let stationary = together && file.jobs.iter().all(Job::is_stationary);
    let told = json!({
        "jobs": names,
        "notices": file.notices,
        "compress_percent": compress_percent,
        "stationary": stationary,
        "scales": file.jobs.iter().all(Job::scales),
    });
    Ok(told.to_string())
}

#[pyfunction]
fn survey_trace(py: Python<'_>, path: &str, device: Option<String>, progress: Option<Py<PyAny>>) -> PyResult<String> {
    py.detach(|| traces::survey(path, device, &Callback::new(progress)))
}

#[pyfunction]
fn render(result_json: &str, format: &str) -> PyResult<String> {
    let read = |names: &[&str]| read_without(result_json, names).map_err(mend);
    match format {
        "normal" => Ok(to_normal(&read(NOT_IN_NORMAL)?)),
        "terse" => Ok(to_terse(&read(&["bins"])?)),
        "json+" => Ok(format!("{:#}", read(&[])?)),
        // Only `json+` has the bins of the histograms.
        "json" => Ok(format!("{:#}", read(&["bins"])?)),
        other => Err(mend(format!("output format {other}: there are normal, terse, json, json+"))),
    }
}

#[pyfunction]
fn season(py: Python<'_>, request_json: &str, progress: Option<Py<PyAny>>, files: Files) -> PyResult<String> {
    let request = request_of(request_json)?;
    let callback = Callback::new(progress);
    let jobs = own_jobs(&request, &callback)?;
    py.detach(|| perform::season(&request, &jobs, &files, &mut Watch::new(callback)))
}

#[pyfunction]
fn scenario(
    py: Python<'_>,
    request_json: &str,
    name: &str,
    values: Settings,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let request = request_of(request_json)?;
    let callback = Callback::new(progress);
    let jobs = own_jobs(&request, &callback)?;
    py.detach(|| perform::scenario(&request, &jobs, name, &values, &mut Watch::new(callback)))
}

#[pyfunction]
#[pyo3(signature = (over_provisioning, pages_per_block, gc, hot_space, hot_writes, trim_share, unwritten_share))]
fn theory(
    over_provisioning: f64,
    pages_per_block: u32,
    gc: &str,
    hot_space: Option<f64>,
    hot_writes: Option<f64>,
    trim_share: Option<f64>,
    unwritten_share: Option<f64>,
) -> PyResult<String> {
    let gc = GcPolicy::read(&Raw::Text(gc.into()))
        .ok_or_else(|| mend(format!("gc {gc}: expected {}", GcPolicy::EXPECTS)))?;
    let point = closed_forms::Point {
        over_provisioning,
        pages_per_block,
        policy: gc.try_into().map_err(mend)?,
        hot: hot_space.zip(hot_writes),
        trim_share,
        unwritten_share,
    };
    let answer = closed_forms::write_amplification(&point).map_err(mend)?;
    serde_json::to_string(&answer).map_err(mend)
}

#[pyfunction]
fn explain(settings: Settings) -> PyResult<String> {
    serde_json::to_string(&small_drive::record(&settings).map_err(mend)?).map_err(mend)
}

/// The engine of ssdlab.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("EngineError", module.py().get_type::<EngineError>())?;
    module.add("Cancelled", module.py().get_type::<Cancelled>())?;
    module.add("DiskError", module.py().get_type::<disk::DiskError>())?;
    module.add_class::<held::HeldDrive>()?;
    module.add_class::<disk::Disk>()?;
    module.add_class::<serve::Server>()?;
    module.add_function(wrap_pyfunction!(serve::make_folder, module)?)?;
    module.add_function(wrap_pyfunction!(folder::check_folder, module)?)?;
    module.add_function(wrap_pyfunction!(folder::replay_log, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(profiles, module)?)?;
    module.add_function(wrap_pyfunction!(layers, module)?)?;
    module.add_function(wrap_pyfunction!(show, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(check_job, module)?)?;
    module.add_function(wrap_pyfunction!(survey_trace, module)?)?;
    module.add_function(wrap_pyfunction!(render, module)?)?;
    module.add_function(wrap_pyfunction!(season, module)?)?;
    module.add_function(wrap_pyfunction!(scenario, module)?)?;
    module.add_function(wrap_pyfunction!(theory, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(policy::register_policy, module)?)?;
    module.add_function(wrap_pyfunction!(policy::unregister_policy, module)?)?;
    Ok(())
}
