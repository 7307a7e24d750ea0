//! fio job files and command lines, read as fio reads them, only stricter.
//!
//! A `[global]` section holds for the sections after it; several add up. Options on a command
//! line before the first `--name` hold for all jobs; beside a job file they are added to every
//! section, after its own options, so that they win. Each further `--name` starts a job, and
//! `--section` picks jobs of the file. All that is wrong is told at once.

use super::draft::Draft;
pub use super::draft::FindTrace;
use super::error::Problem;
pub use super::error::{JobError, JobErrors};
use super::job::Job;
use super::options::{self, Class, OptionSpec};
use super::value::Value;

mod flags;
mod sections;
mod surroundings;

use flags::{flag_sections, take_sections};
use sections::Sections;
pub use surroundings::{Machine, Surroundings};

/// What a command line error names as its place.
const COMMAND_LINE: &str = "command line";

/// The jobs of a run, and what there is to say about their options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobFile {
    /// In the order they were given; clones are not multiplied out.
    pub jobs: Vec<Job>,
    /// One line for each option accepted without effect and each synchronous engine.
    pub notices: Vec<String>,
    /// The options of `[global]`, for fio's "global options"; a bare one has an empty value.
    pub global_options: Vec<(String, String)>,
}

/// One option as it was given, known to the table.
#[derive(Clone, Debug)]
struct Setting {
    spec: OptionSpec,
    spelled: String,
    value: String,
    file: String,
    line: Option<u32>,
}

/// A job's options: those it inherits and its own.
#[derive(Clone, Debug, Default)]
struct Section {
    name: String,
    file: String,
    line: Option<u32>,
    inherited: Vec<Setting>,
    own: Vec<Setting>,
}

/// The jobs of a job file; a trace named in it is an error, for there is no one to read it.
///
/// # Errors
/// All that is wrong, with its lines.
pub fn parse_job_file(text: &str, file: &str) -> Result<JobFile, JobErrors> {
    parse(Some((text, file)), &[], Surroundings::files(&mut no_files))
}

/// The jobs of a fio command line.
///
/// # Errors
/// All that is wrong.
pub fn parse_flags(flags: &[String]) -> Result<JobFile, JobErrors> {
    parse(None, flags, Surroundings::files(&mut no_files))
}

fn no_files(path: &str) -> Result<String, String> {
    Err(format!("{path} cannot be read here"))
}

/// The jobs of a job file `(text, name)`, a command line, or both; `around` is what they can reach beside
/// their own text.
///
/// # Errors
/// All that is wrong, with its places.
pub fn parse(
    job_text: Option<(&str, &str)>,
    flags: &[String],
    mut around: Surroundings<'_>,
) -> Result<JobFile, JobErrors> {
    let mut errors = Vec::new();
    let mut file = match job_text {
        Some((text, file)) => Sections::read(text, file, &mut around, &mut errors),
        None => Sections::default(),
    };
    let (wanted, flags) = take_sections(flags);
    let (base, named) = flag_sections(&flags, &around, &mut errors);
    pick(&mut file.jobs, &wanted, &mut errors);
    for section in &mut file.jobs {
        section.own.extend(base.iter().cloned());
    }
    let mut sections = file.jobs;
    let mut global = file.global;
    if sections.is_empty() && named.is_empty() {
        let name = String::from("job");
        let file = COMMAND_LINE.to_string();
        sections.push(Section { name, file, own: base, ..Section::default() });
    } else if job_text.is_none() {
        global = base;
    }
    sections.extend(named);
    let mut result = JobFile { global_options: as_given(&global), notices: notices(&sections), jobs: Vec::new() };
    for section in &sections {
        match build(section, around.find_trace, &mut errors) {
            Some(job) => result.add(job),
            None => continue,
        }
    }
    check_order(&sections, &result.jobs, &mut errors);
    if errors.is_empty() { Ok(result) } else { Err(JobErrors::new(errors)) }
}

