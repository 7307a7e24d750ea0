//! Reads: a row is sensed, its data crosses the channel; a program or erase may be suspended for it.

use super::{Activity, FlashRead, ReadOwner};
use crate::block::Completion;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::ssd::host::{Owner, Unit};
use crate::units::Nanos;

impl<C: Contents> Ssd<C> {
    /// A row is to be sensed: at once where its die is idle or can be suspended.
    pub(in crate::ssd) fn queue_read(&mut self, read: FlashRead) {
        let die = usize::from(self.ftl.geometry.die(read.block).0);
        match self.activities[die] {
            Activity::Idle => self.sense(die, read),
            Activity::Writing | Activity::Moving | Activity::MovingOn | Activity::Erasing => {
                self.dies[die].reads.push_back(read);
                self.let_read_in(die);
                self.suspend(die);
            }
            _ => self.dies[die].reads.push_back(read),
        }
    }

    /// A move and the sensing after it were one event: a read may come in between after all.
    pub(super) fn let_read_in(&mut self, die: usize) {
        if self.activities[die] != Activity::MovingOn {
            return;
        }
        let (ends, sensed) = (self.dies[die].move_ends, self.calendar.time_of(die));
        if self.now < ends {
            self.dies[die].unsensed = Some(sensed - ends);
            return self.set_activity(die, Activity::Moving, ends);
        }
        self.end_move(die);
        self.set_activity(die, Activity::Gathering, sensed);
    }

    /// The move has ended, after which the sensing of the next unit began.
    pub(super) fn end_move(&mut self, die: usize) {
        let ends = self.dies[die].move_ends;
        self.end_span_of(die, Activity::Moving, ends);
        self.dies[die].began = ends;
    }

    /// Interrupts a program or erase whose array time is longer than the interruption.
    pub(super) fn suspend(&mut self, die: usize) {
        let Some(cost) = self.times.suspend else { return };
        let left = self.calendar.time_of(die).saturating_sub(self.now);
        let interruptible = matches!(self.activities[die], Activity::Writing | Activity::Moving | Activity::Erasing);
        if !interruptible || self.dies[die].suspended.is_some() || left <= cost + cost {
            return;
        }
        self.end_span(die);
        self.dies[die].suspended = Some((self.activities[die], left));
        let read = self.dies[die].reads.pop_front().expect("a read asks for the suspension");
        self.sense_after(die, read, cost);
    }

    /// Sends the command and address cycles of an operation without data over the channel; returns
    /// when the die has them. Cycles of no length need no channel.
    #[inline]
    pub(super) fn issue_command(&mut self, die: usize) -> Nanos {
        match self.times.flash_command {
            Nanos::ZERO => self.now,
            cycles => self.reserve_channel(die, cycles),
        }
    }

    pub(super) fn sense(&mut self, die: usize, read: FlashRead) {
        self.sense_after(die, read, Nanos::ZERO);
    }

    pub(super) fn sense_after(&mut self, die: usize, read: FlashRead, delay: Nanos) {
        let outcome = self.ftl.flash.read(read.block, &mut self.ftl.counters);
        let array = self.ftl.flash.array.read_time(read.block, read.row, read.rows);
        let array = Nanos(array.0 * u64::from(1 + outcome.retries));
        self.dies[die].current = Some((read, outcome));
        let issued = self.issue_command(die);
        self.busy(die, Activity::Sensing, issued + delay + array);
    }

    pub(super) fn sensed(&mut self, die: usize) {
        self.end_span(die);
        let (read, _) = self.dies[die].current.expect("a read is under way");
        let transfer = self.channel_times.of(u64::from(read.bytes));
        self.ftl.counters.channel_host_ns += transfer.0;
        let sent = self.reserve_channel(die, transfer);
        self.busy(die, Activity::Sending, sent);
        self.dies[die].began = self.now;
    }

    /// Takes a die's channel now, or as soon as it is free; returns when the transfer is done.
    #[inline(always)]
    pub(super) fn reserve_channel(&mut self, die: usize, length: Nanos) -> Nanos {
        let channel = self.dies[die].channel;
        self.channels[channel as usize].reserve(self.now, length)
    }

    pub(super) fn sent(&mut self, die: usize, done: &mut Vec<Completion>) {
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
    pub(super) fn fail_parked(&mut self, die: usize, place: u32) {
        if let Some(Unit { owner: Owner::Command(index), .. }) = self.dies[die].parked[place as usize] {
            self.fail(index);
        }
    }

    /// The old contents of a partly written unit are there: it can be programmed.
    pub(super) fn unpark(&mut self, die: usize, place: u32, done: &mut Vec<Completion>) {
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
}
