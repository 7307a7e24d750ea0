//! Which blocks of a region were not visited yet, as fio's random map keeps it: a draw that meets a visited block goes
//! on to the next free one, and a request ends before the first visited one.
//!
//! One bit a block, in words of 64; above it one bit a word that is full, and so on, so that the next free block is
//! found in as many steps as there are levels.

const WORD_BITS: u64 = u64::BITS as u64;

/// A set of blocks 0 … n−1 that are free.
#[derive(Clone, Debug)]
pub struct FreeBlocks {
    count: u64,
    free: u64,
    /// Visited blocks; then, level by level, words of the level below that are full.
    levels: Vec<Vec<u64>>,
}

impl FreeBlocks {
    /// All of `count` (> 0) blocks are free.
    pub fn new(count: u64) -> FreeBlocks {
        let mut blocks = FreeBlocks { count, free: 0, levels: Vec::new() };
        let mut bits = count;
        while blocks.levels.is_empty() || bits > 1 {
            bits = bits.div_ceil(WORD_BITS);
            blocks.levels.push(vec![0; bits as usize]);
        }
        blocks.clear();
        blocks
    }

    /// All are free again.
    pub fn clear(&mut self) {
        self.free = self.count;
        let mut bits = self.count;
        for level in &mut self.levels {
            level.fill(0);
            let last = level.len() - 1;
            // What lies behind the end is never free.
            if !bits.is_multiple_of(WORD_BITS) {
                level[last] = u64::MAX << (bits % WORD_BITS);
            }
            bits = bits.div_ceil(WORD_BITS);
        }
    }

    /// Number of blocks, free or not.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first free block from one on, going on at the beginning; `None` where none is left.
    #[inline]
    pub fn next_free(&self, from: u64) -> Option<u64> {
        if self.free == 0 {
            return None;
        }
        if self.levels[0][(from / WORD_BITS) as usize] >> (from % WORD_BITS) & 1 == 0 {
            return Some(from);
        }
        self.search(from).or_else(|| self.search(0))
    }

    fn search(&self, from: u64) -> Option<u64> {
        let (mut level, mut at) = (0, from);
        loop {
            let word = self.levels.get(level)?.get((at / WORD_BITS) as usize)?;
            let below = (1u64 << (at % WORD_BITS)) - 1;
            if word | below != u64::MAX {
                at = at / WORD_BITS * WORD_BITS + u64::from((word | below).trailing_ones());
                break;
            }
            (level, at) = (level + 1, at / WORD_BITS + 1);
        }
        for level in self.levels[..level].iter().rev() {
            at = at * WORD_BITS + u64::from(level[at as usize].trailing_ones());
        }
        Some(at)
    }

    /// Visits `wanted` blocks from a free one on, or as many as are free in a row; how many they are.
    #[inline]
    pub fn visit(&mut self, first: u64, wanted: u64) -> u64 {
        let mut block = first;
        let end = first.saturating_add(wanted).min(self.count);
        while block < end && self.levels[0][(block / WORD_BITS) as usize] >> (block % WORD_BITS) & 1 == 0 {
            self.set(block);
            block += 1;
        }
        self.free -= block - first;
        block - first
    }

    fn set(&mut self, block: u64) {
        let mut at = block;
        for level in &mut self.levels {
            let word = &mut level[(at / WORD_BITS) as usize];
            *word |= 1 << (at % WORD_BITS);
            if *word != u64::MAX {
                return;
            }
            at /= WORD_BITS;
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Beside a plain list of flags: the next free block, and how many are visited in a row.
        #[test]
        fn agrees_with_a_plain_list(count in 1u64..9000, steps in prop::collection::vec((0u64..9000, 1u64..200), 1..200)) {
            let mut blocks = FreeBlocks::new(count);
            let mut plain = vec![false; count as usize];
            for (draw, wanted) in steps {
                let from = draw % count;
                let free = (from..count).chain(0..from).find(|block| !plain[*block as usize]);
                prop_assert_eq!(blocks.next_free(from), free);
                let Some(first) = free else {
                    blocks.clear();
                    plain.fill(false);
                    continue;
                };
                let run = plain[first as usize..].iter().take(wanted as usize).take_while(|visited| !**visited).count();
                prop_assert_eq!(blocks.visit(first, wanted), run as u64);
                plain[first as usize..first as usize + run].fill(true);
            }
        }
    }
}
