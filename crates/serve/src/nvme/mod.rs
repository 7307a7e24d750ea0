//! NVM Express over TCP, as a controller speaks it: bytes to commands, commands to what the drive is asked, and back.
//!
//! Source: NVM Express Base Specification 2.0, NVM Command Set Specification 1.0, NVMe over TCP Transport Specification
//! 1.0, OCP Datacenter NVMe SSD Specification 2.0; their names are kept, and so are their byte offsets. Nothing here knows
//! sockets or threads: `crate::queue` does.
//!
//! | module | what it has |
//! |---|---|
//! | [`fields`] | numbers in little-endian structures |
//! | [`status`] | how a command ends |
//! | [`pdu`] | the transport's units: heads, digests, what is built |
//! | [`command`] | an entry of the submission queue |
//! | [`fabric`] | connect, properties |
//! | [`io`] | commands of the NVM command set, as requests to the drive |
//! | [`power`] | its power states |
//! | [`facts`] | what there is to tell of the drive |
//! | [`identify`], [`logs`], [`features`], [`admin`] | what an admin queue answers |
//! | [`reply`] | how completions are written |
//!
//! Left out: authentication, TLS, keyed SGLs, metadata and protection information, fused commands, reservations, namespace
//! management, zoned namespaces, persistent events, host memory; whoever asks for them gets the specification's status.

pub mod admin;
pub mod command;
pub mod fabric;
pub mod facts;
pub mod features;
pub mod fields;
pub mod identify;
pub mod io;
pub mod logs;
pub mod pdu;
pub mod power;
pub mod reply;
pub mod status;
