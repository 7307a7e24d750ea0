//! The numbers of the protocol, and its messages as bytes.
//!
//! All integers are big-endian. Messages are written to the end of a `Vec`; they are read by [`Fields`], which ends
//! where the bytes do. What a message means is decided elsewhere.

/// First magic number of the server's greeting, `NBDMAGIC`.
pub const INIT_PASSWD: u64 = 0x4e42_444d_4147_4943;
/// Second magic number of the greeting, and the first of each option: `IHAVEOPT`.
pub const IHAVEOPT: u64 = 0x4948_4156_454F_5054;
/// Begins each reply to an option.
pub const NBD_REP_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Begins each request.
pub const NBD_REQUEST_MAGIC: u32 = 0x2560_9513;
/// Begins a simple reply.
pub const NBD_SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// Begins a chunk of a structured reply.
pub const NBD_STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// Names and texts are no longer.
pub const MAX_STRING_BYTES: usize = 4096;
/// A payload up to this size must be borne, whatever maximum was advertised; a longer one ends the connection.
pub const MAX_PAYLOAD_BYTES: u32 = 1 << 25;
/// Zeroes after the answer to `NBD_OPT_EXPORT_NAME`, unless the client does without.
pub const RESERVED_BYTES: usize = 124;

/// Declares constants of one type, each documented by the name that the specification gives it.
macro_rules! numbers {
    ($kind:ty, $what:literal: $($name:ident = $value:expr),+ $(,)?) => {
        $(#[doc = $what] pub const $name: $kind = $value;)+
    };
}

numbers!(u16, "A handshake flag of the server.": NBD_FLAG_FIXED_NEWSTYLE = 1, NBD_FLAG_NO_ZEROES = 1 << 1);
numbers!(u32, "A handshake flag of the client.": NBD_FLAG_C_FIXED_NEWSTYLE = 1, NBD_FLAG_C_NO_ZEROES = 1 << 1);
numbers!(u16, "A transmission flag.":
    NBD_FLAG_HAS_FLAGS = 1,
    NBD_FLAG_READ_ONLY = 1 << 1,
    NBD_FLAG_SEND_FLUSH = 1 << 2,
    NBD_FLAG_SEND_FUA = 1 << 3,
    NBD_FLAG_SEND_TRIM = 1 << 5,
    NBD_FLAG_SEND_WRITE_ZEROES = 1 << 6,
    NBD_FLAG_SEND_DF = 1 << 7,
    NBD_FLAG_CAN_MULTI_CONN = 1 << 8,
    NBD_FLAG_SEND_CACHE = 1 << 10,
    NBD_FLAG_SEND_FAST_ZERO = 1 << 11,
);
numbers!(u32, "An option.":
    NBD_OPT_EXPORT_NAME = 1,
    NBD_OPT_ABORT = 2,
    NBD_OPT_LIST = 3,
    NBD_OPT_STARTTLS = 5,
    NBD_OPT_INFO = 6,
    NBD_OPT_GO = 7,
    NBD_OPT_STRUCTURED_REPLY = 8,
    NBD_OPT_LIST_META_CONTEXT = 9,
    NBD_OPT_SET_META_CONTEXT = 10,
);
numbers!(u32, "The type of a reply to an option.":
    NBD_REP_ACK = 1,
    NBD_REP_SERVER = 2,
    NBD_REP_INFO = 3,
    NBD_REP_META_CONTEXT = 4,
    NBD_REP_ERR_UNSUP = (1 << 31) + 1,
    NBD_REP_ERR_POLICY = (1 << 31) + 2,
    NBD_REP_ERR_INVALID = (1 << 31) + 3,
    NBD_REP_ERR_UNKNOWN = (1 << 31) + 6,
    NBD_REP_ERR_TOO_BIG = (1 << 31) + 9,
);
numbers!(u16, "What a client wants to know, and a reply of `NBD_REP_INFO` says.":
    NBD_INFO_EXPORT = 0,
    NBD_INFO_NAME = 1,
    NBD_INFO_DESCRIPTION = 2,
    NBD_INFO_BLOCK_SIZE = 3,
);
numbers!(u16, "A command.":
    NBD_CMD_READ = 0,
    NBD_CMD_WRITE = 1,
    NBD_CMD_DISC = 2,
    NBD_CMD_FLUSH = 3,
    NBD_CMD_TRIM = 4,
    NBD_CMD_CACHE = 5,
    NBD_CMD_WRITE_ZEROES = 6,
    NBD_CMD_BLOCK_STATUS = 7,
);
numbers!(u16, "A flag of a command.":
    NBD_CMD_FLAG_FUA = 1,
    NBD_CMD_FLAG_NO_HOLE = 1 << 1,
    NBD_CMD_FLAG_DF = 1 << 2,
    NBD_CMD_FLAG_REQ_ONE = 1 << 3,
    NBD_CMD_FLAG_FAST_ZERO = 1 << 4,
);
numbers!(u16, "The flag of the last chunk of a structured reply.": NBD_REPLY_FLAG_DONE = 1);
numbers!(u16, "The type of a chunk of a structured reply.":
    NBD_REPLY_TYPE_NONE = 0,
    NBD_REPLY_TYPE_OFFSET_DATA = 1,
    NBD_REPLY_TYPE_OFFSET_HOLE = 2,
    NBD_REPLY_TYPE_BLOCK_STATUS = 5,
    NBD_REPLY_TYPE_ERROR = (1 << 15) + 1,
    NBD_REPLY_TYPE_ERROR_OFFSET = (1 << 15) + 2,
);
numbers!(u32, "A flag of an extent, in `base:allocation`.": NBD_STATE_HOLE = 1, NBD_STATE_ZERO = 1 << 1);
numbers!(u32, "An error that answers a request.":
    NBD_EPERM = 1,
    NBD_EIO = 5,
    NBD_EINVAL = 22,
    NBD_ENOSPC = 28,
    NBD_EOVERFLOW = 75,
    NBD_ENOTSUP = 95,
    NBD_ESHUTDOWN = 108,
);

/// What a server sends as soon as a client is connected: fixed newstyle, and zeroes only for those who want them.
pub const GREETING: [u8; 18] = greeting();

const fn greeting() -> [u8; 18] {
    let [a, b, c, d, e, f, g, h] = INIT_PASSWD.to_be_bytes();
    let [i, j, k, l, m, n, o, p] = IHAVEOPT.to_be_bytes();
    let [q, r] = (NBD_FLAG_FIXED_NEWSTYLE | NBD_FLAG_NO_ZEROES).to_be_bytes();
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r]
}

