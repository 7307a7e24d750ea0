//! What happens next: a fixed number of slots, each with at most one time, in a tournament tree.
//!
//! A die, a queue of arrivals, a timer has one next event at most, so an event is a slot and not an
//! object: scheduling writes log₂(slots) nodes without a branch to mispredict or memory to allocate.
//! Equal times are served in the order of slot numbers, the same on every machine.
//!
//! A node is (time − origin) << slot_bits | slot, so that one comparison decides. The origin moves on
//! with time: 2⁵³ ns, 104 days, lie between the first and the last pending event at most with 2048
//! slots, 9 years with 64, and virtual time ends where `u64` does, after 584 years.

use crate::units::Nanos;

/// Slots at most: a drive has 1024 dies at most.
const MOST_SLOTS: usize = 2048;
/// Levels of the tree at least.
const LEAST_LEVELS: u32 = 5;

/// The next event of each slot, and the earliest of all.
#[derive(Clone, Debug)]
pub struct Calendar {
    slots: usize,
    slot_bits: u32,
    /// Time of the nodes' zero.
    origin: u64,
    /// Number of the first slot's node.
    leaves: usize,
    /// Node n is the earlier of nodes 2n and 2n + 1, node 1 the earliest of all. Always as long as for
    /// the most slots, which spares the check of each index.
    nodes: Box<[u64; 2 * MOST_SLOTS]>,
    /// Node 1, as time and slot.
    next: (Nanos, usize),
}

impl Calendar {
    /// A calendar in which nothing happens.
    pub fn new(slots: usize) -> Calendar {
        assert!(slots <= MOST_SLOTS, "{slots} slots are more than {MOST_SLOTS}");
        let leaves = slots.next_power_of_two().max(1 << LEAST_LEVELS);
        let mut calendar = Calendar {
            slots,
            slot_bits: leaves.trailing_zeros(),
            origin: 0,
            leaves,
            nodes: Box::new([u64::MAX; 2 * MOST_SLOTS]),
            next: (Nanos::NEVER, 0),
        };
        (0..slots).for_each(|slot| calendar.schedule(slot, Nanos::NEVER));
        calendar
    }

    /// The distance from the origin that stands for never.
    #[inline]
    fn never(&self) -> u64 {
        u64::MAX >> self.slot_bits
    }

    /// Sets the time of a slot's event; [`Nanos::NEVER`] takes it back.
    #[inline]
    pub fn schedule(&mut self, slot: usize, time: Nanos) {
        let ahead = time.0.wrapping_sub(self.origin);
        if ahead >= self.never() && time != Nanos::NEVER {
            return self.move_origin(slot, time);
        }
        let mut winner = ahead.min(self.never()) << self.slot_bits | slot as u64;
        let mut number = (self.leaves + slot) % self.nodes.len();
        self.nodes[number] = winner;
        let mut climb = || {
            winner = winner.min(self.nodes[number ^ 1]);
            number /= 2;
            self.nodes[number] = winner;
            number
        };
        // As many levels as every calendar has without asking for the end at each.
        (0..LEAST_LEVELS).for_each(|_| _ = climb());
        if self.leaves > 1 << LEAST_LEVELS {
            while climb() > 1 {}
        }
        self.next = (self.time(winner), winner as usize & ((1 << self.slot_bits) - 1));
    }

    /// Schedules an event that lies too far from the origin, which moves to the first that is pending.
    #[cold]
    fn move_origin(&mut self, slot: usize, time: Nanos) {
        let mut times: Vec<Nanos> = (0..self.slots).map(|slot| self.time_of(slot)).collect();
        times[slot] = time;
        let pending = || times.iter().filter(|time| **time != Nanos::NEVER).map(|time| time.0);
        let (first, last) = (pending().min().unwrap_or(0), pending().max().unwrap_or(0));
        assert!(last - first < self.never(), "pending events lie {} ns apart", last - first);
        self.origin = first;
        times.iter().enumerate().for_each(|(slot, time)| self.schedule(slot, *time));
    }

    /// The earliest event: its time, [`Nanos::NEVER`] if there is none, and its slot.
    #[inline]
    pub fn next(&self) -> (Nanos, usize) {
        self.next
    }

    /// The time of a slot's event.
    pub fn time_of(&self, slot: usize) -> Nanos {
        self.time(self.nodes[self.leaves + slot])
    }

    #[inline]
    fn time(&self, node: u64) -> Nanos {
        let ahead = node >> self.slot_bits;
        if ahead == self.never() { Nanos::NEVER } else { Nanos(self.origin + ahead) }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    /// The earliest of plain times, the lowest slot of equals.
    fn search(plain: &[u64]) -> (Nanos, usize) {
        let (slot, time) = plain.iter().enumerate().min_by_key(|(slot, time)| (**time, *slot)).unwrap();
        (Nanos(*time), slot)
    }

    proptest! {
        /// After any sequence of schedulings the calendar names the earliest slot, the lowest of equals,
        /// whatever the number of levels; `u64::MAX` takes an event back.
        #[test]
        fn names_the_earliest(
            slots in prop_oneof![1usize..20, Just(64), Just(65), Just(600)],
            changes in prop::collection::vec((0usize..600, prop_oneof![0u64..50, Just(u64::MAX)]), 1..200),
        ) {
            let mut calendar = Calendar::new(slots);
            let mut plain = vec![u64::MAX; slots];
            for (slot, time) in changes {
                let slot = slot % slots;
                calendar.schedule(slot, Nanos(time));
                plain[slot] = time;
                prop_assert_eq!(calendar.next(), search(&plain));
                prop_assert_eq!(calendar.time_of(slot), Nanos(time));
            }
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Time does not run out: with as many slots as the largest drive has, events weeks apart are
        /// still served in their order after more than a century.
        #[test]
        fn goes_on_for_centuries(weeks in prop::collection::vec(3u64..8, 1..20)) {
            let (week, used) = (7 * 86_400_000_000_000, 3);
            let mut calendar = Calendar::new(1028);
            let mut plain = vec![0; used];
            (0..used).for_each(|slot| calendar.schedule(slot, Nanos(0)));
            // Three slots move on by three weeks or more in turn: 8000 times are 153 years at least.
            for ahead in weeks.iter().cycle().take(8_000) {
                let (now, slot) = calendar.next();
                prop_assert_eq!((now, slot), search(&plain));
                plain[slot] += ahead * week;
                calendar.schedule(slot, Nanos(plain[slot]));
            }
            prop_assert!(calendar.next().0 > Nanos(100 * 365 * 86_400_000_000_000));
        }
    }
}
