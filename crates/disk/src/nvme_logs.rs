//! The file in a drive's folder that keeps what its NVMe logs tell of hosts: failed commands, self-tests, the last sanitize.

use crate::storage::{FolderError, read, replace, storage};
use ssdlab_device::ssd::past::Past;
use std::path::Path;

/// Its name.
pub(crate) const FILE: &str = "nvme-logs.json";
/// More than 64 errors and 20 self-tests take.
const MOST_BYTES: u64 = 1 << 20;

/// What the drive of a folder remembers that hosts did to it; nothing where that is not there.
///
/// # Errors
/// It is damaged, or of another version; the host's storage.
pub fn past_of(path: &Path) -> Result<Past, FolderError> {
    const REMEDY: &str =
        "remove it, and the drive forgets its errors, self-tests and sanitize; or restore it from a copy";
    let file = path.join(FILE);
    if !file.exists() {
        return Ok(Past::default());
    }
    let bytes = read(&file, MOST_BYTES)?;
    let damaged = |error: serde_json::Error| FolderError::Damaged { file, what: error.to_string(), remedy: REMEDY };
    serde_json::from_slice(&bytes).map_err(damaged)
}

/// The drive of a folder remembers that.
///
/// # Errors
/// The host's storage; what lay there stands then.
pub fn keep_past(path: &Path, past: &Past) -> Result<(), FolderError> {
    let file = path.join(FILE);
    // There is nothing in it that cannot be written so.
    let bytes = serde_json::to_vec_pretty(past).expect("numbers and names");
    replace(&file, &bytes).map_err(storage(&file, "cannot be written"))
}
