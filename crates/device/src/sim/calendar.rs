//! What happens next: a fixed number of slots, each with at most one event, in a tournament tree.
//!
//! A die, a queue of arrivals, a timer has one next event at most, so an event is a slot and not an
//! object: scheduling writes log₂(slots) nodes without a branch to mispredict or memory to allocate.
//! Equal times are served in the order of slot numbers, the same on every machine.
//!
//! A node is (time − origin) << 15 | slot << 4 | kind, so that one comparison decides, and the winner
//! alone tells what to do. The origin moves on with time: 2⁴⁹ ns, 6 days, lie between the first and the
//! last pending event at most, and virtual time ends where `u64` does, after 584 years.

use crate::units::Nanos;

const KIND_BITS: u32 = 4;
const SLOT_BITS: u32 = 11;
const TIME_SHIFT: u32 = SLOT_BITS + KIND_BITS;
/// Slots at most: a drive has 1024 dies at most.
const MOST_SLOTS: usize = 1 << SLOT_BITS;
/// Levels of the tree at least.
const LEAST_LEVELS: u32 = 3;
/// The node of no event, later than all.
const NOTHING: u64 = u64::MAX;
/// The distance from the origin that no event can have.
const TOO_FAR: u64 = NOTHING >> TIME_SHIFT;

/// The next event of each slot, and the earliest of all.
#[derive(Clone, Debug)]
pub struct Calendar {
    slots: usize,
    /// Time of the nodes' zero.
    origin: u64,
    /// Number of the first slot's node.
    leaves: usize,
    /// Node n is the earlier of nodes 2n and 2n + 1, node 1 the earliest of all. Always as long as for
    /// the most slots, which spares the check of each index.
    nodes: Box<[u64; 2 * MOST_SLOTS]>,
    /// The time of node 1.
    first: Nanos,
}

/// An event, by the numbers under which it was scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Whose.
    pub slot: usize,
    /// Which.
    pub kind: u8,
}

impl Calendar {
    /// A calendar in which nothing happens.
    pub fn new(slots: usize) -> Calendar {
        assert!(slots <= MOST_SLOTS, "{slots} slots are more than {MOST_SLOTS}");
        let leaves = slots.next_power_of_two().max(1 << LEAST_LEVELS);
        Calendar { slots, origin: 0, leaves, nodes: Box::new([NOTHING; 2 * MOST_SLOTS]), first: Nanos::NEVER }
    }

    /// Sets the time, which is not [`Nanos::NEVER`], of a slot's event, and its kind, below 16.
    #[inline(always)]
    pub fn schedule(&mut self, time: Nanos, event: Event) {
        debug_assert!(event.kind < 1 << KIND_BITS && time != Nanos::NEVER);
        let ahead = time.0.wrapping_sub(self.origin);
        if ahead >= TOO_FAR {
            return self.schedule_far(time, event);
        }
        let low = (event.slot as u64) << KIND_BITS | u64::from(event.kind);
        self.set(event.slot, ahead << TIME_SHIFT | low);
    }

    /// A slot has no event any more.
    #[inline]
    pub fn take_back(&mut self, slot: usize) {
        self.set(slot, NOTHING);
    }

    #[inline(always)]
    fn set(&mut self, slot: usize, node: u64) {
        let mut at = ((self.leaves + slot) % self.nodes.len(), node);
        self.nodes[at.0] = node;
        // As many levels as every calendar has without asking for the end at each.
        for _ in 0..LEAST_LEVELS {
            at = self.climb(at);
        }
        while at.0 > 1 {
            at = self.climb(at);
        }
        self.first = self.time(at.1);
    }

    /// From the winner of a node to that of the node above.
    #[inline(always)]
    fn climb(&mut self, (number, winner): (usize, u64)) -> (usize, u64) {
        let (above, winner) = (number / 2, winner.min(self.nodes[number ^ 1]));
        self.nodes[above] = winner;
        (above, winner)
    }

