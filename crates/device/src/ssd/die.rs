//! What a die does next, and how long it takes.
//!
//! ```text
//!   idle ──► sensing ──► sending ──► idle            a read: tR, then the channel
//!   idle ──► writing ──► idle                        a row: the channel, then tPROG
//!   idle ──► gathering ─┬► gathering …               a job: rows are read into the controller,
//!                       └► moving ──► …              programmed again, and the victim is erased
//!   idle ──► erasing ──► idle
//!   writing, moving, erasing ──► suspended by a read (where the flash can) ──► resumed
//! ```
//! Order: reads, then a job that must run, then host writes, then a job that may wait. A move's
//! data-out and data-in are one tenure of the channel.

use crate::block::Completion;
use crate::ftl::Place;
use crate::ftl::frontier::{Purpose, Readiness};
use crate::ftl::reclaim::{SourceRow, Step};
use crate::nand::array::Payload;
use crate::nand::geometry::Geometry;
use crate::nand::reliability::ReadOutcome;
use crate::ssd::host::{Owner, Unit};
use crate::ssd::{Lane, Ssd};
use crate::units::{BlockId, DieId, Lpn, Nanos, Ppn};
use serde::Serialize;
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

impl FlashRead {
    /// The read of a whole mapping unit.
    pub fn of_unit(geometry: &Geometry, ppn: Ppn, owner: ReadOwner) -> FlashRead {
        let (block, row) = (geometry.block(ppn), geometry.row(geometry.slot(ppn)));
        FlashRead { block, row, rows: geometry.rows_per_unit, bytes: geometry.unit_bytes, owner }
    }
}

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
    /// Erase.
    Erasing,
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

/// A die's queue and what is under way.
#[derive(Debug)]
pub struct Die<S> {
    channel: usize,
    activity: Activity,
    began: Nanos,
    reads: VecDeque<FlashRead>,
    current: Option<(FlashRead, ReadOutcome)>,
    /// Units of the row that is being programmed.
    row: Vec<Owner>,
    /// Units whose old contents are being read.
    parked: Vec<Option<Unit<S>>>,
    /// Interrupted by reads: what, and how long it would still have taken.
    suspended: Option<(Activity, Nanos)>,
    /// Channel time of the units gathered for the open move.
    gathered_transfer: Nanos,
    /// The end of a move whose successor's sensing follows without a decision in between.
    move_ends: Option<Nanos>,
    /// Array time of a gathered row whose sensing was put off by a read.
    unsensed: Option<Nanos>,
    /// Job rows owed before the next host row (smooth pace).
    owed: f64,
    /// Job rows that each host row owes while the present job lasts.
    owed_per_row: f64,
}

impl<S> Die<S> {
    /// An idle die on a channel.
    pub fn new(channel: usize) -> Die<S> {
        Die {
            channel,
            activity: Activity::Idle,
            began: Nanos::ZERO,
            reads: VecDeque::new(),
            current: None,
            row: Vec::new(),
            parked: Vec::new(),
            suspended: None,
            gathered_transfer: Nanos::ZERO,
            move_ends: None,
            unsensed: None,
            owed: 0.0,
            owed_per_row: 0.0,
        }
    }
}

impl<S: Copy> Die<S> {
    /// Keeps a unit until its old contents are there; returns where.
    pub fn park(&mut self, unit: Unit<S>) -> u32 {
        let free = self.parked.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.parked.push(None);
            self.parked.len() - 1
        });
        self.parked[place] = Some(unit);
        place as u32
    }

    /// Units that wait for their old contents.
    pub fn parked_units(&mut self) -> impl Iterator<Item = &mut Unit<S>> {
        self.parked.iter_mut().flatten()
    }

    /// A parked unit is not to be written after all; its slot is given back when the read ends.
    pub fn drop_parked(&mut self, owner: Owner) {
        for unit in self.parked.iter_mut().flatten().filter(|unit| unit.owner == owner) {
            unit.bytes = 0;
        }
    }
}

