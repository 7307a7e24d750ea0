//! Windowed greedy: of the blocks sealed longest ago, the one with the fewest valid units.
//!
//! Between FIFO (a window of one block) and greedy (a window of all). A young block is left alone,
//! however little it holds: what was written just now is what is overwritten soonest, so that
//! waiting frees more of it. Left out: a window that adapts to the workload.

use ssdlab_device::ftl::pool::Group;
use ssdlab_device::ftl::victim::{Candidates, VictimPolicy};
use ssdlab_device::sim::random::Stream;
use std::cmp::Reverse;

/// The policy; a die's oldest `share` of blocks is its window.
pub struct WindowedGreedy {
    share: f64,
    /// Kept, so that a pick allocates nothing.
    oldest: Vec<Group>,
}

impl WindowedGreedy {
    /// A window of that share of the candidates, from 0 (FIFO) to 1 (greedy).
    pub fn new(share: f64) -> WindowedGreedy {
        WindowedGreedy { share, oldest: Vec::new() }
    }
}

impl VictimPolicy for WindowedGreedy {
    fn pick(&mut self, candidates: &Candidates<'_>, _: &mut Stream) -> Option<Group> {
        let window = (f64::from(candidates.len()) * self.share).ceil().max(1.0) as usize;
        self.oldest.clear();
        self.oldest.extend(candidates.iter());
        if window < self.oldest.len() {
            self.oldest.select_nth_unstable_by_key(window - 1, |group| Reverse(candidates.age(*group)));
            self.oldest.truncate(window);
        }
        // Of equals the oldest: the choice must not depend on the order in which candidates come.
        self.oldest.iter().copied().min_by_key(|group| (candidates.valid(*group), Reverse(candidates.age(*group))))
    }
}
