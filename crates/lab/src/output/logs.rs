//! fio's log files, as fio 3.33 writes them: `PREFIX_bw.NUMBER.log` and its relatives.
//!
//! A line is `time (ms), value, direction, bytes, offset if asked for, priority`; directions are 0
//! for reads, 1 for writes, 2 for trims, and the priority is 0. Values are KiB a second, IOPS, or
//! nanoseconds. Where each request is logged, its bandwidth is its bytes over its latency and its
//! IOPS are 1. With windows the bytes and the offset are 0, bandwidth and IOPS have whole windows only,
//! and a latency is the mean or the longest of its window. Numbers count the clones of all jobs from
//! 1; with `per_job_logs=0` those with the same prefix share a file, one behind the other. Submission
//! costs nothing here, so `slat` is 0 and `clat` equals `lat`.

use crate::run::{CloneRecord, LoggedRequest, LoggedWindow, Record, RequestLog};
use crate::workload::job::Logs;
use std::fmt::Write;

/// What a log is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bandwidth,
    Iops,
    Latency,
    Submission,
}

/// Names and texts of the log files that the jobs of a run asked for.
pub fn logs(record: &Record) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for (index, clone) in record.clones.iter().enumerate() {
        let Some(log) = &clone.log else { continue };
        let logs = &record.jobs[clone.job].logs;
        for (name, kind) in files_of(clone, index + 1, record) {
            let text = text_of(log, kind, logs);
            match files.iter_mut().find(|(known, _)| *known == name) {
                Some((_, shared)) => shared.push_str(&text),
                None => files.push((name, text)),
            }
        }
    }
    files
}

/// The files of a clone, and what they are of.
fn files_of(clone: &CloneRecord, number: usize, record: &Record) -> Vec<(String, Kind)> {
    let job = &record.jobs[clone.job];
    let logs = &job.logs;
    let wanted = [
        (&logs.bandwidth, "bw", Kind::Bandwidth),
        (&logs.latency, "slat", Kind::Submission),
        (&logs.latency, "clat", Kind::Latency),
        (&logs.latency, "lat", Kind::Latency),
        (&logs.iops, "iops", Kind::Iops),
    ];
    let number = if logs.per_job { format!(".{number}") } else { String::new() };
    let file = |(prefix, suffix, kind): (&Option<String>, &str, Kind)| {
        let prefix = prefix.as_ref()?;
        let prefix = if prefix.is_empty() { &job.name } else { prefix };
        Some((format!("{prefix}_{suffix}{number}.log"), kind))
    };
    wanted.into_iter().filter_map(file).collect()
}

fn text_of(log: &RequestLog, kind: Kind, logs: &Logs) -> String {
    let mut text = String::new();
    let offset = |bytes: u64| if logs.offset { format!(" {bytes},") } else { String::new() };
    let mut line = |ms: u64, value: u64, direction: usize, bytes: u64, offset: &str| {
        writeln!(text, "{ms}, {value}, {direction}, {bytes},{offset} 0").expect("writing to a string does not fail");
    };
    for request in &log.requests {
        let value = of_request(request, kind);
        line(ms(request.at.0), value, request.direction as usize, request.bytes, &offset(request.offset));
    }
    for window in &log.windows {
        if let Some(value) = of_window(window, kind, log, logs) {
            line(ms(window.at.0), value, window.direction as usize, 0, &offset(0));
        }
    }
    text
}

fn of_request(request: &LoggedRequest, kind: Kind) -> u64 {
    match kind {
        Kind::Bandwidth => (request.bytes as f64 / 1024.0 / request.latency.as_s().max(1e-9)) as u64,
        Kind::Iops => 1,
        Kind::Latency => request.latency.0,
        Kind::Submission => 0,
    }
}

/// `None` where only a whole window has a value.
fn of_window(window: &LoggedWindow, kind: Kind, log: &RequestLog, logs: &Logs) -> Option<u64> {
    let is_whole = window.length == log.window;
    let per_s = |amount: f64| is_whole.then(|| (amount / window.length.as_s()) as u64);
    match kind {
        Kind::Bandwidth => per_s(window.bytes as f64 / 1024.0),
        Kind::Iops => per_s(window.requests as f64),
        Kind::Latency if logs.maximum => Some(window.latency_max_ns),
        Kind::Latency => Some(window.latency_sum_ns / window.requests),
        Kind::Submission => Some(0),
    }
}

