//! The machine, for fio's keywords `$pagesize`, `$mb_memory` and `$ncpus`: what Linux says of itself.

use ssdlab_lab::workload::parse::Machine;
use std::fs::File;
use std::io::{BufRead, BufReader};

/// `None` where the kernel does not say.
pub fn machine() -> Option<Machine> {
    let processors = std::thread::available_parallelism().ok()?.get() as u64;
    let page_bytes = field("/proc/self/smaps", "KernelPageSize:")? * 1024;
    let memory_mb = field("/proc/meminfo", "MemTotal:")? / 1024;
    Some(Machine { page_bytes, memory_mb, processors })
}

/// A figure of a file of lines `Name: 123 kB`. Of smaps the kernel computes what is read, mapping by mapping: no more
/// than up to the figure is asked for.
fn field(file: &str, name: &str) -> Option<u64> {
    let lines = BufReader::new(File::open(file).ok()?).lines();
    let line = lines.map_while(Result::ok).find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
