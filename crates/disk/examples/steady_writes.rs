//! 4 KiB writes to a drive that holds its bytes in RAM, in steady state: what `scripts/bench.sh` has callgrind count
//! instructions of. Prints how many writes, and their write amplification.

use ssdlab_device::block::{Operation, Request};
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::units::{Lba, Nanos};
use ssdlab_disk::disk::sizes;
use ssdlab_disk::medium::Ram;
use ssdlab_disk::{Disk, Done};
use std::error::Error;

const UNITS: u32 = 1 << 14;
const DEPTH: usize = 32;
const COUNTED: u32 = 1 << 16;

fn main() -> Result<(), Box<dyn Error>> {
    let settings = [("capacity_bytes", "64 MiB"), ("nand.pages_per_block", "64"), ("buffer.bytes", "1 MiB")];
    let settings = settings.map(|(key, value)| (key.to_string(), value.to_string()));
    let profile = Profile::read("theory", "theory", built_in("theory").expect("built in"), &settings)?;
    let config = profile.ssd()?;
    let mut disk = Disk::new(config, 1, Ram::new(sizes(config).capacity_bytes)).map_err(|problem| problem.message)?;
    let mut draws = Stream::new(1, Purpose::Errors);
    write(&mut disk, &mut draws, 4 * UNITS);
    let before = disk.counters();
    counted_writes(&mut disk, &mut draws);
    let counters = disk.counters() - before;
    println!("{COUNTED} {:.3}", counters.write_amplification().unwrap_or(f64::NAN));
    Ok(())
}

/// Not inlined, so that callgrind finds it by its name.
#[inline(never)]
fn counted_writes(disk: &mut Disk<Ram>, draws: &mut Stream) {
    write(disk, draws, COUNTED);
}

fn write(disk: &mut Disk<Ram>, draws: &mut Stream, writes: u32) {
    let mut free: Vec<Vec<u8>> = vec![vec![7; 4096]; DEPTH];
    let mut done: Vec<Done> = Vec::new();
    for _ in 0..writes {
        while free.is_empty() {
            disk.advance(Nanos::NEVER, &mut done);
            free.extend(done.drain(..).map(|done| done.bytes));
        }
        let request = Request::new(Operation::Write, Lba(u64::from(draws.below(UNITS)) * 8), 8);
        disk.submit(disk.now(), request, free.pop().expect("one is free")).expect("the queue has room");
    }
    while disk.outstanding() > 0 {
        disk.advance(Nanos::NEVER, &mut done);
    }
}
