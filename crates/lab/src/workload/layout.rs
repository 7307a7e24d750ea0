//! Where on the drive each clone of each job works.
//!
//! fio lays out a file of its own for each clone of a job that has no `filename` (`a.0.0`, `a.1.0`,
//! `b.0.0`). Here such a clone has a range of the drive of its own; ranges follow one another in
//! order of jobs and clones. A range is as long as fio's file would be, `offset` + `size`; jobs
//! without `size` share what the others leave, in equal parts. A single job has the whole drive, and
//! so has every job with a `filename`, whatever its name, and every replay, whose addresses are
//! those of its trace.

use super::error::{JobError, Problem};
use super::job::{ByteRange, Extent, Job};
use super::region::{in_bytes, offset_bytes};
use ssdlab_device::block::Limits;

/// Ranges begin at multiples of this, the block of a file system, or of the sector where that is larger.
const FILE_BLOCK_BYTES: u64 = 4096;
/// Shares are whole multiples of this, where they are as large.
const SHARE_UNIT_BYTES: u64 = 1 << 20;
/// Clones whose ranges are told one by one.
const TOLD_AT_MOST: usize = 4;
/// What a job is told to do that means to share.
const SHARE_THE_DRIVE: &str = "filename=/dev/ssd makes jobs share the drive";

/// Gives each clone of the jobs without `filename` its own range, where there is more than one such clone.
///
/// # Errors
/// The ranges do not fit the drive together.
pub fn assign_ranges(jobs: &mut [Job], limits: &Limits) -> Result<(), Box<JobError>> {
    let capacity = limits.capacity_bytes();
    let block = FILE_BLOCK_BYTES.max(limits.sector_bytes.into());
    let lengths: Vec<Vec<Option<u64>>> = jobs.iter().map(|job| lengths(job, capacity, block)).collect();
    let all = || lengths.iter().flatten();
    jobs.iter_mut().for_each(|job| job.own_ranges.clear());
    if all().count() < 2 {
        return Ok(());
    }
    let sized: u128 = all().flatten().map(|&bytes| u128::from(bytes)).sum();
    let sharing = all().filter(|bytes| bytes.is_none()).count() as u64;
    let share = equal_share(capacity, sized, sharing, block);
    if sized > u128::from(capacity) || (sharing > 0 && share == 0) {
        return Err(Box::new(too_large(jobs, sized, sharing, capacity)));
    }
    let mut next = 0;
    for (job, lengths) in jobs.iter_mut().zip(&lengths) {
        for bytes in lengths.iter().map(|bytes| bytes.unwrap_or(share)) {
            job.own_ranges.push(ByteRange { offset: next, bytes });
            next += bytes;
        }
    }
    Ok(())
}

/// Says who works where, unless all work on the drive itself.
pub fn told(jobs: &[Job]) -> Option<String> {
    let clones = || jobs.iter().flat_map(|job| job.own_ranges.iter().enumerate().map(move |each| (job, each)));
    let number = clones().count();
    if number == 0 {
        return None;
    }
    let one = |(job, (clone, range)): (&Job, (usize, &ByteRange))| {
        format!("{}.{clone} {} to {}", job.name, range.offset, range.offset + range.bytes)
    };
    let mut ranges: Vec<String> = clones().take(TOLD_AT_MOST).map(one).collect();
    if number > TOLD_AT_MOST {
        ranges.push(format!("and {} more", number - TOLD_AT_MOST));
    }
    let shares = if clones().any(|(job, _)| job.size.is_none()) { ", jobs without size in equal shares" } else { "" };
    Some(format!(
        "jobs without filename each have their own range of the drive, as fio gives them their own files{shares}; \
         bytes: {}; {SHARE_THE_DRIVE}",
        ranges.join(", ")
    ))
}

fn has_own_ranges(job: &Job) -> bool {
    job.filename.is_none() && job.replay.is_none()
}

/// Bytes that the files of a job's clones would have, `None` where it has no size; empty where it has no files.
fn lengths(job: &Job, capacity: u64, block: u64) -> Vec<Option<u64>> {
    let length = |clone| {
        let size = match job.size? {
            // Shares that add up to the whole must not be rounded up beyond it.
            share @ Extent::Percent(_) => round_down(in_bytes(share, capacity), block),
            Extent::Bytes(bytes) => bytes,
        };
        let bytes = offset_bytes(job, clone, capacity).saturating_add(size);
        Some(bytes.checked_next_multiple_of(block).unwrap_or(bytes))
    };
    if has_own_ranges(job) { (0..job.num_jobs.max(1)).map(length).collect() } else { Vec::new() }
}

fn equal_share(capacity: u64, sized: u128, sharing: u64, block: u64) -> u64 {
    let rest = u128::from(capacity).saturating_sub(sized) as u64;
    round_down(rest / sharing.max(1), block)
}

/// Down to whole MiB, where there is one, or whole blocks.
fn round_down(bytes: u64, block: u64) -> u64 {
    let unit = if bytes >= SHARE_UNIT_BYTES { SHARE_UNIT_BYTES.max(block) } else { block };
    bytes - bytes % unit
}

fn too_large(jobs: &[Job], sized: u128, sharing: u64, capacity: u64) -> JobError {
    let job = jobs.iter().find(|job| has_own_ranges(job)).expect("there are clones with own ranges");
    let rest = if sharing > 0 { ", which leaves nothing for those without size" } else { "" };
    let message = format!(
        "jobs and clones without filename have ranges of their own, and their sizes sum to {sized} bytes{rest}; \
         the drive has {capacity}"
    );
    let problem = Problem::new(message, format!("give smaller sizes; {SHARE_THE_DRIVE}"));
    JobError {
        file: format!("job {}", job.name).into(),
        option: "size".into(),
        message: problem.message.into(),
        remedy: problem.remedy.into(),
        ..JobError::default()
    }
}

#[cfg(test)]
mod test;
