//! The drive: host commands in, flash operations out, in virtual time.
//!
//! ```text
//!  host ─► controller ─► link in ─► write buffer ─► pending ─► die: channel, tPROG ─► (done)
//!                    └─► map ─► die: tR ─► channel ─► link out ─► done
//! ```
//! A command first takes its controller time, in order of arrival. A write then crosses the link
//! into the buffer and is done; without a buffer it is done when programmed. Whichever die is free
//! takes the next pending row, starting behind the one that took the last (so consecutive rows lie
//! on different channels). A read senses its rows on their dies; data crosses channel and link as
//! each becomes free. Every shared resource is reserved when it is reached, not when the command
//! arrives; only write data on a full-duplex link is booked at acceptance, in command order, which
//! gives the same times, since nothing else uses that direction.
//!
//! Idle read: link command + controller + flash command + tR + channel + link + latency of its own ([`endings`]).
//!
//! Parts, each with a state of its own: [`shape`] (what does not change), [`commands`], [`link`] (with [`write_pace`]), [`write_buffer`],
//! [`pending`] (units on their way), [`move_runs`], [`move_processor`], [`journal`] (of the map), [`dies`] (and channels), [`idle_ring`], [`activity`] (and its record), [`power_states`],
//! [`program_budget`], [`seasoning_row`], [`endings`]; [`pieces`] cuts requests into units. Steps work on the parts together: `admit` (and the ends
//! of commands), `read`, `write`, `row`, `flush`, `trim`, [`admin`] (starting over), `work` (what a die does
//! next), `job`, `staged` (programs that wait once they are loaded), `catch_up` (runs of moves), `seasoning` (without a clock), `cut` (the end of what is under way).
//! Left out: several namespaces, thermal throttling, the read cache, host memory buffer.

pub mod activity;
pub mod admin;
mod admit;
mod catch_up;
pub mod commands;
mod copy;
mod cut;
pub mod dies;
pub mod endings;
mod flush;
pub mod health;
pub mod idle_ring;
mod job;
pub mod journal;
pub mod link;
pub mod move_processor;
pub mod move_runs;
pub mod past;
pub mod pending;
pub mod pieces;
pub mod power_states;
pub mod program_budget;
mod read;

mod recovery;
mod row;
mod seasoning;
pub mod seasoning_row;
pub mod shape;
pub mod signs;
mod staged;
mod trim;
mod work;
mod write;
pub mod write_buffer;
pub mod write_pace;

use crate::block::{Busy, Completion, Device, Limits, Operation, Request, Status, Tag};
use crate::config::DriveConfig;
use crate::counters::Counters;
use crate::ftl::Ftl;
use crate::ftl::layout::own_units;
use crate::ftl::victim::VictimPolicy;
use crate::nand::contents::Contents;
use crate::parameter::Problem;
use crate::sim::arrivals::Arrivals;
use crate::ssd::activity::Span;
use crate::ssd::commands::Commands;
use crate::ssd::dies::Dies;
use crate::ssd::health::Health;
use crate::ssd::journal::Journal;
use crate::ssd::link::Link;
use crate::ssd::move_processor::MoveProcessor;
use crate::ssd::move_runs::MoveRuns;
use crate::ssd::pending::Pending;
use crate::ssd::power_states::PowerStates;
use crate::ssd::seasoning_row::SeasoningRow;
use crate::ssd::shape::{Shape, channel_rate};
use crate::ssd::write_buffer::WriteBuffer;
use crate::units::{Lba, Lpn, Nanos};

/// What has a next event of its own beside the dies.
#[derive(Clone, Copy, Debug)]
enum Arrival {
    /// Commands leaving the controller.
    Command = 0,
    /// Write data that has crossed the link.
    DataIn = 1,
    /// Read data that has crossed the link.
    DataOut = 2,
    /// The drive has been idle for long enough.
    Idle = 3,
    /// The answer to a command has reached the host.
    End = 4,
}

const ARRIVALS: usize = 5;

/// A solid-state drive.
pub struct Ssd<C: Contents = ()> {
    /// The flash translation layer and the flash below it.
    pub ftl: Ftl<C>,
    shape: Shape,
    now: Nanos,
    /// Commands under way and what else happens beside the dies, by [`Arrival`].
    arrivals: Arrivals<ARRIVALS>,
    commands: Commands,
    link: Link,
    buffer: WriteBuffer<C::Held>,
    pending: Pending<C::Held>,
    /// Where a flush has to write what has changed in the map.
    journal: Option<Journal>,
    dies: Dies,
    power: Option<PowerStates>,
    row: SeasoningRow<C::Held>,
    /// Collection uses idle time: there has been enough of it.
    idle_work: bool,
    /// Collection rests until the first write: the drive was preconditioned or switched off under load.
    rests: bool,
}