/// Bytes that are read field by field from the front.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// So many bytes; none where fewer are left.
    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    /// A number of 16 bits.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// A number of 32 bits.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// A number of 64 bits.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A string after its length in 32 bits. It need not be text.
    pub fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.bytes(usize::try_from(length).ok()?)
    }
}

/// The head of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionHead {
    /// Should be [`IHAVEOPT`].
    pub magic: u64,
    /// One of `NBD_OPT_…`, or another.
    pub option: u32,
    /// Bytes of data that follow.
    pub length: u32,
}

impl OptionHead {
    /// Bytes that it takes.
    pub const BYTES: usize = 16;

    /// Reads a whole head.
    pub fn read(bytes: &[u8; Self::BYTES]) -> Option<OptionHead> {
        let mut fields = Fields(bytes);
        Some(OptionHead { magic: fields.u64()?, option: fields.u32()?, length: fields.u32()? })
    }
}

/// The head of a request; the payload of `NBD_CMD_WRITE` follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHead {
    /// Should be [`NBD_REQUEST_MAGIC`].
    pub magic: u32,
    /// `NBD_CMD_FLAG_…`
    pub flags: u16,
    /// One of `NBD_CMD_…`, or another.
    pub command: u16,
    /// What the reply repeats.
    pub cookie: u64,
    /// In bytes from the start of the export.
    pub offset: u64,
    /// In bytes.
    pub length: u32,
}

