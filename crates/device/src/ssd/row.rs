//! Rows of the host: whichever die is free takes the next of what is pending.

use crate::block::Completion;
use crate::ftl::Readiness;
use crate::ftl::frontier::Purpose;
use crate::ftl::mapping::{Place, Version};
use crate::ftl::streams::whole_row;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::pending::{Owner, Unit};
use crate::units::{DieId, Lpn, Nanos};

impl<C: Contents> Ssd<C> {
    /// Enough is pending for a row, or what is there must not wait.
    #[inline]
    pub(super) fn may_start_row(&mut self) -> bool {
        let geometry = &self.ftl.geometry;
        let is_full = self.pending.len() >= geometry.units_per_row as usize
            && (geometry.packing == 1 || self.packed_row_is_full())
            && (!self.ftl.gathers_streams() || self.unit_of_whole_row().is_some());
        is_full
            || !self.pending.is_empty()
                && (!self.buffer.is_present()
                    || self.buffer.is_flushing()
                    || self.buffer.is_stalled()
                    || self.pending.front().is_some_and(|unit| unit.owner == Owner::Journal))
    }

    /// A unit of a stream of which a whole row is pending.
    #[cold]
    fn unit_of_whole_row(&mut self) -> Option<Lpn> {
        let (ftl, mut last) = (&mut self.ftl, None);
        let units = ftl.geometry.units_per_row;
        let streams = self.pending.iter().map(|unit| {
            last = Some(unit.lpn);
            ftl.stream_of_write(unit.lpn)
        });
        whole_row(streams, units).and(last)
    }

    /// The unit that decides of which stream the next row is: of a whole row, or the first one where somebody waits.
    #[inline]
    fn first_of_row(&mut self) -> Option<Lpn> {
        let &Unit { lpn, owner, .. } = self.pending.front()?;
        if !self.ftl.gathers_streams() || owner == Owner::Journal {
            return Some(lpn);
        }
        let may_wait = self.buffer.is_present() && !self.buffer.is_flushing();
        let whole = if may_wait { self.unit_of_whole_row() } else { None };
        whole.or(Some(lpn))
    }

    /// What is pending fills a row by its bytes: of compressed units it may take many.
    fn packed_row_is_full(&self) -> bool {
        let geometry = &self.ftl.geometry;
        let most = (geometry.units_per_row * geometry.packing) as usize;
        let mut left = self.shape.row_bytes;
        for unit in self.pending.iter().take(most) {
            if unit.bytes > left {
                return true;
            }
            left -= unit.bytes;
        }
        self.pending.len() >= most || left < self.shape.flash_bytes(100)
    }

    /// The common write in one go, with the same outcome as if it had been pending: nothing waits before
    /// it, and the idle die whose turn it is has room. False, with nothing changed, where it has to wait.
    #[inline(always)]
    pub(super) fn write_at_once(&mut self, unit: &Unit<C::Held>) -> bool {
        if !self.pending.is_empty() {
            return false;
        }
        let Some(die) = self.dies.ring.next_idle() else { return false };
        if !self.plain_write(die, unit) {
            return false;
        }
        self.dies.ring.take_turn(die);
        true
    }

    /// The common write of what is pending in one go, by a free die that has neither reads nor a job, with
    /// the same outcome as `choose_work`. False, with nothing changed, where more has to be asked.
    #[inline(always)]
    pub(super) fn write_pending(&mut self, die: usize) -> bool {
        let Some(&unit) = self.pending.front().filter(|_| !self.buffer.is_present()) else { return false };
        if !self.plain_write(die, &unit) {
            return false;
        }
        self.pending.pop();
        true
    }

    /// A row of one unit, where the FTL has nothing else to do.
    #[inline(always)]
    fn plain_write(&mut self, die: usize, unit: &Unit<C::Held>) -> bool {
        self.meet_unit(unit.lpn);
        let Some(programmed) = self.ftl.write_on(DieId(die as u16), unit.lpn) else { return false };
        self.program_host_row(die, programmed, Some(unit.owner));
        true
    }

    /// Gives pending units to idle dies, beginning behind the one that took the last row.
    #[inline]
    pub(super) fn feed_dies(&mut self) {
        let mut tried = 0;
        while tried < self.dies.count() && self.may_start_row() {
            let Some(die) = self.dies.ring.next_idle() else { return };
            self.dies.ring.take_turn(die);
            tried += 1;
            self.work(die);
        }
    }

    /// Programs the next pending row on a die; false where it cannot take one.
    pub(super) fn start_row(&mut self, die: usize) -> bool {
        let id = DieId(die as u16);
        if let Some(lpn) = self.first_of_row() {
            self.ftl.meet_unit(id, lpn);
        }
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
        let mut bytes_left = self.shape.row_bytes;
        let mut slots_left = self.ftl.row_slots_left(id, purpose);
        self.prefetch_next_row();
        if self.ftl.puts_plainly() {
            slots_left -= self.put_buffered_units(die, purpose, slots_left);
        }
        while slots_left > 0
            && let Some(unit) = self.next_of_row(id, purpose, bytes_left)
        {
            if !self.put_unit(die, purpose, unit) {
                // The unit behind it may be of another stream.
                if self.ftl.separates() && !self.ftl.gathers_streams() {
                    break;
                }
                continue;
            }
            bytes_left -= unit.bytes;
            slots_left -= 1;
        }
        if self.dies.get(die).row.is_empty() {
            return false;
        }
        let programmed = self.ftl.end_row(id, id, purpose);
        self.drain_map_work(None);
        if self.dies.budget.is_none() {
            self.program_host_row(die, programmed, None);
        } else {
            self.load_host_row(die, programmed);
        }
        true
    }

