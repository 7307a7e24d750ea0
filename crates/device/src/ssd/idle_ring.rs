//! Dies without work, in a ring: the one behind that which took the last row comes first, so that consecutive rows lie on
//! different channels.

/// A bit for each die.
#[derive(Clone, Debug)]
pub struct IdleRing {
    idle: Vec<u64>,
    /// The die that took the last row.
    last: u32,
}

impl IdleRing {
    /// So many dies, all without work; the first one comes first.
    pub fn new(dies: u32) -> IdleRing {
        IdleRing { idle: all_bits(dies as usize), last: dies - 1 }
    }

    /// So many dies are all without work; who comes first stays as it is.
    pub fn lay_all_idle(&mut self, dies: usize) {
        self.idle = all_bits(dies);
    }

    /// A die has work.
    #[inline(always)]
    pub fn employ(&mut self, die: usize) {
        self.idle[die / 64] &= !(1 << (die % 64));
    }

    /// A die has none.
    #[inline(always)]
    pub fn lay_idle(&mut self, die: usize) {
        self.idle[die / 64] |= 1 << (die % 64);
    }

    /// A die takes a row of the host.
    #[inline(always)]
    pub fn take_turn(&mut self, die: usize) {
        self.last = die as u32;
    }

    /// Some die has no work.
    #[inline]
    pub fn has_idle(&self) -> bool {
        self.idle.iter().any(|word| *word != 0)
    }

    /// The first idle die after the one that took the last row, round the ring.
    #[inline]
    pub fn next_idle(&self) -> Option<usize> {
        let start = self.last + 1;
        let (first, bit) = (start as usize / 64, start % 64);
        let ahead = self.idle.get(first).map_or(0, |word| word & (u64::MAX << bit));
        if ahead != 0 {
            return Some(first * 64 + ahead.trailing_zeros() as usize);
        }
        let words = self.idle.len();
        (first + 1..words)
            .chain(0..words)
            .find(|&word| self.idle[word] != 0)
            .map(|word| word * 64 + self.idle[word].trailing_zeros() as usize)
    }
}

/// A bit for each of so many dies.
fn all_bits(dies: usize) -> Vec<u64> {
    let lowest = |count: usize| if count >= 64 { u64::MAX } else { (1 << count) - 1 };
    (0..dies.div_ceil(64)).map(|word| lowest(dies - word * 64)).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    /// The ring goes on behind the die that took the last row, across words of bits, past those at work.
    #[test]
    fn the_ring_goes_round() {
        let mut ring = IdleRing::new(100);
        assert_eq!(ring.next_idle(), Some(0));
        [0, 1, 99].iter().for_each(|die| ring.employ(*die));
        let mut taken = |last: usize| {
            ring.take_turn(last);
            ring.next_idle()
        };
        assert_eq!([99, 2, 62, 63, 98].map(&mut taken), [2, 3, 63, 64, 2].map(Some));
        (0..100).for_each(|die| ring.employ(die));
        assert_eq!((ring.next_idle(), ring.has_idle()), (None, false));
        ring.lay_idle(70);
        assert_eq!(ring.next_idle(), Some(70));
        ring.lay_all_idle(100);
        assert_eq!(ring.next_idle(), Some(99));
    }
}
