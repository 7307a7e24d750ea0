//! Queues for resources that serve in order, so that what stands in one never has to pass another: a
//! number for each entry, and the time at which it is served.
//!
//! The first entry of each queue stands apart: mostly it is the only one.

use crate::units::Nanos;
use std::collections::VecDeque;

/// `N` queues, and the earliest of their first entries.
#[derive(Clone, Debug)]
pub struct Lanes<const N: usize> {
    /// The first entry's time, [`Nanos::NEVER`] where a queue is empty.
    times: [Nanos; N],
    numbers: [u32; N],
    behind: [VecDeque<(Nanos, u32)>; N],
    next: (Nanos, usize),
}

impl<const N: usize> Default for Lanes<N> {
    fn default() -> Lanes<N> {
        Lanes {
            times: [Nanos::NEVER; N],
            numbers: [0; N],
            behind: [const { VecDeque::new() }; N],
            next: (Nanos::NEVER, 0),
        }
    }
}

impl<const N: usize> Lanes<N> {
    /// Puts a number at the end of a lane, to be served at a time not before that of the last one.
    #[inline(always)]
    pub fn push(&mut self, lane: usize, time: Nanos, number: u32) {
        if self.times[lane] != Nanos::NEVER {
            debug_assert!(self.behind[lane].back().is_none_or(|last| last.0 <= time) && self.times[lane] <= time);
            return self.behind[lane].push_back((time, number));
        }
        (self.times[lane], self.numbers[lane]) = (time, number);
        self.next = self.next.min((time, lane));
    }

    /// Takes the first number of a lane that is not empty.
    #[inline(always)]
    pub fn pop(&mut self, lane: usize) -> u32 {
        let number = self.numbers[lane];
        (self.times[lane], self.numbers[lane]) = self.behind[lane].pop_front().unwrap_or((Nanos::NEVER, 0));
        self.choose_next();
        number
    }

    /// Empties a lane.
    pub fn clear(&mut self, lane: usize) {
        self.times[lane] = Nanos::NEVER;
        self.behind[lane].clear();
        self.choose_next();
    }

    /// The earliest entry's time and lane, the lowest of equals; [`Nanos::NEVER`] where all are empty.
    #[inline(always)]
    pub fn next(&self) -> (Nanos, usize) {
        self.next
    }

    #[inline(always)]
    fn choose_next(&mut self) {
        let earlier = |first: usize, lane: usize| if self.times[lane] < self.times[first] { lane } else { first };
        let first = (1..N).fold(0, earlier);
        self.next = (self.times[first], first);
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Each lane gives its numbers in the order they came; the earliest first, the lowest lane of equals.
    #[test]
    fn the_earliest_comes_first() {
        let mut lanes: Lanes<3> = Lanes::default();
        for (lane, time, number) in [(2, 5, 1), (1, 5, 2), (1, 6, 3), (0, 9, 4), (1, 7, 5)] {
            lanes.push(lane, Nanos(time), number);
        }
        let served: Vec<(u64, u32)> = std::iter::from_fn(|| {
            let (time, lane) = lanes.next();
            (time != Nanos::NEVER).then(|| (time.0, lanes.pop(lane)))
        })
        .collect();
        assert_eq!(served, [(5, 2), (5, 1), (6, 3), (7, 5), (9, 4)]);
        lanes.push(1, Nanos(3), 6);
        lanes.push(1, Nanos(4), 7);
        lanes.clear(1);
        assert_eq!(lanes.next().0, Nanos::NEVER);
    }
}
