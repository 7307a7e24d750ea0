//! Digits that a change of structure must not move: a line per drive, condition, job and seed.
//!
//! Each line has the counters that say what the drive did, percentiles of the job, the end of the run and
//! CRC-32s of the whole result as JSON, but for the parameters, and of the drive file afterwards. Profiles are
//! cut to a capacity that a second suffices for; mechanisms that no profile has are set on `theory`.
//!
//! `RENEW_GOLDEN=1 cargo test -p ssdlab-lab --test all golden_digits` writes `tests/data/golden_digits.txt`
//! anew: only where a change is meant to move digits.

use serde_json::Value;
use ssdlab_device::profile::{built_in, names};
use ssdlab_lab::condition::Condition;
use ssdlab_lab::host::text::LayerText;
use ssdlab_lab::output::to_json;
use ssdlab_lab::run::Silent;
use ssdlab_lab::session::{DriveSource, Plan, Session};
use ssdlab_lab::workload::parse::parse_flags;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/golden_digits.txt");
const NO_PLACE: &str = "crate sources lie in a folder";
/// What a run changed of the drive.
const COUNTERS: [&str; 4] = ["host_pages_written", "nand_pages_written", "blocks_erased", "host_bytes_trimmed"];

type Named = (&'static str, &'static str);

const JOBS: [Named; 5] = [
    ("uniform", "--rw=randwrite --bs=4k --iodepth=32 --number_ios=20000 --norandommap"),
    ("sequential", "--rw=write --bs=128k --iodepth=8 --number_ios=2000"),
    ("reads", "--rw=randread --bs=4k --iodepth=4 --number_ios=10000 --norandommap"),
    ("trims", "--rw=randtrim --bs=16k --iodepth=4 --number_ios=3000 --norandommap"),
    ("mixed", MIXED),
];
/// Whole, partial and unaligned units, written over each other, with flushes and thinking time.
const MIXED: &str = "--rw=randrw --rwmixread=40 --bssplit=4k/50:16k/30:512/10:1536/10 --iodepth=16 \
    --random_distribution=zipf:1.1 --number_ios=10000 --norandommap --fsync=64 --thinktime=2ms --thinktime_blocks=500";

/// Mechanisms, by settings of `theory`.
const MECHANISMS: [Named; 24] = [
    ("fifo", "ftl.gc=fifo"),
    ("random victims", "ftl.gc=random"),
    ("d-choices", "ftl.gc=d-choices:3 ftl.frontiers=host-gc"),
    ("cost-benefit", "ftl.gc=cost-benefit"),
    ("own frontier", "ftl.frontiers=host-gc buffer.bytes=1MiB"),
    ("smooth", "ftl.gc_pace=smooth buffer.bytes=1MiB ftl.frontiers=host-gc"),
    ("small units", "nand.page_bytes=16KiB ftl.mapping_unit_bytes=4KiB over_provisioning=0.9"),
    ("large units", "ftl.mapping_unit_bytes=16KiB buffer.bytes=1MiB over_provisioning=0.6"),
    ("planes", "nand.planes=2 ftl.mapping_unit_bytes=4KiB over_provisioning=0.6"),
    ("superblocks", "ftl.striping=superblock over_provisioning=0.6 buffer.bytes=1MiB"),
    ("map journal", "ftl.map_journal=true buffer.bytes=1MiB"),
    (
        "slc cache",
        "nand.cell=tlc nand.read_us=75 nand.program_us=750 reliability.rated_cycles=10000000 ftl.slc_cache=dynamic \
         ftl.slc_cache_bytes=4MiB ftl.idle_gc_after_ms=1 over_provisioning=0.6",
    ),
    ("levelling", "ftl.static_wear_cycles=2 ftl.dynamic_wear_leveling=true"),
    ("failing programs", "reliability.program_fail_share=0.001 over_provisioning=1.5"),
    ("bad blocks", "reliability.factory_bad_share=0.02 over_provisioning=0.6"),
    ("parity", "ftl.parity_stripe_pages=16"),
    (
        "parity, superblocks",
        "ftl.parity_stripe_pages=8 ftl.striping=superblock over_provisioning=0.8 buffer.bytes=1MiB",
    ),
    (
        "map log, moves that cost",
        "ftl.map_log_entry_bytes=64 ftl.move_unit_us=20 ftl.frontiers=host-gc buffer.bytes=1MiB",
    ),
    (
        "power budget",
        "power.programs_at_once=2 nand.suspend=true ftl.frontiers=host-gc ftl.gc_pace=smooth buffer.bytes=1MiB",
    ),
    (
        "move processor",
        "controller.move_unit_us=100 nand.suspend=true ftl.frontiers=host-gc ftl.gc_pace=smooth buffer.bytes=1MiB",
    ),
    (
        "joins the newest",
        "buffer.join_bytes=32KiB nand.page_bytes=16KiB ftl.mapping_unit_bytes=8KiB buffer.bytes=1MiB over_provisioning=0.9",
    ),
    ("paced writes", "controller.paced_write_mb_per_s=3 ftl.frontiers=host-gc buffer.bytes=1MiB"),
    (
        "slc cache folded under load",
        "nand.cell=tlc nand.read_us=75 nand.program_us=750 reliability.rated_cycles=10000000 ftl.slc_cache=dynamic \
         ftl.slc_cache_bytes=4MiB ftl.slc_fold_at=0.25 over_provisioning=0.6 ftl.frontiers=host-gc buffer.bytes=1MiB",
    ),
    (
        "superblocks of two dies",
        "ftl.striping=superblock ftl.superblock_dies=2 over_provisioning=0.6 buffer.bytes=1MiB",
    ),
];

