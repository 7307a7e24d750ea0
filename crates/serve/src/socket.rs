//! Sockets of either kind: where clients find the server, and a client's connection.
//!
//! A socket over TCP takes only addresses of the machine itself unless it is told otherwise: the protocol knows no
//! passwords. A unix socket is a file; one that nobody listens on any more is replaced, and the file goes with the server.

use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg};
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// As many pieces as Linux takes in one call (`IOV_MAX`).
const PIECES: usize = 1024;

/// Where clients find the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// Port 0 lets the machine choose one.
    Tcp(SocketAddr),
}

/// Why nobody can be served there.
#[derive(Debug, thiserror::Error)]
pub enum BadAddress {
    /// Others could reach it.
    #[error(
        "{0} can be reached from other machines, and the protocol knows no passwords: serve at 127.0.0.1 or a unix \
         socket, or say that others may reach it"
    )]
    NotLoopback(SocketAddr),
    /// The machine refuses.
    #[error("nobody can be served at {place}: {error}; choose another address")]
    Refused {
        /// The address.
        place: String,
        /// What the machine says.
        error: io::Error,
    },
}

/// A socket that clients come to.
#[derive(Debug)]
pub enum Door {
    /// A file, removed at the end.
    Unix(UnixListener, PathBuf),
    /// A port.
    Tcp(TcpListener),
}

impl Door {
    /// Opens a socket. `others_may_reach_it` allows addresses beyond the machine itself.
    ///
    /// # Errors
    /// Why nobody can be served there.
    pub fn open(address: &Address, others_may_reach_it: bool) -> Result<Door, BadAddress> {
        let refused = |place: String| move |error| BadAddress::Refused { place, error };
        let door = match address {
            Address::Tcp(address) if !address.ip().is_loopback() && !others_may_reach_it => {
                return Err(BadAddress::NotLoopback(*address));
            }
            Address::Tcp(address) => Door::Tcp(TcpListener::bind(address).map_err(refused(address.to_string()))?),
            Address::Unix(path) => {
                let place = path.display().to_string();
                Door::Unix(bind(path).map_err(refused(place))?, path.clone())
            }
        };
        // Who vanishes between the bell and the door must not make the server wait for the next.
        let waits = match &door {
            Door::Unix(listener, _) => listener.set_nonblocking(true),
            Door::Tcp(listener) => listener.set_nonblocking(true),
        };
        waits.map_err(refused(format!("{address:?}")))?;
        Ok(door)
    }

    /// Where clients find it, with the port that the machine chose.
    ///
    /// # Errors
    /// What the machine says.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Door::Unix(_, path) => Ok(Address::Unix(path.clone())),
            Door::Tcp(listener) => listener.local_addr().map(Address::Tcp),
        }
    }

    /// The next client, if one is there.
    ///
    /// # Errors
    /// `WouldBlock` where none is there, or what the machine says.
    pub fn accept(&self) -> io::Result<Socket> {
        match self {
            Door::Unix(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                Ok(Socket::Unix(stream))
            }
            Door::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                // Replies are written whole: nothing is gained by waiting for more.
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
        }
    }
}

/// Binds a path; a socket that a killed server left is replaced.
fn bind(path: &Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left_over(path) => {
            std::fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        bound => bound,
    }
}

