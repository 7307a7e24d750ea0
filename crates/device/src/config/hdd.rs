//! Parameters of a hard disk, and whether they fit together.
//!
//! Rates are those at which a data sheet lets a drive stream over many tracks, switches of head and
//! track included.

use crate::config::drive::Protocol;
use crate::parameter::{Bytes, Declaration, Microseconds, Milliseconds, Problem, Section, Source, Value};
use crate::section;

section! {
    /// What a hard disk shows to the host.
    pub struct DiskExportConfig in "" {
        capacity_bytes: Bytes ["B"] {1048576 .. 109951162777600.0}, "Exported capacity.";
        sector_bytes: u32 ["B"] {512 .. 4096} = "512", "Logical block size, 512 or 4096.";
    }
}

section! {
    /// Mechanics, cache and interface of a hard disk.
    pub struct MechanicsConfig in "hdd." {
        rpm: u32 ["1/min"] {1000 .. 25000}, "Revolutions a minute.";
        heads: u32 [""] {1 .. 64}, "Heads, one for each recorded surface.";
        zones: u32 [""] {1 .. 256} = "16", "Zones of equally many cylinders; the rate falls linearly from the outermost to the innermost.";
        outer_mb_per_s: f64 ["MB/s"] {0.1 .. 5000}, "Sustained rate of the outermost zone.";
        inner_mb_per_s: f64 ["MB/s"] {0.1 .. 5000}, "Sustained rate of the innermost zone.";
        track_to_track_ms: Milliseconds ["ms"] {0.01 .. 50}, "Read seek to the next cylinder, settling included.";
        average_seek_ms: Milliseconds ["ms"] {0.02 .. 200}, "Mean read seek over all pairs of cylinders.";
        full_stroke_ms: Option<Milliseconds> ["ms"] {0.02 .. 500} = "\"none\"", "Read seek over all cylinders; with none it follows from a pure square root.";
        head_switch_ms: Option<Milliseconds> ["ms"] {0.01 .. 50} = "\"none\"", "Change to another head of the cylinder; with none it takes track_to_track_ms.";
        write_settle_ms: Milliseconds ["ms"] {0 .. 20} = "0", "Time that a seek for a write takes longer than one for a read.";
        physical_sector_bytes: u32 ["B"] {512 .. 4096} = "512", "Physical sector, 512 or 4096 bytes; a write of a part of it reads first (512e).";
        command_us: Microseconds ["µs"] {0 .. 10000}, "Controller time of a command; commands queue for it.";
        protocol: Protocol [""] {} = "\"sata-ncq\"", "sata-ide or sata-ncq.";
        queue_depth: u32 [""] {1 .. 32} = "32", "Maximum number of outstanding commands.";
        link_mb_per_s: f64 ["MB/s"] {1 .. 10000}, "Payload rate of the interface.";
        cache_bytes: Bytes ["B"] {0 .. 68719476736.0}, "RAM; half of it holds writes, the other half what was read and read ahead.";
        cache_segments: u32 [""] {1 .. 1024} = "16", "Segments of the reading half.";
        read_ahead: bool [""] {} = "true", "After a read, an idle disk reads on until a segment is full.";
        write_cache: bool [""] {} = "true", "A write completes when it is in the cache, and is lost there at a power cut.";
        cached_writes: u32 [""] {1 .. 65536} = "64", "Maximum number of pending writes in the cache.";
        aging_ms: Milliseconds ["ms"] {0.001 .. 1000000} = "500", "Waiting time after which a request's positioning time counts half when the next request is chosen.";
        active_w: Option<f64> ["W"] {0 .. 100} = "\"none\"", "Power while it seeks, reads or writes.";
        idle_w: Option<f64> ["W"] {0 .. 100} = "\"none\"", "Power while it turns and does nothing else.";
    }
}

/// Everything that makes a hard disk, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct HddConfig {
    /// What the host sees.
    pub export: DiskExportConfig,
    /// Mechanics, cache, interface.
    pub hdd: MechanicsConfig,
}

