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

/// Whether to wait where nothing is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// As long as it may take.
    Yes,
    /// Not at all.
    No,
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

    /// A request that has begun has so long from now on.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
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

    /// The payload of a write begins, for which there is room only now.
    pub fn begin_payload(&mut self) {
        self.begun = Some(wall());
    }

    /// Reads more, when all is used; false where nothing is there and nothing is waited for.
    ///
    /// # Errors
    /// Why nothing comes.
    pub fn fill(&mut self, wait: Wait) -> Result<bool, Silence> {
        (self.start, self.end) = (0, 0);
        self.end = read(self.socket, &mut self.buffer, self.begun, self.patience, wait)?;
        Ok(self.end > 0)
    }

    /// The next bytes of the stream, at least one, and says how many; none where nothing is there and nothing is waited
    /// for.
    ///
    /// # Errors
    /// Why they do not come.
    pub fn take(&mut self, into: &mut [u8], wait: Wait) -> Result<usize, Silence> {
        if self.held().is_empty() {
            if into.len() >= DIRECT {
                return read(self.socket, into, self.begun, self.patience, wait);
            }
            self.fill(wait)?;
        }
        let taken = into.len().min(self.held().len());
        let (from, into) = (self.held().get(..taken), into.get_mut(..taken));
        into.zip(from).into_iter().for_each(|(into, from)| into.copy_from_slice(from));
        self.consume(taken);
        Ok(taken)
    }
}

/// At least one byte, or none where nothing is waited for.
fn read(
    socket: &Socket,
    into: &mut [u8],
    begun: Option<Instant>,
    patience: Duration,
    wait: Wait,
) -> Result<usize, Silence> {
    loop {
        let read = match wait {
            Wait::Yes => socket.read(into),
            Wait::No => socket.read_at_once(into),
        };
        let is_late = begun.is_some_and(|begun| wall().saturating_duration_since(begun) >= patience);
        match read {
            Ok(0) => return Err(Silence::Gone),
            _ if is_late => return Err(Silence::TooSlow),
            Ok(length) => return Ok(length),
            Err(error) => match (error.kind(), wait) {
                (ErrorKind::Interrupted, _) => {}
                (ErrorKind::WouldBlock | ErrorKind::TimedOut, Wait::Yes) => {}
                (ErrorKind::WouldBlock, Wait::No) => return Ok(0),
                _ => return Err(Silence::Gone),
            },
        }
    }
}
