//! fio's normal text, from the JSON, so that it can be shown again from a result file at any time.
//!
//! A line `ssdlab` per job is added at its end. Process ids are 0: there are none.

use super::latency::{latency, latency_ranges, percentiles};
use super::number::{Prefix, short};
use super::page::{Page, count, number, text};
use serde_json::Value;

/// Fields that the text has nothing of, and that make up most of a result.
pub const NOT_IN_NORMAL: &[&str] =
    &["bins", "counters", "drive_time_series", "parameters", "time_series", "timeline", "utilization", "wear"];

/// fio's human-readable output of a result of [`to_json`](super::to_json) (or of fio's own JSON).
pub fn to_normal(json: &Value) -> String {
    let mut page = Page(String::new());
    let jobs = json["jobs"].as_array().map_or(&[][..], Vec::as_slice);
    header(&mut page, json, jobs);
    for job in jobs {
        if ["read", "write", "trim"].iter().any(|side| count(&job[side]["total_ios"]) > 0) {
            status(&mut page, job, text(&json["time"]));
        }
    }
    let groups = jobs.iter().map(|job| count(&job["groupid"])).max();
    for group in 0..groups.map_or(0, |last| last + 1) {
        let members: Vec<&Value> = jobs.iter().filter(|job| count(&job["groupid"]) == group).collect();
        group_status(&mut page, group, &members);
    }
    disk_stats(&mut page, &json["disk_util"]);
    page.0
}

fn header(page: &mut Page, json: &Value, jobs: &[Value]) {
    let mut processes = 0;
    let mut previous = None;
    for job in jobs {
        let (known, key) = (&job["ssdlab"]["job"], (count(&job["groupid"]), text(&job["jobname"])));
        processes += count(&known["members"]);
        // Clones without group_reporting come one by one; fio's header names their job once.
        if known.is_null() || previous == Some(key) {
            continue;
        }
        previous = Some(key);
        let sizes = ["read", "write", "trim"].map(|side| block_sizes(&known["bs_bytes"][side]));
        page.line(format_args!(
            "{}: (g={}): rw={}, bs=(R) {}, (W) {}, (T) {}, ioengine={}, iodepth={}",
            key.1,
            key.0,
            text(&known["rw"]),
            sizes[0],
            sizes[1],
            sizes[2],
            text(&known["ioengine"]),
            count(&known["iodepth"])
        ));
        if count(&known["numjobs"]) > 1 {
            page.line(format_args!("..."));
        }
    }
    page.line(format_args!("{}", text(&json["fio version"])));
    if processes > 0 {
        let plural = if processes == 1 { "" } else { "es" };
        page.line(format_args!("Starting {processes} process{plural}"));
    }
    page.line(format_args!(""));
}

fn block_sizes(range: &Value) -> String {
    let size = |index: usize| short(count(&range[index]), 4, Prefix::Binary, "B");
    format!("{}-{}", size(0), size(1))
}

fn status(page: &mut Page, job: &Value, time: &str) {
    let members = count(&job["ssdlab"]["job"]["members"]).max(1);
    let (name, group, error) = (text(&job["jobname"]), count(&job["groupid"]), count(&job["error"]));
    page.line(format_args!("{name}: (groupid={group}, jobs={members}): err={error:2}: pid=0: {time}"));
    if let Some(description) = job["desc"].as_str() {
        page.line(format_args!("  Description  : [{description}]"));
    }
    for side in ["read", "write", "trim"] {
        direction(page, side, &job[side]);
    }
    for (unit, key) in [("nsec", "latency_ns"), ("usec", "latency_us"), ("msec", "latency_ms")] {
        latency_ranges(page, unit, &job[key]);
    }
    let sync = &job["sync"]["lat_ns"];
    if count(&sync["N"]) > 0 {
        page.line(format_args!("  fsync/fdatasync/sync_file_range:"));
        latency(page, "sync", sync);
        percentiles(page, "sync", &sync["percentile"]);
    }
    tail(page, job);
    steady_state(page, &job["steadystate"]);
    drive(page, &job["ssdlab"]);
}

fn direction(page: &mut Page, name: &str, side: &Value) {
    if count(&side["total_ios"]) == 0 {
        return;
    }
    page.line(format_args!(
        "  {name}: IOPS={}, BW={} ({})({}/{}msec){}",
        short(count(&side["iops"]), 4, Prefix::Decimal, ""),
        short(count(&side["bw_bytes"]), 4, Prefix::Binary, "B/s"),
        short(count(&side["bw_bytes"]), 4, Prefix::Decimal, "B/s"),
        short(count(&side["io_bytes"]), 4, Prefix::Binary, "B"),
        count(&side["runtime"]),
        if name == "write" { "; 0 zone resets" } else { "" },
    ));
    for (label, key) in [("slat", "slat_ns"), ("clat", "clat_ns"), (" lat", "lat_ns")] {
        if count(&side[key]["N"]) > 0 {
            latency(page, label, &side[key]);
        }
    }
    percentiles(page, "clat", &side["clat_ns"]["percentile"]);
    sampled_rates(page, side);
}

