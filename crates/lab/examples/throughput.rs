//! How fast the simulator is here: host writes per second of processor time, beside the bare
//! mapping loop measured in the same run.
//!
//! `cargo run --release -p ssdlab-lab --example throughput`: the theory drive with 64 GiB exported,
//! 8 KiB pages, 256 pages a block, greedy; 8 KiB uniform random writes at depth 16, condition used,
//! full timing and histograms, one core. Lowest, median and highest of five.
//!
//! `throughput mechanisms [KEY=VALUE]…` measures the same drive with what real drives do besides, or with these settings,
//! beside the one without, in turn.
//!
//! `throughput count OP` only writes, on a drive of 8 GiB: what `scripts/bench.sh` has callgrind count
//! instructions of.

use cpu_time::ProcessTime;
use ssdlab_device::block::Device;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::Nanos;
use ssdlab_lab::bare_loop::{BareLoop, Moves};
use ssdlab_lab::condition::{Condition, season};
use ssdlab_lab::run::{RunOptions, Silent, run};
use ssdlab_lab::workload::job::Job;
use ssdlab_lab::workload::parse::parse_flags;
use std::collections::BTreeMap;
use std::error::Error;

const UNITS: u32 = 8 << 20;
const WRITES: u64 = 4 << 20;
/// The loops and the simulator take turns, so that what else the machine does meets all of them.
const TURNS: u64 = 8;
const ROUNDS: usize = 5;
/// Over-provisioning, and the share of the page-by-page loop that is wanted there.
const POINTS: [(f64, f64); 2] = [(0.28, 0.25), (0.07, 1.0 / 6.0)];
/// The theory drive made more like a real one: rows of four mapping units, blocks of its own for collection, a buffer.
const LIKE_REAL: [(&str, &str); 5] = [
    ("nand.page_bytes", "16 KiB"),
    ("ftl.mapping_unit_bytes", "4 KiB"),
    ("ftl.frontiers", "host-gc"),
    ("ftl.gc_pace", "smooth"),
    ("buffer.bytes", "8 MiB"),
];
/// What real drives do besides: parity, the map's log, moves that cost the die and the controller time, latencies.
const MECHANISMS: [(&str, &str); 7] = [
    ("ftl.parity_stripe_pages", "32"),
    ("ftl.map_log_entry_bytes", "16"),
    ("ftl.move_unit_us", "10"),
    ("controller.move_unit_us", "1"),
    ("controller.read_latency_us", "5"),
    ("controller.write_latency_us", "8"),
    ("controller.latency_jitter_us", "0.5"),
];
/// The share of the speed without them that is wanted with them.
const WANTED_WITH_MECHANISMS: f64 = 0.7;
const COUNTED_UNITS: u32 = 1 << 20;
const COUNTED_WRITES: u64 = 1 << 18;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => measure(),
        ["mechanisms"] => measure_mechanisms(&MECHANISMS),
        ["mechanisms", settings @ ..] => {
            let pairs: Option<Vec<_>> = settings.iter().map(|each| each.split_once('=')).collect();
            measure_mechanisms(&pairs.ok_or("a mechanism is KEY=VALUE")?)
        }
        ["count", over_provisioning] => count(over_provisioning.parse()?),
        _ => Err("throughput [mechanisms [KEY=VALUE]… | count OVER_PROVISIONING]".into()),
    }
}

/// Only the writes, for callgrind; prints how many, and what they moved.
fn count(over_provisioning: f64) -> Result<(), Box<dyn Error>> {
    let mut simulator = Simulator::used(over_provisioning, COUNTED_UNITS, &[])?;
    let before = simulator.ssd.counters();
    simulator.write_randomly(COUNTED_WRITES, 1);
    let counters = simulator.ssd.counters() - before;
    println!("{COUNTED_WRITES} {:.3}", counters.write_amplification().unwrap_or(f64::NAN));
    Ok(())
}

fn measure() -> Result<(), Box<dyn Error>> {
    println!(
        "Million host writes per CPU second, lowest, median and highest of {ROUNDS}: the simulator, and the mapping"
    );
    println!("loop alone, which moves pages one by one (what the share is wanted of) or a block at a time.");
    println!("   OP                    lowest  median  highest");
    for (over_provisioning, wanted) in POINTS {
        let mut plain = bare(over_provisioning, Moves::PageByPage)?;
        let mut fast = bare(over_provisioning, Moves::WholeBlock)?;
        let mut simulator = Simulator::used(over_provisioning, UNITS, &[])?;
        let before = simulator.ssd.counters();
        let rounds: Vec<[f64; 3]> =
            (0..ROUNDS).map(|round| rates(&mut plain, &mut simulator, &mut fast, round)).collect();
        let counters = simulator.ssd.counters() - before;
        let row = |name: &str, of: &dyn Fn(&[f64; 3]) -> f64, more: &str| {
            let mut values: Vec<f64> = rounds.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            let [low, median, high] = [values[0], values[ROUNDS / 2], values[ROUNDS - 1]];
            println!("{:4.0} % {name:18} {low:6.3}  {median:6.3}   {high:6.3}{more}", over_provisioning * 100.0);
        };
        let facts = format!(
            "  write amplification {:.3}, {:.1} bytes a unit",
            counters.write_amplification().unwrap_or(f64::NAN),
            simulator.bytes_a_unit
        );
        row("simulator", &|rates| rates[1], &facts);
        row("page by page", &|rates| rates[0], "");
        row("whole block", &|rates| rates[2], "");
        row("of page by page", &|rates| rates[1] / rates[0], &format!("  wanted: {wanted:.3}"));
        row("of whole block", &|rates| rates[1] / rates[2], "");
    }
    Ok(())
}

