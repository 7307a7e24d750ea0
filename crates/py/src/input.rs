//! Files that are read: up to a limit, so that one without end is refused and not read until memory ends.

use std::fs::File;
use std::io::{self, Read};

/// Job files, profiles and stacks.
pub const TEXT_BYTES: usize = 16 << 20;
/// Traces that can be read only once, and are held.
pub const TRACE_BYTES: usize = 1 << 30;
/// Drive files, which hold the map of the drive.
pub const DRIVE_BYTES: usize = 64 << 30;

const PIECE_BYTES: usize = 1 << 20;
/// A text has no zero byte; one without end, such as `/dev/zero`, shows it here.
const LOOKED_AT_BYTES: usize = 4096;

/// A file that is being read.
pub struct Input {
    file: File,
    bytes: Vec<u8>,
}

impl Input {
    /// Opens a file and reads its beginning.
    pub fn open(path: &str) -> io::Result<Input> {
        let mut input = Input { file: File::open(path)?, bytes: Vec::new() };
        input.read_to(LOOKED_AT_BYTES)?;
        Ok(input)
    }

    /// How the file begins.
    pub fn beginning(&self) -> &[u8] {
        &self.bytes
    }

    /// All of it.
    ///
    /// # Errors
    /// It is longer than the limit, or than memory allows.
    pub fn read_all(mut self, limit: usize) -> io::Result<Vec<u8>> {
        self.read_to(limit + 1)?;
        if self.bytes.len() > limit {
            return Err(io::Error::other(format!("larger than the limit of {}", in_binary_units(limit))));
        }
        Ok(self.bytes)
    }

    /// All of it, as text.
    ///
    /// # Errors
    /// As [`Input::read_all`], and where it is no text.
    pub fn read_text(self, limit: usize) -> io::Result<String> {
        let no_text = || io::Error::other("not a text file (UTF-8)");
        if self.bytes.contains(&0) {
            return Err(no_text());
        }
        String::from_utf8(self.read_all(limit)?).map_err(|_| no_text())
    }

    /// Reads on until there are so many bytes, or no more come.
    fn read_to(&mut self, bytes: usize) -> io::Result<()> {
        while self.bytes.len() < bytes {
            let piece = PIECE_BYTES.min(bytes - self.bytes.len());
            let read = self.bytes.len();
            let memory = |_| io::Error::other("larger than the memory that is free");
            self.bytes.try_reserve(piece).map_err(memory)?;
            if (&mut self.file).take(piece as u64).read_to_end(&mut self.bytes)? == 0 {
                debug_assert_eq!(read, self.bytes.len());
                break;
            }
        }
        Ok(())
    }
}

fn in_binary_units(bytes: usize) -> String {
    if bytes < 1 << 30 { format!("{} MiB", bytes >> 20) } else { format!("{} GiB", bytes >> 30) }
}
