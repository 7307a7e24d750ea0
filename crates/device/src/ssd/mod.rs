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
//! Idle read: link command + controller + flash command + tR + channel + link.
//!
//! Modules: [`host`] (commands), [`pieces`] (cut into units), [`buffer`] (write buffer), `journal` (of the map),
//! [`die`] (what a die does next), [`admin`] (starting over), [`power`] (power states), `untimed` (seasoning).
//! Left out: several namespaces, thermal throttling, the read cache, host memory buffer.

pub mod admin;
pub mod buffer;
pub mod die;
pub mod host;
mod journal;
pub mod pieces;
pub mod power;
mod untimed;

use crate::block::{Busy, Completion, Device, Limits, Operation, Request, Status, Tag};
use crate::config::{DriveConfig, drive::Protocol};
use crate::counters::Counters;
use crate::ftl::Ftl;
use crate::ftl::victim::VictimPolicy;
use crate::nand::contents::Contents;
use crate::parameter::Problem;
use crate::sim::calendar::Calendar;
use crate::sim::lanes::Lanes;
use crate::sim::timeline::Timeline;
use crate::sim::transfer::TransferTimes;
use crate::ssd::buffer::Buffer;
use crate::ssd::die::{Activity, Die, Span};
use crate::ssd::host::{Front, Unit};
use crate::ssd::journal::Journal;
use crate::ssd::pieces::UnitSize;
use crate::ssd::power::Power;
use crate::ssd::untimed::RowNow;
use crate::units::{DieId, Lba, Lpn, Nanos};
use std::collections::VecDeque;

/// What has a next event of its own beside the dies.
#[derive(Clone, Copy, Debug)]
enum Lane {
    /// Commands leaving the controller.
    Command = 0,
    /// Write data that has crossed the link.
    DataIn = 1,
    /// Read data that has crossed the link.
    DataOut = 2,
    /// The drive has been idle for long enough.
    Idle = 3,
}

const LANES: usize = 4;

/// A solid-state drive.
pub struct Ssd<C: Contents = ()> {
    /// The flash translation layer and the flash below it.
    pub ftl: Ftl<C>,
    config: DriveConfig,
    limits: Limits,
    unit_size: UnitSize,
    now: Nanos,
    /// The next event of each die.
    calendar: Calendar,
    /// Commands under way and what else happens beside the dies, by [`Lane`].
    lanes: Lanes<LANES>,
    front: Front,
    buffer: Buffer,
    /// Where a flush has to write what has changed in the map.
    journal: Option<Journal>,
    /// Units waiting for a die, in order.
    pending: VecDeque<Unit<C::Stamp>>,
    dies: Vec<Die<C::Stamp>>,
    /// What each die is doing, which its event in the calendar names too.
    activities: Vec<Activity>,
    /// Units parked on dies until their old contents are read.
    parked: u32,
    /// Later writes of parked units, in order.
    followers: Vec<Unit<C::Stamp>>,
    /// Dies without work, a bit each.
    idle: Vec<u64>,
    /// The die that took the last row.
    rotor: u32,
    channels: Vec<Timeline>,
    link_in: Timeline,
    link_out: Timeline,
    controller: Timeline,
    times: Times,
    link_times: TransferTimes,
    channel_times: TransferTimes,
    idle_work: bool,
    /// Collection rests until the first write: the drive was preconditioned or switched off under load.
    rests: bool,
    power: Option<Power>,
    row_now: RowNow<C::Stamp>,
    recording: Option<Recording>,
}

/// Single operations of the dies that end in a stretch of time.
struct Recording {
    from: Nanos,
    to: Nanos,
    spans: Vec<Span>,
}

/// Constants of the hot path.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Channel time of one unit and of one row, without command cycles.
    channel_unit: Nanos,
    channel_row: Nanos,
    flash_command: Nanos,
    /// Link and controller time of a command, by operation, and of each unit after its first.
    command: [Nanos; Operation::COUNT],
    unit: Nanos,
    copyback: bool,
    suspend: Option<Nanos>,
    half_duplex: bool,
    /// Operations that are not queued, each alone in the drive; and whether there are any.
    goes_alone: [bool; Operation::COUNT],
    some_go_alone: bool,
    compression_floor: Option<f64>,
}