impl<P: Payload> Ssd<P> {
    /// The time of a die's activity has come.
    #[inline]
    pub(super) fn die_event(&mut self, die: usize, done: &mut Vec<Completion>) {
        match self.dies[die].activity {
            Activity::Gathering => {
                self.end_span(die);
                return self.gathered(die);
            }
            Activity::Sensing => return self.sensed(die),
            Activity::Sending => self.sent(die, done),
            Activity::Writing => self.row_written(die, done),
            Activity::Moving if self.dies[die].move_ends.is_some() => {
                self.split_move(die);
                self.end_span(die);
                return self.gathered(die);
            }
            Activity::Moving | Activity::Erasing => {}
            Activity::Idle | Activity::Choosing => {
                unreachable!("an idle die has no event: {die} {:?} {:?}", self.dies[die].activity, self.now)
            }
        }
        self.end_span(die);
        self.work(die);
        if self.ftl.jobs_span_dies() {
            // A superblock may have been sealed or freed, for which other dies waited.
            self.feed_dies();
        }
    }

    /// Finds the next work of a die that has just become free.
    fn work(&mut self, die: usize) {
        self.dies[die].activity = Activity::Choosing;
        if let Some(read) = self.dies[die].reads.pop_front() {
            return self.sense(die, read);
        }
        if let Some((activity, left)) = self.dies[die].suspended.take() {
            let resume = self.times.suspend.unwrap_or(Nanos::ZERO);
            return self.busy(die, activity, self.now + resume + left);
        }
        let id = DieId(die as u16);
        if self.ftl.has_job(id) && self.job_goes_first(die) {
            return self.job_step(die);
        }
        if self.may_start_row() && self.start_row(die) {
            return;
        }
        self.work_in_spare_time(die);
    }

    /// Batches run to their end; a smooth job takes what host writes owe it, or the die's spare time.
    fn job_goes_first(&mut self, die: usize) -> bool {
        !self.times.smooth || self.dies[die].owed >= 1.0 || !self.may_start_row()
    }

    /// Enough is pending for a row, or what is there must not wait.
    #[inline]
    fn may_start_row(&self) -> bool {
        let row = (self.ftl.geometry.units_per_row) as usize;
        self.pending.len() >= row
            || !self.pending.is_empty()
                && (!self.buffer.is_present() || self.buffer.is_flushing() || self.front.is_stalled())
    }

    fn work_in_spare_time(&mut self, die: usize) {
        let id = DieId(die as u16);
        let starts =
            self.idle_work && self.ftl.wants_idle_collection(id) || self.times.smooth && self.ftl.wants_collection(id);
        if self.ftl.has_job(id) || starts && self.start_job(die) {
            return self.job_step(die);
        }
        if let Some(read) = self.dies[die].reads.pop_front() {
            return self.sense(die, read);
        }
        self.dies[die].activity = Activity::Idle;
        self.calendar.schedule(die, Nanos::NEVER);
        self.idle[die / 64] |= 1 << (die % 64);
    }

    #[inline]
    fn busy(&mut self, die: usize, activity: Activity, until: Nanos) {
        self.dies[die].activity = activity;
        self.dies[die].began = self.now;
        self.idle[die / 64] &= !(1 << (die % 64));
        self.calendar.schedule(die, until);
    }

    /// Adds an activity to the counters and, where wanted, to the timeline.
    #[inline]
    fn end_span(&mut self, die: usize) {
        self.end_span_at(die, self.now);
    }

    #[inline]
    fn end_span_at(&mut self, die: usize, end: Nanos) {
        let Die { activity, began, .. } = self.dies[die];
        let length = end.0 - began.0;
        let counters = &mut self.ftl.counters;
        match activity {
            Activity::Sensing | Activity::Sending => counters.die_host_read_ns += length,
            Activity::Writing => counters.die_host_write_ns += length,
            Activity::Gathering | Activity::Moving => counters.die_move_ns += length,
            Activity::Erasing => counters.die_erase_ns += length,
            Activity::Idle | Activity::Choosing => {}
        }
        if let Some(recording) = &mut self.recording
            && end >= recording.from
            && began < recording.to
        {
            recording.spans.push(Span { die: die as u16, kind: activity, start_ns: began.0, end_ns: end.0 });
        }
    }

