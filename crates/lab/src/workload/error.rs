//! What is wrong with a job: place, option, value, reason and remedy, in a few lines.

use std::fmt;

/// A job that cannot be run as it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobError {
    /// The job file, `command line`, or the job's name where no line of text is to blame.
    pub file: Box<str>,
    /// Line in the file, counted from 1; `None` on the command line.
    pub line: Option<u32>,
    /// The option as it was spelled; empty where no option is to blame.
    pub option: Box<str>,
    /// Its value; empty for a bare option.
    pub value: Box<str>,
    /// What is wrong.
    pub message: Box<str>,
    /// What helps; may be empty.
    pub remedy: Box<str>,
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        match (self.option.is_empty(), self.value.is_empty()) {
            (true, _) => {}
            (false, true) => write!(f, ": {}", self.option)?,
            (false, false) => write!(f, ": {}={}", self.option, self.value)?,
        }
        write!(f, ": {}", self.message)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "\n  {}", self.remedy) }
    }
}

impl std::error::Error for JobError {}

/// All that is wrong with the jobs of a run, at least one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobErrors(Vec<JobError>);

impl JobErrors {
    /// Of these.
    pub(super) fn new(errors: Vec<JobError>) -> JobErrors {
        JobErrors(errors)
    }
}

impl fmt::Display for JobErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if index > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for JobErrors {}

/// What is wrong with a value, before anyone knows where it stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What helps.
    pub remedy: String,
}

impl Problem {
    /// A reason and a remedy.
    pub fn new(message: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem { message: message.into(), remedy: remedy.into() }
    }
}

/// A job that does not fit a drive: the option to blame, its value, what is wrong.
pub type Misfit = (&'static str, String, Problem);

#[cfg(test)]
mod test {
    use super::*;

    /// The text of an error has place, option with value, reason, and the remedy on its own line.
    #[test]
    fn error_text_names_place_and_remedy() {
        let error = JobError {
            file: "uniform.fio".into(),
            line: Some(4),
            option: "iodepht".into(),
            value: "16".into(),
            message: "fio has no such option".into(),
            remedy: "did you mean iodepth?".into(),
        };
        let text = "uniform.fio, line 4: iodepht=16: fio has no such option\n  did you mean iodepth?";
        assert_eq!(error.to_string(), text);
    }
}
