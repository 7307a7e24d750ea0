//! Why a connection must end: what a client did that no reply can answer, since its stream cannot be followed further.

use super::wire::MAX_PAYLOAD_BYTES;

/// A breach of the protocol after which the server hangs up, in words for its log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Where an option should begin.
    #[error("an option began with {0:#018x} instead of IHAVEOPT: the client does not speak newstyle NBD")]
    OptionMagic(u64),
    /// Where a request should begin.
    #[error("a request began with {0:#010x} instead of NBD_REQUEST_MAGIC: the client's stream is out of step")]
    RequestMagic(u32),
    /// Flags that were not offered, which the specification answers so.
    #[error("the client set handshake flags {0:#x}, which the server did not offer")]
    ClientFlags(u32),
    /// `NBD_OPT_EXPORT_NAME` knows no error reply.
    #[error("the client asked for the export \"{0}\", which is not served, with an option that has no error reply")]
    UnknownExport(String),
    /// Without fixed newstyle only an export can be named.
    #[error("the client sent option {0} before it agreed to fixed newstyle negotiation")]
    NotFixedNewstyle(u32),
    /// Data of an option beyond all reason.
    #[error("option {option} announced {length} bytes of data; the server accepts at most {limit}")]
    OptionTooLong {
        /// As sent.
        option: u32,
        /// As announced.
        length: u32,
        /// What would have been skipped.
        limit: u32,
    },
    /// The payload of a write beyond what must be borne.
    #[error("a write announced a payload of {length} bytes; the server accepts at most {MAX_PAYLOAD_BYTES}")]
    PayloadTooLong {
        /// As announced.
        length: u32,
    },
}
