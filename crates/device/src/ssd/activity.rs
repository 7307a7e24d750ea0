//! What a die does, and its record, operation by operation, in a stretch of time: what timelines are drawn from.

use crate::units::Nanos;
use serde::Serialize;

/// What a die is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// Nothing.
    #[default]
    Idle,
    /// Between two operations, while the next is chosen: reads that come up queue.
    Choosing,
    /// Array to register, for the host or the map.
    Sensing,
    /// Register to controller.
    Sending,
    /// Data in and program, for the host.
    Writing,
    /// Array to register, for a move.
    Gathering,
    /// Data out, data in and program, for a move.
    Moving,
    /// A move, and array to register for the next one: two operations, one event, never recorded as such.
    MovingOn,
    /// Moves without an event each; the event is when they may be over. Never recorded.
    MovingRun,
    /// Erase.
    Erasing,
    /// For rows of other dies to be programmed, before an erase.
    Waiting,
    /// Data in, of what is programmed only when it may ([`crate::ssd::move_processor`], [`crate::ssd::program_budget`]).
    Loading,
    /// For the processor of moves, or for the budget.
    Held,
    /// Program, for the host, where there is a budget; recorded as writing.
    Programming,
}

/// One recorded operation of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Which die.
    pub die: u16,
    /// What it did.
    pub kind: Activity,
    /// From.
    pub start_ns: u64,
    /// To.
    pub end_ns: u64,
}

/// Single operations of the dies that touch a stretch of time, in order of end.
#[derive(Clone, Debug)]
pub struct Recording {
    from: Nanos,
    to: Nanos,
    /// What was recorded.
    pub spans: Vec<Span>,
}

impl Recording {
    /// From one time to another.
    pub fn new(from: Nanos, to: Nanos) -> Recording {
        Recording { from, to, spans: Vec::new() }
    }

    /// A die has done something.
    pub fn note(&mut self, die: usize, kind: Activity, began: Nanos, end: Nanos) {
        if end >= self.from && began < self.to {
            let kind = if kind == Activity::Programming { Activity::Writing } else { kind };
            self.spans.push(Span { die: die as u16, kind, start_ns: began.0, end_ns: end.0 });
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// What touches the stretch is recorded as a whole, and a program behind a budget as writing.
    #[test]
    fn what_touches_the_stretch_is_recorded() {
        let mut recording = Recording::new(Nanos(100), Nanos(200));
        for (began, end) in [(0, 99), (0, 100), (150, 160), (199, 300), (200, 300)] {
            recording.note(3, Activity::Programming, Nanos(began), Nanos(end));
        }
        let kept: Vec<_> = recording.spans.iter().map(|span| (span.kind, span.start_ns, span.end_ns)).collect();
        assert_eq!(kept, [(0, 100), (150, 160), (199, 300)].map(|(began, end)| (Activity::Writing, began, end)));
    }
}
