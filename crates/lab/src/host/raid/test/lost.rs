//! Members lost, rebuilt and scrubbed; TRIM; the power cut.

use super::super::Raid;
use super::{Log, count, idle, recorded, run_all, run_from};
use crate::host::stacked::Stacked;
use ssdlab_device::block::{Device, Operation, Request, Tag};
use ssdlab_device::units::{Lba, Nanos};

const FREE: &str = "chunk_bytes=64KiB request_us=0 thread_request_us=0 parity_mb_per_s=1000000";
/// Rates at which a chunk of 64 KiB takes 64 µs.
const PACED: &str = "sync_max_mb_per_s=1024 sync_min_mb_per_s=1024";

fn read(lba: u64, sectors: u32) -> Request {
    Request::new(Operation::Read, Lba(lba), sectors)
}

fn write(lba: u64, sectors: u32) -> Request {
    Request::new(Operation::Write, Lba(lba), sectors)
}

/// What is lost is read from all others; what is not, as ever; a lost member is never asked.
#[test]
fn lost_data_are_read_from_the_rest() {
    let (mut array, log) = recorded(&format!("level=5 disks=4 failed=0 {FREE}"), 1 << 20, &[100]);
    run_all(&mut array, &[read(0, 8), read(128, 8)], 1);
    let members: Vec<usize> = log.borrow().iter().map(|seen| seen.member).collect();
    assert_eq!(members, [1, 2, 3, 1]);
    assert_eq!(count(&mut array, "degraded_reads"), 1);
}

/// A mirror goes on with what is left.
#[test]
fn a_mirror_goes_on_with_the_rest() {
    let (mut array, log) = recorded(&format!("level=1 disks=2 failed=0 {FREE}"), 1 << 20, &[100]);
    run_all(&mut array, &[read(0, 8), write(0, 8), read(100, 8)], 1);
    assert!(log.borrow().iter().all(|seen| seen.member == 1));
}

/// A rebuild reads every other member once, writes the spare once, and takes no longer than its rate
/// says; afterwards reads go to the spare.
#[test]
fn a_rebuild_copies_everything_once() {
    for (level, read_bytes) in [("5", 3 << 20), ("6", 2 << 20), ("1", 1 << 20), ("10", 1 << 20)] {
        let settings = format!("level={level} disks=4 failed=1 rebuild=true {FREE} {PACED}");
        let (mut array, log) = recorded(&settings, 1 << 20, &[100]);
        run_all(&mut array, &[Request::new(Operation::Flush, Lba(0), 0)], 1);
        idle(&mut array, Nanos::from_ms(100.0));
        let sum = |member_is_spare: bool, operation| -> u64 {
            let log = log.borrow();
            let seen =
                log.iter().filter(|seen| (seen.member == 1) == member_is_spare && seen.request.operation == operation);
            seen.map(|seen| u64::from(seen.request.sectors) * 512).sum()
        };
        assert_eq!(sum(true, Operation::Write), 1 << 20, "RAID {level}");
        assert_eq!(sum(false, Operation::Read), read_bytes, "RAID {level}");
        assert_eq!((sum(true, Operation::Read), sum(false, Operation::Write)), (0, 0));
        assert_eq!(count(&mut array, "rebuilt_bytes"), 1 << 20);
        let last = log.borrow().iter().map(|seen| seen.end).max().unwrap();
        // The last chunk of 16, or the only slice, begins when the rate lets it; two members' latencies and parity follow.
        let begins = if level == "1" { 0 } else { 15 * 64_000 };
        assert!((begins + 200..begins + 1000).contains(&last.0), "RAID {level}: {last:?}");
        let before = log.borrow().len();
        let start = Nanos::from_ms(200.0);
        let everything: Vec<Request> = (0..array.limits().sectors / 128).map(|chunk| read(chunk * 128, 8)).collect();
        run_from(&mut array, start, &everything, 64);
        assert!(log.borrow()[before..].iter().any(|seen| seen.member == 1), "RAID {level}");
        assert_eq!(count(&mut array, "degraded_reads"), 0);
    }
}

/// While requests are under way a rebuild keeps to its lower rate. Of 64 KiB steps at 64 µs idle and
/// 640 µs busy, the first finds the first request under way; then, in a millisecond, idle, they begin
/// at 640, 704, 768, 832, 896, 960 µs, and busy at 640 µs.
#[test]
fn a_rebuild_yields_to_requests() {
    for (requests, steps) in [(1, 7), (10_000, 2)] {
        let rates = "sync_max_mb_per_s=1024 sync_min_mb_per_s=102.4";
        let settings = format!("level=5 disks=4 failed=1 rebuild=true {FREE} {rates}");
        let (mut array, _) = recorded(&settings, 1 << 20, &[100]);
        run_all(&mut array, &vec![read(0, 8); requests], 1);
        idle(&mut array, Nanos::from_us(1001.0));
        assert_eq!(count(&mut array, "rebuilt_bytes") >> 16, steps);
    }
}

