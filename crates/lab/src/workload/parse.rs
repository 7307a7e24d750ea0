//! fio job files and command lines, read as fio reads them, only stricter.
//!
//! A `[global]` section holds for the sections after it; several add up. Options on a command
//! line before the first `--name` hold for all jobs; beside a job file they are added to every
//! section, after its own options, so that they win. Each further `--name` starts a job.
//! Left out, and refused by name: `include`, `${VARIABLE}` and fio's `$ncpus` and the like, for
//! the environment is not part of a job here.

use super::draft::{Draft, ReadFile};
pub use super::error::JobError;
use super::error::Problem;
use super::job::Job;
use super::options::{self, Class, OptionSpec};
use super::value::Value;

mod flags;

use flags::flag_sections;

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
/// The first thing wrong, with its line.
pub fn parse_job_file(text: &str, file: &str) -> Result<JobFile, JobError> {
    parse(Some((text, file)), &[], &mut no_files)
}

/// The jobs of a fio command line.
///
/// # Errors
/// The first thing wrong.
pub fn parse_flags(flags: &[String]) -> Result<JobFile, JobError> {
    parse(None, flags, &mut no_files)
}

fn no_files(path: &str) -> Result<String, String> {
    Err(format!("{path} cannot be read here"))
}

/// The jobs of a job file `(text, name)`, a command line, or both; `read_file` gives the text of
/// the traces they name.
///
/// # Errors
/// The first thing wrong, with its place.
pub fn parse(job_text: Option<(&str, &str)>, flags: &[String], read_file: ReadFile<'_>) -> Result<JobFile, JobError> {
    let (mut sections, mut global) = match job_text {
        Some((text, file)) => file_sections(text, file)?,
        None => (Vec::new(), Vec::new()),
    };
    let (base, named) = flag_sections(flags)?;
    for section in &mut sections {
        section.own.extend(base.iter().cloned());
    }
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
        let job = build(section, read_file)?;
        if let Some(engine) = &job.synchronous_engine {
            let notice = format!("ioengine={engine} is synchronous: depth 1");
            if !result.notices.contains(&notice) {
                result.notices.push(notice);
            }
        }
        if let Some(bytes) = job.rounded_block_bytes {
            let notice = format!(
                "bs={bytes} is no whole number of sectors: as through the page cache, whole pages of 4096 B go to \
                 the drive, and sizes and rates count those"
            );
            if !result.notices.contains(&notice) {
                result.notices.push(notice);
            }
        }
        result.jobs.push(job);
    }
    Ok(result)
}

/// Splits a job file into its jobs, and all its global options.
fn file_sections(text: &str, file: &str) -> Result<(Vec<Section>, Vec<Setting>), JobError> {
    let mut sections: Vec<Section> = Vec::new();
    let (mut global, mut in_global) = (Vec::new(), false);
    for (index, raw) in text.lines().enumerate() {
        let line = index as u32 + 1;
        let content = raw.split([';', '#']).next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        if let Some(name) = section_name(content, file, line)? {
            in_global = name.eq_ignore_ascii_case("global");
            if !in_global {
                let file = file.to_string();
                let inherited = global.clone();
                sections.push(Section { name, file, line: Some(line), inherited, own: vec![] });
            }
            continue;
        }
        let setting = file_setting(content, file, line)?;
        match sections.last_mut() {
            _ if in_global => global.push(setting),
            Some(section) => section.own.push(setting),
            None => return Err(at(&setting, outside_section())),
        }
    }
    if sections.is_empty() {
        let message = "holds no job".into();
        let remedy = "start one with its name in brackets, such as [uniform]".into();
        return Err(JobError { file: file.into(), message, remedy, ..JobError::default() });
    }
    Ok((sections, global))
}

fn outside_section() -> Problem {
    Problem::new("stands outside of a job", "put [global] or a job's name in brackets before it")
}

/// The name in brackets, if the line is a heading.
fn section_name(content: &str, file: &str, line: u32) -> Result<Option<String>, JobError> {
    let Some(rest) = content.strip_prefix('[') else {
        return Ok(None);
    };
    match rest.strip_suffix(']').map(str::trim) {
        Some(name) if !name.is_empty() => Ok(Some(name.to_string())),
        _ => Err(JobError {
            file: file.into(),
            line: Some(line),
            option: content.into(),
            message: "is not a heading".into(),
            remedy: "write a name in brackets, such as [uniform]".into(),
            ..JobError::default()
        }),
    }
}

