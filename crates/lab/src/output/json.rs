//! fio's JSON (`json`, and with `plus` also `json+`).

use super::Context;
use super::drive::drive;
use super::fields::object;
use super::merge::{Report, Side, reports};
use crate::run::{Latencies, Record, SteadyRecord, depth};
use crate::workload::job::SteadyMetric;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};
use ssdlab_device::units::Nanos;

/// The version of fio whose fields these are.
const FIO_VERSION: &str = "fio-3.33";
/// fio's default `percentile_list`.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
/// Upper ends of fio's latency ranges; each unit's list ends where the next one begins.
const RANGES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// Names of fio's depth levels.
const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// Names of fio's batch sizes.
const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// A result as fio's JSON, written job by job: of many jobs only one at a time is held as a tree.
///
/// `fio version` is made like the versions between fio's own releases (`fio-3.33-…`), so that what
/// takes the number out of it finds the one whose fields these are.
struct Document<'a> {
    record: &'a Record,
    context: &'a Context,
    plus: bool,
}

/// The entries of `jobs`.
struct Jobs<'a> {
    reports: &'a [Report<'a>],
    document: &'a Document<'a>,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (record, context) = (self.record, self.context);
        let reports = reports(record);
        let mut top = serializer.serialize_map(None)?;
        top.serialize_entry("fio version", &format!("{FIO_VERSION}-ssdlab-{}", context.version))?;
        top.serialize_entry("timestamp", &context.timestamp)?;
        top.serialize_entry("timestamp_ms", &context.timestamp_ms)?;
        top.serialize_entry("time", &context.time)?;
        if !context.global_options.is_empty() {
            top.serialize_entry("global options", &context.global_options)?;
        }
        top.serialize_entry("jobs", &Jobs { reports: &reports, document: self })?;
        top.serialize_entry("disk_util", &[disk_util(&reports, record, context)])?;
        top.end()
    }
}

impl Serialize for Jobs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Document { record, context, plus } = *self.document;
        serializer.collect_seq(self.reports.iter().map(|report| job(report, self.reports, record, context, plus)))
    }
}

/// The record as fio's JSON; `plus` adds the histogram bins of `json+`.
pub fn to_json(record: &Record, context: &Context, plus: bool) -> Value {
    serde_json::to_value(Document { record, context, plus }).expect("plain data with names as keys")
}

/// As [`to_json`], as text.
pub fn to_json_text(record: &Record, context: &Context, plus: bool) -> String {
    serde_json::to_string(&Document { record, context, plus }).expect("plain data with names as keys")
}

fn job(report: &Report, all: &[Report], record: &Record, context: &Context, plus: bool) -> Map<String, Value> {
    let elapsed = (record.end - record.start).0.div_ceil(1_000_000_000);
    let error = report.members.iter().map(|clone| clone.error).find(|&error| error != 0);
    let mut job = object(json!({
        "jobname": report.job.name,
        "groupid": report.group_id,
        "error": error.unwrap_or(0),
        "eta": 0,
        "elapsed": elapsed,
        "job options": options(report),
    }));
    for (index, name) in ["read", "write", "trim"].into_iter().enumerate() {
        job.insert(name.into(), direction(report, index, group_bandwidth(report, all, index), plus));
    }
    job.extend(object(json!({
        "sync": { "total_ios": report.sync.count(), "lat_ns": latencies(&report.sync, Some(percentiles(report)), plus) },
        "job_runtime": report.members.iter().map(|clone| ms(clone.end.saturating_sub(clone.start))).sum::<u64>(),
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
    })));
    job.extend(distributions(report));
    let description = report.job.options.iter().find(|(name, _)| name == "description");
    if let Some((_, text)) = description {
        job.insert("desc".into(), json!(text));
    }
    if let Some(steady) = report.members.iter().find_map(|clone| clone.steady.as_ref()) {
        job.insert("steadystate".into(), steady_state(steady));
    }
    job.insert("ssdlab".into(), drive(report, record, context));
    job
}

/// The options as given; bare flags are left out, as fio 3.33 does.
fn options(report: &Report) -> Map<String, Value> {
    let given = report.job.options.iter().filter(|(_, value)| !value.is_empty());
    given.map(|(name, value)| (name.clone(), json!(value))).collect()
}

