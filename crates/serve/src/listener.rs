//! Waits at all sockets for clients, in one thread; each gets a thread of its own.

use crate::connection;
use crate::house::{Ending, House};
use crate::queue;
use crate::socket::{Door, Socket};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ssdlab_disk::medium::Medium;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// What is spoken behind a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// NBD.
    Nbd,
    /// NVMe over TCP.
    Nvme,
}

/// Where the machine has no room for one more, it is asked again so soon.
const AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Lets clients in until the other end of `bell` is dropped.
pub fn listen<M: Medium + Send + 'static>(house: &Arc<House<M>>, doors: &[(Protocol, Door)], bell: &UnixStream) {
    while !rings(doors, bell) {
        for (protocol, door) in doors {
            match door.accept() {
                Ok(socket) => let_in(house, *protocol, Arc::new(socket)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Out of files or memory: a rest, unless the server ends.
                Err(_) => drop(poll(&mut [PollFd::new(bell, PollFlags::IN)], Some(&AGAIN))),
            }
        }
    }
}

/// Waits for a client or the end; true at the end.
fn rings(doors: &[(Protocol, Door)], bell: &UnixStream) -> bool {
    let mut waited = vec![PollFd::new(bell, PollFlags::IN)];
    waited.extend(doors.iter().map(|(_, door)| PollFd::new(door, PollFlags::IN)));
    // A signal, or a machine out of memory: asked again.
    let _ = poll(&mut waited, None);
    waited.first().is_some_and(|bell| !bell.revents().is_empty())
}

fn let_in<M: Medium + Send + 'static>(house: &Arc<House<M>>, protocol: Protocol, socket: Arc<Socket>) {
    let Some(number) = house.enter(&socket) else { return socket.shut(Shutdown::Both) };
    let (guest, shared) = (house.clone(), socket.clone());
    let spawned = std::thread::Builder::new().name(format!("client {number}")).spawn(move || {
        let ending = match (protocol, &guest.target) {
            (Protocol::Nvme, Some(target)) => queue::serve(&guest, target, &shared),
            _ => connection::serve(&guest, &shared),
        };
        guest.leave(number, ending);
    });
    if spawned.is_err() {
        socket.shut(Shutdown::Both);
        house.leave(number, Ending::Left);
    }
}
