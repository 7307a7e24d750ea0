//! Host writes at a steady rate while free blocks are short.
//!
//! Left to itself a drive takes host writes as they come and stops them when its blocks run out. Data-centre drives
//! hold the host to a rate that collection can follow instead. Here each write has the front of the drive for
//! bytes / rate while some die is short of free blocks: a write that comes earlier waits, one that comes later does not.
//!
//! Left out: a rate that follows the write amplification, and credit for a host that has written less.

use crate::sim::transfer::TransferTimes;
use crate::units::Nanos;

/// When the drive takes the next write, where it paces them.
#[derive(Clone, Debug)]
pub struct WritePace {
    times: TransferTimes,
    next: Nanos,
}

impl WritePace {
    /// So many MB/s.
    pub fn new(mb_per_s: f64) -> WritePace {
        WritePace { times: TransferTimes::at(mb_per_s), next: Nanos::ZERO }
    }

    /// Time that so many bytes take.
    pub fn time_of(&mut self, bytes: u64) -> Nanos {
        self.times.of(bytes)
    }

    /// A write of so many bytes has crossed the link: returns when the drive takes it. Writes stay in order, also
    /// where the pace ends.
    pub fn admit(&mut self, crossed: Nanos, bytes: u64, is_short: bool) -> Nanos {
        let taken = crossed.max(self.next);
        let length = if is_short { self.times.of(bytes) } else { Nanos::ZERO };
        self.next = taken + length;
        taken
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand, at 100 MB/s: 4096 B have the front for 40.96 µs; a write that comes later than that waits for nothing.
    #[test]
    fn writes_follow_each_other_at_the_pace() {
        let mut pace = WritePace::new(100.0);
        assert_eq!(pace.admit(Nanos(1_000), 4096, true), Nanos(1_000));
        assert_eq!(pace.admit(Nanos(2_000), 4096, true), Nanos(41_960));
        assert_eq!(pace.admit(Nanos(100_000), 4096, true), Nanos(100_000));
        assert_eq!(pace.admit(Nanos(101_000), 4096, false), Nanos(140_960), "behind the one before");
        assert_eq!(pace.admit(Nanos(141_000), 4096, false), Nanos(141_000));
        assert_eq!(pace.time_of(4096), Nanos(40_960));
    }
}
