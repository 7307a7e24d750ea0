//! No job file and no command line makes the reader panic, whatever trace it names.
//!
//! What stands before a line `--` is the command line, a flag a line; the rest is the job file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_lab::workload::parse::{Machine, Surroundings, parse};
use ssdlab_lab::workload::trace::Open;
use std::sync::Arc;

const TRACE: &str = "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x read 0 4096\n/dev/x close\n";

fn trace_file() -> Open {
    Arc::new(|| Ok(Box::new(TRACE.as_bytes())))
}

fuzz_target!(|text: &str| {
    let (flags, file) = text.split_once("\n--\n").unwrap_or(("", text));
    let flags: Vec<String> = flags.lines().map(String::from).collect();
    let machine = Some(Machine { page_bytes: 4096, memory_mb: 16_000, processors: 8 });
    let variable = |name: &str| (name.len() < 4).then(|| String::from("4k"));
    let mut included = |_: &str| Ok(file.to_string());
    let around =
        Surroundings { read_file: &mut included, find_trace: &|_| Ok(trace_file()), variable: &variable, machine };
    let _ = parse(Some((file, "job.fio")), &flags, around);
    let _ = parse(None, &flags, Surroundings::files(&mut |path| Err(format!("{path} is not there"))));
});
