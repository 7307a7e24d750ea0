//! What a host asks of a device: fio jobs, recorded traces, and the requests they become.
//!
//! Text becomes plain data ([`parse`], [`job`]), which gets its places on a drive ([`layout`]) and
//! becomes requests ([`generate`]).
//! Inside, pointing down: `parse` ◄ `options` ◄ `apply` ◄ `draft` ◄ `value`, `trace` ◄ `job`;
//! `layout`, `generate` ◄ `player`, `region`, `addresses` ◄ `distribution`, `free_blocks` ◄ `permutation` ◄ `random`.

mod addresses;
mod apply;
mod distribution;
mod draft;
pub mod error;
mod free_blocks;
pub mod generate;
pub mod job;
pub mod layout;
pub mod options;
pub mod parse;
mod permutation;
mod player;
pub(crate) mod random;
mod region;
pub mod trace;
mod value;
