//! Conditions of a drive, and how it is brought into them.
//!
//! | condition | how |
//! |---|---|
//! | fresh | out of the box |
//! | filled | fresh, then 128 KiB sequential writes over the exported range once |
//! | used | filled, then random 4 KiB (or mapping-unit) overwrites that amount to the capacity once |
//! | steady:uniform | used, then uniform random writes of 4 KiB (or the mapping unit) over all that is used, whatever the job, in rounds of a quarter of the capacity: at least three capacities after the first garbage collection, until the mean write amplification of five rounds differs from that of the five before by less than 0.5 %, at most 50 rounds |
//! | steady:job | the same by the job's own writes, and where they go by fio's random map in whole passes |
//!
//! Seasoning has no clock: the FTL decides at its own speed, and the drive ends idle with everything
//! programmed. What only time brings (idle-time collection, the write buffer's coalescing) does not
//! happen in it. With a span below 1 the host uses only that first part of the exported range, so
//! that the rest stays unwritten and serves as spare area.

pub mod scale_model;
mod seasoner;
pub mod writes;

use crate::host::stack::Stack;
use crate::run::Observer;
use crate::workload::generate::JobError;
use crate::workload::job::Job;
use scale_model::Scaled;
use seasoner::{FILL_BYTES, Seasoner, WINDOW, first_writing_group, windows, write_in_order};
use serde::{Deserialize, Serialize};
use ssdlab_device::block::{Device, Operation, Request};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{Lba, Lpn};
use std::fmt;

/// What has been done to a drive.
///
/// A drive file holds its place in this list, so a new one comes last: the fourth was all that steady meant once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    /// Out of the box.
    #[default]
    Fresh,
    /// Written once, in order.
    Filled,
    /// Filled, and overwritten at random once.
    Used,
    /// Used, then written by a job's own writes until write amplification no longer changes.
    #[serde(rename = "steady:job")]
    SteadyByJob,
    /// Used, then written by uniform random writes of a unit until write amplification no longer changes.
    #[serde(rename = "steady:uniform", alias = "steady")]
    SteadyUniform,
}

impl Condition {
    /// All conditions.
    pub const ALL: [Condition; 5] =
        [Condition::Fresh, Condition::Filled, Condition::Used, Condition::SteadyUniform, Condition::SteadyByJob];

    /// The condition of that name; `steady` alone is that of uniform writes.
    pub fn named(name: &str) -> Option<Condition> {
        let name = if name == "steady" { "steady:uniform" } else { name };
        Condition::ALL.into_iter().find(|condition| condition.to_string() == name)
    }

    /// How far on its way a drive is; both steady ones are its end.
    pub fn stage(self) -> u8 {
        match self {
            Condition::Fresh => 0,
            Condition::Filled => 1,
            Condition::Used => 2,
            Condition::SteadyByJob | Condition::SteadyUniform => 3,
        }
    }

    /// Write amplification stands still.
    pub fn is_steady(self) -> bool {
        self.stage() == Condition::SteadyUniform.stage()
    }

    /// The conditions that a drive goes through from this one to another. Steady under other writes is a step;
    /// a job's may be another's, so it is one each time.
    pub fn steps_to(self, to: Condition) -> Vec<Condition> {
        let again = to.is_steady() && self.is_steady() && (self != to || to == Condition::SteadyByJob);
        let between = |step: &Condition| step.stage() > self.stage() && step.stage() < to.stage();
        let before = [Condition::Fresh, Condition::Filled, Condition::Used].into_iter().filter(between);
        let last = (to.stage() > self.stage() || again).then_some(to);
        before.chain(last).collect()
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::Fresh => "fresh",
            Condition::Filled => "filled",
            Condition::Used => "used",
            Condition::SteadyByJob => "steady:job",
            Condition::SteadyUniform => "steady:uniform",
        })
    }
}

/// How seasoning went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Season {
    /// Write amplification of each round on the way to the steady condition.
    pub rounds: Vec<f64>,
    /// Whether the stop rule was met; `None` where steady was not asked for.
    pub steady_reached: Option<bool>,
    /// Stopped by the observer.
    pub interrupted: bool,
    /// The scale model, where the drive came into steady state by one. A drive file has it at its end.
    #[serde(skip)]
    pub scaled: Option<Scaled>,
    /// Why it came there the long way, although a scale model was allowed; kept in the same place.
    #[serde(skip)]
    pub refused: Option<String>,
    /// What it was written by, where the condition alone does not tell; kept in the same place.
    #[serde(skip)]
    pub writes: Option<String>,
}

impl Season {
    /// How far the drive is from the steady state that was asked for, where it was not reached.
    pub fn shortfall(&self) -> Option<String> {
        let rounds = &self.rounds;
        let told = match windows(rounds, (rounds.len() / 2).min(WINDOW as usize)) {
            Some((before, last)) if rounds.len() > 1 => {
                format!("write amplification went from {before:.3} to {last:.3} at the end of {} rounds", rounds.len())
            }
            _ => "preconditioning ended before its second round".into(),
        };
        (self.steady_reached == Some(false)).then_some(told)
    }
}

