//! Which block is collected: the public trait and the policies that come along.
//!
//! | policy | victim | write amplification, uniform random writes |
//! |---|---|---|
//! | greedy | fewest valid units | closed form with harmonic numbers |
//! | FIFO | sealed longest ago | 1 / (1 + ρ·W₀(−e^(−1/ρ)/ρ)) |
//! | random | any sealed block | 1 / (1 − ρ) |
//! | d-choices | best of d drawn at random | marching solution |
//! | cost-benefit | greatest (1−u)·age/(1+u) | none known |
//!
//! A policy is asked once per collected block, not per page. It sees the sealed blocks of one pool
//! (a die, or the whole drive with superblocks) through [`Candidates`]. `Ftl::choose` (`reclaim/choice.rs`) asks it,
//! behind what is failing, folded or levelled, and takes another block where the one named does not fit.

use crate::config::ftl::GcPolicy;
use crate::ftl::invalidations::Invalidations;
pub use crate::ftl::pool::Order;
use crate::ftl::pool::{Group, GroupTable};
use crate::ftl::streams::Streams;
use crate::nand::array::Array;
use crate::sim::random::Stream;
use crate::units::BlockId;
use ssdlab_policy::{RawBlocks, Unit, VERSION};

/// The sealed blocks (or superblocks) of one pool.
pub struct Candidates<'a> {
    pub(super) groups: &'a GroupTable,
    pub(super) pool: usize,
    pub(super) array: &'a Array,
    /// Blocks of a group.
    pub(super) width: u32,
    pub(super) invalidations: &'a Invalidations,
    pub(super) streams: &'a Streams,
}

impl Candidates<'_> {
    /// How many there are.
    pub fn len(&self) -> u32 {
        self.groups.sealed(self.pool).len() as u32
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The candidate number `index`, in no particular order.
    pub fn at(&self, index: u32) -> Group {
        self.groups.sealed(self.pool)[index as usize]
    }

    /// All candidates, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Group> + '_ {
        self.groups.sealed(self.pool).iter().copied()
    }

    /// Valid units of a candidate.
    pub fn valid(&self, group: Group) -> u32 {
        self.groups.valid(group)
    }

    /// Units that a candidate can hold.
    pub fn capacity(&self) -> u32 {
        self.groups.capacity()
    }

    /// Blocks sealed in this drive since the candidate was.
    pub fn age(&self, group: Group) -> u64 {
        self.groups.age(group)
    }

    /// The candidate with the fewest valid units, of equals in turn.
    pub fn fewest_valid(&self) -> Option<Group> {
        self.groups.fewest_valid(self.pool)
    }

    /// The candidate sealed longest ago. Needs [`Order::ByAge`].
    pub fn oldest(&self) -> Option<Group> {
        self.groups.oldest(self.pool)
    }

    /// Erases of a group so far; of a superblock, those of its first block.
    pub fn erases(&self, group: Group) -> u32 {
        self.array.erases(BlockId(group.0 * self.width))
    }

    /// The pool as foreign policies see it, for as long as it is borrowed.
    pub(super) fn raw(&self, random: u64) -> RawBlocks {
        let (pool, pools) = (self.pool as u32, self.groups.pools() as u32);
        let pool_of_counters = self.groups.laid_out(self.pool);
        let invalidated_at = self.invalidations.times().get(self.pool..);
        let (erases, erases_stride) = self.array.erases_by_step(BlockId(pool * self.width), pools * self.width);
        RawBlocks {
            version: VERSION,
            count: pool_of_counters.valid.len() as u32,
            capacity: self.groups.capacity(),
            turn: pool_of_counters.turn,
            pool,
            pools,
            valid: pool_of_counters.valid.as_ptr(),
            sealed_at: pool_of_counters.sealed_at.as_ptr(),
            sealed_at_stride: u64::from(pools) * size_of::<u64>() as u64,
            erases,
            erases_stride,
            sealings: pool_of_counters.sealings,
            random,
            invalidated_at: invalidated_at.map_or(std::ptr::null(), <[u64]>::as_ptr),
            invalidated_at_stride: u64::from(pools) * size_of::<u64>() as u64,
            written: self.invalidations.written(),
            stream: self.streams.of_groups().get(self.pool..).map_or(std::ptr::null(), <[u8]>::as_ptr),
            stream_stride: u64::from(pools),
        }
    }

    /// The group of the pool with that number.
    pub(super) fn group(&self, number: u32) -> Group {
        Group(number * self.groups.pools() as u32 + self.pool as u32)
    }

    /// The number of a group within its pool.
    pub(super) fn number(&self, group: Group) -> u32 {
        group.0 / self.groups.pools() as u32
    }

    /// The pool's free groups, the one freed first before the others.
    pub(super) fn free(&self) -> impl Iterator<Item = Group> + '_ {
        self.groups.free_groups(self.pool)
    }

    /// What a group is instead of a candidate.
    pub(super) fn state(&self, group: Group) -> Option<&'static str> {
        if self.groups.is_sealed(group) {
            return None;
        }
        let is_free = self.free().any(|free| free == group);
        Some(if is_free { "free" } else { "open, being collected or bad" })
    }
}

