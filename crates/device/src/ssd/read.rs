//! Reads: looked up in the map, sensed row by row, sent over channel and link as each is free; a program or
//! erase may be suspended for them.

use crate::block::Completion;
use crate::ftl::mapping::Place;
use crate::nand::contents::{Contents, Whence};
use crate::ssd::activity::Activity;
use crate::ssd::dies::{FlashRead, ReadOwner};
use crate::ssd::pending::{Owner, Unit};
use crate::ssd::pieces::Piece;
use crate::ssd::{Arrival, Ssd};
use crate::units::{DieId, Nanos, Ppn};

impl<C: Contents> Ssd<C> {
    /// The map entries of a read are looked up; where they are not cached it waits for them.
    pub(super) fn look_up(&mut self, number: u32) {
        if self.ftl.map_cache.is_some() {
            let request = self.commands.get(number).request;
            for piece in self.shape.unit_size.pieces(&request) {
                self.ftl.touch_map(piece.lpn, false);
            }
            let loads = self.drain_map_work(Some(number));
            self.commands.get_mut(number).remaining = loads;
            if loads > 0 {
                return;
            }
        }
        self.begin_read(number);
    }

    /// A translation page that a read waits for is there; with the last one it goes on.
    fn map_loaded(&mut self, number: u32, uncorrectable: bool) {
        if uncorrectable {
            self.fail(number);
        }
        let command = self.commands.get_mut(number);
        command.remaining -= 1;
        if command.remaining == 0 {
            self.begin_read(number);
        }
    }

    fn begin_read(&mut self, number: u32) {
        let request = self.commands.get(number).request;
        self.commands.get_mut(number).remaining = 1;
        let mut ready_sectors = 0;
        let mut open: Option<FlashRead> = None;
        for piece in self.shape.unit_size.pieces(&request) {
            let sectors = piece.covered.1 - piece.covered.0;
            self.meet_unit(piece.lpn);
            let place = self.ftl.place(piece.lpn);
            if C::KEEPS {
                self.deliver(number, &piece, place);
            }
            match place {
                Place::Unmapped => {
                    self.ftl.counters.unmapped_reads += 1;
                    ready_sectors += sectors;
                }
                Place::Buffer(_) => {
                    self.ftl.counters.buffer_read_hits += 1;
                    ready_sectors += sectors;
                }
                Place::Flash(ppn) => self.add_read(&mut open, number, ppn, piece.covered),
            }
        }
        if let Some(read) = open {
            self.start_read(number, read);
        }
        let command = self.commands.get_mut(number);
        command.remaining -= 1;
        if ready_sectors > 0 || command.remaining == 0 {
            command.remaining += 1;
            self.send_out(number, u64::from(ready_sectors) * u64::from(self.shape.limits.sector_bytes));
        }
    }

    /// A piece's bytes go to the command.
    fn deliver(&mut self, number: u32, piece: &Piece, place: Place) {
        let from = match place {
            Place::Unmapped => Whence::Nothing,
            Place::Flash(ppn) => Whence::Flash(ppn),
            Place::Buffer(slot) => Whence::Ram(self.buffer.slots[slot as usize].held, self.ftl.mapping.shadow(slot)),
        };
        let part = piece.part(self.commands.get(number).tag, false);
        if self.ftl.flash.contents.deliver(part, from).is_err() {
            self.fail(number);
        }
    }

    /// Adds a unit to the flash read under construction, or starts a new one: neighbouring units of
    /// one row are sensed together.
    fn add_read(&mut self, open: &mut Option<FlashRead>, number: u32, ppn: Ppn, covered: (u32, u32)) {
        self.ftl.counters.nand_pages_read += 1;
        let geometry = &self.ftl.geometry;
        let sector_bytes = self.shape.limits.sector_bytes;
        let (block, mut row) = (geometry.block(ppn), self.ftl.row(ppn));
        let (first, end) = (covered.0 * sector_bytes, covered.1 * sector_bytes);
        let (bytes, mut rows) = (end - first, 1);
        if geometry.rows_per_unit > 1 {
            row += first / geometry.row_bytes;
            rows = end.div_ceil(geometry.row_bytes) - first / geometry.row_bytes;
        }
        if let Some(read) = open
            && read.block == block
            && read.row == row
        {
            read.bytes += bytes;
            return;
        }
        let read = FlashRead { block, row, rows, bytes, owner: ReadOwner::Command(number) };
        if let Some(complete) = open.replace(read) {
            self.start_read(number, complete);
        }
    }

    fn start_read(&mut self, number: u32, read: FlashRead) {
        self.commands.get_mut(number).remaining += 1;
        self.queue_read(read);
    }

    /// The read of a whole mapping unit.
    pub(super) fn read_unit(&mut self, ppn: Ppn, owner: ReadOwner) {
        let (rows, bytes) = (self.ftl.geometry.rows_per_unit, self.shape.unit_bytes);
        let block = self.ftl.geometry.block(ppn);
        self.queue_read(FlashRead { block, row: self.ftl.row(ppn), rows, bytes, owner });
    }

