//! Every parameter of a drive, in sections as a profile has them, and whether they fit together.
//!
//! This lies below the parts that the parameters describe, so that a lower part, such as the flash
//! translation layer, reads what it needs of the whole drive without looking up. What follows from
//! the parameters, such as the number of blocks, is worked out where it is used.

pub mod drive;
pub mod ftl;
pub mod hdd;
pub mod nand;
pub mod power;

use crate::config::drive::{AdminConfig, BufferConfig, ControllerConfig, LinkConfig, Protocol};
use crate::config::ftl::{FtlConfig, SlcCache, Striping};
use crate::config::nand::{NandConfig, ReliabilityConfig};
use crate::config::power::PowerConfig;
use crate::parameter::{Bytes, Declaration, Problem, Section, Source, Value};
use crate::section;

/// No drive has five times the flash that it exports.
const MOST_OVER_PROVISIONING: f64 = 4.0;

section! {
    /// What the drive shows to the host.
    pub struct ExportConfig in "" {
        capacity_bytes: Bytes ["B"] {1048576 .. 17592186044416.0}, "Exported capacity.";
        over_provisioning: Option<f64> [""] {0 .. 20} = "\"none\"", "(physical − exported) / exported; follows from nand.blocks_per_plane where not given.";
        sector_bytes: u32 ["B"] {512 .. 4096} = "512", "Logical block size, 512 or 4096.";
        atomic_write_bytes: Bytes ["B"] {512 .. 1048576} = "4096", "Writes up to this size are there whole or not at all after a loss of power (NVMe AWUPF).";
    }
}

/// Everything that makes a drive, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveConfig {
    /// What the host sees.
    pub export: ExportConfig,
    /// Geometry and times of the flash.
    pub nand: NandConfig,
    /// Wear and errors.
    pub reliability: ReliabilityConfig,
    /// Mapping and reclaim.
    pub ftl: FtlConfig,
    /// Controller.
    pub controller: ControllerConfig,
    /// Host link.
    pub link: LinkConfig,
    /// Write buffer.
    pub buffer: BufferConfig,
    /// Power states.
    pub power: PowerConfig,
    /// Administration.
    pub admin: AdminConfig,
}

