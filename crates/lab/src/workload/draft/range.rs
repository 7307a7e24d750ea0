//! Block sizes of `bsrange` and how often each is drawn, and which sizes a `bssplit` may hold.

use crate::workload::error::Problem;
use crate::workload::job::{BlockSizes, PerDirection, SizeShare};

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

/// The sizes of a split. One that fio would round down is refused; with `bs_unaligned` it rounds none.
pub fn split_sizes(split: &PerDirection<BlockSizes>, unaligned: bool) -> Result<PerDirection<BlockSizes>, Problem> {
    for sizes in [&split.read, &split.write, &split.trim] {
        let smallest = sizes.iter().map(|share| share.bytes).min().unwrap_or(1);
        let rounded = sizes.iter().find(|share| !share.bytes.is_multiple_of(smallest));
        if let Some(share) = rounded.filter(|_| !unaligned) {
            return Err(Problem::new(
                format!("{} is not a multiple of the smallest size, {smallest}", share.bytes),
                "fio would round it down to one; write the size you mean, or add bs_unaligned",
            ));
        }
    }
    Ok(split.clone())
}
