//! What a trace reads of a drive: extents in whole pieces of 4 KiB, in a bitmap of the drive.
//!
//! A bit a piece costs a 128th of what the drive's own map does, however long the trace is. Where there
//! are very many extents, near ones are joined: a little more is laid out than is read.

use crate::workload::trace::{Trace, TraceError};
use ssdlab_device::block::{Limits, Operation};

const PIECE_BYTES: u64 = 4096;
const MOST_EXTENTS: usize = 1 << 20;

/// Offsets and lengths that do not touch, in rising order.
///
/// # Errors
/// The trace cannot be read any more.
pub fn read_extents(trace: &Trace, limits: &Limits) -> Result<Vec<(u64, u64)>, TraceError> {
    let capacity = limits.capacity_bytes();
    let pieces = capacity.div_ceil(PIECE_BYTES);
    let mut bits = vec![0u64; pieces.div_ceil(64) as usize];
    let mut requests = trace.requests(capacity)?;
    while let Some(entry) = requests.next_entry()? {
        let ends_at = entry.offset.saturating_add(entry.bytes).min(capacity);
        if entry.operation == Operation::Read {
            for piece in entry.offset / PIECE_BYTES..ends_at.div_ceil(PIECE_BYTES) {
                bits[(piece / 64) as usize] |= 1 << (piece % 64);
            }
        }
    }
    let mut gap = 0;
    loop {
        if let Some(extents) = extents_of(&bits, gap) {
            let in_bytes = |(first, end): (u64, u64)| {
                (first * PIECE_BYTES, (end * PIECE_BYTES).min(capacity) - first * PIECE_BYTES)
            };
            return Ok(extents.into_iter().map(in_bytes).collect());
        }
        gap = gap * 2 + 1;
    }
}

/// Runs of set bits, those with at most `gap` clear ones between them joined; `None` for too many.
fn extents_of(bits: &[u64], gap: u64) -> Option<Vec<(u64, u64)>> {
    let mut extents: Vec<(u64, u64)> = Vec::new();
    let words = (0u64..).zip(bits).filter(|(_, word)| **word != 0);
    for piece in
        words.flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit))
    {
        let is_full = extents.len() == MOST_EXTENTS;
        match extents.last_mut().filter(|(_, end)| piece <= *end + gap) {
            Some((_, end)) => *end = piece + 1,
            None if is_full => return None,
            None => extents.push((piece, piece + 1)),
        }
    }
    Some(extents)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Runs of bits are extents; near ones are joined where that is asked.
    #[test]
    fn runs_of_bits_are_extents() {
        let bits = [0b1011, 1];
        assert_eq!(extents_of(&bits, 0), Some(vec![(0, 2), (3, 4), (64, 65)]));
        assert_eq!(extents_of(&bits, 1), Some(vec![(0, 4), (64, 65)]));
        let every_other = vec![0x5555_5555_5555_5555; MOST_EXTENTS / 32 + 1];
        let pieces = every_other.len() as u64 * 64;
        assert_eq!(extents_of(&every_other, 0), None);
        assert_eq!(extents_of(&every_other, 1), Some(vec![(0, pieces - 1)]));
    }
}
