//! Host commands: admitted, given to the controller, carried out by kind, ended.

use crate::block::{Busy, Completion, Operation, Request, Status, Tag};
use crate::nand::contents::Contents;
use crate::ssd::commands::Command;
use crate::ssd::power_states::PowerState;
use crate::ssd::{Arrival, Ssd};
use crate::units::Nanos;

impl<C: Contents> Ssd<C> {
    /// A command has come.
    #[inline(always)]
    pub(super) fn admit(&mut self, tag: Tag, request: Request) -> Result<(), Busy> {
        if self.commands.outstanding() >= self.shape.limits.queue_depth {
            return Err(Busy);
        }
        let number = self.commands.start(Command::new(tag, request));
        if self.commands.outstanding() == 1 {
            self.end_idling();
            self.wake_up();
        }
        if self.rests {
            self.go_on_with(request.operation);
        }
        if !self.commands.hold(number, request.operation) {
            self.issue(number, request);
        }
        Ok(())
    }

    /// The controller takes a command.
    #[inline(always)]
    fn issue(&mut self, number: u32, request: Request) {
        let time = self.shape.command_time(&request);
        let ready = self.link.occupy_controller(self.now, time);
        self.ftl.counters.controller_ns += time.0;
        if request.operation == Operation::Write && self.link.books_writes_ahead() {
            // Mostly on full duplex: write data crosses in the order of commands, so the link's turn is known already.
            let crossing = self.link_time(self.bytes_of(&request));
            let crossed = self.link.cross_in(ready, crossing);
            self.arrivals.push(Arrival::DataIn as usize, crossed, number);
        } else {
            self.arrivals.push(Arrival::Command as usize, ready, number);
        }
    }

    /// Bytes that a request names.
    #[inline(always)]
    pub(super) fn bytes_of(&self, request: &Request) -> u64 {
        u64::from(request.sectors) * u64::from(self.shape.limits.sector_bytes)
    }

    /// Time that so many bytes take on the link, which is counted.
    #[inline(always)]
    pub(super) fn link_time(&mut self, bytes: u64) -> Nanos {
        let time = self.link.time_of(bytes);
        self.ftl.counters.link_ns += time.0;
        time
    }

    /// The time of the earliest arrival has come; of several at once, that of the first queue in order.
    #[inline(always)]
    pub(super) fn arrival_event(&mut self, done: &mut Vec<Completion>) {
        if let Some(number) = self.arrived(Arrival::Command) {
            if !self.begins_write(number) {
                self.begin(number, done);
            }
        } else if let Some(number) = self.arrived(Arrival::DataIn) {
            self.take_write(number, done);
        } else if let Some(number) = self.arrived(Arrival::DataOut) {
            self.part_done(number, done);
        } else if self.arrived(Arrival::Idle).is_some() {
            self.idle_event();
        } else {
            self.arrivals.pop(Arrival::End as usize);
            self.end_next(done);
        }
    }

    /// Takes the first number of a queue of arrivals, where its time has come.
    #[inline(always)]
    fn arrived(&mut self, arrival: Arrival) -> Option<u32> {
        self.arrivals.is_next(arrival as usize).then(|| self.arrivals.pop(arrival as usize))
    }

    /// A command has had its controller time, and is a write whose data may cross: false, with nothing changed, where it
    /// is not.
    #[inline(always)]
    fn begins_write(&mut self, number: u32) -> bool {
        let request = self.commands.get(number).request;
        if request.operation != Operation::Write || self.shape.is_out_of_range(&request) {
            return false;
        }
        let bytes = self.bytes_of(&request);
        let time = self.link_time(bytes);
        let crossed = self.link.cross_in(self.now, time);
        let taken = match &mut self.link.pace {
            Some(pace) => pace.admit(crossed, bytes, self.ftl.is_short_of_blocks()),
            None => crossed,
        };
        self.arrivals.push(Arrival::DataIn as usize, taken, number);
        true
    }

    /// Any other command has had its controller time.
    #[inline(never)]
    fn begin(&mut self, number: u32, done: &mut Vec<Completion>) {
        let request = self.commands.get(number).request;
        if request.operation != Operation::Flush && self.shape.is_out_of_range(&request) {
            return self.complete(number, Status::OutOfRange, done);
        }
        match request.operation {
            Operation::Read => self.look_up(number),
            Operation::Write => unreachable!("a write in range has begun"),
            Operation::Trim => self.begin_trim(number, &request, done),
            Operation::WriteZeroes => self.take_write(number, done),
            Operation::Flush => self.begin_flush(number, false, done),
        }
    }