/// What seasoning asks of a device beyond the waist.
pub trait Seasoned: Device {
    /// Bytes of a mapping unit: what a random overwrite covers at least.
    fn unit_bytes(&self) -> u32;

    /// Mapping units that the host has written.
    fn written_units(&self) -> u64;

    /// Nothing can be written any more.
    fn is_read_only(&self) -> bool;

    /// The second half of a hint, when the first has had its effect.
    fn hint_old(&self, lba: Lba) {
        let _ = lba;
    }
}

impl Seasoned for Ssd {
    fn unit_bytes(&self) -> u32 {
        Ssd::unit_bytes(self)
    }

    #[inline]
    fn written_units(&self) -> u64 {
        self.ftl.counters.host_pages_written
    }

    #[inline]
    fn is_read_only(&self) -> bool {
        self.ftl.is_read_only()
    }

    #[inline]
    fn hint_old(&self, lba: Lba) {
        let sectors = u64::from(Ssd::unit_bytes(self) / self.limits().sector_bytes);
        self.hint_old_now(Lpn((lba.0 / sectors) as u32));
    }
}

impl Seasoned for Stack {
    fn unit_bytes(&self) -> u32 {
        Stack::unit_bytes(self)
    }

    fn written_units(&self) -> u64 {
        Stack::written_units(self)
    }

    fn is_read_only(&self) -> bool {
        Stack::is_read_only(self)
    }
}

