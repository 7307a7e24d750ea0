//! The map's log: what a drive writes so that it finds its map again, in proportion to the entries that change.
//!
//! ```text
//!   rows of the log = entries changed · map_log_entry_bytes / row bytes
//! ```
//! An entry changes when the host writes or trims a unit, and when a unit is moved. The rows go to the die that has
//! just programmed one, in a region of their own that is written round and round: they take its time and count as
//! flash writes, and take no room from data. Checkpoints of the whole map are meant to be in the bytes of an entry.
//!
//! Left out: where the log lies, erasing it, reading it after a power cut. What a flush adds on a drive without
//! protection is told in `ssd/journal.rs`.

use crate::config::DriveConfig;
use crate::nand::geometry::Geometry;
use serde::{Deserialize, Serialize};

/// What is to be logged.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MapLog {
    entry_bytes: f64,
    row_bytes: f64,
    /// Bytes noted, not yet in flash.
    bytes: f64,
}

impl MapLog {
    /// An empty log.
    pub fn new(config: &DriveConfig, geometry: &Geometry) -> MapLog {
        let row_bytes = f64::from(geometry.row_bytes.max(geometry.unit_bytes));
        MapLog { entry_bytes: config.ftl.map_log_entry_bytes, row_bytes, bytes: 0.0 }
    }

    /// So many entries have changed.
    #[inline]
    pub fn note(&mut self, entries: u32) {
        self.bytes += f64::from(entries) * self.entry_bytes;
    }

    /// Rows that have become full, which are written now.
    #[inline]
    pub fn take_rows(&mut self) -> u32 {
        if self.bytes < self.row_bytes {
            return 0;
        }
        let rows = (self.bytes / self.row_bytes) as u32;
        self.bytes -= f64::from(rows) * self.row_bytes;
        rows
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: rows of 16 KiB hold 1024 entries of 16 B; what is left over counts for the next.
    #[test]
    fn a_row_is_due_when_it_is_full() {
        let mut log = MapLog { entry_bytes: 16.0, row_bytes: 16384.0, bytes: 0.0 };
        log.note(1023);
        assert_eq!(log.take_rows(), 0);
        log.note(1026);
        assert_eq!((log.take_rows(), log.bytes), (2, 16.0));
    }
}
