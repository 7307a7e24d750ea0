//! What a drive is, and does not change: parameters, limits, and the constants of the hot path.
//!
//! ```text
//!   channel rate  = channel_mb_per_s / (1 + spare bytes / page bytes)     each page brings its spare bytes along
//!   command       = link command + controller time by operation + unit_us for each unit after the first
//!   trim          = trim_command_us + ranges · trim_range_us + units · trim_unit_us
//! ```

use crate::block::{Limits, Operation, Request};
use crate::config::DriveConfig;
use crate::config::drive::Protocol;
use crate::nand::geometry::Geometry;
use crate::ssd::pieces::{Piece, UnitSize};
use crate::units::Nanos;

/// Sectors of one range of ATA's DATA SET MANAGEMENT, whose length has 16 bits (ACS-3).
const ATA_RANGE_SECTORS: u32 = 65_535;
/// Ranges of one block of it.
const ATA_RANGES: u32 = 64;

/// Parameters, limits and times.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The parameters.
    pub config: DriveConfig,
    /// What the drive tells about itself.
    pub limits: Limits,
    /// Sectors of a mapping unit.
    pub unit_size: UnitSize,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// Bytes of a row, or of a unit that is larger.
    pub row_bytes: u32,
    /// Constants of the hot path.
    pub times: Times,
}

/// Constants of the hot path.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Channel time of one unit, without command cycles.
    pub channel_unit: Nanos,
    /// Channel time of one row, without command cycles.
    pub channel_row: Nanos,
    /// Channel time of a move of one unit to a row of its own: out and in again.
    pub channel_move: Nanos,
    /// Command and address cycles of a flash operation.
    pub flash_command: Nanos,
    /// Link and controller time of a command, by operation.
    pub command: [Nanos; Operation::COUNT],
    /// Controller time of each unit after a command's first.
    pub unit: Nanos,
    /// What a die is busy with each unit that it moves, besides reading and programming.
    pub move_unit: Nanos,
    /// Moved data stays in the register.
    pub copyback: bool,
    /// A gathered row is loaded and programmed at once, and what the die does then is chosen when it is programmed.
    pub moves_at_once: bool,
    /// What suspending a program or erase costs, where the flash can.
    pub suspend: Option<Nanos>,
    /// The smallest share of its size that a compressed unit takes, where data is compressed.
    pub compression_floor: Option<f64>,
}

impl Shape {
    /// The shape of a drive with these parameters.
    pub fn new(config: &DriveConfig, geometry: &Geometry) -> Shape {
        let sector = config.export.sector_bytes;
        let row_bytes = geometry.row_bytes.max(geometry.unit_bytes);
        let channel_unit = Nanos::of_transfer(u64::from(geometry.unit_bytes), channel_rate(config));
        let channel_row = Nanos::of_transfer(u64::from(row_bytes), channel_rate(config));
        Shape {
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
                optimal_io_bytes: row_bytes,
            },
            unit_size: UnitSize::new(geometry.unit_bytes / sector),
            unit_bytes: geometry.unit_bytes,
            row_bytes,
            times: Times {
                channel_unit,
                channel_row,
                channel_move: channel_unit + channel_row,
                flash_command: config.nand.command_us.0,
                command: command_times(config),
                unit: config.controller.unit_us.0,
                move_unit: config.ftl.move_unit_us.0,
                copyback: config.nand.copyback,
                moves_at_once: moves_at_once(config),
                suspend: config.nand.suspend.then_some(config.nand.suspend_us.0),
                compression_floor: config.controller.compression.then_some(config.controller.compression_floor),
            },
        }
    }

    /// The request reaches beyond the device.
    #[inline(always)]
    pub fn is_out_of_range(&self, request: &Request) -> bool {
        request.lba.0.saturating_add(u64::from(request.sectors)) > self.limits.sectors
    }

    /// The piece covers its whole unit.
    #[inline(always)]
    pub fn is_whole(&self, piece: &Piece) -> bool {
        piece.covered == (0, self.unit_size.sectors())
    }

    /// Time of a command on the link and in the controller.
    #[inline(always)]
    pub fn command_time(&self, request: &Request) -> Nanos {
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

    /// Controller time that a trim's size costs.
    pub fn trim_time(&self, sectors: u32) -> Nanos {
        let controller = &self.config.controller;
        let ranges = match self.config.link.protocol {
            Protocol::SataIde | Protocol::SataNcq => sectors.div_ceil(ATA_RANGE_SECTORS),
            Protocol::Nvme => 1,
        };
        let units = sectors / self.unit_size.sectors();
        Nanos(controller.trim_range_us.0.0 * u64::from(ranges) + controller.trim_unit_us.0.0 * u64::from(units))
    }

    /// Sectors that one trim command can name.
    pub fn most_trimmed_sectors(&self) -> u32 {
        match self.config.link.protocol {
            Protocol::SataIde | Protocol::SataNcq => ATA_RANGES * ATA_RANGE_SECTORS,
            Protocol::Nvme => u32::MAX,
        }
    }

    /// The units of the whole granules that a trim covers.
    pub fn trimmed_units(&self, request: &Request) -> std::ops::Range<u64> {
        let per_unit = u64::from(self.unit_size.sectors());
        let granule = u64::from(self.limits.discard_granularity_bytes / self.limits.sector_bytes).max(per_unit);
        let first = request.lba.0.div_ceil(granule) * granule;
        let end = (request.lba.0 + u64::from(request.sectors)) / granule * granule;
        first / per_unit..end.max(first) / per_unit
    }

    /// Bytes that a unit takes in flash, of data that can be compressed by so many percent.
    #[inline(always)]
    pub fn flash_bytes(&self, compress_percent: u8) -> u32 {
        match self.times.compression_floor {
            None => self.unit_bytes,
            Some(floor) => (f64::from(self.unit_bytes) * (1.0 - f64::from(compress_percent) / 100.0).max(floor)) as u32,
        }
    }
}

/// Data bytes that cross a channel, in MB/s: each page brings its spare bytes along.
pub fn channel_rate(config: &DriveConfig) -> f64 {
    let spare = config.nand.spare_bytes.0 as f64 / config.nand.page_bytes.0 as f64;
    config.nand.channel_mb_per_s / (1.0 + spare)
}

/// Programs of moves wait for nothing, their data crosses the channel, and a smooth pace fuses no move with the sensing
/// behind it.
fn moves_at_once(config: &DriveConfig) -> bool {
    let waits = config.power.programs_at_once.is_some() || config.controller.move_unit_us.0 != Nanos::ZERO;
    config.ftl.is_smooth() && !waits && !config.nand.copyback
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
