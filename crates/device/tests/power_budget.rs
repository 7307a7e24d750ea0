//! A budget for programs: so many dies program or erase at the same instant at most, and reads are not held up.

use crate::stand::{Stand, assert_within, four_kib};
use ssdlab_device::block::{Device, Operation};
use ssdlab_device::ssd::activity::{Activity, Span};
use ssdlab_device::units::Nanos;

type Setting = (&'static str, &'static str);

/// Eight dies on four channels; no buffer, rows of one unit, tPROG 750 µs.
const EIGHT: [Setting; 3] = [("capacity_bytes", "64 MiB"), ("nand.channels", "4"), ("nand.dies_per_channel", "2")];

fn stand(more: &[Setting]) -> Stand {
    Stand::new("theory", &[&EIGHT[..], more].concat())
}

/// By hand: with N dies at once the rate is N rows per tPROG, whatever the number of dies; loading goes on meanwhile.
#[test]
fn so_many_rows_are_programmed_a_program_time() {
    for (budget, at_once) in [("1", 1.0), ("2", 2.0), ("6", 6.0), ("8", 8.0), ("100", 8.0), ("none", 8.0)] {
        let mut stand = stand(&[("power.programs_at_once", budget), ("over_provisioning", "1.0")]);
        let start = stand.now;
        stand.run(64, (0..4000).map(|number| four_kib(Operation::Write, number)));
        // Where all dies program there is nobody else to load while they do.
        let load = if at_once == 8.0 { 12.301 } else { 0.0 };
        let by_hand = 4000.0 / at_once * (750.0 + load);
        assert_within(0.01, (stand.now - start).as_us(), by_hand, budget);
    }
}

/// By hand: of three writes that come at once two are programmed side by side, and the third behind the first; a write
/// alone takes what it takes without a budget.
#[test]
fn who_finds_no_share_waits_in_order() {
    let mut stand = stand(&[("power.programs_at_once", "2")]);
    let alone = Nanos(1_000 + 1_171 + 12_301 + 750_000);
    assert_eq!(stand.time(four_kib(Operation::Write, 0)), alone);
    let done = stand.run(3, (1..4).map(|number| four_kib(Operation::Write, number)));
    // Link and controller take the second one 1171 ns after the first: each on a channel of its own.
    let step = Nanos(1_171);
    let latencies = [alone, alone + step, alone + Nanos(750_000)];
    assert_eq!(done.iter().map(|each| each.latency()).collect::<Vec<_>>(), latencies);
}

/// A die that waits for its share serves reads: they take what they take on an idle drive.
#[test]
fn reads_are_not_held_up() {
    let mut stand = stand(&[("power.programs_at_once", "1")]);
    stand.fill(64);
    let idle = stand.time(four_kib(Operation::Read, 9));
    (0..2).for_each(|tag| stand.submit(tag, four_kib(Operation::Write, u64::from(tag))));
    stand.pass(Nanos(100_000));
    let (reads, start) = ([8, 9, 10, 11, 12, 13, 14, 15], stand.now);
    (2..).zip(reads).for_each(|(tag, number)| stand.submit(tag, four_kib(Operation::Read, number)));
    let mut ends = vec![Nanos::ZERO; 10];
    while ends.contains(&Nanos::ZERO) {
        for completion in stand.wait() {
            ends[completion.tag.0 as usize] = stand.now - start;
        }
    }
    // Each of the eight lies on a die of its own; only that of the die that programs waits for the program.
    let late = ends[2..].iter().filter(|end| end.0 > idle.0 + 8 * (1_171 + 12_301)).count();
    assert_eq!(late, 1, "{ends:?}");
}

/// Programs and erases that are under way at the same instant, at most.
fn most_at_once(spans: &[Span]) -> i32 {
    let busy =
        spans.iter().filter(|span| matches!(span.kind, Activity::Writing | Activity::Moving | Activity::Erasing));
    let mut steps: Vec<(u64, i32)> = busy.flat_map(|span| [(span.start_ns, 1), (span.end_ns, -1)]).collect();
    steps.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    most
}

/// Numbers without an order (the finaliser of SplitMix64).
fn scatter(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

/// Host rows, moves and erases share the budget, under reads that come in between and interrupt them where they can.
#[test]
fn no_more_than_so_many_are_under_way() {
    for more in [&[][..], &[("nand.suspend", "true")], &[("ftl.gc_pace", "smooth"), ("buffer.bytes", "1 MiB")]] {
        let common = [("power.programs_at_once", "3"), ("ftl.frontiers", "host-gc")];
        let mut stand = stand(&[&common[..], more].concat());
        let units = 64 * 256;
        stand.fill(units);
        let request = |number: u64| {
            let operation = if number % 4 == 3 { Operation::Read } else { Operation::Write };
            four_kib(operation, scatter(number) % u64::from(units))
        };
        stand.run(32, (0..20_000).map(request));
        stand.ssd.record_timeline(stand.now, Nanos::NEVER);
        stand.run(32, (20_000..30_000).map(request));
        let (spans, counters) = (stand.ssd.take_timeline(), stand.ssd.counters());
        assert_eq!(most_at_once(&spans), 3, "{more:?}");
        assert!(counters.gc_pages_moved > 1000 && counters.blocks_erased > 20, "{more:?}");
        stand.ssd.ftl.check();
    }
}

/// A budget for all dies changes nothing but the way to the same outcome, of rows that wait for nothing.
#[test]
fn a_budget_for_all_changes_no_count() {
    let counts = |budget: &'static str| {
        let mut stand = stand(&[("power.programs_at_once", budget), ("ftl.frontiers", "host-gc")]);
        stand.run(1, (0..40_000).map(|number| four_kib(Operation::Write, scatter(number) % (16 * 1024))));
        let counters = stand.ssd.counters();
        (counters.gc_pages_moved, counters.nand_pages_written, counters.blocks_erased, counters.die_host_write_ns)
    };
    assert_eq!(counts("8"), counts("none"));
}
