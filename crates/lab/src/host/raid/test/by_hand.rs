//! Times and counts that can be computed by hand, over members of constant latency.

use super::super::{Raid, new};
use super::{config, count, recorded, run_all, sectors_written};
use crate::host::stacked::Stacked;
use crate::null::NullDevice;
use ssdlab_device::block::{Device, Operation, Request, Status, Tag, Traffic};
use ssdlab_device::units::{Lba, Nanos};

/// No costs, and chunks of 64 KiB.
const FREE: &str = "chunk_bytes=64KiB request_us=0 thread_request_us=0 parity_mb_per_s=1000000";

/// An array over members of these latencies, 4 MiB each.
fn over(settings: &str, latencies_ns: &[u64]) -> Stacked<Raid> {
    let members = latencies_ns.iter().map(|ns| Box::new(NullDevice::new(4 << 20, Nanos(*ns), 32)) as Box<dyn Device>);
    let settings = format!("disks={} {settings} {FREE}", latencies_ns.len());
    new(&config(&settings), members.collect()).unwrap()
}

/// Does requests, all submitted at once, and returns when each completed.
fn times(array: &mut dyn Device, requests: &[(Operation, u64, u32)]) -> Vec<Nanos> {
    let request = |(operation, lba, sectors): &(Operation, u64, u32)| Request::new(*operation, Lba(*lba), *sectors);
    run_all(array, &requests.iter().map(request).collect::<Vec<_>>(), requests.len())
}

fn asked(array: &mut dyn Device) -> Traffic {
    let mut sum = Traffic::default();
    for member in array.layers().asked {
        sum.reads += member.reads;
        sum.read_bytes += member.read_bytes;
        sum.writes += member.writes;
        sum.written_bytes += member.written_bytes;
    }
    sum
}

/// A small write of RAID 5 is two reads, then two writes, each as slow as its slowest member. Sector 0
/// of five members lies on member 0, its parity on member 4.
#[test]
fn a_small_write_of_raid_5_reads_twice_and_writes_twice() {
    let mut array = over("level=5", &[100, 10, 20, 30, 70]);
    // Parity takes 2 · 2 pages at 10⁶ MB/s, rounded up: 4 · 4096 B / 1000 B a ns.
    assert_eq!(times(&mut array, &[(Operation::Write, 0, 8)]), [Nanos(100 + 17 + 100)]);
    let asked = asked(&mut array);
    assert_eq!((asked.reads, asked.read_bytes, asked.writes, asked.written_bytes), (2, 8192, 2, 8192));
    assert_eq!(count(&mut array, "modify_writes"), 1);
}

/// Each cost is added once: processor, latency, two pages read and two written by the thread.
#[test]
fn costs_are_added_to_a_small_write() {
    let members = (0..5).map(|_| Box::new(NullDevice::new(4 << 20, Nanos(100), 32)) as Box<dyn Device>).collect();
    let costs = "request_us=3 latency_us=5 thread_request_us=2 parity_mb_per_s=1000";
    let mut array = new(&config(&format!("level=5 disks=5 chunk_bytes=64KiB {costs}")), members).unwrap();
    let parity_ns = 4 * 4096;
    assert_eq!(
        times(&mut array, &[(Operation::Write, 0, 8)]),
        [Nanos(3000 + 5000 + 2 * 2000 + 100 + parity_ns + 2 * 2000 + 100)]
    );
}

/// Of three members one page is written by reading the one other: fewer than old data and parity.
#[test]
fn raid_5_of_three_reconstructs() {
    let mut array = over("level=5", &[100, 10, 70]);
    assert_eq!(times(&mut array, &[(Operation::Write, 0, 8)]), [Nanos(10 + 9 + 100)]);
    assert_eq!((asked(&mut array).reads, asked(&mut array).writes), (1, 2));
}

/// A whole stripe is written without reading, in one piece for each member.
#[test]
fn a_whole_stripe_is_written_without_reading() {
    let mut array = over("level=5", &[100, 10, 70]);
    times(&mut array, &[(Operation::Write, 0, 256)]);
    assert_eq!((asked(&mut array).reads, asked(&mut array).writes, asked(&mut array).written_bytes), (0, 3, 3 << 16));
    assert_eq!(count(&mut array, "full_stripe_writes"), 1);
}

/// A part of a page is read, modified and written as a whole page.
#[test]
fn a_part_of_a_page_is_written_as_a_page() {
    let mut array = over("level=6", &[100; 6]);
    times(&mut array, &[(Operation::Write, 3, 2)]);
    let asked = asked(&mut array);
    assert_eq!((asked.reads, asked.read_bytes, asked.writes, asked.written_bytes), (3, 3 * 4096, 3, 3 * 4096));
}

