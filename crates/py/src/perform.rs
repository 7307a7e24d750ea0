//! What a request asks for, carried out on a drive that it opens: a job, preconditioning, a scenario.

use crate::drive::open;
use crate::jobs::jobs_of;
use crate::mend;
use crate::output::{Files, Output};
use crate::watch::{Callback, Watch};
use pyo3::prelude::*;
use serde_json::json;
use ssdlab_device::parameter::Value as _;
use ssdlab_device::units::Nanos;
use ssdlab_lab::iolog;
use ssdlab_lab::output::{Context, to_json_text};
use ssdlab_lab::request::RunRequest;
use ssdlab_lab::run::Record;
use ssdlab_lab::session::{Plan, Session};
use ssdlab_lab::workload::job::Job;
use ssdlab_lab::workload::parse::JobFile;

const NOT_WRITTEN: &str = "stopped: the drive (save) and the logs (write_iolog, write_bw_log, …) were not written";

/// Runs the request's job, and keeps the drive where it says so; gives the result as JSON.
pub fn run(request: &RunRequest, file: &JobFile, files: &Files, watch: &mut Watch) -> PyResult<String> {
    let save = request.save.as_ref().map(|path| Output::at(files, "save", path, request.must_be_new)).transpose()?;
    let iolog = iolog::file_of(&file.jobs).map_err(mend)?;
    let _tried = iolog.map(|path| Output::at(files, "write_iolog", path, false)).transpose()?;
    let mut session = open(request)?;
    if save.is_some() {
        session.check_can_be_kept().map_err(mend)?;
    }
    prepare(&mut session, request, &file.jobs, watch)?;
    let timeline = request.timeline.map(|(start, length)| (Nanos(start), Nanos(start.saturating_add(length))));
    let plan = Plan { seed: request.seed, layout: request.layout, timeline };
    let (record, mut context) = session.run(&file.jobs, &plan, watch).map_err(mend)?;
    watch.check(false)?;
    watch.stamp(&mut context);
    let whole = write_all(&mut session, &record, files, save.as_ref(), watch)?;
    let mut notices: Vec<&str> = file.notices.iter().chain(&session.notices).map(String::as_str).collect();
    if !whole && (save.is_some() || !session.logs.is_empty()) {
        notices.push(NOT_WRITTEN);
    }
    context.extra.insert("notices".into(), json!(notices));
    tell_options(&mut context, file);
    Ok(to_json_text(&record, &context, request.json_plus))
}

/// Starts over, and brings into the condition, as the request asks; gives the time that starting over takes, and
/// the blocks that it erased.
pub fn prepare(
    session: &mut Session,
    request: &RunRequest,
    jobs: &[Job],
    watch: &mut Watch,
) -> PyResult<Option<(Nanos, u64)>> {
    let before = session.blocks_erased();
    let took = request.start_over.map(|how| session.start_over(how).map_err(mend)).transpose()?;
    let erased = session.blocks_erased() - before;
    session.by_scale_model = !request.exact;
    if let Some(condition) = request.condition {
        session.bring_to(condition, jobs, request.span, request.seed, watch).map_err(mend)?;
        watch.check(session.season().interrupted)?;
    }
    Ok(took.map(|took| (took, erased)))
}

/// Writes the logs and the drive; `false` where the run was stopped before or meanwhile.
fn write_all(
    session: &mut Session,
    record: &Record,
    files: &Files,
    save: Option<&Output>,
    watch: &mut Watch,
) -> PyResult<bool> {
    let mut whole = !record.interrupted;
    for (path, text) in &session.logs {
        whole = whole && Output::at(files, "", path, false)?.write(text.as_bytes(), watch)?;
    }
    if let (true, Some(output)) = (whole, save) {
        whole = output.write(&session.to_bytes().map_err(mend)?, watch)?;
    }
    Ok(whole)
}

fn tell_options(context: &mut Context, file: &JobFile) {
    let given = file.global_options.iter().filter(|(_, value)| !value.is_empty());
    context.global_options = given.map(|(name, value)| (name.clone(), json!(value))).collect();
}

/// Starts the drive over, preconditions it, and keeps it; says as JSON how that went.
pub fn season(request: &RunRequest, jobs: &[Job], files: &Files, watch: &mut Watch) -> PyResult<String> {
    let place = request.save.as_deref().ok_or_else(|| mend("save null: name the file to keep the drive in"))?;
    let output = Output::at(files, "", place, request.must_be_new)?;
    let mut session = open(request)?;
    session.check_can_be_kept().map_err(mend)?;
    let started_over = prepare(&mut session, request, jobs, watch)?;
    let whole = output.write(&session.to_bytes().map_err(mend)?, watch)?;
    watch.check(!whole)?;
    Ok(json!({
        "file": place,
        "condition": session.condition().to_string(),
        "conditioned_by": session.conditioned_by(),
        "started_over": session.started_over().map(|how| how.show()),
        "start_over_ns": started_over.map(|(took, _)| took.0),
        "start_over_blocks_erased": started_over.map(|(_, erased)| erased),
        "steady_reached": session.season().steady_reached,
        "not_steady": session.season().shortfall(),
        "rounds": session.season().rounds,
        "scale_model": session.season().scaled,
        "way": session.way_told(),
        "counters": session.counters(),
    })
    .to_string())
}

/// Runs a scenario on what the request asks for; gives what it tells as JSON.
pub fn scenario(
    request: &RunRequest,
    jobs: &[Job],
    name: &str,
    values: &[(String, String)],
    watch: &mut Watch,
) -> PyResult<String> {
    let mut session = open(request)?;
    prepare(&mut session, request, jobs, watch)?;
    Ok(session.scenario(name, values, request.seed).map_err(mend)?.to_string())
}

/// The jobs whose writes make a drive steady; none where the request has no job.
pub fn own_jobs(request: &RunRequest, callback: &Callback) -> PyResult<Vec<Job>> {
    let has_job = request.job_text.is_some() || !request.flags.is_empty();
    if has_job {
        Ok(jobs_of(request.job_text.as_deref(), &request.job_name, &request.flags, callback)?.jobs)
    } else {
        Ok(Vec::new())
    }
}
