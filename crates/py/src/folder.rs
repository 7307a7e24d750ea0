//! Folders that nobody need have open: what is in one, and what a log of commands comes to.

use crate::mend;
use crate::serve::told;
use pyo3::prelude::*;
use serde_json::json;
use ssdlab_lab::folder_check::check;
use ssdlab_lab::log_folder::{Replayed, is_log, play};
use std::path::PathBuf;

/// What is in a drive's folder and what is wrong with it, as JSON.
#[pyfunction]
pub fn check_folder(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    py.detach(|| Ok(check(&folder).map_err(mend)?.to_string()))
}

/// What the cuts of a log take when it is played again, as JSON; none where the folder is of no log.
#[pyfunction]
pub fn replay_log(py: Python<'_>, folder: PathBuf) -> PyResult<Option<String>> {
    if !is_log(&folder) {
        return Ok(None);
    }
    py.detach(|| {
        let Replayed { about, sector_bytes, played } = play(&folder).map_err(mend)?;
        let cuts = played.cuts.iter().map(|cut| told(&cut.cut, u64::from(sector_bytes), cut.seed, cut.at));
        let told = json!({
            "drive": about.profile.title,
            "commands": played.commands,
            "cuts": cuts.collect::<Vec<_>>(),
            "ends": played.ends,
        });
        Ok(Some(told.to_string()))
    })
}
