//! Which drive or stack is meant, and the file that it lies in.

use crate::input::{DRIVE_BYTES, Input, TEXT_BYTES};
use crate::mend;
use pyo3::PyResult;
use ssdlab_device::profile::{built_in, names, nearest};
use ssdlab_disk::folder::Seen;
use ssdlab_lab::drive_file::{DriveFileError, is_drive_file};
use ssdlab_lab::host::text::{LayerText, StackText};
use ssdlab_lab::request::RunRequest;
use ssdlab_lab::session::{DriveSource, Session, SessionError};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The drive of a request with layers over it: a profile that comes along, a profile file, a drive
/// file, or the file of a stack, whose layers come first; each drive of the stack at the scale that is asked for, but
/// for one that a layer names.
pub fn open(request: &RunRequest) -> PyResult<Session> {
    let RunRequest { settings, layers, seed, scale, .. } = request;
    let over = layers.iter().map(|layer| LayerText::parse(layer)).collect::<Result<Vec<_>, _>>().map_err(mend)?;
    let mut find = |name: &str| named(name).map_err(SessionError::Drive);
    match source_of(&request.drive).map_err(mend)? {
        Source::Drive(source) => {
            let source = source.at_scale(*scale).map_err(mend)?;
            Session::open_stack(&source, settings, over, *seed, &mut find).map_err(mend)
        }
        Source::Stack(name, stack) => {
            DriveSource::check_settings(&request.drive, &stack.settings).map_err(mend)?;
            let settings = [stack.settings, settings.clone()].concat();
            let layers = [stack.layers, over].concat();
            let bottom = named(&stack.drive).map_err(mend)?.at_scale(*scale).map_err(mend)?;
            let mut session = Session::open_stack(&bottom, &settings, layers, *seed, &mut find).map_err(mend)?;
            session.name = name;
            Ok(session)
        }
    }
}

enum Source {
    Drive(DriveSource),
    /// The file's name without its ending, and what stands in it.
    Stack(String, StackText),
}

/// A drive that is no stack.
fn named(drive: &str) -> Result<DriveSource, String> {
    match source_of(drive)? {
        Source::Drive(source) => Ok(source),
        Source::Stack(..) => {
            Err(format!("{drive}: is a stack, and a drive is needed here; name a profile or a drive file"))
        }
    }
}

fn source_of(drive: &str) -> Result<Source, String> {
    if let Some(text) = built_in(drive) {
        let file = format!("profile {drive}");
        return Ok(Source::Drive(DriveSource::Profile { name: drive.into(), file, text: text.into(), scale: None }));
    }
    if Path::new(drive).is_dir() {
        let seen = Box::new(Seen::at(Path::new(drive)).map_err(|error| error.to_string())?);
        return Ok(Source::Drive(DriveSource::Folder { folder: drive.into(), seen }));
    }
    // A device that can be read is never looked at as a file.
    if std::fs::metadata(drive).is_ok_and(|found| found.file_type().is_block_device()) {
        return Err(real(drive));
    }
    let refused = |error: io::Error| unknown(drive, &error);
    let input = Input::open(drive).map_err(refused)?;
    let file = drive.to_string();
    if is_drive_file(input.beginning()) {
        return Ok(Source::Drive(DriveSource::File { file, bytes: input.read_all(DRIVE_BYTES).map_err(refused)? }));
    }
    if !drive.ends_with(".toml") {
        return Err(DriveFileError::Other(file).to_string());
    }
    let text = input.read_text(TEXT_BYTES).map_err(refused)?;
    let name = Path::new(drive).file_stem().map_or(drive.into(), |stem| stem.to_string_lossy()).into_owned();
    if StackText::is_stack(&text) {
        return Ok(Source::Stack(name, StackText::parse(drive, &text).map_err(|error| error.to_string())?));
    }
    Ok(Source::Drive(DriveSource::Profile { name, file, text, scale: None }))
}

fn real(drive: &str) -> String {
    format!(
        "{drive}: is a real drive, and a simulated one is needed here\n\
         measure it with `ssdlab pts {drive}` or precondition it with `ssdlab season {drive}`; \
         to simulate, name a profile (`ssdlab drives`), a profile file or a drive file"
    )
}

fn unknown(drive: &str, error: &io::Error) -> String {
    if drive.starts_with("/dev/") || drive.contains("://") {
        return real(drive);
    }
    if drive.ends_with(".toml") || drive.ends_with(".ssd") || error.kind() != io::ErrorKind::NotFound {
        return format!(
            "{drive}: cannot be read: {error}\nname a drive file, a profile or a stack (*.toml), or an included profile: `ssdlab drives` lists them"
        );
    }
    let near = nearest(drive, names());
    let hint = if near.is_empty() {
        "`ssdlab drives` lists them".into()
    } else {
        format!("did you mean {}?", near.join(", "))
    };
    format!("there is no drive {drive}\n{hint}")
}
