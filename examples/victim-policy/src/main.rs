//! A victim policy of one's own, compared with those of ssdlab.
//!
//! `cargo run --release -p victim-policy`: the theory drive, small, over-provisioning 28 %. It is filled once in
//! order, overwritten at random until write amplification is steady, and then measured; once with
//! uniform writes and once with 90 % of them to a tenth of the drive. The policy is in
//! `windowed_greedy.rs`; writing one takes nothing else.

mod windowed_greedy;

use ssdlab_device::config::ftl::GcPolicy;
use ssdlab_device::counters::Counters;
use ssdlab_device::ftl::victim::VictimPolicy;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::Lpn;
use std::error::Error;
use windowed_greedy::WindowedGreedy;

const SEED: u64 = 1;
/// Overwrites of the whole drive before measuring: past the overshoot that follows a sequential fill.
const WARMUP_FILLS: u32 = 6;
const MEASURED_FILLS: u32 = 4;
/// Of the blocks of a die, the share that windowed greedy looks at.
const WINDOW: f64 = 0.5;
/// Over so many writes write amplification scatters by less than this.
const TOLERANCE: f64 = 0.01;

/// How the host's writes fall on the drive.
#[derive(Clone, Copy, PartialEq)]
enum Workload {
    /// Every unit alike.
    Uniform,
    /// 90 % of the writes go to the first tenth.
    Skewed,
}

impl Workload {
    fn next(self, units: u32, draws: &mut Stream) -> Lpn {
        let hot = units / 10;
        Lpn(match self {
            Workload::Uniform => draws.below(units),
            Workload::Skewed if draws.below(10) < 9 => draws.below(hot),
            Workload::Skewed => hot + draws.below(units - hot),
        })
    }
}

/// A name and how to make the policy, anew for every run.
type Contender = (&'static str, fn() -> Box<dyn VictimPolicy>);

const CONTENDERS: [Contender; 4] = [
    ("greedy", || GcPolicy::Greedy.built_in().expect("comes along")),
    ("windowed greedy", || Box::new(WindowedGreedy::new(WINDOW))),
    ("FIFO", || GcPolicy::Fifo.built_in().expect("comes along")),
    ("cost-benefit", || GcPolicy::CostBenefit.built_in().expect("comes along")),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("write amplification   one frontier            host and collection apart");
    println!("                      uniform      90/10      uniform      90/10");
    let mut uniform = Vec::new();
    for (name, policy) in CONTENDERS {
        let mut row = format!("{name:<17}");
        for frontiers in ["single", "host-gc"] {
            for workload in [Workload::Uniform, Workload::Skewed] {
                let amplification = measure(policy(), frontiers, workload)?;
                row += &format!("{amplification:12.3}");
                if frontiers == "single" && workload == Workload::Uniform {
                    uniform.push(amplification);
                }
            }
        }
        println!("{row}");
    }
    let [greedy, windowed, fifo, _] = uniform[..] else { return Err("a contender is missing".into()) };
    if greedy > windowed * (1.0 + TOLERANCE) || windowed > fifo * (1.0 + TOLERANCE) {
        return Err("under uniform writes a window lies between greedy and FIFO".into());
    }
    Ok(())
}

/// Write amplification of a policy once it is steady, with the drive's invariants checked.
fn measure(policy: Box<dyn VictimPolicy>, frontiers: &str, workload: Workload) -> Result<f64, Box<dyn Error>> {
    let mut drive = theory_drive(policy, frontiers)?;
    let units = drive.ftl.exported;
    let mut draws = Stream::new(SEED, Purpose::Errors);
    (0..units).for_each(|unit| _ = drive.write_now(Lpn(unit), 0));
    let mut write = |drive: &mut Ssd, fills: u32| {
        (0..fills * units).for_each(|_| _ = drive.write_now(workload.next(units, &mut draws), 0));
        drive.flush_now();
    };
    write(&mut drive, WARMUP_FILLS);
    let before = drive.ftl.counters;
    write(&mut drive, MEASURED_FILLS);
    let counted = drive.ftl.counters - before;
    check(&drive, counted)?;
    counted.unit_write_amplification().ok_or_else(|| "nothing was written".into())
}

/// The theory drive with few dies, so that each has many blocks to choose from.
fn theory_drive(policy: Box<dyn VictimPolicy>, frontiers: &str) -> Result<Ssd, Box<dyn Error>> {
    let settings = [
        ("capacity_bytes", "1 GiB"),
        ("over_provisioning", "0.28"),
        ("nand.channels", "2"),
        ("nand.dies_per_channel", "1"),
        ("ftl.frontiers", frontiers),
    ];
    let settings = settings.map(|(key, value)| (key.to_string(), value.to_string()));
    let text = built_in("theory").ok_or("the theory profile is missing")?;
    let profile = Profile::read("theory", "theory", text, &settings)?;
    Ssd::with_policy(profile.ssd()?, SEED, (), policy).map_err(|problem| format!("{problem:?}").into())
}

/// Nothing is lost, nothing is counted twice, and every write in flash has a reason.
fn check(drive: &Ssd, counted: Counters) -> Result<(), String> {
    drive.ftl.check();
    if drive.ftl.is_read_only() || drive.ftl.mapped_units() != drive.ftl.exported as usize {
        return Err("the drive lost data or its spare".into());
    }
    let (written, moved) = (counted.host_pages_written, counted.gc_pages_moved);
    let padding = counted.padding_pages_written;
    if counted.nand_pages_written != written + moved + padding {
        let programmed = counted.nand_pages_written;
        return Err(format!("{programmed} programs, but {written} host writes, {moved} moves, {padding} fillers"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_window_lies_between_greedy_and_fifo() {
        super::main().expect("the drive is sound, and the order holds");
    }
}
