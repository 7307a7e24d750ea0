//! A folder with a log of what was done to a drive, and the drive as it was when the log began: its cuts can be played
//! again.
//!
//! ```text
//! drive.ssd      the drive as it was put away
//! commands.log   what was done to it since
//! ```
//! Left out: the bytes. What a cut takes does not hang on them.

use crate::in_folder::{InFolder, InFolderError, revive};
use crate::with_bytes::About;
use ssdlab_disk::Disk;
use ssdlab_disk::folder::{FolderMedium, Life};
use ssdlab_disk::log::Log;
use ssdlab_disk::medium::NoBytes;
use ssdlab_disk::replay::{Played, ReplayError, replay};
use ssdlab_disk::since::Since;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use thiserror::Error;

const DRIVE: &str = "drive.ssd";
const COMMANDS: &str = "commands.log";

/// Why a log cannot be kept, or played.
#[derive(Debug, Error)]
pub enum LogError {
    /// It would replace something.
    #[error("{0}: already exists\nname a new folder for the log")]
    Exists(PathBuf),
    /// The host's storage.
    #[error("{file}: {error}\ncheck the file and the folder it is in")]
    Storage {
        /// Of what.
        file: PathBuf,
        /// What it says.
        error: io::Error,
    },
    /// The drive.
    #[error(transparent)]
    Drive(#[from] InFolderError),
    /// The log.
    #[error("{file}: {error}")]
    Replay {
        /// The log.
        file: PathBuf,
        /// Why.
        error: ReplayError,
    },
}

fn storage(file: &Path) -> impl FnOnce(io::Error) -> LogError {
    let file = file.to_path_buf();
    move |error| match error.kind() {
        io::ErrorKind::AlreadyExists => LogError::Exists(file),
        _ => LogError::Storage { file, error },
    }
}

/// A folder holds a log.
pub fn is_log(path: &Path) -> bool {
    path.join(COMMANDS).is_file()
}

/// Opens the drive of a folder, which writes what is done to it into a log from now on. The drive is put away first, so
/// that it begins as the log will have it.
///
/// # Errors
/// As [`InFolder::open`]; the folder of the log is there already, or cannot be written.
pub fn open_logged(path: &Path, log: &Path) -> Result<(InFolder, Disk<FolderMedium>), LogError> {
    let (kept, mut disk) = InFolder::open(path)?;
    fs::create_dir(log).map_err(storage(log))?;
    kept.close(&mut disk)?;
    drop(disk);
    let (kept, disk) = InFolder::open(path)?;
    let (from, to) = (path.join(DRIVE), log.join(DRIVE));
    fs::copy(&from, &to).map_err(storage(&to))?;
    let commands = log.join(COMMANDS);
    let file = OpenOptions::new().write(true).create_new(true).open(&commands).map_err(storage(&commands))?;
    let log = Log::new(Box::new(BufWriter::new(file))).map_err(storage(&commands))?;
    Ok((kept, disk.logged(log)))
}

/// A log that was played.
pub struct Replayed {
    /// What is known of the drive.
    pub about: About,
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// What the log came to.
    pub played: Played,
}

/// Plays a log.
///
/// # Errors
/// It is none, cannot be read, or is of another drive.
pub fn play(path: &Path) -> Result<Replayed, LogError> {
    let (drive, commands) = (path.join(DRIVE), path.join(COMMANDS));
    let checkpoint = fs::read(&drive).map_err(storage(&drive))?;
    let log = File::open(&commands).map_err(storage(&commands))?;
    let (about, mut disk) = revive(&drive.display().to_string(), &checkpoint, |sizes| {
        let (since, bad) = (Since::new(sizes.units()), Default::default());
        Ok(Life { medium: NoBytes, since, counters: None, bad, was_put_away: true })
    })?;
    let sector_bytes = disk.limits().sector_bytes;
    let played = replay(&mut disk, BufReader::new(log));
    let played = played.map_err(|error| LogError::Replay { file: commands, error })?;
    Ok(Replayed { about, sector_bytes, played })
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::session::{DriveSource, Session};
    use ssdlab_disk::{Cut, Lba, Nanos, Operation, Request};

    /// Writes, flushes, a checkpoint and cuts of a drive in a folder: played again, the cuts take the same.
    #[test]
    fn cuts_take_the_same_again() {
        let around = tempfile::tempdir().unwrap();
        let (path, log) = (around.path().join("drive"), around.path().join("log"));
        let text = ssdlab_device::profile::built_in("theory").unwrap().to_string();
        let source = DriveSource::Profile { name: "theory".into(), file: "theory".into(), text, scale: None };
        let settings = [("capacity_bytes", "64MiB"), ("nand.pages_per_block", "64"), ("buffer.bytes", "1MiB")];
        let settings = settings.map(|(key, value)| (key.to_string(), value.to_string()));
        let mut session = Session::open(&source, &settings, 1).unwrap();
        session.to_folder(&path, &Default::default()).unwrap();
        InFolder::open(&path).unwrap().1.spoil(20..22);
        let (mut kept, mut disk) = open_logged(&path, &log).unwrap();
        assert!(matches!(open_logged(&path, &log), Err(LogError::Drive(_))), "it is open");
        disk.spoil(7..9);
        disk.spoil(11..12);
        let cuts: Vec<Cut> = (0..4)
            .map(|seed| {
                if seed == 1 {
                    kept.checkpoint(&mut disk).unwrap();
                }
                for unit in 0..300 {
                    let write = Request::new(Operation::Write, Lba(unit * 37 % 900 * 8), 8);
                    disk.perform(write, vec![3; 4096]).unwrap();
                }
                disk.submit(disk.now(), Request::new(Operation::Write, Lba(0), 8), vec![4; 4096]).unwrap();
                disk.advance(disk.now() + Nanos(1000), &mut Vec::new());
                disk.power_cut(seed)
            })
            .collect();
        assert!(cuts.iter().all(|cut| !cut.losses.is_empty()));
        assert!(fs::read_to_string(log.join(COMMANDS)).unwrap().starts_with("ssdlab log 1\nspoil 20 22\n"));
        let found = play(&log).unwrap();
        assert_eq!(
            found.played.cuts.iter().map(|played| &played.cut).collect::<Vec<_>>(),
            cuts.iter().collect::<Vec<_>>()
        );
        drop((kept, disk));
        assert!(matches!(open_logged(&path, &log), Err(LogError::Exists(_))), "a log is not replaced");
        let (mut kept, mut disk) = InFolder::open(&path).unwrap();
        assert!(play(&path).is_err() && is_log(&log) && !is_log(&path));
        kept.checkpoint(&mut disk).unwrap();
    }
}