fn sampled_rates(page: &mut Page, side: &Value) {
    if count(&side["bw_samples"]) > 0 {
        let large = number(&side["bw_mean"]) > 1024.0 * 1024.0;
        let (divisor, unit) = if large { (1024.0, "MiB") } else { (1.0, "KiB") };
        page.line(format_args!(
            "   bw ({unit:>5}/s): min={:5}, max={:5}, per={:.2}%, avg={:5.2}, stdev={:5.2}, samples={}",
            (number(&side["bw_min"]) / divisor) as u64,
            (number(&side["bw_max"]) / divisor) as u64,
            number(&side["bw_agg"]),
            number(&side["bw_mean"]) / divisor,
            number(&side["bw_dev"]) / divisor,
            count(&side["bw_samples"]),
        ));
    }
    if count(&side["iops_samples"]) > 0 {
        page.line(format_args!(
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}",
            count(&side["iops_min"]),
            count(&side["iops_max"]),
            number(&side["iops_mean"]),
            number(&side["iops_stddev"]),
            count(&side["iops_samples"]),
        ));
    }
}

fn tail(page: &mut Page, job: &Value) {
    page.line(format_args!(
        "  cpu          : usr={:.2}%, sys={:.2}%, ctx={}, majf={}, minf={}",
        number(&job["usr_cpu"]),
        number(&job["sys_cpu"]),
        count(&job["ctx"]),
        count(&job["majf"]),
        count(&job["minf"])
    ));
    page.line(format_args!("  IO depths    : {}", shares(&job["iodepth_level"])));
    page.line(format_args!("     submit    : {}", shares(&job["iodepth_submit"])));
    page.line(format_args!("     complete  : {}", shares(&job["iodepth_complete"])));
    let total = ["read", "write", "trim", "sync"].map(|side| count(&job[side]["total_ios"]));
    page.line(format_args!(
        "     issued rwts: total={},{},{},{} short=0,0,0,0 dropped=0,0,0,0",
        total[0], total[1], total[2], total[3]
    ));
    page.line(format_args!(
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}",
        count(&job["latency_target"]),
        count(&job["latency_window"]),
        number(&job["latency_percentile"]),
        count(&job["latency_depth"])
    ));
}

fn shares(shares: &Value) -> String {
    let Some(shares) = shares.as_object() else {
        return String::new();
    };
    let cell = |(name, share): (&String, &Value)| format!("{name}={:.1}%", number(share));
    shares.iter().map(cell).collect::<Vec<_>>().join(", ")
}

fn steady_state(page: &mut Page, steady: &Value) {
    if steady.is_null() {
        return;
    }
    let data = &steady["data"];
    let (rule, criterion) = (text(&steady["ss"]), text(&steady["criterion"]));
    let metric = rule.split(['_', ':']).next().unwrap_or_default();
    let percent = if criterion.ends_with('%') { "%" } else { "" };
    let bandwidth = count(&data["bw_mean"]);
    page.line(format_args!(
        "  steadystate  : attained={}, bw={} ({}), iops={}, {metric}{}={:.3}{percent}",
        if count(&steady["attained"]) > 0 { "yes" } else { "no" },
        short(bandwidth, 4, Prefix::Binary, "B/s"),
        short(bandwidth, 4, Prefix::Decimal, "B/s"),
        short(count(&data["iops_mean"]), 4, Prefix::Decimal, ""),
        if rule.contains("_slope") { " slope" } else { " mean dev" },
        criterion.trim_end_matches('%').parse().unwrap_or(0.0_f64),
    ));
}

fn drive(page: &mut Page, drive: &Value) {
    if !drive.is_object() {
        return;
    }
    page.line(format_args!(
        "  ssdlab       : WA={}, erased={}, unmapped reads={}, condition={}{}{}, seed={}, profile={}",
        amplification(drive),
        count(&drive["blocks_erased"]),
        count(&drive["unmapped_reads"]),
        text(&drive["condition"]),
        if drive["steady_reached"] == false { " NOT STEADY" } else { "" },
        if drive["season"]["scale_model"].is_object() { " (scale model)" } else { "" },
        count(&drive["seed"]),
        text(&drive["profile"])
    ));
    scale(page, drive);
    condition(page, drive);
    ranges(page, &drive["ranges"]);
    if let Some(average_mw) = drive["power"]["average_mw"].as_f64() {
        page.line(format_args!(
            "                 power={average_mw:.0} mW on average, wake-ups={}, link resets={}",
            count(&drive["power"]["wake_ups"]),
            count(&drive["power"]["link_resets"])
        ));
    }
    if drive["interrupted"].as_bool() == Some(true) {
        page.line(format_args!("                 stopped early: figures are of what was done"));
    }
}

