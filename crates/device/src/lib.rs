//! Virtual-time storage devices: flash array, flash translation layer, drive.
//!
//! No wall clock, no threads, no files. Modules point down only:
//! `units` ◄ `parameter`, `counters` ◄ `config`, `sim`, `block` ◄ `nand` ◄ `ftl` ◄ `ssd`, `hdd` ◄ `profile`.

pub mod block;
pub mod config;
pub mod counters;
pub mod ftl;
pub mod hdd;
pub mod nand;
pub mod parameter;
pub mod profile;
pub mod sim;
pub mod ssd;
pub mod units;