    /// Puts the units that come first into the open row, so many at most, as long as they are whole and in the buffer: the
    /// common row in one go, as [`Ssd::put_unit`] does it one by one. Returns how many they are.
    #[inline(always)]
    fn put_buffered_units(&mut self, die: usize, purpose: Purpose, most: u32) -> u32 {
        let (id, whole) = (DieId(die as u16), (0, self.shape.unit_size.sectors()));
        let row = &mut self.dies.get_mut(die).row;
        let mut to = self.ftl.next_slot(id, purpose);
        let mut count = 0;
        while count < most
            && let Some(&Unit { lpn, owner: Owner::Slot(slot), held, .. }) = self.pending.front()
            && self.buffer.slots[slot as usize].is_put_plainly(whole)
        {
            self.pending.pop();
            self.ftl.put_buffered(id, lpn, slot, held, to);
            row.push(Owner::Slot(slot));
            to.0 += 1;
            count += 1;
        }
        self.ftl.take_slots(id, purpose, count);
        count
    }

    /// Fetches what the units behind those of this row will touch: by the time that a buffered unit is programmed, its
    /// entry, looked up as it came, has mostly left the cache.
    #[inline(always)]
    fn prefetch_next_row(&self) {
        let units = self.ftl.geometry.units_per_row as usize;
        for unit in self.pending.range(units..2 * units) {
            match unit.owner {
                Owner::Slot(slot) => self.ftl.mapping.prefetch_buffered(unit.lpn, slot),
                _ => self.ftl.mapping.prefetch(unit.lpn),
            }
        }
    }

    /// Takes the next pending unit that belongs into the open row and has room there.
    #[inline(always)]
    fn next_of_row(&mut self, die: DieId, purpose: Purpose, bytes_left: u32) -> Option<Unit<C::Held>> {
        if self.ftl.gathers_streams() {
            return self.next_of_stream(die, purpose);
        }
        self.pending.front().filter(|unit| unit.bytes <= bytes_left)?;
        self.pending.pop()
    }

    #[cold]
    fn next_of_stream(&mut self, die: DieId, purpose: Purpose) -> Option<Unit<C::Held>> {
        let ftl = &mut self.ftl;
        let open = ftl.open_stream(die, purpose);
        self.pending.take_first(|unit| open.is_none_or(|stream| ftl.stream_of_write(unit.lpn) == stream))
    }

    /// Times a row that the FTL has filled: channel and tPROG. `lone` waits for it where it is one unit alone.
    #[inline(always)]
    fn program_host_row(&mut self, die: usize, programmed: Nanos, lone: Option<Owner>) {
        let load = self.load_time(die);
        self.dies.write_row(die, self.now, load, programmed, lone);
    }

    /// The time for which a row of the host has the channel, which is counted, and what the row owes is noted.
    #[inline(always)]
    pub(super) fn load_time(&mut self, die: usize) -> Nanos {
        if self.ftl.is_smooth() {
            self.owe(die);
        }
        let transfer = self.shape.times.channel_row;
        self.ftl.counters.channel_host_ns += transfer.0;
        self.catch_up_for(die);
        self.shape.times.flash_command + transfer
    }

    /// Puts a pending unit into the open row; false where it has to be completed by a read first.
    #[inline]
    fn put_unit(&mut self, die: usize, purpose: Purpose, unit: Unit<C::Held>) -> bool {
        self.meet_unit(unit.lpn);
        let mut version = Version::Only;
        if let Owner::Slot(slot) = unit.owner
            && let Place::Buffer(newest) = self.ftl.place(unit.lpn)
        {
            let held = &mut self.buffer.slots[slot as usize];
            let whole = (0, self.shape.unit_size.sectors());
            if held.covered != whole
                && let Some(ppn) = self.ftl.mapping.shadow(newest)
            {
                held.covered = whole;
                if held.is_superseded {
                    self.pending.hold_back(unit.lpn);
                }
                self.read_first(ppn, unit);
                return false;
            }
            version = if slot == newest { Version::Newest(slot) } else { Version::OlderThan(newest) };
        }
        self.ftl.touch_map(unit.lpn, true);
        self.ftl.put(DieId(die as u16), purpose, unit.lpn, version, unit.held);
        self.dies.get_mut(die).row.push(unit.owner);
        true
    }

    /// A row is programmed: whoever waited for its units goes on.
    #[inline(always)]
    pub(super) fn row_written(&mut self, die: usize, done: &mut Vec<Completion>) {
        self.ftl.program_ended(DieId(die as u16));
        let (busy, lone) = self.dies.end_row(die, self.now);
        self.ftl.counters.die_host_write_ns += busy.0;
        if let Some(owner) = lone {
            return self.unit_programmed(owner, done);
        }
        if self.buffer.is_present() && !self.buffer.is_flushing() && self.give_row_back(die) {
            return self.take_stalled(done);
        }
        for place in 0..self.dies.get(die).row.len() {
            let owner = self.dies.get(die).row[place];
            self.unit_programmed(owner, done);
        }
        self.dies.get_mut(die).row.clear();
    }

    /// The slots of the buffer that a row was in are free again, all at once: while no flush waits, that is the same as
    /// one after the other. False, with nothing changed, where others wait for a unit of it.
    #[inline(always)]
    fn give_row_back(&mut self, die: usize) -> bool {
        let row = &mut self.dies.get_mut(die).row;
        if row.iter().any(|owner| !matches!(owner, Owner::Slot(_))) {
            return false;
        }
        for owner in row.iter() {
            if let Owner::Slot(slot) = owner {
                self.buffer.give_back(*slot);
            }
        }
        row.clear();
        true
    }
}