    // ---- reads ----

    /// A row is to be sensed: at once where its die is idle or can be suspended.
    pub(super) fn queue_read(&mut self, read: FlashRead) {
        let die = usize::from(self.ftl.geometry.die(read.block).0);
        match self.dies[die].activity {
            Activity::Idle => self.sense(die, read),
            Activity::Writing | Activity::Moving | Activity::Erasing => {
                self.dies[die].reads.push_back(read);
                self.let_read_in(die);
                self.suspend(die);
            }
            _ => self.dies[die].reads.push_back(read),
        }
    }

    /// A move and the sensing after it were one event: a read may come in between after all.
    fn let_read_in(&mut self, die: usize) {
        let Some(ends) = self.dies[die].move_ends else { return };
        if self.now >= ends {
            return self.split_move(die);
        }
        self.dies[die].unsensed = Some(self.calendar.time_of(die) - ends);
        self.dies[die].move_ends = None;
        self.calendar.schedule(die, ends);
    }

    /// The move has ended, the sensing after it is what the die does now.
    fn split_move(&mut self, die: usize) {
        let ends = self.dies[die].move_ends.take().expect("a move and a sensing are one event");
        self.end_span_at(die, ends);
        self.dies[die].activity = Activity::Gathering;
        self.dies[die].began = ends;
    }

    /// Interrupts a program or erase whose array time is longer than the interruption.
    fn suspend(&mut self, die: usize) {
        let Some(cost) = self.times.suspend else { return };
        let left = self.calendar.time_of(die).saturating_sub(self.now);
        let interruptible = matches!(self.dies[die].activity, Activity::Writing | Activity::Moving | Activity::Erasing);
        if !interruptible || self.dies[die].suspended.is_some() || left <= cost + cost {
            return;
        }
        self.end_span(die);
        self.dies[die].suspended = Some((self.dies[die].activity, left));
        let read = self.dies[die].reads.pop_front().expect("a read asks for the suspension");
        self.sense_after(die, read, cost);
    }

    /// Sends the command and address cycles of an operation without data over the channel; returns
    /// when the die has them. Cycles of no length need no channel.
    #[inline]
    fn issue_command(&mut self, die: usize) -> Nanos {
        match self.times.flash_command {
            Nanos::ZERO => self.now,
            cycles => self.reserve_channel(die, cycles),
        }
    }

    fn sense(&mut self, die: usize, read: FlashRead) {
        self.sense_after(die, read, Nanos::ZERO);
    }

    fn sense_after(&mut self, die: usize, read: FlashRead, delay: Nanos) {
        let outcome = self.ftl.read_flash(read.block);
        let array = self.ftl.array.read_time(read.block, read.row, read.rows);
        let array = Nanos(array.0 * u64::from(1 + outcome.retries));
        self.dies[die].current = Some((read, outcome));
        let issued = self.issue_command(die);
        self.busy(die, Activity::Sensing, issued + delay + array);
    }

    fn sensed(&mut self, die: usize) {
        self.end_span(die);
        let (read, _) = self.dies[die].current.expect("a read is under way");
        let transfer = Nanos((f64::from(read.bytes) * self.times.nanos_per_channel_byte).ceil() as u64);
        self.ftl.counters.channel_host_ns += transfer.0;
        let sent = self.reserve_channel(die, transfer);
        self.busy(die, Activity::Sending, sent);
        self.dies[die].began = self.now;
    }

    /// Takes a die's channel now, or as soon as it is free; returns when the transfer is done.
    #[inline]
    fn reserve_channel(&mut self, die: usize, length: Nanos) -> Nanos {
        let channel = self.dies[die].channel;
        self.channels[channel].reserve(self.now, length)
    }

