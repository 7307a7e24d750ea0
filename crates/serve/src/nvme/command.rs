//! An entry of the submission queue: 64 bytes, Base Specification 2.0, figure 87, and over fabrics figure 529.

use super::fields::{u8_at, u16_at, u32_at, u64_at};

/// Where a command's data are, as its scatter-gather list says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sgl {
    /// Type in the upper four bits, subtype in the lower.
    pub kind: u8,
    /// Bytes.
    pub length: u32,
    /// In the capsule: from where on.
    pub offset: u64,
}

impl Sgl {
    /// Data that the transport carries apart from the capsule.
    pub const TRANSPORT: u8 = 0x5A;
    /// Data in the capsule.
    pub const IN_CAPSULE: u8 = 0x01;
}

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submission {
    /// What is asked.
    pub opcode: u8,
    /// By which the host knows it.
    pub id: u16,
    /// For which namespace; of a fabrics command its type lies there.
    pub namespace: u32,
    /// Command dwords 10 to 15.
    pub dwords: [u32; 6],
    /// Its data.
    pub sgl: Sgl,
    /// Which of two commands that are carried out together; 0 is alone.
    pub fuse: u8,
}

impl Submission {
    /// Bytes of an entry.
    pub const BYTES: usize = 64;
    /// The opcode of all fabrics commands.
    pub const FABRICS: u8 = 0x7F;

    /// Reads an entry.
    pub fn read(bytes: &[u8]) -> Submission {
        Submission {
            opcode: u8_at(bytes, 0),
            fuse: u8_at(bytes, 1) & 3,
            id: u16_at(bytes, 2),
            namespace: u32_at(bytes, 4),
            dwords: [40, 44, 48, 52, 56, 60].map(|at| u32_at(bytes, at)),
            sgl: Sgl { offset: u64_at(bytes, 24), length: u32_at(bytes, 32), kind: u8_at(bytes, 39) },
        }
    }

    /// A command dword, 10 to 15.
    pub fn dword(&self, number: usize) -> u32 {
        number.checked_sub(10).and_then(|place| self.dwords.get(place)).copied().unwrap_or(0)
    }

    /// Dwords 10 and 11 as one number, where a starting LBA lies.
    pub fn start(&self) -> u64 {
        u64::from(self.dword(10)) | u64::from(self.dword(11)) << 32
    }

    /// One of two that are to be carried out together.
    pub fn is_fused(&self) -> bool {
        self.fuse != 0
    }

    /// The type of a fabrics command.
    pub fn fabrics_type(&self) -> u8 {
        self.namespace as u8
    }
}
