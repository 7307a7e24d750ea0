//! Dies and channels: what each die does and until when, and who has a channel.
//!
//! The end of what a die does is its event in the calendar.

use crate::counters::Counters;
use crate::nand::geometry::Geometry;
use crate::nand::reliability::ReadOutcome;
use crate::sim::calendar::{Calendar, Event};
use crate::sim::timeline::Timeline;
use crate::sim::transfer::TransferTimes;
use crate::ssd::activity::{Activity, Recording, Span};
use crate::ssd::idle_ring::IdleRing;
use crate::ssd::move_processor::MoveProcessor;
use crate::ssd::move_runs::{MoveRuns, Run};
use crate::ssd::pending::Owner;
use crate::ssd::program_budget::ProgramBudget;
use crate::units::{BlockId, DieId, Nanos};
use std::collections::VecDeque;

/// Who a flash read is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOwner {
    /// A host command.
    Command(u32),
    /// A parked unit that a write covers in part.
    Parked(u32),
    /// The map, and the command that cannot go on without it.
    Map(Option<u32>),
}

/// A row to be sensed, and how much of it crosses the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashRead {
    /// Block.
    pub block: BlockId,
    /// First row in the block.
    pub row: u32,
    /// Rows, of a unit that is larger than one.
    pub rows: u32,
    /// Bytes asked for.
    pub bytes: u32,
    /// Who waits.
    pub owner: ReadOwner,
}

/// A die's queue and what is under way. In this order what each move touches lies in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Die {
    channel: u32,
    /// What it does, which its event in the calendar names too.
    activity: Activity,
    /// When what it does began.
    pub began: Nanos,
    /// While [`Activity::MovingOn`]: the end of the move. No read waits then and nothing is suspended; a
    /// read that comes parts the move from the sensing.
    pub move_ends: Nanos,
    /// Channel time of the units gathered for the open move.
    pub gathered_transfer: Nanos,
    /// Who waits for the row that is being programmed, where it is one unit alone.
    pub lone: Option<Owner>,
    /// Else the units of the row.
    pub row: Vec<Owner>,
    /// Rows to be sensed, in order.
    pub reads: VecDeque<FlashRead>,
    /// Interrupted by reads: what, and how long it would still have taken.
    pub suspended: Option<(Activity, Nanos)>,
    /// Array time of a gathered row whose sensing was put off by a read.
    pub unsensed: Option<Nanos>,
    /// The row that is sensed or sent, and how that went.
    pub current: Option<(FlashRead, ReadOutcome)>,
}

impl Die {
    /// An idle die on a channel.
    pub fn new(channel: u32) -> Die {
        Die {
            channel,
            activity: Activity::Idle,
            began: Nanos::ZERO,
            move_ends: Nanos::ZERO,
            gathered_transfer: Nanos::ZERO,
            lone: None,
            row: Vec::new(),
            reads: VecDeque::new(),
            suspended: None,
            unsensed: None,
            current: None,
        }
    }

    /// A read waits, or has interrupted what was under way.
    #[inline(always)]
    pub fn is_interrupted(&self) -> bool {
        !self.reads.is_empty() || self.suspended.is_some()
    }
}

/// All dies, and the channels that they share.
#[derive(Clone, Debug)]
pub struct Dies {
    dies: Vec<Die>,
    /// The next event of each die.
    pub calendar: Calendar,
    /// Those without work.
    pub ring: IdleRing,
    channels: Vec<Timeline>,
    /// Times of bytes on a channel.
    pub channel_times: TransferTimes,
    recording: Option<Recording>,
    /// Moves whose effects are carried out when something depends on them.
    pub runs: MoveRuns,
    /// What all moves go through.
    pub move_processor: MoveProcessor,
    /// How many may program at once, where that is limited.
    pub budget: Option<ProgramBudget>,
    /// Some die may be waiting.
    some_wait: bool,
}

