use super::*;
use crate::files::scenario::names;
use crate::null::NullDevice;
use proptest::prelude::*;

fn scenario(name: &str, settings: &[(&str, &str)]) -> Scenario {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Scenario::named(name, &settings).unwrap_or_else(|error| panic!("{error}"))
}

/// A drive of 24 GiB that takes 100 µs for anything.
fn drive() -> NullDevice {
    NullDevice::new(24 << 30, Nanos::from_us(100.0), 32)
}

/// Small enough for the drive: a system of 1 GiB on a file system one quarter full.
const SMALL: [(&str, &str); 2] = [("system.age.system_bytes", "\"1 GiB\""), ("system.age.fill", "0.25")];

/// Every scenario runs to its end, takes at least its CPU time, and does the same again.
#[test]
fn every_scenario_runs_and_is_deterministic() {
    for name in names() {
        let scenario = scenario(name, &SMALL);
        let run = || run_scenario(&mut drive(), &scenario, Nanos::ZERO, 1).unwrap_or_else(|error| panic!("{error}"));
        let result = run();
        assert!(result.elapsed_s >= scenario.cpu_s.value * 0.999, "{name}: {}", result.elapsed_s);
        assert!(result.cpu_s >= scenario.cpu_s.value * 0.999 && result.cpu_s <= result.elapsed_s, "{name}");
        assert!(result.traffic.reads + result.traffic.writes > 0, "{name}");
        assert_eq!(result, run(), "{name}");
    }
}

/// dd: three runs over the same space write the same bytes, at the rate of the device, which does
/// one cluster of 128 KiB in 1 ms.
#[test]
fn dd_takes_bytes_over_rate() {
    let mut device = NullDevice::new(2 << 30, Nanos::from_ms(1.0), 1);
    let result = run_scenario(&mut device, &scenario("dd-ufs", &[]), Nanos::ZERO, 1).unwrap();
    assert_eq!(result.steps.len(), 3);
    for step in &result.steps {
        assert_eq!(step.program_bytes, 512 << 20);
        assert!((step.elapsed_s / 4.096 - 1.0).abs() < 0.02, "{}", step.elapsed_s);
        // Less what is still under way, more a block for each group and indirect block.
        assert!((step.traffic.written_bytes as f64 / (512u64 << 20) as f64 - 1.0).abs() < 0.005);
    }
}

/// Fragmentation raises extents and requests, and time on a device that takes 10 ms for each.
#[test]
fn fragmentation_costs_requests() {
    let run = |state: &str| {
        let settings = [SMALL[0], ("system.age.fill", "0.85"), ("state", state)];
        let mut device = NullDevice::new(8 << 30, Nanos::from_ms(10.0), 1);
        run_scenario(&mut device, &scenario("start-firefox", &settings), Nanos::ZERO, 1).unwrap()
    };
    let (fresh, fragmented) = (run("fresh"), run("fragmented"));
    assert_eq!(fresh.extents_per_file, 1.0);
    assert!(fragmented.extents_per_file > 1.2, "{}", fragmented.extents_per_file);
    assert!(fragmented.traffic.reads > fresh.traffic.reads);
    assert!(fragmented.elapsed_s > fresh.elapsed_s);
}

/// Extents a file as asked for, within a hundredth, on a file system that was copied and on one long in
/// use; large files have more. Each extent of a large file then costs a request, and time on a device
/// that takes 10 ms for each. More than the files have blocks cannot be had, which is said.
#[test]
fn extents_a_file_are_given() {
    let run = |state: &str, fill: &str, extents: &str| {
        let settings =
            [SMALL[0], ("system.age.fill", fill), ("state", state), ("system.age.extents_per_file", extents)];
        let mut device = NullDevice::new(8 << 30, Nanos::from_ms(10.0), 1);
        run_scenario(&mut device, &scenario("start-firefox", &settings), Nanos::ZERO, 1)
    };
    let plain = run("fresh", "0.85", "1").unwrap();
    let cases = [("fresh", "0.85", 2.0), ("fresh", "0.85", 8.0), ("empty", "0.5", 2.0), ("empty", "0.5", 8.0)];
    // Ageing alone gives more than two where little is free.
    for (state, fill, asked) in cases.into_iter().chain([("fragmented", "0.85", 8.0), ("fragmented", "0.95", 8.0)]) {
        let found = run(state, fill, &asked.to_string()).unwrap();
        assert!((found.extents_per_file / asked - 1.0).abs() < 0.01, "{state}: {}", found.extents_per_file);
        assert!(found.most_extents as f64 > asked && found.files == plain.files);
        assert!(found.traffic.reads > plain.traffic.reads && found.elapsed_s > plain.elapsed_s, "{state}");
    }
    let message = run("fresh", "0.85", "9000").unwrap_err().to_string();
    assert!(message.contains("extents_per_file = 9000") && message.contains("ask for at most"), "{message}");
}

/// Rewriting reads and writes each byte once, and on a device of one rate for both takes as long as
/// reading and writing one after the other; a file twice as large as the memory finds nothing in it.
#[test]
fn a_rewrite_reads_and_writes_all() {
    let mut device = NullDevice::new(8 << 30, Nanos::from_ms(1.0), 1);
    let result = run_scenario(&mut device, &scenario("bonnie", &[]), Nanos::ZERO, 1).unwrap();
    let [write, rewrite, read, seek, back] = &result.steps[..] else { panic!("{:?}", result.steps) };
    for step in [write, rewrite, read] {
        assert_eq!(step.program_bytes, 1 << 30);
    }
    assert!((rewrite.traffic.read_bytes as f64 / (1u64 << 30) as f64 - 1.0).abs() < 0.01);
    assert!((rewrite.traffic.written_bytes as f64 / (1u64 << 30) as f64 - 1.0).abs() < 0.2);
    assert!(rewrite.elapsed_s > read.elapsed_s);
    // One millisecond each, and some of what the rewrite left to be written.
    assert!(seek.elapsed_s >= 8.0 && seek.traffic.reads >= 8000, "{seek:?}");
    assert_eq!(back.program_bytes, 800 * 8192);
}

/// What cannot be done is said with its place: a file system larger than the device, one that is full,
/// a file that is not there, a trim that the system never does.
#[test]
fn errors_name_place_and_remedy() {
    let message = |settings: &[(&str, &str)], name: &str| {
        let mut device = NullDevice::new(1 << 30, Nanos::from_us(1.0), 1);
        run_scenario(&mut device, &scenario(name, settings), Nanos::ZERO, 1).unwrap_err().to_string()
    };
    assert!(message(&[("capacity_bytes", "\"2 GiB\"")], "dd-ufs").contains("does not fit the device"));
    assert!(message(&[("files.rand.mean_bytes", "\"2 GiB\"")], "dd-ufs").contains("step 1: the file system is full"));
    assert!(message(&[("step.1.do", "read")], "dd-ufs").contains("write it first"));
    assert!(message(&[("step.0.do", "trim")], "dd-ufs").contains("discard to batched"));
    assert!(message(&[("system", "cp-m")], "dd-ufs").contains("there are linux-2.6.32-ext4"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// The seed changes what is drawn, never how much a fixed size writes.
    #[test]
    fn fixed_sizes_do_not_depend_on_the_seed(seed in any::<u64>()) {
        let scenario = scenario("dd-ufs", &[("files.rand.mean_bytes", "\"8 MiB\"")]);
        let result = run_scenario(&mut drive(), &scenario, Nanos::ZERO, seed).unwrap();
        prop_assert_eq!(result.steps[0].program_bytes, 8 << 20);
    }
}
