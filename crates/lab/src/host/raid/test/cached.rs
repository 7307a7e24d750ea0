//! The controller's cache: acknowledged at once, destaged whole, lost or kept; and reading ahead.

use super::super::new;
use super::{config, count, idle, recorded, run_all, run_from};
use crate::null::NullDevice;
use ssdlab_device::block::{Device, Operation, Request, Tag};
use ssdlab_device::units::{Lba, Nanos};

/// A controller that costs nothing, so that times are those of the members.
const FREE: &str =
    "preset=controller request_us=0 latency_us=1 thread_request_us=0 parity_mb_per_s=1000000 host_mb_per_s=none";

fn write(lba: u64, sectors: u32) -> Request {
    Request::new(Operation::Write, Lba(lba), sectors)
}

fn read(lba: u64, sectors: u32) -> Request {
    Request::new(Operation::Read, Lba(lba), sectors)
}

/// Written back, a write takes the controller's own latency; later it reaches the members in whole
/// lines, old data and parity read before: 4 · 64 KiB for 4 KiB. A read finds it in the cache meanwhile.
#[test]
fn a_write_is_acknowledged_and_destaged_whole() {
    let (mut array, log) = recorded(&format!("level=5 disks=6 write_back=true {FREE}"), 1 << 20, &[5000]);
    assert_eq!(run_all(&mut array, &[write(0, 8), read(0, 8)], 1), [Nanos(1000), Nanos(2000)]);
    assert!(log.borrow().is_empty());
    assert_eq!(count(&mut array, "cache_hits"), 1);
    idle(&mut array, Nanos::from_s(5.0));
    let bytes = |operation| -> u64 {
        let log = log.borrow();
        log.iter()
            .filter(|seen| seen.request.operation == operation)
            .map(|seen| u64::from(seen.request.sectors) * 512)
            .sum()
    };
    assert_eq!((bytes(Operation::Read), bytes(Operation::Write)), (2 << 16, 2 << 16));
    // Four seconds after the write.
    assert_eq!(log.borrow()[0].begin, Nanos::from_us(4e6 + 1.0));
}

/// What the cache takes and gives crosses the link to the host: 64 KiB at 1000 MB/s take 65.536 µs, one after the other.
#[test]
fn the_link_to_the_host_bounds_the_cache() {
    let (mut array, log) =
        recorded(&format!("host_mb_per_s=1000 level=5 disks=6 write_back=true {FREE}"), 1 << 20, &[5000]);
    let ends = [66_536, 132_072, 197_608].map(Nanos);
    assert_eq!(run_all(&mut array, &[0, 128, 256].map(|lba| write(lba, 128)), 3), ends);
    let from = ends[2];
    assert_eq!(run_from(&mut array, from, &[0, 128, 256].map(|lba| read(lba, 128)), 3), ends.map(|end| from + end));
    assert!(log.borrow().is_empty());
}

/// Writes that fill a stripe in the cache are destaged without reading.
#[test]
fn a_stream_is_destaged_in_whole_stripes() {
    let (mut array, log) = recorded(&format!("level=5 disks=4 write_back=true {FREE}"), 1 << 20, &[5000]);
    let stream: Vec<_> = (0..48).map(|at| write(at * 8, 8)).collect();
    run_all(&mut array, &stream, 4);
    idle(&mut array, Nanos::from_s(5.0));
    assert!(log.borrow().iter().all(|seen| seen.request.operation == Operation::Write));
    assert_eq!((count(&mut array, "destages"), count(&mut array, "full_stripe_writes")), (1, 1));
}

/// When no line is free a write waits for one to be destaged: read and written, 5 µs each.
#[test]
fn a_full_cache_makes_writes_wait() {
    let settings = format!("level=5 disks=6 write_back=true cache_bytes=128KiB destage_share=1 {FREE}");
    let (mut array, _) = recorded(&settings, 1 << 20, &[5000]);
    // Three lines in stripes of their own; two fit.
    let times = run_all(&mut array, &[write(0, 8), write(640, 8), write(1280, 8)], 3);
    assert_eq!(times[..2], [Nanos(1000), Nanos(1000)]);
    // 4 lines of 64 KiB at 10⁶ MB/s for parity, one update after the other.
    assert_eq!(times[2], Nanos(1000 + 5000 + 263 + 5000));
    assert_eq!(count(&mut array, "cache_stalls"), 1);
}

/// A power cut takes what is only in the cache where there is no battery, every sector of it and
/// nothing else; with one it is destaged afterwards.
#[test]
fn a_power_cut_loses_the_cache_without_a_battery() {
    for battery in [true, false] {
        let settings = format!("level=5 disks=4 write_back=true battery={battery} {FREE}");
        let (mut array, log) = recorded(&settings, 1 << 20, &[5000]);
        assert_eq!(array.limits().volatile_cache, !battery);
        run_all(&mut array, &[write(0, 8), write(4, 8), write(1000, 20)], 1);
        array.cut_power(Nanos::from_us(10.0));
        assert_eq!(count(&mut array, "lost_sectors"), if battery { 0 } else { 32 });
        run_from(&mut array, Nanos::from_us(20.0), &[read(2000, 8)], 1);
        idle(&mut array, Nanos::from_s(5.0));
        let written = log.borrow().iter().any(|seen| seen.request.operation == Operation::Write);
        assert_eq!(written, battery);
        assert_eq!(array.layer.mismatched_sectors(), 0);
    }
}

