//! A drive that lies in a folder, brought to life with its bytes, and put away again.
//!
//! ```text
//! open ─► (InFolder, Disk) ─► checkpoint ─► … ─► close
//! ```
//! Whoever uses the drive has the [`Disk`]; what is here is the rest: the folder, and what is known of the drive.
//! A drive that was not put away is brought in line with its account, and counts one more unsafe shutdown.
//!
//! Left out: the time that a drive's own recovery takes, and where its pages lay. Virtual time begins anew at each opening.

use crate::drive_file::{self, DriveFileError};
use crate::with_bytes::{About, WithBytes};
use ssdlab_device::profile::{Profile, ProfileError};
use ssdlab_disk::folder::{Folder, FolderError, FolderMedium, Life};
use ssdlab_disk::image::Sizes;
use ssdlab_disk::medium::Medium;
use ssdlab_disk::{Disk, Failure};
use std::path::Path;
use thiserror::Error;

/// Why a drive in a folder cannot be used or kept.
#[derive(Debug, Error)]
pub enum InFolderError {
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] DriveFileError),
    /// The profile that the checkpoint names.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The drive.
    #[error("{0}")]
    Drive(#[from] Failure),
}

/// All of a drive in a folder but the drive.
pub struct InFolder {
    folder: Folder,
    /// What is known of the drive.
    pub about: About,
}

impl InFolder {
    /// Opens the drive of a folder.
    ///
    /// # Errors
    /// It is no folder of a drive, is open already, or is damaged; nothing has changed then.
    pub fn open(path: &Path) -> Result<(InFolder, Disk<FolderMedium>), InFolderError> {
        let folder = Folder::open(path)?;
        let (about, disk) = InFolder::revive(&folder)?;
        Ok((InFolder { folder, about }, disk))
    }

    fn revive(folder: &Folder) -> Result<(About, Disk<FolderMedium>), InFolderError> {
        let checkpoint = folder.checkpoint()?;
        let file = folder.path().join("drive.ssd").display().to_string();
        revive(&file, &checkpoint, |sizes| Ok(folder.resume(&checkpoint, sizes)?))
    }

    /// Keeps a copy of the drive as it is now, under a name. Nothing may be under way.
    ///
    /// # Errors
    /// As [`InFolder::checkpoint`]; there is one of that name.
    pub fn snapshot(&mut self, disk: &mut Disk<FolderMedium>, name: &str) -> Result<(), InFolderError> {
        // The copy is a drive that was put away; this one goes on.
        self.keep(disk, true)?;
        let copied = self.folder.snapshot(name);
        self.keep(disk, false)?;
        Ok(copied?)
    }

    /// The drive as a copy of that name has it, instead of what it is now.
    ///
    /// # Errors
    /// There is none of that name; the host's storage.
    pub fn restore(&mut self, name: &str) -> Result<Disk<FolderMedium>, InFolderError> {
        self.folder.restore(name)?;
        let (about, disk) = InFolder::revive(&self.folder)?;
        self.about = about;
        Ok(disk)
    }

    /// Keeps what the drive is like now. Nothing may be under way.
    ///
    /// # Errors
    /// The drive cannot flush, or is poisoned; the host's storage. The last checkpoint and its account stand then.
    pub fn checkpoint(&mut self, disk: &mut Disk<FolderMedium>) -> Result<(), InFolderError> {
        self.keep(disk, false)
    }

    /// Puts the drive away. What a read-only drive cannot flush any more is lost, as with its power.
    ///
    /// # Errors
    /// As [`InFolder::checkpoint`]; the next to open it recovers it.
    pub fn close(mut self, disk: &mut Disk<FolderMedium>) -> Result<(), InFolderError> {
        if disk.is_read_only() {
            drop(disk.power_cut(self.about.seed()));
        }
        self.keep(disk, true)
    }

    fn keep(&mut self, disk: &mut Disk<FolderMedium>, is_put_away: bool) -> Result<(), InFolderError> {
        let checkpoint = self.about.to_bytes(disk)?;
        if let Some(error) = disk.poison() {
            return Err(Failure::Poisoned(error.to_string()).into());
        }
        let image = &mut disk.ssd().ftl.flash.contents;
        let units = image.sizes().units();
        self.folder.keep(&checkpoint, image.medium(), units, is_put_away)?;
        image.clear_since();
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// The drive of a checkpoint, brought in line with what `life` tells of the time since.
///
/// # Errors
/// What is wrong with the checkpoint; what `life` says.
pub fn revive<M: Medium>(
    file: &str,
    checkpoint: &[u8],
    life: impl FnOnce(Sizes) -> Result<Life<M>, InFolderError>,
) -> Result<(About, Disk<M>), InFolderError> {
    let (label, saved) = drive_file::from_bytes(file, checkpoint)?;
    let profile = Profile::read(&label.name, &label.file, &label.profile, &label.settings)?;
    let mut before = None;
    let with_bytes = WithBytes::new(label, profile, saved, |sizes| {
        let Life { medium, since, counters, bad, was_put_away } = life(sizes)?;
        before = Some((since, counters, bad, was_put_away));
        Ok::<M, InFolderError>(medium)
    });
    let WithBytes { mut disk, mut about } = with_bytes?;
    if let Some((since, counters, bad, was_put_away)) = before {
        disk = disk.recovered(about.seed(), since).not_readable(bad);
        if !was_put_away {
            disk = disk.not_put_away(counters.as_ref());
        }
    }
    about.count_from_now(&mut disk);
    Ok((about, disk))
}