/// What a policy says of static wear levelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leveling {
    /// Nothing: the drive's own rule holds.
    BuiltIn,
    /// No data are to be moved.
    Nothing,
    /// The data of this group are to be moved.
    Move(Group),
}

/// Chooses what garbage collection reclaims next; one of the user's own may choose more.
pub trait VictimPolicy: Send {
    /// The order in which candidates are to be kept.
    fn order(&self) -> Order {
        Order::ByAge
    }

    /// The next victim; `None` only if there are no candidates.
    fn pick(&mut self, candidates: &Candidates<'_>, random: &mut Stream) -> Option<Group>;

    /// Times of invalidation are to be noted.
    fn sees_invalidations(&self) -> bool {
        false
    }

    /// The free group to be opened next, of at least one, for cold data where `is_cold`; `None` leaves it to the drive.
    fn open(&mut self, _candidates: &Candidates<'_>, _is_cold: bool, _random: &mut Stream) -> Option<Group> {
        None
    }

    /// Whose data static wear levelling moves.
    fn level(&mut self, _candidates: &Candidates<'_>, _random: &mut Stream) -> Leveling {
        Leveling::BuiltIn
    }

    /// Streams that it keeps apart.
    fn streams(&self) -> u32 {
        1
    }

    /// The stream of a unit, below [`VictimPolicy::streams`].
    fn stream(&mut self, _unit: &Unit) -> u32 {
        0
    }

    /// What was wrong with an answer: the run is an error.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// The same once more, where it can be had: of a policy whose state lies elsewhere it cannot.
    fn copy(&self) -> Option<Box<dyn VictimPolicy>> {
        None
    }
}

impl GcPolicy {
    /// The policy of that name, where it comes along.
    pub fn built_in(&self) -> Option<Box<dyn VictimPolicy>> {
        Some(match self {
            GcPolicy::Greedy => Box::new(Greedy),
            GcPolicy::Fifo => Box::new(Fifo),
            GcPolicy::Random => Box::new(DChoices(1)),
            GcPolicy::DChoices(choices) => Box::new(DChoices(*choices)),
            GcPolicy::CostBenefit => Box::new(CostBenefit),
            GcPolicy::Library(_) | GcPolicy::Function(_) => return None,
        })
    }
}

/// Fewest valid units first.
struct Greedy;

impl VictimPolicy for Greedy {
    fn copy(&self) -> Option<Box<dyn VictimPolicy>> {
        Some(Box::new(Greedy))
    }

    fn order(&self) -> Order {
        Order::ByValid
    }

    fn pick(&mut self, candidates: &Candidates<'_>, _: &mut Stream) -> Option<Group> {
        candidates.fewest_valid()
    }
}

/// Sealed longest ago first.
struct Fifo;

impl VictimPolicy for Fifo {
    fn copy(&self) -> Option<Box<dyn VictimPolicy>> {
        Some(Box::new(Fifo))
    }