/// A cut while a line is being destaged: the battery's controller writes it again, parity and all.
#[test]
fn a_destage_that_was_cut_is_done_again() {
    let (mut array, _) = recorded(&format!("level=5 disks=4 write_back=true flush_ms=0 {FREE}"), 1 << 20, &[5000]);
    array.submit(Nanos::ZERO, Tag(0), write(0, 8)).unwrap();
    array.advance(Nanos(1000), &mut Vec::new());
    array.advance(Nanos(8000), &mut Vec::new());
    array.cut_power(Nanos(8000));
    assert_eq!((array.layer.mismatched_sectors(), count(&mut array, "destages")), (0, 1));
    run_from(&mut array, Nanos(9000), &[read(2000, 8)], 1);
    idle(&mut array, Nanos::from_s(5.0));
    assert_eq!(count(&mut array, "destages"), 2);
}

/// A flush, and a write with FUA, end when the members have what was written, unless a battery stands in.
#[test]
fn a_flush_empties_a_cache_without_battery() {
    let flush = Request::new(Operation::Flush, Lba(0), 0);
    let fua = Request { fua: true, ..write(0, 8) };
    for (battery, flushed_ns, fua_ns) in [(true, 2000, 1000), (false, 1000 + 1000 + 10_263 + 5000, 1000 + 10_263)] {
        let settings = format!("level=5 disks=6 write_back=true battery={battery} {FREE}");
        let (mut array, _) = recorded(&settings, 1 << 20, &[5000]);
        assert_eq!(run_all(&mut array, &[write(0, 8), flush], 1)[1], Nanos(flushed_ns));
        let (mut array, _) = recorded(&settings, 1 << 20, &[5000]);
        assert_eq!(run_all(&mut array, &[fua], 1), [Nanos(fua_ns)]);
    }
}

/// A stream that is read ahead comes from the cache after its first two reads; random reads cost the
/// members nothing more.
#[test]
fn adaptive_read_ahead_serves_streams_only() {
    let settings = format!("level=5 disks=4 read_ahead=adaptive {FREE}");
    let (mut array, log) = recorded(&settings, 4 << 20, &[50_000]);
    let random: Vec<_> = (0..32).map(|at| read(at * 677 % 20_000, 8)).collect();
    run_all(&mut array, &random, 4);
    assert_eq!((log.borrow().len(), count(&mut array, "lines_read_ahead")), (32, 0));
    let (mut array, log) = recorded(&settings, 4 << 20, &[50_000]);
    let times = run_all(&mut array, &(0..256).map(|at| read(at * 16, 16)).collect::<Vec<_>>(), 1);
    // Each 64 KiB line holds eight reads of 8 KiB; without reading ahead each read takes 51 µs.
    assert!(times[255] < Nanos::from_us(256.0 * 51.0 / 4.0), "{:?}", times[255]);
    assert_eq!(
        count(&mut array, "read_ahead_hits"),
        256 - log.borrow().iter().filter(|seen| seen.request.sectors == 16).count() as u64
    );
}

/// Reading ahead always, as old firmware may, makes a random read fetch 4 lines more.
#[test]
fn reading_ahead_always_reads_more_than_was_asked() {
    let (mut array, log) = recorded(&format!("level=0 disks=4 read_ahead=always {FREE}"), 4 << 20, &[5000]);
    run_all(&mut array, &[read(0, 8)], 1);
    idle(&mut array, Nanos::from_s(1.0));
    let sectors: u32 = log.borrow().iter().map(|seen| seen.request.sectors).sum();
    assert_eq!(sectors, 8 + 4 * 128);
}

/// The fast path is for small reads of a healthy array without cache; all else takes the processor longer.
#[test]
fn the_fast_path_is_for_plain_reads() {
    let times = |more: &str, request| {
        let members = (0..4).map(|_| Box::new(NullDevice::new(1 << 20, Nanos(100), 32)) as Box<dyn Device>).collect();
        let costs = "latency_us=0 request_us=7 fast_path_us=2 thread_request_us=0 host_mb_per_s=none";
        let config = config(&format!("preset=controller level=10 disks=4 {costs} {more}"));
        run_all(&mut new(&config, members).unwrap(), &[request], 1)[0]
    };
    assert_eq!(times("", read(0, 8)), Nanos(2100));
    assert_eq!(times("", read(0, 256)), Nanos(7100));
    assert_eq!(times("read_ahead=adaptive", read(0, 8)), Nanos(7100));
    assert_eq!(times("", write(0, 8)), Nanos(7100));
    assert_eq!(times("write_back=true", write(0, 8)), Nanos(7000));
}
