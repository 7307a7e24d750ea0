//! What holds requests back and what ends a job: caps, pauses, times, flushes, fio's steady state.

use super::*;
use crate::workload::job::{PerDirection, SteadyMetric, SteadyRule};

/// A cap in requests or bytes a second is met within 1 %, and each direction has its own.
#[test]
fn rate_caps_are_met() {
    let second = Nanos(1_000_000_000);
    let endless = Job { io_size: None, time_based: true, runtime: Some(second), ..job("rate") };
    let by_requests =
        Job { rate_iops: PerDirection { read: Some(1234), ..PerDirection::default() }, io_depth: 4, ..endless.clone() };
    let by_bytes =
        Job { rate: PerDirection { read: Some(8 * MIB), ..PerDirection::default() }, io_depth: 4, ..endless };
    let record = run_on(&mut null(32), &[by_requests]);
    assert!((rate(&record.clones[0]).1 / 1234.0 - 1.0).abs() < 0.01);
    let record = run_on(&mut null(32), &[by_bytes]);
    assert!((rate(&record.clones[0]).1 / 2048.0 - 1.0).abs() < 0.01);
}

/// A pause follows each batch of `thinktime_blocks` requests, once all of them are complete.
#[test]
fn think_time_pauses_after_every_batch() {
    for (depth, batch_time) in [(1, 10 * LATENCY.0), (5, 2 * LATENCY.0)] {
        let think = Job {
            think_time: Nanos(1_000_000),
            think_blocks: 10,
            number_ios: Some(100),
            io_depth: depth,
            ..job("think")
        };
        let record = run_on(&mut null(32), &[think]);
        // The last pause begins, but nothing is left to be issued after it.
        let pauses = (record.end - record.start).0 - 10 * batch_time;
        assert!(pauses == 9_000_000 || pauses == 10_000_000, "{pauses}");
    }
}

/// Nothing is issued at or after the end of the runtime; what is outstanding then completes.
#[test]
fn runtime_stops_exactly() {
    let runtime = Nanos(10 * LATENCY.0);
    let timed = Job { runtime: Some(runtime), time_based: true, io_depth: 2, ..job("timed") };
    let mut device = Diary::new(32);
    let record = run_on(&mut device, std::slice::from_ref(&timed));
    assert_eq!(rate(&record.clones[0]).0, 20);
    assert_eq!(record.end - record.start, runtime);
    let latest = device.entries.iter().filter(|entry| entry.2).map(|entry| entry.0).max().unwrap();
    assert_eq!(latest, record.start + Nanos(9 * LATENCY.0));

    let odd = Job { runtime: Some(Nanos(runtime.0 + 1)), ..timed };
    let record = run_on(&mut null(32), &[odd]);
    assert_eq!(record.end - record.start, Nanos(11 * LATENCY.0));
}

/// A paced job also ends at its runtime, although it sleeps at that instant.
#[test]
fn runtime_ends_a_sleeping_job() {
    let sleeper = Job { runtime: Some(Nanos(1_500_000)), think_time: Nanos(1_000_000), ..job("sleeper") };
    let record = run_on(&mut null(32), &[sleeper]);
    assert_eq!(rate(&record.clones[0]).0, 2);
    assert_eq!(record.end - record.start, Nanos(1_500_000));
}

/// counted beside the directions.
#[test]
fn flush_holds_back_its_clone() {
    let syncing = Job { fsync: 5, io_depth: 4, number_ios: Some(20), ..write_job("sync") };
    let mut device = Diary::new(32);
    let record = run_on(&mut device, &[Job { end_fsync: true, ..syncing }]);
    let flushes = device.entries.iter().filter(|entry| entry.1 == Operation::Flush && entry.2);
    assert_eq!(flushes.count(), 4 + 1);
    assert_eq!(record.clones[0].tally.sync.count(), 5);
    let mut flushing = false;
    for &(_, operation, submitted) in &device.entries {
        assert!(!(flushing && submitted), "a request was issued during a flush");
        if operation == Operation::Flush {
            flushing = submitted;
        }
    }
}

/// the runtime ends the job.
#[test]
fn the_last_flush_waits_for_everything() {
    let short = Job { io_depth: 4, number_ios: Some(10), ..write_job("short") };
    let cut = Job { runtime: Some(Nanos(5 * LATENCY.0)), number_ios: Some(1_000), ..short.clone() };
    let nearly = Job { runtime: Some(Nanos(LATENCY.0)), ..short.clone() };
    for (job, writes) in [(short, 10), (cut, 20), (nearly, 4)] {
        let mut device = Diary::new(32);
        let record = run_on(&mut device, &[Job { end_fsync: true, ..job }]);
        assert_eq!((rate(&record.clones[0]).0, record.clones[0].tally.sync.count()), (writes, 1));
        let [.., before, submitted, completed] = &device.entries[..] else { panic!("too few") };
        assert_eq!((before.1, before.2), (Operation::Write, false));
        assert_eq!((submitted.1, submitted.2), (Operation::Flush, true));
        assert_eq!((completed.1, completed.0 - submitted.0), (Operation::Flush, LATENCY));
    }
}

/// by it.
#[test]
fn ramp_is_not_measured() {
    let ramped =
        Job { ramp_time: Nanos(1_000_000), runtime: Some(Nanos(2_000_000)), time_based: true, ..job("ramped") };
    let record = run_on(&mut null(32), &[ramped]);
    assert_eq!(rate(&record.clones[0]), (20, 10_000.0));
    assert_eq!(record.clones[0].start, Nanos(1_001_000));
    let group = &record.groups[0];
    assert_eq!((group.start, group.end), (Nanos(1_001_000), Nanos(3_001_000)));
    assert_eq!(group.busy, Nanos(2_000_000));
    let series = &record.clones[0].series;
    assert_eq!((series.start, group.series.start), (group.start, group.start));
    assert_eq!(series.buckets.iter().map(|bucket| bucket.requests[0]).collect::<Vec<_>>(), [10, 10]);
}

/// A timed replay issues each request at its time, or when the depth allows.
#[test]
fn replay_keeps_its_times() {
    let at = |us: u64| Entry { at: Nanos(us * 1000), operation: Operation::Read, offset: 0, bytes: 4096 };
    let entries = vec![at(0), at(500), at(510), at(520), at(2000)];
    let replay = Replay { trace: trace_of(&entries), timed: true };
    let mut device = Diary::new(32);
    run_on(&mut device, &[Job { replay: Some(replay), io_depth: 2, io_size: None, ..job("replay") }]);
    let issued = device.entries.iter().filter(|entry| entry.2).map(|entry| entry.0.0 / 1000 - 1);
    assert_eq!(issued.collect::<Vec<_>>(), [0, 500, 510, 600, 2000]);
}

/// fio's steady-state rule ends a job whose rate does not move, as soon as its window is full.
#[test]
fn steady_rule_ends_a_constant_job() {
    let rule = SteadyRule {
        metric: SteadyMetric::Iops,
        slope: true,
        limit: 1.0,
        limit_is_percent: true,
        window: Nanos(50_000_000),
        ramp: Nanos(20_000_000),
        interval: Nanos(10_000_000),
    };
    let long = Some(Nanos(1_000_000_000));
    let steady = Job { steady_state: Some(rule), runtime: long, time_based: true, ..job("steady") };
    let record = run_on(&mut null(32), &[steady]);
    let state = record.clones[0].steady.as_ref().unwrap();
    assert!(state.attained && state.criterion.abs() < 1e-9);
    assert_eq!(state.iops, [10_000; 5]);
    assert_eq!(record.end - record.start, Nanos(70_000_000));
}
