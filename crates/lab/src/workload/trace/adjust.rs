//! How a trace is changed before it is replayed: fio's `replay_` options, and a fit to the drive.
//!
//! `offset / scale / align · align`, and of a trace that is fitted: where it reaches beyond the drive,
//! `offset · capacity / end`, rounded down to 4 KiB. Lengths stay, so that requests that followed each
//! other overlap in a trace made smaller; fio's `replay_scale` does the same. One that fits is not stretched.

use super::Entry;
use ssdlab_device::block::Operation;
use ssdlab_device::units::Nanos;
use std::fmt;

const FITTED_ALIGN_BYTES: u64 = 4096;

/// What becomes of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// They are divided by this.
    Divide(u64),
    /// They are made to fit the drive.
    Fit,
}

/// Which requests of a trace are replayed, where and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjust {
    /// `replay_skip`: these are left out.
    pub skip: Vec<Operation>,
    /// `replay_scale`.
    pub scale: Scale,
    /// `replay_align`: offsets are rounded down to a multiple of it.
    pub align: u64,
    /// `replay_time_scale`.
    pub time_percent: u64,
}

impl Default for Adjust {
    fn default() -> Adjust {
        Adjust { skip: Vec::new(), scale: Scale::Divide(1), align: 1, time_percent: 100 }
    }
}

impl Adjust {
    /// Offset and length of a request before it is fitted; `None` for one that is left out.
    pub(super) fn extent(&self, raw: &Entry) -> Option<(u64, u64)> {
        if self.skip.contains(&raw.operation) {
            return None;
        }
        let offset = match self.scale {
            Scale::Divide(divisor) if divisor > 1 => raw.offset / divisor,
            _ => raw.offset,
        };
        Some((if self.align > 1 { offset / self.align * self.align } else { offset }, raw.bytes))
    }

    /// A time of the trace as it is replayed.
    pub(super) fn time(&self, at: Nanos) -> Nanos {
        if self.time_percent == 100 {
            return at;
        }
        let scaled = u128::from(at.0) * u128::from(self.time_percent) / 100;
        Nanos(u64::try_from(scaled).unwrap_or(Nanos::NEVER.0))
    }

    /// How a trace that reaches to `end_bytes` is fitted to a drive; `None` where it fits as it is, or is to stay.
    pub(super) fn fitted(&self, end_bytes: u64, capacity_bytes: u64) -> Option<Fitted> {
        let is_fitted = self.scale == Scale::Fit && end_bytes > capacity_bytes;
        is_fitted.then_some(Fitted { end_bytes, capacity_bytes })
    }
}

/// A trace made smaller for a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The trace reaches to here.
    pub end_bytes: u64,
    /// The drive does to here.
    pub capacity_bytes: u64,
}

impl Fitted {
    /// Where a request begins on the drive.
    pub fn offset(&self, offset: u64, bytes: u64) -> u64 {
        let scaled = u128::from(offset) * u128::from(self.capacity_bytes) / u128::from(self.end_bytes);
        let last = self.capacity_bytes.saturating_sub(bytes);
        (scaled as u64).min(last) / FITTED_ALIGN_BYTES * FITTED_ALIGN_BYTES
    }

    fn factor(&self) -> f64 {
        self.capacity_bytes as f64 / self.end_bytes as f64
    }
}

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        let (factor, end, capacity) = (self.factor(), gigabytes(self.end_bytes), gigabytes(self.capacity_bytes));
        write!(f, "offsets are scaled by {factor:.4} so that the trace's {end:.1} GB fit the drive's {capacity:.1} GB")
    }
}
