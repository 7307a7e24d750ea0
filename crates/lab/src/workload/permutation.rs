//! A random order of the numbers below n, in constant time and memory.
//!
//! A number is a cell of a grid of `rows × columns ≥ n`, both near √n, and is enciphered by a
//! four-round Feistel network over the two coordinates, with addition modulo the side in place
//! of exclusive or. Cells at n and above are skipped (walked through, for a single look-up), so
//! every number below n comes exactly once. The grid has less than one row of such cells.

use super::random::{Stream, mix};

const ROUNDS: usize = 4;

/// A bijection of the numbers below n.
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    rows: u64,
    columns: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// A bijection of the numbers below `count` (> 0) drawn from a stream.
    pub fn new(count: u64, stream: &mut Stream) -> Permutation {
        let columns = integer_root_up(count);
        let rows = count.div_ceil(columns);
        Permutation { count, rows, columns, keys: [(); ROUNDS].map(|()| stream.next()) }
    }

    /// Another bijection of the same numbers.
    fn redraw(&mut self, stream: &mut Stream) {
        self.keys = [(); ROUNDS].map(|()| stream.next());
    }

    /// Where a number below n goes: cells beyond n are walked through.
    pub fn at(&self, index: u64) -> u64 {
        let mut cell = index;
        loop {
            cell = self.encipher(cell / self.columns, cell % self.columns);
            if cell < self.count {
                return cell;
            }
        }
    }

    fn encipher(&self, row: u64, column: u64) -> u64 {
        let (mut row, mut column) = ([row], [column]);
        self.encipher_batch(&mut row, &mut column);
        row[0] * self.columns + column[0]
    }

    #[inline]
    fn encipher_batch<const N: usize>(&self, rows: &mut [u64; N], columns: &mut [u64; N]) {
        for pair in self.keys.chunks_exact(2) {
            for (row, column) in rows.iter_mut().zip(columns.iter()) {
                *row = add_modulo(*row, scaled(*column, pair[0], self.rows), self.rows);
            }
            for (row, column) in rows.iter().zip(columns.iter_mut()) {
                *column = add_modulo(*column, scaled(*row, pair[1], self.columns), self.columns);
            }
        }
    }
}

/// Cells enciphered at once: their chains of dependent multiplications overlap in the processor.
const BATCH: usize = 8;

/// Visits the numbers below n in random order, each once a round, each round in another order.
#[derive(Clone, Debug)]
pub struct Cover {
    permutation: Permutation,
    /// The cell that the next batch begins with.
    row: u64,
    column: u64,
    batch: [u64; BATCH],
    taken: usize,
    filled: usize,
}

impl Cover {
    /// The first round of the numbers below `count` (> 0).
    pub fn new(count: u64, stream: &mut Stream) -> Cover {
        let permutation = Permutation::new(count, stream);
        Cover { permutation, row: 0, column: 0, batch: [0; BATCH], taken: 0, filled: 0 }
    }

    /// The next number, or `None` at the end of a round.
    #[inline]
    pub fn next_in_round(&mut self) -> Option<u64> {
        while self.taken == self.filled {
            if self.row == self.permutation.rows {
                return None;
            }
            self.fill();
        }
        let number = self.batch[self.taken];
        self.taken += 1;
        Some(number)
    }

    /// Starts a round in another order.
    pub fn restart(&mut self, stream: &mut Stream) {
        self.permutation.redraw(stream);
        (self.row, self.column, self.taken, self.filled) = (0, 0, 0, 0);
    }

    /// Enciphers the next cells and keeps those below n.
    fn fill(&mut self) {
        let (mut rows, mut columns) = ([0; BATCH], [0; BATCH]);
        let mut cells = 0;
        while cells < BATCH && self.row < self.permutation.rows {
            (rows[cells], columns[cells]) = (self.row, self.column);
            cells += 1;
            self.column += 1;
            if self.column == self.permutation.columns {
                (self.row, self.column) = (self.row + 1, 0);
            }
        }
        self.permutation.encipher_batch(&mut rows, &mut columns);
        (self.taken, self.filled) = (0, 0);
        for index in 0..cells {
            let cell = rows[index] * self.permutation.columns + columns[index];
            self.batch[self.filled] = cell;
            self.filled += usize::from(cell < self.permutation.count);
        }
    }
}

