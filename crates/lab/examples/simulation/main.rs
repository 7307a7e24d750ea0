//! What a worn drive does to a service, in a simulation with its own clock and executor.
//!
//! `cargo run --release -p ssdlab-lab --example simulation`: eight clients write a record of 4 KiB each to a place that they draw, flush it, and
//! think for 1 ms on average. The drive is once fresh out of the box and once in steady state; what differs is how long
//! a commit takes. The executor is in `executor.rs`, and the drive is a part of it by two calls: `next_event` and `advance`.

mod executor;

use executor::{Executor, Handle};
use ssdlab_device::profile::built_in;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_disk::medium::Ram;
use ssdlab_disk::{Disk, Lba, Nanos, Operation, Request};
use ssdlab_lab::condition::Condition;
use ssdlab_lab::run::Silent;
use ssdlab_lab::session::{DriveSource, Session};
use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;

const DRIVE: &str = "intel-dc-s3500-80gb";
const SEED: u64 = 1;
const CLIENTS: u64 = 8;
const COMMITS: usize = 2_000;
const THINK_NS: f64 = 1e6;
const RECORD_BYTES: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    println!("commit        median      99 %     worst   write amplification");
    for condition in [Condition::Fresh, Condition::SteadyUniform] {
        println!("{}", row(condition)?);
    }
    Ok(())
}

/// A drive of 1 GB in a condition.
fn drive(condition: Condition) -> Result<Disk<Ram>, Box<dyn Error>> {
    let text = built_in(DRIVE).ok_or("the profile comes along")?.to_string();
    let source = DriveSource::Profile { name: DRIVE.into(), file: DRIVE.into(), text, scale: None };
    let mut session = Session::open(&source, &[("capacity_bytes".into(), "1GB".into())], SEED)?;
    session.bring_to(condition, &[], 1.0, SEED, &mut Silent)?;
    Ok(session.with_bytes(|sizes| Ram::new(sizes.capacity_bytes))?.disk)
}

/// How the service fares on a drive in a condition.
fn row(condition: Condition) -> Result<String, Box<dyn Error>> {
    let mut disk = drive(condition)?;
    let before = disk.counters();
    let (mut commits, mut disk) = serve(disk);
    commits.sort_unstable();
    let [median, most, worst] = [0.5, 0.99, 1.0].map(|share| {
        let place = (share * commits.len() as f64).ceil() as usize - 1;
        format!("{:.2} ms", commits[place].0 as f64 / 1e6)
    });
    let wear = (disk.counters() - before).write_amplification().ok_or("something was written")?;
    Ok(format!(
        "{:<11}{median:>9}{most:>10}{worst:>10}{wear:>10.2}",
        condition.to_string().trim_end_matches(":uniform")
    ))
}

/// Runs the clients; how long each commit took, and the drive.
fn serve(disk: Disk<Ram>) -> (Vec<Nanos>, Disk<Ram>) {
    let took = Rc::new(RefCell::new(Vec::new()));
    let places = disk.limits().capacity_bytes() / RECORD_BYTES as u64;
    let mut executor = Executor::new(disk);
    for number in 0..CLIENTS {
        let (took, draws) = (took.clone(), Stream::new(SEED + number, Purpose::Link));
        executor.spawn(|world| client(world, draws, places, took));
    }
    let disk = executor.run();
    (took.take(), disk)
}

async fn client(world: Handle, mut draws: Stream, places: u64, took: Rc<RefCell<Vec<Nanos>>>) {
    for _ in 0..COMMITS {
        world.sleep(Nanos((draws.exponential() * THINK_NS) as u64)).await;
        let began = world.now();
        commit(&world, u64::from(draws.below(places as u32))).await;
        took.borrow_mut().push(world.now() - began);
    }
}

/// Writes a record and has it outlive a loss of power.
async fn commit(world: &Handle, place: u64) {
    let sectors = (RECORD_BYTES / 512) as u32;
    let write = Request::new(Operation::Write, Lba(place * u64::from(sectors)), sectors);
    world.perform(write, vec![1; RECORD_BYTES]).await.outcome.expect("the drive is sound");
    let flush = Request::new(Operation::Flush, Lba(0), 0);
    world.perform(flush, Vec::new()).await.outcome.expect("the drive is sound");
}

#[cfg(test)]
mod test {
    use super::*;

    /// How long a commit takes on a drive that nobody else asks.
    fn alone(disk: &Disk<Ram>) -> Nanos {
        let mut disk = disk.copy().expect("its policy is built in");
        let (began, write) = (disk.now(), Request::new(Operation::Write, Lba(0), 8));
        disk.perform(write, vec![1; RECORD_BYTES]).expect("the drive is sound");
        disk.perform(Request::new(Operation::Flush, Lba(0), 0), Vec::new()).expect("the drive is sound");
        disk.now() - began
    }

    /// How long a commit takes in a world in which another task sleeps `every` so long, so many times.
    fn beside(disk: Disk<Ram>, every: Nanos, times: u32) -> Nanos {
        let took = Rc::new(RefCell::new(Nanos::ZERO));
        let mut executor = Executor::new(disk);
        let told = took.clone();
        executor.spawn(|world| async move {
            let began = world.now();
            commit(&world, 0).await;
            *told.borrow_mut() = world.now() - began;
        });
        executor.spawn(|world| async move {
            for _ in 0..times {
                world.sleep(every).await;
            }
        });
        executor.run();
        took.take()
    }

    /// A command ends when the drive says, not when the next timer rings: without timers, with some that ring later, and
    /// with many that ring before.
    #[test]
    fn a_command_ends_when_the_drive_says() {
        let disk = drive(Condition::Fresh).unwrap();
        let took = alone(&disk);
        assert!(took > Nanos(20_000), "it takes time: {took:?}");
        for (every, times) in [(Nanos::ZERO, 0), (Nanos(7_000_000), 3), (Nanos(11_000), 1_000)] {
            assert_eq!(beside(disk.copy().unwrap(), every, times), took, "beside {times} timers of {every:?}");
        }
    }

    /// The queue is shorter than what is asked of it, and each is answered.
    #[test]
    fn a_full_queue_is_waited_for() {
        let disk = drive(Condition::Fresh).unwrap();
        let asked = 3 * disk.limits().queue_depth;
        let mut executor = Executor::new(disk);
        for place in 0..u64::from(asked) {
            executor.spawn(move |world| async move { commit(&world, place).await });
        }
        assert_eq!(executor.run().counters().host_writes, u64::from(asked));
    }

    /// One seed is one history, and the guide shows it.
    #[test]
    fn the_guide_shows_what_it_prints() {
        let guide = include_str!("../../../../docs/howto/disk.md");
        for condition in [Condition::Fresh, Condition::SteadyUniform] {
            let row = row(condition).unwrap();
            assert!(guide.contains(&row), "docs/howto/disk.md lacks: {row}");
        }
    }
}
