//! What an array counts besides its traffic.

macro_rules! counts {
    ($( $(#[$doc:meta])* $field:ident ),* $(,)?) => {
        /// Sums since the array was made.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Counts {
            $( $(#[$doc])* pub $field: u64, )*
        }

        impl Counts {
            /// Every count with its name.
            pub fn entries(&self) -> Vec<(&'static str, u64)> {
                vec![$( (stringify!($field), self.$field) ),*]
            }
        }
    };
}

counts! {
    /// Bands of stripes written without reading: all data were there.
    full_stripe_writes,
    /// Bands written after reading what was not written.
    reconstruct_writes,
    /// Bands written after reading what was overwritten, and parity.
    modify_writes,
    /// Bands written after recovering what was lost.
    recover_writes,
    /// Parts of reads for which lost data were recovered.
    degraded_reads,
    /// Writes that joined an update of the same rows that had not begun.
    joined_writes,
    /// Updates that waited for another of the same rows.
    stripe_waits,
    /// Reads served from writes in the cache.
    cache_hits,
    /// Writes that waited for room in the cache.
    cache_stalls,
    /// Stripes destaged.
    destages,
    /// Acknowledged sectors that a power cut took from the cache.
    lost_sectors,
    /// Lines fetched before they were asked for.
    lines_read_ahead,
    /// Reads served from them.
    read_ahead_hits,
    /// Trims that did not reach the members, or not wholly.
    trims_not_passed,
    /// Errors that an update met while it read; redundancy would mend them.
    errors_while_updating,
    /// Bytes of each replaced member that have been rebuilt.
    rebuilt_bytes,
    /// Bytes of each member that have been scrubbed.
    scrubbed_bytes,
    /// Sectors of 512 bytes in pages whose parity or copies did not fit, as md counts them.
    mismatch_cnt,
}
