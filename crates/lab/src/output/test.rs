//! The output against what fio 3.33 itself wrote.

use super::*;
use crate::null::NullDevice;
use crate::run::{Record, RunOptions, Silent, run};
use crate::workload::job::{Extent, Job, Pattern, SteadyMetric, SteadyRule};
use serde_json::json;
use ssdlab_device::units::Nanos;

const MIB: u64 = 1 << 20;

fn mixed_job() -> Job {
    Job {
        name: "x".into(),
        options: vec![("name".into(), "x".into()), ("direct".into(), String::new())],
        pattern: Pattern { reads: true, writes: true, trims: false, random: true },
        io_size: Some(Extent::Bytes(16 * MIB)),
        io_depth: 4,
        fsync: 4,
        ..Job::default()
    }
}

fn record(jobs: &[Job]) -> Record {
    let mut device = NullDevice::new(64 * MIB, Nanos(100_000), 32);
    run(&mut device, jobs, &RunOptions { start: Nanos::ZERO, seed: 1 }, &mut Silent).unwrap()
}

fn context() -> Context {
    let extra = fields::object(json!({ "wear": [1, 2] }));
    Context { profile: "null".into(), version: "1.2.3".into(), seed: 1, extra, ..Context::default() }
}

/// Paths of all keys in order; what depends on the run (options, bins, our object) is not entered.
fn paths(value: &Value, prefix: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields.iter().filter(|(key, _)| *key != "ssdlab") {
                let path = format!("{prefix}/{key}");
                found.push(path.clone());
                if !["bins", "job options"].contains(&key.as_str()) {
                    paths(field, &path, found);
                }
            }
        }
        Value::Array(entries) => {
            if let Some(first) = entries.first() {
                paths(first, &format!("{prefix}[]"), found);
            }
        }
        _ => {}
    }
}

/// Every key of fio 3.33's json+ for a mixed job with fsync, in fio's order, and no other.
#[test]
fn keys_are_fios_in_fios_order() {
    let json = to_json(&record(&[mixed_job()]), &context(), true);
    let mut found = Vec::new();
    paths(&json, "", &mut found);
    let wanted: Vec<&str> = include_str!("../../tests/data/fio-keys.txt").lines().collect();
    assert_eq!(found, wanted);
}

/// Given fio's own JSON, the text is what fio wrote for it, to the letter.
#[test]
fn text_of_fios_json_is_fios_text() {
    let json: Value = serde_json::from_str(include_str!("../../tests/data/fio-3.33.json")).unwrap();
    let text = to_normal(&json);
    let wanted = include_str!("../../tests/data/fio-3.33.txt");
    let start = text.find("mixed: (groupid").unwrap();
    for (ours, fios) in text[start..].lines().zip(wanted.lines()) {
        assert_eq!(ours, fios);
    }
    assert_eq!(text[start..].lines().count(), wanted.lines().count());
}

