//! What a drive's health log says of its flash.
//!
//! ```text
//!   life used   = mean erases / rated cycles, in whole percent
//!   spare left  = blocks that may still be lost / (those + blocks lost), in whole percent
//! ```
//! A drive that has lost more blocks than it may, or that has no free block left, is read-only.
//!
//! Left out, because the model has none: temperature, hours of power, self-tests.

use crate::nand::contents::Contents;
use crate::ssd::Ssd;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Life used, in percent; more than 100 of a drive that is worn beyond its rating.
    pub used_percent: u32,
    /// Spare left, in percent.
    pub spare_percent: u32,
    /// The drive takes no more writes.
    pub is_read_only: bool,
    /// Erases of the block with the fewest, of blocks in use.
    pub least_erases: u32,
    /// Erases of the block with the most.
    pub most_erases: u32,
    /// Blocks that are bad, those from the factory among them.
    pub bad_blocks: u64,
}

impl<C: Contents> Ssd<C> {
    /// The health of the drive as it is now.
    pub fn health(&self) -> Health {
        let array = &self.ftl.flash.array;
        let (mut blocks, mut erases, mut least, mut most) = (0u64, 0u64, u32::MAX, 0);
        for count in array.erase_counts() {
            (blocks, erases) = (blocks + 1, erases + u64::from(count));
            (least, most) = (least.min(count), most.max(count));
        }
        let rated = u64::from(self.shape.config.reliability.rated_cycles);
        let (left, lost) = (self.ftl.spare_blocks(), self.ftl.counters.grown_bad_blocks);
        let spare = left.max(0) as u64;
        Health {
            used_percent: (100 * erases).checked_div(blocks * rated).unwrap_or(0) as u32,
            spare_percent: (100 * spare).checked_div(spare + lost).unwrap_or(0) as u32,
            is_read_only: self.ftl.is_read_only() || left < 0,
            least_erases: least.min(most),
            most_erases: most,
            bad_blocks: array.bad_blocks() as u64,
        }
    }
}
