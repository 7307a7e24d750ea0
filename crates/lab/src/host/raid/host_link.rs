//! What joins a controller to the host: a link that is full duplex, at one rate in each direction.
//!
//! A transfer takes bytes / rate, one after the other in each direction; what the host sends beside the data of writes is
//! part of the time that a request takes anyway. Left out: the heads of packets, which take a tenth of the rate.

use ssdlab_device::block::Operation;
use ssdlab_device::sim::timeline::Timeline;
use ssdlab_device::sim::transfer::TransferTimes;
use ssdlab_device::units::Nanos;

/// The link.
#[derive(Clone, Debug)]
pub struct HostLink {
    times: TransferTimes,
    to_array: Timeline,
    to_host: Timeline,
}

impl HostLink {
    /// A link of so many MB/s in each direction.
    pub fn at(mb_per_s: f64) -> HostLink {
        HostLink { times: TransferTimes::at(mb_per_s), to_array: Timeline::default(), to_host: Timeline::default() }
    }

    /// The data of a read or write cross from `now` on, or as soon as their direction is free; returns when they are there.
    pub fn cross(&mut self, operation: Operation, now: Nanos, bytes: u64) -> Nanos {
        let direction = if operation == Operation::Read { &mut self.to_host } else { &mut self.to_array };
        direction.reserve(now, self.times.of(bytes))
    }

    /// Nothing is under way.
    pub fn clear(&mut self) {
        (self.to_array, self.to_host) = Default::default();
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// At 1000 MB/s 4096 bytes take 4096 ns; reads do not wait for writes.
    #[test]
    fn each_direction_has_its_turn() {
        let mut link = HostLink::at(1000.0);
        let ends = [Operation::Write, Operation::Write, Operation::Read].map(|kind| link.cross(kind, Nanos(100), 4096));
        assert_eq!(ends, [4196, 8292, 4196].map(Nanos));
        link.clear();
        assert_eq!(link.cross(Operation::Write, Nanos(0), 0), Nanos(0));
    }
}
