//! A policy that keeps streams apart, and names another one for a unit each time.

use ssdlab_device::ftl::pool::{Group, Order};
use ssdlab_device::ftl::victim::{Candidates, VictimPolicy};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_policy::Unit;

/// How many streams it has.
pub const STREAMS: u32 = 4;

/// Greedy; any of the streams for a unit.
pub struct Fickle(Stream);

impl Fickle {
    /// The same draws each time.
    pub fn new() -> Fickle {
        Fickle(Stream::new(3, Purpose::Victim))
    }
}

impl VictimPolicy for Fickle {
    fn order(&self) -> Order {
        Order::ByValid
    }

    fn pick(&mut self, candidates: &Candidates<'_>, _: &mut Stream) -> Option<Group> {
        candidates.fewest_valid()
    }

    fn streams(&self) -> u32 {
        STREAMS
    }

    fn stream(&mut self, _: &Unit) -> u32 {
        self.0.below(STREAMS)
    }
}
