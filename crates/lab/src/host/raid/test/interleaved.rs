//! Requests that overlap in time, over members of different latencies.

use super::{idle, recorded, run_all, sectors_written};
use proptest::prelude::*;
use ssdlab_device::block::{Device, Operation, Request};
use ssdlab_device::units::{Lba, Nanos};

/// Sectors of the smallest array made here: 4 members of 1 MiB in RAID 1.
const SECTORS: u64 = 2048;

fn settings() -> impl Strategy<Value = String> {
    let level = prop::sample::select(vec!["0", "1", "5", "6", "10"]);
    let costs = prop::sample::select(vec![
        "request_us=0 thread_request_us=0",
        "request_us=1 thread_request_us=0.3 latency_us=2",
        "preset=controller",
        "preset=controller write_back=true cache_bytes=256KiB flush_ms=0.01 battery=false",
        "preset=controller read_ahead=adaptive",
        "failed=1",
        "failed=1 rebuild=true",
        "scrub=repair",
    ]);
    (level, costs, any::<bool>()).prop_map(|(level, costs, batch)| {
        let costs =
            if level == "0" && (costs.contains("failed") || costs.contains("scrub")) { "request_us=1" } else { costs };
        format!("level={level} disks=4 {costs} batch_prereads={batch} chunk_bytes=16KiB")
    })
}

fn request(writes_only: bool) -> impl Strategy<Value = Request> {
    let mixed = prop_oneof![
        4 => Just(Operation::Read),
        6 => Just(Operation::Write),
        1 => Just(Operation::WriteZeroes),
        1 => Just(Operation::Trim),
        1 => Just(Operation::Flush)
    ];
    (mixed, 0..SECTORS, 1u32..300, any::<bool>()).prop_map(move |(operation, lba, sectors, fua)| {
        let operation = if writes_only { Operation::Write } else { operation };
        let sectors = if operation == Operation::Flush { 0 } else { sectors.min((SECTORS - lba) as u32) };
        Request { fua, ..Request::new(operation, Lba(lba), sectors) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Every request completes once, at any depth, whatever is cached, lost, rebuilt or scrubbed.
    #[test]
    fn every_request_completes_once(
        settings in settings(),
        requests in prop::collection::vec(request(false), 1..80),
        depth in 1usize..40,
    ) {
        let (mut array, _) = recorded(&settings, 1 << 20, &[1000, 700, 3100, 900]);
        run_all(&mut array, &requests, depth);
        idle(&mut array, Nanos::from_s(10.0));
        prop_assert!(array.next_event().is_none());
    }

    /// A stripe is never torn: on the same rows, what overlaps in time began together, as reads or as
    /// writes of one update. And what is written below covers what was written above.
    #[test]
    fn a_stripe_is_updated_by_one_at_a_time(
        level in prop::sample::select(vec!["1", "5", "6"]),
        batch in any::<bool>(),
        requests in prop::collection::vec(request(true), 1..60),
        depth in 2usize..40,
    ) {
        let settings = format!("level={level} disks=4 chunk_bytes=16KiB batch_prereads={batch} request_us=0 thread_request_us=0");
        let (mut array, log) = recorded(&settings, 1 << 20, &[1000, 700, 3100, 900]);
        run_all(&mut array, &requests, depth);
        let log = log.borrow();
        for (at, one) in log.iter().enumerate() {
            for other in &log[at + 1..] {
                let (low, high) = (one.request.lba.0, one.request.lba.0 + u64::from(one.request.sectors));
                let shares_rows = other.request.lba.0 < high && low < other.request.lba.0 + u64::from(other.request.sectors);
                let together = one.begin == other.begin && one.request.operation == other.request.operation;
                let apart = one.end <= other.begin || other.end <= one.begin;
                prop_assert!(!shares_rows || together || apart, "{one:?} {other:?}");
            }
        }
        let (mut untimed, seen) = recorded(&settings, 1 << 20, &[1]);
        requests.iter().for_each(|request| { untimed.apply_now(*request); });
        prop_assert_eq!(sectors_written(&log), sectors_written(&seen.borrow()));
    }
}