fn direction(report: &Report, index: usize, group_bandwidth: f64, plus: bool) -> Value {
    let side = &report.sides[index];
    let runtime = if side.used() { report.runtime() } else { Nanos::ZERO };
    let seconds = runtime.as_s();
    let per_s = |count: u64| {
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    };
    let bytes_per_s = per_s(side.bytes) as u64;
    let requests = side.latencies.count();
    let mut direction = object(json!({
        "io_bytes": side.bytes,
        "io_kbytes": side.bytes / 1024,
        "bw_bytes": bytes_per_s,
        "bw": bytes_per_s / 1024,
        "iops": per_s(requests),
        "runtime": if side.used() { ms(runtime).max(1) } else { 0 },
        "total_ios": requests,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": { "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": requests },
        "clat_ns": latencies(&side.latencies, Some(percentiles(report)), plus),
        "lat_ns": latencies(&side.latencies, None, false),
    }));
    direction.extend(sampled_rates(side, group_bandwidth));
    Value::Object(direction)
}

/// The half-second samples; `bw_agg` is the share of the group's bandwidth in percent.
fn sampled_rates(side: &Side, group_bandwidth: f64) -> Map<String, Value> {
    let (bandwidth, iops) = (&side.bandwidth, &side.iops);
    let share = bandwidth.mean * 1024.0 / group_bandwidth.max(1.0) * 100.0;
    object(json!({
        "bw_min": bandwidth.min,
        "bw_max": bandwidth.max,
        "bw_agg": share.min(100.0),
        "bw_mean": bandwidth.mean,
        "bw_dev": bandwidth.standard_deviation(),
        "bw_samples": bandwidth.count,
        "iops_min": iops.min,
        "iops_max": iops.max,
        "iops_mean": iops.mean,
        "iops_stddev": iops.standard_deviation(),
        "iops_samples": iops.count,
    }))
}

/// Bytes a second of all jobs of the report's group, over the longest of their times.
fn group_bandwidth(report: &Report, all: &[Report], index: usize) -> f64 {
    let used = |other: &&Report| other.group_id == report.group_id && other.sides[index].used();
    let (mut bytes, mut time) = (0, Nanos::ZERO);
    for other in all.iter().filter(used) {
        bytes += other.sides[index].bytes;
        time = time.max(other.runtime());
    }
    if time > Nanos::ZERO { bytes as f64 / time.as_s() } else { 0.0 }
}

/// The percentiles that the job asks for.
fn percentiles<'a>(report: &'a Report<'_>) -> &'a [f64] {
    let wanted = report.job.percentiles.as_slice();
    if wanted.is_empty() { &PERCENTILES } else { wanted }
}

fn latencies(latencies: &Latencies, percentiles: Option<&[f64]>, bins: bool) -> Value {
    let mut fields = object(json!({
        "min": latencies.min_ns(),
        "max": latencies.max_ns(),
        "mean": latencies.mean_ns(),
        "stddev": latencies.standard_deviation_ns(),
        "N": latencies.count(),
    }));
    if let Some(percentiles) = percentiles.filter(|_| latencies.count() > 0) {
        let at = |&percent: &f64| (format!("{percent:.6}"), json!(latencies.percentile_ns(percent)));
        fields.insert("percentile".into(), Value::Object(percentiles.iter().map(at).collect()));
    }
    if bins && latencies.count() > 0 {
        let bin = |(ns, count): (u64, u64)| (ns.to_string(), json!(count));
        fields.insert("bins".into(), Value::Object(latencies.buckets().map(bin).collect()));
    }
    Value::Object(fields)
}

/// Depths, batch sizes and latency ranges, in percent of the requests.
fn distributions(report: &Report) -> Map<String, Value> {
    let requests = report.requests();
    let depths = report.depths.map(|count| percent(count, requests, 0.1));
    // One by one: a batch is 1 to 4 requests, in fio's words.
    let batches = BATCHES.map(|name| if name == "4" { percent(requests, requests, 0.1) } else { 0.0 });
    let counts = latency_ranges(report);
    let shares = counts.map(|unit| unit.map(|count| percent(count, requests, 0.01)));
    let names = RANGES.map(|end| end.to_string());
    let target = report.job.latency_target;
    let us = |time: Nanos| time.0 / 1_000;
    let found = report.members.iter().find_map(|clone| clone.latency_depth);
    let mut milliseconds = named(&names, &shares[2]);
    let longer = [shares[3][0], shares[3][1]];
    milliseconds.extend(named(&["2000".into(), ">=2000".into()], &longer));
    object(json!({
        "iodepth_level": named(&LEVELS.map(String::from), &depths),
        "iodepth_submit": named(&BATCHES.map(String::from), &batches),
        "iodepth_complete": named(&BATCHES.map(String::from), &batches),
        "latency_ns": named(&names, &shares[0]),
        "latency_us": named(&names, &shares[1]),
        "latency_ms": milliseconds,
        "latency_depth": found.unwrap_or_else(|| depth(report.job)),
        "latency_target": target.map_or(0, |target| us(target.target)),
        "latency_percentile": target.map_or(100.0, |target| target.percentile),
        "latency_window": target.map_or(0, |target| us(target.window)),
    }))
}

