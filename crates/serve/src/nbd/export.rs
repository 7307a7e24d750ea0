//! What is served, as the protocol describes it: a name, a size, sizes of blocks, and what can be asked.

use super::wire::{self, MAX_PAYLOAD_BYTES, MAX_STRING_BYTES};

/// A drive that clients can choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Clients that name none get the first export.
    pub name: String,
    /// For people; may be empty.
    pub description: String,
    /// Size in bytes.
    pub size: u64,
    /// Offsets and lengths are multiples of this: the drive's sector.
    pub minimum_block: u32,
    /// Requests of this size and alignment cost no read-modify-write: the drive's mapping unit.
    pub preferred_block: u32,
    /// The most bytes that one read or write may carry.
    pub maximum_payload: u32,
    /// Nothing can be written.
    pub read_only: bool,
    /// The drive knows `NBD_CMD_TRIM`; then zeroes are written fast, too, by a trim.
    pub trim: bool,
    /// What one connection flushes is flushed for all.
    pub multi_conn: bool,
    /// The drive knows `NBD_CMD_FLAG_FUA`.
    pub fua: bool,
    /// The drive knows `NBD_CMD_FLUSH`.
    pub flush: bool,
    /// The drive knows `NBD_CMD_CACHE`.
    pub cache: bool,
    /// The drive knows `NBD_CMD_WRITE_ZEROES`.
    pub write_zeroes: bool,
}

/// What is wrong with the description of an export.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("export \"{name}\": {key} is {value}, and must be {rule}")]
pub struct BadExport {
    /// Which export.
    pub name: String,
    /// The field.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What the protocol asks of it.
    pub rule: &'static str,
}

impl Export {
    /// Holds the description to the rules of the protocol.
    ///
    /// # Errors
    /// The first field that breaks one.
    pub fn check(&self) -> Result<(), BadExport> {
        let bad = |key, value: String, rule| Err(BadExport { name: self.name.clone(), key, value, rule });
        let (minimum, preferred, maximum) = (self.minimum_block, self.preferred_block, self.maximum_payload);
        let is_string = |text: &str| text.len() <= MAX_STRING_BYTES && !text.contains('\0');
        if !is_string(&self.name) {
            return bad("name", format!("{} bytes long", self.name.len()), "at most 4096 bytes, none of them zero");
        }
        if !is_string(&self.description) {
            let value = format!("{} bytes long", self.description.len());
            return bad("description", value, "at most 4096 bytes, none of them zero");
        }
        if !minimum.is_power_of_two() || minimum > 1 << 16 {
            return bad("minimum_block", minimum.to_string(), "a power of two up to 65536");
        }
        if !preferred.is_power_of_two() || preferred < minimum.max(512) {
            return bad("preferred_block", preferred.to_string(), "a power of two, at least 512 and the minimum block");
        }
        if maximum < preferred || maximum > MAX_PAYLOAD_BYTES {
            return bad("maximum_payload", maximum.to_string(), "at least the preferred block and at most 33554432");
        }
        if !self.size.is_multiple_of(minimum.into()) {
            return bad("size", self.size.to_string(), "a multiple of the minimum block");
        }
        Ok(())
    }

    /// Zeroes can be written faster than data: by a trim.
    pub fn zeroes_fast(&self) -> bool {
        self.trim && self.write_zeroes && !self.read_only
    }

    /// The transmission flags. What writes is not offered where nothing can be written.
    pub fn flags(&self, structured_replies: bool) -> u16 {
        let writable = !self.read_only;
        let offers = [
            (true, wire::NBD_FLAG_HAS_FLAGS),
            (self.read_only, wire::NBD_FLAG_READ_ONLY),
            (self.flush, wire::NBD_FLAG_SEND_FLUSH),
            (self.fua, wire::NBD_FLAG_SEND_FUA),
            (self.trim && writable, wire::NBD_FLAG_SEND_TRIM),
            (self.write_zeroes && writable, wire::NBD_FLAG_SEND_WRITE_ZEROES),
            (structured_replies, wire::NBD_FLAG_SEND_DF),
            (self.multi_conn, wire::NBD_FLAG_CAN_MULTI_CONN),
            (self.cache, wire::NBD_FLAG_SEND_CACHE),
            (self.zeroes_fast(), wire::NBD_FLAG_SEND_FAST_ZERO),
        ];
        offers.iter().filter(|(offered, _)| *offered).fold(0, |flags, (_, flag)| flags | flag)
    }
}

/// What client and server agreed on in the handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// What the client chose.
    pub export: Export,
    /// Reads are answered by structured replies.
    pub structured_replies: bool,
    /// The client may ask for block status, in the context `base:allocation`.
    pub base_allocation: bool,
}

/// A writable drive of 1 MiB with all that can be offered, for tests.
#[cfg(test)]
pub fn example() -> Export {
    Export {
        name: "drive".into(),
        description: "a drive".into(),
        size: 1 << 20,
        minimum_block: 512,
        preferred_block: 4096,
        maximum_payload: 1 << 25,
        read_only: false,
        trim: true,
        multi_conn: true,
        fua: true,
        flush: true,
        cache: true,
        write_zeroes: true,
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Flags are the bits of the specification, and a read-only drive offers nothing that writes.
    #[test]
    fn flags_by_hand() {
        assert_eq!(example().flags(true), 0b1101_1110_1101);
        assert_eq!(example().flags(false), 0b1101_0110_1101);
        assert_eq!(Export { read_only: true, ..example() }.flags(true), 0b0101_1000_1111);
        assert_eq!(Export { trim: false, ..example() }.flags(true), 0b0101_1100_1101);
    }

    /// Each rule is broken by one export, which the error names.
    #[test]
    fn bad_exports_are_named() {
        let fault = |export: Export| export.check().expect_err("a rule is broken").key;
        assert_eq!(example().check(), Ok(()));
        assert_eq!(fault(Export { name: "n".repeat(4097), ..example() }), "name");
        assert_eq!(fault(Export { description: "a\0".into(), ..example() }), "description");
        assert_eq!(fault(Export { minimum_block: 513, ..example() }), "minimum_block");
        assert_eq!(fault(Export { minimum_block: 1 << 17, ..example() }), "minimum_block");
        assert_eq!(fault(Export { preferred_block: 256, ..example() }), "preferred_block");
        assert_eq!(fault(Export { minimum_block: 8192, ..example() }), "preferred_block");
        assert_eq!(fault(Export { maximum_payload: 512, ..example() }), "maximum_payload");
        assert_eq!(fault(Export { maximum_payload: (1 << 25) + 1, ..example() }), "maximum_payload");
        assert_eq!(fault(Export { size: 513, ..example() }), "size");
        let error = Export { size: 513, ..example() }.check().expect_err("no multiple").to_string();
        assert_eq!(error, "export \"drive\": size is 513, and must be a multiple of the minimum block");
    }
}