impl Dies {
    /// Idle dies, on channels of so many MB/s, whose moves go through a processor; all or so many may program at once.
    pub fn new(
        geometry: &Geometry,
        mb_per_s: f64,
        move_processor: MoveProcessor,
        programs_at_once: Option<u32>,
    ) -> Dies {
        let dies = geometry.dies as usize;
        Dies {
            dies: (0..dies).map(|die| Die::new(geometry.channel(DieId(die as u16)))).collect(),
            calendar: Calendar::new(dies),
            ring: IdleRing::new(geometry.dies),
            channels: vec![Timeline::default(); geometry.channels as usize],
            channel_times: TransferTimes::at(mb_per_s),
            recording: None,
            runs: MoveRuns::new(geometry.channels as usize),
            move_processor,
            budget: programs_at_once.map(|shares| ProgramBudget::new(shares, dies)),
            some_wait: false,
        }
    }

    /// Nothing is under way on any die; channels, the ring and what is recorded stay as they are.
    pub fn clear(&mut self) {
        self.dies.iter_mut().for_each(|die| *die = Die::new(die.channel));
        self.calendar = Calendar::new(self.dies.len());
        self.ring.lay_all_idle(self.dies.len());
        self.runs.clear();
        self.budget.iter_mut().for_each(ProgramBudget::clear);
        self.move_processor.clear();
    }

