//! The loop against the constant-latency device, where every figure can be worked out by hand.

mod coupled;
mod pace;

use super::*;
use crate::null::NullDevice;
use crate::workload::job::{Extent, Pattern, Replay};
use crate::workload::trace::{Entry, Open, Trace, TraceOptions, iolog_end, iolog_line, iolog_start};
use ssdlab_device::block::{Busy, Completion, Operation, Request, Status, Tag};
use ssdlab_device::counters::Counters;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const LATENCY: Nanos = Nanos(100_000);
const MIB: u64 = 1 << 20;

fn job(name: &str) -> Job {
    let pattern = Pattern { reads: true, writes: false, trims: false, random: true };
    Job { name: name.into(), pattern, io_size: Some(Extent::Bytes(4 * MIB)), ..Job::default() }
}

/// A trace of these requests, whose times are whole microseconds.
fn trace_of(entries: &[Entry]) -> Trace {
    let line = |entry: &Entry| iolog_line(entry.at, "d", entry.operation, entry.offset, entry.bytes);
    let text = iolog_start("d") + &entries.iter().map(line).collect::<String>() + &iolog_end(Nanos::ZERO, "d");
    Trace::of_text("trace", &text, TraceOptions::default()).unwrap()
}

fn write_job(name: &str) -> Job {
    let pattern = Pattern { reads: false, writes: true, trims: false, random: true };
    Job { pattern, ..job(name) }
}

fn null(queue_depth: u32) -> NullDevice {
    NullDevice::new(64 * MIB, LATENCY, queue_depth)
}

fn run_on<D: Device>(device: &mut D, jobs: &[Job]) -> Record {
    let options = RunOptions { start: Nanos(1_000), seed: 1 };
    run(device, jobs, &options, &mut Silent).unwrap()
}

/// A text that is read whole once, to be looked through, and fails in the middle ever after.
fn failing_trace(entries: &[Entry], failed: &Arc<AtomicBool>) -> Trace {
    struct Failing(Arc<AtomicBool>);
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.0.store(true, Ordering::Relaxed);
            Err(io::Error::other("stopped"))
        }
    }
    let lines = entries.iter().map(|entry| iolog_line(entry.at, "d", entry.operation, entry.offset, entry.bytes));
    let start = iolog_start("d") + &lines.collect::<String>();
    let (end, readings, failed) = (iolog_end(Nanos::ZERO, "d"), AtomicBool::new(false), Arc::clone(failed));
    let open: Open = Arc::new(move || {
        let start = Cursor::new(start.clone().into_bytes());
        let is_first = !readings.swap(true, Ordering::Relaxed);
        Ok(if is_first {
            Box::new(start.chain(Cursor::new(end.clone().into_bytes())))
        } else {
            Box::new(start.take(150_000).chain(Failing(Arc::clone(&failed))))
        })
    });
    Trace::read("trace", open, TraceOptions::default()).unwrap()
}

/// A reader that fails since the run was stopped ends it as any stop does: what was done is kept. Of itself it is an error.
#[test]
fn a_stopped_reader_keeps_what_was_done() {
    struct Stops(Arc<AtomicBool>);
    impl Observer for Stops {
        fn progress(&mut self, _: &str, _: f64) -> bool {
            !self.0.load(Ordering::Relaxed)
        }
    }
    let entry = |us: u64| Entry { at: Nanos(us * 1000), operation: Operation::Read, offset: 0, bytes: 4096 };
    let entries: Vec<Entry> = (0..10_000).map(entry).collect();
    let failed = Arc::new(AtomicBool::new(false));
    let run_with = |observer: &mut dyn Observer| {
        let replay = Some(Replay { trace: failing_trace(&entries, &failed), timed: false });
        let options = RunOptions { start: Nanos::ZERO, seed: 1 };
        run(&mut null(32), &[Job { replay, io_size: None, ..job("replay") }], &options, observer)
    };
    let error = run_with(&mut Silent).unwrap_err().to_string();
    assert!(error.contains("cannot be read on: stopped"), "{error}");
    failed.store(false, Ordering::Relaxed);
    let record = run_with(&mut Stops(Arc::clone(&failed))).unwrap();
    let (requests, ..) = record.clones[0].tally.totals();
    assert!(record.interrupted && requests > 1000 && requests < 10_000, "{requests}");
}

