//! What the closed forms do not say: the way into the steady state, skew with one frontier and with
//! two, and that time changes nothing.

use crate::steady::{Host, assert_theory, drive, point, settle, steady, writes};
use ssdlab_device::block::Device;
use ssdlab_device::units::Nanos;
use ssdlab_lab::condition::{Condition, season};
use ssdlab_lab::run::{RunOptions, Silent, run};
use ssdlab_lab::theory::{Policy, write_amplification};
use ssdlab_lab::workload::job::Job;

/// After a sequential fill at OP 28 % write amplification is 1 until the spare is used, overshoots its steady value to about
/// 3.0 near 0.4 fills, and settles at the closed form's.
#[test]
fn overshoot_after_a_sequential_fill() {
    let point = point(Policy::Greedy, 0.28, 128);
    let mut ssd = drive(&point, &[]);
    season(&mut ssd, Condition::Fresh, Condition::Filled, &[], 1.0, 1, &mut Silent).unwrap();
    let window = u64::from(ssd.ftl.exported) / 10;
    let mut host = Host::new(&ssd, &writes(&[]));
    let windows: Vec<f64> = (0..60).map(|_| host.write(&mut ssd, window)).collect();
    let steady = write_amplification(&point).unwrap().write_amplification;
    assert!(windows[..2].iter().all(|seen| *seen == 1.0), "the spare takes the first 0.28 fills: {windows:.3?}");
    let (peak, highest) = windows.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    assert!((2.8..3.3).contains(&highest), "the peak is {highest:.3}: {windows:.3?}");
    // A window's middle lies half a window behind its beginning.
    let fills = (peak as f64 + 0.5) / 10.0;
    assert!((0.25..0.7).contains(&fills), "the peak is at {fills} fills: {windows:.3?}");
    for (index, seen) in windows.iter().enumerate().skip(30) {
        assert!((seen / steady - 1.0).abs() < 0.02, "window {index}: {seen:.4}, theory {steady:.4}");
    }
}

/// Under skew (95 % of the writes to 5 % of the pages, OP 10 %, 64 pages a block, the best of 10) one frontier mixes what
/// collection has separated and writes 7.31 times, two frontiers 2.86 times, as an independent program found.
#[test]
fn separate_frontiers_pay_under_skew() {
    let point = point(Policy::DChoices(10), 0.1, 64);
    let job = writes(&["--random_distribution=zoned:95/5:5/95"]);
    for (frontiers, expected) in [("single", 7.31), ("host-gc", 2.86)] {
        let seen = steady(&mut drive(&point, &[("ftl.frontiers", frontiers)]), &job, 1.0);
        assert!((seen / expected - 1.0f64).abs() < 0.01, "{frontiers}: {seen:.3}, expected {expected}");
    }
}

/// Run in time at depth 16 the drive writes as often as without time: the untimed season is a short cut, not another model.
#[test]
fn time_changes_nothing() {
    let point = point(Policy::Greedy, 0.2, 64);
    let mut ssd = drive(&point, &[]);
    settle(&mut ssd, &writes(&[]), 1.0);
    let untimed = Host::new(&ssd, &writes(&[])).write(&mut ssd, 200_000);
    let job = Job { io_depth: 16, number_ios: Some(200_000), rand_seed: Some(3), ..writes(&[]) };
    let before = ssd.counters();
    let record = run(&mut ssd, &[job], &RunOptions { start: Nanos::ZERO, seed: 9 }, &mut Silent).unwrap();
    let counters = ssd.counters() - before;
    assert_eq!((counters.host_writes, counters.host_pages_written), (200_000, 200_000));
    let timed = counters.unit_write_amplification().unwrap();
    assert!((timed / untimed - 1.0).abs() < 0.01, "in time {timed:.4}, without time {untimed:.4}");
    assert_theory(&point, timed);
    assert!(record.end > Nanos::from_s(1.0), "it did take time: {:?}", record.end);
}
