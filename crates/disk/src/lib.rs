//! A simulated solid-state drive that holds bytes and loses power, in virtual time.
//!
//! No sockets, no threads, no clock: whoever uses it hands in the time and the seed, so a history is the same each time.
//! The drive is the simulated one, with the same times and counters; what is added is where its bytes lie.

pub mod disk;
pub mod image;
pub mod medium;
pub mod since;
pub mod undo;
pub mod unit;

pub use disk::{Cut, Disk, Done, Durable, Failure, Loss};
pub use ssdlab_device::block::{Operation, Request};
pub use ssdlab_device::units::{Lba, Nanos};
