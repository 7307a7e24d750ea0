//! Python bindings: converts, holds no logic.
//!
//! Texts and plain values go in, JSON text comes out; the interpreter's lock is released while the
//! engine works, so that several drives run on several cores. Files are read (`input`) and written (`output`) here.

mod drive;
mod input;
mod output;
mod surroundings;
mod watch;

use drive::open;
use input::{Input, TRACE_BYTES};
use output::Output;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde_json::json;
use ssdlab_device::config::ftl::GcPolicy;
use ssdlab_device::parameter::{Raw, Value as _};
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_device::units::Nanos;
use ssdlab_lab::condition::Condition;
use ssdlab_lab::output::{NOT_IN_NORMAL, read_without, to_json_text, to_normal, to_terse};
use ssdlab_lab::session::{Plan, VERSION};
use ssdlab_lab::workload::parse::{JobFile, Surroundings, parse};
use ssdlab_lab::{describe, explain as small_drive, iolog, theory as closed_forms};
use std::fmt::Display;
use watch::Watch;

pyo3::create_exception!(_engine, EngineError, PyException, "What the user can mend.");
pyo3::create_exception!(_engine, Cancelled, PyException, "The callback asked to stop.");

type Settings = Vec<(String, String)>;

/// Anything the user can mend, as the package's error.
fn mend(error: impl Display) -> PyErr {
    EngineError::new_err(error.to_string())
}

fn way_named(name: &str) -> PyResult<StartOver> {
    let read = StartOver::read(&Raw::Text(name.into()));
    read.ok_or_else(|| mend(format!("start over {name}: expected {}", StartOver::EXPECTS)))
}

fn condition_named(name: &str) -> PyResult<Condition> {
    Condition::named(name).ok_or_else(|| mend(format!("condition {name}: there are fresh, filled, used, steady")))
}

