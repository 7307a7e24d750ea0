//! What a drive is opened from: the text of a profile, or the bytes of a drive file.

use super::SessionError;
use super::memory::Memory;
use super::smaller;
use crate::condition::{Condition, Season};
use crate::drive_file::{self, Label};
use crate::host::drive::Drive;
use crate::scale::DriveScale;
use ssdlab_device::config::ftl::GcPolicy;
use ssdlab_device::ftl::Ftl;
use ssdlab_device::parameter::Value as _;
use ssdlab_device::profile::{Profile, ProfileError, parse_setting};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::ssd::signs::Signs;
use ssdlab_disk::folder::Seen;

/// What a drive is opened from.
#[derive(Clone, Debug)]
pub enum DriveSource {
    /// The text of a profile: a drive fresh out of the box.
    Profile {
        /// Its name.
        name: String,
        /// Where it was read from.
        file: String,
        /// The profile.
        text: String,
        /// A smaller drive in its place.
        scale: Option<DriveScale>,
    },
    /// The bytes of a drive file: a drive in a condition.
    File {
        /// Its name.
        file: String,
        /// The file.
        bytes: Vec<u8>,
    },
    /// What was seen of a folder: a drive in a condition, as the host has left it.
    Folder {
        /// Its name.
        folder: String,
        /// What was seen of it.
        seen: Box<Seen>,
    },
}

/// A drive that was opened.
pub struct Opened {
    /// The drive.
    pub drive: Drive,
    /// Its parameters and their sources.
    pub profile: Profile,
    /// What has been done to it.
    pub label: Label,
}

impl DriveSource {
    /// The drive file, where it is one.
    pub fn drive_file(&self) -> Option<String> {
        match self {
            DriveSource::Profile { .. } => None,
            DriveSource::File { file, .. } => Some(file.clone()),
            DriveSource::Folder { folder, .. } => Some(folder.clone()),
        }
    }

    /// The same at a scale.
    ///
    /// # Errors
    /// It is a drive in a condition, which has a size.
    pub fn at_scale(mut self, wanted: Option<DriveScale>) -> Result<DriveSource, SessionError> {
        match (&mut self, wanted) {
            (DriveSource::Profile { scale, .. }, _) => *scale = wanted,
            (_, None) => {}
            (DriveSource::File { file: place, .. } | DriveSource::Folder { folder: place, .. }, Some(scale)) => {
                let message =
                    "a drive file keeps the size that it was made with\nseason its profile again at this scale";
                return Err(scale.refused(place, message).into());
            }
        }
        Ok(self)
    }

    /// Settings in a file that the user did not write: none of them names code that is run.
    ///
    /// # Errors
    /// One does.
    pub fn check_settings(place: &str, settings: &[(String, String)]) -> Result<(), SessionError> {
        own_policy(settings).map_or(Ok(()), |(key, value)| {
            let message =
                format!("{place}: {key} = {value}: a file names no code that is run\ngive it as --set {key}=…");
            Err(SessionError::Drive(message))
        })
    }

    /// Opens it; the seed is that of a drive fresh out of the box.
    ///
    /// # Errors
    /// What is wrong with profile, drive file or settings; memory that the drive would not fit into.
    pub fn open(&self, settings: &[(String, String)], seed: u64, memory: &mut Memory) -> Result<Opened, SessionError> {
        match self {
            DriveSource::Profile { name, file, text, scale: None } => {
                from_profile(smaller::read(name, file, text, settings)?, text, None, seed, memory)
            }
            DriveSource::Profile { name, file, text, scale: Some(scale) } => {
                let given = smaller::read(name, file, text, settings)?.0;
                let read = read_at_scale(&given, text, settings, *scale)?;
                from_profile(read, text, Some(*scale), seed, memory).map_err(|error| at_its_scale(*scale, error))
            }
            DriveSource::File { file, bytes } => from_file(file, bytes, settings, memory),
            DriveSource::Folder { folder, seen } => from_folder(folder, seen, settings, memory),
        }
    }
}

/// A profile, and all settings that made it.
type Read = (Profile, Vec<(String, String)>);

/// A drive with what follows from its scale put over its settings.
fn read_at_scale(
    profile: &Profile,
    text: &str,
    settings: &[(String, String)],
    scale: DriveScale,
) -> Result<Read, SessionError> {
    let follows = scale.follows(profile)?;
    let stays = |(key, _): &&(String, String)| follows.iter().all(|(set, _)| set != key);
    let mut all: Vec<_> = settings.iter().filter(stays).cloned().collect();
    all.extend(follows.iter().map(|(key, value)| (key.to_string(), value.clone())));
    let read = smaller::read(&profile.name, &profile.file, text, &all);
    let (mut profile, all) = read.map_err(|error| at_its_scale(scale, error.into()))?;
    for (key, _) in follows {
        if let Some(entry) = profile.entries.get_mut(key) {
            entry.source = format!("follows from scale {scale}");
        }
    }
    Ok((profile, all))
}

