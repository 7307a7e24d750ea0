//! Files of the host's storage that a drive's folder is made of, and what goes wrong with them.

use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

pub(crate) const PUT_BACK: &str = "restore it from a copy: its contents cannot be recreated";

/// Why a folder cannot be used.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The host's storage.
    #[error("{file}: {what}: {error}\ncheck the file and the folder it is in")]
    Storage {
        /// Which file.
        file: PathBuf,
        /// What was not possible.
        what: &'static str,
        /// Why.
        error: io::Error,
    },
    /// Something is there already.
    #[error(
        "{0}: already exists and is not an empty folder\nname another folder, or open this one without naming a drive"
    )]
    Exists(PathBuf),
    /// Another process has it open.
    #[error(
        "{folder}: another process ({process}) has the drive open\nstop that process first, or control the drive with `ssdlab ctl`"
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// Its number, where it is known.
        process: String,
    },
    /// No folder of a drive.
    #[error("{0}: is not a drive's folder: it has no drive.ssd\nmake one with `ssdlab serve DRIVE -o FOLDER`")]
    Foreign(PathBuf),
    /// A file is not what it should be.
    #[error("{file}: {what}\n{remedy}")]
    Damaged {
        /// Which file.
        file: PathBuf,
        /// What is wrong.
        what: String,
        /// What helps.
        remedy: &'static str,
    },
}

pub(crate) fn storage(file: &Path, what: &'static str) -> impl Fn(io::Error) -> FolderError {
    let file = file.to_path_buf();
    move |error| FolderError::Storage { file: file.clone(), what, error }
}

/// Opens a regular file, and nothing else: a pipe would wait for ever.
pub(crate) fn opened(path: &Path, how: &mut OpenOptions) -> Result<File, FolderError> {
    let file =
        how.custom_flags(OFlags::NONBLOCK.bits() as i32).open(path).map_err(storage(path, "cannot be opened"))?;
    let is_file = file.metadata().map_err(storage(path, "cannot be opened"))?.is_file();
    let other =
        || FolderError::Damaged { file: path.to_path_buf(), what: "is not a regular file".into(), remedy: PUT_BACK };
    is_file.then_some(file).ok_or_else(other)
}

pub(crate) fn open_for_writing(path: &Path) -> Result<File, FolderError> {
    opened(path, OpenOptions::new().read(true).write(true))
}

/// A file's bytes, `most` of them.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, FolderError> {
    let mut bytes = Vec::new();
    let read = opened(path, OpenOptions::new().read(true))?.take(most).read_to_end(&mut bytes);
    read.map_err(storage(path, "cannot be read"))?;
    Ok(bytes)
}

/// A new file with these bytes, synced.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(storage(path, "cannot be written"))
}

/// A file with these bytes, synced, in place of the one that is there.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_os_string();
    beside.push(".new");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

pub(crate) fn remove(path: &Path) -> Result<(), FolderError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(storage(path, "cannot be removed")(error)),
        _ => Ok(()),
    }
}

pub(crate) fn sync_folder(path: &Path) -> Result<(), FolderError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(storage(path, "cannot be kept"))
}
