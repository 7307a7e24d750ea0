//! What a job asks of the place it is read at: files, variables of the environment, fio's keywords.
//!
//! `${NAME}` stands for a variable of the environment; `$pagesize`, `$mb_memory` and `$ncpus` stand for
//! figures of the machine, with which a value may reckon (`8*$mb_memory`), all as in fio. A variable that
//! is not set is an error here, where fio puts nothing in its place.

use crate::workload::draft::{FindTrace, ReadFile};
use crate::workload::error::Problem;
use crate::workload::value::arithmetic::evaluate;

/// Figures of the machine that fio's keywords stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// `$pagesize`
    pub page_bytes: u64,
    /// `$mb_memory`
    pub memory_mb: u64,
    /// `$ncpus`
    pub processors: u64,
}

/// Gives the value of a variable of the environment.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What a job can reach beside its own text.
pub struct Surroundings<'a> {
    /// Reads included job files.
    pub read_file: ReadFile<'a>,
    /// Finds traces.
    pub find_trace: FindTrace<'a>,
    /// The environment.
    pub variable: Variable<'a>,
    /// The machine; `None` where nobody knows it.
    pub machine: Option<Machine>,
}

impl<'a> Surroundings<'a> {
    /// Files alone, and no traces.
    pub fn files(read_file: ReadFile<'a>) -> Surroundings<'a> {
        let find_trace: FindTrace<'a> = &|_| Err("no such file".into());
        Surroundings { read_file, find_trace, variable: &|_| None, machine: None }
    }

    /// A value with variables and keywords replaced.
    ///
    /// # Errors
    /// A variable that is not set, a keyword that nobody knows, an expression that is none.
    pub fn replace(&self, value: &str) -> Result<String, Problem> {
        if !value.contains('$') {
            return Ok(value.to_string());
        }
        let replaced = self.replace_variables(value)?;
        self.replace_keywords(&replaced)
    }

    fn replace_variables(&self, value: &str) -> Result<String, Problem> {
        let (mut done, mut rest) = (String::new(), value);
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else {
                return Err(Problem::new("'${' has no '}'", "write ${NAME}"));
            };
            let Some(text) = (self.variable)(name).filter(|text| !text.is_empty()) else {
                let remedy = format!("set it before the command: {name}=… ssdlab run …");
                return Err(Problem::new(format!("{name} is not set in the environment"), remedy));
            };
            done += before;
            done += &text;
            rest = after;
        }
        Ok(done + rest)
    }

    fn replace_keywords(&self, value: &str) -> Result<String, Problem> {
        let figure = |figure: fn(&Machine) -> u64| self.machine.as_ref().map(figure);
        let keywords = [
            ("$pagesize", figure(|machine| machine.page_bytes)),
            ("$mb_memory", figure(|machine| machine.memory_mb)),
            ("$ncpus", figure(|machine| machine.processors)),
        ];
        let mut replaced = value.to_string();
        for (keyword, figure) in keywords.iter().filter(|(keyword, _)| value.contains(keyword)) {
            let Some(figure) = figure else {
                return Err(Problem::new(format!("{keyword} is not known here"), "write the number itself"));
            };
            replaced = replaced.replace(keyword, &figure.to_string());
        }
        if replaced == value || replaced.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(replaced);
        }
        let no_units =
            |unit: &str| Err(Problem::new(format!("'{unit}': keywords are reckoned with plain numbers"), ""));
        let number = evaluate(&replaced, &no_units)?;
        Ok(format!("{:.0}", number.max(0.0)))
    }
}
