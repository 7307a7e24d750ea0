//! No job file and no command line makes the reader panic, whatever trace it names.
//!
//! What stands before a line `--` is the command line, a flag a line; the rest is the job file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_lab::workload::parse::parse;

const TRACE: &str = "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x read 0 4096\n/dev/x close\n";

fuzz_target!(|text: &str| {
    let (flags, file) = text.split_once("\n--\n").unwrap_or(("", text));
    let flags: Vec<String> = flags.lines().map(String::from).collect();
    let _ = parse(Some((file, "job.fio")), &flags, &mut |_| Ok(TRACE.to_string()));
    let _ = parse(None, &flags, &mut |path| Err(format!("{path} is not there")));
});