fn ms(time_ns: u64) -> u64 {
    time_ns / 1_000_000
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::null::NullDevice;
    use crate::run::{RunOptions, Silent, run};
    use crate::workload::parse::parse_job_file;
    use ssdlab_device::units::Nanos;

    /// The logs of a job file on a device of 10 ms a request.
    fn written(text: &str) -> Vec<(String, String)> {
        written_at(text, Nanos(10_000_000))
    }

    /// The logs of a job file on a device of constant latency.
    fn written_at(text: &str, latency: Nanos) -> Vec<(String, String)> {
        let jobs = parse_job_file(text, "jobs").unwrap().jobs;
        let mut device = NullDevice::new(1 << 20, latency, 4);
        logs(&run(&mut device, &jobs, &RunOptions { start: Nanos(5), seed: 1 }, &mut Silent).unwrap())
    }

    /// Each request has a line of fio 3.33's, with the offset where it is wanted; flushes have none.
    #[test]
    fn each_request_is_logged() {
        let text =
            "[a]\nrw=write\nbs=8k\nsize=16k\nfsync=1\nwrite_lat_log\nwrite_bw_log=x\nwrite_iops_log=x\nlog_offset=1\n";
        let wanted = [
            ("x_bw.1.log", "10, 800, 1, 8192, 0, 0\n30, 800, 1, 8192, 8192, 0\n"),
            ("a_slat.1.log", "10, 0, 1, 8192, 0, 0\n30, 0, 1, 8192, 8192, 0\n"),
            ("a_clat.1.log", "10, 10000000, 1, 8192, 0, 0\n30, 10000000, 1, 8192, 8192, 0\n"),
            ("a_lat.1.log", "10, 10000000, 1, 8192, 0, 0\n30, 10000000, 1, 8192, 8192, 0\n"),
            ("x_iops.1.log", "10, 1, 1, 8192, 0, 0\n30, 1, 1, 8192, 8192, 0\n"),
        ];
        assert_eq!(written(text), wanted.map(|(name, text)| (name.to_string(), text.to_string())));
    }

    /// Windows: rates of whole ones alone, latencies of the last one too; a clone's own to its own end.
    #[test]
    fn windows_are_averaged() {
        let text = "[global]\nwrite_bw_log=x\nwrite_iops_log=x\nwrite_lat_log=x\nlog_avg_msec=100\nrw=read\nbs=4k\n\
                    [a]\nnumber_ios=25\n[b]\niodepth=2\nrw=randwrite\nnumber_ios=60\n";
        let files = written(text);
        let text = |wanted: &str| &files.iter().find(|(name, _)| name == wanted).unwrap().1;
        assert_eq!(text("x_bw.1.log"), "100, 400, 0, 0, 0\n200, 400, 0, 0, 0\n");
        assert_eq!(text("x_iops.2.log"), "100, 200, 1, 0, 0\n200, 200, 1, 0, 0\n300, 200, 1, 0, 0\n");
        let latencies = "100, 10000000, 0, 0, 0\n200, 10000000, 0, 0, 0\n250, 10000000, 0, 0, 0\n";
        assert_eq!(text("x_lat.1.log"), latencies);
        assert_eq!(files.len(), 10);
    }

    /// What completes less than a millisecond behind the last whole window has no line of its own.
    #[test]
    fn a_tail_that_times_cannot_tell_apart_is_left_out() {
        let text = "[a]\nrw=read\nwrite_lat_log=x\nlog_avg_msec=50\ntime_based\nruntime=95ms\n";
        let latencies = |ns: u64| written_at(text, Nanos(ns)).pop().unwrap().1;
        // The tenth request ends after 100.5 or 102 ms.
        assert_eq!(latencies(10_050_000), "50, 10050000, 0, 0, 0\n100, 10050000, 0, 0, 0\n");
        let three = "50, 10200000, 0, 0, 0\n100, 10200000, 0, 0, 0\n102, 10200000, 0, 0, 0\n";
        assert_eq!(latencies(10_200_000), three);
    }

    /// `per_job_logs=0` joins clones; `log_max_value` gives the longest latency; times begin after the ramp.
    #[test]
    fn logs_can_be_shared_and_hold_the_longest() {
        let text = "[a]\nrw=read\nnumjobs=2\niodepth=3\nper_job_logs=0\nwrite_lat_log=x\nlog_avg_msec=100\n\
                    log_max_value=1\nramp_time=50ms\nruntime=100ms\ntime_based\n";
        let files = written(text);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["x_slat.log", "x_clat.log", "x_lat.log"]);
        // Six requests share four places, so some wait for a turn; the last complete after the end.
        let clone = "100, 20000000, 0, 0, 0\n110, 20000000, 0, 0, 0\n";
        assert_eq!(files[2].1, clone.repeat(2));
    }
}