    fn sent(&mut self, die: usize, done: &mut Vec<Completion>) {
        let (read, outcome) = self.dies[die].current.take().expect("a read is under way");
        match read.owner {
            ReadOwner::Command(index) => {
                if outcome.uncorrectable {
                    self.fail(index);
                }
                self.send_out_bytes(index, u64::from(read.bytes));
            }
            ReadOwner::Parked(place) => {
                if outcome.uncorrectable {
                    self.fail_parked(die, place);
                }
                self.unpark(die, place, done);
            }
            ReadOwner::Map(Some(index)) => self.map_loaded(index, outcome.uncorrectable),
            ReadOwner::Map(None) => {}
        }
    }

    /// The rest of a partly written unit is lost. A write that waits for it ends with an error; of one
    /// that was acknowledged by the buffer only the count of uncorrectable reads tells.
    fn fail_parked(&mut self, die: usize, place: u32) {
        if let Some(Unit { owner: Owner::Command(index), .. }) = self.dies[die].parked[place as usize] {
            self.fail(index);
        }
    }

    /// The old contents of a partly written unit are there: it can be programmed.
    fn unpark(&mut self, die: usize, place: u32, done: &mut Vec<Completion>) {
        let unit = self.dies[die].parked[place as usize].take().expect("a unit was parked");
        self.parked -= 1;
        if unit.bytes == 0 {
            return self.unit_programmed(unit.owner, done);
        }
        // Behind earlier writes of the same unit that may be pending, before those that followed.
        self.pending.push_back(unit);
        let pending = &mut self.pending;
        self.followers.retain(|follower| {
            let follows = follower.lpn == unit.lpn;
            if follows {
                pending.push_back(*follower);
            }
            !follows
        });
        self.feed_dies();
    }

    // ---- host writes ----

    /// Gives pending units to idle dies, beginning behind the one that took the last row.
    #[inline]
    pub(super) fn feed_dies(&mut self) {
        let mut tried = 0;
        while tried < self.ftl.geometry.dies && self.may_start_row() {
            let Some(die) = self.next_idle() else { return };
            self.rotor = die as u32;
            tried += 1;
            self.work(die);
        }
    }

    /// The first idle die after the rotor, round the ring.
    #[inline]
    fn next_idle(&self) -> Option<usize> {
        let start = if self.rotor + 1 < self.ftl.geometry.dies { self.rotor + 1 } else { 0 };
        let words = self.idle.len();
        let (first, bit) = (start as usize / 64, start % 64);
        let ahead = self.idle[first] & (u64::MAX << bit);
        if ahead != 0 {
            return Some(first * 64 + ahead.trailing_zeros() as usize);
        }
        (1..=words)
            .map(|step| (first + step) % words)
            .find(|&word| self.idle[word] != 0)
            .map(|word| word * 64 + self.idle[word].trailing_zeros() as usize)
    }

    /// Programs the next pending row on a die; false where it cannot take one.
    fn start_row(&mut self, die: usize) -> bool {
        let id = DieId(die as u16);
        match self.ftl.readiness(id) {
            Readiness::Write(purpose) => self.fill_row(die, purpose),
            Readiness::Collect if self.ftl.has_job(id) || self.start_job(die) => {
                let is_here = self.ftl.has_job(id);
                if is_here {
                    self.job_step(die);
                }
                is_here
            }
            // Nothing can be collected; where a block still has room it is used up.
            Readiness::Collect => match self.ftl.readiness(id) {
                Readiness::Write(purpose) => self.fill_row(die, purpose),
                _ => false,
            },
            Readiness::Wait => false,
        }
    }

