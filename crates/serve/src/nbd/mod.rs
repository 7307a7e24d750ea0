//! The network block device protocol (NBD), as a server speaks it.
//!
//! Source: `doc/proto.md` of <https://github.com/NetworkBlockDevice/nbd>, whose names are kept. A connection goes through
//! two machines, each of which takes bytes in any portions and says what they come to:
//! 1. [`handshake::Handshake`]: the server sends [`wire::GREETING`]; options come in and replies go out, until the client
//!    has chosen an [`export::Export`] and both know what was [`export::Agreed`].
//! 2. [`session::Session`]: requests come in. Each is a [`command::Request`] that the drive may carry out as it is, or a
//!    [`command::Refusal`] with the error that answers it. [`reply::Replies`] writes answers, in any order.
//!
//! A socket layer holds its own buffers: a machine consumes a portion up to the next event and says how much that was.
//! The payload of a write never passes through: its bytes follow the request in the stream, and whoever reads the
//! socket puts them where the drive wants them. `connection` is ours; `tests/real_tools/server.rs` is a smaller one.
//!
//! What it offers: fixed newstyle, structured replies, `base:allocation`, read, write, flush, FUA, trim, write zeroes
//! (also fast), cache, block status. What it leaves out: TLS, oldstyle, extended headers, resize; whoever asks for them is
//! told so. A client that breaks the framing itself cannot be answered any more: [`violation::Violation`] says how.
//! Limits of time, and of requests under way, are the connection's.

pub mod command;
pub mod export;
pub mod handshake;
pub mod reply;
pub mod session;
pub mod violation;
pub mod wire;
