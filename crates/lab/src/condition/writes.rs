//! What a drive was written by on its way into a condition, in words.

use super::seasoner::{FILL_BYTES, OVERWRITE_BYTES, first_writing_group, writing_groups};
use super::{Condition, compress_percent};
use crate::workload::generate::Generator;
use crate::workload::job::{Distribution, Extent, Job, Pattern, TrimWritten};
use ssdlab_device::block::Limits;

/// Jobs that are told one by one.
const TOLD_AT_MOST: usize = 3;

/// What is written: how much of which devices.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Share of the exported range.
    pub span: f64,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// The drives below layers, where it is them that are written and not what lies over them.
    pub drives: Option<u32>,
}

impl Place {
    fn told(&self) -> String {
        let what = match self.drives {
            Some(2..) => "each drive",
            _ => "the drive",
        };
        if self.span < 1.0 {
            return format!("the first {} % of {what}", short(self.span * 100.0));
        }
        if what == "the drive" { "the whole drive".into() } else { format!("the whole of {what}") }
    }

    fn random_writes(&self) -> String {
        let unit = if self.unit_bytes > OVERWRITE_BYTES { ", the mapping unit," } else { "" };
        format!("uniform random {} writes{unit}", bytes(u64::from(self.unit_bytes.max(OVERWRITE_BYTES))))
    }
}

/// What brings a drive into a condition, as far as the condition tells.
pub fn of_condition(condition: Condition, place: &Place) -> Option<String> {
    let (fill, random, place) = (bytes(u64::from(FILL_BYTES)), place.random_writes(), place.told());
    match condition {
        Condition::Fresh => None,
        Condition::Filled => Some(format!("sequential {fill} writes over {place}, once")),
        Condition::Used => Some(format!("sequential {fill} writes over {place} once, then {random} of as many bytes")),
        Condition::SteadyUniform => Some(format!("{random} over {place}")),
        Condition::SteadyByJob => Some("the writes of a job, which the drive file does not name".into()),
    }
}

/// What brings a drive into a condition, where that hangs on the jobs.
pub fn of_jobs(condition: Condition, jobs: &[Job], place: &Place, limits: &Limits) -> Option<String> {
    let writing = first_writing_group(jobs);
    let uniform = of_condition(Condition::SteadyUniform, place);
    match (condition, compress_percent(jobs)) {
        (Condition::SteadyUniform, 1..) => Some(format!("{}, compressible by {} %", uniform?, compress_percent(jobs))),
        (Condition::SteadyByJob, _) if writing.is_empty() => {
            Some(format!("{}, since no job writes by a pattern of its own", uniform?))
        }
        (Condition::SteadyByJob, _) => {
            let told = writing.iter().take(TOLD_AT_MOST).map(|job| of_job(job, limits));
            let more = writing.len().saturating_sub(TOLD_AT_MOST);
            let more = (more > 0).then(|| format!("and {more} jobs more"));
            Some(told.chain(more).collect::<Vec<_>>().join("; "))
        }
        _ => None,
    }
}

/// One job's writes: `the writes of job a: random, 4 KiB, zipf 1.1, over 1 GiB`.
fn of_job(job: &Job, limits: &Limits) -> String {
    let sizes = job.sizes_of_directions().write;
    let extremes = (sizes.iter().map(|size| size.bytes).min(), sizes.iter().map(|size| size.bytes).max());
    let size = match extremes {
        (Some(least), Some(most)) if least < most => format!("{} to {}", bytes(least.into()), bytes(most.into())),
        (least, _) => bytes(least.unwrap_or_default().into()),
    };
    let mut parts = vec![order(&job.pattern).to_string(), size];
    parts.extend(skew(&job.distribution));
    parts.extend(job.sprandom.map(|_| "by sprandom".to_string()));
    let has_map = job.pattern.random && !job.no_random_map && job.distribution == Distribution::Uniform;
    parts.extend(has_map.then(|| "each place once a pass".to_string()));
    parts.push(format!("over {}", bytes(covered(job, limits))));
    format!("the writes of job {}: {}", job.name, parts.join(", "))
}