    #[inline]
    fn fill_row(&mut self, die: usize, purpose: Purpose) -> bool {
        let id = DieId(die as u16);
        let mut bytes_left = self.ftl.geometry.row_bytes.max(self.ftl.geometry.unit_bytes);
        let mut slots_left = self.ftl.row_slots_left(id, purpose);
        while slots_left > 0 && self.pending.front().is_some_and(|unit| unit.bytes <= bytes_left) {
            let unit = self.pending.pop_front().expect("checked");
            if !self.put_unit(die, purpose, unit) {
                continue;
            }
            bytes_left -= unit.bytes;
            slots_left -= 1;
        }
        if self.dies[die].row.is_empty() {
            return false;
        }
        let programmed = self.ftl.end_row(id, purpose);
        self.drain_map_work(None);
        if self.times.smooth {
            self.owe(die);
        }
        let transfer = self.times.channel_row;
        self.ftl.counters.channel_host_ns += transfer.0;
        let loaded = self.reserve_channel(die, self.times.flash_command + transfer);
        self.busy(die, Activity::Writing, loaded + programmed.time);
        true
    }

    /// Puts a pending unit into the open row; false where it has to be completed by a read first.
    #[inline]
    fn put_unit(&mut self, die: usize, purpose: Purpose, unit: Unit<P::Stamp>) -> bool {
        if let Owner::Slot(slot) = unit.owner
            && let Place::Buffer(_) = self.ftl.place(unit.lpn)
        {
            let whole = self.buffer.slots[slot as usize].covered == (0, self.unit_size.sectors());
            let old = self.ftl.shadow(slot).filter(|_| !whole);
            if let Some(ppn) = old {
                self.buffer.slots[slot as usize].covered = (0, self.unit_size.sectors());
                self.read_first(ppn, unit);
                return false;
            }
            self.ftl.unbuffer(unit.lpn, slot);
        }
        self.ftl.touch_map(unit.lpn, true);
        self.ftl.put(DieId(die as u16), purpose, unit.lpn, unit.stamp);
        self.dies[die].row.push(unit.owner);
        true
    }

    #[inline]
    fn row_written(&mut self, die: usize, done: &mut Vec<Completion>) {
        let mut row = std::mem::take(&mut self.dies[die].row);
        for owner in row.drain(..) {
            self.unit_programmed(owner, done);
        }
        self.dies[die].row = row;
    }

    // ---- jobs ----

    fn start_job(&mut self, die: usize) -> bool {
        let started = self.ftl.start_job(DieId(die as u16));
        if started && self.times.smooth {
            for (number, state) in self.dies.iter_mut().enumerate() {
                if number == die || self.ftl.jobs_span_dies() {
                    state.owed_per_row = self.ftl.moves_per_host_row(DieId(number as u16));
                }
            }
        }
        if started && self.ftl.jobs_span_dies() {
            // A superblock's other dies begin as well, those without work at once.
            for other in (0..self.dies.len()).filter(|other| *other != die) {
                if self.dies[other].activity == Activity::Idle {
                    self.work(other);
                }
            }
        }
        started
    }

    /// The next step of the die's job, whose activity it becomes.
    #[inline]
    fn job_step(&mut self, die: usize) {
        let id = DieId(die as u16);
        if let Some(array) = self.dies[die].unsensed.take() {
            return self.busy(die, Activity::Gathering, self.now + array);
        }
        match self.ftl.job_step(id) {
            Step::Read(source) => {
                let issued = self.issue_command(die);
                let array = self.gather(die, source);
                self.busy(die, Activity::Gathering, issued + array);
            }
            Step::Program => self.program_move(die),
            Step::Erase => {
                let time = self.ftl.finish_job(id);
                let issued = self.issue_command(die);
                self.busy(die, Activity::Erasing, issued + time);
            }
        }
    }

    /// A source row of a move is sensed; returns how long that takes, with its read retries.
    #[inline]
    fn gather(&mut self, die: usize, source: SourceRow) -> Nanos {
        let outcome = self.ftl.read_flash(source.block);
        let array = self.ftl.array.read_time(source.block, source.row, self.ftl.geometry.rows_per_unit);
        self.dies[die].gathered_transfer += Nanos(self.times.channel_unit.0 * u64::from(source.units));
        Nanos(array.0 * u64::from(1 + outcome.retries))
    }