    /// A part of a command met an error that could not be corrected.
    pub(super) fn fail(&mut self, number: u32) {
        self.commands.get_mut(number).status = Status::MediaError;
    }

    /// A part of a command is done; with the last one it ends.
    #[inline(always)]
    pub(super) fn part_done(&mut self, number: u32, done: &mut Vec<Completion>) {
        let command = self.commands.get_mut(number);
        command.remaining -= 1;
        if command.remaining == 0 {
            let (status, fua) = (command.status, command.request.fua);
            if fua {
                return self.end_with_fua(number, status, done);
            }
            self.complete(number, status, done);
        }
    }

    /// The work of a command is done: it ends, at once or after its latency.
    #[inline(always)]
    pub(super) fn complete(&mut self, number: u32, status: Status, done: &mut Vec<Completion>) {
        if self.commands.has_plain_ends() {
            let command = self.commands.end_plainly(number);
            return self.answer(&command, status, done);
        }
        match self.commands.begin_end(self.now, number, status) {
            Some(time) => self.arrivals.bring_forward(Arrival::End as usize, time),
            None => self.end(number, status, done),
        }
    }

    /// The latency of the next command to end is over.
    #[inline(never)]
    fn end_next(&mut self, done: &mut Vec<Completion>) {
        if let Some(number) = self.commands.take_next_end() {
            let status = self.commands.get(number).status;
            if self.commands.none_waits() {
                let command = self.commands.end_plainly(number);
                self.answer(&command, status, done);
            } else {
                self.end(number, status, done);
            }
        }
        // The queue of ends has one entry, the earliest: commands overtake each other in their latency.
        self.arrivals.set(Arrival::End as usize, self.commands.next_end().unwrap_or(Nanos::NEVER), 0);
    }

    /// A command ends, and those that were held back behind it may start.
    #[inline(never)]
    pub(super) fn end(&mut self, number: u32, status: Status, done: &mut Vec<Completion>) {
        let command = self.commands.end(number);
        self.answer(&command, status, done);
        self.issue_held();
    }

    /// The host is told how a command ended.
    #[inline(always)]
    fn answer(&mut self, command: &Command, status: Status, done: &mut Vec<Completion>) {
        let Command { tag, request, .. } = *command;
        if status == Status::Success {
            request.count(&mut self.ftl.counters, self.shape.limits.sector_bytes);
        }
        done.push(Completion { tag, status });
        // What happens at this instant still happens.
        self.commands.host_looks_at = self.now;
        if self.commands.outstanding() == 0 {
            self.start_idling();
            self.rest();
        }
    }

    fn issue_held(&mut self) {
        while let Some(number) = self.commands.release() {
            self.issue(number, self.commands.get(number).request);
        }
    }

    /// The host waits for nothing any more.
    #[inline(always)]
    pub(super) fn start_idling(&mut self) {
        if let Some(after) = self.shape.config.ftl.idle_gc_after_ms {
            self.arrivals.push(Arrival::Idle as usize, self.now + after.0, 0);
        }
    }

    /// The first command has come.
    #[inline(always)]
    fn end_idling(&mut self) {
        if self.shape.config.ftl.idle_gc_after_ms.is_some() {
            self.idle_work = false;
            self.arrivals.clear(Arrival::Idle as usize);
        }
    }

    /// The first command has come: the controller takes it when the drive is awake.
    #[inline(always)]
    fn wake_up(&mut self) {
        if let Some(power) = &mut self.power {
            let wait = power.wake(self.now, &mut self.ftl.counters);
            self.link.occupy_controller(self.now, wait);
        }
    }

    /// The last command has ended.
    #[inline(always)]
    pub(super) fn rest(&mut self) {
        if let Some(power) = &mut self.power {
            power.rest(self.now, &mut self.ftl.counters);
        }
    }

    /// A host lets the drive enter a power state, where these are modelled; a command wakes it again.
    pub fn enter_power_state(&mut self, now: Nanos, state: PowerState) {
        if let Some(power) = &mut self.power {
            power.enter(state, now, &mut self.ftl.counters);
        }
    }

    /// The power state that the drive is in.
    pub fn power_state(&self, now: Nanos) -> PowerState {
        self.power.as_ref().map_or(PowerState::Awake, |power| power.state(now))
    }
}