    /// Number of dies.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.dies.len()
    }

    /// A die.
    #[inline(always)]
    pub fn get(&self, die: usize) -> &Die {
        &self.dies[die]
    }

    /// A die, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, die: usize) -> &mut Die {
        &mut self.dies[die]
    }

    /// What a die does.
    #[inline(always)]
    pub fn activity(&self, die: usize) -> Activity {
        self.dies[die].activity
    }

    /// The die does something else, whose end is known already.
    #[inline(always)]
    pub fn rename_activity(&mut self, die: usize, activity: Activity) {
        self.dies[die].activity = activity;
    }

    /// A die takes its channel at `now`, or as soon as it is free, to load a row, and programs it; `lone` waits for it
    /// where it is one unit alone.
    #[inline(always)]
    pub fn write_row(&mut self, die: usize, now: Nanos, load: Nanos, programmed: Nanos, lone: Option<Owner>) {
        let state = &mut self.dies[die];
        state.lone = lone;
        state.began = now;
        let loaded = self.channels[state.channel as usize].reserve(now, load);
        state.activity = Activity::Writing;
        self.ring.employ(die);
        self.calendar.schedule(loaded + programmed, Event { slot: die, kind: Activity::Writing as u8 });
    }

    /// A die that has gathered a row takes its channel at `now`, or as soon as it is free, for so long, and programs the
    /// row. True where reads wait for it.
    #[inline(always)]
    pub fn move_row(&mut self, die: usize, now: Nanos, load: Nanos, programmed: Nanos) -> bool {
        let state = &mut self.dies[die];
        (state.began, state.activity) = (now, Activity::Moving);
        let loaded = self.channels[state.channel as usize].reserve(now, load);
        let has_reads = !state.reads.is_empty();
        self.calendar.schedule(loaded + programmed, Event { slot: die, kind: Activity::Moving as u8 });
        has_reads
    }

    /// A die has ended what it did, or its rest, and chooses what it does next.
    #[inline(always)]
    pub fn choose(&mut self, die: usize) {
        let state = &mut self.dies[die];
        if state.activity == Activity::Idle {
            self.ring.employ(die);
        }
        state.activity = Activity::Choosing;
    }

    /// A die that does not rest begins something at `now` that ends at `until`, when the calendar tells of it.
    #[inline(always)]
    pub fn begin(&mut self, die: usize, activity: Activity, now: Nanos, until: Nanos) {
        let state = &mut self.dies[die];
        debug_assert!(state.activity != Activity::Idle, "a die that rests chooses first");
        (state.began, state.activity) = (now, activity);
        self.calendar.schedule(until, Event { slot: die, kind: activity as u8 });
    }

    /// A die goes on with something that ends at `until`.
    #[inline(always)]
    pub fn go_on(&mut self, die: usize, activity: Activity, until: Nanos) {
        self.dies[die].activity = activity;
        self.calendar.schedule(until, Event { slot: die, kind: activity as u8 });
    }

    /// A die that has moved a unit moves the next: so long it needs the channel, so long it programs, and then
    /// it senses one more, if there is one.
    #[inline(always)]
    pub fn move_again(&mut self, die: usize, now: Nanos, data: Nanos, programmed: Nanos, sensing: Option<Nanos>) {
        let state = &mut self.dies[die];
        let until = self.channels[state.channel as usize].reserve(now, data) + programmed;
        match sensing {
            None => self.go_on(die, Activity::Moving, until),
            Some(sensing) => {
                state.move_ends = until;
                self.calendar.schedule(until + sensing, Event { slot: die, kind: Activity::MovingOn as u8 });
            }
        }
    }

    /// Lets the runs of a channel begin the moves that begin before now: each has the channel for `data`; `array` tells
    /// how long a run's next move programs and senses the unit behind it. Returns the first run that is over by this:
    /// others may have moves to begin still.
    #[inline(always)]
    pub fn carry_on(&mut self, channel: usize, now: Nanos, data: Nanos, array: impl Fn(&Run) -> Nanos) -> Option<Run> {
        let timeline = &mut self.channels[channel];
        self.runs.carry_on(channel, now, |run| timeline.reserve(run.next, data) + array(run))
    }

    /// A die has begun moves of its run, after which it senses the next unit for so long. Returns how long it was busy
    /// until the last of them began.
    pub fn note_moves(&mut self, run: &Run, sensing: Nanos) -> Nanos {
        let die = &mut self.dies[run.die as usize];
        let busy = run.began - die.began;
        (die.began, die.move_ends) = (run.began, Nanos(run.next.0 - sensing.0));
        busy
    }

    /// The channel of a die.
    #[inline(always)]
    pub fn channel_of(&self, die: usize) -> usize {
        self.dies[die].channel as usize
    }

    /// A die can do nothing until rows of others are programmed.
    pub fn wait(&mut self, die: usize) {
        self.dies[die].activity = Activity::Waiting;
        self.calendar.take_back(die);
        self.ring.employ(die);
        self.some_wait = true;
    }

    /// A die can do nothing but read until the budget for programs has a share for it.
    pub fn hold(&mut self, die: usize) {
        self.dies[die].activity = Activity::Held;
        self.calendar.take_back(die);
        self.ring.employ(die);
    }

    /// A die can do nothing but read until then, when its event tells of it.
    pub fn hold_until(&mut self, die: usize, time: Nanos) {
        self.dies[die].activity = Activity::Held;
        self.ring.employ(die);
        self.calendar.schedule(time, Event { slot: die, kind: Activity::Held as u8 });
    }

    /// A die gives back its share of the budget, where it has one; returns the die that can begin by that.
    pub fn give_back_share(&mut self, die: usize) -> Option<usize> {
        let budget = self.budget.as_mut()?;
        budget.give_back(die);
        budget.next(|waiting| self.dies[waiting].activity == Activity::Held)
    }

    /// Some die may be waiting.
    #[inline(always)]
    pub fn some_wait(&self) -> bool {
        self.some_wait
    }

    /// The dies that wait, which are to look again.
    pub fn take_waiting(&mut self) -> Vec<usize> {
        self.some_wait = false;
        (0..self.dies.len()).filter(|die| self.dies[*die].activity == Activity::Waiting).collect()
    }

    /// A die has nothing to do.
    #[inline(always)]
    pub fn lay_idle(&mut self, die: usize) {
        self.dies[die].activity = Activity::Idle;
        self.calendar.take_back(die);
        self.ring.lay_idle(die);
    }

    /// Takes a die's channel at `now`, or as soon as it is free; returns when the transfer is done.
    #[inline(always)]
    pub fn reserve_channel(&mut self, die: usize, now: Nanos, length: Nanos) -> Nanos {
        let channel = self.dies[die].channel;
        self.channels[channel as usize].reserve(now, length)
    }

    /// Adds what a die did up to `end` to the counters and, where wanted, to the timeline.
    #[inline(always)]
    pub fn end_span(&mut self, die: usize, activity: Activity, end: Nanos, counters: &mut Counters) {
        let began = self.dies[die].began;
        count_span(activity, end - began, counters);
        self.note_span(die, activity, began, end);
    }

    /// A die has loaded what it is to program when it may: that counts as what it is for.
    pub fn end_load(&mut self, die: usize, end: Nanos, counters: &mut Counters) {
        let state = &self.dies[die];
        if let Some((activity, _)) = state.suspended {
            count_span(activity, end - state.began, counters);
        }
        self.note_span(die, Activity::Loading, state.began, end);
    }

    /// A row of the host is programmed: how long it took since the die began, and who waits for it where it is one
    /// unit alone.
    #[inline(always)]
    pub fn end_row(&mut self, die: usize, now: Nanos) -> (Nanos, Option<Owner>) {
        let state = &mut self.dies[die];
        let (began, lone) = (state.began, state.lone.take());
        self.note_span(die, Activity::Writing, began, now);
        (now - began, lone)
    }

    /// Records an operation, where it is wanted.
    #[inline(always)]
    fn note_span(&mut self, die: usize, kind: Activity, began: Nanos, end: Nanos) {
        if let Some(recording) = &mut self.recording {
            recording.note(die, kind, began, end);
        }
    }

    /// Operations are recorded one by one.
    #[inline(always)]
    pub fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Records what every die does, operation by operation, from one time to another.
    pub fn record(&mut self, from: Nanos, to: Nanos) {
        self.recording = Some(Recording::new(from, to));
    }

    /// What was recorded, in order of end.
    pub fn take_recorded(&mut self) -> Vec<Span> {
        self.recording.take().map(|recording| recording.spans).unwrap_or_default()
    }
}