/// What is written while a rebuild goes on reaches the spare: where the rebuild has been, at once;
/// where it comes later, by the rebuild.
#[test]
fn writes_during_a_rebuild_reach_the_spare() {
    let settings = format!("level=1 disks=2 failed=1 rebuild=true {FREE} {PACED}");
    let (mut array, log) = recorded(&settings, 4 << 20, &[100]);
    let on_spare = |log: &Log| -> Vec<(u64, u32)> {
        let log = log.borrow();
        log.iter().filter(|seen| seen.member == 1).map(|seen| (seen.request.lba.0, seen.request.sectors)).collect()
    };
    // The rebuild begins with the first slice of 1 MiB when the first write is done.
    run_all(&mut array, &[write(0, 8), write(4000, 8), write(16, 8)], 1);
    assert_eq!(on_spare(&log), [(0, 2048), (16, 8)]);
    idle(&mut array, Nanos::from_s(1.0));
    assert_eq!(on_spare(&log).iter().map(|(_, sectors)| sectors).sum::<u32>(), 4 * 2048 + 8);
}

fn scrubbed(settings: &str, damaged: &[u64]) -> Stacked<Raid> {
    let (mut array, _) = recorded(&format!("{settings} {FREE} {PACED}"), 1 << 20, &[100]);
    damaged.iter().for_each(|lba| array.layer.damage(*lba));
    run_all(&mut array, &[read(0, 8)], 1);
    idle(&mut array, Nanos::from_s(1.0));
    array
}

/// A check counts 8 sectors for each page that does not fit, as md does, and leaves it; a repair mends it.
#[test]
fn a_check_counts_and_a_repair_mends() {
    for level in ["1", "5", "6", "10"] {
        let mut checked = scrubbed(&format!("level={level} disks=4 scrub=check"), &[0, 1, 700, 1500]);
        assert_eq!((count(&mut checked, "mismatch_cnt"), checked.layer.mismatched_sectors()), (24, 24));
        let mut mended = scrubbed(&format!("level={level} disks=4 scrub=repair"), &[0, 1, 700, 1500]);
        assert_eq!((count(&mut mended, "mismatch_cnt"), mended.layer.mismatched_sectors()), (24, 0));
        assert_eq!(count(&mut mended, "scrubbed_bytes") % (1 << 20), 0);
    }
}

/// The power fails while data and parity are being written: that page no longer fits, others do. What
/// had not begun to write does no harm.
#[test]
fn a_power_cut_tears_what_is_being_written() {
    for (at, torn) in [(50, 0), (150, 8), (250, 0)] {
        let (mut array, _) = recorded(&format!("level=5 disks=4 {FREE}"), 1 << 20, &[100]);
        array.submit(Nanos::ZERO, Tag(0), write(0, 8)).unwrap();
        array.advance(Nanos(at), &mut Vec::new());
        array.cut_power(Nanos(at));
        assert_eq!(array.layer.mismatched_sectors(), torn, "cut at {at} ns");
        // Old data and parity say nothing of the mismatch; a whole stripe makes parity anew.
        run_from(&mut array, Nanos(1000), &[write(0, 8)], 1);
        assert_eq!(array.layer.mismatched_sectors(), 0, "RAID 5 of four reconstructs");
    }
}

/// Modifying parity carries a mismatch on; writing the whole stripe ends it.
#[test]
fn modified_parity_keeps_its_mismatch() {
    let (mut array, _) = recorded(&format!("level=5 disks=6 {FREE}"), 1 << 20, &[100]);
    array.layer.damage(0);
    run_all(&mut array, &[write(0, 8)], 1);
    assert_eq!((count(&mut array, "modify_writes"), array.layer.mismatched_sectors()), (1, 8));
    run_from(&mut array, Nanos(1000), &[write(0, 5 * 128)], 1);
    assert_eq!(array.layer.mismatched_sectors(), 0);
}

/// TRIM passes md's mirrors and stripes; of parity only whole stripes, and only where zeroes are
/// certain; never a controller.
#[test]
fn trim_passes_where_it_can() {
    let stripe = 3 * 128;
    for (settings, lba, sectors, expected) in [
        ("level=0 disks=4", 0, stripe, u64::from(stripe)),
        ("level=1 disks=4", 0, stripe, 4 * u64::from(stripe)),
        ("level=10 disks=4", 0, stripe, 2 * u64::from(stripe)),
        ("level=5 disks=4", 0, stripe, 0),
        ("level=5 disks=4 discards_zero=true", 0, 2 * stripe, 8 * 128),
        ("level=5 disks=4 discards_zero=true", 8, stripe, 0),
        ("level=0 disks=4 preset=controller", 0, stripe, 0),
        ("level=5 disks=4 preset=controller discards_zero=true", 0, stripe, 0),
    ] {
        for timed in [true, false] {
            let (mut array, log) = recorded(&format!("{settings} chunk_bytes=64KiB"), 1 << 20, &[100]);
            let trim = Request::new(Operation::Trim, Lba(lba), sectors);
            if timed {
                run_all(&mut array, &[trim], 1);
            } else {
                array.apply_now(trim);
            }
            let log = log.borrow();
            assert!(log.iter().all(|seen| seen.request.operation == Operation::Trim));
            let passed: u64 = log.iter().map(|seen| u64::from(seen.request.sectors)).sum();
            assert_eq!(passed, expected, "{settings}");
        }
    }
}
