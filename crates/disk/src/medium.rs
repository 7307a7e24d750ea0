//! Where the bytes of a drive lie: a row of bytes of fixed length, all zero at first.
//!
//! [`Ram`] for tests and programs in virtual time: pages of 16 KiB that copies share until one writes
//! (copy on write), so that a copy costs 8 bytes a page. [`crate::folder`] has them in files.

use rangemap::RangeSet;
use ssdlab_device::counters::Counters;
use std::io;
use std::sync::Arc;

/// A row of bytes. Offsets and lengths that reach beyond its end are errors of the caller.
pub trait Medium {
    /// Fills `into` with what lies at `offset`.
    ///
    /// # Errors
    /// What the host's storage says.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;
    /// Puts `from` at `offset`.
    ///
    /// # Errors
    /// What the host's storage says.
    fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()>;
    /// Makes `length` bytes from `offset` zero.
    ///
    /// # Errors
    /// What the host's storage says.
    fn zero(&mut self, offset: u64, length: u64) -> io::Result<()>;
    /// Makes all of it survive a loss of the host's power.
    ///
    /// # Errors
    /// What the host's storage says.
    fn sync(&mut self) -> io::Result<()>;
    /// Keeps what is known of the drive beside its bytes, where a later life of it will ask.
    ///
    /// # Errors
    /// What the host's storage says.
    fn note(&mut self, _: Note<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// What is kept beside the bytes.
#[derive(Clone, Copy, Debug)]
pub enum Note<'a> {
    /// Marks of [`crate::since::Since`] that have changed, from this byte on.
    Marks(usize, &'a [u8]),
    /// All sectors that cannot be read.
    Bad(&'a RangeSet<u64>),
    /// What the drive has counted.
    Counters(&'a Counters),
}

const PAGE: usize = 16 << 10;

type Page = Arc<[u8; PAGE]>;

/// Bytes in RAM. What was never written takes no room.
#[derive(Clone, Debug)]
pub struct Ram {
    pages: Vec<Option<Page>>,
}

impl Ram {
    /// So many zeroes.
    pub fn new(bytes: u64) -> Ram {
        Ram { pages: vec![None; bytes.div_ceil(PAGE as u64) as usize] }
    }

    /// Calls `each` with the number of a page, the range in it and the range in the whole that it is.
    fn pages(offset: u64, length: u64, mut each: impl FnMut(usize, std::ops::Range<usize>, std::ops::Range<usize>)) {
        let mut done = 0;
        while done < length {
            let at = offset + done;
            let start = (at % PAGE as u64) as usize;
            let count = (PAGE - start).min((length - done) as usize);
            each((at / PAGE as u64) as usize, start..start + count, done as usize..done as usize + count);
            done += count as u64;
        }
    }
}

impl Medium for Ram {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        Ram::pages(offset, into.len() as u64, |page, within, place| match &self.pages[page] {
            Some(bytes) => into[place].copy_from_slice(&bytes[within]),
            None => into[place].fill(0),
        });
        Ok(())
    }

    fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        Ram::pages(offset, from.len() as u64, |page, within, place| {
            let page = self.pages[page].get_or_insert_with(|| Arc::new([0; PAGE]));
            Arc::make_mut(page)[within].copy_from_slice(&from[place]);
        });
        Ok(())
    }

    fn zero(&mut self, offset: u64, length: u64) -> io::Result<()> {
        Ram::pages(offset, length, |number, within, _| {
            let page = &mut self.pages[number];
            match page {
                _ if within.len() == PAGE => *page = None,
                Some(bytes) => Arc::make_mut(bytes)[within].fill(0),
                None => {}
            }
        });
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Holds no bytes: for what a drive does, whatever stands on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBytes;

impl Medium for NoBytes {
    fn read(&mut self, _: u64, into: &mut [u8]) -> io::Result<()> {
        into.fill(0);
        Ok(())
    }

    fn write(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn zero(&mut self, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    const BYTES: usize = 3 * PAGE + 100;

    proptest! {
        /// Whatever is written and made zero, it reads as a plain vector does, and so does a copy of before.
        #[test]
        fn it_reads_as_a_vector_does(
            steps in prop::collection::vec((0..BYTES, 1..2 * PAGE, prop::option::of(any::<u8>())), 1..40)
        ) {
            let (mut ram, mut plain) = (Ram::new(BYTES as u64), vec![0; BYTES]);
            let mut copies = Vec::new();
            for (offset, length, value) in steps {
                copies.push((ram.clone(), plain.clone()));
                let length = length.min(BYTES - offset);
                plain[offset..offset + length].fill(value.unwrap_or(0));
                match value {
                    Some(value) => ram.write(offset as u64, &vec![value; length]).unwrap(),
                    None => ram.zero(offset as u64, length as u64).unwrap(),
                }
            }
            copies.push((ram, plain));
            for (mut ram, plain) in copies {
                let mut read = vec![1; BYTES];
                ram.read(0, &mut read).unwrap();
                prop_assert!(read == plain);
            }
        }
    }
}