    /// A source row is in the register: read on, or program what there is.
    #[inline]
    fn gathered(&mut self, die: usize) {
        if self.ftl.job_step_is_program(DieId(die as u16)) {
            return self.program_move(die);
        }
        // More source rows: this one's data leaves the register first.
        let out = std::mem::take(&mut self.dies[die].gathered_transfer);
        let mut free = self.now;
        if !self.times.copyback {
            free = self.reserve_channel(die, out + self.times.flash_command);
            self.ftl.counters.channel_move_ns += out.0;
        }
        let id = DieId(die as u16);
        match self.ftl.job_step(id) {
            Step::Read(source) => {
                let array = self.gather(die, source);
                self.busy(die, Activity::Gathering, free + array);
            }
            _ => self.program_move(die),
        }
    }

    #[inline]
    fn program_move(&mut self, die: usize) {
        let out = std::mem::take(&mut self.dies[die].gathered_transfer);
        let (programmed, moved) = self.ftl.program_gathered(DieId(die as u16));
        self.drain_map_work(None);
        if self.times.smooth {
            self.dies[die].owed = (self.dies[die].owed - 1.0).max(0.0);
        }
        if moved == 0 && out == Nanos::ZERO {
            return self.busy(die, Activity::Moving, self.now);
        }
        let tenure = if self.times.copyback { Nanos::ZERO } else { out + self.times.channel_row };
        self.ftl.counters.channel_move_ns += tenure.0;
        let ends = self.reserve_channel(die, tenure) + programmed.time;
        let next = self.sense_next_at_once(die, ends).unwrap_or(ends);
        self.busy(die, Activity::Moving, next);
    }

    /// When nothing is to be decided at the end of a move, the sensing of the next row follows it in
    /// one event; returns when that is done. A read that comes in between parts the two again.
    #[inline]
    fn sense_next_at_once(&mut self, die: usize, ends: Nanos) -> Option<Nanos> {
        let command_free = self.times.flash_command == Nanos::ZERO;
        if !command_free || self.times.smooth || !self.dies[die].reads.is_empty() || self.dies[die].suspended.is_some()
        {
            return None;
        }
        if !self.ftl.has_job(DieId(die as u16)) {
            return None;
        }
        let Step::Read(source) = self.ftl.job_step(DieId(die as u16)) else { return None };
        self.dies[die].move_ends = Some(ends);
        Some(ends + self.gather(die, source))
    }

    /// Brings the jobs of all dies to their end without time: what they still had to read and program
    /// no longer takes any.
    #[cold]
    pub(super) fn finish_jobs_now(&mut self) {
        for die in 0..self.dies.len() {
            if self.ftl.has_job(DieId(die as u16)) {
                self.ftl.collect_now(DieId(die as u16));
            }
            let state = &mut self.dies[die];
            (state.move_ends, state.unsensed, state.gathered_transfer) = (None, None, Nanos::ZERO);
            if state.activity == Activity::Gathering {
                state.activity = Activity::Moving;
            }
        }
    }

    /// A host row was written while a job is due: it owes the job its share of rows.
    fn owe(&mut self, die: usize) {
        let id = DieId(die as u16);
        if self.ftl.has_job(id) || self.ftl.wants_collection(id) && self.start_job(die) {
            self.dies[die].owed += self.dies[die].owed_per_row;
        }
    }

    // ---- map work, idle time, power ----

    /// Carries out what lookups and changes of a demand-cached map cost; returns the number of
    /// flash reads, for which the command `waits`.
    #[inline]
    pub(super) fn drain_map_work(&mut self, waits: Option<u32>) -> u32 {
        if self.ftl.map_cache.is_some() { self.queue_map_work(waits) } else { 0 }
    }

