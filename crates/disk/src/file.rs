//! Bytes in a raw sparse file: what stands at an offset of it is what the drive has there.
//!
//! What is made zero is a hole from [`HOLE_BYTES`] on, for a hole costs the host 100 to 400 µs; below, zeroes are written.
//! The host's kernel has a write once it has returned, so that it outlives the process; `sync` has it outlive the host.

use crate::medium::Medium;
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// From here on zeroes are a hole.
const HOLE_BYTES: u64 = 64 << 10;

static ZEROES: [u8; HOLE_BYTES as usize] = [0; HOLE_BYTES as usize];

/// See the module.
#[derive(Debug)]
pub struct ImageFile {
    file: File,
    /// The host's file system has holes.
    has_holes: bool,
}

impl ImageFile {
    /// Over a file that can be read and written.
    pub fn new(file: File) -> ImageFile {
        ImageFile { file, has_holes: true }
    }

    fn write_zeroes(&self, mut range: Range<u64>) -> io::Result<()> {
        while !range.is_empty() {
            let length = HOLE_BYTES.min(range.end - range.start);
            self.file.write_all_at(&ZEROES[..length as usize], range.start)?;
            range.start += length;
        }
        Ok(())
    }
}

impl Medium for ImageFile {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, offset)
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.file.write_all_at(from, offset)
    }

    fn zero(&mut self, offset: u64, length: u64) -> io::Result<()> {
        if self.has_holes && length >= HOLE_BYTES {
            match fallocate(&self.file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length) {
                Ok(()) => return Ok(()),
                Err(Errno::OPNOTSUPP) => self.has_holes = false,
                Err(error) => return Err(error.into()),
            }
        }
        self.write_zeroes(offset..offset + length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// The stretches of a file that are not holes, in order.
///
/// # Errors
/// What the host's storage says.
pub fn data_of(file: &File) -> io::Result<Vec<Range<u64>>> {
    let mut stretches = Vec::new();
    let mut from = 0;
    loop {
        match seek(file, SeekFrom::Data(from)) {
            Ok(start) => {
                from = seek(file, SeekFrom::Hole(start))?;
                stretches.push(start..from);
            }
            // Nothing but a hole to the end.
            Err(Errno::NXIO) => return Ok(stretches),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::medium::Ram;
    use proptest::prelude::*;
    use std::os::unix::fs::MetadataExt;

    const BYTES: u64 = 300 << 10;

    fn empty() -> (ImageFile, File) {
        let file = tempfile::tempfile().unwrap();
        file.set_len(BYTES).unwrap();
        (ImageFile::new(file.try_clone().unwrap()), file)
    }

    fn whole(medium: &mut impl Medium) -> Vec<u8> {
        let mut bytes = vec![1; BYTES as usize];
        medium.read(0, &mut bytes).unwrap();
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]
        /// A file reads as RAM does, whatever is written and made zero.
        #[test]
        fn it_reads_as_ram_does(
            steps in prop::collection::vec((0..BYTES, 1..200u64 << 10, prop::option::of(1..=255u8)), 1..12)
        ) {
            let ((mut file, _), mut ram) = (empty(), Ram::new(BYTES));
            for (offset, length, value) in steps {
                let length = length.min(BYTES - offset);
                for medium in [&mut file as &mut dyn Medium, &mut ram] {
                    match value {
                        Some(value) => medium.write(offset, &vec![value; length as usize]).unwrap(),
                        None => medium.zero(offset, length).unwrap(),
                    }
                }
            }
            prop_assert!(whole(&mut file) == whole(&mut ram));
        }
    }

    /// What is made zero is given back to the host, and what is data is found again.
    #[test]
    fn zeroes_are_holes() {
        let (mut image, file) = empty();
        image.write(0, &vec![7; BYTES as usize]).unwrap();
        image.sync().unwrap();
        let before = file.metadata().unwrap().blocks();
        image.zero(64 << 10, 128 << 10).unwrap();
        image.sync().unwrap();
        assert_eq!(before - file.metadata().unwrap().blocks(), (128 << 10) / 512);
        assert_eq!(data_of(&file).unwrap(), [0..64 << 10, 192 << 10..BYTES]);
    }

    /// A file that is too short is an error, never zeroes.
    #[test]
    fn a_short_file_is_an_error() {
        let (mut image, file) = empty();
        file.set_len(BYTES - 1).unwrap();
        let error = image.read(BYTES - 512, &mut [0; 512]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
