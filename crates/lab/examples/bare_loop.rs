//! The rate of the bare mapping loop on this machine, in host writes per second of processor time.
//!
//! `cargo run --release -p ssdlab-lab --example bare_loop [OP…]`: 64 GiB exported, units of 8 KiB,
//! 256 pages a block, uniform random writes; over-provisioning 0.28 and 0.07 if none is named.

use cpu_time::ProcessTime;
use ssdlab_lab::bare_loop::{BareLoop, Moves};
use ssdlab_lab::theory::{Point, Policy, write_amplification};
use std::error::Error;

const UNITS: u32 = 8 << 20;
const PAGES_PER_BLOCK: u32 = 256;
/// Far past the overshoot that follows a sequential fill.
const WARMUP_FILLS: u64 = 6;
const MEASURED_WRITES: u64 = 32 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut spares: Vec<f64> = Vec::new();
    for argument in std::env::args().skip(1) {
        let spare = argument
            .parse()
            .map_err(|_| format!("over-provisioning {argument:?} is not a number; write a fraction such as 0.28"))?;
        spares.push(spare);
    }
    if spares.is_empty() {
        spares = vec![0.28, 0.07];
    }
    println!("   OP  million writes/CPU s  write amplification  theory");
    spares.into_iter().try_for_each(measure)
}

fn measure(over_provisioning: f64) -> Result<(), Box<dyn Error>> {
    let expected = write_amplification(&Point {
        over_provisioning,
        pages_per_block: PAGES_PER_BLOCK,
        policy: Policy::Greedy,
        hot: None,
        trim_share: None,
        unwritten_share: None,
    })?;
    let mut drive = BareLoop::filled(UNITS, PAGES_PER_BLOCK, over_provisioning, 1, Moves::WholeBlock)?;
    drive.write_randomly(WARMUP_FILLS * u64::from(UNITS));
    let start = ProcessTime::now();
    let outcome = drive.write_randomly(MEASURED_WRITES);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:5.1} %  {:18.2}  {:19.4}  {:6.4}",
        over_provisioning * 100.0,
        outcome.writes as f64 / seconds / 1e6,
        outcome.write_amplification(),
        expected.write_amplification,
    );
    Ok(())
}