/// Counts what a die did for so long.
#[inline(always)]
fn count_span(activity: Activity, length: Nanos, counters: &mut Counters) {
    match activity {
        Activity::Sensing | Activity::Sending => counters.die_host_read_ns += length.0,
        Activity::Writing | Activity::Programming => counters.die_host_write_ns += length.0,
        Activity::Gathering | Activity::Moving | Activity::MovingOn | Activity::MovingRun => {
            counters.die_move_ns += length.0;
        }
        Activity::Erasing => counters.die_erase_ns += length.0,
        Activity::Idle | Activity::Choosing | Activity::Waiting | Activity::Loading | Activity::Held => {}
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn dies(channels: u32, per_channel: u32) -> Dies {
        Dies::new(&Geometry::small(channels, channels * per_channel, 1), 400.0, MoveProcessor::default(), None)
    }

    /// Dies of one channel wait for each other, those of two do not: die = channel + channels · n.
    #[test]
    fn a_channel_serves_one_at_a_time() {
        let mut dies = dies(2, 2);
        let ends = [0, 1, 2, 3].map(|die| dies.reserve_channel(die, Nanos(100), Nanos(10)));
        assert_eq!(ends, [110, 110, 120, 120].map(Nanos));
    }

    /// What a die does is counted by kind, and recorded where that was asked for.
    #[test]
    fn spans_are_counted_and_recorded() {
        let (mut dies, mut counters) = (dies(1, 1), Counters::default());
        dies.record(Nanos(0), Nanos(50));
        for (activity, began, ended) in [(Activity::Writing, 0, 40), (Activity::Erasing, 60, 90)] {
            dies.choose(0);
            dies.begin(0, activity, Nanos(began), Nanos(ended));
            dies.end_span(0, activity, Nanos(ended), &mut counters);
        }
        assert_eq!((counters.die_host_write_ns, counters.die_erase_ns), (40, 30));
        let spans = dies.take_recorded();
        assert_eq!(spans, [Span { die: 0, kind: Activity::Writing, start_ns: 0, end_ns: 40 }]);
        assert!(!dies.is_recording());
    }
}
