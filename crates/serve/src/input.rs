//! What a client sends: read in large portions, held until it is used, and waited for only so long.
//!
//! Whether a request has begun is the caller's to say; until then a client may be silent for ever. From then on it has
//! `patience` for all of it, so that one byte now and then does not hold a place.

use crate::clock::wall;
use crate::socket::Socket;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

/// Thirty-two writes of 4 KiB, and as much again: what one call of the machine brings.
const PORTION: usize = 256 << 10;
/// The rest of a payload that goes past the buffer.
const DIRECT: usize = 64 << 10;

/// Why nothing comes any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The client is gone.
    Gone,
    /// It took too long.
    TooSlow,
}

/// The client's stream.
pub struct Input<'a> {
    socket: &'a Socket,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    begun: Option<Instant>,
    patience: Duration,
}

impl<'a> Input<'a> {
    /// A stream that has just begun, as has the handshake. The socket gives up reading after `patience`.
    pub fn new(socket: &'a Socket, patience: Duration) -> Input<'a> {
        let buffer = vec![0; PORTION].into_boxed_slice();
        Input { socket, buffer, start: 0, end: 0, begun: Some(wall()), patience }
    }

    /// What is there.
    pub fn held(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// So much of it is used.
    pub fn consume(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
    }

    /// A request has begun, and is to come whole; it may have begun before.
    pub fn begin(&mut self) {
        self.begun = self.begun.or_else(|| Some(wall()));
    }

    /// It is there.
    pub fn complete(&mut self) {
        self.begun = None;
    }

    /// Waits for more, when all is used.
    ///
    /// # Errors
    /// Why nothing comes.
    pub fn fill(&mut self) -> Result<(), Silence> {
        (self.start, self.end) = (0, 0);
        self.end = read(self.socket, &mut self.buffer, self.begun, self.patience)?;
        Ok(())
    }

    /// The next bytes of the stream.
    ///
    /// # Errors
    /// Why they do not come.
    pub fn read_exact(&mut self, into: &mut [u8]) -> Result<(), Silence> {
        if into.is_empty() {
            return Ok(());
        }
        self.begun = Some(wall());
        let mut rest = into;
        while !rest.is_empty() {
            if self.held().is_empty() && rest.len() < DIRECT {
                self.fill()?;
            }
            let taken = if self.held().is_empty() {
                read(self.socket, rest, self.begun, self.patience)?
            } else {
                let taken = rest.len().min(self.held().len());
                let (from, into) = (self.held().get(..taken), rest.get_mut(..taken));
                into.zip(from).into_iter().for_each(|(into, from)| into.copy_from_slice(from));
                self.consume(taken);
                taken
            };
            rest = rest.get_mut(taken..).unwrap_or_default();
        }
        self.complete();
        Ok(())
    }
}

/// At least one byte.
fn read(socket: &Socket, into: &mut [u8], begun: Option<Instant>, patience: Duration) -> Result<usize, Silence> {
    loop {
        let read = socket.read(into);
        let is_late = begun.is_some_and(|begun| wall().saturating_duration_since(begun) >= patience);
        match read {
            Ok(0) => return Err(Silence::Gone),
            _ if is_late => return Err(Silence::TooSlow),
            Ok(length) => return Ok(length),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                _ => return Err(Silence::Gone),
            },
        }
    }
}
