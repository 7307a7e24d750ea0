//! fio's command line: `--option=value`, `--option value`, bare flags, and a job for each `--name`.

use super::surroundings::Surroundings;
use super::{COMMAND_LINE, Section, Setting, setting};
use crate::workload::error::JobError;
use crate::workload::options;

/// The jobs that `--section` picks, and the other flags.
pub(super) fn take_sections(flags: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut wanted, mut others) = (Vec::new(), Vec::new());
    for flag in flags {
        match flag.strip_prefix("--section=") {
            Some(name) => wanted.push(name.trim().to_string()),
            None => others.push(flag.clone()),
        }
    }
    (wanted, others)
}

/// Splits a command line into what holds for all jobs, and the jobs it names; what is wrong is added to
/// `errors`.
pub(super) fn flag_sections(
    flags: &[String],
    around: &Surroundings<'_>,
    errors: &mut Vec<JobError>,
) -> (Vec<Setting>, Vec<Section>) {
    let mut base: Vec<Setting> = Vec::new();
    let (mut named, mut in_base): (Vec<Section>, bool) = (Vec::new(), true);
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        let (name, value) = match split_flag(flag) {
            Ok(split) => split,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let spec = options::find(name);
        let takes_next = value.is_none() && spec.is_some_and(|spec| !spec.bare);
        let next = rest.as_slice().first().filter(|next| takes_next && !next.starts_with('-'));
        let value = match next {
            Some(next) => {
                rest.next();
                Some(next.as_str())
            }
            None => value,
        };
        let spelled = flag.split('=').next().unwrap_or_default();
        let setting = match setting(name, value.unwrap_or_default(), value.is_some(), COMMAND_LINE, None, around) {
            Ok(found) => Setting { spelled: spelled.to_string(), ..found },
            Err(error) => {
                errors.push(JobError { option: spelled.into(), ..with_dashes(error) });
                continue;
            }
        };
        if setting.spec.name == "name" {
            in_base = setting.value == "global";
            if !in_base {
                named.push(Section {
                    name: setting.value.clone(),
                    file: COMMAND_LINE.to_string(),
                    inherited: base.clone(),
                    own: vec![setting],
                    line: None,
                });
            }
            continue;
        }
        match named.last_mut() {
            Some(section) if !in_base => section.own.push(setting),
            _ => base.push(setting),
        }
    }
    (base, named)
}

/// The name and the value of one flag.
fn split_flag(flag: &str) -> Result<(&str, Option<&str>), JobError> {
    let bare = flag.trim_start_matches('-');
    let (name, value) = match bare.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (bare.trim(), None),
    };
    if flag.starts_with('-') && !name.is_empty() {
        return Ok((name, value));
    }
    let known = options::find(name).map(|_| name).or_else(|| options::nearest(name));
    let remedy = match (known, value) {
        (Some(known), Some(value)) => format!("did you mean --{known}={value}?"),
        (Some(known), None) => format!("did you mean --{known}?"),
        (None, _) => String::from("options start with two dashes, such as --bs=4k"),
    };
    Err(JobError {
        file: COMMAND_LINE.into(),
        option: flag.into(),
        message: "is not an option".into(),
        remedy: remedy.into(),
        ..JobError::default()
    })
}

/// A suggested option gets the dashes it needs on a command line.
fn with_dashes(mut error: JobError) -> JobError {
    for start in ["did you mean ", "write "] {
        if let Some(rest) = error.remedy.strip_prefix(start).filter(|rest| !rest.contains(' ')) {
            error.remedy = format!("{start}--{rest}").into();
        }
    }
    error
}
