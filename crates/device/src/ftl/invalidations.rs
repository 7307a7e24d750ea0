//! Times of invalidation: when a unit of each group was last overwritten or trimmed, for policies that ask for it.
//!
//! Time is counted in units that the host has written to flash. What collection moves is not invalidated by that. A
//! group's time is set back to that of its opening.

use crate::ftl::pool::Group;
use serde::{Deserialize, Serialize};

/// The times; none are kept where nobody asks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Invalidations {
    written: u64,
    at: Vec<u64>,
}

impl Invalidations {
    /// Of so many groups.
    pub fn new(groups: u32) -> Invalidations {
        Invalidations { written: 0, at: vec![0; groups as usize] }
    }

    /// Units that the host has written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// When a unit of each group was last invalidated; empty where that is not noted.
    pub fn times(&self) -> &[u64] {
        &self.at
    }

    /// The host writes a unit.
    pub fn write(&mut self) {
        self.written += 1;
    }

    /// A unit of this group becomes invalid, or the group is opened.
    pub fn note(&mut self, group: Group) {
        if let Some(at) = self.at.get_mut(group.0 as usize) {
            *at = self.written;
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: the third write invalidates a unit of group 1.
    #[test]
    fn the_last_one_counts() {
        let mut times = Invalidations::new(2);
        times.note(Group(1));
        (0..3).for_each(|_| times.write());
        times.note(Group(1));
        assert_eq!((times.written(), times.times()), (3, &[0, 3][..]));
    }
}
