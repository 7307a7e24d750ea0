//! How much RAM a drive needs to know where everything is, by scheme.
//!
//! | scheme | bytes |
//! |---|---|
//! | page states | units · bits / 8: 1 bit in use or not; 2 bits erased, in use, or trimmed |
//! | page map | 4 · units |
//! | block map | 4 · logical blocks; a unit keeps its place in the block |
//! | hybrid log-block | block map + 4 · units of the log blocks (BAST, Kim et al. 2002; FAST, Lee et al. 2007) |
//! | demand-cached | the cache + 4 · translation pages, the directory of where they are (DFTL, Gupta et al. 2009) |
//!
//! An entry has 4 B, which numbers 2³² places. Left out: the reverse map, wear and valid counts, which
//! every scheme needs beside it (a few bytes a block), and reserve for log-block headers.

/// Bytes of a map entry.
const ENTRY_BYTES: u64 = 4;

/// What decides the size of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Bytes that are mapped.
    pub bytes: u64,
    /// Bytes of a mapping unit.
    pub unit_bytes: u64,
    /// Bytes of an erase block.
    pub block_bytes: u64,
}

impl Mapped {
    /// Mapping units.
    pub fn units(&self) -> u64 {
        self.bytes.div_ceil(self.unit_bytes)
    }

    fn blocks(&self) -> u64 {
        self.bytes.div_ceil(self.block_bytes)
    }

    /// So many bits for the state of each unit.
    pub fn page_states(&self, bits: u64) -> u64 {
        (self.units() * bits).div_ceil(8)
    }

    /// An entry for each unit.
    pub fn page_map(&self) -> u64 {
        ENTRY_BYTES * self.units()
    }

    /// An entry for each block.
    pub fn block_map(&self) -> u64 {
        ENTRY_BYTES * self.blocks()
    }

    /// An entry for each block, and for each unit of a share of the blocks that are logs.
    pub fn hybrid_log_block(&self, log_share: f64) -> u64 {
        let log_blocks = (self.blocks() as f64 * log_share).ceil() as u64;
        self.block_map() + ENTRY_BYTES * log_blocks * self.block_bytes.div_ceil(self.unit_bytes)
    }

    /// A cache of entries, and where in flash each page of them is.
    pub fn demand_cached(&self, cache_bytes: u64) -> u64 {
        let entries_per_page = (self.unit_bytes / ENTRY_BYTES).max(1);
        cache_bytes + ENTRY_BYTES * self.units().div_ceil(entries_per_page)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    const GIB: u64 = 1 << 30;
    const MIB: u64 = 1 << 20;

    fn drive(gib: u64, unit_bytes: u64) -> Mapped {
        Mapped { bytes: gib * GIB, unit_bytes, block_bytes: 512 << 10 }
    }

    /// The figures that readers of AnandTech's test of used drives worked out in March 2009: two bits a page of 64 GB,
    /// one bit, one bit on 256 GiB, and the same with pages of 512 B (they wrote "256 MiB drive" there, and meant GiB).
    #[test]
    fn page_states_as_readers_worked_them_out() {
        assert_eq!(drive(64, 4096).page_states(2), 4 * MIB);
        assert_eq!(drive(64, 4096).page_states(1), 2 * MIB);
        assert_eq!(drive(256, 4096).page_states(1), 8 * MIB);
        assert_eq!(drive(256, 512).page_states(1), 64 * MIB);
    }

    /// By hand: a GB of map for a TB in 4 KB units (Arpaci-Dusseau, Operating Systems, SSD chapter); a block map is
    /// smaller by the pages of a block; a log share of nothing and of all are the block map and both maps.
    #[test]
    fn schemes_by_hand() {
        let drive = drive(1024, 4096);
        assert_eq!(drive.page_map(), GIB);
        assert_eq!(drive.block_map(), GIB / 128);
        assert_eq!(drive.hybrid_log_block(0.0), drive.block_map());
        assert_eq!(drive.hybrid_log_block(1.0), drive.block_map() + drive.page_map());
        assert_eq!(drive.demand_cached(0), MIB);
        assert_eq!(drive.demand_cached(8 * MIB), 9 * MIB);
    }
}
