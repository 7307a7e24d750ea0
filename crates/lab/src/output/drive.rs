//! The object `ssdlab` of a job: what fio cannot know, because it cannot look into the drive.
//!
//! `job`, `ranges` and `time_series` are of the job alone, to its own end. Jobs that run together
//! share the drive, so every figure of the drive is of their stonewall group, which
//! `stonewall_group` names; its rates over time are `drive_time_series`.

use super::Context;
use super::drift::drift;
use super::fields::object;
use super::layers::layers;
use super::merge::Report;
use crate::run::{CloneRecord, Done, GroupRecord, Record, Series, Written, depth};
use crate::workload::job::{Job, Pattern, SizeShare};
use serde_json::{Map, Value, json};
use ssdlab_device::config::power::PowerConfig;
use ssdlab_device::counters::Counters;
use ssdlab_device::units::Nanos;

/// The version of the object's layout, which `docs/result.schema.json` describes: it grows where a
/// field changes its meaning or goes; a new field does not change it.
const SCHEMA_VERSION: u32 = 3;

/// The `ssdlab` object of a report.
pub fn drive(report: &Report, record: &Record, context: &Context) -> Value {
    let Some((number, group)) =
        report.members.first().and_then(|clone| Some((clone.group, record.groups.get(clone.group)?)))
    else {
        return Value::Null;
    };
    let counters = group.counters();
    let time = group.end.saturating_sub(group.start);
    let mut fields = object(json!({
        "schema_version": SCHEMA_VERSION,
        "write_amplification": counters.write_amplification(),
        "unit_write_amplification": counters.unit_write_amplification(),
        "host_pages_written": counters.host_pages_written,
        "nand_pages_written": counters.nand_pages_written,
        "blocks_erased": counters.blocks_erased,
        "unmapped_reads": counters.unmapped_reads,
        "virtual_time_ns": time.0,
        "wall_s": context.wall_s,
        "cpu_s": context.cpu_s,
        "steady_reached": context.steady_reached,
        "not_steady": context.not_steady,
        "seed": context.seed,
        "profile": context.profile,
        "version": context.version,
        "condition": context.condition,
        "conditioned_by": context.conditioned_by,
        "drift": drift(report, group, record),
        "interrupted": record.interrupted,
    }));
    fields.insert("job".into(), job(report.job, report.members.len()));
    fields.insert("ranges".into(), ranges(report, record));
    fields.insert("stonewall_group".into(), stonewall_group(number, record));
    let entries = counters.entries().map(|(name, value)| (name.to_string(), json!(value)));
    fields.insert("counters".into(), Value::Object(entries.collect()));
    fields.insert("time_series".into(), time_series(report, record));
    fields.insert("drive_time_series".into(), drive_time_series(group, record));
    fields.insert("utilization".into(), utilization(&counters, time, context));
    // A solid-state drive alone has nothing to add to its counters.
    if group.layers.name != "drive" {
        fields.insert("layers".into(), layers(&group.layers));
    }
    if let Some(config) = &context.power {
        fields.insert("power".into(), power(&counters, config));
    }
    fields.extend(context.extra.clone());
    Value::Object(fields)
}

/// The job as it was understood, defaults filled in.
fn job(job: &Job, members: usize) -> Value {
    let sizes = &job.block_sizes;
    json!({
        "rw": pattern(&job.pattern),
        "bs_bytes": {
            "read": extremes(&sizes.read),
            "write": extremes(&sizes.write),
            "trim": extremes(&sizes.trim),
        },
        "ioengine": job.synchronous_engine.as_deref().unwrap_or("ssdlab"),
        "iodepth": depth(job),
        "numjobs": job.num_jobs.max(1),
        "members": members,
    })
}

/// fio's word for a pattern.
fn pattern(pattern: &Pattern) -> String {
    let word = match (pattern.reads, pattern.writes, pattern.trims) {
        (true, true, _) => "rw",
        (true, false, false) => "read",
        (true, false, true) => "readtrim",
        (false, true, false) => "write",
        (false, true, true) => "trimwrite",
        (false, false, _) => "trim",
    };
    format!("{}{word}", if pattern.random { "rand" } else { "" })
}

/// Smallest and largest block size.
fn extremes(sizes: &[SizeShare]) -> [u32; 2] {
    let bytes = || sizes.iter().map(|share| share.bytes);
    [bytes().min().unwrap_or(0), bytes().max().unwrap_or(0)]
}

/// Where on the drive each clone worked.
fn ranges(report: &Report, record: &Record) -> Value {
    let range = |clone: &&CloneRecord| {
        let job = &record.jobs[clone.job];
        json!({
            "job": job.name,
            "clone": clone.clone,
            "offset_bytes": clone.range.offset,
            "bytes": clone.range.bytes,
            "own": !job.own_ranges.is_empty(),
        })
    };
    report.members.iter().map(range).collect()
}