#[inline]
fn add_modulo(one: u64, other: u64, modulus: u64) -> u64 {
    let sum = one + other;
    sum.min(sum.wrapping_sub(modulus))
}

/// A keyed hash of a coordinate, scaled to below `bound` (≤ 2³²).
#[inline]
fn scaled(coordinate: u64, key: u64, bound: u64) -> u64 {
    let mut hash = (coordinate ^ key).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    ((hash >> 32) * bound) >> 32
}

/// The smallest r with r² ≥ n, for n > 0.
fn integer_root_up(n: u64) -> u64 {
    let root = n.isqrt();
    if root * root == n { root } else { root + 1 }
}

/// A bijection of the numbers below `count` that depends on a key alone.
pub fn keyed(count: u64, key: u64) -> Permutation {
    let mut permutation = Permutation {
        count,
        columns: integer_root_up(count),
        rows: 1,
        keys: [1, 2, 3, 4].map(|round| mix(key ^ mix(round))),
    };
    permutation.rows = count.div_ceil(permutation.columns);
    permutation
}

#[cfg(test)]
mod test {
    use super::super::random::Purpose;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every round meets each number exactly once, by iteration and by look-up.
        #[test]
        fn every_number_comes_once(count in 1u64..5000, seed: u64) {
            let mut stream = Stream::new(seed, Purpose::Address);
            let mut cover = Cover::new(count, &mut stream);
            for _ in 0..2 {
                let mut seen: Vec<u64> = std::iter::from_fn(|| cover.next_in_round()).collect();
                seen.sort_unstable();
                prop_assert!(seen.iter().copied().eq(0..count));
                cover.restart(&mut stream);
            }
            let permutation = keyed(count, seed);
            let mut seen: Vec<u64> = (0..count).map(|index| permutation.at(index)).collect();
            seen.sort_unstable();
            prop_assert!(seen.iter().copied().eq(0..count));
        }
    }

    /// Neighbours in the order are unrelated: their distances spread evenly, and no number is
    /// mapped near itself more often than chance has it.
    #[test]
    fn the_order_looks_random() {
        let count = 1 << 20;
        let mut cover = Cover::new(count, &mut Stream::new(1, Purpose::Address));
        let order: Vec<u64> = std::iter::from_fn(|| cover.next_in_round()).collect();
        let mut bins = [0f64; 64];
        for pair in order.windows(2) {
            bins[((pair[1].wrapping_sub(pair[0]) & (count - 1)) * 64 / count) as usize] += 1.0;
        }
        let expected = (count - 1) as f64 / 64.0;
        let chi: f64 = bins.iter().map(|b| (b - expected).powi(2) / expected).sum();
        assert!(chi < 120.0, "{chi}: far beyond 63 degrees of freedom");
        let ascending = order.windows(2).filter(|pair| pair[0] < pair[1]).count() as f64;
        assert!((ascending / count as f64 - 0.5).abs() < 0.005);
    }

    /// A random order leaves a share (1 − 1/w)^w of any window of w blocks unhit after n/w·w
    /// draws only by chance: the first half of a round fills each window of 64 about half.
    #[test]
    fn half_a_round_fills_windows_evenly() {
        let (count, window) = (1u64 << 16, 64u64);
        let mut cover = Cover::new(count, &mut Stream::new(3, Purpose::Address));
        let mut filled = vec![0f64; (count / window) as usize];
        for _ in 0..count / 2 {
            filled[(cover.next_in_round().unwrap() / window) as usize] += 1.0;
        }
        let mean = window as f64 / 2.0;
        let variance = filled.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / filled.len() as f64;
        let hypergeometric = window as f64 / 4.0;
        assert!((variance / hypergeometric - 1.0).abs() < 0.2, "{variance}");
    }
}
