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
use ssdlab_lab::workload::parse::parse_flags;
use std::error::Error;

const UNITS: u32 = 8 << 20;
const WRITES: u64 = 16 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    println!("Million host writes per CPU second: the simulator, and the mapping loop alone, which moves pages");
    println!("one by one (what the share is wanted of) or a block at a time (the fastest we know).");
    println!("   OP  simulator  moves        bare loop  share  wanted  write amplification  bytes a unit");
    for (over_provisioning, wanted) in [(0.28, 0.25), (0.07, 1.0 / 6.0)] {
        let plain = bare_rate(over_provisioning, Moves::PageByPage)?;
        let (rate, amplification, bytes) = simulator_rate(over_provisioning)?;
        let fast = bare_rate(over_provisioning, Moves::WholeBlock)?;
        let percent = over_provisioning * 100.0;
        println!(
            "{percent:4.0} % {:10.2}  page by page {:9.2} {:6.3} {wanted:7.3} {amplification:20.3} {bytes:13.1}",
            rate / 1e6,
            plain / 1e6,
            rate / plain,
        );
        println!("{:17}  whole block  {:9.2} {:6.3}", "", fast / 1e6, rate / fast);
    }
    Ok(())
}

fn bare_rate(over_provisioning: f64, moves: Moves) -> Result<f64, Box<dyn Error>> {
    let mut bare = BareLoop::filled(UNITS, 256, over_provisioning, 1, moves)?;
    bare.write_randomly(u64::from(UNITS));
    let start = ProcessTime::now();
    let outcome = bare.write_randomly(WRITES);
    Ok(outcome.writes as f64 / start.elapsed().as_secs_f64())
}

fn simulator_rate(over_provisioning: f64) -> Result<(f64, f64, f64), Box<dyn Error>> {
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
    let mut flags: Vec<String> = flags.map(String::from).to_vec();
    flags.push(format!("--number_ios={WRITES}"));
    let jobs = parse_flags(&flags)?.jobs;
    season(&mut ssd, Condition::Fresh, Condition::Used, &jobs, 1.0, 1, &mut Silent)?;
    let bytes = (resident_bytes() - before) / f64::from(UNITS);
    let counters = ssd.counters();
    let start = ProcessTime::now();
    run(&mut ssd, &jobs, &RunOptions { start: Nanos::ZERO, seed: 1 }, &mut Silent)?;
    let seconds = start.elapsed().as_secs_f64();
    let counters = ssd.counters() - counters;
    Ok((counters.host_writes as f64 / seconds, counters.write_amplification().unwrap_or(f64::NAN), bytes))
}

/// Memory of this process, from the kernel; NaN where it does not tell.
fn resident_bytes() -> f64 {
    let pages =
        std::fs::read_to_string("/proc/self/statm").ok().and_then(|text| text.split(' ').nth(1)?.parse::<f64>().ok());
    pages.map_or(f64::NAN, |pages| pages * 4096.0)
}
