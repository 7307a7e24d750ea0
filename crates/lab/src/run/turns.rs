//! Whose turn it is to issue: a queue of workers, the first apart from those behind it, since mostly it
//! is the only one.

use std::collections::VecDeque;

/// Workers in their order.
pub struct Turns {
    /// [`Turns::NOBODY`] where nobody is.
    first: u32,
    behind: VecDeque<u32>,
}

impl Turns {
    const NOBODY: u32 = u32::MAX;

    /// All workers, by their numbers.
    pub fn new(workers: u32) -> Turns {
        Turns { first: if workers > 0 { 0 } else { Turns::NOBODY }, behind: (1..workers).collect() }
    }

    /// Puts a worker behind all others.
    #[inline(always)]
    pub fn push_back(&mut self, index: u32) {
        if self.first == Turns::NOBODY {
            self.first = index;
        } else {
            self.behind.push_back(index);
        }
    }

    /// Takes the worker whose turn it is.
    #[inline(always)]
    pub fn pop_front(&mut self) -> Option<u32> {
        let first = self.first;
        if first == Turns::NOBODY {
            return None;
        }
        self.first = self.behind.pop_front().unwrap_or(Turns::NOBODY);
        Some(first)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Workers come in the order in which they were put in.
    #[test]
    fn first_come_first_served() {
        let mut turns = Turns::new(2);
        turns.push_back(7);
        let served = [(); 4].map(|()| turns.pop_front());
        assert_eq!(served, [Some(0), Some(1), Some(7), None]);
        turns.push_back(3);
        assert_eq!((turns.pop_front(), turns.pop_front()), (Some(3), None));
        assert_eq!(Turns::new(0).pop_front(), None);
    }
}