/// A drive with and without mechanisms, in turn: pages programmed per CPU second, since parity writes more of them. The
/// plain theory drive, whose moves need no events of their own, and one like a real one, as all that have mechanisms.
fn measure_mechanisms(mechanisms: &[(&str, &str)]) -> Result<(), Box<dyn Error>> {
    println!(
        "Million programmed pages per CPU second, median of {ROUNDS}, without the mechanisms of real drives and with:"
    );
    let points = POINTS.map(|(over_provisioning, _)| over_provisioning);
    for (drive, base, over_provisioning) in [("plain", &[][..]), ("like real", &LIKE_REAL[..])]
        .into_iter()
        .flat_map(|(drive, base)| points.map(|op| (drive, base, op)))
    {
        let with = [base, mechanisms].concat();
        let mut drives = [
            Simulator::used(over_provisioning, COUNTED_UNITS, base)?,
            Simulator::used(over_provisioning, COUNTED_UNITS, &with)?,
        ];
        let mut rounds: Vec<[f64; 2]> =
            (0..ROUNDS as u64).map(|round| drives.each_mut().map(|drive| drive.programs_a_second(round))).collect();
        rounds.sort_by(|one, other| (one[1] / one[0]).total_cmp(&(other[1] / other[0])));
        let [without, with] = rounds[ROUNDS / 2];
        let share = with / without;
        let percent = over_provisioning * 100.0;
        println!(
            "{drive:9} {percent:4.0} %  {without:6.3}  {with:6.3}  share {share:.3}  wanted: {WANTED_WITH_MECHANISMS}"
        );
    }
    Ok(())
}

/// Millions of writes per CPU second: the page-by-page loop, the simulator, the whole-block loop.
fn rates(plain: &mut BareLoop, simulator: &mut Simulator, fast: &mut BareLoop, round: usize) -> [f64; 3] {
    let mut seconds = [0.0; 3];
    for turn in 0..TURNS {
        seconds[0] += timed(|| plain.write_randomly(WRITES / TURNS));
        seconds[1] += timed(|| simulator.write_randomly(WRITES / TURNS, round as u64 * TURNS + turn));
        seconds[2] += timed(|| fast.write_randomly(WRITES / TURNS));
    }
    seconds.map(|seconds| WRITES as f64 / seconds / 1e6)
}

/// Processor time that a piece of work takes, in seconds.
fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let start = ProcessTime::now();
    let _ = work();
    start.elapsed().as_secs_f64()
}

/// A mapping loop after every unit was overwritten once on average.
fn bare(over_provisioning: f64, moves: Moves) -> Result<BareLoop, Box<dyn Error>> {
    let mut bare = BareLoop::filled(UNITS, 256, over_provisioning, 1, moves)?;
    bare.write_randomly(u64::from(UNITS));
    Ok(bare)
}

/// A drive in condition `used`, and the job.
struct Simulator {
    ssd: Ssd,
    jobs: Vec<Job>,
    bytes_a_unit: f64,
    now: Nanos,
}

impl Simulator {
    fn used(over_provisioning: f64, units: u32, more: &[(&str, &str)]) -> Result<Simulator, Box<dyn Error>> {
        let settings = [
            ("capacity_bytes", format!("{} KiB", u64::from(units) * 8)),
            ("nand.page_bytes", "8 KiB".into()),
            ("nand.pages_per_block", "256".into()),
            ("over_provisioning", over_provisioning.to_string()),
        ];
        let more = more.iter().map(|(key, value)| (key.to_string(), value.to_string()));
        // What is given twice counts the last time.
        let settings: BTreeMap<_, _> =
            settings.map(|(key, value)| (key.to_string(), value)).into_iter().chain(more).collect();
        let settings: Vec<_> = settings.into_iter().collect();
        let before = resident_bytes();
        let profile = Profile::read("theory", "theory", built_in("theory").expect("built in"), &settings)?;
        let mut ssd = Ssd::new(profile.ssd()?, 1, ()).map_err(|problem| problem.message)?;
        let flags = [
            "--name=uniform",
            "--rw=randwrite",
            "--bs=8k",
            "--iodepth=16",
            "--norandommap",
            "--time_based",
            "--runtime=1000h",
        ];
        let jobs = parse_flags(&flags.map(String::from))?.jobs;
        season(&mut ssd, Condition::Fresh, Condition::Used, &jobs, 1.0, 1, &mut Silent)?;
        let bytes_a_unit = (resident_bytes() - before) / f64::from(units);
        Ok(Simulator { ssd, jobs, bytes_a_unit, now: Nanos::ZERO })
    }

    /// Millions of pages programmed per second of processor time.
    fn programs_a_second(&mut self, round: u64) -> f64 {
        let before = self.ssd.counters();
        let seconds = timed(|| self.write_randomly(COUNTED_WRITES * TURNS, round));
        (self.ssd.counters() - before).nand_pages_written as f64 / seconds / 1e6
    }

    /// Runs the job for so many writes, from where the last run ended.
    fn write_randomly(&mut self, count: u64, seed: u64) {
        self.jobs[0].number_ios = Some(count);
        let options = RunOptions { start: self.now, seed };
        self.now = run(&mut self.ssd, &self.jobs, &options, &mut Silent).expect("the job runs").end;
    }
}

/// Memory of this process, from the kernel; NaN where it does not tell.
fn resident_bytes() -> f64 {
    let pages =
        std::fs::read_to_string("/proc/self/statm").ok().and_then(|text| text.split(' ').nth(1)?.parse::<f64>().ok());
    pages.map_or(f64::NAN, |pages| pages * 4096.0)
}