/// Writes to one page come one after another, those to another stripe beside them; those that wait join.
#[test]
fn writes_to_one_page_are_serialised_and_join() {
    let mut array = over("level=5 batch_prereads=false", &[100; 5]);
    let write = |lba| (Operation::Write, lba, 8);
    let times = times(&mut array, &[write(0), write(0), write(0), write(512)]);
    // Both updates have read at once, and the thread computes one parity after the other.
    assert_eq!(times, [Nanos(217), Nanos(434), Nanos(434), Nanos(234)]);
    assert_eq!((asked(&mut array).writes, count(&mut array, "joined_writes")), (6, 1));
}

/// Updates that must read first wait for those that read, and begin together; a whole stripe does not.
#[test]
fn updates_that_read_first_begin_in_batches() {
    let mut array = over("level=5 batch_prereads=true", &[100; 5]);
    let write = |lba, sectors| (Operation::Write, lba, sectors);
    let mut times = times(&mut array, &[write(0, 8), write(512, 8), write(1024, 8), write(1536, 512)]);
    // Parity of a whole stripe: 4 · 64 KiB. The thread is free when the first update has read.
    let whole = 263;
    assert_eq!(times[0], Nanos(whole + 17 + 100));
    assert_eq!(times[3], Nanos(whole + 100));
    // The second batch reads when the first begins to write; the thread computes one parity, then the other.
    times[1..3].sort();
    assert_eq!([times[1], times[2]], [Nanos(whole + 17 + 100 + 17 + 100), Nanos(whole + 17 + 100 + 34 + 100)]);
}

/// RAID 0 and 10 read from all members, RAID 1 from both: as many reads at once take as long as one.
#[test]
fn reads_are_spread_over_members() {
    let reads: Vec<_> = (0..4).map(|chunk| (Operation::Read, chunk * 128, 8)).collect();
    for (level, expected) in [("0", vec![1, 1, 1, 1]), ("10", vec![1, 1, 1, 1]), ("1", vec![2, 2])] {
        let mut array = over(&format!("level={level}"), &vec![100; expected.len()]);
        assert_eq!(times(&mut array, &reads), vec![Nanos(100); 4]);
        let reads: Vec<u64> = array.layers().asked.iter().map(|asked| asked.reads).collect();
        assert_eq!(reads, expected);
    }
}

/// A mirror is written on every member, and is as slow as the slowest; one stream is read from one disk.
#[test]
fn a_mirror_writes_to_all_and_reads_a_stream_from_one() {
    let mut array = over("level=1", &[100, 300]);
    assert_eq!(times(&mut array, &[(Operation::Write, 0, 8)]), [Nanos(300)]);
    for at in 0..5 {
        array.submit(Nanos(1000), Tag(at), Request::new(Operation::Read, Lba(u64::from(at) * 8), 8)).unwrap();
    }
    let reads: Vec<u64> = array.layers().asked.iter().map(|asked| asked.reads).collect();
    assert_eq!(reads, [5, 0]);
}

/// A large read reaches each member of RAID 0 in one piece, although chunks alternate.
#[test]
fn a_large_read_is_one_piece_a_member() {
    let mut array = over("level=0", &[100; 4]);
    times(&mut array, &[(Operation::Read, 0, 2048)]);
    assert_eq!((asked(&mut array).reads, asked(&mut array).read_bytes), (4, 1 << 20));
}

/// What goes down is data and redundancy, no more and no less, timed and untimed alike.
#[test]
fn bytes_below_are_data_and_redundancy() {
    let write = Request::new(Operation::Write, Lba(0), 4 * 128 * 4);
    for (level, disks, below) in [("0", 4, 1.0), ("1", 3, 3.0), ("10", 4, 2.0), ("5", 5, 1.25), ("6", 6, 1.5)] {
        let (mut timed, seen) = recorded(&format!("level={level} disks={disks} {FREE}"), 4 << 20, &[100]);
        run_all(&mut timed, &[write], 1);
        let (mut untimed, seen_untimed) = recorded(&format!("level={level} disks={disks} {FREE}"), 4 << 20, &[100]);
        assert_eq!(untimed.apply_now(write), Status::Success);
        for seen in [seen, seen_untimed] {
            let sectors: u32 = seen.borrow().iter().map(|seen| seen.request.sectors).sum();
            assert_eq!(f64::from(sectors), f64::from(write.sectors) * below, "RAID {level}");
        }
    }
}

/// Untimed, the members are asked to write what the timed path asks them, at any alignment.
#[test]
fn untimed_writes_are_those_of_the_timed_path() {
    for level in ["0", "1", "10", "5", "6"] {
        for (lba, sectors) in [(0, 8), (3, 2), (120, 20), (1000, 1500)] {
            let write = Request::new(Operation::Write, Lba(lba), sectors);
            let (mut timed, seen) = recorded(&format!("level={level} disks=4 {FREE}"), 4 << 20, &[100]);
            run_all(&mut timed, &[write], 1);
            let (mut untimed, seen_untimed) = recorded(&format!("level={level} disks=4 {FREE}"), 4 << 20, &[100]);
            untimed.apply_now(write);
            assert_eq!(sectors_written(&seen.borrow()), sectors_written(&seen_untimed.borrow()), "RAID {level}");
        }
    }
}