/// Requests completed and their exact rate.
fn rate(clone: &CloneRecord) -> (u64, f64) {
    let (requests, ..) = clone.tally.totals();
    (requests, requests as f64 / (clone.end - clone.start).as_s())
}

/// A null device that keeps a diary and can be made to misbehave.
struct Diary {
    inner: NullDevice,
    /// Time, operation, and true at submission or false at completion.
    entries: Vec<(Nanos, Operation, bool)>,
    under_way: Vec<(Tag, Operation)>,
    status: Status,
    loses_requests: bool,
}

impl Diary {
    fn new(queue_depth: u32) -> Diary {
        let (entries, under_way) = (Vec::new(), Vec::new());
        let inner = null(queue_depth);
        Diary { inner, entries, under_way, status: Status::Success, loses_requests: false }
    }
}

impl Device for Diary {
    fn limits(&self) -> &Limits {
        self.inner.limits()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        self.entries.push((now, request.operation, true));
        self.under_way.push((tag, request.operation));
        if self.loses_requests { Ok(()) } else { self.inner.submit(now, tag, request) }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.inner.next_event()
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        let now = self.inner.advance(to, done);
        for completion in done {
            completion.status = self.status;
            let index = self.under_way.iter().position(|&(tag, _)| tag == completion.tag).unwrap();
            let (_, operation) = self.under_way.swap_remove(index);
            self.entries.push((now, operation, false));
        }
        now
    }

    fn counters(&mut self) -> Counters {
        self.inner.counters()
    }

    fn cut_power(&mut self, now: Nanos) {
        self.inner.cut_power(now);
    }
}

/// A closed loop does depth / latency requests a second, until the device's own queue is full;
/// beyond that only the latency grows, because waiting in the host counts.
#[test]
fn rate_is_depth_over_latency_up_to_the_devices_queue() {
    for depth in [1, 2, 7, 16, 32, 64] {
        let record = run_on(&mut null(16), &[Job { io_depth: depth, ..job("closed") }]);
        let (requests, iops) = rate(&record.clones[0]);
        assert_eq!(requests, 1024);
        let rounds = 1024_u64.div_ceil(u64::from(depth.min(16)));
        assert_eq!(record.end - record.start, Nanos(rounds * LATENCY.0));
        if 1024 % depth == 0 {
            assert!((iops - f64::from(depth.min(16)) * 10_000.0).abs() < 1e-6, "{depth}: {iops}");
        }
        let longest = record.clones[0].tally.directions[0].latencies.max_ns();
        assert_eq!(longest, u64::from(depth.div_ceil(16)) * LATENCY.0);
    }
}

/// Clones of a group share the device's queue fairly: with one place, each gets every n-th turn.
#[test]
fn clones_take_turns() {
    let clones = Job { num_jobs: 4, io_depth: 8, ..job("turns") };
    let record = run_on(&mut null(1), &[clones]);
    assert_eq!(record.clones.len(), 4);
    for clone in &record.clones {
        let latencies = &clone.tally.directions[0].latencies;
        assert_eq!((latencies.count(), latencies.max_ns()), (1024, 32 * LATENCY.0));
    }
    let spread = record.clones.iter().map(|clone| clone.end.0).max().unwrap()
        - record.clones.iter().map(|clone| clone.end.0).min().unwrap();
    assert!(spread <= 32 * LATENCY.0);
}

