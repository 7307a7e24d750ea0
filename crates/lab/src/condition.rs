//! Conditions of a drive, and how it is brought into them.
//!
//! | condition | how |
//! |---|---|
//! | fresh | out of the box |
//! | filled | fresh, then 128 KiB sequential writes over the exported range once |
//! | used | filled, then random 4 KiB (or mapping-unit) overwrites that amount to the capacity once |
//! | steady | used, then the job's own writes in rounds of a quarter of the capacity: at least three capacities after the first garbage collection, until the mean write amplification of five rounds differs from that of the five before by less than 0.5 %, at most 50 rounds |
//!
//! Seasoning has no clock: the FTL decides at its own speed, and the drive ends idle with everything
//! programmed. What only time brings (idle-time collection, the write buffer's coalescing) does not
//! happen in it. With a span below 1 the host uses only that first part of the exported range, so
//! that the rest stays unwritten and serves as spare area.

pub mod scale_model;
mod seasoner;

use crate::host::stack::Stack;
use crate::run::Observer;
use crate::workload::generate::JobError;
use crate::workload::job::Job;
use scale_model::Scaled;
use seasoner::{FILL_BYTES, Seasoner, write_in_order};
use serde::{Deserialize, Serialize};
use ssdlab_device::block::{Device, Operation, Request};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{Lba, Lpn};
use std::fmt;

/// What has been done to a drive.
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
    /// Used until write amplification no longer changes.
    Steady,
}

impl Condition {
    /// All conditions, in the order in which a drive goes through them.
    pub const ALL: [Condition; 4] = [Condition::Fresh, Condition::Filled, Condition::Used, Condition::Steady];

    /// The condition of that name.
    pub fn named(name: &str) -> Option<Condition> {
        Condition::ALL.into_iter().find(|condition| condition.to_string() == name)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::Fresh => "fresh",
            Condition::Filled => "filled",
            Condition::Used => "used",
            Condition::Steady => "steady",
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
    let steps: &[Condition] = &Condition::ALL[from as usize + 1..(to as usize + 1).max(from as usize + 1)];
    for step in steps {
        match step {
            Condition::Fresh => {}
            Condition::Filled => seasoner.fill(),
            Condition::Used => seasoner.overwrite(seed),
            Condition::Steady => seasoner.settle(jobs, seed)?,
        }
        if seasoner.season.interrupted {
            break;
        }
    }
    seasoner.flush();
    Ok(seasoner.season)
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
    use super::seasoner::{first_writing_group, is_steady};
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
        let season = to(&mut ssd, Condition::Steady, 1.0);
        assert_eq!(season.steady_reached, Some(true));
        assert!(season.rounds.len() >= 12 && is_steady(&season.rounds), "{:?}", season.rounds);
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
        to(&mut ssd, Condition::Steady, 0.75);
        assert_eq!(ssd.ftl.mapped_units(), 12_288);
    }
}