impl HddConfig {
    /// Every parameter of a hard disk, in the order of a profile.
    pub fn declarations() -> impl Iterator<Item = &'static Declaration> {
        [DiskExportConfig::DECLARATIONS, MechanicsConfig::DECLARATIONS].into_iter().flatten()
    }

    /// Reads and checks a hard disk.
    ///
    /// # Errors
    /// The first parameter that is missing, wrong, or impossible together with others.
    pub fn read(source: &mut dyn Source) -> Result<HddConfig, Problem> {
        let config = HddConfig { export: DiskExportConfig::read(source)?, hdd: MechanicsConfig::read(source)? };
        config.check_sectors()?;
        config.check_rates()?;
        config.check_seeks()?;
        config.check_queue()?;
        Ok(config)
    }

    /// Key and text of every parameter.
    pub fn show(&self) -> Vec<(&'static str, String)> {
        [self.export.show(), self.hdd.show()].concat()
    }

    fn check_sectors(&self) -> Result<(), Problem> {
        let (sector, physical) = (self.export.sector_bytes, self.hdd.physical_sector_bytes);
        for (key, bytes) in [("sector_bytes", sector), ("hdd.physical_sector_bytes", physical)] {
            if bytes != 512 && bytes != 4096 {
                return Err(Problem::new(key, bytes, "must be 512 or 4096"));
            }
        }
        if physical < sector {
            let message = format!("must not be smaller than the logical sector, sector_bytes = {sector}");
            return Err(Problem::new("hdd.physical_sector_bytes", physical, message));
        }
        if !self.export.capacity_bytes.0.is_multiple_of(u64::from(physical)) {
            let message = format!("must be a multiple of the sector, {physical} B");
            return Err(Problem::new("capacity_bytes", self.export.capacity_bytes.0, message));
        }
        Ok(())
    }

    fn check_rates(&self) -> Result<(), Problem> {
        if self.hdd.inner_mb_per_s > self.hdd.outer_mb_per_s {
            let message =
                format!("must be at most outer_mb_per_s = {}: inner tracks are shorter", self.hdd.outer_mb_per_s);
            return Err(Problem::new("hdd.inner_mb_per_s", self.hdd.inner_mb_per_s, message));
        }
        if self.hdd.inner_mb_per_s * 1e6 * 60.0 / f64::from(self.hdd.rpm) < f64::from(self.hdd.physical_sector_bytes) {
            let message = "a track holds less than a sector; give a higher rate, or a lower hdd.rpm";
            return Err(Problem::new("hdd.inner_mb_per_s", self.hdd.inner_mb_per_s, message));
        }
        Ok(())
    }

    /// A seek curve that rises ever more slowly has its mean between a third and the whole of its height.
    fn check_seeks(&self) -> Result<(), Problem> {
        let (least, mean) = (self.hdd.track_to_track_ms.0, self.hdd.average_seek_ms.0);
        if mean <= least {
            let message = format!("must be longer than track_to_track_ms = {}", self.hdd.track_to_track_ms.show());
            return Err(Problem::new("hdd.average_seek_ms", self.hdd.average_seek_ms.show(), message));
        }
        let Some(full) = &self.hdd.full_stroke_ms else { return Ok(()) };
        let third = least.0 as f64 + (full.0.0 as f64 - least.0 as f64) / 3.0;
        if full.0 <= mean || third >= mean.0 as f64 {
            let message = format!(
                "must be above average_seek_ms = {} and below {} (track_to_track_ms and three times the difference), or none",
                self.hdd.average_seek_ms.show(),
                (3 * mean.0 - 2 * least.0) as f64 / 1e6
            );
            return Err(Problem::new("hdd.full_stroke_ms", full.show(), message));
        }
        Ok(())
    }

    fn check_queue(&self) -> Result<(), Problem> {
        match self.hdd.protocol {
            Protocol::SataNcq => Ok(()),
            Protocol::SataIde if self.hdd.queue_depth == 1 => Ok(()),
            Protocol::SataIde => {
                let message = "must be at most 1 with sata-ide; give --set hdd.queue_depth=1 too";
                Err(Problem::new("hdd.queue_depth", self.hdd.queue_depth, message))
            }
            Protocol::Nvme => Err(Problem::new("hdd.protocol", "nvme", "a hard disk has \"sata-ide\" or \"sata-ncq\"")),
        }
    }
}
