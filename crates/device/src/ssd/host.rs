//! Host commands: accepted, cut into mapping units, completed.
//!
//! Here is the front: the controller's queue, the link, the end of every command. What a command
//! does is in a file by its kind, under `host/`; `host/abort.rs` ends what cannot go on.

mod abort;
mod flush;
mod reads;
mod trim;
mod unqueued;
mod writes;

use crate::block::{Busy, Completion, Operation, Request, Status, Tag};
use crate::nand::contents::Contents;
use crate::ssd::{Lane, Ssd};
use crate::units::{Lpn, Nanos};
use std::collections::VecDeque;

/// Who waits for a unit to be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A command (no buffer).
    Command(u32),
    /// A slot of the write buffer.
    Slot(u32),
    /// Flushes: it is a page of the map's journal.
    Journal,
    /// Nobody: the drive's own writes.
    Drive,
}

/// A unit on its way to flash.
#[derive(Clone, Copy, Debug)]
pub struct Unit<S> {
    /// Which one.
    pub lpn: Lpn,
    /// Who waits.
    pub owner: Owner,
    /// Bytes in flash: fewer than a unit has where data is compressed.
    pub bytes: u32,
    /// Its contents.
    pub stamp: S,
}

/// A flush, or a write with FUA: not done before what it found is durable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flush {
    pub(super) command: u32,
    /// Commands done that may have changed the map, itself included where it is a write.
    pub(super) changes: u64,
    /// A write with FUA, which no page of the journal holds that was begun before it was programmed.
    pub(super) is_write: bool,
}

/// A command under way.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    tag: Tag,
    request: Request,
    /// Flash operations, units or transfers still to come.
    remaining: u32,
    /// Units already taken by the buffer.
    taken: u32,
    status: Status,
}

/// Commands and the queues they wait in.
#[derive(Debug, Default)]
pub struct Front {
    commands: Vec<Command>,
    free: Vec<u32>,
    outstanding: u32,
    /// Writes for which the buffer has no room, in order.
    stalled: VecDeque<u32>,
    /// Flushes and the epoch of the buffer that they wait for.
    flushes: VecDeque<(u64, Flush)>,
    /// Commands kept back behind one that is not queued, or until it may start, in order.
    held: VecDeque<u32>,
    /// The command that is not queued and under way.
    alone: Option<u32>,
}

impl Front {
    #[inline(always)]
    fn start(&mut self, command: Command) -> u32 {
        self.outstanding += 1;
        match self.free.pop() {
            Some(index) => {
                self.commands[index as usize] = command;
                index
            }
            None => {
                self.commands.push(command);
                self.commands.len() as u32 - 1
            }
        }
    }

    /// Commands that the host waits for.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// A write waits for room in the buffer.
    pub fn is_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }
}

impl<C: Contents> Ssd<C> {
    #[inline(always)]
    pub(super) fn accept(&mut self, tag: Tag, request: Request) -> Result<(), Busy> {
        if self.front.outstanding >= self.limits.queue_depth {
            return Err(Busy);
        }
        let command = Command { tag, request, remaining: 0, taken: 0, status: Status::Success };
        let index = self.front.start(command);
        if self.front.outstanding == 1 {
            self.end_idling();
            self.wake_up();
        }
        if self.rests {
            self.go_on_with(request.operation);
        }
        if !(self.times.some_go_alone && self.is_held(index)) {
            self.issue(index, request);
        }
        Ok(())
    }

    /// The controller takes a command.
    #[inline(always)]
    fn issue(&mut self, index: u32, request: Request) {
        let time = self.command_time(&request);
        let ready = self.controller.reserve(self.now, time);
        self.ftl.counters.controller_ns += time.0;
        if request.operation == Operation::Write && !self.times.half_duplex {
            // Full duplex: write data crosses in the order of commands, so the link's turn is known already.
            let crossing = self.link_time(&request);
            let done = self.link_in.reserve(ready, crossing);
            self.lanes.push(Lane::DataIn as usize, done, index);
        } else {
            self.lanes.push(Lane::Command as usize, ready, index);
        }
    }

    /// Time of a command on the link and in the controller.
    #[inline]
    pub(super) fn command_time(&self, request: &Request) -> Nanos {
        let base = self.times.command[request.operation as usize];
        match request.operation {
            Operation::Trim => base + self.trim_time(request.sectors),
            Operation::Read | Operation::Write if self.times.unit != Nanos::ZERO => {
                let units = u64::from(request.sectors.div_ceil(self.unit_size.sectors())).max(1);
                base + Nanos(self.times.unit.0 * (units - 1))
            }
            _ => base,
        }
    }

    #[inline]
    fn link_time(&mut self, request: &Request) -> Nanos {
        let time = self.link_times.of(u64::from(request.sectors) * u64::from(self.limits.sector_bytes));
        self.ftl.counters.link_ns += time.0;
        time
    }

    #[inline(always)]
    pub(super) fn lane_event(&mut self, lane: usize, done: &mut Vec<Completion>) {
        const COMMAND: usize = Lane::Command as usize;
        const DATA_IN: usize = Lane::DataIn as usize;
        const DATA_OUT: usize = Lane::DataOut as usize;
        let index = self.lanes.pop(lane);
        match lane {
            COMMAND => self.begin(index, done),
            DATA_IN => self.take_write(index, done),
            DATA_OUT => self.part_done(index, done),
            _ => self.idle_event(),
        }
    }

    /// A command has had its controller time.
    fn begin(&mut self, index: u32, done: &mut Vec<Completion>) {
        let request = self.front.commands[index as usize].request;
        let end = request.lba.0.checked_add(u64::from(request.sectors));
        if request.operation != Operation::Flush && end.is_none_or(|end| end > self.limits.sectors) {
            return self.complete(index, Status::OutOfRange, done);
        }
        match request.operation {
            Operation::Read => self.look_up(index),
            Operation::Write => {
                let time = self.link_time(&request);
                let crossed = self.reserve_link_in(time);
                self.lanes.push(Lane::DataIn as usize, crossed, index);
            }
            Operation::Trim => {
                self.trim(&request);
                self.complete(index, Status::Success, done);
            }
            Operation::WriteZeroes => self.take_write(index, done),
            Operation::Flush => self.begin_flush(index, false, done),
        }
    }

    fn reserve_link_in(&mut self, time: Nanos) -> Nanos {
        if self.times.half_duplex {
            self.link_out.reserve(self.now, time)
        } else {
            self.link_in.reserve(self.now, time)
        }
    }

    #[inline(always)]
    pub(super) fn complete(&mut self, index: u32, status: Status, done: &mut Vec<Completion>) {
        let Command { tag, request, .. } = self.front.commands[index as usize];
        self.front.free.push(index);
        self.front.outstanding -= 1;
        if status == Status::Success {
            request.count(&mut self.ftl.counters, self.limits.sector_bytes);
        }
        done.push(Completion { tag, status });
        if self.times.some_go_alone {
            self.release_held(index);
        }
        if self.front.outstanding == 0 {
            self.start_idling();
            self.rest();
        }
    }
}
