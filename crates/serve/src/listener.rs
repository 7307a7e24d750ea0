//! Waits at all sockets for clients, in one thread; each gets a thread of its own.

use crate::connection::serve;
use crate::house::{Ending, House};
use crate::socket::{Door, Socket};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ssdlab_disk::medium::Medium;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Where the machine has no room for one more, it is asked again so soon.
const AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Lets clients in until the other end of `bell` is dropped.
pub fn listen<M: Medium + Send + 'static>(house: &Arc<House<M>>, doors: &[Door], bell: &UnixStream) {
    while !rings(doors, bell) {
        for door in doors {
            match door.accept() {
                Ok(socket) => let_in(house, Arc::new(socket)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Out of files or memory: a rest, unless the server ends.
                Err(_) => drop(poll(&mut [PollFd::new(bell, PollFlags::IN)], Some(&AGAIN))),
            }
        }
    }
}

/// Waits for a client or the end; true at the end.
fn rings(doors: &[Door], bell: &UnixStream) -> bool {
    let mut waited = vec![PollFd::new(bell, PollFlags::IN)];
    waited.extend(doors.iter().map(|door| PollFd::new(door, PollFlags::IN)));
    // A signal, or a machine out of memory: asked again.
    let _ = poll(&mut waited, None);
    waited.first().is_some_and(|bell| !bell.revents().is_empty())
}

fn let_in<M: Medium + Send + 'static>(house: &Arc<House<M>>, socket: Arc<Socket>) {
    let Some(number) = house.enter(&socket) else { return socket.shut(Shutdown::Both) };
    let (guest, shared) = (house.clone(), socket.clone());
    let spawned = std::thread::Builder::new().name(format!("nbd {number}")).spawn(move || {
        let ending = serve(&guest, &shared);
        guest.leave(number, ending);
    });
    if spawned.is_err() {
        socket.shut(Shutdown::Both);
        house.leave(number, Ending::Left);
    }
}
