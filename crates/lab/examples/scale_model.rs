//! A drive that came into steady state by a scale model beside one that was written the long way.
//!
//! `cargo run --release -p ssdlab-lab --example scale_model -- 'DRIVE[,KEY=VALUE]… [--OPTION=VALUE]…' …` prints
//! two rows a drive: the CPU time of either way and the most memory that the process has had by then, and of eight
//! jobs behind it (uniform random 4 KiB at depth 32 unless options say otherwise, half a million requests each)
//! write amplification, IOPS and the 99th percentile, mean ± standard deviation of the eight, and how far the model's
//! means are from the long way's. The drive comes into steady state by uniform writes of its mapping unit, or where the
//! options name a distribution by the jobs' own.
//!
//! WAY=model or WAY=long in the environment goes one way only; SEED is that of drive and jobs, 1 by default; with
//! SPAN, such as 0.8, the host uses that share of the drive.

use cpu_time::ProcessTime;
use serde_json::Value;
use ssdlab_device::profile::built_in;
use ssdlab_lab::condition::Condition;
use ssdlab_lab::output::to_json;
use ssdlab_lab::run::Silent;
use ssdlab_lab::session::{DriveSource, Plan, Session};
use ssdlab_lab::workload::parse::parse_flags;
use std::error::Error;
use std::str::FromStr;

/// The tail follows from how many dies collect at a time, which changes slowly: short jobs see one such moment.
const JOBS: u64 = 8;
const REQUESTS: u64 = 500_000;

fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::var("WAY").unwrap_or_default();
    println!("| drive | way | CPU s | MB | WA | IOPS | p99, ms |");
    println!("|---|---|---|---|---|---|---|");
    for argument in std::env::args().skip(1) {
        let long = if wanted == "model" { None } else { Some(Way::go(&argument, false)?) };
        if wanted != "long" {
            println!("{}", Way::go(&argument, true)?.row(&argument, long.as_ref()));
        }
        if let Some(long) = long {
            println!("{}", long.row(&argument, None));
        }
    }
    Ok(())
}

/// Mean and standard deviation.
#[derive(Clone, Copy, Debug)]
struct Spread {
    mean: f64,
    deviation: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Spread {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        Spread { mean, deviation: (squares / (values.len() as f64 - 1.0)).sqrt() }
    }

    fn times(self, factor: f64) -> Spread {
        Spread { mean: self.mean * factor, deviation: self.deviation * factor }
    }

    fn told(self, beside: Option<Spread>, digits: usize) -> String {
        let apart = beside.map(|other| format!(" ({:+.2} %)", (self.mean / other.mean - 1.0) * 100.0));
        format!("{:.digits$} ± {:.digits$}{}", self.mean, self.deviation, apart.unwrap_or_default())
    }
}

/// One way into steady state, and what jobs found there.
struct Way {
    told: String,
    cpu_s: f64,
    peak_mb: f64,
    write_amplification: Spread,
    iops: Spread,
    p99_ms: Spread,
}

impl Way {
    fn go(argument: &str, by_scale_model: bool) -> Result<Way, Box<dyn Error>> {
        let (drive, options) = argument.split_once(' ').unwrap_or((argument, ""));
        let mut session = opened(drive)?;
        session.by_scale_model = by_scale_model;
        let span = of_environment("SPAN", 1.0);
        let own =
            if options.contains("--random_distribution") { parse_flags(&flags(options))?.jobs } else { Vec::new() };
        let start = ProcessTime::now();
        session.bring_to(Condition::SteadyByJob, &own, span, seed(), &mut Silent)?;
        let (cpu_s, peak_mb) = (start.elapsed().as_secs_f64(), peak_mb());
        if let Some(told) = session.way_told() {
            eprintln!("{argument}: {told}\n{:?}", session.season());
        }
        let jobs = parse_flags(&flags(&format!("{options} --size={}%", span * 100.0)))?.jobs;
        let plan = Plan { seed: seed(), layout: false, timeline: None };
        let (record, context) = session.run(&jobs, &plan, &mut Silent)?;
        let result = to_json(&record, &context, false);
        let of_each = |look: &dyn Fn(&Value) -> &Value| {
            let jobs = result["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
            Spread::of(&jobs.iter().map(|job| look(job).as_f64().unwrap_or(f64::NAN)).collect::<Vec<_>>())
        };
        let way = if session.season().scaled.is_some() { "model" } else { "long" };
        Ok(Way {
            told: way.into(),
            cpu_s,
            peak_mb,
            write_amplification: of_each(&|job| &job["ssdlab"]["write_amplification"]),
            iops: of_each(&|job| &job["write"]["iops"]),
            p99_ms: of_each(&|job| &job["write"]["clat_ns"]["percentile"]["99.000000"]).times(1e-6),
        })
    }

    fn row(&self, argument: &str, beside: Option<&Way>) -> String {
        format!(
            "| {argument} | {} | {:.1} | {:.0} | {} | {} | {} |",
            self.told,
            self.cpu_s,
            self.peak_mb,
            self.write_amplification.told(beside.map(|way| way.write_amplification), 4),
            self.iops.told(beside.map(|way| way.iops), 0),
            self.p99_ms.told(beside.map(|way| way.p99_ms), 1),
        )
    }
}

/// Memory that the process has had at most, as Linux tells; not a number elsewhere.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kibibytes =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
    kibibytes.map_or(f64::NAN, |kibibytes: f64| kibibytes * 1024.0 / 1e6)
}

fn opened(argument: &str) -> Result<Session, Box<dyn Error>> {
    let mut parts = argument.split(',');
    let name = parts.next().unwrap_or_default();
    let settings: Vec<_> =
        parts.filter_map(|part| part.split_once('=')).map(|(key, value)| (key.into(), value.into())).collect();
    let text = built_in(name).ok_or_else(|| format!("there is no drive {name}"))?;
    let source = DriveSource::Profile { name: name.into(), file: name.into(), text: text.into(), scale: None };
    Ok(Session::open(&source, &settings, seed())?)
}

/// The jobs, one after the other.
fn flags(options: &str) -> Vec<String> {
    let job = |number| {
        format!(
            "--name=job{number} --stonewall --filename=/dev/ssd --rw=randwrite --bs=4k --iodepth=32 --norandommap \
             --number_ios={REQUESTS} --randseed={number} {options}"
        )
    };
    (1..=JOBS).map(job).collect::<Vec<_>>().join(" ").split_whitespace().map(String::from).collect()
}

/// Of the drive and its jobs.
fn seed() -> u64 {
    of_environment("SEED", 1)
}

fn of_environment<T: FromStr>(name: &str, otherwise: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
