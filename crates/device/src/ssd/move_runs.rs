//! Runs of moves: a job's next moves, which are known beforehand and are carried out when something depends on them.
//!
//! As long as the host leaves a victim's units alone, each move follows the one before: the channel, tPROG, and tR of
//! the next unit. Other dies meet it on the channel alone. So a run has no event for each move: it is brought up to
//! date, move by move in order of time with the other runs of its channel, before anything else takes the channel,
//! touches a unit of the victim, or reads a counter.
//!
//! Bringing a run up to date carries on its times alone: when moves begin, and for how long they have the channel. What
//! they do to the map is done for many at once, before anything could see it.
//!
//! This part knows where each run is. That nothing overtakes a run is for the steps (`ssd/catch_up.rs`) to see to.

use crate::units::{BlockId, Nanos};

/// Moves of one die that are to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Whose.
    pub die: u32,
    /// The block that they empty.
    pub victim: BlockId,
    /// Moves that begin before the run ends.
    pub left: u32,
    /// Moves that have begun, of which only the times are known so far.
    pub begun: u32,
    /// When the last of them began.
    pub began: Nanos,
    /// When the next one begins: the one before has ended, and its unit is sensed.
    pub next: Nanos,
}

impl Run {
    /// So many moves, of which none has begun.
    pub fn new(die: u32, victim: BlockId, left: u32, next: Nanos) -> Run {
        Run { die, victim, left, begun: 0, began: Nanos::ZERO, next }
    }

    /// Its next move has begun; the one behind it begins at `next`.
    #[inline(always)]
    fn begin_move(&mut self, next: Nanos) {
        self.left -= 1;
        self.begun += 1;
        (self.began, self.next) = (self.next, next);
    }

    /// The run with the moves that have begun, if there are any; they are done by this.
    fn take_begun(&mut self) -> Option<Run> {
        let run = *self;
        self.begun = 0;
        (run.begun > 0).then_some(run)
    }

    #[inline(always)]
    fn comes_before(&self, other: &Run) -> bool {
        self.next < other.next || self.next == other.next && self.die < other.die
    }
}

/// The runs of a channel in the order in which their next moves begin, of dies at equal times: a ring. A run that has
/// moved mostly goes behind all others, and then nothing else has to move.
#[derive(Clone, Debug, Default)]
struct Ring {
    runs: Vec<Run>,
    /// Where the first one stands.
    head: usize,
}

impl Ring {
    /// The runs in order, to be changed.
    fn in_order(&mut self) -> &mut Vec<Run> {
        self.runs.rotate_left(self.head);
        self.head = 0;
        &mut self.runs
    }

    fn insert(&mut self, run: Run) {
        let runs = self.in_order();
        let place = runs.partition_point(|other| other.comes_before(&run));
        runs.insert(place, run);
    }

    fn take(&mut self, die: usize) -> Option<Run> {
        let place = self.runs.iter().position(|run| run.die as usize == die)?;
        let place = (place + self.runs.len() - self.head) % self.runs.len();
        Some(self.in_order().remove(place))
    }
}

/// Moves the run in a place forward, round the ring, to where those before it come before it.
#[cold]
fn make_way(runs: &mut [Run], mut place: usize) {
    for _ in 1..runs.len() {
        let before = if place > 0 { place - 1 } else { runs.len() - 1 };
        if !runs[place].comes_before(&runs[before]) {
            break;
        }
        runs.swap(place, before);
        place = before;
    }
}

/// The runs of all dies, by channel.
#[derive(Clone, Debug)]
pub struct MoveRuns {
    channels: Vec<Ring>,
    /// How many there are.
    count: usize,
    /// The blocks that they empty, a bit each.
    victims: Vec<u64>,
    /// The die whose event is served; [`MoveRuns::LAST`] for what comes behind all dies of the instant.
    turn: usize,
}

impl MoveRuns {
    /// Behind all dies.
    pub const LAST: usize = usize::MAX;

    /// None on so many channels.
    pub fn new(channels: usize) -> MoveRuns {
        MoveRuns { channels: vec![Ring::default(); channels], count: 0, victims: Vec::new(), turn: MoveRuns::LAST }
    }

