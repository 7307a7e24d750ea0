//! Blocks sorted by their number of valid pages: one doubly linked list for each number, so that a
//! block changes its place, and the emptiest is found, in constant time.

/// No further block.
const NONE: u32 = u32::MAX;

/// A block's number of valid pages, and its neighbours in the list of blocks with that number.
/// Together, because they are touched together.
#[derive(Clone, Copy)]
struct Block {
    valid: u32,
    previous: u32,
    next: u32,
}

pub(super) struct BlocksByValid {
    blocks: Vec<Block>,
    /// For each number of valid pages, the first block of its list.
    first_with: Vec<u32>,
    /// No list below this number holds a block.
    fewest_valid: usize,
}

impl BlocksByValid {
    /// So many blocks, none of them in a list yet.
    pub(super) fn new(blocks: u32, pages_per_block: u32) -> BlocksByValid {
        let block = Block { valid: 0, previous: NONE, next: NONE };
        BlocksByValid {
            blocks: vec![block; blocks as usize],
            first_with: vec![NONE; pages_per_block as usize + 1],
            fewest_valid: pages_per_block as usize,
        }
    }

    /// A block with the fewest valid pages of those in a list.
    pub(super) fn fewest(&self) -> Option<u32> {
        self.first_with[self.fewest_valid..].iter().copied().find(|&block| block != NONE)
    }

    /// Takes that block out of its list. There must be one.
    pub(super) fn pop_fewest(&mut self) -> u32 {
        while self.first_with[self.fewest_valid] == NONE {
            self.fewest_valid += 1;
        }
        let block = self.first_with[self.fewest_valid];
        self.unlink(block);
        block
    }

    /// Takes a block out of its list and returns its number of valid pages.
    #[inline]
    pub(super) fn unlink(&mut self, block: u32) -> u32 {
        let Block { valid, previous, next } = self.blocks[block as usize];
        if previous == NONE {
            self.first_with[valid as usize] = next;
        } else {
            self.blocks[previous as usize].next = next;
        }
        if next != NONE {
            self.blocks[next as usize].previous = previous;
        }
        valid
    }

    /// Puts a block at the front of the list of blocks with `valid` valid pages.
    #[inline]
    pub(super) fn link(&mut self, block: u32, valid: u32) {
        let next = std::mem::replace(&mut self.first_with[valid as usize], block);
        self.blocks[block as usize] = Block { valid, previous: NONE, next };
        if next != NONE {
            self.blocks[next as usize].previous = block;
        }
        self.fewest_valid = self.fewest_valid.min(valid as usize);
    }

    /// The valid pages of each block, in the order of their numbers.
    #[cfg(test)]
    pub(super) fn counts(&self) -> impl Iterator<Item = u32> {
        self.blocks.iter().map(|block| block.valid)
    }
}