impl RequestHead {
    /// Bytes that it takes.
    pub const BYTES: usize = 28;

    /// Reads a whole head.
    pub fn read(bytes: &[u8; Self::BYTES]) -> Option<RequestHead> {
        let mut fields = Fields(bytes);
        Some(RequestHead {
            magic: fields.u32()?,
            flags: fields.u16()?,
            command: fields.u16()?,
            cookie: fields.u64()?,
            offset: fields.u64()?,
            length: fields.u32()?,
        })
    }
}

/// Writes a reply to an option. A longer text than the length can tell is not sent.
pub fn option_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[&[u8]]) {
    let length: usize = data.iter().map(|part| part.len()).sum();
    let Ok(length) = u32::try_from(length) else { return };
    out.extend(NBD_REP_MAGIC.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(length.to_be_bytes());
    data.iter().for_each(|part| out.extend_from_slice(part));
}

/// Writes a simple reply; after a read that succeeded its data follow.
pub fn simple_reply(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.extend(NBD_SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend(error.to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// Writes the head of a chunk of a structured reply; its payload follows.
pub fn chunk_head(out: &mut Vec<u8>, cookie: u64, kind: u16, flags: u16, length: u32) {
    out.extend(NBD_STRUCTURED_REPLY_MAGIC.to_be_bytes());
    out.extend(flags.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(length.to_be_bytes());
}

#[cfg(test)]
mod test {
    use super::*;

    /// The greeting is the one that the specification spells out.
    #[test]
    fn greeting_by_hand() {
        assert_eq!(&GREETING, b"NBDMAGICIHAVEOPT\x00\x03");
    }

    /// Heads are read field by field, and what is written has the specification's bytes.
    #[test]
    fn messages_by_hand() {
        let head = OptionHead::read(b"IHAVEOPT\x00\x00\x00\x07\x00\x00\x00\x06");
        assert_eq!(head, Some(OptionHead { magic: IHAVEOPT, option: NBD_OPT_GO, length: 6 }));
        let request = b"\x25\x60\x95\x13\x00\x01\x00\x01ABCDEFGH\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x02\x00";
        let request = RequestHead::read(request).expect("whole");
        assert_eq!((request.magic, request.flags, request.command), (NBD_REQUEST_MAGIC, NBD_CMD_FLAG_FUA, 1));
        assert_eq!((request.cookie, request.offset, request.length), (0x4142_4344_4546_4748, 4096, 512));
        let mut out = Vec::new();
        option_reply(&mut out, NBD_OPT_LIST, NBD_REP_ERR_POLICY, &[b"n", b"o"]);
        assert_eq!(out, b"\x00\x03\xe8\x89\x04\x55\x65\xa9\x00\x00\x00\x03\x80\x00\x00\x02\x00\x00\x00\x02no");
        out.clear();
        simple_reply(&mut out, 0x4142_4344_4546_4748, NBD_EIO);
        assert_eq!(out, b"\x67\x44\x66\x98\x00\x00\x00\x05ABCDEFGH");
        out.clear();
        chunk_head(&mut out, 0x4142_4344_4546_4748, NBD_REPLY_TYPE_ERROR, NBD_REPLY_FLAG_DONE, 6);
        assert_eq!(out, b"\x66\x8e\x33\xef\x00\x01\x80\x01ABCDEFGH\x00\x00\x00\x06");
    }

    /// Fields end where the bytes end, and a string's length is not believed.
    #[test]
    fn fields_end() {
        let mut fields = Fields(b"\x00\x00\x00\x02abc");
        assert_eq!(fields.string(), Some(&b"ab"[..]));
        assert_eq!(fields.u16(), None);
        assert_eq!(fields.bytes(1), Some(&b"c"[..]));
        assert_eq!(fields.bytes(1), None);
        assert_eq!(Fields(b"\xff\xff\xff\xffabc").string(), None);
    }
}