    /// Data is at hand: it crosses the link.
    fn send_out(&mut self, number: u32, bytes: u64) {
        let time = self.link_time(bytes);
        let crossed = self.link.cross_out(self.now, time);
        self.arrivals.push(Arrival::DataOut as usize, crossed, number);
    }

    /// A row is to be sensed: at once where its die is idle or can be suspended.
    fn queue_read(&mut self, read: FlashRead) {
        let die = usize::from(self.ftl.geometry.die(read.block).0);
        if self.dies.activity(die) == Activity::MovingRun {
            self.leave_run(die);
        }
        match self.dies.activity(die) {
            Activity::Idle | Activity::Waiting | Activity::Held => {
                self.dies.choose(die);
                self.sense(die, read, Nanos::ZERO);
            }
            Activity::Writing | Activity::Programming | Activity::Moving | Activity::MovingOn | Activity::Erasing => {
                self.dies.get_mut(die).reads.push_back(read);
                self.let_read_in(die);
                self.suspend(die);
            }
            _ => self.dies.get_mut(die).reads.push_back(read),
        }
    }

    /// A move and the sensing after it were one event: a read may come in between after all.
    fn let_read_in(&mut self, die: usize) {
        if self.dies.activity(die) != Activity::MovingOn {
            return;
        }
        let (ends, sensed) = (self.dies.get(die).move_ends, self.dies.calendar.time_of(die));
        if self.now < ends {
            self.dies.get_mut(die).unsensed = Some(sensed - ends);
            return self.dies.go_on(die, Activity::Moving, ends);
        }
        self.ftl.program_ended(DieId(die as u16));
        self.end_move(die);
        self.dies.go_on(die, Activity::Gathering, sensed);
    }

    /// Interrupts a program or erase whose array time is longer than the interruption.
    pub(super) fn suspend(&mut self, die: usize) {
        let Some(cost) = self.shape.times.suspend else { return };
        let left = self.dies.calendar.time_of(die).saturating_sub(self.now);
        let activity = self.dies.activity(die);
        let interruptible =
            matches!(activity, Activity::Writing | Activity::Programming | Activity::Moving | Activity::Erasing);
        if !interruptible || self.dies.get(die).suspended.is_some() || left <= cost + cost {
            return;
        }
        self.end_span(die);
        let state = self.dies.get_mut(die);
        state.suspended = Some((activity, left));
        let read = state.reads.pop_front().expect("a read asks for the suspension");
        self.sense(die, read, cost);
    }

    /// Senses a row, after a delay.
    pub(super) fn sense(&mut self, die: usize, read: FlashRead, delay: Nanos) {
        let outcome = self.ftl.flash.read(read.block, &mut self.ftl.counters);
        let array = self.ftl.flash.array.read_time(read.block, read.row, read.rows);
        let array = Nanos(array.0 * u64::from(1 + outcome.retries));
        self.dies.get_mut(die).current = Some((read, outcome));
        let issued = self.issue_cycles(die);
        self.dies.begin(die, Activity::Sensing, self.now, issued + delay + array);
    }

    /// A row is in the register: its data crosses the channel.
    #[inline(never)]
    pub(super) fn sensed(&mut self, die: usize) {
        self.end_span(die);
        let (read, _) = self.dies.get(die).current.expect("a read is under way");
        let transfer = self.dies.channel_times.of(u64::from(read.bytes));
        self.ftl.counters.channel_host_ns += transfer.0;
        let sent = self.reserve_channel(die, transfer);
        self.dies.begin(die, Activity::Sending, self.now, sent);
    }

    /// A row has crossed the channel: whoever waited for it goes on.
    pub(super) fn sent(&mut self, die: usize, done: &mut Vec<Completion>) {
        let (read, outcome) = self.dies.get_mut(die).current.take().expect("a read is under way");
        match read.owner {
            ReadOwner::Command(number) => {
                if outcome.uncorrectable {
                    self.fail(number);
                }
                self.send_out(number, u64::from(read.bytes));
            }
            ReadOwner::Parked(number) => {
                if outcome.uncorrectable {
                    self.fail_parked(number);
                }
                self.unpark(number, done);
            }
            ReadOwner::Map(Some(number)) => self.map_loaded(number, outcome.uncorrectable),
            ReadOwner::Map(None) => {}
        }
    }

    /// The rest of a partly written unit is lost. A write that waits for it ends with an error; of one
    /// that was acknowledged by the buffer only the count of uncorrectable reads tells.
    fn fail_parked(&mut self, number: u32) {
        if let Owner::Command(command) = self.pending.parked(number).owner {
            self.fail(command);
        }
    }

    /// The old contents of a partly written unit are there: it can be programmed.
    fn unpark(&mut self, number: u32, done: &mut Vec<Completion>) {
        match self.pending.unpark(number) {
            Some(Unit { owner, held, .. }) => {
                self.ftl.flash.contents.release(held);
                self.unit_programmed(owner, done);
            }
            None => self.feed_dies(),
        }
    }

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
        loads.iter().for_each(|ppn| self.read_unit(*ppn, ReadOwner::Map(waits)));
        for lpn in evictions {
            self.pending.push(Unit {
                lpn,
                owner: Owner::Drive,
                bytes: self.shape.unit_bytes,
                held: C::Held::default(),
            });
        }
        loads.len() as u32
    }
}