/// Requests by latency: below 2, 4, … 1000 ns, then µs, then ms; the last row counts those below
/// 2 s and the longer ones.
fn latency_ranges(report: &Report) -> [[u64; 10]; 4] {
    let mut counts = [[0; 10]; 4];
    for (ns, count) in report.sides.iter().flat_map(|side| side.latencies.buckets()) {
        let (row, value) = match ns {
            0..1_000 => (0, ns),
            1_000..1_000_000 => (1, ns / 1_000),
            1_000_000..1_000_000_000 => (2, ns / 1_000_000),
            _ => (3, ns / 2_000_000_000),
        };
        let column = match row {
            3 => value.min(1) as usize,
            _ => RANGES.iter().position(|&end| value < end).unwrap_or(9),
        };
        counts[row][column] += count;
    }
    counts
}

/// fio shows what is there as at least `least`.
fn percent(count: u64, total: u64, least: f64) -> f64 {
    if count == 0 || total == 0 { 0.0 } else { (count as f64 / total as f64 * 100.0).max(least) }
}

fn steady_state(steady: &SteadyRecord) -> Value {
    let rule = &steady.rule;
    let metric = match rule.metric {
        SteadyMetric::Iops => "iops",
        SteadyMetric::Bandwidth => "bw",
        SteadyMetric::Latency => "lat",
    };
    let slope = if rule.slope { "_slope" } else { "" };
    let unit = if rule.limit_is_percent { "%" } else { "" };
    let mean = |values: &[u64]| values.iter().sum::<u64>() / values.len().max(1) as u64;
    let mut data = object(json!({
        "bw_mean": mean(&steady.bytes_per_s),
        "iops_mean": mean(&steady.iops),
    }));
    if rule.metric == SteadyMetric::Latency {
        data.insert("lat_mean".into(), json!(mean(&steady.latency_ns)));
        data.insert("lat_ns".into(), json!(steady.latency_ns));
    }
    data.insert("iops".into(), json!(steady.iops));
    data.insert("bw".into(), json!(steady.bytes_per_s));
    json!({
        "ss": format!("{metric}{slope}:{:.6}{unit}", rule.limit),
        "duration": rule.window.0 / 1_000_000_000,
        "attained": u8::from(steady.attained),
        "criterion": format!("{:.6}{unit}", steady.criterion),
        "max_deviation": steady.max_deviation,
        "slope": steady.slope,
        "data": data,
    })
}

/// The drive as the kernel would have counted it, over the whole run.
fn disk_util(reports: &[Report], record: &Record, context: &Context) -> Value {
    let sum = |index: usize| {
        reports.iter().fold((0, 0), |(count, ns), report| {
            let latencies = &report.sides[index].latencies;
            (count + latencies.count(), ns + latencies.sum_ns())
        })
    };
    let ([read, write, trim], time) = ([sum(0), sum(1), sum(2)], record.end - record.start);
    let busy = record.groups.iter().map(|group| group.busy.0).sum::<u64>();
    json!({
        "name": context.profile,
        "read_ios": read.0,
        "write_ios": write.0,
        "read_merges": 0,
        "write_merges": 0,
        "read_ticks": ms(Nanos(read.1)),
        "write_ticks": ms(Nanos(write.1)),
        "in_queue": ms(Nanos(read.1 + write.1 + trim.1)),
        "util": if time.0 > 0 { busy as f64 / time.0 as f64 * 100.0 } else { 0.0 },
    })
}

/// Whole milliseconds, to the nearest.
fn ms(time: Nanos) -> u64 {
    (time.0 + 500_000) / 1_000_000
}

fn named(names: &[String], values: &[f64]) -> Map<String, Value> {
    names.iter().cloned().zip(values.iter().map(|&value| json!(value))).collect()
}
