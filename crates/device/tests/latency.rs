//! Latency of a command apart from the time that it occupies the controller.

use crate::stand::{Done, Stand, assert_within, four_kib};
use ssdlab_device::block::{Device, Operation, Status, Tag};
use ssdlab_device::units::Nanos;

const CAPACITY: (&str, &str) = ("capacity_bytes", "4 GiB");
const READ: (&str, &str) = ("controller.read_latency_us", "40");
const WRITE: (&str, &str) = ("controller.write_latency_us", "11");
/// A drive with a protected buffer: there, a write waits for nothing.
const BUFFERED: [(&str, &str); 4] =
    [CAPACITY, ("buffer.bytes", "64 MiB"), ("buffer.power_loss_protected", "true"), ("nand.pages_per_block", "96")];

/// One request at a time takes its latency longer, to the nanosecond; flush and trim take what they took.
#[test]
fn one_request_takes_its_latency_longer() {
    for profile in ["theory", "micron-7450-pro-960gb"] {
        let none = vec![("controller.read_latency_us", "0"), ("controller.write_latency_us", "0")];
        let times = [none, vec![READ, WRITE]].map(|mut latencies| {
            latencies.push(("controller.latency_jitter_us", "0"));
            let mut stand = Stand::new(profile, &[&BUFFERED[..], &latencies].concat());
            stand.fill(64);
            [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush]
                .map(|operation| stand.time(four_kib(operation, 9)).0)
        });
        let [without, with] = times;
        let longer = [0, 1, 2, 3].map(|place| with[place] - without[place]);
        assert_eq!(longer, [40_000, 11_000, 0, 0], "{profile}");
    }
}

/// Commands pass through it side by side: at depth 64 the rate is the controller's, 10 µs a command, and not that of a
/// latency of 100 µs; Little's law gives the mean.
#[test]
fn the_rate_is_that_of_the_controller() {
    let slow = ("controller.write_latency_us", "100");
    let mut stand = Stand::new("theory", &[&BUFFERED[..], &[slow, ("controller.write_command_us", "10")]].concat());
    let done = stand.run(64, (0..4000).map(|number| four_kib(Operation::Write, number)));
    let took = done.iter().map(|each| each.completed).max().expect("there are some");
    assert_within(0.01, took.as_us(), 4000.0 * 10.0, "controller");
    let mean = done.iter().map(|each| each.latency().as_us()).sum::<f64>() / 4000.0;
    assert_within(0.02, mean, 64.0 * 10.0, "Little");
}

/// With jitter, commands overtake each other, each ends once, and none ends before its latency.
#[test]
fn commands_overtake_each_other() {
    let settings = [&BUFFERED[..], &[WRITE, ("controller.latency_jitter_us", "20")]].concat();
    let mut stand = Stand::new("theory", &settings);
    let done = stand.run(16, (0..1000).map(|number| four_kib(Operation::Write, number)));
    assert!(done.iter().all(|each| each.completed != Nanos::NEVER && each.latency() > Nanos(11_000)));
    assert!(done.windows(2).any(|pair: &[Done]| pair[0].completed > pair[1].completed));
}

/// The seed decides the jitter: the same seed, the same times.
#[test]
fn jitter_repeats() {
    let settings = [&BUFFERED[..], &[("controller.latency_jitter_us", "5")]].concat();
    let run = || Stand::new("theory", &settings).run(4, (0..200).map(|number| four_kib(Operation::Write, number)));
    assert_eq!(run(), run());
}

/// The power goes while a write has done its work and is not answered: the drive goes on with the next command, and what
/// its protected buffer had taken is there.
#[test]
fn a_power_cut_forgets_who_waits_for_an_answer() {
    let mut stand = Stand::new("theory", &[&BUFFERED[..], &[WRITE, READ]].concat());
    stand.submit(0, four_kib(Operation::Write, 3));
    let done = stand.wait_until(Nanos(8_000));
    assert!(done.is_empty(), "{done:?}");
    stand.ssd.cut_power(Nanos(8_000));
    stand.submit(1, four_kib(Operation::Read, 3));
    let ended = stand.wait();
    assert_eq!(ended.iter().map(|each| (each.tag, each.status)).collect::<Vec<_>>(), [(Tag(1), Status::Success)]);
    assert_eq!(stand.ssd.counters().unmapped_reads, 0);
}
