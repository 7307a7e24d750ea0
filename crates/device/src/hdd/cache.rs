//! What the disk's RAM holds: segments that were read, and stretches that are still to be written.
//!
//! A segment is a stretch of the disk; the one used longest ago makes room. Stretches to be written
//! that touch or overlap become one. No bytes are held, only which sectors are there.

use crate::units::Nanos;
use std::collections::BTreeMap;
use std::ops::Range;

/// Segments read, the one used last at the end.
#[derive(Clone, Debug)]
pub struct ReadCache {
    segments: Vec<Range<u64>>,
    most: usize,
    /// Sectors of a segment.
    pub segment_sectors: u64,
}

impl ReadCache {
    /// An empty cache of so many segments.
    pub fn new(most: usize, segment_sectors: u64) -> ReadCache {
        ReadCache { segments: Vec::new(), most, segment_sectors }
    }

    /// Whether all of a stretch lies in one segment, which is then the one used last.
    pub fn hit(&mut self, wanted: &Range<u64>) -> bool {
        let found = self.segments.iter().position(|held| held.start <= wanted.start && wanted.end <= held.end);
        if let Some(index) = found {
            let segment = self.segments.remove(index);
            self.segments.push(segment);
        }
        found.is_some()
    }

    /// Puts in what was read; it lengthens the segment that it continues, whose beginning makes room.
    pub fn fill(&mut self, read: &Range<u64>) {
        if self.segment_sectors == 0 || read.is_empty() {
            return;
        }
        let continued = self.segments.iter().position(|held| held.start <= read.start && read.start <= held.end);
        let mut segment = continued.map_or(read.clone(), |index| self.segments.remove(index));
        segment.end = segment.end.max(read.end);
        segment.start = segment.start.max(segment.end.saturating_sub(self.segment_sectors));
        if self.segments.len() >= self.most {
            self.segments.remove(0);
        }
        self.segments.push(segment);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.segments.clear();
    }
}

/// Stretches to be written: end and age by first sector, never overlapping or touching.
#[derive(Clone, Debug, Default)]
pub struct Dirty {
    stretches: BTreeMap<u64, (u64, Nanos)>,
}

impl Dirty {
    /// Adds a stretch; returns how many of its sectors were there already.
    pub fn add(&mut self, written: Range<u64>, now: Nanos) -> u64 {
        let mut joined = written.clone();
        let (mut since, mut known) = (now, 0);
        let touching: Vec<u64> = self
            .stretches
            .range(..=written.end)
            .rev()
            .take_while(|(_, (end, _))| *end >= written.start)
            .map(|(&start, _)| start)
            .collect();
        for start in touching {
            let (end, age) = self.stretches.remove(&start).expect("just found");
            known += end.min(written.end).saturating_sub(start.max(written.start));
            joined = joined.start.min(start)..joined.end.max(end);
            since = since.min(age);
        }
        self.stretches.insert(joined.start, (joined.end, since));
        known
    }

    /// Takes sectors from the beginning of a stretch, up to `limit`.
    pub fn take(&mut self, start: u64, limit: u64) -> Range<u64> {
        let (end, since) = self.stretches.remove(&start).expect("a stretch begins here");
        if end > limit {
            self.stretches.insert(limit, (end, since));
        }
        start..end.min(limit)
    }

    /// Whether one stretch covers all that is wanted.
    pub fn covers(&self, wanted: &Range<u64>) -> bool {
        self.stretches.range(..=wanted.start).next_back().is_some_and(|(_, (end, _))| *end >= wanted.end)
    }

    /// First sector, and the time since when it waits, of every stretch.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Nanos)> {
        self.stretches.iter().map(|(&start, &(_, since))| (start, since))
    }

    /// Number of stretches.
    pub fn len(&self) -> usize {
        self.stretches.len()
    }

    /// Nothing is to be written.
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// Forgets everything; returns how many sectors that were.
    pub fn clear(&mut self) -> u64 {
        let sectors = self.stretches.iter().map(|(start, (end, _))| end - start).sum();
        self.stretches.clear();
        sectors
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The segment used longest ago makes room, a continued segment keeps its length.
    #[test]
    fn segments_make_room() {
        let mut cache = ReadCache::new(2, 100);
        cache.fill(&(0..80));
        cache.fill(&(80..160));
        assert!(cache.hit(&(60..160)) && !cache.hit(&(50..70)));
        cache.fill(&(1000..1010));
        assert!(cache.hit(&(60..70)));
        cache.fill(&(2000..2010));
        assert!(cache.hit(&(60..70)) && !cache.hit(&(1000..1001)));
    }

    proptest! {
        /// What was added and not yet taken is there, each sector once, in stretches that do not touch.
        #[test]
        fn holds_each_sector_once(steps in prop::collection::vec((0u64..60, 1u64..12, prop::bool::ANY), 1..60)) {
            let mut dirty = Dirty::default();
            let mut plain = BTreeSet::new();
            for (start, length, take) in steps {
                if take && !dirty.is_empty() {
                    let first = dirty.iter().next().unwrap().0;
                    dirty.take(first, first + length).for_each(|sector| { plain.remove(&sector); });
                } else {
                    let known = (start..start + length).filter(|sector| !plain.insert(*sector)).count() as u64;
                    prop_assert_eq!(dirty.add(start..start + length, Nanos(0)), known);
                }
                prop_assert!((0..80).all(|sector| dirty.covers(&(sector..sector + 1)) == plain.contains(&sector)));
                let starts: Vec<u64> = dirty.iter().map(|(start, _)| start).collect();
                prop_assert!(starts.iter().all(|&start| start == 0 || !dirty.covers(&(start - 1..start))));
            }
            prop_assert_eq!(dirty.clone().clear(), plain.len() as u64);
        }
    }
}
