//! Which drive is meant, and files: read whole, written beside and renamed.

use crate::{Settings, mend};
use pyo3::PyResult;
use ssdlab_device::profile::{built_in, names, nearest};
use ssdlab_lab::drive_file::is_drive_file;
use ssdlab_lab::session::Session;
use std::io::Write;
use std::path::Path;
use std::{fs, io};

/// The drive of that name: a profile that comes along, a profile file, or a drive file.
pub fn open(drive: &str, settings: &Settings, seed: u64) -> PyResult<Session> {
    if let Some(text) = built_in(drive) {
        let file = format!("profile {drive}");
        return Session::from_profile(drive, &file, text, settings, seed).map_err(mend);
    }
    let bytes = fs::read(drive).map_err(|error| unknown(drive, &error))?;
    if is_drive_file(&bytes) || !drive.ends_with(".toml") {
        return Session::from_file(drive, &bytes, settings).map_err(mend);
    }
    let text = String::from_utf8(bytes).map_err(|_| mend(format!("{drive}: a profile is UTF-8 text")))?;
    let name = Path::new(drive).file_stem().map_or(drive.into(), |stem| stem.to_string_lossy());
    Session::from_profile(&name, drive, &text, settings, seed).map_err(mend)
}

fn unknown(drive: &str, error: &io::Error) -> pyo3::PyErr {
    if drive.ends_with(".toml") || drive.ends_with(".ssd") || error.kind() != io::ErrorKind::NotFound {
        return mend(format!(
            "{drive}: cannot be read: {error}\nname a drive file, a profile file (*.toml), or a profile: `ssdlab drives` lists them"
        ));
    }
    if drive.starts_with("/dev/") || drive.contains("://") {
        return mend(format!(
            "{drive}: real drives are not measured yet; name a profile, a profile file or a drive file"
        ));
    }
    let near = nearest(drive, names());
    let hint = if near.is_empty() {
        "`ssdlab drives` lists them".into()
    } else {
        format!("did you mean {}?", near.join(", "))
    };
    mend(format!("there is no drive {drive}\n{hint}"))
}

/// Writes a file whole or not at all.
pub fn write_beside(path: &str, bytes: &[u8]) -> PyResult<()> {
    let beside = format!("{path}.{}.part", std::process::id());
    let write = || -> io::Result<()> {
        let mut file = fs::File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().map_err(|error| {
        // Whatever part of it is there is of no use to anybody.
        let _ = fs::remove_file(&beside);
        mend(format!("{path}: cannot be written: {error}"))
    })
}
