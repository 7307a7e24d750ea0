//! Block sizes of `bsrange` and how often each is drawn, and what fio makes of those of a `bssplit`.

use crate::workload::error::Problem;
use crate::workload::job::{BlockSizes, SizeShare};

/// Sizes of `bs_unaligned` are whole sectors of so many bytes.
pub const SECTOR: u32 = 512;
/// Sizes that a range may hold.
const MOST_SIZES: u32 = 65_536;

/// The sizes of a range as fio draws them: `least` plus a share of `most`, rounded down to a multiple of
/// `step` and cut at `most`.
pub fn range_shares(least: u32, most: u32, step: u32) -> Result<BlockSizes, Problem> {
    let count = (most - least) / step + 1;
    if count > MOST_SIZES {
        let message = format!("holds {count} sizes; at most {MOST_SIZES} can be drawn");
        return Err(Problem::new(message, "use a larger smallest size, or bssplit"));
    }
    let share = f64::from(step) / f64::from(most) * 100.0;
    let first = f64::from(step - least % step) / f64::from(most) * 100.0;
    let mut left = 100.0;
    let mut shares = Vec::with_capacity(count as usize + 1);
    let mut bytes = least;
    while bytes < most && left > 0.0 {
        let percent = f64::min(if shares.is_empty() { first } else { share }, left);
        shares.push(SizeShare { bytes, percent });
        left -= percent;
        bytes = (bytes - bytes % step).saturating_add(step);
    }
    shares.push(SizeShare { bytes: most, percent: left.max(0.0) });
    shares.retain(|share| share.percent > 0.0);
    Ok(shares)
}

/// The sizes of a split, each rounded down to a multiple of the smallest, as fio does but with `bs_unaligned`.
pub fn rounded_down(mut sizes: BlockSizes, unaligned: bool) -> BlockSizes {
    let smallest = sizes.iter().map(|share| share.bytes).min().unwrap_or(1).max(1);
    if !unaligned {
        sizes.iter_mut().for_each(|share| share.bytes -= share.bytes % smallest);
    }
    sizes
}
