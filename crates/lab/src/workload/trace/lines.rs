//! The lines of a stream, one at a time in one buffer: blank ones are passed over, the others numbered.

use super::packed::unpacked;
use super::{CUT, Fault};
use std::io::{self, BufRead, Cursor, Read};

/// No format has longer ones; a file without ends of lines shows it here.
const LONGEST_LINE: u64 = 1 << 16;
/// The format is found in so much of the beginning.
const LOOKED_AT_BYTES: u64 = 1 << 16;
const UNREADABLE: &str = "copy or pack it again";
const NO_TEXT: &str = "name the trace itself: a text, as it is or packed with gzip or zstd";

/// Reads lines.
pub(super) struct Lines {
    input: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: u64,
    /// The last line read ended as lines do.
    is_whole: bool,
}

/// A stream that was opened: its lines, how it begins, and the packer it came out of.
pub(super) struct Opened {
    pub lines: Lines,
    pub beginning: String,
    pub packer: Option<&'static str>,
}

impl Lines {
    /// Begins to read; what was looked at is still to come.
    pub fn open(file: Box<dyn Read + Send>) -> Result<Opened, Fault> {
        let (mut input, packer) = unpacked(file).map_err(|error| unreadable(0, &error))?;
        let mut head = Vec::new();
        let read = input.by_ref().take(LOOKED_AT_BYTES).read_to_end(&mut head);
        read.map_err(|error| unreadable(0, &error))?;
        if head.get(257..262) == Some(b"ustar") {
            let message = "an archive of files (tar)".to_string();
            return Err((0, message, "unpack it with tar, and name the trace in it"));
        }
        if head.contains(&0) {
            return Err((0, "not a text file (UTF-8)".into(), NO_TEXT));
        }
        let beginning = String::from_utf8_lossy(&head).into_owned();
        let input = Box::new(Cursor::new(head).chain(input));
        Ok(Opened { lines: Lines { input, line: Vec::new(), number: 0, is_whole: true }, beginning, packer })
    }

    /// The next line that is not blank, with its number.
    pub fn next(&mut self) -> Result<Option<(u64, &str)>, Fault> {
        loop {
            self.line.clear();
            let mut limited = self.input.by_ref().take(LONGEST_LINE);
            let read = limited.read_until(b'\n', &mut self.line);
            let read = read.map_err(|error| unreadable(self.number, &error))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.is_whole = self.line.last() == Some(&b'\n');
            if read as u64 == LONGEST_LINE && !self.is_whole {
                return Err((self.number, format!("longer than {LONGEST_LINE} bytes"), NO_TEXT));
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        match std::str::from_utf8(self.line.trim_ascii()) {
            Ok(line) => Ok(Some((self.number, line))),
            Err(_) => Err((self.number, "not text (UTF-8)".into(), CUT)),
        }
    }

    /// The number of the last line, and whether it ended as lines do.
    pub fn last(&self) -> (u64, bool) {
        (self.number, self.is_whole)
    }
}

/// A stream that cannot be read on after this line.
fn unreadable(after: u64, error: &io::Error) -> Fault {
    let message = if after > 0 { format!("cannot be read on: {}", plain(error)) } else { plain(error) };
    (after, message, UNREADABLE)
}

/// An error's words, without the number that the system gives it.
pub(super) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_string()
}
