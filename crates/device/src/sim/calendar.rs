//! What happens next: a fixed number of slots, each with at most one time, in a tournament tree.
//!
//! A die, a queue of arrivals, a timer has one next event at most, so an event is a slot and not an
//! object: scheduling writes log₈(slots) nodes without a branch to mispredict or memory to allocate.
//! Equal times are served in the order of slot numbers, the same on every machine.
//!
//! A node is (time − origin) << slot_bits | slot, so that one comparison decides. The origin moves on
//! with time: 2⁵³ ns, 104 days, lie between the first and the last pending event at most with 2048
//! slots, 9 years with 64, and virtual time ends where `u64` does, after 584 years.

use crate::units::Nanos;

/// Slots of a group, of which one wins: a group fills a cache line.
const GROUP: usize = 8;

/// The smallest of a group, as a knockout: three comparisons deep, and without a branch.
#[inline]
fn earliest(group: &[u64; GROUP]) -> u64 {
    let [a, b, c, d, e, f, g, h] = *group;
    (a.min(b).min(c.min(d))).min(e.min(f).min(g.min(h)))
}

/// The next event of each slot, and the earliest of all.
#[derive(Clone, Debug)]
pub struct Calendar {
    slots: usize,
    slot_bits: u32,
    /// Time of the nodes' zero.
    origin: u64,
    /// Group 0 decides among the winners of groups 1 to 8, group 1 among those of groups 9 to 16, and
    /// so on; the last level holds the slots.
    groups: Vec<[u64; GROUP]>,
    /// Where the last level begins.
    first_leaf: usize,
    /// Winner of group 0, as time and slot.
    next: (Nanos, usize),
}

impl Calendar {
    /// A calendar in which nothing happens.
    pub fn new(slots: usize) -> Calendar {
        let (mut first_leaf, mut leaves) = (0, 1);
        while leaves * GROUP < slots {
            (first_leaf, leaves) = (first_leaf + leaves, leaves * GROUP);
        }
        let mut calendar = Calendar {
            slots,
            slot_bits: slots.next_power_of_two().trailing_zeros().max(1),
            origin: 0,
            groups: vec![[u64::MAX; GROUP]; first_leaf + leaves],
            first_leaf,
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
        let (mut number, mut place) = (self.first_leaf + slot / GROUP, slot % GROUP);
        loop {
            let group = &mut self.groups[number];
            group[place] = winner;
            winner = earliest(group);
            if number == 0 {
                break;
            }
            (number, place) = ((number - 1) / GROUP, (number - 1) % GROUP);
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
        self.time(self.groups[self.first_leaf + slot / GROUP][slot % GROUP])
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
