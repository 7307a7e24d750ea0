//! What a drive's health log says of its flash.
//!
//! ```text
//!   life used   = mean erases / rated cycles, in whole percent
//!   spare left  = blocks that may still be lost / (those + blocks lost), in whole percent
//! ```
//! A drive that has lost more blocks than it may, or that has no free block left, is read-only.
//!
//! Critical warning (NVMe Base Specification 2.0, section 5.16.1.3): bit 0 spare below 10 %, 1 too hot, 2 worn or failing, 3
//! read-only, 4 the buffer is not protected any more.
//!
//! Left out, because the model has none: self-tests; temperature and hours are what [`Signs`] say.

use crate::ssd::signs::Signs;

/// Spare in percent below which a drive warns: that of most recorded drives in `tests/python/smart`.
pub const SPARE_THRESHOLD_PERCENT: u32 = 10;
/// Composite temperature in kelvins from which on a drive warns: what NVMe recommends (WCTEMP), 70 °C.
pub const TOO_HOT_KELVIN: u16 = 343;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Life used, in percent; more than 100 of a drive that is worn beyond its rating.
    pub used_percent: u32,
    /// Spare left, in percent.
    pub spare_percent: u32,
    /// The drive takes no more writes.
    pub is_read_only: bool,
    /// Erases of a block on average, of blocks in use.
    pub average_erases: u32,
    /// Erases of the block with the fewest.
    pub least_erases: u32,
    /// Erases of the block with the most.
    pub most_erases: u32,
    /// Blocks that are bad, those from the factory among them.
    pub bad_blocks: u64,
    /// Blocks that are free, in percent of the good ones.
    pub free_percent: u32,
    /// Bytes that its flash takes until it is worn to its rating.
    pub endurance_bytes: u64,
}

/// A temperature as NVMe's logs tell it.
pub fn kelvin(celsius: i16) -> u16 {
    (i32::from(celsius) + 273).max(0) as u16
}

impl Health {
    /// The critical warning of a drive whose storage fails or not, for a host that finds so many kelvins too hot.
    pub fn critical_warning(&self, signs: &Signs, is_failing: bool, too_hot_kelvin: u16) -> u8 {
        let is_hot = signs.celsius.is_some_and(|celsius| kelvin(celsius) >= too_hot_kelvin);
        u8::from(self.spare_percent < SPARE_THRESHOLD_PERCENT)
            | u8::from(is_hot) << 1
            | u8::from(is_failing || self.is_read_only) << 2
            | u8::from(self.is_read_only) << 3
            | u8::from(signs.capacitor_failed) << 4
    }

    /// Of blocks in use with so many erases each, rated for so many; of so many blocks that may still be lost, and were.
    pub fn of(erase_counts: impl Iterator<Item = u32>, rated: u32, may_be_lost: i64, lost: u64) -> Health {
        let (mut blocks, mut erases, mut least, mut most) = (0u64, 0u64, u32::MAX, 0);
        for count in erase_counts {
            (blocks, erases) = (blocks + 1, erases + u64::from(count));
            (least, most) = (least.min(count), most.max(count));
        }
        let spare = may_be_lost.max(0) as u64;
        Health {
            used_percent: (100 * erases).checked_div(blocks * u64::from(rated)).unwrap_or(0) as u32,
            spare_percent: (100 * spare).checked_div(spare + lost).unwrap_or(0) as u32,
            is_read_only: may_be_lost < 0,
            average_erases: (2 * erases + blocks).checked_div(2 * blocks).unwrap_or(0) as u32,
            least_erases: least.min(most),
            most_erases: most,
            ..Health::default()
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Each bit by itself: a drive that is well warns of nothing; 70 °C are 343 K.
    #[test]
    fn each_warning_has_its_bit() {
        let well = Health { spare_percent: 10, ..Health::default() };
        let warns = |health: &Health, signs: Signs, fails| health.critical_warning(&signs, fails, TOO_HOT_KELVIN);
        let hot = |celsius| Signs { celsius: Some(celsius), ..Signs::default() };
        assert_eq!((warns(&well, Signs::default(), false), warns(&well, hot(69), false)), (0, 0));
        assert_eq!(warns(&Health { spare_percent: 9, ..well }, Signs::default(), false), 1);
        assert_eq!(warns(&well, hot(70), false), 1 << 1);
        assert_eq!(warns(&well, Signs::default(), true), 1 << 2);
        assert_eq!(warns(&Health { is_read_only: true, ..well }, Signs::default(), false), 1 << 2 | 1 << 3);
        assert_eq!(warns(&well, Signs { capacitor_failed: true, ..Signs::default() }, false), 1 << 4);
    }

    /// By hand: 60 erases of 4 blocks rated for 100, and 9 of 12 blocks left; one lost too many is read-only.
    #[test]
    fn percentages_by_hand() {
        let health = Health::of([10, 20, 30, 0].into_iter(), 100, 9, 3);
        assert_eq!((health.used_percent, health.spare_percent, health.average_erases), (15, 75, 15));
        assert_eq!((health.least_erases, health.most_erases, health.is_read_only), (0, 30, false));
        let worn = Health::of([300].into_iter(), 100, -1, 3);
        assert_eq!((worn.used_percent, worn.spare_percent, worn.is_read_only), (300, 0, true));
        assert_eq!(Health::of(std::iter::empty(), 0, 0, 0).used_percent, 0);
    }
}
