//! Queues for resources that serve in order, so that what stands in one never has to pass another: a
//! number for each entry, and the time at which it is served.
//!
//! The first entry of each queue stands apart: mostly it is the only one, and the only one of all queues.

use crate::units::Nanos;
use std::collections::VecDeque;

/// `N` queues, and the time of the earliest of their first entries.
#[derive(Clone, Debug)]
pub struct Arrivals<const N: usize> {
    /// The first entry's time, [`Nanos::NEVER`] where a queue is empty.
    times: [Nanos; N],
    numbers: [u32; N],
    behind: [VecDeque<(Nanos, u32)>; N],
    next: Nanos,
    /// Entries in all queues.
    count: usize,
}

impl<const N: usize> Default for Arrivals<N> {
    fn default() -> Arrivals<N> {
        Arrivals {
            times: [Nanos::NEVER; N],
            numbers: [0; N],
            behind: [const { VecDeque::new() }; N],
            next: Nanos::NEVER,
            count: 0,
        }
    }
}

impl<const N: usize> Arrivals<N> {
    /// Puts a number at the end of a queue, to be served at a time not before that of the last one.
    #[inline(always)]
    pub fn push(&mut self, queue: usize, time: Nanos, number: u32) {
        self.count += 1;
        if self.times[queue] != Nanos::NEVER {
            debug_assert!(self.behind[queue].back().is_none_or(|last| last.0 <= time) && self.times[queue] <= time);
            return self.behind[queue].push_back((time, number));
        }
        (self.times[queue], self.numbers[queue]) = (time, number);
        self.next = self.next.min(time);
    }

    /// Takes the first number of a queue that is not empty.
    #[inline(always)]
    pub fn pop(&mut self, queue: usize) -> u32 {
        let number = self.numbers[queue];
        self.count -= 1;
        if self.count == 0 {
            (self.times[queue], self.next) = (Nanos::NEVER, Nanos::NEVER);
            return number;
        }
        (self.times[queue], self.numbers[queue]) = self.behind[queue].pop_front().unwrap_or((Nanos::NEVER, 0));
        self.choose_next();
        number
    }

    /// A queue has this entry and no other, or none where the time is [`Nanos::NEVER`].
    #[inline(always)]
    pub fn set(&mut self, queue: usize, time: Nanos, number: u32) {
        debug_assert!(self.behind[queue].is_empty(), "one entry at most");
        self.count += usize::from(time != Nanos::NEVER);
        self.count -= usize::from(self.times[queue] != Nanos::NEVER);
        (self.times[queue], self.numbers[queue]) = (time, number);
        self.choose_next();
    }

    /// The one entry of a queue is due by then, if that is earlier.
    #[inline(always)]
    pub fn bring_forward(&mut self, queue: usize, time: Nanos) {
        if time < self.times[queue] {
            self.set(queue, time, 0);
        }
    }

    /// Empties a queue.
    pub fn clear(&mut self, queue: usize) {
        self.count -= self.behind[queue].len() + usize::from(self.times[queue] != Nanos::NEVER);
        self.times[queue] = Nanos::NEVER;
        self.behind[queue].clear();
        self.choose_next();
    }

    /// The earliest entry's time; [`Nanos::NEVER`] where all are empty.
    #[inline(always)]
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// The earliest entry, where there is one, is in this queue; perhaps in others, too.
    #[inline(always)]
    pub fn is_next(&self, queue: usize) -> bool {
        self.times[queue] == self.next
    }

    #[inline(always)]
    fn choose_next(&mut self) {
        // A loop, which is unrolled; a fold is a call.
        let mut next = self.times[0];
        for queue in 1..N {
            next = next.min(self.times[queue]);
        }
        self.next = next;
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Each queue gives its numbers in the order they came; the earliest first, the lowest queue of equals.
    #[test]
    fn the_earliest_comes_first() {
        let mut arrivals: Arrivals<3> = Arrivals::default();
        for (queue, time, number) in [(2, 5, 1), (1, 5, 2), (1, 6, 3), (0, 9, 4), (1, 7, 5)] {
            arrivals.push(queue, Nanos(time), number);
        }
        let served: Vec<(u64, u32)> = std::iter::from_fn(|| {
            let time = arrivals.next();
            let queue = (0..3).find(|queue| arrivals.is_next(*queue))?;
            (time != Nanos::NEVER).then(|| (time.0, arrivals.pop(queue)))
        })
        .collect();
        assert_eq!(served, [(5, 2), (5, 1), (6, 3), (7, 5), (9, 4)]);
        arrivals.push(1, Nanos(3), 6);
        arrivals.push(1, Nanos(4), 7);
        arrivals.clear(1);
        assert_eq!(arrivals.next(), Nanos::NEVER);
    }

    /// A queue of one entry at most has the one that was set last.
    #[test]
    fn what_is_set_last_stands() {
        let mut arrivals: Arrivals<2> = Arrivals::default();
        arrivals.push(0, Nanos(5), 1);
        [9, 3].iter().for_each(|time| arrivals.set(1, Nanos(*time), 2));
        arrivals.bring_forward(1, Nanos(4));
        assert_eq!((arrivals.next(), arrivals.is_next(0), arrivals.pop(1)), (Nanos(3), false, 2));
        [9, 7].iter().for_each(|time| arrivals.bring_forward(1, Nanos(*time)));
        assert_eq!((arrivals.next(), arrivals.pop(0), arrivals.next()), (Nanos(5), 1, Nanos(7)));
        arrivals.push(0, Nanos(5), 1);
        arrivals.set(1, Nanos::NEVER, 0);
        assert_eq!((arrivals.pop(0), arrivals.next()), (1, Nanos::NEVER));
    }
}
