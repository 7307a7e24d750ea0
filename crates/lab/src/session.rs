//! A drive in hand, or a stack of drives and layers: opened, seasoned, run, saved.
//!
//! This is what the command and the package do, without files: texts and bytes are handed in and
//! out, and so are progress and the clock.
//!
//! A drive without layers runs as it is; of a stack each drive is a member, opened alike from the
//! same profile or drive file, each with a seed of its own. A stack is not kept in a drive file.

mod conditioning;
mod memory;
mod smaller;
mod source;
mod target;
#[cfg(test)]
mod test;

use crate::condition::{Condition, Season};
use crate::drive_file::{self, DriveFileError, Label};
use crate::files::run::run_scenario;
use crate::files::scenario::Scenario;
use crate::files::sourced::ScenarioError;
use crate::host::drive::Drive;
use crate::host::registry::LayerPlan;
use crate::host::text::{LayerText, StackError};
use crate::iolog;
use crate::output::{Context, logs};
use crate::run::{Observer, Record, RunError, RunOptions, regions};
use crate::with_bytes::WithBytes;
use crate::workload::generate::JobError;
use crate::workload::job::Job;
use crate::workload::layout;
use crate::workload::trace::Trace;
use crate::{describe, session::target::Target};
use memory::Memory;
use serde_json::{Map, Value, json};
use source::Opened;
use ssdlab_device::config::power::PowerConfig;
use ssdlab_device::parameter::Value as _;
use ssdlab_device::profile::{Profile, ProfileError};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_device::units::Nanos;
use ssdlab_disk::disk::sizes;
use ssdlab_disk::folder;
use ssdlab_disk::image::Sizes;
use ssdlab_disk::medium::Medium;
use std::path::Path;
use thiserror::Error;

pub use source::DriveSource;

