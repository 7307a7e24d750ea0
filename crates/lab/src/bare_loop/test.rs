//! The floor against the closed form, and its tables against each other.

use super::*;
use crate::theory::{Point, Policy, write_amplification};

impl BareLoop {
    /// Every unit lives in a page that is its own, and every block counts its valid pages right.
    fn assert_sound(&self) {
        for (unit, &page) in self.map.iter().enumerate() {
            assert_eq!(self.owner[page as usize] as usize, unit);
        }
        for (number, block_valid) in self.by_valid.counts().enumerate() {
            let start = (number as u32) << self.block_shift;
            let is_open = start + self.pages_per_block == self.frontier_end;
            let end = if is_open { self.frontier } else { start + self.pages_per_block };
            let lives = |page: u32| {
                let unit = self.owner[page as usize];
                unit != NONE && self.map[unit as usize] == page
            };
            let valid = (start..end).filter(|&page| lives(page)).count() as u32;
            let to_be_written = start + self.pages_per_block - end;
            if number as u32 == self.erased {
                assert_eq!(valid, 0);
            } else {
                assert_eq!(block_valid, valid + to_be_written);
            }
        }
    }
}

/// The floor does the work it claims to do: its write amplification is the closed form's.
#[test]
fn write_amplification_is_that_of_theory() {
    for (over_provisioning, pages_per_block) in [(0.28, 256), (0.07, 256), (0.5, 96)] {
        let units = 1 << 20;
        let fill = u64::from(units);
        let found =
            run(units, pages_per_block, over_provisioning, 3, 5 * fill, 3 * fill).unwrap().write_amplification();
        let policy = Policy::Greedy;
        let (hot, trim_share, unwritten_share) = (None, None, None);
        let point = Point { over_provisioning, pages_per_block, policy, hot, trim_share, unwritten_share };
        let expected = write_amplification(&point).unwrap().write_amplification;
        assert!((found / expected - 1.0).abs() < 0.01, "{found}, theory {expected}");
    }
}

/// No unit is lost and no count is off, with blocks of any size, a fill that ends within a block
/// or at its end, and a single spare page; and both ways to move do the same.
#[test]
fn maps_and_counts_stay_sound() {
    for (units, pages_per_block, over_provisioning) in
        [(1000, 7, 0.1), (1024, 8, 0.3), (1023, 8, 0.001), (5, 1, 0.5), (150, 100, 0.3)]
    {
        let drives = [Moves::PageByPage, Moves::WholeBlock]
            .map(|moves| BareLoop::filled(units, pages_per_block, over_provisioning, 9, moves).unwrap());
        let [mut drive, mut other] = drives;
        drive.assert_sound();
        for _ in 0..300 {
            let outcome = drive.write_randomly(17);
            assert!(outcome.programs >= 17);
            drive.assert_sound();
            assert_eq!(other.write_randomly(17), outcome);
            assert_eq!(other.map, drive.map);
            other.assert_sound();
        }
    }
}

/// What cannot be is an error that says why.
#[test]
fn impossible_drives_are_refused() {
    let error = |units, pages, spare| BareLoop::filled(units, pages, spare, 1, Moves::PageByPage).err().unwrap();
    assert_eq!(error(0, 8, 0.1), GeometryError::Empty { units: 0, pages_per_block: 8 });
    assert_eq!(error(8, 8, 0.01), GeometryError::NoSpare { over_provisioning: 0.01 });
    assert_eq!(error(8, 8, -1.0), GeometryError::NoSpare { over_provisioning: -1.0 });
    assert!(matches!(error(u32::MAX, 8, 0.1), GeometryError::TooLarge { .. }));
    assert!(matches!(error(8, u32::MAX, f64::INFINITY), GeometryError::TooLarge { .. }));
}