impl DriveConfig {
    /// Every parameter of a drive, in the order of a profile.
    pub fn declarations() -> impl Iterator<Item = &'static Declaration> {
        [
            ExportConfig::DECLARATIONS,
            NandConfig::DECLARATIONS,
            ReliabilityConfig::DECLARATIONS,
            FtlConfig::DECLARATIONS,
            ControllerConfig::DECLARATIONS,
            LinkConfig::DECLARATIONS,
            BufferConfig::DECLARATIONS,
            PowerConfig::DECLARATIONS,
            AdminConfig::DECLARATIONS,
        ]
        .into_iter()
        .flatten()
    }

    /// Reads and checks a drive.
    ///
    /// # Errors
    /// The first parameter that is missing, wrong, or impossible together with others.
    pub fn read(source: &mut dyn Source) -> Result<DriveConfig, Problem> {
        let config = DriveConfig {
            export: ExportConfig::read(source)?,
            nand: NandConfig::read(source)?,
            reliability: ReliabilityConfig::read(source)?,
            ftl: FtlConfig::read(source)?,
            controller: ControllerConfig::read(source)?,
            link: LinkConfig::read(source)?,
            buffer: BufferConfig::read(source)?,
            power: PowerConfig::read(source)?,
            admin: AdminConfig::read(source)?,
        };
        config.check()?;
        Ok(config)
    }

    /// Key and text of every parameter.
    pub fn show(&self) -> Vec<(&'static str, String)> {
        [
            self.export.show(),
            self.nand.show(),
            self.reliability.show(),
            self.ftl.show(),
            self.controller.show(),
            self.link.show(),
            self.buffer.show(),
            self.power.show(),
            self.admin.show(),
        ]
        .concat()
    }

    /// Bytes of a mapping unit: a page unless the FTL says otherwise.
    pub fn unit_bytes(&self) -> u64 {
        self.ftl.mapping_unit_bytes.unwrap_or(self.nand.page_bytes).0
    }

    /// Capacitors keep the write buffer over a loss of power.
    pub fn has_capacitors(&self) -> bool {
        self.buffer.bytes.0 > 0 && self.buffer.power_loss_protected
    }

    /// The map is lost with the power: a flush has to write what has changed in it.
    pub fn journals_map(&self) -> bool {
        self.ftl.map_journal && !self.buffer.power_loss_protected
    }

    fn check(&self) -> Result<(), Problem> {
        self.nand.check()?;
        self.check_over_provisioning()?;
        self.check_sectors()?;
        self.check_trim()?;
        self.check_queue()?;
        self.check_watermarks()?;
        self.check_superblocks()?;
        self.power.check()?;
        self.check_slc_cache()
    }

    /// What is this large was meant as a percentage.
    fn check_over_provisioning(&self) -> Result<(), Problem> {
        match self.export.over_provisioning {
            Some(share) if share > MOST_OVER_PROVISIONING => {
                let message = format!("must be at most {MOST_OVER_PROVISIONING}: it is a share, so 7 % is 0.07");
                Err(Problem::new("over_provisioning", share, message))
            }
            _ => Ok(()),
        }
    }

    fn check_sectors(&self) -> Result<(), Problem> {
        let sector = self.export.sector_bytes;
        if sector != 512 && sector != 4096 {
            return Err(Problem::new("sector_bytes", sector, "must be 512 or 4096"));
        }
        let unit = self.unit_bytes();
        if !unit.is_multiple_of(u64::from(sector)) {
            let message = format!("must be a multiple of the sector, {sector} B");
            return Err(Problem::new("ftl.mapping_unit_bytes", unit, message));
        }
        let page = self.nand.page_bytes.0;
        if !unit.is_multiple_of(page) && !page.is_multiple_of(unit) {
            let message = format!("must divide the page of {page} B or be a multiple of it");
            return Err(Problem::new("ftl.mapping_unit_bytes", unit, message));
        }
        if !self.export.capacity_bytes.0.is_multiple_of(u64::from(sector)) {
            let message = format!("must be a multiple of the sector, {sector} B");
            return Err(Problem::new("capacity_bytes", self.export.capacity_bytes.0, message));
        }
        Ok(())
    }

    /// A grain that ends inside a mapping unit would unmap sectors that the trim did not name.
    fn check_trim(&self) -> Result<(), Problem> {
        let unit = self.unit_bytes();
        match self.ftl.trim_granularity_bytes {
            Some(grain) if !grain.0.is_multiple_of(unit) => {
                let message = format!("must be a multiple of the mapping unit, {unit} B, or none");
                Err(Problem::new("ftl.trim_granularity_bytes", grain.0, message))
            }
            _ => Ok(()),
        }
    }

    fn check_queue(&self) -> Result<(), Problem> {
        let most = match self.link.protocol {
            Protocol::SataIde => 1,
            Protocol::SataNcq => 32,
            Protocol::Nvme => u32::MAX,
        };
        if self.link.queue_depth > most {
            let protocol = self.link.protocol.show();
            let message = format!("must be at most {most} with {protocol}; give --set link.queue_depth={most} too");
            return Err(Problem::new("link.queue_depth", self.link.queue_depth, message));
        }
        Ok(())
    }

    fn check_slc_cache(&self) -> Result<(), Problem> {
        let (kind, fixed) = (self.ftl.slc_cache, self.ftl.slc_cache_fixed_bytes);
        if fixed.0 > 0 && (kind != SlcCache::Dynamic || fixed > self.ftl.slc_cache_bytes) {
            let message =
                "must be at most the ftl.slc_cache_bytes of a dynamic cache; a static cache is fixed as a whole";
            return Err(Problem::new("ftl.slc_cache_fixed_bytes", fixed.show(), message));
        }
        if (kind == SlcCache::Static || fixed.0 > 0) && self.ftl.idle_gc_after_ms.is_none() {
            let message = "a cache with blocks of its own is emptied in idle time: give ftl.idle_gc_after_ms";
            return Err(Problem::new("ftl.slc_cache", kind.show(), message));
        }
        Ok(())
    }

    fn check_superblocks(&self) -> Result<(), Problem> {
        let Some(span) = self.ftl.superblock_dies else { return Ok(()) };
        let dies = self.nand.channels * self.nand.dies_per_channel;
        if self.ftl.striping != Striping::Superblock {
            let message = "needs ftl.striping = \"superblock\": blocks of a die span no others";
            return Err(Problem::new("ftl.superblock_dies", span, message));
        }
        if !dies.is_multiple_of(span) {
            let message = format!("must divide the {dies} dies, so that all are in superblocks of one size");
            return Err(Problem::new("ftl.superblock_dies", span, message));
        }
        Ok(())
    }

    fn check_watermarks(&self) -> Result<(), Problem> {
        if self.ftl.gc_high_blocks <= self.ftl.gc_low_blocks {
            let message = format!(
                "must be more than gc_low_blocks = {}: collection stops above where it starts",
                self.ftl.gc_low_blocks
            );
            return Err(Problem::new("ftl.gc_high_blocks", self.ftl.gc_high_blocks, message));
        }
        Ok(())
    }
}