/// Brings a device from one condition into a later one.
///
/// # Errors
/// Where the job does not fit the device.
pub fn season<D: Seasoned + ?Sized>(
    device: &mut D,
    from: Condition,
    to: Condition,
    jobs: &[Job],
    span: f64,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Season, Box<JobError>> {
    let mut seasoner = Seasoner::new(device, span, observer);
    for step in from.steps_to(to) {
        match step {
            Condition::Fresh => {}
            Condition::Filled => seasoner.fill(),
            Condition::Used => seasoner.overwrite(seed),
            Condition::SteadyByJob => seasoner.settle(jobs, seed)?,
            Condition::SteadyUniform => seasoner.settle(&[seasoner.uniform(compress_percent(jobs))], seed)?,
        }
        if seasoner.season.interrupted {
            break;
        }
    }
    seasoner.flush();
    Ok(seasoner.season)
}

/// How far what the jobs write can be compressed, in percent; of uniform writes it is all that they decide.
pub fn compress_percent(jobs: &[Job]) -> u8 {
    first_writing_group(jobs).first().map_or(0, |job| job.compress_percent)
}

/// Writes what a read job will read and has never been written, as fio lays out its file.
pub fn lay_out(ssd: &mut Ssd, regions: &[(usize, u64, u64)]) -> u64 {
    let unit = u64::from(ssd.unit_bytes());
    let mut written = 0;
    for &(_, offset, bytes) in regions {
        for lpn in offset / unit..(offset + bytes).div_ceil(unit).min(u64::from(ssd.ftl.exported)) {
            if ssd.ftl.place(Lpn(lpn as u32)) == ssdlab_device::ftl::mapping::Place::Unmapped {
                ssd.write_now(Lpn(lpn as u32), 0);
                ssd.count_command_now(unit);
                written += unit;
            }
        }
    }
    ssd.flush_now();
    written
}

/// As [`lay_out`], where nobody can tell what has been written: the whole regions, each part once.
pub fn lay_out_whole<D: Device + ?Sized>(device: &mut D, regions: &[(usize, u64, u64)]) -> u64 {
    let sector = u64::from(device.limits().sector_bytes);
    let mut extents: Vec<(u64, u64)> = regions
        .iter()
        .map(|&(_, offset, bytes)| (offset / sector, (offset + bytes).div_ceil(sector).min(device.limits().sectors)))
        .collect();
    extents.sort_unstable();
    let (mut next, mut written) = (0, 0);
    for (start, end) in extents {
        let start = start.max(next);
        write_in_order(device, start, end, FILL_BYTES, &mut |_| true);
        written += end.saturating_sub(start) * sector;
        next = next.max(end);
    }
    device.apply_now(Request::new(Operation::Flush, Lba(0), 0));
    written
}

#[cfg(test)]
mod test {
    use super::seasoner::is_steady;
    use super::*;
    use crate::run::Silent;
    use ssdlab_device::profile::{Profile, built_in};

    fn small(settings: &[(&str, &str)]) -> Ssd {
        let mut all = vec![
            ("capacity_bytes", "64 MiB"),
            ("nand.channels", "2"),
            ("nand.dies_per_channel", "2"),
            ("nand.pages_per_block", "32"),
        ];
        all.extend_from_slice(settings);
        let all: Vec<_> = all.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let profile = Profile::read("theory", "theory", built_in("theory").unwrap(), &all).unwrap();
        Ssd::new(profile.ssd().unwrap(), 1, ()).unwrap()
    }

    fn to(ssd: &mut Ssd, condition: Condition, span: f64) -> Season {
        season(ssd, Condition::Fresh, condition, &[], span, 1, &mut Silent).unwrap()
    }

    /// A filled drive was written exactly once, a used one exactly twice, and both are fully mapped.
    #[test]
    fn filled_and_used_write_the_capacity() {
        let mut ssd = small(&[]);
        to(&mut ssd, Condition::Filled, 1.0);
        assert_eq!(ssd.counters().host_pages_written, 16_384);
        assert_eq!(ssd.ftl.mapped_units(), 16_384);
        let mut ssd = small(&[]);
        to(&mut ssd, Condition::Used, 1.0);
        assert_eq!(ssd.counters().host_pages_written, 2 * 16_384);
    }

    /// Steady means the stop rule: more than three capacities of rounds after the first collection,
    /// and two windows that agree.
    #[test]
    fn steady_meets_its_rule() {
        let mut ssd = small(&[]);
        let season = to(&mut ssd, Condition::SteadyUniform, 1.0);
        assert_eq!(season.steady_reached, Some(true));
        assert!(season.rounds.len() >= 12 && is_steady(&season.rounds, 5), "{:?}", season.rounds);
    }

    /// Steady alone is steady under uniform writes; under other writes it is one step more, and under the same none.
    #[test]
    fn both_steady_conditions_end_the_way() {
        use Condition::{Filled, Fresh, SteadyByJob, SteadyUniform, Used};
        assert_eq!(Condition::named("steady"), Some(SteadyUniform));
        assert_eq!(Condition::ALL.map(|each| Condition::named(&each.to_string())), Condition::ALL.map(Some));
        assert_eq!(Fresh.steps_to(SteadyUniform), [Filled, Used, SteadyUniform]);
        assert_eq!(Filled.steps_to(SteadyByJob), [Used, SteadyByJob]);
        assert_eq!(Used.steps_to(Used), []);
        assert_eq!(SteadyUniform.steps_to(SteadyUniform), []);
        assert_eq!(SteadyUniform.steps_to(SteadyByJob), [SteadyByJob]);
        assert_eq!(SteadyByJob.steps_to(SteadyUniform), [SteadyUniform]);
        assert_eq!(SteadyByJob.steps_to(SteadyByJob), [SteadyByJob]);
    }

    fn writing(flags: &str) -> Vec<Job> {
        let flags: Vec<String> = flags.split_whitespace().map(String::from).collect();
        crate::workload::parse::parse_flags(&flags).unwrap().jobs
    }

    /// Uniform writes are the same whatever the job is: the drive is the same to the last block.
    #[test]
    fn uniform_steady_state_is_no_matter_of_the_job() {
        let seasoned = |jobs: &[Job]| {
            let mut ssd = small(&[]);
            let to = Condition::SteadyUniform;
            let season = season(&mut ssd, Condition::Fresh, to, jobs, 1.0, 1, &mut Silent).unwrap();
            (season.rounds, ssd.counters().blocks_erased)
        };
        let of_none = seasoned(&[]);
        for flags in ["--rw=randwrite --bs=16k --size=8m", "--rw=randread", "--rw=randtrimwrite --bs=4k"] {
            assert_eq!(seasoned(&writing(flags)), of_none, "{flags}");
        }
    }

    /// By fio's random map a round is whole passes: each of them writes every place as often as any other.
    #[test]
    fn rounds_by_the_random_map_are_whole_passes() {
        for (flags, passes_a_round) in [("--rw=randwrite --bs=4k", 1), ("--rw=randwrite --bs=4k --size=12%", 3)] {
            let mut ssd = small(&[]);
            let to = Condition::SteadyByJob;
            let season = season(&mut ssd, Condition::Fresh, to, &writing(flags), 1.0, 1, &mut Silent).unwrap();
            let written = ssd.counters().host_pages_written - 2 * 16_384;
            let pass = if passes_a_round == 1 { 16_384 } else { 16_384 * 12 / 100 };
            assert_eq!(written, season.rounds.len() as u64 * passes_a_round * pass, "{flags}: {season:?}");
            assert_eq!(season.steady_reached, Some(true), "{flags}: {season:?}");
        }
    }

    /// The jobs that bring a drive into steady state are those of the first group that writes, its
    /// trims with them.
    #[test]
    fn the_first_writing_group_settles_the_drive() {
        let names = |text: &str| -> Vec<String> {
            let jobs = crate::workload::parse::parse_job_file(text, "test.fio").unwrap().jobs;
            first_writing_group(&jobs).into_iter().map(|job| job.name).collect()
        };
        assert_eq!(names("[t]\nrw=trim\n[w]\nstonewall\nrw=write\n"), ["w"]);
        assert_eq!(names("[r]\nrw=read\n[w]\nrw=randwrite\n[t]\nrw=randtrim\n[x]\nstonewall\nrw=write\n"), ["w", "t"]);
        assert!(names("[r]\nrw=read\n").is_empty());
    }

    /// With a span the rest of the range stays unwritten.
    #[test]
    fn a_span_leaves_the_rest_unwritten() {
        let mut ssd = small(&[]);
        to(&mut ssd, Condition::SteadyUniform, 0.75);
        assert_eq!(ssd.ftl.mapped_units(), 12_288);
    }
}