/// Jobs before a stonewall end before it, jobs within a group overlap, and time goes on.
#[test]
fn stonewall_separates_groups() {
    let jobs = [job("a"), Job { io_depth: 2, ..write_job("b") }, Job { stonewall: true, ..job("c") }];
    let mut device = null(32);
    let record = run_on(&mut device, &jobs);
    let [a, b, c] = &record.clones[..] else { panic!("three clones") };
    assert_eq!((a.group, b.group, c.group), (0, 0, 1));
    assert_eq!((a.start, b.start), (record.start, record.start));
    assert_eq!(c.start, a.end.max(b.end));
    assert_eq!(record.groups[0].counters().host_writes, 1024);
    assert_eq!(record.groups[1].counters().host_writes, 0);
    assert_eq!(record.groups[1].counters().host_reads, 1024);
}

/// `number_ios` ends a job after exactly so many requests.
#[test]
fn number_of_requests_is_exact() {
    let record = run_on(&mut null(32), &[Job { number_ios: Some(777), io_depth: 16, ..job("n") }]);
    assert_eq!(rate(&record.clones[0]).0, 777);
}

/// After `fsync` writes a flush is issued, nothing of that clone while it is under way, and it is
/// The flush of `end_fsync` comes once, after everything else has completed, whether the work or
/// Figures begin at the end of the ramp, counters and series with them, and the runtime is longer
/// The first error ends its job with Linux's number, and failed requests are not counted.
#[test]
fn an_error_ends_the_job() {
    let mut device = Diary::new(32);
    device.status = Status::WriteProtected;
    let record = run_on(&mut device, &[Job { io_depth: 4, ..write_job("protected") }]);
    assert_eq!(record.clones[0].error, 30);
    assert_eq!((rate(&record.clones[0]).0, device.entries.len()), (0, 8));
}

/// A device that loses requests is reported, rather than waited for without end.
#[test]
fn a_stalled_device_is_an_error() {
    let mut device = Diary::new(32);
    device.loses_requests = true;
    let options = RunOptions { start: Nanos::ZERO, seed: 1 };
    let error = run(&mut device, &[job("lost")], &options, &mut Silent).unwrap_err();
    assert!(matches!(error, RunError::Stalled { outstanding: 1, .. }), "{error}");
}

/// Stops at the second look.
#[derive(Default)]
struct Impatient {
    shares: Vec<f64>,
    calls: Vec<&'static str>,
}

impl Observer for Impatient {
    fn begin_jobs(&mut self) {
        self.calls.push("begin");
    }

    fn end_jobs(&mut self) {
        self.calls.push("end");
    }

    fn progress(&mut self, phase: &str, share: f64) -> bool {
        assert_eq!(phase, "long");
        self.shares.push(share);
        self.shares.len() < 2
    }
}

/// An observer sees the share grow and may stop the run, which then tells what was done.
#[test]
fn an_observer_may_stop_the_run() {
    let long = Job { number_ios: Some(1_000_000), time_based: true, io_depth: 8, ..job("long") };
    let number = Job { time_based: false, loops: 1000, ..long };
    let options = RunOptions { start: Nanos::ZERO, seed: 1 };
    let mut observer = Impatient::default();
    let jobs = [number, Job { stonewall: true, ..job("never") }];
    let record = run(&mut null(32), &jobs, &options, &mut observer).unwrap();
    assert!(record.interrupted && record.groups.len() == 1);
    assert_eq!(rate(&record.clones[0]).0, 2 * 4096);
    assert_eq!(observer.calls, ["begin", "end"]);
    assert!((observer.shares[0] - 0.5 * 0.004_096).abs() < 1e-5, "{:?}", observer.shares);
    assert!(observer.shares[1] > observer.shares[0]);
}

/// The series holds every request, at any length of the run.
#[test]
fn series_adds_up() {
    for loops in [1, 50] {
        let record = run_on(&mut null(32), &[Job { loops, io_depth: 2, ..job("series") }]);
        let series = &record.clones[0].series;
        let sum: u64 = series.buckets.iter().map(|bucket| bucket.requests[0]).sum();
        assert_eq!(sum, rate(&record.clones[0]).0);
        let span = series.width.0 * series.buckets.len() as u64;
        let time = (record.end - record.start).0;
        assert!(span >= time && span - time < series.width.0);
    }
}

