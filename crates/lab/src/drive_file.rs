//! A drive file: a drive in a condition, kept for reuse.
//!
//! ```text
//! "ssdlab drive 8\n"   then postcard: profile text, settings, condition, seed, season, span, start, FTL
//!                      then postcard: the scale model or why there is none, where one was asked for,
//!                      what the drive was written by, where the condition alone does not tell,
//!                      that jobs wrote since, where they did, what its log tells besides,
//!                      and the scale that it was made at
//!                      then CRC-32 of all before it, little endian
//! ```
//! The profile and the settings lie in the file, so that it does not depend on the profile staying
//! as it is. The reverse map is not kept: it follows from the map.

use crate::condition::{Condition, Season};
use crate::scale::DriveScale;
use serde::{Deserialize, Serialize};
use ssdlab_device::ftl::saved::Saved;
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_device::ssd::signs::Signs;
use thiserror::Error;

/// What every drive file begins with, and the layout that this version reads and writes.
const FAMILY: &[u8] = b"ssdlab drive ";
const MAGIC: &[u8] = b"ssdlab drive 8\n";
const TAKEN: &str = "a vector takes what is written to it";

/// What is kept besides the flash translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Label {
    /// Name of the profile.
    pub name: String,
    /// Where the profile was read from.
    pub file: String,
    /// The profile itself.
    pub profile: String,
    /// Settings over it.
    pub settings: Vec<(String, String)>,
    /// What was done to the drive.
    pub condition: Condition,
    /// The seed it was done with.
    pub seed: u64,
    /// How it went.
    pub season: Season,
    /// Share of the exported range that the host uses.
    pub span: f64,
    /// How it started over last, where nothing was done to it since.
    pub started_over: Option<StartOver>,
    /// Jobs wrote since it came into its condition. A drive file says so at its end.
    #[serde(skip)]
    pub written_since: bool,
    /// What its log tells and the model does not have. A drive file says so at its end.
    #[serde(skip)]
    pub signs: Signs,
    /// The scale that it was made at; what follows is among the settings. A drive file says so at its end.
    #[serde(skip)]
    pub scale: Option<DriveScale>,
}

impl Label {
    /// Nothing is mapped, so that it can be filled as a drive out of the box.
    pub fn is_empty(&self) -> bool {
        self.condition == Condition::Fresh || self.started_over.is_some_and(StartOver::empties)
    }

    /// It has started over. A secure erase makes it fresh again, wear aside; after the other ways it is in the condition
    /// that it was in: its blocks are full, of data nobody can read or of nothing valid.
    pub fn start_over(&mut self, how: StartOver) {
        if how.erases() {
            self.condition = Condition::Fresh;
            self.season = Season::default();
            self.written_since = false;
        }
        self.started_over = Some(how);
    }

    /// Notes that a host wrote, where it did.
    pub fn note_writes(&mut self, has_written: bool) {
        if has_written {
            self.started_over = None;
            self.written_since = true;
        }
    }
}

/// Why a drive file cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DriveFileError {
    /// Another kind of file.
    #[error("{0}: not a drive file; make one with `ssdlab season`, or name a profile (*.toml)")]
    Other(String),
    /// Of another version's layout.
    #[error("{0}: this drive file is from another version of ssdlab; make it again with `ssdlab season`")]
    Version(String),
    /// Cut or damaged.
    #[error(
        "{0}: the drive file is truncated or damaged (its checksum does not match); make it again with `ssdlab season`"
    )]
    Damaged(String),
}

/// The bytes begin as a drive file does.
pub fn is_drive_file(bytes: &[u8]) -> bool {
    bytes.starts_with(FAMILY)
}

/// The version of its layout that a drive file says it is of.
pub fn version_of(bytes: &[u8]) -> Option<&str> {
    let line = bytes.strip_prefix(FAMILY)?.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok().filter(|version| version.len() < 8)
}

/// A drive as the bytes of a file.
pub fn to_bytes(label: &Label, ftl: &Saved<'_>) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes = postcard::to_extend(&(label, ftl), bytes).expect(TAKEN);
    let (way, writes) = ((&label.season.scaled, &label.season.refused), &label.season.writes);
    let signs = (label.signs != Signs::default() || label.scale.is_some()).then_some(label.signs);
    let written = label.written_since || signs.is_some();
    if way != (&None, &None) || writes.is_some() || written {
        bytes = postcard::to_extend(&way, bytes).expect(TAKEN);
    }
    if writes.is_some() || written {
        bytes = postcard::to_extend(writes, bytes).expect(TAKEN);
    }
    if written {
        bytes = postcard::to_extend(&label.written_since, bytes).expect(TAKEN);
    }
    if let Some(signs) = signs {
        bytes = postcard::to_extend(&signs, bytes).expect(TAKEN);
    }
    if let Some(scale) = label.scale {
        bytes = postcard::to_extend(&scale, bytes).expect(TAKEN);
    }
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The drive that lies in a file.
///
/// # Errors
/// [`DriveFileError`] where the bytes are not those of a whole drive file.
pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<(Label, Saved<'static>), DriveFileError> {
    if !is_drive_file(bytes) {
        return Err(DriveFileError::Other(file.to_string()));
    }
    if !bytes.starts_with(MAGIC) {
        return Err(DriveFileError::Version(file.to_string()));
    }
    let damaged = || DriveFileError::Damaged(file.to_string());
    let (body, sum) = bytes.split_last_chunk::<4>().ok_or_else(damaged)?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return Err(damaged());
    }
    let ((mut label, ftl), rest): ((Label, Saved<'static>), _) =
        postcard::take_from_bytes(&body[MAGIC.len()..]).map_err(|_| damaged())?;
    read_end(&mut label, rest).map_err(|_| damaged())?;
    Ok((label, ftl))
}

/// What may follow the drive; it ends where there is nothing more to say.
fn read_end(label: &mut Label, rest: &[u8]) -> postcard::Result<()> {
    if rest.is_empty() {
        return Ok(());
    }
    let (way, rest) = postcard::take_from_bytes(rest)?;
    (label.season.scaled, label.season.refused) = way;
    if rest.is_empty() {
        return Ok(());
    }
    let (writes, rest) = postcard::take_from_bytes(rest)?;
    label.season.writes = writes;
    if rest.is_empty() {
        return Ok(());
    }
    let (written, rest) = postcard::take_from_bytes(rest)?;
    label.written_since = written;
    if rest.is_empty() {
        return Ok(());
    }
    let (signs, rest) = postcard::take_from_bytes(rest)?;
    label.signs = signs;
    if !rest.is_empty() {
        label.scale = Some(postcard::from_bytes(rest)?);
    }
    Ok(())
}

#[cfg(test)]
mod test {
    use super::*;

    /// What a condition is in a drive file never changes: the fourth is steady by the job, as all that was steady once.
    #[test]
    fn conditions_of_old_drive_files_are_read() {
        use Condition::{Filled, Fresh, SteadyByJob, SteadyUniform, Used};
        for (number, condition) in [Fresh, Filled, Used, SteadyByJob, SteadyUniform].into_iter().enumerate() {
            let kept = [number as u8];
            assert_eq!(postcard::from_bytes::<Condition>(&kept).unwrap(), condition);
            assert_eq!(postcard::to_stdvec(&condition).unwrap(), kept);
        }
    }
}
