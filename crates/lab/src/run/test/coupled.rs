//! Jobs that wait for each other, end each other, keep step, and end by their own figures.

use super::*;
use crate::workload::job::{ExitWhat, Flow, LatencyTarget, PerDirection};

const MILLISECOND: Nanos = Nanos(1_000_000);

fn endless(name: &str) -> Job {
    Job { io_size: None, time_based: true, runtime: Some(Nanos(50 * MILLISECOND.0)), ..job(name) }
}

fn requests_of(record: &Record, job: usize) -> u64 {
    record.clones.iter().filter(|clone| clone.job == job).map(|clone| rate(clone).0).sum()
}

/// A delayed job starts later, and its runtime counts from then; of a range each clone draws its own.
#[test]
fn start_delay_moves_the_start() {
    let late = Job { start_delay: (MILLISECOND, MILLISECOND), ..endless("late") };
    let record = run_on(&mut null(32), &[endless("now"), late]);
    assert_eq!(record.clones[1].start - record.clones[0].start, MILLISECOND);
    assert_eq!(record.clones[1].end - record.clones[1].start, Nanos(50 * MILLISECOND.0));
    assert_eq!(requests_of(&record, 0), requests_of(&record, 1));
    let drawn = Job { start_delay: (Nanos::ZERO, Nanos(9 * MILLISECOND.0)), num_jobs: 8, ..endless("drawn") };
    let record = run_on(&mut null(32), &[drawn]);
    let starts: std::collections::BTreeSet<u64> = record.clones.iter().map(|clone| clone.start.0).collect();
    assert_eq!(starts.len(), 8);
    assert!(starts.iter().all(|start| *start <= 1_000 + 9 * MILLISECOND.0));
}

/// A job that waits for another starts when all clones of that one have ended.
#[test]
fn wait_for_starts_after_the_end() {
    let first = Job { num_jobs: 3, start_delay: (Nanos::ZERO, MILLISECOND), ..endless("first") };
    let second = Job { wait_for: Some("first".into()), ramp_time: MILLISECOND, ..endless("second") };
    let third = Job { wait_for: Some("second".into()), ..endless("third") };
    let record = run_on(&mut null(32), &[first, second, third]);
    let ends: Vec<Nanos> = record.clones.iter().map(|clone| clone.end).collect();
    assert_eq!(record.clones[4].start, ends[3]);
    let last = ends[..3].iter().max().unwrap();
    assert!(record.clones[3].start == *last || record.clones[3].start == *last + MILLISECOND);
    assert!(requests_of(&record, 2) > 0);
}

/// `exitall` ends the jobs of its group, all that run, or what would follow too.
#[test]
fn one_end_ends_others() {
    let short = |what| Job { number_ios: Some(10), exit_all: Some(what), ..job("short") };
    let other_group = Job { new_group: true, ..endless("other") };
    let behind = Job { stonewall: true, ..endless("behind") };
    for (what, ended, runs_behind) in [
        (ExitWhat::Group, [true, false], true),
        (ExitWhat::Stonewall, [true, true], true),
        (ExitWhat::All, [true, true], false),
    ] {
        let jobs = [short(what), endless("same"), other_group.clone(), behind.clone()];
        let record = run_on(&mut null(32), &jobs);
        let was_ended = |index: usize| requests_of(&record, index) < 100;
        assert_eq!([was_ended(1), was_ended(2)], ended, "{what:?}");
        assert_eq!(record.clones.iter().any(|clone| clone.job == 3), runs_behind, "{what:?}");
    }
}

/// A job that has not started yet is ended too, with nothing done.
#[test]
fn one_end_ends_what_waits() {
    let short = Job { number_ios: Some(10), exit_all: Some(ExitWhat::Group), ..job("short") };
    let late = Job { start_delay: (Nanos(1 << 40), Nanos(1 << 40)), ..endless("late") };
    let waiting = Job { wait_for: Some("late".into()), ..endless("waiting") };
    let record = run_on(&mut null(32), &[short, late, waiting]);
    assert_eq!((requests_of(&record, 1), requests_of(&record, 2)), (0, 0));
    assert_eq!(record.end - record.start, Nanos(10 * LATENCY.0));
}

/// Jobs of a flow issue in proportion to their weights, whatever their depths, until one has ended.
#[test]
fn flows_keep_step() {
    let flow = |weight, depth, sleep| Job { flow: Flow { id: 0, weight, sleep }, io_depth: depth, ..endless("flow") };
    for sleep in [Nanos::ZERO, Nanos(30_000)] {
        let record = run_on(&mut null(64), &[flow(8, 4, sleep), flow(1, 32, sleep)]);
        let share = requests_of(&record, 0) as f64 / requests_of(&record, 1) as f64;
        assert!((share / 8.0 - 1.0).abs() < 0.02, "{share}");
    }
    let short = Job { number_ios: Some(100), ..flow(1, 1, Nanos::ZERO) };
    let record = run_on(&mut null(64), &[short, flow(1, 4, Nanos::ZERO)]);
    assert!(requests_of(&record, 1) > 1000, "a flow of one goes on");
}