fn is_left_over(path: &Path) -> bool {
    UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        && std::fs::symlink_metadata(path).is_ok_and(|data| {
            use std::os::unix::fs::FileTypeExt;
            data.file_type().is_socket()
        })
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Door::Unix(listener, _) => listener.as_fd(),
            Door::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Door::Unix(_, path) = self {
            // One that is gone already is as good.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A client's connection, which two threads may use at once.
#[derive(Debug)]
pub enum Socket {
    /// By a file.
    Unix(UnixStream),
    /// By a port.
    Tcp(TcpStream),
}

impl Socket {
    /// The end of a connection over TCP that is the server's.
    pub fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Socket::Unix(_) => None,
            Socket::Tcp(stream) => stream.local_addr().ok(),
        }
    }

    /// Reading and writing give up after these times without a byte.
    ///
    /// # Errors
    /// What the machine says.
    pub fn set_patience(&self, reading: Duration, writing: Duration) -> io::Result<()> {
        match self {
            Socket::Unix(stream) => {
                stream.set_read_timeout(Some(reading)).and_then(|()| stream.set_write_timeout(Some(writing)))
            }
            Socket::Tcp(stream) => {
                stream.set_read_timeout(Some(reading)).and_then(|()| stream.set_write_timeout(Some(writing)))
            }
        }
    }

    /// Reads what is there.
    ///
    /// # Errors
    /// What the machine says.
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => (&mut &*stream).read(into),
            Socket::Tcp(stream) => (&mut &*stream).read(into),
        }
    }

    /// As [`Socket::read`], of what is there already: `WouldBlock` where nothing is.
    ///
    /// # Errors
    /// What the machine says.
    pub fn read_at_once(&self, into: &mut [u8]) -> io::Result<usize> {
        let (length, _) = match self {
            Socket::Unix(stream) => recv(stream, into, RecvFlags::DONTWAIT)?,
            Socket::Tcp(stream) => recv(stream, into, RecvFlags::DONTWAIT)?,
        };
        Ok(length)
    }

    /// Writes of several pieces what can be written.
    ///
    /// # Errors
    /// What the machine says.
    pub fn write(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => (&mut &*stream).write_vectored(pieces),
            Socket::Tcp(stream) => (&mut &*stream).write_vectored(pieces),
        }
    }

    /// As [`Socket::write`], what the client takes at once: `WouldBlock` where that is nothing.
    ///
    /// # Errors
    /// What the machine says.
    pub fn write_at_once(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let pieces = pieces.get(..PIECES).unwrap_or(pieces);
        let (flags, mut no_files) = (SendFlags::DONTWAIT | SendFlags::NOSIGNAL, SendAncillaryBuffer::default());
        let sent = match self {
            Socket::Unix(stream) => sendmsg(stream, pieces, &mut no_files, flags)?,
            Socket::Tcp(stream) => sendmsg(stream, pieces, &mut no_files, flags)?,
        };
        Ok(sent)
    }

    /// Ends reading, or both ways: whoever waits in a call wakes up.
    pub fn shut(&self, how: Shutdown) {
        // One that is shut already is as good.
        let _ = match self {
            Socket::Unix(stream) => stream.shutdown(how),
            Socket::Tcp(stream) => stream.shutdown(how),
        };
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// An address that others reach is refused unless the caller allows it.
    #[test]
    fn others_are_kept_out() {
        let everywhere = Address::Tcp(([0, 0, 0, 0], 0).into());
        assert!(matches!(Door::open(&everywhere, false), Err(BadAddress::NotLoopback(_))));
        assert!(Door::open(&everywhere, true).is_ok());
        let here = Door::open(&Address::Tcp(([127, 0, 0, 1], 0).into()), false).expect("a port is free");
        assert!(matches!(here.address(), Ok(Address::Tcp(address)) if address.port() != 0));
    }

    /// A socket that nobody listens on is replaced; one in use, or a file of another kind, is left alone.
    #[test]
    fn left_over_sockets_are_replaced() {
        let folder = std::env::temp_dir().join(format!("ssdlab-socket-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder of its own");
        let (path, file) = (folder.join("socket"), folder.join("file"));
        drop(UnixListener::bind(&path).expect("a socket"));
        let address = Address::Unix(path.clone());
        let door = Door::open(&address, false).expect("nobody listens");
        assert!(matches!(Door::open(&address, false), Err(BadAddress::Refused { .. })), "one listens");
        assert!(path.exists());
        drop(door);
        assert!(!path.exists());
        std::fs::write(&file, "words").expect("a file");
        assert!(Door::open(&Address::Unix(file.clone()), false).is_err());
        assert_eq!(std::fs::read(&file).expect("it is left"), b"words");
        std::fs::remove_dir_all(&folder).expect("its own folder");
    }
}