/// Version of ssdlab.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why a session cannot go on; the user can mend all of it.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The profile or a setting.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The drive file.
    #[error(transparent)]
    DriveFile(#[from] DriveFileError),
    /// The folder of a drive.
    #[error(transparent)]
    Folder(#[from] folder::FolderError),
    /// A layer.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// The job.
    #[error(transparent)]
    Job(#[from] Box<JobError>),
    /// The run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Something about conditions.
    #[error("{0}")]
    Condition(String),
    /// A victim policy that gave a wrong answer.
    #[error("{0}")]
    Policy(String),
    /// A drive that cannot be had.
    #[error("{0}")]
    Drive(String),
}

/// What a run needs to know.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of the workload.
    pub seed: u64,
    /// A read job on a fresh drive first writes what it will read.
    pub layout: bool,
    /// Stretch of virtual time whose single operations are recorded; of a stack, those of its first drive.
    pub timeline: Option<(Nanos, Nanos)>,
}

/// A drive or a stack, and what has been done to it.
pub struct Session {
    target: Target,
    /// Parameters of the drive, of a stack those of the drive at the bottom, and their sources.
    pub profile: Profile,
    label: Label,
    /// What it is called in results.
    pub name: String,
    layers: Vec<LayerPlan>,
    /// The drive file that it was read from.
    drive_file: Option<String>,
    memory: Memory,
    prepared: bool,
    /// The end of the last run, at which the next one begins.
    now: Nanos,
    /// Whether a single drive may come into steady state by a scale model, where that holds.
    pub by_scale_model: bool,
    /// What there is to say about the last run.
    pub notices: Vec<String>,
    /// Files and texts of the logs that the jobs of the last run asked for.
    pub logs: Vec<(String, String)>,
}

impl Session {
    /// A drive.
    ///
    /// # Errors
    /// What is wrong with profile, drive file or settings.
    pub fn open(source: &DriveSource, settings: &[(String, String)], seed: u64) -> Result<Session, SessionError> {
        let mut memory = Memory::default();
        let Opened { drive, profile, label } = source.open(settings, seed, &mut memory)?;
        let session = Session::of(Target::Drive(drive), profile, label, Vec::new(), memory);
        Ok(Session { drive_file: source.drive_file(), ..session })
    }

    /// Layers over a drive, bottom up; `find` tells what a second drive that a layer names is
    /// opened from.
    ///
    /// # Errors
    /// What is wrong with profile, drive file, settings or layers.
    pub fn open_stack(
        source: &DriveSource,
        settings: &[(String, String)],
        layers: Vec<LayerText>,
        seed: u64,
        find: &mut dyn FnMut(&str) -> Result<DriveSource, SessionError>,
    ) -> Result<Session, SessionError> {
        if layers.is_empty() {
            return Session::open(source, settings, seed);
        }
        let layers = layers.into_iter().map(LayerPlan::read).collect::<Result<Vec<_>, _>>()?;
        let (mut first, mut memory) = (None, Memory::default());
        let target = Target::stack(&layers, &mut |number, name| {
            // The first drive is the one that would be there without layers.
            let seed = target::seed_of(seed, number);
            let opened = match name {
                None => source.open(settings, seed, &mut memory)?,
                Some(name) => find(name)?.open(&[], seed, &mut memory)?,
            };
            first.get_or_insert((opened.profile, opened.label.clone()));
            Ok((opened.drive, opened.label.name))
        })?;
        let (profile, label) = first.expect("a stack has a drive");
        Ok(Session { drive_file: source.drive_file(), ..Session::of(target, profile, label, layers, memory) })
    }

    fn of(target: Target, profile: Profile, label: Label, layers: Vec<LayerPlan>, memory: Memory) -> Session {
        Session {
            target,
            profile,
            name: label.name.clone(),
            label,
            layers,
            drive_file: None,
            memory,
            prepared: false,
            now: Nanos::ZERO,
            by_scale_model: false,
            notices: Vec::new(),
            logs: Vec::new(),
        }
    }

    /// What lies over the drive and what it is made of, as JSON: parameters with their sources,
    /// what follows from them, counters, wear.
    pub fn show(&mut self) -> Value {
        let mut shown = json!({
            "name": self.name,
            "title": self.profile.title,
            "summary": self.profile.summary,
            "file": self.profile.file,
            "drive_file": self.drive_file,
            "condition": self.condition().to_string(),
            "conditioned_by": self.conditioned_by(),
            "started_over": self.label.started_over.map(|how| how.show()),
            "parameters": self.parameters(),
            "derived": self.target.derived(),
            "counters": self.counters(),
            "memory_bytes": self.memory.bytes(),
            "wear": self.target.wear(),
            "health": self.health(),
            "read_only": self.target.shortage().is_some(),
            "read_only_reason": self.read_only_reason(),
        });
        if !self.layers.is_empty() {
            shown["layers"] = self.layers.iter().map(|layer| json!(layer.kind.name)).collect();
        }
        shown
    }

    /// What the health log of the first drive says; null of a hard disk.
    fn health(&mut self) -> Value {
        let signs = self.label.signs;
        self.target.with_first_mut(|drive| drive.ssd_mut().map_or(Value::Null, |ssd| describe::health(ssd, &signs)))
    }

    /// What a drive that takes no more writes is out of.
    fn read_only_reason(&self) -> Option<String> {
        self.target.shortage().map(|shortage| format!("out of {shortage}"))
    }

    fn parameters(&self) -> Value {
        let mut parameters = describe::parameters(&self.profile);
        if let (Value::Array(all), Value::Array(more)) = (&mut parameters, describe::layer_parameters(&self.layers)) {
            all.extend(more);
        }
        parameters
    }

    /// The counters of all drives together, as JSON.
    pub fn counters(&mut self) -> Value {
        describe::counters(&self.target.device_mut().counters())
    }

    /// Blocks erased so far, of all drives.
    pub fn blocks_erased(&mut self) -> u64 {
        self.target.device_mut().counters().blocks_erased
    }

    /// The drive's condition.
    pub fn condition(&self) -> Condition {
        self.label.condition
    }

    /// How seasoning went.
    pub fn season(&self) -> &Season {
        &self.label.season
    }

    /// How the drive started over last, where nothing was done to it since.
    pub fn started_over(&self) -> Option<StartOver> {
        self.label.started_over
    }

    /// Starts over, as [`Label::start_over`] says; returns the time that it takes.
    ///
    /// # Errors
    /// Why the drive cannot.
    pub fn start_over(&mut self, how: StartOver) -> Result<Nanos, SessionError> {
        let name = self.label.name.clone();
        let refused = |reason: String| SessionError::Condition(format!("{name}: {}: {reason}", how.show()));
        let Target::Drive(Drive::Ssd(ssd)) = &mut self.target else {
            return Err(refused("only a solid-state drive without layers starts over".into()));
        };
        let time = ssd.start_over(how).map_err(|reason| refused(reason.to_string()))?;
        self.label.start_over(how);
        Ok(time)
    }

    /// Does once what setting up the layers writes.
    fn prepare(&mut self) {
        if !std::mem::replace(&mut self.prepared, true) {
            self.target.prepare();
        }
    }

    /// Whether the drive can be kept in a file.
    ///
    /// # Errors
    /// A stack cannot, nor can a hard disk.
    pub fn check_can_be_kept(&self) -> Result<(), SessionError> {
        match &self.target {
            Target::Drive(Drive::Ssd(_)) => Ok(()),
            Target::Drive(Drive::Hdd(_)) => {
                let message = format!("{}: a hard disk has no condition to keep; name its profile instead", self.name);
                Err(SessionError::Drive(message))
            }
            Target::Stack { .. } => Err(SessionError::Drive(
                "a drive file keeps one drive, without layers\n\
                 season the drive itself and put the layers over its file, or give --state to the run"
                    .into(),
            )),
        }
    }

    /// The drive as the bytes of a drive file.
    ///
    /// # Errors
    /// As [`Session::check_can_be_kept`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>, SessionError> {
        self.put_away()?;
        let bytes = |drive: &Drive| drive.ssd().map(|ssd| drive_file::to_bytes(&self.label, &ssd.ftl.saved()));
        Ok(self.target.with_first(bytes).expect("just checked"))
    }

    /// The drive with bytes, over a medium that is made for its size; this one stays as it is.
    ///
    /// # Errors
    /// As [`Session::check_can_be_kept`].
    pub fn with_bytes<M: Medium>(&mut self, medium: impl FnOnce(Sizes) -> M) -> Result<WithBytes<M>, SessionError> {
        self.put_away()?;
        let (label, profile) = (self.label.clone(), self.profile.clone());
        let medium = |sizes| Ok::<M, ProfileError>(medium(sizes));
        let around = |drive: &Drive| drive.ssd().map(|ssd| WithBytes::new(label, profile, ssd.ftl.saved(), medium));
        Ok(self.target.with_first(around).expect("just checked")?)
    }

    /// Makes a folder with the drive and the bytes of an image, or zeroes.
    ///
    /// # Errors
    /// As [`Session::check_can_be_kept`]; what the folder says.
    pub fn to_folder(&mut self, path: &Path, source: &folder::Source) -> Result<(), SessionError> {
        let checkpoint = self.to_bytes()?;
        folder::Folder::create(path, &checkpoint, sizes(self.profile.ssd()?), source)?;
        Ok(())
    }

    /// Nothing is under way in the drive, so that it can be kept.
    fn put_away(&mut self) -> Result<(), SessionError> {
        self.check_can_be_kept()?;
        self.target.with_first_mut(|drive| drive.ssd_mut().map(Ssd::put_away));
        self.target.check_policies()
    }

    /// How traces are not replayed as they stand: requests left out, offsets made to fit the drive.
    fn traces_told(&self, jobs: &[Job]) -> Vec<String> {
        let capacity = self.target.device().limits().capacity_bytes();
        let traces = jobs.iter().filter_map(|job| job.replay.as_ref()).map(|replay| &replay.trace);
        let of = |trace: &Trace| [trace.left_out(), trace.told(capacity)].into_iter().flatten();
        let mut told = Vec::new();
        for notice in traces.flat_map(of) {
            if !told.contains(&notice) {
                told.push(notice);
            }
        }
        told
    }

    /// Runs jobs; returns what happened and what the record does not know itself.
    ///
    /// # Errors
    /// A job that does not fit the drive.
    pub fn run(
        &mut self,
        jobs: &[Job],
        plan: &Plan,
        observer: &mut dyn Observer,
    ) -> Result<(Record, Context), SessionError> {
        self.prepare();
        let jobs = &self.placed(jobs)?;
        let told = layout::told(jobs).into_iter().chain(self.traces_told(jobs));
        self.notices = told.chain(self.another_steady_state(jobs)).collect();
        let mut laid_out = 0;
        if plan.layout && self.label.is_empty() {
            let regions = regions(jobs, self.target.device().limits())?;
            laid_out = self.target.lay_out(&regions);
        }
        let written = self.host_pages_written();
        if let Some((from, to)) = plan.timeline {
            self.record_timeline(from, to)?;
        }
        let options = RunOptions { start: self.now, seed: plan.seed };
        let file = iolog::file_of(jobs).map_err(SessionError::Condition)?;
        let (record, log) = self.target.run(jobs, &options, file.is_some().then_some(self.name.as_str()), observer)?;
        self.target.check_policies()?;
        self.now = record.end;
        self.logs = file.map(str::to_string).zip(log).into_iter().chain(logs(&record)).collect();
        let context = self.context(plan, laid_out);
        self.note_writes_since(written);
        Ok((record, context))
    }

    /// Notes in the label whether jobs wrote after this many pages of the host.
    fn note_writes_since(&mut self, host_pages: u64) {
        let has_written = self.host_pages_written() > host_pages;
        self.label.note_writes(has_written);
    }

    /// The jobs with their places on this drive.
    fn placed(&self, jobs: &[Job]) -> Result<Vec<Job>, Box<JobError>> {
        let mut jobs = jobs.to_vec();
        layout::assign_ranges(&mut jobs, self.target.device().limits())?;
        Ok(jobs)
    }

    /// The power states of a single solid-state drive that has any.
    fn power(&self) -> Option<PowerConfig> {
        let Target::Drive(Drive::Ssd(ssd)) = &self.target else { return None };
        Some(&ssd.config().power).filter(|power| power.active_mw.is_some()).cloned()
    }

    /// Runs a scenario (files in virtual time) on what is here, in the condition it is in; gives the
    /// result with the parameters that it rests on, as JSON.
    ///
    /// # Errors
    /// An unknown scenario or value, a file system that does not fit.
    pub fn scenario(&mut self, name: &str, values: &[(String, String)], seed: u64) -> Result<Value, SessionError> {
        let scenario = Scenario::named(name, values)?;
        self.prepare();
        let (conditioned_by, written) = (self.conditioned_by(), self.host_pages_written());
        let result = run_scenario(self.target.device_mut(), &scenario, Nanos::ZERO, seed)?;
        self.target.check_policies()?;
        self.note_writes_since(written);
        Ok(json!({
            "profile": self.name,
            "seed": seed,
            "conditioned_by": conditioned_by,
            "steady_reached": self.label.season.steady_reached,
            "not_steady": self.label.season.shortfall(),
            "scenario": result,
            "counters": self.counters(),
            "parameters": self.parameters(),
        }))
    }

    /// How seasoning went, as JSON; of the scale model only what it was, or why there was none.
    fn season_shown(&self) -> Value {
        let mut shown = json!({ "rounds": self.label.season.rounds });
        if let Some(scaled) = &self.label.season.scaled {
            shown["scale_model"] = json!(scaled);
        }
        if let Some(reason) = &self.label.season.refused {
            shown["no_scale_model"] = json!(reason);
        }
        shown
    }

    fn host_pages_written(&mut self) -> u64 {
        self.target.device_mut().counters().host_pages_written
    }

    fn record_timeline(&mut self, from: Nanos, to: Nanos) -> Result<(), SessionError> {
        let recorded = self.target.with_first_mut(|drive| drive.ssd_mut().map(|ssd| ssd.record_timeline(from, to)));
        recorded.ok_or_else(|| {
            let message = format!(
                "{}: only flash operations are recorded, and this is a hard disk; leave the timeline out",
                self.name
            );
            SessionError::Drive(message)
        })
    }

    fn context(&mut self, plan: &Plan, laid_out: u64) -> Context {
        let shape = self.target.shape();
        let mut extra = Map::new();
        if let Some(scale) = self.label.scale {
            extra.insert("scale".into(), json!(scale));
        }
        extra.insert("span".into(), json!(self.label.span));
        extra.insert("started_over".into(), json!(self.label.started_over.map(|how| how.show())));
        extra.insert("laid_out_bytes".into(), json!(laid_out));
        extra.insert("read_only".into(), json!(self.target.shortage().is_some()));
        extra.insert("read_only_reason".into(), json!(self.read_only_reason()));
        extra.insert("wear".into(), self.target.wear());
        extra.insert("season".into(), self.season_shown());
        extra.insert("parameters".into(), self.parameters());
        if plan.timeline.is_some() {
            extra.insert(
                "timeline".into(),
                json!(self.target.with_first_mut(|drive| drive.ssd_mut().map(Ssd::take_timeline))),
            );
        }
        Context {
            profile: self.name.clone(),
            version: VERSION.into(),
            seed: plan.seed,
            condition: self.label.condition.to_string(),
            conditioned_by: self.conditioned_by(),
            steady_reached: self.label.season.steady_reached,
            not_steady: self.label.season.shortfall(),
            dies: shape.dies,
            channels: shape.channels,
            drives: shape.drives,
            power: self.power(),
            extra,
            ..Context::default()
        }
    }
}