impl Times {
    fn new(config: &DriveConfig, ftl_row_bytes: u32, unit_bytes: u32) -> Times {
        let rate = channel_rate(config);
        let goes_alone = operations_alone(config);
        Times {
            channel_unit: Nanos::of_transfer(u64::from(unit_bytes), rate),
            channel_row: Nanos::of_transfer(u64::from(ftl_row_bytes), rate),
            flash_command: config.nand.command_us.0,
            command: command_times(config),
            unit: config.controller.unit_us.0,
            copyback: config.nand.copyback,
            suspend: config.nand.suspend.then_some(config.nand.suspend_us.0),
            half_duplex: config.link.protocol != Protocol::Nvme,
            goes_alone,
            some_go_alone: goes_alone.contains(&true),
            compression_floor: config.controller.compression.then_some(config.controller.compression_floor),
        }
    }
}

/// Data bytes that cross a channel, in MB/s: each page brings its spare bytes along.
fn channel_rate(config: &DriveConfig) -> f64 {
    let spare = config.nand.spare_bytes.0 as f64 / config.nand.page_bytes.0 as f64;
    config.nand.channel_mb_per_s / (1.0 + spare)
}

/// Link and controller time of a command, by operation.
fn command_times(config: &DriveConfig) -> [Nanos; Operation::COUNT] {
    let mut times = [config.link.command_us.0; Operation::COUNT];
    let controller = &config.controller;
    times[Operation::Read as usize] += controller.read_command_us.0;
    times[Operation::Write as usize] += controller.write_command_us.0;
    times[Operation::Trim as usize] += controller.trim_command_us.0;
    times[Operation::WriteZeroes as usize] += controller.trim_command_us.0;
    times[Operation::Flush as usize] += controller.flush_command_us.0;
    times
}

