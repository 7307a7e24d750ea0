//! What is in a drive's folder, what is wrong with it, and whether its drive would come to life: nothing changes there.
//!
//! ```text
//! Look (file by file) ─► the checkpoint's drive ─► what does not fit it ─► a dry opening, without the bytes
//! ```
//! Left out: the bytes themselves, of which nothing is known that they could be held against.

use crate::drive_file::{self, DriveFileError};
use crate::in_folder::{InFolderError, revive};
use serde_json::{Value, json};
use ssdlab_device::profile::Profile;
use ssdlab_disk::disk::sizes;
use ssdlab_disk::folder::{FolderError, snapshots};
use ssdlab_disk::image::Sizes;
use ssdlab_disk::look::{Fault, Holder, Look};
use ssdlab_disk::since::Mark;
use std::path::Path;

const ANEW: &str = "restore it from a copy, such as one in snapshots; or make a new drive of the bytes: `ssdlab serve DRIVE --data data.img -o NEW`";

/// Looks at a folder and at its snapshots; what they hold, as JSON.
///
/// # Errors
/// It is no folder of a drive.
pub fn check(path: &Path) -> Result<Value, FolderError> {
    let (mut told, mut faults) = look(path)?;
    let mut copies = Vec::new();
    for (name, path) in snapshots(path) {
        let (told, of_it) = look(&path).unwrap_or_else(|error| (json!({ "opens": false }), vec![Fault::of(error)]));
        copies.push(json!({ "name": name, "opens": told["opens"] }));
        faults.extend(of_it);
    }
    let faults = faults.into_iter().map(|Fault { file, what, remedy, is_unknown }| {
        json!({ "file": file.display().to_string(), "what": what, "remedy": remedy, "unknown": is_unknown })
    });
    told["snapshots"] = copies.into();
    told["faults"] = faults.collect();
    Ok(told)
}

/// What one folder holds, and what is wrong there.
fn look(path: &Path) -> Result<(Value, Vec<Fault>), FolderError> {
    let mut look = Look::at(path)?;
    if look.faults.iter().any(|fault| !fault.is_unknown) && look.holder != Holder::Nobody {
        // Whoever has it open may just have kept a checkpoint.
        look = Look::at(path)?;
    }
    let drive = drive(path, &mut look);
    let marked = |mark| look.account.as_ref().map(|account| account.since.marked(mark).count());
    let files = look.files.iter().map(|(name, bytes)| json!({ "name": name, "bytes": bytes }));
    let told = json!({
        "files": files.collect::<Vec<_>>(),
        "served_by": match &look.holder {
            Holder::Nobody => Value::Null,
            Holder::Process(process) => json!(process),
        },
        "version": look.checkpoint.as_deref().and_then(drive_file::version_of),
        "put_away": look.account.as_ref().map(|account| account.was_put_away),
        "checkpoint_unfinished": look.is_next,
        "units_written": marked(Mark::Written),
        "units_trimmed": marked(Mark::Trimmed),
        "bad_sectors": look.bad.iter().map(|range| range.end - range.start).sum::<u64>(),
        "opens": drive.is_some() && look.faults.iter().all(|fault| fault.is_unknown),
        "drive": drive,
    });
    Ok((told, look.faults))
}

/// The drive as the next to open it would find it; what keeps it from that is a fault.
fn drive(path: &Path, look: &mut Look) -> Option<Value> {
    let checkpoint = look.checkpoint.clone()?;
    let file = path.join("drive.ssd");
    let fault = |error: InFolderError| fault_of(&file, error);
    match size_of(&file, &checkpoint) {
        Err(error) => {
            let fault = fault(error);
            if fault.is_unknown {
                // Nor can be told what that version's account says.
                look.faults.retain(|other| !other.file.ends_with("since"));
            }
            look.faults.push(fault);
            None
        }
        Ok(sizes) => {
            let life = look.fit(sizes)?;
            let name = file.display().to_string();
            let opened = revive(&name, &checkpoint, |_| Ok(life));
            let (about, mut disk) = opened.map_err(|error| look.faults.push(fault(error))).ok()?;
            let mut told = about.stats(&mut disk);
            told["capacity_bytes"] = json!(sizes.capacity_bytes);
            told["sector_bytes"] = json!(sizes.sector_bytes);
            told["units"] = json!(sizes.units());
            Some(told)
        }
    }
}

fn size_of(file: &Path, checkpoint: &[u8]) -> Result<Sizes, InFolderError> {
    let (label, _) = drive_file::from_bytes(&file.display().to_string(), checkpoint)?;
    let profile = Profile::read(&label.name, &label.file, &label.profile, &label.settings)?;
    Ok(sizes(profile.ssd()?))
}

fn fault_of(file: &Path, error: InFolderError) -> Fault {
    match error {
        InFolderError::Folder(error) => Fault::of(error),
        InFolderError::Checkpoint(DriveFileError::Other(_)) => Fault::damaged(file, "is not a drive file", ANEW),
        InFolderError::Checkpoint(DriveFileError::Damaged(_)) => {
            Fault::damaged(file, "is truncated or damaged: its checksum does not match", ANEW)
        }
        InFolderError::Checkpoint(DriveFileError::Version(_)) => Fault {
            is_unknown: true,
            ..Fault::damaged(file, "is from another version of ssdlab", "check it with the version that wrote it")
        },
        InFolderError::Profile(error) => Fault::damaged(file, error.to_string(), ANEW),
        InFolderError::Drive(error) => Fault::damaged(file, error.to_string(), ANEW),
    }
}