    #[cold]
    fn queue_map_work(&mut self, waits: Option<u32>) -> u32 {
        let Some(cache) = &mut self.ftl.map_cache else { return 0 };
        if cache.loads.is_empty() && cache.evictions.is_empty() {
            return 0;
        }
        let (loads, evictions) = (std::mem::take(&mut cache.loads), std::mem::take(&mut cache.evictions));
        let geometry = self.ftl.geometry;
        for &ppn in &loads {
            self.queue_read(FlashRead::of_unit(&geometry, ppn, ReadOwner::Map(waits)));
        }
        for lpn in evictions {
            let stamp = self.ftl.payload.stamp(lpn);
            self.pending.push_back(Unit { lpn, owner: Owner::Drive, bytes: geometry.unit_bytes, stamp });
        }
        loads.len() as u32
    }

    /// The host waits for nothing any more.
    pub(super) fn start_idling(&mut self) {
        if let Some(after) = self.config.ftl.idle_gc_after_ms {
            self.schedule(Lane::Idle, self.now + after.0);
        }
    }

    /// A command has come.
    pub(super) fn end_idling(&mut self) {
        if self.config.ftl.idle_gc_after_ms.is_some() {
            self.idle_work = false;
            self.schedule(Lane::Idle, Nanos::NEVER);
        }
    }

    pub(super) fn idle_event(&mut self) {
        self.schedule(Lane::Idle, Nanos::NEVER);
        self.idle_work = true;
        for die in 0..self.dies.len() {
            if self.dies[die].activity == Activity::Idle {
                self.work(die);
            }
        }
    }

    /// After a power cut: nothing is under way; jobs are completed from what flash holds.
    pub(super) fn restart(&mut self, now: Nanos) {
        for die in 0..self.dies.len() {
            self.dies[die] = Die::new(self.dies[die].channel);
        }
        let config = self.config.clone();
        let placeholder = crate::ssd::buffer::Buffer::new(&config, &self.ftl.geometry);
        self.buffer = placeholder;
        self.front = crate::ssd::host::Front::default();
        self.parked = 0;
        self.followers.clear();
        self.calendar = crate::sim::calendar::Calendar::new(self.dies.len() + 4);
        self.idle.fill(0);
        for die in 0..self.dies.len() {
            self.idle[die / 64] |= 1 << (die % 64);
        }
        self.idle_work = false;
        self.now = now;
        if let Some(cache) = &mut self.ftl.map_cache {
            cache.loads.clear();
        }
    }
}

impl<P: Payload> crate::ftl::Ftl<P> {
    /// A read of the array with its errors, counted.
    #[inline]
    fn read_flash(&mut self, block: BlockId) -> ReadOutcome {
        let outcome = self.array.read(block);
        if outcome != ReadOutcome::default() {
            self.counters.read_retries += u64::from(outcome.retries);
            self.counters.uncorrectable_reads += u64::from(outcome.uncorrectable);
        }
        outcome
    }

    /// Makes a die ready for a row without time; `None` where it cannot take any more.
    ///
    /// Where collection is spread between host writes it starts at the low watermark, as in timed
    /// running, and not only when the last free block is needed.
    pub(super) fn make_ready_now(&mut self, die: DieId) -> Option<Purpose> {
        while self.is_smooth() && self.wants_collection(die) && self.collect_now(die) {}
        while self.readiness(die) == Readiness::Collect && self.collect_now(die) {}
        match self.readiness(die) {
            Readiness::Write(purpose) => Some(purpose),
            Readiness::Collect | Readiness::Wait => None,
        }
    }

    /// Puts and programs a row without time.
    pub(super) fn write_row_now(&mut self, die: DieId, purpose: Purpose, units: &[Lpn]) {
        for &lpn in units {
            let stamp = self.payload.stamp(lpn);
            self.touch_map(lpn, true);
            self.put(die, purpose, lpn, stamp);
        }
        self.end_row(die, purpose);
    }
}
