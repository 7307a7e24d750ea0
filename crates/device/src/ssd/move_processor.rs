//! The processor of the controller that moves go through: it looks up, checks and books each unit that collection moves.
//!
//! ```text
//!   all dies together move at most 1 / controller.move_unit_us units a second
//!   writes of the host ≤ 1 / (c · controller.move_unit_us)            c moves a write
//! ```
//! A move takes its turn when its sources have been read, and its program begins when both the channel and this
//! processor are done with it. Its die serves reads until then. So many dies and a slow processor collect no faster
//! than the processor: beyond some size, drives of one controller write equally fast. Commands of the host have a
//! processor of their own (`link`).
//! Left out: moves that are prepared ahead, several processors, work of the processor besides moves.

use crate::config::DriveConfig;
use crate::sim::timeline::Timeline;
use crate::units::Nanos;

/// One for all dies.
#[derive(Clone, Debug, Default)]
pub struct MoveProcessor {
    unit: Nanos,
    turns: Timeline,
    /// When the processor is done with the move of a die whose program has not begun, by die.
    done: Vec<Option<Nanos>>,
}

impl MoveProcessor {
    /// That of a drive of so many dies, at rest.
    pub fn new(config: &DriveConfig, dies: usize) -> MoveProcessor {
        MoveProcessor { unit: config.controller.move_unit_us.0, turns: Timeline::default(), done: vec![None; dies] }
    }

    /// Moves take no time of it.
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        self.unit == Nanos::ZERO
    }

    /// A die moves so many units from `now` on, or when their turn comes.
    pub fn take(&mut self, die: usize, now: Nanos, units: u32) {
        if units > 0 && !self.is_free() {
            self.done[die] = Some(self.turns.reserve(now, Nanos(self.unit.0 * u64::from(units))));
        }
    }

    /// When the processor is done with the move that a die has not begun to program; none where there is no such move.
    pub fn done_with(&self, die: usize) -> Option<Nanos> {
        self.done[die]
    }

    /// A die begins to program what it moves.
    pub fn let_go(&mut self, die: usize) {
        self.done[die] = None;
    }

    /// No move is under way.
    pub fn clear(&mut self) {
        self.done.fill(None);
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn processor(unit: u64) -> MoveProcessor {
        MoveProcessor { unit: Nanos(unit), turns: Timeline::default(), done: vec![None; 3] }
    }

    /// By hand: two moves of 4 and 1 units at 20 µs a unit, both at 100 µs, are done at 180 and 200 µs.
    #[test]
    fn moves_take_turns() {
        let mut processor = processor(20_000);
        processor.take(2, Nanos(100_000), 4);
        processor.take(0, Nanos(100_000), 1);
        assert_eq!([0, 1, 2].map(|die| processor.done_with(die)), [Some(Nanos(200_000)), None, Some(Nanos(180_000))]);
        processor.let_go(2);
        processor.take(1, Nanos(500_000), 1);
        assert_eq!([1, 2].map(|die| processor.done_with(die)), [Some(Nanos(520_000)), None]);
        processor.clear();
        assert_eq!(processor.done_with(0), None);
    }

    /// Where moves cost nothing, or nothing is left to be moved, none waits.
    #[test]
    fn what_costs_nothing_does_not_wait() {
        let (mut free, mut slow) = (processor(0), processor(20_000));
        free.take(0, Nanos(100), 9);
        slow.take(0, Nanos(100), 0);
        assert!(free.is_free() && !slow.is_free());
        assert_eq!((free.done_with(0), slow.done_with(0)), (None, None));
    }
}
