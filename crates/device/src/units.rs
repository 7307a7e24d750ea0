//! Units as types: time in integer nanoseconds, addresses that cannot be mixed up.
//!
//! MB is 10⁶ bytes and MiB is 2²⁰ everywhere. Rates are divided as floats and rounded up to
//! whole nanoseconds; a time is never divided as an integer.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub};

/// A point in, or a length of, virtual time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start of virtual time, and the empty length.
    pub const ZERO: Nanos = Nanos(0);
    /// Later than anything that happens.
    pub const NEVER: Nanos = Nanos(u64::MAX);

    /// From microseconds, rounded to the nearest nanosecond.
    pub fn from_us(us: f64) -> Nanos {
        Nanos((us * 1e3).round() as u64)
    }

    /// From milliseconds, rounded to the nearest nanosecond.
    pub fn from_ms(ms: f64) -> Nanos {
        Nanos((ms * 1e6).round() as u64)
    }

    /// From seconds, rounded to the nearest nanosecond.
    pub fn from_s(s: f64) -> Nanos {
        Nanos((s * 1e9).round() as u64)
    }

    /// The time that `bytes` take at `mb_per_s` (MB = 10⁶ bytes), rounded up.
    pub fn of_transfer(bytes: u64, mb_per_s: f64) -> Nanos {
        Nanos((bytes as f64 * 1e3 / mb_per_s).ceil() as u64)
    }

    /// In microseconds.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// In seconds.
    pub fn as_s(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The later of two times.
    #[inline]
    pub fn max(self, other: Nanos) -> Nanos {
        Nanos(self.0.max(other.0))
    }

    /// `self − other`, or zero where other is later.
    #[inline]
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    #[inline]
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    #[inline]
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

/// A logical block address: counts sectors of the device's own sector size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lba(pub u64);

/// A logical page number: counts mapping units of the FTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lpn(pub u32);

/// A physical page number: one mapping unit's place in flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ppn(pub u32);

/// An erase block (all planes of a multi-plane group count as one block).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockId(pub u32);

/// A die. Neighbouring numbers lie on different channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DieId(pub u16);

#[cfg(test)]
mod test {
    use super::*;

    /// A transfer time is bytes over rate, in whole nanoseconds, rounded up: 4096 B at 333 MB/s.
    #[test]
    fn transfer_time_rounds_up() {
        assert_eq!(Nanos::of_transfer(4096, 333.0), Nanos(12_301));
        assert_eq!(Nanos::of_transfer(0, 333.0), Nanos(0));
    }
}
