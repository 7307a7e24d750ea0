//! How fast the simulator is here: host writes per second of processor time, beside the bare
//! mapping loop measured in the same run.
//!
//! `cargo run --release -p ssdlab-lab --example throughput`: the theory drive with 64 GiB exported,
//! 8 KiB pages, 256 pages a block, greedy; 8 KiB uniform random writes at depth 16, condition used,
//! full timing and histograms, one core.

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
use std::error::Error;

const UNITS: u32 = 8 << 20;
const WRITES: u64 = 16 << 20;
/// The loops and the simulator take turns, so that what else the machine does meets all of them.
const TURNS: u64 = 16;

fn main() -> Result<(), Box<dyn Error>> {
    println!("Million host writes per CPU second: the simulator, and the mapping loop alone, which moves pages");
    println!("one by one (what the share is wanted of) or a block at a time (the fastest we know).");
    println!("   OP  simulator  moves        bare loop  share  wanted  write amplification  bytes a unit");
    for (over_provisioning, wanted) in [(0.28, 0.25), (0.07, 1.0 / 6.0)] {
        let mut plain = bare(over_provisioning, Moves::PageByPage)?;
        let mut fast = bare(over_provisioning, Moves::WholeBlock)?;
        let mut simulator = Simulator::used(over_provisioning)?;
        let before = simulator.ssd.counters();
        let mut seconds = [0.0; 3];
        for turn in 0..TURNS {
            seconds[0] += timed(|| plain.write_randomly(WRITES / TURNS));
            seconds[1] += timed(|| simulator.write_randomly(WRITES / TURNS, turn));
            seconds[2] += timed(|| fast.write_randomly(WRITES / TURNS));
        }
        let counters = simulator.ssd.counters() - before;
        let [plain, rate, fast] = seconds.map(|seconds| WRITES as f64 / seconds / 1e6);
        println!(
            "{:4.0} % {rate:10.2}  page by page {plain:9.2} {:6.3} {wanted:7.3} {:20.3} {:13.1}",
            over_provisioning * 100.0,
            rate / plain,
            counters.write_amplification().unwrap_or(f64::NAN),
            simulator.bytes_a_unit,
        );
        println!("{:17}  whole block  {fast:9.2} {:6.3}", "", rate / fast);
    }
    Ok(())
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
    fn used(over_provisioning: f64) -> Result<Simulator, Box<dyn Error>> {
        let settings = [
            ("capacity_bytes", "64 GiB".to_string()),
            ("nand.page_bytes", "8 KiB".into()),
            ("nand.pages_per_block", "256".into()),
            ("over_provisioning", over_provisioning.to_string()),
        ];
        let settings: Vec<_> = settings.map(|(key, value)| (key.to_string(), value)).to_vec();
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
        let bytes_a_unit = (resident_bytes() - before) / f64::from(UNITS);
        Ok(Simulator { ssd, jobs, bytes_a_unit, now: Nanos::ZERO })
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