/// A smaller drive stood for the profile's: rates of a part of the dies are those of the part.
fn scale(page: &mut Page, drive: &Value) {
    if let Some(scale) = drive["scale"].as_str() {
        page.line(format_args!(
            "                 scale {scale}: the figures are those of the smaller drive, not of the whole one"
        ));
    }
}

/// Bytes to flash by bytes of the host, and by mapping units where these differ.
fn amplification(drive: &Value) -> String {
    let Some(by_bytes) = drive["write_amplification"].as_f64() else { return "none (nothing written)".into() };
    match drive["unit_write_amplification"].as_f64() {
        Some(by_units) if (by_units / by_bytes - 1.0).abs() > 0.01 => {
            format!("{by_bytes:.3} by host bytes ({by_units:.3} by mapping units)")
        }
        _ => format!("{by_bytes:.3}"),
    }
}

/// What the drive was written by before the job, and whether it changed during the job.
fn condition(page: &mut Page, drive: &Value) {
    let writes = text(&drive["conditioned_by"]);
    let is_steady = text(&drive["condition"]).starts_with("steady");
    match drive["not_steady"].as_str() {
        Some(reason) => page.line(format_args!("                 NOT STEADY under {writes}: {reason}")),
        None if writes.is_empty() => {}
        None if is_steady => page.line(format_args!("                 steady under {writes}")),
        None => page.line(format_args!("                 preconditioned by {writes}")),
    }
    if let Some(told) = drive["drift"]["told"].as_str() {
        page.line(format_args!("                 {told}"));
    }
}

/// Where the clones worked that have own ranges; of many the first and the last.
fn ranges(page: &mut Page, ranges: &Value) {
    let own = ranges.as_array().map_or(&[][..], Vec::as_slice).iter().filter(|range| range["own"] == true);
    let cell = |range: &Value| {
        let (offset, bytes) = (count(&range["offset_bytes"]), count(&range["bytes"]));
        format!("{}.{} {offset}-{}", text(&range["job"]), count(&range["clone"]), offset + bytes)
    };
    let cells: Vec<String> = own.map(cell).collect();
    match &cells[..] {
        [] => {}
        [first, .., last] if cells.len() > 4 => {
            page.line(format_args!("                 own ranges in bytes: {first}, … {last}"));
        }
        few => page.line(format_args!("                 own ranges in bytes: {}", few.join(", "))),
    }
}

fn group_status(page: &mut Page, group: u64, jobs: &[&Value]) {
    page.line(format_args!("\nRun status group {group} (all jobs):"));
    for (side, label) in [("read", "   READ"), ("write", "  WRITE"), ("trim", "   TRIM")] {
        let used: Vec<&Value> =
            jobs.iter().map(|job| &job[side]).filter(|side| count(&side["total_ios"]) > 0).collect();
        if !used.is_empty() {
            group_direction(page, label, &used);
        }
    }
}

fn group_direction(page: &mut Page, label: &str, sides: &[&Value]) {
    let ends = |key: &str| {
        let values = || sides.iter().map(|side| count(&side[key]));
        (values().min().unwrap_or(0), values().max().unwrap_or(0))
    };
    let (slowest, fastest) = ends("bw_bytes");
    let (shortest, longest) = ends("runtime");
    let bytes: u64 = sides.iter().map(|side| count(&side["io_bytes"])).sum();
    // One job has its exact rate; of several, fio divides the bytes by the longest time.
    let aggregate = match sides {
        [only] => count(&only["bw_bytes"]),
        _ => (bytes as f64 * 1000.0 / longest.max(1) as f64) as u64,
    };
    let rate = |value: u64, prefix: Prefix| short(value, 4, prefix, "B/s");
    let (binary, decimal) = (Prefix::Binary, Prefix::Decimal);
    page.line(format_args!(
        "{label}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={shortest}-{longest}msec",
        rate(aggregate, binary),
        rate(aggregate, decimal),
        rate(slowest, binary),
        rate(fastest, binary),
        rate(slowest, decimal),
        rate(fastest, decimal),
        short(bytes, 4, binary, "B"),
        short(bytes, 4, decimal, "B"),
    ));
}

fn disk_stats(page: &mut Page, disks: &Value) {
    let Some(disks) = disks.as_array().filter(|disks| !disks.is_empty()) else {
        return;
    };
    page.line(format_args!("\nDisk stats (read/write):"));
    for disk in disks {
        page.line(format_args!(
            "  {}: ios={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:.2}%",
            text(&disk["name"]),
            count(&disk["read_ios"]),
            count(&disk["write_ios"]),
            count(&disk["read_merges"]),
            count(&disk["write_merges"]),
            count(&disk["read_ticks"]),
            count(&disk["write_ticks"]),
            count(&disk["in_queue"]),
            number(&disk["util"])
        ));
    }
}