/// Drives that come into steady state by a scale model.
const SCALED: [Named; 3] = [
    ("one frontier", ""),
    ("own frontier", "ftl.frontiers=host-gc ftl.gc_pace=smooth buffer.bytes=1MiB"),
    (
        "large rows",
        "nand.page_bytes=16KiB ftl.mapping_unit_bytes=4KiB capacity_bytes=512MiB reliability.factory_bad_share=0.01",
    ),
];

/// What lies over a drive, as `--layer` has it.
const LAYERS: [Named; 7] = [
    ("partition", "partition:start_sector=63"),
    ("crypt", "partition:start_sector=2048 crypt"),
    ("RAID 0", "raid:level=0,disks=3"),
    ("RAID 1", "raid:level=1,disks=2"),
    ("RAID 5", "raid:level=5,disks=3"),
    ("RAID 6", "raid:level=6,disks=4,preset=controller"),
    ("RAID 10", "raid:level=10,disks=4"),
];

/// A run whose digits are kept.
struct Case {
    name: String,
    profile: String,
    settings: Vec<(String, String)>,
    layers: Vec<LayerText>,
    condition: Condition,
    flags: &'static str,
    seed: u64,
    by_scale_model: bool,
}

impl Case {
    fn new(profile: &str, settings: &str, condition: Condition, job: Named) -> Case {
        let pairs = settings.split_whitespace().filter_map(|pair| pair.split_once('='));
        Case {
            name: format!("{profile} | {} | {}", condition, job.0),
            profile: profile.into(),
            settings: pairs.map(|(key, value)| (key.into(), value.into())).collect(),
            layers: Vec::new(),
            condition,
            flags: job.1,
            seed: 1,
            by_scale_model: false,
        }
    }

    /// The line that is kept.
    fn line(&self) -> String {
        let text = built_in(&self.profile).expect("built in").into();
        let source = DriveSource::Profile {
            name: self.profile.clone(),
            file: format!("{}.toml", self.profile),
            text,
            scale: None,
        };
        let told = |error: &dyn std::fmt::Display| -> ! { panic!("{}: {error}", self.name) };
        let opened =
            Session::open_stack(&source, &self.settings, self.layers.clone(), self.seed, &mut |_| unreachable!());
        let mut session = opened.unwrap_or_else(|error| told(&error));
        let jobs = parse_flags(&self.flags.split_whitespace().map(String::from).collect::<Vec<_>>());
        let jobs = jobs.unwrap_or_else(|error| told(&error)).jobs;
        session.by_scale_model = self.by_scale_model;
        if let Err(error) = session.bring_to(self.condition, &jobs, 1.0, self.seed, &mut Silent) {
            told(&error);
        }
        assert_eq!(session.season().scaled.is_some(), self.by_scale_model, "{}: {:?}", self.name, session.way_told());
        let plan = Plan { seed: self.seed, layout: true, timeline: None };
        let (record, context) = session.run(&jobs, &plan, &mut Silent).unwrap_or_else(|error| told(&error));
        let result = to_json(&record, &context, true);
        let counters = session.counters();
        let state = session.to_bytes().map_or("-".into(), |bytes| file_digest(&bytes));
        let digest = crc32fast::hash(without_parameters(result.clone()).to_string().as_bytes());
        format!("{}: {} | json {digest:08x} state {state}", self.name, told_of(&counters, &result["jobs"][0]))
    }
}

/// Counters that are younger than most lines: left out where they are zero, so that those lines stay.
const YOUNG_COUNTERS: [&str; 2] = ["parity_pages_written", "map_log_pages_written"];

fn leave_out_young_counters(result: &mut Value) {
    match result {
        Value::Array(values) => values.iter_mut().for_each(leave_out_young_counters),
        Value::Object(values) => {
            values.retain(|name, count| !YOUNG_COUNTERS.contains(&name.as_str()) || *count != 0);
            values.values_mut().for_each(leave_out_young_counters);
        }
        _ => {}
    }
}

/// What a run found, without what was put in: a new parameter that changes nothing moves no digit.
fn without_parameters(mut result: Value) -> Value {
    for job in result["jobs"].as_array_mut().into_iter().flatten() {
        let removed = job["ssdlab"].as_object_mut().and_then(|ssdlab| ssdlab.remove("parameters"));
        assert!(removed.is_some(), "results list the parameters");
    }
    leave_out_young_counters(&mut result);
    result
}

