//! How long bytes take over a bus.

use crate::units::Nanos;

/// Times at one rate. The last one is kept, since most transfers are alike.
#[derive(Clone, Copy, Debug)]
pub struct TransferTimes {
    mb_per_s: f64,
    last: (u64, Nanos),
}

impl TransferTimes {
    /// Times at a rate in MB/s (10⁶ bytes).
    pub fn at(mb_per_s: f64) -> TransferTimes {
        TransferTimes { mb_per_s, last: (0, Nanos::ZERO) }
    }

    /// As [`Nanos::of_transfer`].
    #[inline]
    pub fn of(&mut self, bytes: u64) -> Nanos {
        if self.last.0 != bytes {
            self.last = (bytes, Nanos::of_transfer(bytes, self.mb_per_s));
        }
        self.last.1
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Each length has its own time, whatever was asked for before: 4096 B at 333 MB/s are 12,300.3 ns.
    #[test]
    fn each_length_has_its_time() {
        let mut times = TransferTimes::at(333.0);
        let lengths = [4096, 4096, 512, 4096, 0].map(|bytes| times.of(bytes));
        assert_eq!(lengths, [12_301, 12_301, 1_538, 12_301, 0].map(Nanos));
    }
}
