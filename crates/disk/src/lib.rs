//! A simulated solid-state drive that holds bytes and loses power, in virtual time.
//!
//! No sockets, no threads, no clock: whoever uses it hands in the time and the seed, so a history is the same each time.
//! The drive is the simulated one, with the same times and counters; what is added is where its bytes lie.
//!
//! ```
//! use ssdlab_device::profile::{Profile, built_in};
//! use ssdlab_disk::disk::sizes;
//! use ssdlab_disk::medium::Ram;
//! use ssdlab_disk::{Disk, Lba, Operation, Request};
//!
//! // A drive with a buffer that does not outlive a loss of power.
//! let settings = [("capacity_bytes", "64MiB"), ("buffer.bytes", "1MiB")].map(|(key, value)| (key.into(), value.into()));
//! let profile = Profile::read("theory", "theory", built_in("theory").unwrap(), &settings)?;
//! let config = profile.ssd()?;
//! let mut disk = Disk::new(config, 1, Ram::new(sizes(config).capacity_bytes)).unwrap();
//!
//! // Sector 8 is written and flushed, sector 16 is written and acknowledged.
//! disk.perform(Request::new(Operation::Write, Lba(8), 1), vec![1; 512])?;
//! disk.perform(Request::new(Operation::Flush, Lba(0), 0), Vec::new())?;
//! disk.perform(Request::new(Operation::Write, Lba(16), 1), vec![2; 512])?;
//!
//! // The power fails: the first stands, the second may be gone, and the drive says which write that was.
//! let cut = disk.power_cut(42);
//! let mut sector = |lba| disk.perform(Request::new(Operation::Read, Lba(lba), 1), vec![0; 512]).map(|bytes| bytes[0]);
//! assert_eq!(sector(8)?, 1);
//! let is_lost = sector(16)? == 0;
//! assert_eq!(cut.losses.iter().any(|loss| loss.lba == 16 && loss.write == 2 && loss.was_acknowledged), is_lost);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A simulation with a clock of its own asks [`Disk::next_event`] beside its timers, and lives on with [`Disk::advance`]:
//! `crates/lab/examples/simulation` has an executor of futures that does.
//!
//! Armed with [`Fault`]s a drive breaks its word, and the cut says so: [`Loss::breaks_promise`].

pub mod account;
pub mod aging;
pub mod bad;
pub mod commands;
mod copying;
pub mod disk;
pub mod file;
pub mod folder;
pub mod groups;
pub mod image;
pub mod kept;
pub mod log;
pub mod look;
pub mod losses;
pub mod medium;
pub mod numbers;
pub mod nvme_logs;
pub mod power;
pub mod promises;
pub mod replay;
pub mod since;
mod storage;
pub mod undo;
pub mod unit;
pub mod unstored;

pub use commands::{Asked, CommandError, Commands};
pub use disk::{Disk, Done, Durable, Failure};
pub use losses::{Cut, Loss, What};
pub use power::{Fault, Faults};
pub use ssdlab_device::block::{Operation, Request};
pub use ssdlab_device::units::{Lba, Nanos};
