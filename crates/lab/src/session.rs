//! A drive in hand: opened from a profile or a drive file, seasoned, run, saved.
//!
//! This is what the command and the package do, without files: texts and bytes are handed in and
//! out, and so are progress and the clock.

use crate::condition::{Condition, Season, lay_out, season};
use crate::drive_file::{self, DriveFileError, Label};
use crate::iolog::{self, Logged};
use crate::output::Context;
use crate::run::{Observer, Record, RunError, RunOptions, regions, run};
use crate::workload::generate::JobError;
use crate::workload::job::Job;
use serde_json::{Map, json};
use ssdlab_device::block::Device;
use ssdlab_device::profile::{Profile, ProfileError};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::Nanos;
use thiserror::Error;

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
    /// The job.
    #[error(transparent)]
    Job(#[from] Box<JobError>),
    /// The run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Something about conditions.
    #[error("{0}")]
    Condition(String),
}

/// What a run needs to know.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of the workload.
    pub seed: u64,
    /// A read job on a fresh drive first writes what it will read.
    pub layout: bool,
    /// Stretch of virtual time whose single operations are recorded.
    pub timeline: Option<(Nanos, Nanos)>,
}

/// A drive and what has been done to it.
pub struct Session {
    /// The drive.
    pub ssd: Ssd,
    /// Its parameters and their sources.
    pub profile: Profile,
    label: Label,
    /// File and text of the log that the jobs of the last run asked for.
    pub iolog: Option<(String, String)>,
}

impl Session {
    /// A drive fresh out of the box, from the text of a profile.
    ///
    /// # Errors
    /// What is wrong with profile or settings.
    pub fn from_profile(
        name: &str,
        file: &str,
        text: &str,
        settings: &[(String, String)],
        seed: u64,
    ) -> Result<Session, SessionError> {
        let profile = Profile::read(name, file, text, settings)?;
        let ssd = Ssd::new(&profile.config, seed, ()).map_err(|problem| profile.locate(&problem))?;
        let label = Label {
            name: name.to_string(),
            file: file.to_string(),
            profile: text.to_string(),
            settings: settings.to_vec(),
            condition: Condition::Fresh,
            seed,
            season: Season::default(),
            span: 1.0,
        };
        Ok(Session { ssd, profile, label, iolog: None })
    }

    /// A drive from the bytes of a drive file.
    ///
    /// # Errors
    /// A file that is not whole, and settings: they would change what was seasoned.
    pub fn from_file(file: &str, bytes: &[u8], settings: &[(String, String)]) -> Result<Session, SessionError> {
        let (label, mut ftl) = drive_file::from_bytes(file, bytes)?;
        if let Some((key, value)) = settings.first() {
            let message = format!(
                "--set {key}={value}: {file} is a seasoned drive and keeps its parameters\n\
                 season its profile {} anew with this setting",
                label.name
            );
            return Err(SessionError::Condition(message));
        }
        let profile = Profile::read(&label.name, &label.file, &label.profile, &label.settings)?;
        ftl.configure(&profile.config, profile.config.ftl.gc.build());
        let ssd = Ssd::around(&profile.config, ftl);
        Ok(Session { ssd, profile, label, iolog: None })
    }

    /// The drive's condition.
    pub fn condition(&self) -> Condition {
        self.label.condition
    }

    /// How seasoning went.
    pub fn season(&self) -> &Season {
        &self.label.season
    }

    /// Brings the drive into a condition; `span` is the share of the exported range that is used.
    ///
    /// # Errors
    /// A condition that the drive has left behind, a span out of range, a job that does not fit.
    pub fn bring_to(
        &mut self,
        condition: Condition,
        jobs: &[Job],
        span: f64,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), SessionError> {
        if !(span > 0.0 && span <= 1.0) {
            return Err(SessionError::Condition(format!(
                "span {span}: the used share of the drive is above 0 and at most 1 (100 %)"
            )));
        }
        let from = self.label.condition;
        if (condition as usize) < from as usize {
            let message = format!(
                "the drive is {from} already and cannot become {condition} again; start from its profile {}",
                self.label.name
            );
            return Err(SessionError::Condition(message));
        }
        if from != Condition::Fresh && span != self.label.span {
            let message = format!(
                "the drive was seasoned with a span of {}, not {span}; start from its profile {}",
                self.label.span, self.label.name
            );
            return Err(SessionError::Condition(message));
        }
        self.label.season = season(&mut self.ssd, from, condition, jobs, span, seed, observer)?;
        self.label.condition = condition;
        self.label.span = span;
        Ok(())
    }

