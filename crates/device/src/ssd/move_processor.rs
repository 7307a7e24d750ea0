//! The processor of the controller that moves go through: it looks up, checks and books each unit that collection moves.
//!
//! ```text
//!   all dies together move at most 1 / controller.move_unit_us units a second
//!   writes of the host ≤ 1 / (c · controller.move_unit_us)            c moves a write
//! ```
//! A move takes its turn when its sources have been read, and its program begins when both the channel and this
//! processor are done with it. So many dies and a slow processor collect no faster than the processor: beyond some
//! size, drives of one controller write equally fast. Commands of the host have a processor of their own (`link`).
//! Left out: moves that are prepared ahead, several processors, work of the processor besides moves.

use crate::config::DriveConfig;
use crate::sim::timeline::Timeline;
use crate::units::Nanos;

/// One for all dies.
#[derive(Debug, Default)]
pub struct MoveProcessor {
    unit: Nanos,
    turns: Timeline,
}

impl MoveProcessor {
    /// That of a drive, at rest.
    pub fn new(config: &DriveConfig) -> MoveProcessor {
        MoveProcessor { unit: config.controller.move_unit_us.0, turns: Timeline::default() }
    }

    /// Moves take no time of it.
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        self.unit == Nanos::ZERO
    }

    /// So many units are moved from `now` on, or when their turn comes; returns when it is done with them.
    #[inline(always)]
    pub fn take(&mut self, now: Nanos, units: u32) -> Nanos {
        if self.is_free() || units == 0 {
            return now;
        }
        self.turns.reserve(now, Nanos(self.unit.0 * u64::from(units)))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: two moves of 4 and 1 units at 20 µs a unit, both at 100 µs, are done at 180 and 200 µs.
    #[test]
    fn moves_take_turns() {
        let mut processor = MoveProcessor { unit: Nanos(20_000), turns: Timeline::default() };
        assert_eq!(processor.take(Nanos(100_000), 4), Nanos(180_000));
        assert_eq!(processor.take(Nanos(100_000), 1), Nanos(200_000));
        assert_eq!(processor.take(Nanos(500_000), 1), Nanos(520_000));
    }

    /// Where moves cost nothing, none waits.
    #[test]
    fn a_free_processor_keeps_nobody() {
        let mut processor = MoveProcessor::default();
        assert!(processor.is_free());
        assert_eq!(processor.take(Nanos(100), 9), Nanos(100));
    }
}
