//! Whether a drive still changes while a job runs: the first tenth of the job's time beside the last one.
//!
//! ```text
//!   figure x in ten slices of equal time; s = median of |xᵢ₊₁ − xᵢ| over the eight between, / 0.6745
//!   changes where |x₁₀ / x₁ − 1| > 2 % and |x₁₀ − x₁| > 3 s
//! ```
//! s is the standard error of the difference of two slices. It is that of neighbours, and their median, since a
//! course that rises all the time, or once, would hide in its own spread. What comes and goes, as within passes of
//! fio's random map, is told with its extremes. All that counts is the time in which every clone of the stonewall
//! group was at work: that one job has ended is no change of the drive. Left out: runs of fewer buckets than slices.

use super::merge::Report;
use super::number::{Prefix, short};
use crate::run::{Done, GroupRecord, Record, Series, Written};
use serde_json::{Value, json};
use ssdlab_device::units::Nanos;

const SLICES: u64 = 10;
const LEAST_CHANGE: f64 = 0.02;
const STANDARD_ERRORS: f64 = 3.0;
/// A figure that comes and goes by so much is told with its extremes.
const SWINGS: f64 = 1.1;
/// The median distance of normal draws from their mean, in standard deviations.
const MEDIAN_DISTANCE: f64 = 0.6745;

/// The drift of a report: figures of its first and its last slice, and in words; null where it is too short.
pub fn drift(report: &Report, group: &GroupRecord, record: &Record) -> Value {
    let number = report.members.first().map_or(0, |clone| clone.group);
    let clones = || record.clones.iter().filter(|clone| clone.group == number);
    let start = clones().map(|clone| clone.start).max().unwrap_or_default().max(group.start);
    let end = clones().map(|clone| clone.end).min().unwrap_or_default();
    let series = report.series();
    let widest = series.width.max(group.series.width);
    if end <= start || end - start < Nanos(widest.0 * SLICES) {
        return Value::Null;
    }
    let edges: Vec<Nanos> = (0..=SLICES).map(|slice| start + Nanos((end - start).0 * slice / SLICES)).collect();
    let requests = slices(&series, &edges, report.end(), |done: &Done| done.requests.iter().sum());
    let seconds = (end - start).0 as f64 / SLICES as f64 / 1e9;
    let iops: Vec<f64> = requests.iter().map(|requests| requests / seconds).collect();
    let host = slices(&group.series, &edges, group.end, |written: &Written| written.host_bytes);
    let nand = slices(&group.series, &edges, group.end, |written: &Written| written.nand_bytes);
    let amplification: Vec<f64> = nand.iter().zip(&host).map(|(nand, host)| nand / host).collect();
    let courses = [Course::of("write amplification", &amplification), Course::of("IOPS", &iops)];
    json!({
        "write_amplification": courses[0].as_ref().map(Course::to_json),
        "iops": courses[1].as_ref().map(Course::to_json),
        "changes": courses.iter().flatten().any(|course| course.changes),
        "told": told(&courses),
    })
}

/// What a series holds between each two edges; a bucket that an edge cuts counts in parts.
fn slices<B>(series: &Series<B>, edges: &[Nanos], end: Nanos, of: impl Fn(&B) -> u64) -> Vec<f64> {
    let mut slices = vec![0.0; edges.len() - 1];
    for (index, bucket) in series.buckets.iter().enumerate() {
        let first = series.start + Nanos(series.width.0 * index as u64);
        let last = (first + series.width).min(end).max(first + Nanos(1));
        for (slice, pair) in slices.iter_mut().zip(edges.windows(2)) {
            let inside = last.min(pair[1]).saturating_sub(first.max(pair[0]));
            *slice += of(bucket) as f64 * inside.0 as f64 / (last - first).0 as f64;
        }
    }
    slices
}

/// A figure at the beginning and at the end, and its extremes between.
struct Course {
    name: &'static str,
    first: f64,
    last: f64,
    least: f64,
    most: f64,
    changes: bool,
}

impl Course {
    /// Of a figure in slices; `None` where one of them has none.
    fn of(name: &'static str, slices: &[f64]) -> Option<Course> {
        let (&[first, ref between @ .., last], true) = (slices, slices.iter().all(|x| x.is_finite() && *x > 0.0))
        else {
            return None;
        };
        let mut steps: Vec<f64> = between.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        steps.sort_unstable_by(f64::total_cmp);
        let noise = steps[steps.len() / 2] / MEDIAN_DISTANCE;
        let changes = (last / first - 1.0).abs() > LEAST_CHANGE && (last - first).abs() > STANDARD_ERRORS * noise;
        let (least, most) = slices.iter().fold((first, first), |(least, most), &x| (least.min(x), most.max(x)));
        Some(Course { name, first, last, least, most, changes })
    }

    fn to_json(&self) -> Value {
        json!({
            "first": self.first,
            "last": self.last,
            "least": self.least,
            "most": self.most,
            "changes": self.changes,
        })
    }

    fn told(&self) -> String {
        let figure = |x: f64| match self.name {
            "IOPS" => short(x as u64, 4, Prefix::Decimal, ""),
            _ => format!("{x:.2}"),
        };
        if !self.changes && self.most > self.least * SWINGS {
            return format!("{} swings from {} to {}", self.name, figure(self.least), figure(self.most));
        }
        format!("{} {} to {}", self.name, figure(self.first), figure(self.last))
    }
}

fn told(courses: &[Option<Course>]) -> Option<String> {
    let told = |changing: bool| -> Vec<String> {
        courses.iter().flatten().filter(|course| course.changes || !changing).map(Course::told).collect()
    };
    match (told(true), told(false)) {
        (_, all) if all.is_empty() => None,
        (changing, all) if changing.is_empty() => Some(format!("no lasting change during the job: {}", all.join(", "))),
        (changing, _) => Some(format!("still changing: {}", changing.join(", "))),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn course(slices: [f64; 10]) -> Course {
        Course::of("write amplification", &slices).unwrap()
    }

    /// A fall is told from noise: what neighbours differ by is not what the ends do.
    #[test]
    fn a_fall_is_no_noise() {
        let fall = course([3.67, 3.5, 3.4, 3.3, 3.2, 3.1, 3.05, 3.0, 2.95, 2.9]);
        assert!(fall.changes);
        assert_eq!(told(&[Some(fall), None]).unwrap(), "still changing: write amplification 3.67 to 2.90");
        assert!(course([3.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]).changes);
        let noise = course([3.0, 3.2, 2.9, 3.1, 2.8, 3.2, 2.9, 3.1, 2.9, 3.25]);
        assert!(!noise.changes);
        let told = told(&[Some(noise), None]).unwrap();
        assert_eq!(told, "no lasting change during the job: write amplification swings from 2.80 to 3.25");
        assert!(!course([3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.05]).changes);
        assert!(Course::of("IOPS", &[0.0; 10]).is_none());
    }

    /// An edge within a bucket takes its part; what lies outside counts nowhere; the last bucket ends at the end.
    #[test]
    fn buckets_are_cut_at_edges() {
        let mut series = Series::new(Nanos(1_000_000));
        [10, 20, 30].into_iter().for_each(|host_pages| series.close(Written { host_pages, ..Written::default() }));
        let edges = [1_500_000, 2_500_000, 3_250_000].map(Nanos);
        let cut = slices(&series, &edges, Nanos(3_500_000), |written| written.host_pages);
        assert_eq!(cut, [5.0 + 10.0, 10.0 + 15.0]);
    }
}
