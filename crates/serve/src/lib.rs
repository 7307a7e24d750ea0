//! Serves a drive with bytes to other programs: over NBD, at the drive's pace or as fast as it can be computed.
//!
//! [`nbd`] speaks the protocol as pure functions over bytes. [`server::Server`] is the rest: sockets, threads, one lock
//! around the drive. Bytes come from strangers, so nothing here may panic on them: no indexing, no `unwrap`, no `unsafe`.
//!
//! ```text
//! listener ─► connection: input ─► nbd ─► batch ─► served: lock ─► drive: steps ─► Disk
//!                         output ◄────────────── outbox ◄──────────────────────────┘   ◄─ pacer
//! ```
//!
//! ```
//! use ssdlab_device::profile::{Profile, built_in};
//! use ssdlab_disk::{Disk, disk::sizes, medium::Ram};
//! use ssdlab_serve::server::{Options, Server};
//! use ssdlab_serve::socket::Address;
//!
//! let settings = [("capacity_bytes".into(), "64MiB".into())];
//! let profile = Profile::read("theory", "theory", built_in("theory").unwrap(), &settings)?;
//! let config = profile.ssd()?;
//! let disk = Disk::new(config, 1, Ram::new(sizes(config).capacity_bytes)).unwrap();
//!
//! let anywhere = Address::Tcp(([127, 0, 0, 1], 0).into());
//! let server = Server::start(disk, Options { addresses: vec![anywhere], ..Options::default() })?;
//! // Clients come to server.addresses()[0].
//! let disk = server.stop().expect("it was not stopped before");
//! assert_eq!(disk.outstanding(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

pub mod brake;
pub mod budget;
pub mod client;
pub mod clock;
pub mod connection;
pub mod counts;
pub mod drive;
pub mod house;
pub mod input;
pub mod latency;
pub mod limits;
pub mod listener;
pub mod nbd;
pub mod nvme;
pub mod offer;
pub mod outbox;
pub mod outcome;
pub mod output;
pub mod queue;
pub mod replies;
pub mod request;
pub mod sanitize;
pub mod served;
pub mod server;
pub mod socket;
pub mod steps;
pub mod target;