/// A drive file without its own CRC-32 at the end: that of the whole is the same for all.
fn file_digest(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(&bytes[..bytes.len() - size_of::<u32>()]))
}

/// Counters and percentiles, for people who look what moved.
fn told_of(counters: &Value, job: &Value) -> String {
    let mut line = String::new();
    for name in COUNTERS {
        if let Some(count) = counters[name].as_u64() {
            write!(line, "{name} {count} ").expect("a string takes it");
        }
    }
    for direction in ["read", "write", "trim"] {
        let of = &job[direction];
        if of["total_ios"].as_u64().unwrap_or(0) > 0 {
            let percentile = |p: &str| &of["clat_ns"]["percentile"][p];
            write!(line, "| {direction} p50 {} p99 {} ", percentile("50.000000"), percentile("99.000000"))
                .expect("a string takes it");
        }
    }
    line.trim_end().into()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for profile in names() {
        let text = built_in(profile).expect("built in");
        let has_flash = text.contains("[nand]");
        let mut size = String::new();
        if has_flash {
            size += "capacity_bytes=1GiB nand.pages_per_block=16";
            // The spare as the profile counts it, and none for what open blocks take.
            let counts = if text.contains("spare_counts = { value = \"collected\"") { "collected" } else { "all" };
            write!(size, " ftl.spare_counts={counts}").expect("a string takes it");
        }
        if text.contains("slc_cache_bytes") {
            size += " ftl.slc_cache_bytes=16MiB";
        }
        if text.contains("channels = { value = 16") {
            // Of many dies with large rows 1 GiB has too few blocks a die.
            size += " nand.channels=2";
        }
        if text.contains("slc_cache_fixed_bytes") {
            size += " ftl.slc_cache_fixed_bytes=4MiB";
        }
        cases.extend(JOBS.map(|job| Case::new(profile, &size, Condition::Fresh, job)));
        if has_flash {
            let rest = [Condition::Filled, Condition::Used, Condition::SteadyByJob];
            cases.extend(rest.map(|condition| Case::new(profile, &size, condition, JOBS[0])));
            cases.push(Case::new(profile, &size, Condition::Used, JOBS[4]));
        }
    }
    for (name, settings) in MECHANISMS {
        let settings = format!("capacity_bytes=64MiB nand.channels=2 nand.dies_per_channel=2 {settings}");
        for seed in [1, 2] {
            let case = Case::new("theory", &settings, Condition::Used, JOBS[4]);
            cases.push(Case { name: format!("{} | {name} | seed {seed}", case.name), seed, ..case });
        }
    }
    for (name, layers) in LAYERS {
        let case = Case::new("theory", "capacity_bytes=64MiB nand.channels=2", Condition::Used, JOBS[4]);
        let layers = layers.split(' ').map(|layer| LayerText::parse(layer).expect("a layer")).collect();
        cases.push(Case { name: format!("{} | {name}", case.name), layers, ..case });
    }
    for (name, settings) in SCALED {
        let settings =
            format!("capacity_bytes=256MiB nand.channels=4 nand.dies_per_channel=4 nand.pages_per_block=16 {settings}");
        let case = Case::new("theory", &settings, Condition::SteadyByJob, JOBS[0]);
        cases.push(Case { name: format!("{} | by a scale model, {name}", case.name), by_scale_model: true, ..case });
    }
    cases
}

/// Every line, in order; two cores share the work.
fn lines(cases: &[Case]) -> Vec<String> {
    let (next, lines) = (AtomicUsize::new(0), Mutex::new(vec![String::new(); cases.len()]));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                let taken = || next.fetch_add(1, Ordering::Relaxed);
                while let Some((number, case)) = cases.iter().enumerate().nth(taken()) {
                    let line = case.line();
                    lines.lock().expect("no thread panicked")[number] = line;
                }
            });
        }
    });
    lines.into_inner().expect("no thread panicked")
}

#[test]
fn digits_are_those_that_are_kept() {
    let lines = lines(&cases());
    if std::env::var_os("RENEW_GOLDEN").is_some() {
        std::fs::create_dir_all(Path::new(FILE).parent().expect(NO_PLACE)).expect(NO_PLACE);
        std::fs::write(FILE, lines.join("\n") + "\n").expect("the file is written");
    }
    let kept = std::fs::read_to_string(FILE).expect("the digits that are kept");
    let kept: Vec<&str> = kept.lines().collect();
    assert_eq!(lines.len(), kept.len(), "cases came or went: RENEW_GOLDEN=1 writes the file anew");
    let moved = lines.iter().zip(&kept).filter(|(now, kept)| now.as_str() != **kept);
    let moved: Vec<String> = moved.map(|(now, kept)| format!("was {kept}\nnow {now}")).collect();
    assert!(moved.is_empty(), "{} of {} lines moved\n{}", moved.len(), kept.len(), moved.join("\n"));
}
