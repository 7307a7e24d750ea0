//! What a drive counts from its first day: the raw material of SMART, of write amplification and
//! of "where the time went". Sums only, so that counters of several devices add up and the
//! difference of two readings is what happened in between.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Sub};

macro_rules! counters {
    ($( $(#[$doc:meta])* $field:ident ),* $(,)?) => {
        /// Sums since the drive left the factory. Times are in nanoseconds of busy resource.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Counters {
            $( $(#[$doc])* pub $field: u64, )*
        }

        impl Counters {
            /// Every counter with its name, in order of declaration.
            pub fn entries(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$( (stringify!($field), self.$field) ),*].into_iter()
            }
        }

        impl Counters {
            /// Counters by name; those that `of` does not know are 0.
            pub fn by_name(of: impl Fn(&str) -> Option<u64>) -> Counters {
                Counters { $( $field: of(stringify!($field)).unwrap_or(0), )* }
            }

            /// The drive lost power after a later reading, if there is one: no counter goes back.
            pub fn go_on_from(&mut self, later: Option<&Counters>) {
                if let Some(later) = later {
                    $( self.$field = self.$field.max(later.$field); )*
                }
                self.unsafe_shutdowns += 1;
            }
        }

        impl Sub for Counters {
            type Output = Counters;
            fn sub(self, earlier: Counters) -> Counters {
                Counters { $( $field: self.$field - earlier.$field, )* }
            }
        }

        impl Add for Counters {
            type Output = Counters;
            fn add(self, other: Counters) -> Counters {
                Counters { $( $field: self.$field + other.$field, )* }
            }
        }
    };
}

counters! {
    /// Read commands completed.
    host_reads,
    /// Write commands completed.
    host_writes,
    /// Trim and write-zeroes commands completed.
    host_trims,
    /// Flush commands completed.
    host_flushes,
    /// Bytes read by the host.
    host_bytes_read,
    /// Bytes written by the host.
    host_bytes_written,
    /// Bytes trimmed by the host (only what was mapped).
    host_bytes_trimmed,
    /// Of those written, bytes that went to flash, not to a hard disk: the denominator of write amplification.
    nand_host_bytes_written,
    /// Bytes programmed into flash for any reason, whole rows: its numerator.
    nand_bytes_written,
    /// Mapping units that host writes touched, one per unit and command.
    host_pages_written,
    /// Mapping units programmed into flash for any reason.
    nand_pages_written,
    /// Of those, units moved by garbage collection.
    gc_pages_moved,
    /// Of those, units moved by static wear levelling.
    wear_leveling_pages_moved,
    /// Of those, units moved out of the SLC cache.
    slc_pages_folded,
    /// Of those, translation pages of a demand-cached map.
    map_pages_written,
    /// Of those, pages of the map's journal, written at flushes.
    journal_pages_written,
    /// Of those, pages of parity, in units.
    parity_pages_written,
    /// Of those, pages of the map's log, in units.
    map_log_pages_written,
    /// Translation pages read because they were not cached.
    map_pages_read,
    /// Pages that were programmed with nothing of the host's, to fill a row up or to overwrite the drive, in units.
    padding_pages_written,
    /// Units read from flash for the host.
    nand_pages_read,
    /// Units read first because a write covered only a part of them.
    read_modify_writes,
    /// Units that were read by the host and had never been written, or were trimmed.
    unmapped_reads,
    /// Units served from the write buffer.
    buffer_read_hits,
    /// Units overwritten while still in the write buffer.
    buffer_coalesced,
    /// Blocks erased.
    blocks_erased,
    /// Blocks that failed in use and were replaced from the spare.
    grown_bad_blocks,
    /// Programs that failed.
    program_failures,
    /// Erases that failed or took longer than their limit.
    erase_failures,
    /// Reads that needed more than one attempt.
    read_retries,
    /// Reads beyond the strength of the ECC.
    uncorrectable_reads,
    /// Secure erases of the whole drive.
    secure_erases,
    /// Crypto erases: the key was thrown away.
    crypto_erases,
    /// Power cuts without a flush before them.
    unsafe_shutdowns,
    /// Units acknowledged and lost with the volatile buffer at a power cut.
    units_lost_at_power_cut,
    /// Die time spent on host reads (sensing and data out).
    die_host_read_ns,
    /// Die time spent on host writes (data in and programming).
    die_host_write_ns,
    /// Die time spent moving data (garbage collection, wear levelling, folding).
    die_move_ns,
    /// Die time spent erasing.
    die_erase_ns,
    /// Channel time carrying host data.
    channel_host_ns,
    /// Channel time carrying moved data.
    channel_move_ns,
    /// Host link time.
    link_ns,
    /// Controller time for commands.
    controller_ns,
    /// Time with commands outstanding, where power is modelled.
    power_active_ns,
    /// Time without, before a low power state.
    power_idle_ns,
    /// Time in the first low state (Slumber, PS3).
    power_slumber_ns,
    /// Time in the second (DevSleep, PS4).
    power_sleep_ns,
    /// Commands that found the drive in a low state.
    wake_ups,
    /// Of those, times that the link hung and was reset.
    link_resets,
}

impl Counters {
    /// Commands done that may have changed the map.
    #[inline]
    pub fn map_changes(&self) -> u64 {
        self.host_writes + self.host_trims
    }

    /// Bytes programmed into flash per byte that the host wrote, as JESD218 has it; `None` where it wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        ratio(self.nand_bytes_written, self.nand_host_bytes_written)
    }

    /// Mapping units programmed per unit that host writes touched: what the FTL adds, without what misaligned
    /// and small writes cost; `None` where the host wrote nothing.
    pub fn unit_write_amplification(&self) -> Option<f64> {
        ratio(self.nand_pages_written, self.host_pages_written)
    }
}

fn ratio(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Differences and sums work field by field, and write amplification needs host writes.
    #[test]
    fn counters_subtract_and_divide() {
        let early = Counters { host_pages_written: 10, nand_pages_written: 10, ..Counters::default() };
        let bytes = Counters { nand_host_bytes_written: 4096, nand_bytes_written: 8192, ..Counters::default() };
        let late = Counters { host_pages_written: 110, nand_pages_written: 260, ..bytes };
        assert_eq!((late - early).unit_write_amplification(), Some(2.5));
        assert_eq!((late - early).write_amplification(), Some(2.0));
        assert_eq!((late - early) + early, late);
        assert_eq!(Counters::default().write_amplification(), None);
    }
}
