//! What happens next: a fixed number of slots, each with at most one time, in a tournament tree.
//!
//! A die, a queue of arrivals, a timer has one next event at most, so an event is a slot and not an
//! object: scheduling writes log₂(slots) nodes without a branch to mispredict or memory to allocate.
//! Equal times are served in the order of slot numbers, the same on every machine.

use crate::units::Nanos;

/// The next event of each slot, and the earliest of all.
#[derive(Clone, Debug)]
pub struct Calendar {
    leaves: usize,
    slot_bits: u32,
    /// Node 1 is the root, node `leaves + slot` a leaf; a node is time << slot_bits | slot, so that
    /// one comparison decides and no branch is taken.
    nodes: Vec<u64>,
}

impl Calendar {
    /// A calendar in which nothing happens.
    pub fn new(slots: usize) -> Calendar {
        let leaves = slots.next_power_of_two().max(2);
        let mut calendar = Calendar { leaves, slot_bits: leaves.trailing_zeros(), nodes: vec![u64::MAX; 2 * leaves] };
        for slot in 0..leaves {
            calendar.schedule(slot, Nanos::NEVER);
        }
        calendar
    }

    /// The latest time that can be told from never: 9 years with 64 slots, 104 days with 2048.
    fn never(&self) -> u64 {
        u64::MAX >> self.slot_bits
    }

    /// Sets the time of a slot's event; [`Nanos::NEVER`] takes it back.
    ///
    /// # Panics
    /// When virtual time no longer fits beside the slot number.
    #[inline]
    pub fn schedule(&mut self, slot: usize, time: Nanos) {
        assert!(time < Nanos(self.never()) || time == Nanos::NEVER, "virtual time has run out");
        let mut place = self.leaves + slot;
        let mut winner = time.0.min(self.never()) << self.slot_bits | slot as u64;
        self.nodes[place] = winner;
        while place > 1 {
            winner = winner.min(self.nodes[place ^ 1]);
            place >>= 1;
            self.nodes[place] = winner;
        }
    }

    /// The earliest event: its time, [`Nanos::NEVER`] if there is none, and its slot.
    #[inline]
    pub fn next(&self) -> (Nanos, usize) {
        (self.time(self.nodes[1]), self.nodes[1] as usize & (self.leaves - 1))
    }

    /// The time of a slot's event.
    pub fn time_of(&self, slot: usize) -> Nanos {
        self.time(self.nodes[self.leaves + slot])
    }

    #[inline]
    fn time(&self, node: u64) -> Nanos {
        let time = node >> self.slot_bits;
        if time == self.never() { Nanos::NEVER } else { Nanos(time) }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// After any sequence of schedulings the calendar names the earliest slot, the lowest of equals.
        #[test]
        fn names_the_earliest(changes in prop::collection::vec((0usize..13, 0u64..50), 1..200)) {
            let mut calendar = Calendar::new(13);
            let mut plain = [u64::MAX; 13];
            for (slot, time) in changes {
                calendar.schedule(slot, Nanos(time));
                plain[slot] = time;
                let (expected_slot, expected) = plain.iter().enumerate().min_by_key(|(slot, time)| (**time, *slot)).unwrap();
                prop_assert_eq!(calendar.next(), (Nanos(*expected), expected_slot));
            }
        }
    }
}
