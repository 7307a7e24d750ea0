//! The host's storage stack: devices over devices, in virtual time.
//!
//! A stack is a drive at the bottom and layers above it, each a [`Layer`](stacked::Layer) that says
//! what it does with a request and what it asks of the devices below; [`Stacked`](stacked::Stacked)
//! makes any layer a [`Device`](ssdlab_device::block::Device).
//!
//! Modules: [`stacked`] (the one event loop of all layers), the layers [`partition`], [`crypt`],
//! [`scheduler`], [`raid`], [`flash_cache`], [`split`]; [`text`] (how people write a stack), [`drive`] (what lies at the bottom),
//! [`layer`] (what a kind of layer has to offer), [`registry`] (the kinds), [`stack`] (drives and layers as one device),
//! [`shared`] (a drive of a stack, seen from outside).
//!
//! TRIM is broken where a layer keeps it: `crypt.discards` (`Cipher::keeps`), `raid.passes_trim` and
//! `raid.discards_zero` (`raid/trim.rs`); the others pass it on. There is no LVM here, which adds no time: on a real
//! machine `ssdlab audit` tells of it (`machine/audit/checks/discard.py`).

pub mod crypt;
pub mod drive;
pub mod flash_cache;
pub mod layer;
pub mod partition;
pub mod raid;
pub mod registry;
pub mod scheduler;
pub mod shared;
pub mod split;
pub mod stack;
pub mod stacked;
pub mod text;
