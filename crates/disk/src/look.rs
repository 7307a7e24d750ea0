//! Looks at a drive's folder, file by file, whoever has it open; nothing changes there.
//!
//! What is wrong is gathered, not told one after the other: a folder that was copied in part has several faults.
//! The checkpoint is bytes here, and only whoever reads it can tell the drive's size: [`Look::fit`].

use crate::account::Account;
use crate::folder::{self, FolderError, Life};
use crate::image::Sizes;
use crate::medium::NoBytes;
use crate::nvme_logs;
use crate::storage;
use rangemap::RangeSet;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What else lies in a folder: of the process that serves or attaches the drive, and of the file system it lies on.
const OF_OTHERS: [&str; 8] =
    [folder::SNAPSHOTS, folder::LOCK, "pid", "nbd.sock", "ctl.sock", "serve.log", "attached", "lost+found"];

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub what: String,
    /// What helps.
    pub remedy: String,
    /// It could not be looked at: nothing is known of it.
    pub is_unknown: bool,
}

impl Fault {
    /// Of a file that is damaged.
    pub fn damaged(file: &Path, what: impl Into<String>, remedy: &str) -> Fault {
        Fault { file: file.to_path_buf(), what: what.into(), remedy: remedy.into(), is_unknown: false }
    }

    /// What an error says.
    pub fn of(error: FolderError) -> Fault {
        match error {
            FolderError::Storage { file, error, .. } if error.kind() == io::ErrorKind::NotFound => {
                Fault::damaged(&file, "is missing", storage::PUT_BACK)
            }
            FolderError::Storage { file, what, error } => {
                let remedy = "check the file and the folder it is in".into();
                Fault { file, what: format!("{what}: {error}"), remedy, is_unknown: true }
            }
            FolderError::Damaged { file, what, remedy } => Fault::damaged(&file, what, remedy),
            FolderError::Exists(file) | FolderError::Foreign(file) | FolderError::InUse { folder: file, .. } => {
                Fault::damaged(&file, "is not a drive's folder", storage::PUT_BACK)
            }
        }
    }
}

/// Who has a folder open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nobody.
    Nobody,
    /// A process, by its number where that is known.
    Process(String),
}

/// What was found in a folder.
#[derive(Debug)]
pub struct Look {
    path: PathBuf,
    /// The files that make a drive, and how long each is, where it is there.
    pub files: Vec<(&'static str, Option<u64>)>,
    /// Who has it open.
    pub holder: Holder,
    /// The checkpoint.
    pub checkpoint: Option<Vec<u8>>,
    /// What happened since.
    pub account: Option<Account>,
    /// The account lies in `since.new`: a checkpoint was not kept to its end.
    pub is_next: bool,
    /// Sectors that cannot be read.
    pub bad: RangeSet<u64>,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

impl Look {
    /// Looks at a folder.
    ///
    /// # Errors
    /// It is no folder of a drive: it has none of the files that make one.
    pub fn at(path: &Path) -> Result<Look, FolderError> {
        let length = |name| fs::symlink_metadata(path.join(name)).ok().map(|found| found.len());
        let files: Vec<_> = [folder::DATA, folder::CHECKPOINT, folder::SINCE, folder::BAD, nvme_logs::FILE]
            .map(|name| (name, length(name)))
            .into();
        if files[..3].iter().all(|(_, length)| length.is_none()) {
            return Err(FolderError::Foreign(path.to_path_buf()));
        }
        let (holder, mut faults) = (holder_of(path), Vec::new());
        let checkpoint = kept(storage::read(&path.join(folder::CHECKPOINT), u64::MAX), &mut faults);
        let account = match &checkpoint {
            Some(checkpoint) => kept(folder::account_of(path, checkpoint), &mut faults),
            None => None,
        };
        let (account, file) = account.unzip();
        let is_next = file.is_some_and(|file| file.ends_with(folder::NEXT_SINCE));
        kept(folder::length_of_data(path), &mut faults);
        let bad = kept(folder::bad_of(path), &mut faults).unwrap_or_default();
        kept(nvme_logs::past_of(path), &mut faults);
        faults.extend(strangers(path, &files));
        Ok(Look { path: path.to_path_buf(), files, holder, checkpoint, account, is_next, bad, faults })
    }

    /// The size of the drive is known: what does not fit it is a fault, too. Gives what the next opening would find,
    /// without the bytes, where it would find it.
    pub fn fit(&mut self, sizes: Sizes) -> Option<Life<NoBytes>> {
        let path = &self.path;
        let length = folder::check_length(path, sizes);
        // That there is none has been told.
        if folder::length_of_data(path).is_ok() {
            kept(length, &mut self.faults);
        }
        kept(folder::check_bad(&self.bad, path, sizes), &mut self.faults);
        let account = self.account.clone()?;
        kept(folder::check_units(&account, &path.join(folder::SINCE), sizes), &mut self.faults)?;
        let Account { since, counters, was_put_away, .. } = account;
        Some(Life { medium: NoBytes, since, counters, bad: self.bad.clone(), was_put_away })
    }
}

/// Files and folders that ssdlab did not make: what is in them is not known, and so they are named.
fn strangers(path: &Path, files: &[(&str, Option<u64>)]) -> Vec<Fault> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let is_file = |name: &str| files.iter().any(|(known, _)| *known == name);
    let holds_bytes = |kind: fs::FileType| kind.is_file() || kind.is_dir() || kind.is_symlink();
    let mut names: Vec<_> = entries
        .filter(|entry| entry.file_type().is_ok_and(holds_bytes))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !is_file(name) && !OF_OTHERS.contains(&name.as_str()))
        // What was being written when its process ended.
        .filter(|name| name.strip_suffix(".new").is_none_or(|of| of != "restored" && !is_file(of)))
        .collect();
    names.sort();
    let stranger = |name: &String| Fault {
        is_unknown: true,
        ..Fault::damaged(&path.join(name), "is not part of a drive's folder and was not checked", "move it elsewhere")
    };
    names.iter().map(stranger).collect()
}

fn kept<T>(found: Result<T, FolderError>, faults: &mut Vec<Fault>) -> Option<T> {
    found.map_err(|error| faults.push(Fault::of(error))).ok()
}

/// The lock is tried for an instant, shared, so that two who look do not see each other. What cannot be opened nobody has.
fn holder_of(path: &Path) -> Holder {
    let Ok(mut lock) = File::open(path.join(folder::LOCK)) else { return Holder::Nobody };
    if flock(&lock, FlockOperation::NonBlockingLockShared).is_ok() {
        return Holder::Nobody;
    }
    let mut process = String::new();
    let _ = Read::by_ref(&mut lock).take(32).read_to_string(&mut process);
    Holder::Process(process.trim().to_string())
}
