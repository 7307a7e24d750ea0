//! The smallest server over the machines: a thread a connection, a vector as the drive, everything answered at once.
//!
//! It shows how a socket layer uses them: bytes that no machine has taken are held, and the payload of a write goes from
//! the socket to where the drive wants it.

use ssdlab_serve::nbd::export::Export;
use ssdlab_serve::nbd::handshake::{Handshake, Step};
use ssdlab_serve::nbd::reply::{Extent, Replies};
use ssdlab_serve::nbd::session::{Event, Session};
use ssdlab_serve::nbd::wire;
use ssdlab_serve::request::{Command, Request};
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

/// Offset and length of what is told as hole or data.
const BLOCK: usize = 4096;

/// All that can be offered, in sectors of 4096 bytes; the size is the drive's.
pub fn export() -> Export {
    Export {
        name: "drive".into(),
        description: "a drive".into(),
        size: 0,
        minimum_block: BLOCK as u32,
        preferred_block: 16384,
        maximum_payload: wire::MAX_PAYLOAD_BYTES,
        read_only: false,
        trim: true,
        multi_conn: true,
        fua: true,
        flush: true,
        cache: true,
        write_zeroes: true,
    }
}

/// What is served.
pub struct Drive {
    pub bytes: Vec<u8>,
    /// Every request that it carried out, in order.
    pub asked: Vec<Request>,
}

/// A server that runs until the test's program ends; its folder goes before.
pub struct Server {
    folder: PathBuf,
    drive: Arc<Mutex<Drive>>,
}

impl Server {
    /// Serves bytes under each description, on a socket of the test's own.
    pub fn start(name: &str, exports: &[Export], bytes: Vec<u8>) -> Server {
        let size = bytes.len() as u64;
        let exports: Arc<[Export]> = exports.iter().cloned().map(|export| Export { size, ..export }).collect();
        let folder = std::env::temp_dir().join(format!("ssdlab-serve-{name}-{}", std::process::id()));
        let server = Server { folder, drive: Arc::new(Mutex::new(Drive { bytes, asked: Vec::new() })) };
        std::fs::create_dir(&server.folder).expect("a folder of its own");
        let listener = UnixListener::bind(server.path("socket")).expect("a socket");
        let drive = server.drive.clone();
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (exports, drive) = (exports.clone(), drive.clone());
                // A client that vanishes ends its own connection only.
                std::thread::spawn(move || Connection { socket, held: Vec::new() }.serve(exports, &drive));
            }
        });
        server
    }

    /// A file of the test.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Where clients find an export.
    pub fn uri(&self, export: &str) -> String {
        format!("nbd+unix:///{export}?socket={}", self.path("socket").display())
    }

    /// The drive as it is now.
    pub fn drive(&self) -> MutexGuard<'_, Drive> {
        self.drive.lock().expect("no connection panicked")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What cannot be removed is left to the machine's own cleaning.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A client's stream, and what of it no machine has taken yet.
struct Connection {
    socket: UnixStream,
    held: Vec<u8>,
}

impl Connection {
    fn serve(mut self, exports: Arc<[Export]>, drive: &Mutex<Drive>) -> io::Result<()> {
        let Some(mut session) = self.shake(exports)? else { return Ok(()) };
        loop {
            let mut out = Vec::new();
            match self.next(|held| session.take(held), |event| *event == Event::More)? {
                None | Some(Event::Disconnect) => return Ok(()),
                Some(Event::Broken(violation)) => panic!("{violation}"),
                Some(Event::More) => {}
                Some(Event::Refused(refusal)) => session.replies().refused(&mut out, &refusal),
                Some(Event::Request(request)) => {
                    let mut drive = drive.lock().expect("no other connection panicked");
                    if request.payload() > 0 {
                        self.fill(&mut drive.bytes[place(&request)])?;
                    }
                    carry_out(&mut drive, &request);
                    answer(session.replies(), &request, &drive.bytes, &mut out);
                }
            }
            self.socket.write_all(&out)?;
        }
    }

    /// The handshake; no session where the client leaves.
    fn shake(&mut self, exports: Arc<[Export]>) -> io::Result<Option<Session>> {
        self.socket.write_all(&wire::GREETING)?;
        let mut handshake = Handshake::new(exports).expect("good exports");
        loop {
            let mut out = Vec::new();
            let step = self.next(|held| handshake.take(held, &mut out), |step| *step == Step::More)?;
            self.socket.write_all(&out)?;
            match step {
                Some(Step::Go(agreed)) => return Ok(Some(Session::new(*agreed))),
                Some(Step::More | Step::Answered) => {}
                None | Some(Step::Aborted) => return Ok(None),
                Some(Step::Broken(violation)) => panic!("{violation}"),
            }
        }
    }

    /// Hands a machine what is there, and more, until it has something to tell; nothing where the client is gone.
    fn next<T>(
        &mut self,
        mut take: impl FnMut(&[u8]) -> (usize, T),
        is_more: impl Fn(&T) -> bool,
    ) -> io::Result<Option<T>> {
        loop {
            let (taken, told) = take(&self.held);
            self.held.drain(..taken);
            if !is_more(&told) {
                return Ok(Some(told));
            }
            let mut portion = [0; 4096];
            let length = self.socket.read(&mut portion)?;
            if length == 0 {
                return Ok(None);
            }
            self.held.extend(&portion[..length]);
        }
    }

    /// The next bytes of the stream, read to where they belong.
    fn fill(&mut self, payload: &mut [u8]) -> io::Result<()> {
        let (held, rest) = payload.split_at_mut(self.held.len().min(payload.len()));
        held.copy_from_slice(&self.held[..held.len()]);
        self.held.drain(..held.len());
        self.socket.read_exact(rest)
    }
}

fn place(request: &Request) -> std::ops::Range<usize> {
    let start = request.offset as usize;
    start..start + request.length as usize
}

/// Trims read as zeroes; the payload of a write is there already.
fn carry_out(drive: &mut Drive, request: &Request) {
    if matches!(request.command, Command::Trim { .. } | Command::WriteZeroes { .. }) {
        drive.bytes[place(request)].fill(0);
    }
    drive.asked.push(*request);
}

/// Reads in fragments where the client takes them, holes untold, and data behind their heads.
fn answer(replies: Replies, request: &Request, bytes: &[u8], out: &mut Vec<u8>) {
    let read = bytes.get(place(request)).unwrap_or_default();
    let is_zero = |block: &[u8]| block.iter().all(|byte| *byte == 0);
    match request.command {
        Command::Read { .. } => match replies.fragments(request) {
            Some(mut fragments) => {
                for block in read.chunks(BLOCK) {
                    if is_zero(block) {
                        fragments.hole(out, block.len() as u32);
                    } else {
                        fragments.data(out, block.len() as u32);
                        out.extend(block);
                    }
                }
            }
            None => {
                replies.read(out, request);
                out.extend(read);
            }
        },
        Command::BlockStatus { .. } => {
            let extent =
                |block: &[u8]| Extent { length: block.len() as u64, hole: is_zero(block), zero: is_zero(block) };
            replies.block_status(out, request, read.chunks(BLOCK).map(extent));
        }
        _ => replies.done(out, request.cookie),
    }
}
