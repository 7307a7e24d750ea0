//! Whether a drive's condition is what it says: a run begins as it goes on.
//!
//! `cargo run --release -p ssdlab-lab --example conditions -- DRIVE[,KEY=VALUE]… …` brings each drive into
//! `used` and `steady`, writes its capacity once with uniform random 4 KiB (or a larger mapping unit) in
//! virtual time with the queue full, and prints a row of a table: write amplification and IOPS of the
//! first 1 %, of the first 10 % and of the whole run, and the span of the slices of 1 % behind the first.

use ssdlab_device::block::{Completion, Device, Operation, Request, Tag};
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{Lba, Nanos};
use ssdlab_lab::condition::{Condition, season};
use ssdlab_lab::run::Silent;
use std::error::Error;

const SLICES: u64 = 100;
/// Commands outstanding, where the drive's queue is longer.
const DEPTH: u32 = 256;
const WRITE_BYTES: u32 = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    println!("| drive | condition | WA 1 % | 10 % | run | slices | IOPS 1 % | 10 % | run | slices |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for argument in std::env::args().skip(1) {
        for condition in [Condition::Fresh, Condition::Used, Condition::SteadyByJob] {
            let slices = Run::of(&argument, condition)?.slices();
            println!("{}", row(&argument, condition, &slices));
        }
    }
    Ok(())
}

/// What a slice of the run cost.
#[derive(Clone, Copy, Debug, Default)]
struct Slice {
    host_pages: u64,
    nand_pages: u64,
    time: Nanos,
}

impl Slice {
    fn of(slices: &[Slice]) -> Slice {
        slices.iter().fold(Slice::default(), |sum, slice| Slice {
            host_pages: sum.host_pages + slice.host_pages,
            nand_pages: sum.nand_pages + slice.nand_pages,
            time: sum.time + slice.time,
        })
    }

    fn write_amplification(&self) -> f64 {
        self.nand_pages as f64 / self.host_pages as f64
    }

    fn iops(&self) -> f64 {
        self.host_pages as f64 / (self.time.0 as f64 / 1e9)
    }
}

/// A closed loop of random writes on a drive.
struct Run {
    ssd: Ssd,
    addresses: Stream,
    now: Nanos,
}

impl Run {
    fn of(argument: &str, condition: Condition) -> Result<Run, Box<dyn Error>> {
        let mut parts = argument.split(',');
        let name = parts.next().unwrap_or_default();
        let settings: Vec<_> =
            parts.filter_map(|part| part.split_once('=')).map(|(key, value)| (key.into(), value.into())).collect();
        let text = built_in(name).ok_or_else(|| format!("there is no drive {name}"))?;
        let profile = Profile::read(name, name, text, &settings)?;
        let mut ssd = Ssd::new(profile.ssd()?, 1, ()).map_err(|problem| problem.message)?;
        season(&mut ssd, Condition::Fresh, condition, &[], 1.0, 1, &mut Silent)?;
        Ok(Run { ssd, addresses: Stream::new(99, Purpose::Victim), now: Nanos::ZERO })
    }

    /// Writes the capacity once.
    fn slices(mut self) -> Vec<Slice> {
        let depth = DEPTH.min(self.ssd.limits().queue_depth);
        let writes = self.ssd.limits().capacity_bytes() / u64::from(self.write_bytes());
        (0..depth).for_each(|tag| self.submit(Tag(tag)));
        let mut done: Vec<Completion> = Vec::new();
        let (mut completed, mut slices) = (0, Vec::new());
        let mut before = (self.now, 0, self.ssd.counters().nand_pages_written);
        for slice in 1..=SLICES {
            while completed < writes * slice / SLICES {
                self.now = self.ssd.advance(Nanos::NEVER, &mut done);
                completed += done.len() as u64;
                for completion in std::mem::take(&mut done) {
                    self.submit(completion.tag);
                }
            }
            let after = (self.now, completed, self.ssd.counters().nand_pages_written);
            slices.push(Slice {
                host_pages: after.1 - before.1,
                nand_pages: after.2 - before.2,
                time: after.0 - before.0,
            });
            before = after;
        }
        slices
    }

    fn write_bytes(&self) -> u32 {
        WRITE_BYTES.max(self.ssd.unit_bytes())
    }

    fn submit(&mut self, tag: Tag) {
        let sectors = self.write_bytes() / self.ssd.limits().sector_bytes;
        let places = (self.ssd.limits().sectors / u64::from(sectors)) as u32;
        let lba = Lba(u64::from(self.addresses.below(places)) * u64::from(sectors));
        self.ssd.submit(self.now, tag, Request::new(Operation::Write, lba, sectors)).expect("the queue has room");
    }
}

fn row(drive: &str, condition: Condition, slices: &[Slice]) -> String {
    let [one, ten, run] = [&slices[..1], &slices[..10], slices].map(Slice::of);
    let span = |of: &dyn Fn(&Slice) -> f64| {
        let values = || slices[1..].iter().map(of);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let (least, most) = span(&Slice::write_amplification);
    let (slowest, fastest) = span(&Slice::iops);
    format!(
        "| {drive} | {condition} | {:.3} | {:.3} | {:.3} | {least:.3} … {most:.3} | {:.0} | {:.0} | {:.0} | {slowest:.0} … {fastest:.0} |",
        one.write_amplification(),
        ten.write_amplification(),
        run.write_amplification(),
        one.iops(),
        ten.iops(),
        run.iops(),
    )
}