fn file_setting(content: &str, file: &str, line: u32) -> Result<Setting, JobError> {
    if content.split_whitespace().next() == Some("include") {
        let problem = Problem::new("include is not supported", "put the other file's text here");
        return Err(place(file, Some(line), content, "", problem));
    }
    let (name, value) = content.split_once('=').unwrap_or((content, ""));
    let has_value = content.contains('=');
    setting(name.trim(), value.trim(), has_value, file, Some(line))
}

/// Looks the option up and refuses what does not belong here.
fn setting(name: &str, value: &str, has_value: bool, file: &str, line: Option<u32>) -> Result<Setting, JobError> {
    let error = |problem| Err(place(file, line, name, value, problem));
    let Some(spec) = options::find(name) else {
        return error(unknown(name));
    };
    let matters = !matches!(spec.class, Class::Ignored);
    if let Some(variable) = variable(value).filter(|_| matters) {
        let message = format!("{variable}: variables are not replaced here");
        return error(Problem::new(message, "write the value itself"));
    }
    match spec.class {
        Class::Supported(_) if !spec.bare && (!has_value || value.is_empty()) => {
            error(Problem::new("needs a value", format!("write {name}=…")))
        }
        Class::Refused(idle) if !idle.split('|').any(|idle| !idle.is_empty() && idle == value) => {
            error(refusal(spec.name, idle))
        }
        Class::CommandLine => {
            let message = "is an option of the fio program, not of a job";
            error(Problem::new(message, "leave it out"))
        }
        _ => Ok(Setting { spec, spelled: name.to_string(), value: value.to_string(), file: file.to_string(), line }),
    }
}

fn unknown(name: &str) -> Problem {
    let remedy = options::nearest(name).map(|near| format!("did you mean {near}?"));
    Problem::new("fio has no such option", remedy.unwrap_or_default())
}

fn refusal(name: &str, idle: &str) -> Problem {
    let remedy = match (name, idle.split('|').next().unwrap_or_default()) {
        ("bsrange" | "blocksize_range", _) => "give the sizes and their shares with bssplit".into(),
        ("nrfiles" | "nr_files" | "opendir", _) => "give each drive a job of its own".into(),
        ("wait_for" | "startdelay", _) => "stonewall runs jobs one after the other".into(),
        (_, "") => String::from("leave it out"),
        (_, idle) => format!("leave it out, or set it to {idle}"),
    };
    Problem::new("would change the I/O and is not supported", remedy)
}

/// The first variable in a value: of the environment, or of fio.
fn variable(value: &str) -> Option<String> {
    if let Some(start) = value.find("${") {
        let rest = &value[start..];
        return Some(rest[..rest.find('}').map_or(rest.len(), |end| end + 1)].to_string());
    }
    let keywords = ["$pagesize", "$mb_memory", "$ncpus"];
    keywords.iter().find(|word| value.contains(*word)).map(|word| word.to_string())
}

/// One line for each thing accepted that the user should know of, said once.
fn notices(sections: &[Section]) -> Vec<String> {
    let mut notices = Vec::new();
    for setting in sections.iter().flat_map(|section| section.inherited.iter().chain(&section.own)) {
        let notice = match setting.spec.class {
            Class::Ignored => format!("{} changes no I/O here: ignored", setting.spec.name),
            _ => continue,
        };
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    notices
}

/// Puts a section's options into a job.
fn build(section: &Section, read_file: ReadFile<'_>) -> Result<Job, JobError> {
    let settings = || section.inherited.iter().chain(&section.own);
    let kb_base = settings().rfind(|setting| setting.spec.name == "kb_base");
    let kb_base = if kb_base.is_some_and(|s| s.value == "1000") { 1000 } else { 1024 };
    let mut draft = Draft::default();
    draft.job.name = section.name.clone();
    for setting in settings() {
        if let Class::Supported(apply) = setting.spec.class {
            let value = Value { text: &setting.value, kb_base };
            apply(&mut draft, value).map_err(|problem| at(setting, problem))?;
        }
    }
    draft.job.options = as_given(&section.own);
    draft.complete(read_file).map_err(|(option, problem)| {
        match settings().rfind(|setting| setting.spec.name == option) {
            Some(setting) => at(setting, problem),
            None => place(&section.file, section.line, option, "", problem),
        }
    })
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