    fn pick(&mut self, candidates: &Candidates<'_>, _: &mut Stream) -> Option<Group> {
        candidates.oldest()
    }
}

/// The best of so many drawn at random, with replacement; one draw is the random policy.
struct DChoices(u32);

impl VictimPolicy for DChoices {
    fn copy(&self) -> Option<Box<dyn VictimPolicy>> {
        Some(Box::new(DChoices(self.0)))
    }

    fn pick(&mut self, candidates: &Candidates<'_>, random: &mut Stream) -> Option<Group> {
        (!candidates.is_empty()).then_some(())?;
        (0..self.0).map(|_| candidates.at(random.below(candidates.len()))).min_by_key(|group| candidates.valid(*group))
    }
}

/// Greatest benefit for its cost: (1 − u)·age / (1 + u) (Rosenblum and Ousterhout 1992, with the
/// read of the victim left at 1 and its age counted in blocks sealed since).
struct CostBenefit;

impl VictimPolicy for CostBenefit {
    fn copy(&self) -> Option<Box<dyn VictimPolicy>> {
        Some(Box::new(CostBenefit))
    }

    fn pick(&mut self, candidates: &Candidates<'_>, _: &mut Stream) -> Option<Group> {
        most_worth(candidates.groups, candidates.pool)
    }
}

/// The value of a group that is a share `u` full, at that age.
fn worth(valid: u32, capacity: u32, age: u64) -> f64 {
    let share = f64::from(valid) / f64::from(capacity);
    (1.0 - share) * age as f64 / (1.0 + share)
}

/// The group of greatest value, of equals the last of [`GroupTable::sealed`].
///
/// No group is older than the oldest. So one of which that would be the age, and whose value were still below
/// that of a group at hand, need not be looked at: (1−u)·a/(1+u) ≥ w where u ≤ (a−w)/(a+w).
fn most_worth(groups: &GroupTable, pool: usize) -> Option<Group> {
    let capacity = groups.capacity();
    let value = |group: Group| worth(groups.valid(group), capacity, groups.age(group));
    let (oldest, emptiest) = (groups.oldest(pool)?, groups.fewest_valid(pool)?);
    let (at_hand, most_age) = (value(oldest).max(value(emptiest)), groups.age(oldest) as f64);
    let share = if most_age > 0.0 { (most_age - at_hand) / (most_age + at_hand) } else { 1.0 };
    // Rounded up by one for what the two divisions round.
    let most_valid = (f64::from(capacity) * share) as u32 + 1;
    let found = groups.sealed_with_at_most(pool, most_valid);
    let valued = found.map(|group| (value(group), groups.sealed_place(group), group));
    valued.max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))).map(|(_, _, group)| group)
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As a plain search over all groups finds it, whatever was written, sealed and collected.
        #[test]
        fn the_group_of_greatest_value_is_found(steps in prop::collection::vec((0u8..4, 0u32..1000), 1..600)) {
            let (pool, capacity) = (1, 24);
            let mut table = GroupTable::new(40, 2, capacity, Order::ByAge);
            (0..40).for_each(|group| table.release(Group(group)));
            for (step, draw) in steps {
                let sealed = table.sealed(pool);
                let some = sealed.get(draw as usize % sealed.len().max(1)).copied();
                match (step, some) {
                    (0, _) => if let Some(group) = table.open(pool, None) {
                        table.add_valid(group, draw % (capacity + 1));
                        table.seal(group);
                    },
                    (1 | 2, Some(group)) if table.valid(group) > 0 => table.remove_valid(group),
                    (3, Some(_)) => {
                        let victim = most_worth(&table, pool).expect("there are candidates");
                        table.collect(victim);
                        (0..table.valid(victim)).for_each(|_| table.remove_valid(victim));
                        table.release(victim);
                    }
                    _ => {}
                }
                let value = |group: Group| worth(table.valid(group), capacity, table.age(group));
                let plain = table.sealed(pool).iter().copied().max_by(|a, b| value(*a).total_cmp(&value(*b)));
                prop_assert_eq!(most_worth(&table, pool), plain);
            }
        }
    }
}
