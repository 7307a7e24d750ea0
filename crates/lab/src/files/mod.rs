//! Files: what a person does with a computer, as I/O on a device.
//!
//! A [`scenario`] (copying, installing a package, starting up) is data: sets of files, steps, CPU
//! time. It runs on an operating system in virtual time: a [`file_system`] that gives out extents, a
//! [`page_cache`], a [`kernel`] that puts both to work over any device. What comes out is the time a
//! person waits, and the traffic that the device saw.
//!
//! It is a referee's tool, not a file system: no bytes, no names, one program at a time. What each part
//! leaves out stands at its head.

pub mod age;
pub mod allocator;
pub mod file_system;
pub mod kernel;
pub mod page_cache;
pub mod port;
pub mod run;
pub mod scatter;
pub mod scenario;
pub mod sourced;
pub mod system;
