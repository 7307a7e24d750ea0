//! The server and clients of our own, honest and hostile.
//!
//! No test asserts how long something takes. Where something must happen sooner or later, the test waits for it.

mod client;
mod histories;
mod hostile;
mod initiator;
#[path = "../../../device/tests/stand/kinds.rs"]
mod kinds;
mod limits;
mod nvme;
#[path = "../../../disk/tests/oracle.rs"]
mod oracle;
mod power;
mod requests;
mod stop;

use kinds::{config, named};
use ssdlab_disk::Disk;
use ssdlab_disk::disk::sizes;
use ssdlab_disk::medium::{Medium, Ram};
use ssdlab_serve::clock::Pace;
use ssdlab_serve::server::{Options, Server};
use ssdlab_serve::socket::Address;
use std::sync::atomic::{AtomicU32, Ordering};

/// At the drive's pace, at a pace so quick that hardly anything waits, and without a clock.
const PACES: [Pace; 3] = [Pace::Factor(1.0), Pace::Factor(1000.0), Pace::Off];

/// A drive of 16 MiB of that name.
fn disk(name: &str) -> Disk<Ram> {
    disk_over(name, Ram::new)
}

fn disk_over<M: Medium>(name: &str, medium: impl Fn(u64) -> M) -> Disk<M> {
    let config = config(&named(name));
    Disk::new(&config, 7, medium(sizes(&config).capacity_bytes)).unwrap_or_else(|problem| panic!("{problem:?}"))
}

/// A unix socket that no other test has.
fn address() -> Address {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("ssdlab-serve-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Address::Unix(std::env::temp_dir().join(name))
}

/// Serves a drive there.
fn serve<M: Medium + Send + 'static>(disk: Disk<M>, options: Options) -> Server<M> {
    let addresses = if options.addresses.is_empty() { vec![address()] } else { options.addresses.clone() };
    Server::start(disk, Options { addresses, ..options }).unwrap_or_else(|error| panic!("{error}"))
}

/// A client of the server's.
fn connected<M: Medium + Send + 'static>(server: &Server<M>) -> client::Client {
    client::Client::new(&server.addresses()[0]).expect("the server takes a client")
}

/// Waits for what must come.
fn wait_until(mut has_come: impl FnMut() -> bool) {
    while !has_come() {
        std::thread::yield_now();
    }
}
