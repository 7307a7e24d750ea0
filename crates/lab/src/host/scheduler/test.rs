use super::*;
use crate::host::registry::LayerPlan;
use crate::host::text::LayerText;
use crate::null::NullDevice;
use ssdlab_device::block::{Completion, LayerCounts};

const DRIVE: Nanos = Nanos(1_000_000);
const MS: u64 = 1_000_000;

/// A scheduler over a drive that takes one request at a time, 1 ms each.
fn over_null(text: &str) -> Box<dyn Device> {
    let plan = LayerPlan::read(LayerText::parse(&format!("scheduler:{text}")).unwrap()).unwrap();
    plan.config.build(vec![Box::new(NullDevice::new(1 << 30, DRIVE, 1))]).unwrap()
}

fn request(operation: Operation, kib: u64) -> Request {
    Request::new(operation, Lba(kib * 2), 8)
}

fn read(kib: u64) -> Request {
    request(Operation::Read, kib)
}

fn write(kib: u64) -> Request {
    request(Operation::Write, kib)
}

/// Submits requests at their times in ms; gives the tags in order of completion with their times in ms.
fn order(device: &mut dyn Device, requests: &[(u64, Request)]) -> Vec<(u32, u64)> {
    let (mut order, mut done): (Vec<(u32, u64)>, Vec<Completion>) = (Vec::new(), Vec::new());
    let mut live = |device: &mut dyn Device, to: Nanos| {
        while device.next_event().is_some_and(|next| next <= to) {
            let now = device.advance(to, &mut done);
            order.extend(done.drain(..).map(|completion| (completion.tag.0, now.0 / MS)));
        }
    };
    for (tag, (ms, request)) in requests.iter().enumerate() {
        if *ms > 0 {
            live(device, Nanos(ms * MS - 1));
        }
        device.submit(Nanos(ms * MS), Tag(tag as u32), *request).unwrap();
    }
    live(device, Nanos(10_000 * MS));
    order
}

fn tags(device: &mut dyn Device, requests: &[(u64, Request)]) -> Vec<u32> {
    order(device, requests).into_iter().map(|(tag, _)| tag).collect()
}

fn counted(counts: &LayerCounts, name: &str) -> u64 {
    counts.counts.iter().find(|(known, _)| known == name).unwrap().1
}

/// Neighbours of one instant go down as one request, whichever comes first, and end together.
#[test]
fn a_plug_merges_neighbours() {
    let mut device = over_null("policy=none");
    let requests = [(0, write(4)), (0, write(8)), (0, write(0)), (0, write(100))];
    assert_eq!(order(device.as_mut(), &requests), [(0, 1), (1, 1), (2, 1), (3, 2)]);
    let counts = device.layers();
    assert_eq!((counts.taken.writes, counts.asked[0].writes), (4, 2));
    assert_eq!(counts.taken.written_bytes, counts.asked[0].written_bytes);
    assert_eq!((counted(&counts, "merged_at_back"), counted(&counts, "merged_at_front")), (1, 1));
}

/// `noop` merges with what has waited before, `none` does not, and neither does without `merge`.
#[test]
fn merging_depends_on_the_policy() {
    // The first is in the device, the second waits for it when the third comes.
    let requests = [(0, read(1000)), (1, read(2000)), (1, read(0)), (2, read(4))];
    let asked = |text: &str| {
        let mut device = over_null(text);
        order(device.as_mut(), &requests);
        device.layers().asked[0].reads
    };
    assert_eq!(asked("policy=noop"), 3);
    assert_eq!(asked("policy=none"), 4);
    assert_eq!(asked("policy=noop,merge=false"), 4);
}

/// Only what is of one kind is merged, and never beyond the largest request.
#[test]
fn merging_has_limits() {
    let mut device = over_null("policy=noop,max_sectors_kb=8");
    let fua = Request { fua: true, ..write(12) };
    order(device.as_mut(), &[(0, write(0)), (0, write(4)), (0, write(8)), (0, fua), (0, read(16))]);
    let asked = device.layers().asked[0];
    assert_eq!((asked.writes, asked.reads), (3, 1));
}

/// A large request is cut, its parts go one after the other, and it completes once, after the last.
#[test]
fn large_requests_are_cut() {
    let mut device = over_null("policy=noop,max_sectors_kb=64");
    let large = Request::new(Operation::Write, Lba(0), 2 * 160);
    assert_eq!(order(device.as_mut(), &[(0, large)]), [(0, 3)]);
    let counts = device.layers();
    assert_eq!((counts.asked[0].writes, counted(&counts, "splits")), (3, 2));
    assert_eq!(counts.asked[0].written_bytes, 160 << 10);
}

/// `deadline` sorts; reads go first, but writes are passed over no more than twice.
#[test]
fn deadline_sorts_and_feeds_writes() {
    let mut device = over_null("policy=deadline,fifo_batch=1");
    let reads = [300, 100, 200, 400].map(|kib| (0, read(kib)));
    let requests: Vec<_> = reads.into_iter().chain([(0, write(20)), (0, write(10))]).collect();
    assert_eq!(tags(device.as_mut(), &requests), [1, 2, 5, 0, 3, 4]);
}

