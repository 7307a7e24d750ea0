//! Files in as many pieces as asked for: what `age.extents_per_file` says, filefrag would find.
//!
//! The mean is met by a level: each file gets as many extents as the level says, or one for each of
//! its blocks if it has fewer. The pieces of a file are alike in size and lie in order at free places
//! drawn at random within reach of its directory: as far as the allocator searches, or as far as
//! there is room for sixteen such files. Left out: what made the file so (growing together with
//! others, a full file system); the free space between its pieces is what ageing left.

use super::allocator::Extent;
use super::file_system::{FileId, FileSystem};
use crate::workload::random::Stream;

/// A file is laid where there is room for so many of its size.
const ROOM: u64 = 16;

/// How many extents each file gets, so that the mean is `mean`; nothing when the files have too few
/// blocks for that.
pub fn counts(blocks: &[u64], mean: f64) -> Option<Vec<u64>> {
    let wanted = (mean * blocks.len() as f64).round() as u64;
    if blocks.iter().sum::<u64>() < wanted {
        return None;
    }
    let given = |level: u64| -> u64 { blocks.iter().map(|&held| held.min(level)).sum() };
    let (mut low, mut high) = (0, wanted);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if given(middle) <= wanted { low = middle } else { high = middle - 1 }
    }
    let mut rest = wanted - given(low);
    let level = |&held: &u64| {
        let more = u64::from(held > low && rest > 0);
        rest -= more;
        held.min(low) + more
    };
    Some(blocks.iter().map(level).collect())
}

/// Free places of a file system as they were when it was asked.
pub struct Places {
    free: Vec<Extent>,
    /// Free units before each.
    before: Vec<u64>,
    all: u64,
}

impl Places {
    /// The free places now.
    pub fn of(files: &FileSystem) -> Places {
        let (free, mut all) = (files.allocator.unused().collect::<Vec<_>>(), 0);
        let counted = |extent: &Extent| {
            all += extent.units;
            all - extent.units
        };
        let before = free.iter().map(counted).collect();
        Places { free, before, all }
    }

    /// Free units before a unit.
    fn free_before(&self, unit: u64) -> u64 {
        match self.free.partition_point(|extent| extent.start < unit) {
            0 => 0,
            next => self.before[next - 1] + self.free[next - 1].units.min(unit - self.free[next - 1].start),
        }
    }

    /// Which free units lie within reach of `home`, by number: at least `units`, if there are so many.
    fn reach(&self, home: u64, mut length: u64, units: u64) -> (u64, u64) {
        let end = self.free.last().map_or(0, Extent::end);
        loop {
            let start = home.min(end.saturating_sub(length));
            let (first, last) = (self.free_before(start), self.free_before(start.saturating_add(length)));
            if last - first >= units || last - first == self.all {
                return (first, last);
            }
            length *= 2;
        }
    }

    fn draw(&self, (first, last): (u64, u64), stream: &mut Stream) -> u64 {
        let number = first + stream.below((last - first).max(1));
        let index = self.before.partition_point(|&before| before <= number).saturating_sub(1);
        self.free.get(index).map_or(0, |extent| extent.start + number - self.before[index])
    }
}

/// Lays a file anew in so many extents; nothing when there is no room.
pub fn scatter(files: &mut FileSystem, places: &Places, id: FileId, extents: u64, stream: &mut Stream) -> Option<()> {
    let (bytes, units) = (files.file(id).bytes, files.file(id).units());
    let block = files.block_units() * files.unit_bytes();
    let (home, length) = files.neighbourhood(id);
    let reach = places.reach(home, length, ROOM * units);
    files.truncate(id);
    while files.file(id).bytes < bytes {
        let have = files.file(id).bytes;
        // A piece that came to lie at the end of the last, or was split, is made good by the next.
        let left = extents.saturating_sub(files.file(id).extents.len() as u64).max(1);
        let piece = ((bytes - have).div_ceil(block) / left).max(1) * block;
        let until = if left == 1 { bytes } else { bytes.min(have + piece) };
        files.extend_at(id, until, Some(places.draw(reach, stream)))?;
    }
    Some(())
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;

    /// By hand: files of 1, 2, 9 and 9 blocks and a mean of 3 are 12 extents: 1 + 2 leave 9 for the two large ones.
    #[test]
    fn small_files_leave_their_share_to_large_ones() {
        assert_eq!(counts(&[1, 2, 9, 9], 3.0), Some(vec![1, 2, 5, 4]));
        assert_eq!(counts(&[1, 2, 9, 9], 1.0), Some(vec![1, 1, 1, 1]));
        assert_eq!(counts(&[1, 2], 2.0), None);
    }

    proptest! {
        /// The extents add up to what was asked for; none has more than its blocks, or none while others have two.
        #[test]
        fn counts_meet_the_mean(blocks in prop::collection::vec(1u64..500, 1..80), mean in 1.0f64..60.0) {
            let wanted = (mean * blocks.len() as f64).round() as u64;
            match counts(&blocks, mean) {
                None => prop_assert!(blocks.iter().sum::<u64>() < wanted),
                Some(found) => {
                    prop_assert_eq!(found.iter().sum::<u64>(), wanted);
                    prop_assert!(found.iter().zip(&blocks).all(|(found, held)| found <= held && *found >= 1));
                }
            }
        }
    }
}