/// Operations that the queue of the protocol does not carry: on SATA every flush, and some drives' trims.
fn operations_alone(config: &DriveConfig) -> [bool; Operation::COUNT] {
    let mut alone = [false; Operation::COUNT];
    alone[Operation::Trim as usize] = !config.link.trim_queued;
    alone[Operation::Flush as usize] = config.link.protocol != Protocol::Nvme;
    alone
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
        let buffer = Buffer::new(config, &geometry);
        ftl.backlog.limit(ftl.exported, buffer.slots.len());
        let times = Times::new(config, geometry.row_bytes.max(geometry.unit_bytes), geometry.unit_bytes);
        let commands = (buffer.slots.len() as u64).max(u64::from(config.link.queue_depth));
        let ahead = Nanos(times.command[Operation::Write as usize].0 * commands);
        let dies = geometry.dies as usize;
        let sector = config.export.sector_bytes;
        let row_or_unit = geometry.row_bytes.max(geometry.unit_bytes);
        Ssd {
            config: config.clone(),
            limits: Limits {
                sector_bytes: sector,
                sectors: config.export.capacity_bytes.0 / u64::from(sector),
                queue_depth: config.link.queue_depth,
                discard_granularity_bytes: match config.ftl.trim {
                    true => config.ftl.trim_granularity_bytes.map_or(geometry.unit_bytes, |bytes| bytes.0 as u32),
                    false => 0,
                },
                volatile_cache: config.journals_map()
                    || config.buffer.bytes.0 > 0 && !config.buffer.power_loss_protected,
                optimal_io_bytes: row_or_unit,
            },
            unit_size: UnitSize::new(geometry.unit_bytes / sector),
            now: Nanos::ZERO,
            calendar: Calendar::new(dies),
            lanes: Lanes::default(),
            front: Front::default(),
            buffer,
            journal: Journal::new(config, &ftl),
            pending: VecDeque::new(),
            parked: 0,
            followers: Vec::new(),
            dies: (0..dies).map(|die| Die::new(geometry.channel(DieId(die as u16)))).collect(),
            activities: vec![Activity::Idle; dies],
            idle: (0..dies.div_ceil(64)).map(|word| mask(dies - word * 64)).collect(),
            rotor: geometry.dies - 1,
            channels: vec![Timeline::default(); geometry.channels as usize],
            link_in: Timeline::default(),
            link_out: Timeline::default(),
            controller: Timeline::default(),
            times,
            link_times: TransferTimes::at(config.link.mb_per_s),
            channel_times: TransferTimes::at(channel_rate(config)),
            idle_work: false,
            rests: true,
            power: Power::new(config, &ftl),
            row_now: RowNow::new(&geometry, ahead),
            recording: None,
            ftl,
        }
    }

    /// The parameters.
    pub fn config(&self) -> &DriveConfig {
        &self.config
    }

    /// Number of channels and of dies.
    pub fn shape(&self) -> (u32, u32) {
        (self.ftl.geometry.channels, self.ftl.geometry.dies)
    }

    /// Mapping unit in bytes.
    pub fn unit_bytes(&self) -> u32 {
        self.ftl.geometry.unit_bytes
    }

    /// Records what every die does, operation by operation, from one time to another.
    pub fn record_timeline(&mut self, from: Nanos, to: Nanos) {
        self.recording = Some(Recording { from, to, spans: Vec::new() });
    }

    /// What was recorded, in order of end.
    pub fn take_timeline(&mut self) -> Vec<Span> {
        self.recording.take().map(|recording| recording.spans).unwrap_or_default()
    }

    /// When something happens next. At equal times dies come before lanes.
    #[inline]
    fn next_time(&self) -> Nanos {
        Nanos(self.calendar.first_time().0.min(self.lanes.next().0.0))
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

/// The lowest `count` bits, all of them from 64 on.
fn mask(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

impl<C: Contents> Device for Ssd<C> {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        debug_assert!(now >= self.now, "time goes forward");
        self.now = now;
        self.accept(tag, request)
    }

    fn next_event(&self) -> Option<Nanos> {
        let time = self.next_time();
        if time == Nanos::NEVER { self.is_stuck().then_some(self.now) } else { Some(time) }
    }

    /// Not inlined into a host's loop: the two would compete for registers.
    #[inline(never)]
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        let before = done.len();
        // What happens at the instant of a completion still happens; `NEVER` lies beyond every limit.
        let mut limit = to.0.min(Nanos::NEVER.0 - 1);
        loop {
            let die_time = self.calendar.first_time();
            let (lane_time, lane) = self.lanes.next();
            if die_time.0.min(lane_time.0) > limit {
                break;
            }
            if lane_time < die_time {
                self.now = lane_time;
                self.lane_event(lane, done);
            } else {
                self.now = die_time;
                self.die_event(self.calendar.first(), done);
            }
            if done.len() > before {
                limit = self.now.0;
            }
        }
        if done.len() == before {
            self.pass_time(to, done);
        }
        self.now
    }

    #[inline]
    fn hint(&self, lba: Lba) {
        let (lpn, _) = self.unit_size.split(lba.0);
        if lpn < u64::from(self.ftl.exported) {
            self.ftl.mapping.prefetch(Lpn(lpn as u32));
        }
    }

    /// The map entry, fetched by the hint, tells what else a write will touch.
    #[inline]
    fn hint_write(&self, lba: Lba) {
        let (lpn, _) = self.unit_size.split(lba.0);
        if lpn < u64::from(self.ftl.exported) {
            self.ftl.mapping.prefetch_old(Lpn(lpn as u32));
        }
    }

    fn counters(&self) -> Counters {
        let mut counters = self.ftl.counters;
        counters.nand_host_bytes_written = counters.host_bytes_written;
        counters.nand_bytes_written = counters.nand_pages_written * u64::from(self.ftl.geometry.unit_bytes);
        if let Some(power) = &self.power {
            power.add_time(self.now, &mut counters);
        }
        counters
    }

    /// A unit that is covered in part is written whole; only whole granules are trimmed.
    fn apply_now(&mut self, request: Request) -> Status {
        match request.operation {
            Operation::Write => {
                self.take_command_now(&request);
                for piece in self.unit_size.pieces(&request) {
                    self.write_now(piece.lpn, request.compress_percent);
                }
            }
            Operation::Trim | Operation::WriteZeroes => {
                let sectors = u64::from(self.unit_size.sectors());
                let end = request.lba.0 + u64::from(request.sectors);
                let granule = u64::from(self.limits.discard_granularity_bytes / self.limits.sector_bytes).max(sectors);
                let first = request.lba.0.div_ceil(granule) * granule;
                let end = end / granule * granule;
                for lpn in first / sectors..end.max(first) / sectors {
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
        self.now = now;
        self.lose_power();
    }
}