impl JobFile {
    fn add(&mut self, job: Job) {
        if let Some(engine) = &job.synchronous_engine {
            let notice = format!("ioengine={engine} is synchronous: depth 1");
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
        if let Some(bytes) = job.rounded_block_bytes {
            let notice = format!(
                "bs={bytes} is no whole number of sectors: as through the page cache, whole pages of 4096 B go to \
                 the drive, and sizes and rates count those"
            );
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
        self.jobs.push(job);
    }
}

/// Leaves the jobs of these names; none given leaves all.
fn pick(jobs: &mut Vec<Section>, wanted: &[String], errors: &mut Vec<JobError>) {
    for name in wanted.iter().filter(|name| !jobs.iter().any(|job| job.name == **name)) {
        let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        let remedy = format!("its jobs are {}", names.join(", "));
        let problem = Problem::new("the job file has no job of this name", remedy);
        errors.push(place(COMMAND_LINE, None, "--section", name, problem));
    }
    jobs.retain(|job| wanted.is_empty() || wanted.contains(&job.name));
}

/// A job can only wait for one that stands before it.
fn check_order(sections: &[Section], jobs: &[Job], errors: &mut Vec<JobError>) {
    for (index, job) in jobs.iter().enumerate() {
        let Some(name) = &job.wait_for else { continue };
        let before = jobs[..index].iter().any(|other| other.name == *name);
        let setting =
            sections.iter().flat_map(|s| s.inherited.iter().chain(&s.own)).find(|s| s.spec.name == "wait_for");
        if let Some(setting) = setting.filter(|_| !before) {
            errors.push(at(setting, Problem::new(format!("no job before it is called {name}"), "name an earlier job")));
        }
    }
}

/// Looks the option up and refuses what does not belong here.
fn setting(
    name: &str,
    value: &str,
    has_value: bool,
    file: &str,
    line: Option<u32>,
    around: &Surroundings<'_>,
) -> Result<Setting, JobError> {
    let error = |problem| Err(place(file, line, name, value, problem));
    let Some(spec) = options::find(name) else {
        return error(unknown(name));
    };
    let value = match (around.replace(value), spec.class) {
        (Ok(value), _) => value,
        (Err(_), Class::Ignored(_)) => value.to_string(),
        (Err(problem), _) => return error(problem),
    };
    match spec.class {
        Class::Supported(_) if !spec.bare && (!has_value || value.is_empty()) => {
            error(Problem::new("needs a value", format!("write {name}=…")))
        }
        Class::Refused { idle, why } if !idle.split('|').any(|idle| !idle.is_empty() && idle == value) => {
            error(refusal(idle, why))
        }
        Class::CommandLine => {
            let message = "is an option of the fio program, not of a job";
            error(Problem::new(message, "leave it out"))
        }
        _ => Ok(Setting { spec, spelled: name.to_string(), value, file: file.to_string(), line }),
    }
}

fn unknown(name: &str) -> Problem {
    let remedy = options::nearest(name).map(|near| format!("did you mean {near}?"));
    Problem::new("fio has no such option", remedy.unwrap_or_else(|| "mend it, or leave it out".into()))
}

fn refusal(idle: &str, why: &str) -> Problem {
    let remedy = match idle.split('|').next().unwrap_or_default() {
        "" => String::from("leave it out"),
        idle => format!("leave it out, or set it to {idle}"),
    };
    Problem::new(format!("is not supported: {why}"), remedy)
}

/// One line for each thing accepted that the user should know of, said once.
fn notices(sections: &[Section]) -> Vec<String> {
    let mut notices = Vec::new();
    for setting in sections.iter().flat_map(|section| section.inherited.iter().chain(&section.own)) {
        let notice = match setting.spec.class {
            Class::Ignored(why) => format!("{} has no effect: {why}", setting.spec.name),
            _ if setting.spec.name == "verify" && !matches!(&*setting.value, "0" | "none") => {
                format!(
                    "verify={}: what is written is read back, but a simulated drive keeps no bytes to compare",
                    setting.value
                )
            }
            _ if setting.spec.name == "zonemode" && setting.value == "zbd" => {
                String::from("zonemode=zbd has no effect: the drives have no zones of their own")
            }
            _ => continue,
        };
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    notices
}

/// Puts a section's options into a job; what is wrong is added to `errors`, once.
fn build(section: &Section, find_trace: FindTrace<'_>, errors: &mut Vec<JobError>) -> Option<Job> {
    let settings = || section.inherited.iter().chain(&section.own);
    let kb_base = settings().rfind(|setting| setting.spec.name == "kb_base");
    let kb_base = if kb_base.is_some_and(|s| s.value == "1000") { 1000 } else { 1024 };
    let mut draft = Draft::default();
    draft.job.name = section.name.clone();
    let mut sound = true;
    let mut wrong = |error: JobError| {
        sound = false;
        if !errors.contains(&error) {
            errors.push(error);
        }
    };
    for setting in settings() {
        if let Class::Supported(apply) = setting.spec.class {
            let value = Value { text: &setting.value, kb_base };
            let _ = apply(&mut draft, value).map_err(|problem| wrong(at(setting, problem)));
        }
    }
    draft.job.options = as_given(&section.own);
    let job = draft.complete(find_trace).map_err(|(option, problem)| {
        wrong(match settings().rfind(|setting| setting.spec.name == option) {
            Some(setting) => at(setting, problem),
            None => place(&section.file, section.line, option, "", problem),
        });
    });
    job.ok().filter(|_| sound)
}

/// Options with fio's main names, the last of each, in order.
fn as_given(settings: &[Setting]) -> Vec<(String, String)> {
    let mut given: Vec<(String, String)> = Vec::new();
    for setting in settings {
        let name = setting.spec.name.to_string();
        match given.iter_mut().find(|(known, _)| *known == name) {
            Some((_, value)) => value.clone_from(&setting.value),
            None => given.push((name, setting.value.clone())),
        }
    }
    given
}

fn at(setting: &Setting, problem: Problem) -> JobError {
    place(&setting.file, setting.line, &setting.spelled, &setting.value, problem)
}

fn place(file: &str, line: Option<u32>, option: &str, value: &str, problem: Problem) -> JobError {
    JobError {
        file: file.into(),
        line,
        option: option.into(),
        value: value.into(),
        message: problem.message.into(),
        remedy: problem.remedy.into(),
    }
}

#[cfg(test)]
mod test;
