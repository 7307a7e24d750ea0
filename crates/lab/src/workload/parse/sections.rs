//! A job file's lines: sections, what they inherit, and the files they include.

use super::surroundings::Surroundings;
use super::{Section, Setting, at, place, setting};
use crate::workload::error::{JobError, Problem};

/// Files within files; more is a circle.
const MOST_INCLUDED: u32 = 16;

/// A job file as far as it has been read.
#[derive(Default)]
pub(super) struct Sections {
    /// Its jobs.
    pub jobs: Vec<Section>,
    /// All its global options.
    pub global: Vec<Setting>,
    in_global: bool,
}

impl Sections {
    /// Reads a job file; what is wrong with it is added to `errors`.
    pub fn read(text: &str, file: &str, around: &mut Surroundings<'_>, errors: &mut Vec<JobError>) -> Sections {
        let mut sections = Sections::default();
        sections.add(text, file, 0, around, errors);
        if sections.jobs.is_empty() && errors.is_empty() {
            let message = "holds no job".into();
            let remedy = "start one with its name in brackets, such as [uniform]".into();
            errors.push(JobError { file: file.into(), message, remedy, ..JobError::default() });
        }
        sections
    }

    fn add(&mut self, text: &str, file: &str, depth: u32, around: &mut Surroundings<'_>, errors: &mut Vec<JobError>) {
        for (index, raw) in text.lines().enumerate() {
            let line = index as u32 + 1;
            let content = raw.split([';', '#']).next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let added = match content.split_once(char::is_whitespace) {
                Some(("include", path)) => self.include(path.trim(), (file, line, content), depth, around, errors),
                _ => self.add_line(content, file, line, around),
            };
            errors.extend(added.err());
        }
    }

    /// Takes the lines of another file in, found beside this one or where the command was given.
    fn include(
        &mut self,
        path: &str,
        (file, line, content): (&str, u32, &str),
        depth: u32,
        around: &mut Surroundings<'_>,
        errors: &mut Vec<JobError>,
    ) -> Result<(), JobError> {
        let error = |problem| place(file, Some(line), content, "", problem);
        if depth == MOST_INCLUDED {
            return Err(error(Problem::new("files include each other without end", "take one of the lines out")));
        }
        let path = around.replace(path).map_err(error)?;
        let beside = file.rsplit_once('/').map(|(folder, _)| format!("{folder}/{path}"));
        let beside = beside.filter(|_| !path.starts_with('/'));
        let found = beside.and_then(|beside| (around.read_file)(&beside).ok().map(|text| (text, beside)));
        let (text, path) = match found {
            Some(found) => found,
            None => match (around.read_file)(&path) {
                Ok(text) => (text, path),
                Err(why) => return Err(error(Problem::new(why, "name a job file beside this one"))),
            },
        };
        self.add(&text, &path, depth + 1, around, errors);
        Ok(())
    }

    fn add_line(&mut self, content: &str, file: &str, line: u32, around: &Surroundings<'_>) -> Result<(), JobError> {
        if let Some(name) = section_name(content, file, line)? {
            self.in_global = name.eq_ignore_ascii_case("global");
            if !self.in_global {
                let inherited = self.global.clone();
                self.jobs.push(Section { name, file: file.to_string(), line: Some(line), inherited, own: vec![] });
            }
            return Ok(());
        }
        let (name, value) = content.split_once('=').unwrap_or((content, ""));
        let has_value = content.contains('=');
        let setting = setting(name.trim(), value.trim(), has_value, file, Some(line), around)?;
        match self.jobs.last_mut() {
            _ if self.in_global => self.global.push(setting),
            Some(section) => section.own.push(setting),
            None => return Err(at(&setting, outside_section())),
        }
        Ok(())
    }
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
