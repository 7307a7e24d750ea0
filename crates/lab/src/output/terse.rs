//! fio's terse lines (version 3), from the JSON: one a job, fields with semicolons between them.
//!
//! Latencies are in microseconds. Of a direction that did nothing all fields are 0, as in fio.

use super::page::{count, number, text};
use serde_json::Value;
use std::fmt::Write as _;

/// Version of the form.
const VERSION: u32 = 3;
/// Places for percentiles; those left over are `0%=0`.
const PERCENTILES: usize = 20;
/// Depth levels and latency ranges in fio's order.
const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
const RANGES: [&str; 12] = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];

/// The lines of a result of [`to_json`](super::to_json).
pub fn to_terse(json: &Value) -> String {
    let jobs = json["jobs"].as_array().map_or(&[][..], Vec::as_slice);
    jobs.iter().map(|job| line(job, text(&json["fio version"]), &json["disk_util"][0])).collect()
}

fn line(job: &Value, version: &str, disk: &Value) -> String {
    let (name, group, error) = (text(&job["jobname"]), count(&job["groupid"]), count(&job["error"]));
    let mut line = format!("{VERSION};{version};{name};{group};{error}");
    let percentiles = ["read", "write", "trim"]
        .into_iter()
        .find_map(|side| job[side]["clat_ns"]["percentile"].as_object())
        .map(|percentiles| percentiles.keys().cloned().collect::<Vec<_>>())
        .unwrap_or_default();
    for side in ["read", "write"] {
        direction(&mut line, &job[side], &percentiles);
    }
    let _ = write!(
        line,
        ";{:.6}%;{:.6}%;{};{};{}",
        number(&job["usr_cpu"]),
        number(&job["sys_cpu"]),
        count(&job["ctx"]),
        count(&job["majf"]),
        count(&job["minf"])
    );
    for level in DEPTHS {
        let _ = write!(line, ";{:.1}%", number(&job["iodepth_level"][level]));
    }
    // What took less than a microsecond counts among the shortest.
    let below: f64 = RANGES.iter().map(|end| number(&job["latency_ns"][end])).sum();
    for (index, end) in RANGES[..10].iter().enumerate() {
        let share = number(&job["latency_us"][end]) + if index == 0 { below } else { 0.0 };
        let _ = write!(line, ";{share:.2}%");
    }
    for end in RANGES {
        let _ = write!(line, ";{:.2}%", number(&job["latency_ms"][end]));
    }
    let disk_counts = ["read_ios", "write_ios", "read_merges", "write_merges", "read_ticks", "write_ticks", "in_queue"];
    let _ = write!(line, ";{}", text(&disk["name"]));
    for field in disk_counts {
        let _ = write!(line, ";{}", count(&disk[field]));
    }
    let _ = write!(line, ";{:.2}%", number(&disk["util"]));
    if let Some(description) = job["desc"].as_str() {
        let _ = write!(line, ";{description}");
    }
    line + "\n"
}

fn direction(line: &mut String, side: &Value, percentiles: &[String]) {
    let figures = ["io_kbytes", "bw", "iops", "runtime"].map(|field| number(&side[field]) as u64);
    for figure in figures {
        let _ = write!(line, ";{figure}");
    }
    latency(line, &side["slat_ns"]);
    latency(line, &side["clat_ns"]);
    for percent in percentiles {
        let _ = write!(line, ";{percent}%={}", count(&side["clat_ns"]["percentile"][percent]) / 1000);
    }
    (percentiles.len()..PERCENTILES).for_each(|_| line.push_str(";0%=0"));
    latency(line, &side["lat_ns"]);
    let _ = write!(
        line,
        ";{};{};{:.6}%;{:.6};{:.6}",
        count(&side["bw_min"]),
        count(&side["bw_max"]),
        number(&side["bw_agg"]),
        number(&side["bw_mean"]),
        number(&side["bw_dev"])
    );
}

fn latency(line: &mut String, latency: &Value) {
    let us = |field: &str| number(&latency[field]) / 1000.0;
    let _ = write!(line, ";{};{};{:.6};{:.6}", us("min") as u64, us("max") as u64, us("mean"), us("stddev"));
}