impl<C: Contents> Ssd<C> {
    /// A drive fresh out of the box; `seed` decides what chance decides.
    ///
    /// # Errors
    /// The key that makes the drive impossible.
    pub fn new(config: &DriveConfig, seed: u64, contents: C) -> Result<Ssd<C>, Problem> {
        Ok(Ssd::around(config, Ftl::new(config, seed, contents)?))
    }

    /// A drive with a victim policy of one's own.
    ///
    /// # Errors
    /// The key that makes the drive impossible.
    pub fn with_policy(
        config: &DriveConfig,
        seed: u64,
        contents: C,
        policy: Box<dyn VictimPolicy>,
    ) -> Result<Ssd<C>, Problem> {
        Ok(Ssd::around(config, Ftl::with_policy(config, seed, contents, policy)?))
    }

    /// A drive around an FTL that was saved; the FTL must have been configured.
    pub fn around(config: &DriveConfig, mut ftl: Ftl<C>) -> Ssd<C> {
        let geometry = ftl.geometry;
        let buffer = WriteBuffer::new(config, &geometry);
        ftl.backlog.limit(ftl.exported, buffer.slots.len());
        let shape = Shape::new(config, &geometry);
        if config.power.programs_at_once.is_some() {
            ftl.leave_short_ways();
        }
        let commands = (buffer.slots.len() as u64).max(u64::from(config.link.queue_depth));
        let ahead = Nanos(shape.times.command[Operation::Write as usize].0 * commands);
        Ssd {
            now: Nanos::ZERO,
            arrivals: Arrivals::default(),
            commands: Commands::new(config, ftl.seed),
            link: Link::new(config),
            buffer,
            pending: Pending::default(),
            journal: config.journals_map().then(|| journal_at_rest(config, &ftl)),
            dies: Dies::new(
                &geometry,
                channel_rate(config),
                MoveProcessor::new(config, geometry.dies as usize),
                config.power.programs_at_once,
            ),
            power: PowerStates::new(config, ftl.seed),
            row: SeasoningRow::new(&geometry, ahead),
            idle_work: false,
            rests: true,
            shape,
            ftl,
        }
    }

    /// The parameters.
    pub fn config(&self) -> &DriveConfig {
        &self.shape.config
    }

    /// Number of channels and of dies.
    pub fn shape(&self) -> (u32, u32) {
        (self.ftl.geometry.channels, self.ftl.geometry.dies)
    }

    /// What its health log says.
    pub fn health(&self) -> Health {
        let (array, rated) = (&self.ftl.flash.array, self.shape.config.reliability.rated_cycles);
        let ftl = &self.ftl;
        let health = Health::of(array.erase_counts(), rated, ftl.blocks_to_lose(), ftl.blocks_lost());
        let is_read_only = health.is_read_only || self.ftl.is_read_only();
        let (supply, geometry) = (ftl.supply(), ftl.geometry);
        let blocks_in_use = array.erase_counts().count() as u64;
        Health {
            is_read_only,
            bad_blocks: array.bad_blocks() as u64,
            free_percent: (100 * supply.free).checked_div(supply.all).unwrap_or(0),
            endurance_bytes: blocks_in_use * geometry.block_bytes() * u64::from(rated),
            ..health
        }
    }

    /// Erases of each block until so many percent of its life are used; none where they are already.
    pub fn cycles_until(&self, used_percent: u32) -> u32 {
        let (mut blocks, mut erases) = (0u64, 0u64);
        for count in self.ftl.flash.array.erase_counts() {
            (blocks, erases) = (blocks + 1, erases + u64::from(count));
        }
        let rated = u64::from(self.shape.config.reliability.rated_cycles);
        let short = (u64::from(used_percent) * blocks * rated).saturating_sub(100 * erases);
        short.div_ceil((100 * blocks).max(1)).try_into().unwrap_or(u32::MAX)
    }

    /// Units in the write buffer, each version of one by itself.
    pub fn buffered(&self) -> usize {
        self.buffer.used()
    }

    /// Mapping unit in bytes.
    pub fn unit_bytes(&self) -> u32 {
        self.ftl.geometry.unit_bytes
    }

    /// Records what every die does, operation by operation, from one time to another.
    pub fn record_timeline(&mut self, from: Nanos, to: Nanos) {
        self.leave_runs();
        self.dies.record(from, to);
    }