/// The regions of read jobs are those their clones will read; write jobs have none.
#[test]
fn regions_are_those_of_read_jobs() {
    let half = Job { size: Some(Extent::Bytes(32 * MIB)), ..job("half") };
    let device = null(1);
    let regions = regions(&[write_job("w"), half], device.limits()).unwrap();
    assert_eq!(regions, [(1, 0, 32 * MIB)]);
}

/// Of a trace, what it reads counts, in extents that are merged where they touch.
#[test]
fn regions_of_a_trace_are_what_it_reads() {
    let entry = |operation, offset, bytes| Entry { at: Nanos::ZERO, operation, offset, bytes };
    let entries = vec![
        entry(Operation::Read, 8192, 8192),
        entry(Operation::Write, 0, 4096),
        entry(Operation::Read, 4096, 8192),
        entry(Operation::Read, 65_536, 512),
    ];
    let replay = Some(Replay { trace: trace_of(&entries), timed: false });
    let regions = regions(&[Job { replay, ..job("replay") }], null(1).limits()).unwrap();
    assert_eq!(regions, [(0, 4096, 12_288), (0, 65_536, 4096)]);
}

/// A job that nothing would end is refused.
#[test]
fn an_endless_job_is_refused() {
    let endless = Job { time_based: true, ..job("endless") };
    let options = RunOptions { start: Nanos::ZERO, seed: 1 };
    let error = run(&mut null(1), &[endless], &options, &mut Silent).unwrap_err();
    assert!(error.to_string().contains("runtime"), "{error}");
}

/// A job beside one that goes on has figures of its own, to its own end: a sample for each whole half second of
/// it, none of 0, and a series of its own requests.
#[test]
fn a_jobs_figures_are_its_own() {
    let timed = |name: &str, ms: u64| {
        let runtime = Some(Nanos(ms * 1_000_000));
        Job { time_based: true, runtime, io_depth: 2, ..job(name) }
    };
    let jobs = [timed("short", 1200), Job { io_depth: 6, ..timed("long", 4000) }];
    let record = run_on(&mut null(32), &jobs);
    let figures = |clone: &CloneRecord| {
        let read = &clone.tally.directions[0];
        assert_eq!(
            (clone.tally.directions[1].iops_samples.count, read.bandwidth_samples.min),
            (0, { read.bandwidth_samples.max })
        );
        let requests: u64 = clone.series.buckets.iter().map(|bucket| bucket.requests[0]).sum();
        assert_eq!(requests, read.latencies.count());
        let span = clone.series.width.0 * clone.series.buckets.len() as u64;
        (read.bandwidth_samples.count, read.bandwidth_samples.min, read.iops_samples.min, span / 1_000_000)
    };
    assert_eq!(figures(&record.clones[0]), (2, 80_000, 20_000, 1200));
    assert_eq!(figures(&record.clones[1]), (8, 240_000, 60_000, 4000));
    assert_eq!(record.groups[0].series.buckets.len() as u64 * record.groups[0].series.width.0, 4_000_000_000);
}

/// Intervals of a job's own, and half seconds in which nothing completed make no sample.
#[test]
fn samples_need_a_whole_interval_with_something_in_it() {
    let runtime = Some(Nanos(2_400_000_000));
    let thinking = Job { think_time: Nanos(1_100_000_000), time_based: true, runtime, ..job("thinking") };
    let finer = Job { iops_interval: Nanos(100_000_000), ..thinking.clone() };
    let samples = |job: Job| {
        let record = run_on(&mut null(32), &[job]);
        let read = record.clones[0].tally.directions[0].clone();
        (read.latencies.count(), read.bandwidth_samples.count, read.iops_samples.count, read.iops_samples.min)
    };
    // At 0, 1.1 and 2.2 s; the last half second is not whole.
    assert_eq!(samples(thinking), (3, 2, 2, 2));
    assert_eq!(samples(finer), (3, 2, 3, 10));
}