fn order(pattern: &Pattern) -> &'static str {
    match (pattern.random, pattern.trims) {
        (false, false) => "sequential",
        (true, false) => "random",
        (false, true) => "sequential, with trims",
        (true, true) => "random, with trims",
    }
}

fn skew(distribution: &Distribution) -> Option<String> {
    match distribution {
        Distribution::Uniform => None,
        Distribution::Zipf { theta, .. } => Some(format!("zipf {theta}")),
        Distribution::Pareto { h, .. } => Some(format!("pareto {h}")),
        Distribution::Normal { deviation_percent, .. } => Some(format!("normal {deviation_percent} %")),
        Distribution::Zoned(_) => Some("in zones".into()),
        Distribution::Scattered(_) => Some("in scattered zones".into()),
        Distribution::Sequence { blocks, .. } => Some(format!("a sequence of {} blocks", blocks.len())),
    }
}

/// Which jobs have a steady state that is not the one under uniform writes over all that is used, and why: `the job` or
/// its name, where there are others; `None` where there is none, or nothing is written.
pub fn differs(jobs: &[Job], span: f64, limits: &Limits) -> Option<String> {
    let reasons = writing_groups(jobs).into_iter().filter_map(|group| {
        let reason = group_differs(&group, span, limits)?;
        let names: Vec<&str> = group.iter().map(|job| job.name.as_str()).collect();
        let who = if jobs.len() == 1 { "the job".into() } else { names.join(" with ") };
        Some(format!("{who} is not that: {reason}"))
    });
    Some(reasons.collect::<Vec<_>>().join("; ")).filter(|told| !told.is_empty())
}

/// Why jobs that run together differ so.
fn group_differs(writing: &[Job], span: f64, limits: &Limits) -> Option<String> {
    let used = (limits.capacity_bytes() as f64 * span) as u64;
    let covered: u64 = writing.iter().map(|job| covered(job, limits)).sum();
    let any = |is: fn(&Job) -> bool| writing.iter().any(is);
    if any(|job| job.pattern.trims || job.trim_written != TrimWritten::default()) {
        return Some("it trims".into());
    }
    if any(|job| !job.pattern.random || job.percent_random.write < 100 || job.sequential_run > 1) {
        return Some("it writes in order".into());
    }
    if any(|job| job.sprandom.is_some()) {
        return Some("it goes by sprandom, which ends after one pass".into());
    }
    if any(|job| job.distribution != Distribution::Uniform) {
        return Some("it writes some places more often than others".into());
    }
    // A job in percent or whole blocks may leave a few blocks at the end.
    if covered < used - used / 100 {
        return Some(format!("it covers {} of {}", bytes(covered), bytes(used)));
    }
    let is_passed = |job: &Job| !job.no_random_map && amount(job, limits) > used / 10;
    writing.iter().any(is_passed).then(|| "by fio's random map it writes each place once before any again".into())
}

/// Bytes that a job means to write, of all clones; without end where only time ends it.
fn amount(job: &Job, limits: &Limits) -> u64 {
    let all = Generator::new(job, 0, limits, 1).ok().and_then(|generator| generator.total_bytes()).unwrap_or(u64::MAX);
    let largest = job.block_sizes.write.iter().map(|size| u64::from(size.bytes)).max().unwrap_or_default();
    let asked = job.number_ios.map_or(u64::MAX, |ios| ios.saturating_mul(largest));
    all.min(asked).saturating_mul(u64::from(job.num_jobs))
}

/// Bytes that all clones of a job cover; those of clones that share a region count once.
fn covered(job: &Job, limits: &Limits) -> u64 {
    let clones = if job.own_ranges.is_empty() && job.offset_increment == Extent::Bytes(0) { 1 } else { job.num_jobs };
    let regions = (0..clones).filter_map(|clone| Generator::new(job, clone, limits, 1).ok());
    regions.map(|generator| generator.region().1).sum()
}

/// `4 KiB`, `1.5 GiB`.
fn bytes(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if value >= 1024.0 {
            (value, unit) = (value / 1024.0, larger);
        }
    }
    format!("{} {unit}", short(value))
}