    /// The drive as the bytes of a drive file.
    pub fn to_bytes(&self) -> Vec<u8> {
        drive_file::to_bytes(&self.label, &self.ssd.ftl)
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
        let mut laid_out = 0;
        if plan.layout && self.label.condition == Condition::Fresh {
            let regions = regions(jobs, self.ssd.limits())?;
            laid_out = lay_out(&mut self.ssd, &regions);
        }
        if let Some((from, to)) = plan.timeline {
            self.ssd.record_timeline(from, to);
        }
        let options = RunOptions { start: Nanos::ZERO, seed: plan.seed };
        let log = iolog::file_of(jobs).map_err(SessionError::Condition)?;
        let record = match log {
            None => run(&mut self.ssd, jobs, &options, observer)?,
            Some(file) => {
                let mut logged = Logged::new(&mut self.ssd, &self.label.name);
                let record = run(&mut logged, jobs, &options, observer)?;
                self.iolog = Some((file.to_string(), logged.into_text()));
                record
            }
        };
        let context = self.context(plan, laid_out);
        Ok((record, context))
    }

    fn context(&mut self, plan: &Plan, laid_out: u64) -> Context {
        let (channels, dies) = self.ssd.shape();
        let mut extra = Map::new();
        extra.insert("span".into(), json!(self.label.span));
        extra.insert("laid_out_bytes".into(), json!(laid_out));
        extra.insert("read_only".into(), json!(self.ssd.ftl.read_only));
        extra.insert("wear".into(), crate::describe::wear(&self.ssd));
        extra.insert("season".into(), json!({ "rounds": self.label.season.rounds }));
        extra.insert("parameters".into(), crate::describe::parameters(&self.profile));
        if plan.timeline.is_some() {
            extra.insert("timeline".into(), json!(self.ssd.take_timeline()));
        }
        Context {
            profile: self.label.name.clone(),
            version: VERSION.into(),
            seed: plan.seed,
            condition: self.label.condition.to_string(),
            steady_reached: self.label.season.steady_reached,
            dies,
            channels,
            extra,
            ..Context::default()
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::output::to_json;
    use crate::run::Silent;
    use crate::workload::parse::parse_flags;
    use ssdlab_device::profile::built_in;

    fn open() -> Session {
        let settings = [("capacity_bytes", "64 MiB"), ("nand.pages_per_block", "32"), ("nand.dies_per_channel", "1")];
        let settings: Vec<_> = settings.map(|(key, value)| (key.to_string(), value.to_string())).to_vec();
        Session::from_profile("theory", "theory.toml", built_in("theory").unwrap(), &settings, 3).unwrap()
    }

    fn jobs() -> Vec<Job> {
        let flags = ["--rw=randrw", "--bs=4k", "--iodepth=8", "--io_size=32m", "--norandommap"].map(String::from);
        parse_flags(&flags).unwrap().jobs
    }

    fn plan() -> Plan {
        Plan { seed: 3, layout: true, timeline: None }
    }

    /// A run from a drive file gives the same bytes of result as the run that seasoned the drive itself.
    #[test]
    fn a_drive_file_continues_where_it_was_saved() {
        let mut first = open();
        first.bring_to(Condition::Steady, &jobs(), 1.0, 3, &mut Silent).unwrap();
        let mut second = Session::from_file("old.ssd", &first.to_bytes(), &[]).unwrap();
        let result = |session: &mut Session| {
            let (record, context) = session.run(&jobs(), &plan(), &mut Silent).unwrap();
            to_json(&record, &context, true).to_string()
        };
        assert_eq!(result(&mut first), result(&mut second));
    }

    /// A cut, damaged or foreign file is refused by name, and so are settings over a seasoned drive.
    #[test]
    fn broken_drive_files_are_refused() {
        let bytes = open().to_bytes();
        let refused = |bytes: &[u8]| Session::from_file("old.ssd", bytes, &[]).err().unwrap().to_string();
        assert!(refused(b"hello").contains("not a drive file"));
        assert!(refused(&bytes[..bytes.len() / 2]).contains("cut or damaged"));
        let mut damaged = bytes.clone();
        damaged[100] ^= 1;
        assert!(refused(&damaged).contains("cut or damaged"));
        let settings = [("ftl.gc".to_string(), "fifo".to_string())];
        assert!(
            Session::from_file("old.ssd", &bytes, &settings)
                .err()
                .unwrap()
                .to_string()
                .contains("keeps its parameters")
        );
    }

    /// A read job on a fresh drive hits what was laid out; without that every read hits nothing, and is counted.
    #[test]
    fn reads_on_a_fresh_drive_are_laid_out() {
        let flags = ["--rw=randread", "--bs=4k", "--size=8m"].map(String::from);
        let reads = parse_flags(&flags).unwrap().jobs;
        for (layout, unmapped) in [(true, 0), (false, 2048)] {
            let (record, _) = open().run(&reads, &Plan { layout, ..plan() }, &mut Silent).unwrap();
            assert_eq!(record.groups[0].counters().unmapped_reads, unmapped);
        }
    }
}