    /// Schedules an event that lies too far from the origin, which moves to the first that is pending.
    #[cold]
    fn schedule_far(&mut self, time: Nanos, event: Event) {
        self.take_back(event.slot);
        let mut pending = vec![(time, event)];
        let nodes = &self.nodes[self.leaves..self.leaves + self.slots];
        pending.extend(nodes.iter().map(|node| (self.time(*node), event_of(*node))));
        pending.retain(|(time, _)| *time != Nanos::NEVER);
        let times = || pending.iter().map(|(time, _)| time.0);
        let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        assert!(last - first < TOO_FAR, "pending events lie {} ns apart", last - first);
        self.origin = first;
        pending.iter().for_each(|(time, event)| self.schedule(*time, *event));
    }

    /// The time of the earliest event, [`Nanos::NEVER`] if there is none.
    #[inline(always)]
    pub fn first_time(&self) -> Nanos {
        self.first
    }

    /// The earliest event, where there is one.
    #[inline(always)]
    pub fn first(&self) -> Event {
        event_of(self.nodes[1])
    }

    /// The time of a slot's event, [`Nanos::NEVER`] if there is none.
    pub fn time_of(&self, slot: usize) -> Nanos {
        self.time(self.nodes[self.leaves + slot])
    }

    #[inline(always)]
    fn time(&self, node: u64) -> Nanos {
        if node == NOTHING { Nanos::NEVER } else { Nanos(self.origin + (node >> TIME_SHIFT)) }
    }
}

#[inline(always)]
fn event_of(node: u64) -> Event {
    Event { slot: node as usize >> KIND_BITS & (MOST_SLOTS - 1), kind: node as u8 & ((1 << KIND_BITS) - 1) }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    /// The earliest of plain times, the lowest slot of equals, if one of them is ever.
    fn search(plain: &[u64]) -> Option<(Nanos, usize)> {
        let pending = plain.iter().enumerate().filter(|(_, time)| **time != u64::MAX);
        pending.min_by_key(|(slot, time)| (**time, *slot)).map(|(slot, time)| (Nanos(*time), slot))
    }

    fn next_of(calendar: &Calendar) -> Option<(Nanos, usize)> {
        let (time, event) = (calendar.first_time(), calendar.first());
        (time != Nanos::NEVER).then(|| {
            assert_eq!(event.kind, (event.slot % 16) as u8, "the kind comes back");
            (time, event.slot)
        })
    }

    fn schedule(calendar: &mut Calendar, slot: usize, time: u64) {
        calendar.schedule(Nanos(time), Event { slot, kind: (slot % 16) as u8 });
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
                match time {
                    u64::MAX => calendar.take_back(slot),
                    _ => schedule(&mut calendar, slot, time),
                }
                plain[slot] = time;
                prop_assert_eq!(next_of(&calendar), search(&plain));
                prop_assert_eq!(calendar.time_of(slot), Nanos(time));
            }
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Time does not run out: with as many slots as the largest drive has, events days apart are
        /// still served in their order after more than a century.
        #[test]
        fn goes_on_for_centuries(days in prop::collection::vec(2u64..4, 1..20)) {
            let (day, used) = (86_400_000_000_000, 3);
            let mut calendar = Calendar::new(1028);
            let mut plain = vec![0; used];
            (0..used).for_each(|slot| schedule(&mut calendar, slot, 0));
            // Three slots move on by two days or more in turn: 60,000 times are 109 years at least.
            for ahead in days.iter().cycle().take(60_000) {
                let (now, slot) = next_of(&calendar).unwrap();
                prop_assert_eq!(Some((now, slot)), search(&plain));
                plain[slot] += ahead * day;
                schedule(&mut calendar, slot, plain[slot]);
            }
            prop_assert!(calendar.first_time() > Nanos(100 * 365 * 86_400_000_000_000));
        }
    }
}
