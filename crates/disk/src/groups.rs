//! Writes that a loss of power takes whole or not at all, up to the drive's atomic size: NVMe's AWUPF.
//!
//! A unit is whole or undone anyway. A write that lies in several is a *group* until each of them is safe: programmed, in
//! a protected buffer, or trimmed. Of a group that is still here when power fails all units are undone.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Writes of several units that are not safe yet, by their number.
#[derive(Clone, Debug, Default)]
pub struct Groups(BTreeMap<u64, Group>);

#[derive(Clone, Debug)]
struct Group {
    units: Range<u32>,
    /// Those that are not safe yet.
    waiting: Vec<u32>,
}

impl Groups {
    /// A write to these units begins; of one unit it is no group.
    pub fn begin(&mut self, write: u64, units: Range<u32>) {
        if units.len() > 1 {
            self.0.insert(write, Group { waiting: units.clone().collect(), units });
        }
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A write is a group, and not safe yet.
    pub fn is_open(&self, write: u64) -> bool {
        self.0.contains_key(&write)
    }

    /// A unit of a write is safe. Returns all its units where it was the last.
    pub fn safe(&mut self, write: u64, unit: u32) -> Option<Range<u32>> {
        let group = self.0.get_mut(&write)?;
        group.waiting.retain(|waiting| *waiting != unit);
        if group.waiting.is_empty() { self.end(write) } else { None }
    }

    /// Open writes to a unit.
    pub fn of_unit(&self, unit: u32) -> Vec<u64> {
        self.0.iter().filter(|(_, group)| group.units.contains(&unit)).map(|(write, _)| *write).collect()
    }

    /// A write is no group any more; returns its units.
    pub fn end(&mut self, write: u64) -> Option<Range<u32>> {
        self.0.remove(&write).map(|group| group.units)
    }

    /// No write is a group any more; returns those that were.
    pub fn take(&mut self) -> BTreeSet<u64> {
        std::mem::take(&mut self.0).into_keys().collect()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: write 7 of units 3 to 5 is a group until the last of them is safe, write 8 of one unit never.
    #[test]
    fn a_write_is_a_group_until_all_is_safe() {
        let mut groups = Groups::default();
        groups.begin(7, 3..6);
        groups.begin(8, 4..5);
        assert!(groups.is_open(7) && !groups.is_open(8));
        assert_eq!((groups.of_unit(5), groups.of_unit(6)), (vec![7], vec![]));
        assert_eq!([4, 4, 3].map(|unit| groups.safe(7, unit)), [None, None, None]);
        assert_eq!(groups.safe(7, 5), Some(3..6));
        assert!(groups.is_empty() && groups.safe(7, 5).is_none());
    }
}
