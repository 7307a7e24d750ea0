//! Serves a drive to other programs.
//!
//! Today this is the wire alone: [`nbd`] speaks the protocol as pure functions over bytes, without sockets, threads or a
//! clock. Bytes come from strangers, so nothing here may panic on them: no indexing, no `unwrap`, no `unsafe`.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

pub mod nbd;