/// The jobs of a job file and flags; traces they name are read here.
fn jobs_of(job_text: Option<&str>, job_name: &str, flags: &[String]) -> PyResult<JobFile> {
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
fn show(drive: &str, settings: Settings, layers: Vec<String>) -> PyResult<String> {
    Ok(open(drive, &settings, &layers, 1)?.show().to_string())
}

#[pyfunction]
#[pyo3(signature = (drive, settings, layers, job_text, job_name, flags, condition, span, scale_model, seed, layout, timeline, json_plus, progress, save))]
#[allow(clippy::too_many_arguments)]
fn run(
    py: Python<'_>,
    drive: &str,
    settings: Settings,
    layers: Vec<String>,
    job_text: Option<&str>,
    job_name: &str,
    flags: Vec<String>,
    condition: Option<&str>,
    span: f64,
    scale_model: bool,
    seed: u64,
    layout: bool,
    timeline: Option<(u64, u64)>,
    json_plus: bool,
    progress: Option<Py<PyAny>>,
    save: Option<&str>,
) -> PyResult<String> {
    let condition = condition.map(condition_named).transpose()?;
    let file = jobs_of(job_text, job_name, &flags)?;
    let timeline = timeline.map(|(start, length)| (Nanos(start), Nanos(start.saturating_add(length))));
    py.detach(|| {
        let mut watch = Watch::new(progress);
        let save = save.map(|path| Output::at("save", path, false)).transpose()?;
        let iolog = iolog::file_of(&file.jobs).map_err(mend)?;
        let _tried = iolog.map(|path| Output::at("write_iolog", path, false)).transpose()?;
        let mut session = open(drive, &settings, &layers, seed)?;
        if save.is_some() {
            session.check_can_be_kept().map_err(mend)?;
        }
        session.by_scale_model = scale_model;
        if let Some(condition) = condition {
            session.bring_to(condition, &file.jobs, span, seed, &mut watch).map_err(mend)?;
            watch.check(session.season().interrupted)?;
        }
        let plan = Plan { seed, layout, timeline };
        let (record, mut context) = session.run(&file.jobs, &plan, &mut watch).map_err(mend)?;
        watch.check(false)?;
        watch.stamp(&mut context);
        context.global_options = file
            .global_options
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        let mut whole = !record.interrupted;
        for (path, text) in &session.logs {
            whole = whole && Output::at("", path, false)?.write(text.as_bytes(), &mut watch)?;
        }
        if let (true, Some(output)) = (whole, &save) {
            whole = output.write(&session.to_bytes().map_err(mend)?, &mut watch)?;
        }
        let mut notices: Vec<String> = file.notices.iter().chain(&session.notices).cloned().collect();
        if !whole && (save.is_some() || !session.logs.is_empty()) {
            notices
                .push("stopped: the drive (save) and the logs (write_iolog, write_bw_log, …) were not written".into());
        }
        context.extra.insert("notices".into(), json!(notices));
        Ok(to_json_text(&record, &context, json_plus))
    })
}

#[pyfunction]
fn check_job(job_text: Option<&str>, job_name: &str, flags: Vec<String>) -> PyResult<String> {
    let file = jobs_of(job_text, job_name, &flags)?;
    let names: Vec<&str> = file.jobs.iter().map(|job| job.name.as_str()).collect();
    Ok(json!({ "jobs": names, "notices": file.notices }).to_string())
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
#[pyo3(signature = (drive, settings, start_over, condition, span, scale_model, seed, job_text, job_name, flags, save, must_be_new, progress))]
#[allow(clippy::too_many_arguments)]
fn season(
    py: Python<'_>,
    drive: &str,
    settings: Settings,
    start_over: Option<&str>,
    condition: Option<&str>,
    span: f64,
    scale_model: bool,
    seed: u64,
    job_text: Option<&str>,
    job_name: &str,
    flags: Vec<String>,
    save: &str,
    must_be_new: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let start_over = start_over.map(way_named).transpose()?;
    let condition = condition.map(condition_named).transpose()?;
    let jobs =
        if job_text.is_some() || !flags.is_empty() { jobs_of(job_text, job_name, &flags)?.jobs } else { Vec::new() };
    py.detach(|| {
        let mut watch = Watch::new(progress);
        let output = Output::at("", save, must_be_new)?;
        let mut session = open(drive, &settings, &[], seed)?;
        session.check_can_be_kept().map_err(mend)?;
        let before = session.blocks_erased();
        let took = start_over.map(|how| session.start_over(how).map_err(mend)).transpose()?;
        let erased = session.blocks_erased() - before;
        session.by_scale_model = scale_model;
        if let Some(condition) = condition {
            session.bring_to(condition, &jobs, span, seed, &mut watch).map_err(mend)?;
            watch.check(session.season().interrupted)?;
        }
        let whole = output.write(&session.to_bytes().map_err(mend)?, &mut watch)?;
        watch.check(!whole)?;
        Ok(json!({
            "file": save,
            "condition": session.condition().to_string(),
            "started_over": session.started_over().map(|how| how.show()),
            "start_over_ns": took.map(|took| took.0),
            "start_over_blocks_erased": took.map(|_| erased),
            "steady_reached": session.season().steady_reached,
            "rounds": session.season().rounds,
            "scale_model": session.season().scaled,
            "way": session.way_told(),
            "counters": session.counters(),
        })
        .to_string())
    })
}

#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn scenario(
    py: Python<'_>,
    drive: &str,
    settings: Settings,
    layers: Vec<String>,
    name: &str,
    values: Settings,
    seed: u64,
) -> PyResult<String> {
    py.detach(|| {
        let mut session = open(drive, &settings, &layers, seed)?;
        Ok(session.scenario(name, &values, seed).map_err(mend)?.to_string())
    })
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
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(profiles, module)?)?;
    module.add_function(wrap_pyfunction!(layers, module)?)?;
    module.add_function(wrap_pyfunction!(show, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(check_job, module)?)?;
    module.add_function(wrap_pyfunction!(render, module)?)?;
    module.add_function(wrap_pyfunction!(season, module)?)?;
    module.add_function(wrap_pyfunction!(scenario, module)?)?;
    module.add_function(wrap_pyfunction!(theory, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    Ok(())
}
