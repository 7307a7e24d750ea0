//! Files that are written: whole or not at all, and nothing else is destroyed.
//!
//! A regular file is written beside its place, synced, put in its place in one step, and its folder
//! synced. `-` and `/dev/stdout` are standard output. A symbolic link is followed: the file that it
//! leads to is replaced, beside its own place. Anything else (device node, pipe, folder, socket) is
//! refused without being opened. `ssdlab/output.py` does the same for what Python writes.

use crate::mend;
use crate::watch::Watch;
use pyo3::PyResult;
use pyo3::exceptions::PyOSError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Written between two questions whether to go on.
const PIECE_BYTES: usize = 4 << 20;
/// Pieces between two syncs, so that none of them takes long.
const PIECES_PER_SYNC: usize = 16;
/// Links followed before they are taken to lead in a circle.
const LINKS_AT_MOST: usize = 40;
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// A place that can be written to, tried before the long work whose result it takes.
pub struct Output {
    /// What the user called it by, for messages.
    called: String,
    /// `None` is standard output.
    path: Option<PathBuf>,
    must_be_new: bool,
}

impl Output {
    /// The place called `name` by an option that may go without saying; with `must_be_new` a file that appears there meanwhile is not replaced.
    ///
    /// # Errors
    /// What is there cannot be replaced, or the folder cannot be written to.
    pub fn at(option: &str, name: &str, must_be_new: bool) -> PyResult<Output> {
        let called = if option.is_empty() { name.to_string() } else { format!("{option} {name}") };
        if STDOUT.contains(&name) {
            return Ok(Output { called, path: None, must_be_new });
        }
        let path = target(Path::new(name)).and_then(|path| check_replaceable(&path).map(|()| path));
        let tried = path.and_then(|path| {
            let (part, _) = create_beside(&path)?;
            fs::remove_file(part).map(|()| path)
        });
        match tried {
            Ok(path) => Ok(Output { called, path: Some(path), must_be_new }),
            Err(error) => Err(mend(format!(
                "{called}: {}; nothing was done\nname a file in a folder you can write to",
                reason(&error)
            ))),
        }
    }

    /// Writes all of it; `false` where it was stopped, and then nothing is left behind.
    ///
    /// # Errors
    /// The file system is full, or something is in the way by now.
    pub fn write(&self, bytes: &[u8], watch: &mut Watch) -> PyResult<bool> {
        let Some(path) = &self.path else {
            return to_stdout(bytes).map(|()| true).map_err(|error| {
                // As Python's own, so that a reader who has gone is answered alike.
                PyOSError::new_err((error.raw_os_error(), reason(&error)))
            });
        };
        self.replace(path, bytes, watch).map_err(|error| mend(format!("{}: {}", self.called, reason(&error))))
    }

    fn replace(&self, path: &Path, bytes: &[u8], watch: &mut Watch) -> io::Result<bool> {
        check_replaceable(path)?;
        let (part, file) = create_beside(path)?;
        let placed = fill(file, path, bytes, watch).and_then(|whole| {
            if whole {
                self.put_in_place(&part, path)?;
                sync_folder(path)?;
            }
            Ok(whole)
        });
        if !matches!(placed, Ok(true)) {
            // Whatever part of it is there is of no use to anybody.
            let _ = fs::remove_file(&part);
        }
        placed
    }

    fn put_in_place(&self, part: &Path, path: &Path) -> io::Result<()> {
        if !self.must_be_new {
            return fs::rename(part, path);
        }
        match fs::hard_link(part, path) {
            Ok(()) => fs::remove_file(part),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(io::Error::other("another file has appeared there meanwhile, and is left as it is"))
            }
            // A file system without links: an empty file claims the place.
            Err(_) => {
                OpenOptions::new().write(true).create_new(true).open(path)?;
                fs::rename(part, path)
            }
        }
    }
}

/// Rust's own standard output takes a closed one for written to.
fn to_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    stdout.write_all(bytes)
}

/// The file that a name leads to, whether it exists or not.
fn target(name: &Path) -> io::Result<PathBuf> {
    let mut path = name.to_path_buf();
    for _ in 0..LINKS_AT_MOST {
        // What leads to an open pipe or the like looks like a link, but names no file.
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Ok(path);
        }
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn check_replaceable(path: &Path) -> io::Result<()> {
    let kind = match fs::metadata(path) {
        Ok(found) if found.is_file() => {
            // A file that its owner has made read-only is not to be replaced.
            return OpenOptions::new().append(true).open(path).map(drop);
        }
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let what = if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device node"
    };
    Err(io::Error::other(format!("is {what}, and only a regular file is replaced")))
}

/// A new file beside a place, and its name.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let folder = folder_of(path);
    for number in 0u32.. {
        let part = folder.join(format!(".ssdlab-{}-{number}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => return Ok((part, file)),
        }
    }
    unreachable!("a folder does not hold 2^32 unfinished files")
}

/// Writes and syncs a file that is to replace another; `false` where it was stopped.
fn fill(mut file: File, replaced: &Path, bytes: &[u8], watch: &mut Watch) -> io::Result<bool> {
    if let Ok(old) = fs::metadata(replaced) {
        file.set_permissions(old.permissions())?;
    }
    for (number, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
        if watch.is_stopped("write", (number * PIECE_BYTES) as f64 / bytes.len() as f64) {
            return Ok(false);
        }
        file.write_all(piece)?;
        if number % PIECES_PER_SYNC == PIECES_PER_SYNC - 1 {
            file.sync_data()?;
        }
    }
    file.sync_all()?;
    Ok(true)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(folder_of(path))?.sync_all() {
        // Some file systems cannot, and need not.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        answer => answer,
    }
}

/// What the system says, without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}
