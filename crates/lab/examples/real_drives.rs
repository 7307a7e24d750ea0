//! How fast drives that people own are simulated: steady 4 KiB writes and reads, random, 32 deep, one core.
//!
//! `cargo run --release -p ssdlab-lab --example real_drives` brings each drive of [`DRIVES`] into `steady`, each in a process
//! of its own, and prints what that took, and millions of requests, and of units programmed, per CPU second.
//!
//! `real_drives names` lists them. `real_drives count DRIVE read|write` only runs the requests, on a small drive of four
//! dies, and prints how many and the write amplification: what `scripts/bench.sh` has callgrind count instructions of.

use cpu_time::ProcessTime;
use ssdlab_device::block::Device;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::Nanos;
use ssdlab_lab::condition::scale_model::{Outcome, season_by_model};
use ssdlab_lab::condition::{Condition, season};
use ssdlab_lab::run::{RunOptions, Silent, run};
use ssdlab_lab::workload::parse::parse_flags;
use std::error::Error;
use std::process::Command;

/// A drive, and its capacity where that is not its own.
const DRIVES: [(&str, Option<&str>); 7] = [
    ("intel-x25-m-g2-80gb", None),
    ("intel-dc-s3500-80gb", None),
    ("intel-dc-s3700-200gb", None),
    ("micron-7450-pro-960gb", None),
    ("samsung-pm9a3-960gb", None),
    ("solidigm-d5-p5336-15tb", Some("1 TB")),
    ("theory", None),
];
const REQUESTS: u64 = 2 << 20;
/// What a drive is made smaller by for counting: of the large blocks of the QLC drive it needs more.
const COUNTED_DIES: [(&str, &str); 2] = [("nand.channels", "4"), ("nand.dies_per_channel", "1")];
const COUNTED_REQUESTS: u64 = 1 << 17;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => measure_all(),
        ["one", drive] => measure(drive),
        ["names"] => {
            DRIVES.iter().for_each(|(name, _)| println!("{name}"));
            Ok(())
        }
        ["count", drive, operation] => count(drive, operation),
        _ => Err("real_drives [names | count DRIVE read|write]".into()),
    }
}

fn measure_all() -> Result<(), Box<dyn Error>> {
    println!("                         steady in          millions a CPU second");
    println!("drive                    CPU s     MiB   writes   units    reads     WA");
    for (drive, _) in DRIVES {
        let status = Command::new(std::env::current_exe()?).args(["one", drive]).status()?;
        if !status.success() {
            return Err(format!("{drive}: {status}").into());
        }
    }
    Ok(())
}

fn measure(drive: &str) -> Result<(), Box<dyn Error>> {
    let capacity = DRIVES.iter().find(|(name, _)| *name == drive).and_then(|(_, capacity)| *capacity);
    let settings: Vec<_> = capacity.map(|capacity| ("capacity_bytes", capacity)).into_iter().collect();
    let start = ProcessTime::now();
    let mut bench = Bench::steady(drive, &settings)?;
    let (conditioning, memory) = (start.elapsed().as_secs_f64(), highest_resident_bytes() / (1u64 << 20) as f64);
    let before = bench.ssd.counters();
    let writing = bench.timed("write", REQUESTS)?;
    let counters = bench.ssd.counters() - before;
    let reading = bench.timed("read", REQUESTS)?;
    let millions = |count: u64, seconds: f64| count as f64 / seconds / 1e6;
    println!(
        "{drive:22} {conditioning:7.1} {memory:7.0}  {:7.2} {:7.2}  {:7.2}  {:5.2}",
        millions(REQUESTS, writing),
        millions(counters.nand_pages_written, writing),
        millions(REQUESTS, reading),
        counters.write_amplification().unwrap_or(f64::NAN),
    );
    Ok(())
}

fn count(drive: &str, operation: &str) -> Result<(), Box<dyn Error>> {
    let capacity = if drive.starts_with("solidigm") { "16 GiB" } else { "4 GiB" };
    let mut bench = Bench::steady(drive, &[&COUNTED_DIES[..], &[("capacity_bytes", capacity)]].concat())?;
    let before = bench.ssd.counters();
    bench.timed(operation, COUNTED_REQUESTS)?;
    let counters = bench.ssd.counters() - before;
    println!("{COUNTED_REQUESTS} {:.3}", counters.write_amplification().unwrap_or(0.0));
    Ok(())
}

/// A steady drive.
struct Bench {
    ssd: Ssd,
    now: Nanos,
}

impl Bench {
    fn steady(drive: &str, settings: &[(&str, &str)]) -> Result<Bench, Box<dyn Error>> {
        let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let text = built_in(drive).ok_or_else(|| format!("there is no drive {drive}"))?;
        let profile = Profile::read(drive, drive, text, &settings)?;
        let mut ssd = Ssd::new(profile.ssd()?, 1, ()).map_err(|problem| problem.message)?;
        // As a session does: the long way where no scale model holds.
        if let Outcome::Refused(_) = season_by_model(&mut ssd, &[], 1.0, 1, &mut Silent)? {
            season(&mut ssd, Condition::Fresh, Condition::SteadyUniform, &[], 1.0, 1, &mut Silent)?;
        }
        Ok(Bench { ssd, now: Nanos::ZERO })
    }

    /// Processor seconds that so many requests take.
    fn timed(&mut self, operation: &str, requests: u64) -> Result<f64, Box<dyn Error>> {
        let flags = ["--name=a", "--bs=4k", "--iodepth=32", "--norandommap", "--time_based", "--runtime=1000h"];
        let own = [format!("--rw=rand{operation}"), format!("--number_ios={requests}")];
        let jobs = parse_flags(&flags.map(String::from).into_iter().chain(own).collect::<Vec<_>>())?.jobs;
        let start = ProcessTime::now();
        self.now = run(&mut self.ssd, &jobs, &RunOptions { start: self.now, seed: 1 }, &mut Silent)?.end;
        Ok(start.elapsed().as_secs_f64())
    }
}

/// The most memory that this process had, from the kernel; NaN where it does not tell.
fn highest_resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kilobytes| kilobytes * 1024.0)
}