    /// Some die has a run.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.count > 0
    }

    /// A run empties this block.
    #[inline(always)]
    pub fn empties(&self, block: BlockId) -> bool {
        self.victims.get(block.0 as usize / 64).is_some_and(|bits| bits >> (block.0 % 64) & 1 != 0)
    }

    /// Some die of a channel has a run.
    #[inline(always)]
    pub fn any_on(&self, channel: usize) -> bool {
        !self.channels[channel].runs.is_empty()
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// What is served now, at this instant: the event of a die, or what comes behind all dies.
    #[inline(always)]
    pub fn serve(&mut self, turn: usize) {
        self.turn = turn;
    }

    /// A run begins.
    pub fn begin(&mut self, channel: usize, run: Run) {
        self.count += 1;
        let word = run.victim.0 as usize / 64;
        if self.victims.len() <= word {
            self.victims.resize(word + 1, 0);
        }
        self.victims[word] |= 1 << (run.victim.0 % 64);
        self.channels[channel].insert(run);
    }

    /// Lets the runs of a channel begin the moves that begin before what is served at `now`; `begin` tells when the
    /// move behind a run's next one begins. Ends and gives the first run that is over by this: others may have moves
    /// to begin still.
    #[inline(always)]
    pub fn carry_on(&mut self, channel: usize, now: Nanos, mut begin: impl FnMut(&Run) -> Nanos) -> Option<Run> {
        let turn = self.turn;
        let Ring { runs, head } = &mut self.channels[channel];
        let runs = runs.as_mut_slice();
        let last = if *head > 0 { *head - 1 } else { runs.len().checked_sub(1)? };
        let mut latest = runs[last].next;
        while let Some(run) = runs.get_mut(*head) {
            let is_due = run.next < now || run.next == now && (run.die as usize) < turn;
            if !is_due {
                break;
            }
            let next = begin(run);
            run.begin_move(next);
            if run.left == 0 {
                let die = run.die as usize;
                return self.take(channel, die);
            }
            let place = *head;
            *head = if place + 1 < runs.len() { place + 1 } else { 0 };
            // Mostly it goes behind all others.
            if next > latest {
                latest = next;
            } else {
                make_way(runs, place);
            }
        }
        None
    }

    /// A die's run.
    pub fn get(&self, channel: usize, die: usize) -> Option<Run> {
        self.channels[channel].runs.iter().copied().find(|run| run.die as usize == die)
    }

    /// A die's run in which moves have begun, which are done by this.
    pub fn take_begun(&mut self, channel: usize, die: usize) -> Option<Run> {
        self.channels[channel].runs.iter_mut().find(|run| run.die as usize == die)?.take_begun()
    }

    /// As [`MoveRuns::take_begun`], of the run in a place below [`MoveRuns::count_on`] its channel.
    pub fn take_begun_at(&mut self, channel: usize, place: usize) -> Option<Run> {
        self.channels[channel].runs[place].take_begun()
    }

    /// Runs of a channel.
    pub fn count_on(&self, channel: usize) -> usize {
        self.channels[channel].runs.len()
    }

    /// Ends a die's run, where it has one.
    pub fn take(&mut self, channel: usize, die: usize) -> Option<Run> {
        let run = self.channels[channel].take(die)?;
        self.count -= 1;
        self.victims[run.victim.0 as usize / 64] &= !(1 << (run.victim.0 % 64));
        Some(run)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.channels.fill(Ring::default());
        self.victims.clear();
        self.count = 0;
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    fn run(die: u32, left: u32, next: u64) -> Run {
        Run::new(die, BlockId(70 * die), left, Nanos(next))
    }

    /// The dies whose moves begin before `now`, with when; each next one begins `gap` later.
    fn begun(runs: &mut MoveRuns, now: u64, gap: u64) -> Vec<(u32, u64)> {
        let mut begun = Vec::new();
        let begin = |run: &Run| {
            begun.push((run.die, run.next.0));
            run.next + Nanos(gap)
        };
        assert_eq!(runs.carry_on(0, Nanos(now), begin), None, "no run is over");
        begun
    }

    /// The earliest comes first, of equals the lowest die, and none that comes behind what is served.
    #[test]
    fn what_is_due_comes_in_order() {
        let mut runs = MoveRuns::new(2);
        [run(4, 9, 70), run(2, 9, 50), run(0, 9, 50)].into_iter().for_each(|run| runs.begin(0, run));
        runs.begin(1, run(1, 9, 10));
        runs.serve(0);
        assert_eq!(begun(&mut runs, 50, 100), []);
        runs.serve(1);
        assert_eq!(begun(&mut runs, 50, 10), [(0, 50)], "die 2 comes behind die 1");
        assert_eq!(begun(&mut runs, 100, 100), [(2, 50), (0, 60), (4, 70)]);
        assert_eq!(runs.get(0, 4), Some(Run { begun: 1, began: Nanos(70), ..run(4, 8, 170) }));
    }

    proptest! {
        /// However runs begin, move and are taken, moves begin in the order in which a search finds them.
        #[test]
        fn the_ring_is_in_order(steps in prop::collection::vec((0u32..6, 0u64..40, 1u64..40), 1..200)) {
            let (mut runs, mut plain, mut now) = (MoveRuns::new(1), std::collections::BTreeMap::new(), 0);
            for (die, ahead, gap) in steps {
                if plain.remove(&die).is_some() {
                    prop_assert!(runs.take(0, die as usize).is_some());
                } else {
                    runs.begin(0, run(die, 10_000, now + ahead));
                    plain.insert(die, now + ahead);
                }
                now += ahead;
                let mut wanted = Vec::new();
                while let Some((&die, next)) = plain.iter_mut().min_by_key(|(die, next)| (**next, **die)) {
                    if *next > now {
                        break;
                    }
                    wanted.push((die, *next));
                    *next += gap;
                }
                prop_assert_eq!(begun(&mut runs, now, gap), wanted);
            }
        }
    }

    /// A run ends with its last move, or is taken before; it knows what has begun since its moves were done.
    #[test]
    fn a_run_ends_with_its_last_move() {
        let mut runs = MoveRuns::new(1);
        runs.begin(0, run(3, 2, 50));
        assert_eq!(begun(&mut runs, 55, 10), [(3, 50)]);
        assert_eq!(runs.take_begun(0, 3).map(|run| (run.begun, run.began)), Some((1, Nanos(50))));
        assert_eq!(runs.take_begun(0, 3), None);
        assert!(runs.empties(BlockId(210)) && !runs.empties(BlockId(209)) && !runs.empties(BlockId(u32::MAX)));
        let over = runs.carry_on(0, Nanos(90), |run| run.next + Nanos(10)).expect("that was the last");
        assert_eq!((over.begun, over.began, over.next), (1, Nanos(60), Nanos(70)));
        assert!(!runs.any() && !runs.any_on(0) && !runs.empties(BlockId(210)));
        runs.begin(0, run(5, 7, 50));
        assert_eq!(runs.take(0, 5), Some(run(5, 7, 50)));
        assert_eq!((runs.get(0, 5), runs.any()), (None, false));
    }
}
