//! The budget for programs: so many dies program or erase at the same instant at most.
//!
//! A program or erase draws the most that a die draws, so a drive that has to stay within the power of its slot, or
//! within the peak current of its supply, lets only so many dies do it at once. A die takes its share as its array
//! begins and gives it back at the end, also where reads interrupt it. Dies that find none left wait in order.
//!
//! Left out: what a program draws by page kind and by phase, what reads and the channels draw.

use std::collections::VecDeque;

/// Which dies have a share of the budget, and which wait for one.
#[derive(Clone, Debug)]
pub struct ProgramBudget {
    left: u32,
    /// Dies that have a share.
    holders: Vec<bool>,
    /// Dies that wait for one, in the order in which they came.
    waiting: VecDeque<usize>,
}

impl ProgramBudget {
    /// So many shares for so many dies, of which none has one.
    pub fn new(shares: u32, dies: usize) -> ProgramBudget {
        ProgramBudget { left: shares, holders: vec![false; dies], waiting: VecDeque::new() }
    }

    /// Nobody has a share or waits for one.
    pub fn clear(&mut self) {
        let shares = self.left + self.holders.iter().filter(|holds| **holds).count() as u32;
        *self = ProgramBudget::new(shares, self.holders.len());
    }

    /// The die has its share already.
    pub fn is_held(&self, die: usize) -> bool {
        self.holders[die]
    }

    /// A die takes a share; where none is left it waits, at the place that it has already if it waited before.
    pub fn take(&mut self, die: usize) -> bool {
        if self.left == 0 {
            if !self.waiting.contains(&die) {
                self.waiting.push_back(die);
            }
            return false;
        }
        self.left -= 1;
        self.waiting.retain(|waiting| *waiting != die);
        self.holders[die] = true;
        true
    }

    /// A die gives its share back, where it has one.
    pub fn give_back(&mut self, die: usize) {
        self.left += u32::from(std::mem::take(&mut self.holders[die]));
    }

    /// The first die that waits and can begin now, where a share is left.
    pub fn next(&self, can_begin: impl Fn(usize) -> bool) -> Option<usize> {
        self.waiting.iter().copied().find(|die| can_begin(*die)).filter(|_| self.left > 0)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand, of two shares: the third and fourth die wait in order, and one that cannot begin yet keeps its place.
    #[test]
    fn shares_are_given_in_order() {
        let mut budget = ProgramBudget::new(2, 5);
        assert_eq!([4, 0, 3, 1, 3].map(|die| budget.take(die)), [true, true, false, false, false]);
        assert_eq!(budget.next(|_| true), None, "no share is left");
        budget.give_back(0);
        budget.give_back(2);
        assert_eq!((budget.next(|_| true), budget.next(|die| die != 3)), (Some(3), Some(1)));
        assert!(budget.take(1) && !budget.take(0));
        budget.give_back(4);
        assert_eq!(budget.next(|_| true), Some(3), "before die 0, which came later");
        assert!(budget.is_held(1) && !budget.is_held(4));
        budget.clear();
        assert_eq!([0, 1, 2].map(|die| budget.take(die)), [true, true, false]);
    }
}