/// Whose figures the drive's are: all jobs between two stonewalls.
fn stonewall_group(number: usize, record: &Record) -> Value {
    let mut jobs: Vec<usize> =
        record.clones.iter().filter(|clone| clone.group == number).map(|clone| clone.job).collect();
    jobs.dedup();
    let names: Vec<&str> = jobs.into_iter().map(|job| record.jobs[job].name.as_str()).collect();
    json!({ "number": number, "jobs": names })
}

/// Columns of what the report's clones completed, one entry a bucket; times count from the beginning of the run.
fn time_series(report: &Report, record: &Record) -> Value {
    let series = report.series();
    let column = |of: &dyn Fn(&Done) -> u64| series.buckets.iter().map(of).collect::<Vec<u64>>();
    let mut fields = axis(&series, report.end(), record);
    for (index, name) in ["read", "write", "trim"].into_iter().enumerate() {
        fields.insert(format!("{name}s"), json!(column(&|bucket| bucket.requests[index])));
        fields.insert(format!("{name}_bytes"), json!(column(&|bucket| bucket.bytes[index])));
        let sums = column(&|bucket| bucket.latency_sum_ns[index]);
        fields.insert(format!("{name}_latency_sum_ns"), json!(sums));
    }
    fields.insert("latency_max_ns".into(), json!(column(&|bucket| bucket.latency_max_ns)));
    Value::Object(fields)
}

/// As [`time_series`], of what the drive wrote for all jobs of the group.
fn drive_time_series(group: &GroupRecord, record: &Record) -> Value {
    let column = |of: fn(&Written) -> u64| group.series.buckets.iter().map(of).collect::<Vec<u64>>();
    let mut fields = axis(&group.series, group.end, record);
    fields.insert("host_pages_written".into(), json!(column(|bucket| bucket.host_pages)));
    fields.insert("nand_pages_written".into(), json!(column(|bucket| bucket.nand_pages)));
    fields.insert("nand_host_bytes_written".into(), json!(column(|bucket| bucket.host_bytes)));
    fields.insert("nand_bytes_written".into(), json!(column(|bucket| bucket.nand_bytes)));
    Value::Object(fields)
}

/// When a series begins and ends, and the width of its buckets.
fn axis<B>(series: &Series<B>, end: Nanos, record: &Record) -> Map<String, Value> {
    object(json!({
        "start_ns": series.start.saturating_sub(record.start).0,
        "end_ns": end.saturating_sub(record.start).0,
        "interval_ns": series.width.0,
    }))
}

/// Energy by state, and the mean power of the time in all of them.
fn power(counters: &Counters, config: &PowerConfig) -> Value {
    let states = [
        (counters.power_active_ns, config.active_mw),
        (counters.power_idle_ns, config.idle_mw),
        (counters.power_slumber_ns, config.slumber_mw),
        (counters.power_sleep_ns, config.sleep_mw),
    ];
    let energy_mj = states.map(|(time_ns, power_mw)| time_ns as f64 / 1e9 * power_mw.unwrap_or(0.0));
    let (total_mj, total_ns) = (energy_mj.iter().sum::<f64>(), states.iter().map(|state| state.0).sum::<u64>());
    let [active, idle, slumber, sleep] = energy_mj;
    json!({
        "active_mj": active,
        "idle_mj": idle,
        "slumber_mj": slumber,
        "sleep_mj": sleep,
        "total_mj": total_mj,
        "average_mw": (total_ns > 0).then(|| total_mj / (total_ns as f64 / 1e9)),
        "wake_ups": counters.wake_ups,
        "link_resets": counters.link_resets,
    })
}

/// Busy time over virtual time and number of resources: 1 is always busy.
fn utilization(counters: &Counters, time: Nanos, context: &Context) -> Value {
    let share = |busy_ns: u64, resources: u32| {
        let available = time.0 as f64 * f64::from(resources);
        if available > 0.0 { busy_ns as f64 / available } else { 0.0 }
    };
    json!({
        "die_host_read": share(counters.die_host_read_ns, context.dies),
        "die_host_write": share(counters.die_host_write_ns, context.dies),
        "die_move": share(counters.die_move_ns, context.dies),
        "die_erase": share(counters.die_erase_ns, context.dies),
        "channel_host": share(counters.channel_host_ns, context.channels),
        "channel_move": share(counters.channel_move_ns, context.channels),
        "link": share(counters.link_ns, context.drives),
        "controller": share(counters.controller_ns, context.drives),
    })
}