/// Two digits behind the point at most, and none that are zero.
fn short(value: f64) -> String {
    let told = format!("{value:.2}");
    told.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::workload::parse::parse_flags;

    const WHOLE: Place = Place { span: 1.0, unit_bytes: 4096, drives: None };

    fn limits() -> Limits {
        Limits {
            sector_bytes: 512,
            sectors: 1 << 21,
            queue_depth: 32,
            discard_granularity_bytes: 4096,
            volatile_cache: false,
            optimal_io_bytes: 4096,
        }
    }

    fn jobs(flags: &str) -> Vec<Job> {
        parse_flags(&flags.split_whitespace().map(String::from).collect::<Vec<_>>()).unwrap().jobs
    }

    /// The unit is named where it is larger than 4 KiB, and so are a span and the drives of a stack.
    #[test]
    fn uniform_writes_are_told_with_unit_and_place() {
        let told = |place| of_condition(Condition::SteadyUniform, &place).unwrap();
        assert_eq!(told(WHOLE), "uniform random 4 KiB writes over the whole drive");
        let large = Place { unit_bytes: 16_384, span: 0.8, ..WHOLE };
        assert_eq!(told(large), "uniform random 16 KiB writes, the mapping unit, over the first 80 % of the drive");
        let stack = Place { drives: Some(3), ..WHOLE };
        assert_eq!(told(stack), "uniform random 4 KiB writes over the whole of each drive");
    }

    /// A job's writes are told with what makes its steady state its own.
    #[test]
    fn a_jobs_writes_are_told() {
        let told = |flags| of_jobs(Condition::SteadyByJob, &jobs(flags), &WHOLE, &limits()).unwrap();
        let map = told("--name=a --rw=randwrite --bs=4k --size=256m");
        assert_eq!(map, "the writes of job a: random, 4 KiB, each place once a pass, over 256 MiB");
        let skewed = told("--name=b --rw=randwrite --bsrange=4k-64k --random_distribution=zipf:1.1 --norandommap");
        assert_eq!(skewed, "the writes of job b: random, 4 KiB to 64 KiB, zipf 1.1, over 1 GiB");
        assert!(told("--rw=randread").ends_with("since no job writes by a pattern of its own"));
    }

    /// What is uniform over the whole drive has nothing to add, nor has the beginning of a pass; all else has its reason.
    #[test]
    fn jobs_that_are_not_uniform_are_told_so() {
        let told = |flags| differs(&jobs(flags), 1.0, &limits());
        let beginning = ["--rw=randwrite --bs=4k --io_size=64m", "--rw=randwrite --bs=4k --number_ios=1000"];
        let unmapped = ["--rw=randwrite --bs=64k --norandommap", "--rw=randread --size=1m"];
        for same in beginning.into_iter().chain(unmapped) {
            assert_eq!(told(same), None, "{same}");
        }
        let cases = [
            ("--rw=randwrite --size=256m", "it covers 256 MiB of 1 GiB"),
            ("--rw=randwrite --bs=4k", "by fio's random map"),
            ("--rw=randwrite --bs=4k --time_based --runtime=1", "by fio's random map"),
            ("--rw=randtrimwrite", "it trims"),
            ("--rw=write --bs=1m", "it writes in order"),
            ("--rw=randwrite --norandommap --random_distribution=zipf:1.1", "it writes some places more often"),
        ];
        for (flags, reason) in cases {
            let reason = format!("the job is not that: {reason}");
            assert!(told(flags).unwrap().starts_with(&reason), "{flags}: {:?}", told(flags));
        }
        let several =
            "--name=a --rw=randread --name=b --stonewall --rw=write --name=c --stonewall --rw=randwrite --size=1m";
        assert_eq!(
            told(several).unwrap(),
            "b is not that: it writes in order; c is not that: it covers 1 MiB of 1 GiB"
        );
        assert_eq!(differs(&jobs("--rw=randwrite --size=80% --norandommap"), 0.8, &limits()), None);
    }
}