/// Latencies beyond the longest allowed, and rates below the least, end a job with fio's errors.
#[test]
fn limits_end_a_job() {
    let longest = |ns| PerDirection { read: Some(Nanos(ns)), ..PerDirection::default() };
    let late = Job { max_latency: longest(LATENCY.0 - 1), io_depth: 4, ..endless("late") };
    let record = run_on(&mut null(32), &[late]);
    assert_eq!((record.clones[0].error, requests_of(&record, 0)), (110, 4));
    let fine = Job { max_latency: longest(LATENCY.0), ..endless("fine") };
    assert_eq!(run_on(&mut null(32), &[fine]).clones[0].error, 0);

    let at_least = |iops| Job {
        rate_iops_min: PerDirection { read: Some(iops), ..PerDirection::default() },
        runtime: Some(Nanos(5_000_000_000)),
        ..endless("least")
    };
    let record = run_on(&mut null(32), &[at_least(10_100)]);
    assert_eq!(record.clones[0].error, 5);
    assert_eq!((record.end - record.start).0 / 1_000_000, 2_000);
    assert_eq!(run_on(&mut null(32), &[at_least(9_900)]).clones[0].error, 0);
}

/// With `continue_on_error` a failing job goes on, and its error stays to be seen.
#[test]
fn errors_can_be_passed_over() {
    for (goes_on, requests) in [(false, 1), (true, 100)] {
        let mut device = Diary::new(32);
        device.status = Status::MediaError;
        let tolerant = PerDirection { read: goes_on, ..PerDirection::default() };
        let failing = Job { continue_on_error: tolerant, number_ios: Some(100), ..job("failing") };
        let record = run_on(&mut device, &[failing]);
        assert_eq!(device.entries.iter().filter(|entry| entry.2).count(), requests);
        assert_eq!(record.clones[0].error, 5);
    }
}

/// A Poisson process has the given rate, and gaps that spread as an exponential law's do.
#[test]
fn poisson_arrivals() {
    let rate_iops = PerDirection { read: Some(1000), ..PerDirection::default() };
    let poisson =
        Job { rate_iops, rate_poisson: true, io_depth: 64, runtime: Some(Nanos(20_000_000_000)), ..endless("poisson") };
    let mut device = Diary::new(64);
    run_on(&mut device, &[poisson]);
    let times: Vec<f64> = device.entries.iter().filter(|entry| entry.2).map(|entry| entry.0.0 as f64).collect();
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    // 20,000 draws: the mean is known to 0.7 %, the deviation (equal to it) to 1.4 %; four times that.
    assert!((mean / 1e6 - 1.0).abs() < 0.03, "{mean}");
    assert!((variance.sqrt() / mean - 1.0).abs() < 0.06, "{}", variance.sqrt() / mean);
}

/// The queue drains to `iodepth_low` before it is filled again.
#[test]
fn the_queue_drains_before_it_is_filled() {
    let draining = Job { io_depth: 8, depth_low: 2, number_ios: Some(80), ..job("draining") };
    // Fewer places than the depth make completions come apart.
    let mut device = Diary::new(2);
    run_on(&mut device, &[draining]);
    let (mut outstanding, mut filling, mut refills) = (0_u32, true, 0);
    for &(_, _, submitted) in &device.entries {
        outstanding = if submitted { outstanding + 1 } else { outstanding - 1 };
        refills += u32::from(submitted != filling);
        filling = submitted;
    }
    assert!(refills > 0 && outstanding == 0);
    let deep = Job { io_depth: 8, number_ios: Some(80), ..job("deep") };
    let full = run_on(&mut null(2), std::slice::from_ref(&deep)).clones[0].tally.depths;
    let drained = run_on(&mut null(2), &[Job { depth_low: 2, ..deep }]).clones[0].tally.depths;
    assert!(drained[3] < full[3], "{drained:?} {full:?}");
}

/// Completions taken in batches count their latency until the batch is there.
#[test]
fn batches_are_waited_for() {
    let batch = |reap| Job { io_depth: 4, reap, number_ios: Some(400), ..job("batch") };
    // Two places: requests complete two at a time.
    let single = run_on(&mut null(2), &[batch(1)]);
    let fours = run_on(&mut null(2), &[batch(4)]);
    let mean = |record: &Record| record.clones[0].tally.directions[0].latencies.mean_ns();
    assert_eq!(mean(&fours), 2.0 * LATENCY.0 as f64);
    assert!(mean(&fours) >= mean(&single));
    assert_eq!(requests_of(&fours, 0), 400);
}

/// The search for a depth ends at the greatest one that meets the latency: a device of two places makes
/// a third request wait.
#[test]
fn latency_target_finds_the_depth() {
    let target = LatencyTarget { target: LATENCY, window: MILLISECOND, percentile: 100.0, goes_on: false };
    for places in [1, 2, 5, 32] {
        let search = Job {
            latency_target: Some(target),
            io_depth: 32,
            runtime: Some(Nanos(10_000_000_000)),
            ..endless("search")
        };
        let record = run_on(&mut null(places), &[search]);
        assert_eq!(record.clones[0].latency_depth, Some(places));
        assert!(record.end - record.start < Nanos(100 * MILLISECOND.0));
    }
}

/// A pause after so much time, as `thinktime_iotime` asks for it.
#[test]
fn think_time_by_the_clock() {
    let think = Job { think_time: MILLISECOND, think_io_time: MILLISECOND, ..endless("think") };
    let record = run_on(&mut null(32), &[think]);
    // Ten requests of 100 µs, then a pause as long: half of 500.
    assert!((240..=260).contains(&requests_of(&record, 0)), "{}", requests_of(&record, 0));
}