    /// What was recorded, in order of end.
    pub fn take_timeline(&mut self) -> Vec<Span> {
        self.dies.take_recorded()
    }

    /// When something happens next. At equal times dies come before arrivals.
    #[inline]
    fn next_time(&self) -> Nanos {
        Nanos(self.dies.calendar.first_time().0.min(self.arrivals.next().0))
    }

    /// Nothing happens any more until `to`, but for commands that can never be done.
    #[cold]
    fn pass_time(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        if self.next_time() == Nanos::NEVER && self.is_stuck() {
            self.give_up(done);
        } else if to != Nanos::NEVER {
            self.now = self.now.max(to);
        }
    }
}

/// The journal's page is the last of the drive's own logical units.
fn journal_at_rest<C: Contents>(config: &DriveConfig, ftl: &Ftl<C>) -> Journal {
    let last = u64::from(ftl.exported) + own_units(config, u64::from(ftl.exported)) - 1;
    Journal::new(Lpn(last as u32), ftl.counters.map_changes())
}

impl<C: Contents> Device for Ssd<C> {
    fn limits(&self) -> &Limits {
        &self.shape.limits
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        debug_assert!(now >= self.now, "time goes forward");
        self.now = now;
        self.dies.runs.serve(MoveRuns::LAST);
        self.admit(tag, request)
    }

    fn next_event(&self) -> Option<Nanos> {
        let time = self.next_time();
        if time == Nanos::NEVER { self.is_stuck().then_some(self.now) } else { Some(time) }
    }

    /// Not inlined into a host's loop: the two would compete for registers.
    #[inline(never)]
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        let before = done.len();
        // `NEVER` lies beyond every limit.
        self.commands.host_looks_at = Nanos(to.0.min(Nanos::NEVER.0 - 1));
        loop {
            let die_time = self.dies.calendar.first_time();
            let arrival_time = self.arrivals.next();
            if arrival_time < die_time {
                if arrival_time > self.commands.host_looks_at {
                    break;
                }
                self.now = arrival_time;
                self.dies.runs.serve(MoveRuns::LAST);
                self.arrival_event(done);
            } else {
                if die_time > self.commands.host_looks_at {
                    break;
                }
                self.now = die_time;
                let event = self.dies.calendar.first();
                self.dies.runs.serve(event.slot);
                self.die_event(event, done);
            }
        }
        if done.len() == before {
            self.pass_time(to, done);
        }
        self.now
    }

    #[inline]
    fn hint(&self, lba: Lba) {
        let (lpn, _) = self.shape.unit_size.split(lba.0);
        if lpn < u64::from(self.ftl.exported) {
            self.ftl.mapping.prefetch(Lpn(lpn as u32));
        }
    }

    /// The map entry, fetched by the hint, tells what else a write will touch.
    #[inline]
    fn hint_write(&self, lba: Lba) {
        let (lpn, _) = self.shape.unit_size.split(lba.0);
        if lpn < u64::from(self.ftl.exported) {
            self.ftl.mapping.prefetch_old(Lpn(lpn as u32));
        }
    }

    fn counters(&mut self) -> Counters {
        self.catch_up_all();
        let mut counters = self.ftl.counters;
        counters.nand_host_bytes_written = counters.host_bytes_written;
        counters.nand_bytes_written = counters.nand_pages_written * u64::from(self.ftl.geometry.unit_bytes);
        if let Some(power) = &self.power {
            power.add_time(self.now, &mut counters);
        }
        counters
    }

    fn is_faulty(&self) -> bool {
        self.ftl.policy_fault().is_some()
    }

    /// A unit that is covered in part is written whole; only whole granules are trimmed.
    fn apply_now(&mut self, request: Request) -> Status {
        match request.operation {
            Operation::Write => {
                self.take_command_now(&request);
                for piece in self.shape.unit_size.pieces(&request) {
                    self.write_now(piece.lpn, request.compress_percent);
                }
            }
            Operation::Trim | Operation::WriteZeroes => {
                for lpn in self.shape.trimmed_units(&request) {
                    self.trim_now(Lpn(lpn as u32));
                }
            }
            Operation::Flush => {
                self.flush_now();
                self.forget_changes();
            }
            Operation::Read => {}
        }
        if self.ftl.is_read_only() { Status::WriteProtected } else { Status::Success }
    }

    fn cut_power(&mut self, now: Nanos) {
        let is_volatile = self.shape.limits.volatile_cache;
        self.lose_power(now, |_| !is_volatile);
    }
}
