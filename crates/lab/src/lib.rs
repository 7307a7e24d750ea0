//! What drives a device: workload, the one run loop, conditions, results.
//!
//! No sockets, no wall clock: time is virtual, and progress and cancelling are handed in.

// What a test expects within a tolerance may come from the platform's functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod bare_loop;
pub mod condition;
pub mod derived;
pub mod describe;
pub mod drive_file;
pub mod explain;
pub mod files;
pub mod folder_check;
pub mod host;
pub mod in_folder;
pub mod iolog;
pub mod log_folder;
pub mod mapping_ram;
pub mod null;
pub mod output;
pub mod request;
pub mod run;
pub mod scale;
pub mod session;
pub mod theory;
pub mod with_bytes;
pub mod workload;