/// Two runs of the same seed give the same bytes; another seed gives another workload.
#[test]
fn same_seed_same_bytes() {
    let text = |seed: u64| {
        let mut device = NullDevice::new(64 * MIB, Nanos(100_000), 32);
        let jobs = [mixed_job(), Job { num_jobs: 2, ..mixed_job() }];
        let options = RunOptions { start: Nanos::ZERO, seed };
        let record = run(&mut device, &jobs, &options, &mut Silent).unwrap();
        to_json(&record, &context(), true).to_string()
    };
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

/// Rates are exact, whatever the rounding of `runtime`, and the options are as given.
#[test]
fn figures_are_those_of_the_closed_loop() {
    let reads = Pattern { reads: true, writes: false, trims: false, random: true };
    let json = to_json(&record(&[Job { pattern: reads, fsync: 0, ..mixed_job() }]), &context(), false);
    let job = &json["jobs"][0];
    assert_eq!(job["read"]["iops"], json!(40_000.0));
    assert_eq!(job["read"]["bw_bytes"], json!(163_840_000));
    assert_eq!(job["read"]["runtime"], json!(102));
    assert_eq!(job["read"]["clat_ns"]["percentile"]["99.990000"], json!(100_000));
    assert_eq!(job["read"]["clat_ns"]["bins"], Value::Null);
    assert_eq!(job["latency_us"]["250"], json!(100.0));
    assert_eq!(job["job options"], json!({ "name": "x" }));
    assert_eq!(job["write"]["runtime"], json!(0));
    assert_eq!(json["disk_util"][0]["util"], json!(100.0));
    assert_eq!(json["fio version"], json!("fio-3.33-ssdlab-1.2.3"));
}

/// `group_reporting` adds requests and rates of the clones and keeps their latencies; without it
/// each clone has its own entry.
#[test]
fn group_reporting_merges_clones() {
    let clones = Job { num_jobs: 3, fsync: 0, ..mixed_job() };
    let single = to_json(&record(&[Job { num_jobs: 1, ..clones.clone() }]), &context(), false);
    let apart = to_json(&record(std::slice::from_ref(&clones)), &context(), false);
    let merged = Job { group_reporting: true, ..clones };
    let together = to_json(&record(std::slice::from_ref(&merged)), &context(), false);
    let jobs = |json: &Value| json["jobs"].as_array().unwrap().len();
    assert_eq!((jobs(&apart), jobs(&together)), (3, 1));
    let iops = |json: &Value| {
        let job = &json["jobs"][0];
        job["read"]["iops"].as_f64().unwrap() + job["write"]["iops"].as_f64().unwrap()
    };
    assert!((iops(&together) - 3.0 * iops(&single)).abs() < 1e-6);
    assert_eq!(together["jobs"][0]["read"]["lat_ns"]["mean"], json!(100_000.0));
    assert!(to_normal(&together).contains("x: (groupid=0, jobs=3): err= 0"));
    // A second job behind a stonewall is a group of its own.
    let walled = [merged.clone(), Job { stonewall: true, ..merged }];
    let two = to_json(&record(&walled), &context(), false);
    assert_eq!((jobs(&two), &two["jobs"][1]["groupid"]), (2, &json!(1)));
}

/// The object about the drive is complete, null where nothing was written, and takes additions.
#[test]
fn drive_object_tells_what_the_drive_did() {
    let json = to_json(&record(&[mixed_job()]), &context(), false);
    let drive = &json["jobs"][0]["ssdlab"];
    assert_eq!(drive["write_amplification"], Value::Null);
    assert_eq!((&drive["profile"], &drive["seed"]), (&json!("null"), &json!(1)));
    assert_eq!(drive["wear"], json!([1, 2]));
    let sum = |key: &str| drive["time_series"][key].as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>();
    assert_eq!(json!(sum("writes")), json["jobs"][0]["write"]["total_ios"]);
    assert_eq!(json!(sum("reads")), drive["counters"]["host_reads"]);
    assert_eq!(drive["drive_time_series"]["end_ns"], drive["time_series"]["end_ns"]);
    assert_eq!(drive["stonewall_group"], json!({ "number": 0, "jobs": ["x"] }));
    assert_eq!(
        drive["ranges"],
        json!([{ "job": "x", "clone": 0, "offset_bytes": 0, "bytes": 64 * MIB, "own": false }])
    );
    let text = to_normal(&json);
    assert!(text.contains("  ssdlab       : WA=none (nothing written), erased=0"), "{text}");
}

/// fio's steady-state rule has fio's keys in fio's order, and its line in the text.
#[test]
fn steady_state_is_written_as_fio_does() {
    let rule = SteadyRule {
        metric: SteadyMetric::Iops,
        slope: true,
        limit: 10.0,
        limit_is_percent: true,
        window: Nanos(2_000_000_000),
        ramp: Nanos::ZERO,
        interval: Nanos(1_000_000_000),
    };
    let runtime = Some(Nanos(9_000_000_000));
    let steady = Job { steady_state: Some(rule), time_based: true, runtime, fsync: 0, ..mixed_job() };
    let json = to_json(&record(&[steady]), &context(), false);
    let state = &json["jobs"][0]["steadystate"];
    let mut found = Vec::new();
    paths(state, "", &mut found);
    let wanted = "/ss /duration /attained /criterion /max_deviation /slope /data /data/bw_mean \
                  /data/iops_mean /data/iops /data/bw";
    assert_eq!(found, wanted.split_whitespace().collect::<Vec<_>>());
    assert_eq!((&state["ss"], &state["attained"]), (&json!("iops_slope:10.000000%"), &json!(1)));
    assert_eq!(state["data"]["iops"], json!([40_000, 40_000]));
    let line = "  steadystate  : attained=yes, bw=156MiB/s (164MB/s), iops=40.0k, iops slope=0.000%";
    assert!(to_normal(&json).contains(line), "{}", to_normal(&json));
}