/// A batch runs on in order of sectors without looking back; then what has expired goes first.
#[test]
fn deadline_lets_nothing_wait_for_long() {
    let requests: Vec<_> = [(0, read(500)), (1, read(100)), (2, read(600)), (3, read(700)), (4, read(800))].into();
    let mut patient = over_null("policy=deadline");
    assert_eq!(tags(patient.as_mut(), &requests), [0, 1, 2, 3, 4]);
    let busy: Vec<_> = [(0, read(500)), (0, read(100)), (0, read(600)), (0, read(700)), (0, read(800))].into();
    let mut sorted = over_null("policy=deadline,fifo_batch=2");
    assert_eq!(tags(sorted.as_mut(), &busy), [1, 0, 2, 3, 4]);
    // After a first batch (100, 500) the oldest that is left, at 700, has waited for 2 ms.
    let late: Vec<_> = [(0, read(500)), (0, read(100)), (0, read(700)), (1, read(600))].into();
    let mut expiring = over_null("policy=deadline,fifo_batch=2,read_expire_ms=2");
    assert_eq!(tags(expiring.as_mut(), &late), [1, 0, 2, 3]);
    let mut waiting = over_null("policy=deadline,fifo_batch=2");
    assert_eq!(tags(waiting.as_mut(), &late), [1, 0, 3, 2]);
}

/// In front of a rotational device `cfq` lets writes wait for the next read, as long as its idling; else not.
#[test]
fn cfq_idles_for_the_next_read() {
    // Read 0 ends at 1 ms. A read that comes at 5 ms is still waited for; the write follows 8 ms after it.
    let requests = [(0, read(0)), (1, write(500)), (5, read(8))];
    assert_eq!(order(over_null("policy=cfq,rotational=true").as_mut(), &requests), [(0, 1), (2, 6), (1, 15)]);
    assert_eq!(order(over_null("policy=cfq").as_mut(), &requests), [(0, 1), (1, 2), (2, 6)]);
    let without = "policy=cfq,rotational=true,slice_idle_ms=0";
    assert_eq!(order(over_null(without).as_mut(), &requests), [(0, 1), (1, 2), (2, 6)]);
}

/// `cfq` gives reads and writes slices in turn, and goes to the nearest; a step back counts double.
#[test]
fn cfq_takes_turns_and_the_nearest() {
    let slices = "policy=cfq,slice_sync_ms=2,slice_async_ms=1";
    let far: Vec<_> =
        [read(0), read(100), read(200), read(300)].into_iter().chain([write(1000), write(1100)]).collect();
    let far: Vec<_> = far.into_iter().map(|request| (0, request)).collect();
    let order = tags(over_null(slices).as_mut(), &far);
    let is_write: Vec<bool> = order.iter().map(|&tag| tag >= 4).collect();
    assert_eq!(is_write, [true, false, false, true, false, false]);
    // The head stands at 100 KiB: 16 KiB back count as 32, nearer than 40 forward and farther than 28.
    let back_or_forward =
        |kib: u64| tags(over_null("policy=cfq").as_mut(), &[(0, read(96)), (1, read(84)), (1, read(kib))]);
    assert_eq!(back_or_forward(140), [0, 1, 2]);
    assert_eq!(back_or_forward(128), [0, 2, 1]);
}

/// Synchronous writes share the reads' slice, in one order of sectors.
#[test]
fn cfq_sorts_synchronous_writes_with_reads() {
    let requests = [(0, read(300)), (0, write(200)), (0, read(100)), (0, write(400))];
    assert_eq!(tags(over_null("policy=cfq,sync_writes=true").as_mut(), &requests), [2, 1, 0, 3]);
}

/// No more than the dispatch depth is in the device, and no more than `nr_requests` are taken.
#[test]
fn depths_are_kept() {
    let plan = LayerPlan::read(LayerText::parse("scheduler:dispatch_depth=2,nr_requests=3").unwrap()).unwrap();
    let mut device = plan.config.build(vec![Box::new(NullDevice::new(1 << 30, DRIVE, 32))]).unwrap();
    let requests: Vec<_> = [0, 100, 200].map(|kib| (0, read(kib))).into();
    assert_eq!(order(device.as_mut(), &requests), [(0, 1), (1, 1), (2, 2)]);
    for tag in 0..3 {
        device.submit(Nanos(20_000 * MS), Tag(tag), read(u64::from(tag) * 100)).unwrap();
    }
    assert!(device.submit(Nanos(20_000 * MS), Tag(3), read(0)).is_err());
}

/// A flush does not wait for what is queued.
#[test]
fn a_flush_goes_past_the_queue() {
    let mut device = over_null("policy=deadline");
    let flush = Request::new(Operation::Flush, Lba(0), 0);
    assert_eq!(tags(device.as_mut(), &[(0, write(0)), (0, write(100)), (0, flush)]), [2, 0, 1]);
}
