//! What there is to tell of a drive: what it is, and how it is now. All of it comes from the model.

use super::power::Power;
use ssdlab_device::counters::Counters;
use ssdlab_device::ssd::health::Health;
use ssdlab_device::ssd::signs::Signs;

/// What a drive is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// Model number, of which 40 letters are told.
    pub model: String,
    /// Serial number, of which 20 letters are told.
    pub serial: String,
    /// Firmware revision, of which eight letters are told.
    pub firmware: String,
    /// The subsystem's qualified name.
    pub qualified_name: String,
}

/// The one namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namespace {
    /// Size in sectors.
    pub sectors: u64,
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// Bytes of a mapping unit: what a write should cover, and a deallocate.
    pub unit_bytes: u32,
    /// Sectors of a write that is there whole or not at all, after a loss of power and for who reads meanwhile.
    pub atomic_sectors: u32,
    /// Deallocate does something.
    pub trims: bool,
}

impl Namespace {
    /// Its number.
    pub const ID: u32 = 1;

    /// A range as offset and length in bytes; none where it reaches beyond the end.
    pub fn span(&self, first: u64, sectors: u64) -> Option<(u64, u64)> {
        let end = first.checked_add(sectors).filter(|end| *end <= self.sectors)?;
        let bytes = u64::from(self.sector_bytes);
        Some((first * bytes, (end - first) * bytes))
    }

    /// As [`Namespace::span`], of no more than a request can name.
    pub fn bytes(&self, first: u64, sectors: u64) -> Option<(u64, u32)> {
        let (offset, length) = self.span(first, sectors)?;
        Some((offset, u32::try_from(length).ok()?))
    }
}

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The namespace.
    pub namespace: Namespace,
    /// Sectors that hold data.
    pub used_sectors: u64,
    /// The write buffer does not outlive a loss of power.
    pub has_volatile_cache: bool,
    /// Capacitors keep the write buffer over a loss of power.
    pub has_capacitors: bool,
    /// What it has counted.
    pub counters: Counters,
    /// How its flash is.
    pub health: Health,
    /// What the model does not have, as far as somebody has said it.
    pub signs: Signs,
    /// Its storage failed: why.
    pub is_poisoned: bool,
    /// Its power states.
    pub power: Power,
}

/// A drive of 1 GiB, for tests.
#[cfg(test)]
pub fn example() -> Facts {
    let namespace =
        Namespace { sectors: 1 << 21, sector_bytes: 512, unit_bytes: 4096, atomic_sectors: 32, trims: true };
    Facts {
        namespace,
        used_sectors: 1024,
        has_volatile_cache: true,
        has_capacitors: false,
        counters: Counters {
            host_reads: 3,
            host_writes: 4,
            host_bytes_read: 512_000,
            host_bytes_written: 512_001,
            nand_bytes_written: 5_000_000,
            uncorrectable_reads: 2,
            unsafe_shutdowns: 1,
            ..Counters::default()
        },
        health: Health {
            used_percent: 12,
            spare_percent: 97,
            is_read_only: false,
            average_erases: 15,
            least_erases: 10,
            most_erases: 20,
            bad_blocks: 5,
            free_percent: 7,
            endurance_bytes: 3_000_000_000,
        },
        signs: Signs::default(),
        is_poisoned: false,
        power: Power::default(),
    }
}
