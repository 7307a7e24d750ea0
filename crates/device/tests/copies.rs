//! A copied drive goes on as the drive does that it was copied from, whatever is under way.

use crate::stand::kinds::SMALL;
use crate::stand::{Stand, four_kib};
use ssdlab_device::block::{Device, Operation, Tag};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::units::Nanos;

const UNITS: u32 = 4096;

/// Submits 4 KiB requests, 16 at a time, and tells when each was done, with the counters at the end.
fn history(stand: &mut Stand, seed: u64, requests: u32) -> (Vec<(Nanos, u32)>, String) {
    let mut draws = Stream::new(seed, Purpose::Victim);
    let mut times = Vec::new();
    for tag in 0..requests {
        let operation = if draws.below(4) == 0 { Operation::Read } else { Operation::Write };
        let request = four_kib(operation, u64::from(draws.below(UNITS)));
        while stand.ssd.submit(stand.now, Tag(tag), request).is_err() {
            let done = stand.wait();
            times.extend(done.iter().map(|completion| (stand.now, completion.tag.0)));
        }
    }
    (times, format!("{:?}", stand.ssd.counters()))
}

/// In the middle of collection, with requests outstanding and the buffer full.
#[test]
fn a_copy_goes_on_alike() {
    let kinds: [&[(&str, &str)]; 3] = [
        &[],
        &[("buffer.bytes", "256 KiB"), ("ftl.gc", "d-choices:3")],
        &[("ftl.gc_pace", "smooth"), ("nand.suspend", "true")],
    ];
    for more in kinds {
        let mut stand = Stand::new("theory", &[&SMALL, more].concat());
        stand.fill(UNITS);
        history(&mut stand, 1, 20_000);
        let mut copy = Stand { ssd: stand.ssd.copy().unwrap(), now: stand.now };
        assert_eq!(history(&mut stand, 2, 5_000), history(&mut copy, 2, 5_000), "{more:?}");
        // Both are drives of their own: what one does leaves the other as it is.
        history(&mut copy, 3, 1_000);
        assert_ne!(stand.ssd.counters(), copy.ssd.counters());
    }
}

/// Each policy that comes along can be copied.
#[test]
fn built_in_policies_can_be_copied() {
    for name in ["greedy", "fifo", "random", "d-choices:3", "cost-benefit"] {
        let stand = Stand::new("theory", &[&SMALL[..], &[("ftl.gc", name)]].concat());
        assert!(stand.ssd.copy().is_some(), "{name}");
    }
}