/// What is wrong with a drive that the user did not size: the scale is named first.
fn at_its_scale(scale: DriveScale, error: SessionError) -> SessionError {
    match error {
        SessionError::Profile(ProfileError { place, message }) => {
            ProfileError { place: format!("scale {scale}: {place}"), message }.into()
        }
        other => other,
    }
}

fn from_profile(
    (profile, settings): Read,
    text: &str,
    scale: Option<DriveScale>,
    seed: u64,
    memory: &mut Memory,
) -> Result<Opened, SessionError> {
    check_cell(&profile, text)?;
    memory.add(&profile.name, &profile.model)?;
    let drive = Drive::new(&profile.model, seed).map_err(|problem| profile.locate(&problem))?;
    let label = Label {
        name: profile.name.clone(),
        file: profile.file.clone(),
        profile: text.to_string(),
        settings,
        condition: Condition::Fresh,
        seed,
        season: Season::default(),
        span: 1.0,
        started_over: None,
        written_since: false,
        signs: Signs::default(),
        scale,
    };
    Ok(Opened { drive, profile, label })
}

/// What follows from the kind of cell, and is given apart from it.
const FOLLOWS_FROM_CELL: [&str; 3] = ["nand.read_us", "nand.program_us", "reliability.rated_cycles"];

/// Another kind of cell alone would keep the times and the endurance of the old one.
fn check_cell(profile: &Profile, text: &str) -> Result<(), SessionError> {
    let is_set = |key: &str| profile.provenance(key).0 == "set";
    let missing: Vec<&str> = FOLLOWS_FROM_CELL.into_iter().filter(|key| !is_set(key)).collect();
    if !is_set("nand.cell") || missing.is_empty() {
        return Ok(());
    }
    let own = Profile::read(&profile.name, &profile.file, text, &[])?;
    let cell = |profile: &Profile| profile.ssd().map(|config| config.nand.cell);
    if cell(profile)? == cell(&own)? {
        return Ok(());
    }
    let missing: Vec<String> = missing.iter().map(|key| format!("--set {key}=…")).collect();
    let message = format!(
        "--set nand.cell={}: times and endurance would stay those of {}; give them too: {}",
        cell(profile)?.show(),
        cell(&own)?.show(),
        missing.join(" ")
    );
    Err(SessionError::Drive(message))
}

/// The victim policy of the user's own that settings name.
fn own_policy(settings: &[(String, String)]) -> Option<&(String, String)> {
    let is_own = |value: &str| GcPolicy::read(&parse_setting(value)).is_some_and(|policy| policy.is_foreign());
    settings.iter().rev().find(|(key, _)| key == "ftl.gc").filter(|(_, value)| is_own(value))
}

/// The settings of a drive in a condition, with the policy that goes on. Other settings are refused: they would change
/// what was seasoned. A policy of the user's own is named anew each time: a file says nothing about which code is run.
fn settings_of_file(
    file: &str,
    label: &Label,
    given: &[(String, String)],
) -> Result<Vec<(String, String)>, SessionError> {
    let policy = own_policy(given);
    if let Some((key, value)) = given.iter().find(|setting| Some(*setting) != policy) {
        let message = format!(
            "--set {key}={value}: {file} is a drive in a condition and keeps its parameters\n\
             season its profile {} anew with this setting",
            label.name
        );
        return Err(SessionError::Condition(message));
    }
    match (policy, own_policy(&label.settings)) {
        (None, Some((_, value))) => Err(SessionError::Drive(format!(
            "{file}: its victim policy is {value}, and code is run only where you name it\ngive it again: --set ftl.gc=…"
        ))),
        _ => Ok(label.settings.iter().chain(policy).cloned().collect()),
    }
}

fn from_file(
    file: &str,
    bytes: &[u8],
    settings: &[(String, String)],
    memory: &mut Memory,
) -> Result<Opened, SessionError> {
    let (mut label, kept) = drive_file::from_bytes(file, bytes)?;
    label.settings = settings_of_file(file, &label, settings)?;
    let profile = Profile::read(&label.name, &label.file, &label.profile, &label.settings)?;
    memory.add(file, &profile.model)?;
    let config = profile.ssd()?;
    let ftl = Ftl::restore(kept, config, ()).map_err(|problem| profile.locate(&problem))?;
    let drive = Drive::Ssd(Box::new(Ssd::around(config, ftl)));
    Ok(Opened { drive, profile, label })
}

/// The drive of a checkpoint, brought in line with what happened since.
fn from_folder(
    folder: &str,
    seen: &Seen,
    settings: &[(String, String)],
    memory: &mut Memory,
) -> Result<Opened, SessionError> {
    let mut opened = from_file(folder, &seen.checkpoint, settings, memory)?;
    let mut has_written = false;
    if let Drive::Ssd(ssd) = &mut opened.drive {
        ssd.recover(seen.since.to_map(opened.label.seed).inspect(|(_, is_written)| has_written |= is_written));
        if !seen.was_put_away {
            ssd.ftl.counters.go_on_from(seen.counters.as_ref());
        }
    }
    opened.label.note_writes(has_written);
    Ok(opened)
}
