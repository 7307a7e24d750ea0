//! Copies of a drive's files, with the holes that they have: of a raw image, and of what a snapshot keeps.

use crate::file::data_of;
use crate::image::Sizes;
use crate::storage::{FolderError, opened, storage};
use rustix::fs::ioctl_ficlone;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Copies what is data of a raw image, and tells where that was.
pub(crate) fn copy_image(image: &Path, to: &File, sizes: Sizes) -> Result<Vec<Range<u64>>, FolderError> {
    let from = opened(image, OpenOptions::new().read(true))?;
    let length = from.metadata().map_err(storage(image, "cannot be read"))?.len();
    if length != sizes.capacity_bytes {
        let what = format!("has {length} bytes; the drive has {}", sizes.capacity_bytes);
        let remedy = "make the image as long as the drive (`truncate -s`), or the drive as long as the image (--set capacity_bytes=…)";
        return Err(FolderError::Damaged { file: image.to_path_buf(), what, remedy });
    }
    let stretches = data_of(&from).map_err(storage(image, "cannot be read"))?;
    // A file system that can lets both share what nobody has changed yet.
    if ioctl_ficlone(to, &from).is_ok() {
        return Ok(stretches);
    }
    copy_stretches(&from, to, &stretches).map_err(storage(image, "cannot be copied"))?;
    Ok(stretches)
}

fn copy_stretches(from: &File, to: &File, stretches: &[Range<u64>]) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    for stretch in stretches {
        let mut at = stretch.start;
        while at < stretch.end {
            let length = buffer.len().min((stretch.end - at) as usize);
            let part = &mut buffer[..length];
            from.read_exact_at(part, at)?;
            to.write_all_at(part, at)?;
            at += length as u64;
        }
    }
    Ok(())
}

/// A new file with the bytes and the holes of another; none where there is no other.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), FolderError> {
    if !from.exists() {
        return Ok(());
    }
    let source = opened(from, OpenOptions::new().read(true))?;
    let copy = || -> io::Result<()> {
        let copy = File::create_new(to)?;
        copy.set_len(source.metadata()?.len())?;
        if ioctl_ficlone(&copy, &source).is_err() {
            copy_stretches(&source, &copy, &data_of(&source)?)?;
        }
        copy.sync_all()
    };
    copy().map_err(storage(to, "cannot be written"))
}
