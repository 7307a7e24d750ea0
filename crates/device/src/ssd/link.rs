//! Controller and link: each serves one after another, in the order they are reached.
//!
//! On a half-duplex link, SATA's, data of both directions take turns. Time on the link = bytes / rate. Writes that have
//! crossed may be paced ([`super::write_pace`]).

use crate::config::DriveConfig;
use crate::config::drive::Protocol;
use crate::sim::timeline::Timeline;
use crate::sim::transfer::TransferTimes;
use crate::ssd::write_pace::WritePace;
use crate::units::Nanos;

/// The way between host and drive.
#[derive(Clone, Debug)]
pub struct Link {
    controller: Timeline,
    inward: Timeline,
    outward: Timeline,
    times: TransferTimes,
    half_duplex: bool,
    books_ahead: bool,
    /// How fast the drive takes writes that have crossed, where it paces them.
    pub pace: Option<WritePace>,
}

impl Link {
    /// The link of a drive, at rest.
    pub fn new(config: &DriveConfig) -> Link {
        Link {
            controller: Timeline::default(),
            inward: Timeline::default(),
            outward: Timeline::default(),
            times: TransferTimes::at(config.link.mb_per_s),
            half_duplex: config.link.protocol != Protocol::Nvme,
            books_ahead: config.link.protocol == Protocol::Nvme && config.controller.paced_write_mb_per_s.is_none(),
            pace: config.controller.paced_write_mb_per_s.map(WritePace::new),
        }
    }

    /// The link's turn of a write is known when its command comes, since nothing else uses that direction or delays it.
    #[inline(always)]
    pub fn books_writes_ahead(&self) -> bool {
        self.books_ahead
    }

    /// Time that so many bytes take.
    #[inline(always)]
    pub fn time_of(&mut self, bytes: u64) -> Nanos {
        self.times.of(bytes)
    }

    /// The controller takes this time, from `now` or when it is free; returns when it is done.
    #[inline(always)]
    pub fn occupy_controller(&mut self, now: Nanos, time: Nanos) -> Nanos {
        self.controller.reserve(now, time)
    }

    /// Data crosses to the drive; returns when it is there.
    #[inline(always)]
    pub fn cross_in(&mut self, now: Nanos, time: Nanos) -> Nanos {
        if self.half_duplex { self.outward.reserve(now, time) } else { self.inward.reserve(now, time) }
    }

    /// Data crosses to the host; returns when it is there.
    #[inline(always)]
    pub fn cross_out(&mut self, now: Nanos, time: Nanos) -> Nanos {
        self.outward.reserve(now, time)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn link(half_duplex: bool) -> Link {
        Link {
            controller: Timeline::default(),
            inward: Timeline::default(),
            outward: Timeline::default(),
            times: TransferTimes::at(500.0),
            half_duplex,
            books_ahead: false,
            pace: None,
        }
    }

    /// By hand: 4096 B at 500 MB/s take 8.192 µs; a write and a read of that size cross side by side, or on a
    /// half-duplex link one after the other.
    #[test]
    fn directions_share_a_half_duplex_link() {
        for (half_duplex, read_ends) in [(false, 8_192), (true, 16_384)] {
            let mut link = link(half_duplex);
            let time = link.time_of(4096);
            assert_eq!(link.cross_in(Nanos::ZERO, time), Nanos(8_192));
            assert_eq!(link.cross_out(Nanos::ZERO, time), Nanos(read_ends));
        }
    }
}
