//! Numbers by number: the map and the reverse map.
//!
//! What was never set reads as [`NONE`] and takes no memory: entries are kept inverted, so that they are
//! zeroes then, and pages of zeroes the system hands out at first use. So a large drive is there at
//! once, and one of which little is written stays small. On huge pages where the system has them: the
//! tables are read at random, and with small pages each access would miss the TLB as well. A table of
//! which only parts are ever used, here and there, is better off on small ones.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Range;

/// What an entry reads as that was never set.
pub const NONE: u32 = u32::MAX;

/// A table of 32-bit numbers.
#[derive(Clone, Debug, Default)]
pub struct Table {
    inverted: Vec<u32>,
}

impl Table {
    /// A table of `length` entries that all are [`NONE`].
    pub fn new(length: usize) -> Table {
        let mut inverted = vec![!NONE; length];
        advise(&mut inverted, Pages::Huge);
        Table { inverted }
    }

    /// As [`Table::new`], for a table of which short stretches are used: on small pages.
    pub fn sparse(length: usize) -> Table {
        let mut inverted = vec![!NONE; length];
        advise(&mut inverted, Pages::Small);
        Table { inverted }
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.inverted.len()
    }

    /// An entry.
    #[inline(always)]
    pub fn get(&self, index: u32) -> u32 {
        !self.inverted[index as usize]
    }

    /// Sets an entry.
    #[inline(always)]
    pub fn set(&mut self, index: u32, value: u32) {
        self.inverted[index as usize] = !value;
    }

    /// Sets an entry and returns what it was.
    #[inline(always)]
    pub fn replace(&mut self, index: u32, value: u32) -> u32 {
        !std::mem::replace(&mut self.inverted[index as usize], !value)
    }

    /// All entries, to be set: where they lie is looked up once for many.
    #[inline(always)]
    pub fn slice_mut(&mut self) -> Slice<'_> {
        Slice(&mut self.inverted)
    }

    /// Makes the entries of a range, which lies in the table, [`NONE`].
    pub fn forget(&mut self, range: Range<u32>) {
        self.inverted[range.start as usize..range.end as usize].fill(!NONE);
    }

    /// Makes all entries [`NONE`], and gives their memory back.
    pub fn clear(&mut self) {
        *self = Table::new(self.entries());
    }

    /// All entries.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> {
        self.inverted.iter().map(|inverted| !inverted)
    }

    /// Entries of a range, which lies in the table.
    #[inline]
    pub fn range(&self, range: Range<u32>) -> impl Iterator<Item = u32> {
        self.inverted[range.start as usize..range.end as usize].iter().map(|inverted| !inverted)
    }

    /// So many entries from one on, where they lie in the table.
    #[inline(always)]
    pub fn window<const N: usize>(&self, first: u32) -> Option<[u32; N]> {
        let entries = self.inverted.get(first as usize..)?.first_chunk::<N>()?;
        Some(entries.map(|inverted| !inverted))
    }

    /// Asks for the cache line of an entry, which need not exist.
    #[inline]
    pub fn prefetch(&self, index: u32) {
        prefetch(&self.inverted, index as usize);
    }
}

/// The entries of a table.
pub struct Slice<'a>(&'a mut [u32]);

impl Slice<'_> {
    /// As [`Table::get`].
    #[inline(always)]
    pub fn get(&self, index: u32) -> u32 {
        !self.0[index as usize]
    }

    /// As [`Table::set`].
    #[inline(always)]
    pub fn set(&mut self, index: u32, value: u32) {
        self.0[index as usize] = !value;
    }

    /// As [`Table::replace`].
    #[inline(always)]
    pub fn replace(&mut self, index: u32, value: u32) -> u32 {
        !std::mem::replace(&mut self.0[index as usize], !value)
    }
}

/// As the bytes that lie in memory on a little-endian machine: a map of gigabytes is copied, not encoded.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if cfg!(target_endian = "little") {
            serializer.serialize_bytes(bytemuck::cast_slice(&self.inverted))
        } else {
            let bytes: Vec<u8> = self.inverted.iter().flat_map(|entry| entry.to_le_bytes()).collect();
            serializer.serialize_bytes(&bytes)
        }
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table, D::Error> {
        deserializer.deserialize_bytes(Entries)
    }
}

/// Reads a table's bytes.
struct Entries;

impl Visitor<'_> for Entries {
    type Value = Table;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("four bytes an entry")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Table, E> {
        let (entries, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        let mut table = Table::new(entries.len());
        table.inverted.iter_mut().zip(entries).for_each(|(entry, bytes)| *entry = u32::from_le_bytes(*bytes));
        Ok(table)
    }
}

/// What a table lies on.
enum Pages {
    Huge,
    Small,
}

fn advise(table: &mut [u32], wanted: Pages) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::Advice;
        const PAGE: usize = 4096;
        let skip = table.as_ptr().align_offset(PAGE).min(table.len());
        let pages = &mut table[skip..];
        let bytes = size_of_val(pages) / PAGE * PAGE;
        let advice = match wanted {
            Pages::Huge => Advice::LinuxHugepage,
            Pages::Small => Advice::LinuxNoHugepage,
        };
        // SAFETY: the range is page-aligned and lies in a slice that is ours alone; the advice concerns
        // only how the kernel backs it, not what it holds. It may fail, and then nothing is different.
        let _ = unsafe { rustix::mm::madvise(pages.as_mut_ptr().cast(), bytes, advice) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (table, wanted);
}

/// Asks for a cache line. Never faults and changes nothing, whatever the index.
#[inline]
fn prefetch(lines: &[u32], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = lines.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch is a hint: it reads nothing that the program sees, and never faults, whatever
        // the address; SSE, which it belongs to, is part of x86_64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (lines, index);
}

#[cfg(test)]
mod test {
    use super::*;
    use serde::de::value::BytesDeserializer;

    /// Entries are what was set, the others none; a table that was saved is the same when it is read.
    #[test]
    fn entries_are_what_was_set() {
        let mut table = Table::new(5000);
        table.set(3, 0);
        table.set(4999, 7);
        assert_eq!((table.get(3), table.get(4), table.replace(4999, 8), table.get(4999)), (0, NONE, 7, 8));
        assert_eq!(table.range(2..5).collect::<Vec<_>>(), [NONE, 0, NONE]);
        let plain: Vec<u32> = table.iter().collect();
        let text = toml::to_string(&std::collections::BTreeMap::from([("map", &table)])).unwrap();
        let saved: std::collections::BTreeMap<String, Vec<u8>> = toml::from_str(&text).unwrap();
        let read = |bytes| Table::deserialize(BytesDeserializer::<serde::de::value::Error>::new(bytes));
        assert!(read(&saved["map"]).unwrap().iter().eq(plain));
        assert!(read(&saved["map"][1..]).is_err(), "an entry is cut");
        table.clear();
        assert!(table.iter().all(|entry| entry == NONE));
    }
}
