//! The stretch of the drive that a job works on, and whether its blocks fit there.

use super::addresses::active;
use super::error::{Misfit, Problem};
use super::job::{ByteRange, Extent, Job, SizeShare};
use ssdlab_device::block::Limits;

/// Block sizes and alignments must be whole sectors.
pub fn check_sizes(job: &Job, sector_bytes: u64) -> Result<(), Misfit> {
    let remedy = || format!("the drive's sector has {sector_bytes} bytes");
    let sizes = [&job.block_sizes.read, &job.block_sizes.write, &job.block_sizes.trim];
    let aligns = [job.block_align.read, job.block_align.write, job.block_align.trim];
    for direction in active(job) {
        let odd = |share: &&SizeShare| share.bytes == 0 || !u64::from(share.bytes).is_multiple_of(sector_bytes);
        if let Some(share) = sizes[direction].iter().find(odd) {
            let problem = Problem::new("is not a multiple of the sector", remedy());
            return Err(("bs", share.bytes.to_string(), problem));
        }
        if !aligns[direction].is_multiple_of(sector_bytes) {
            let problem = Problem::new("is not a multiple of the sector", remedy());
            return Err(("blockalign", aligns[direction].to_string(), problem));
        }
    }
    Ok(())
}

/// First sector and number of sectors of a clone's region, whole blocks of the smallest size.
pub fn region(job: &Job, clone: u32, limits: &Limits) -> Result<(u64, u64), Misfit> {
    let capacity = limits.capacity_bytes();
    let whole = ByteRange { offset: 0, bytes: capacity };
    let range = job.own_ranges.get(clone as usize).copied().unwrap_or(whole);
    let (smallest, largest) = block_extremes(job);
    // Shares are of the drive; of its own range only where that is all that the job was given.
    let percent_of = if job.size.is_some() { capacity } else { range.bytes };
    let offset = offset_bytes(job, clone, percent_of);
    let has = || match range == whole {
        true => format!("the drive has {capacity} bytes"),
        false => format!("the clone's own range has {} bytes", range.bytes),
    };
    if offset >= range.bytes {
        let problem = Problem::new("begins beyond the end of the drive", has());
        return Err(("offset", offset.to_string(), problem));
    }
    if !offset.is_multiple_of(u64::from(limits.sector_bytes)) {
        let remedy = format!("the drive's sector has {} bytes", limits.sector_bytes);
        let problem = Problem::new("is not a multiple of the sector", remedy);
        return Err(("offset", offset.to_string(), problem));
    }
    let rest = range.bytes - offset;
    let size = match job.size {
        // fio goes from stretch to stretch to the end of the drive, and its size is the amount of a pass.
        _ if job.strides.is_some() => rest,
        None => rest,
        Some(share @ Extent::Percent(_)) => in_bytes(share, capacity).min(rest),
        Some(Extent::Bytes(size)) if size <= rest => size,
        Some(Extent::Bytes(size)) => {
            let message = format!("reaches beyond the drive: with offset {offset} only {rest} bytes fit");
            let remedy = format!("{}; give a smaller size, or size=100%", has());
            return Err(("size", size.to_string(), Problem::new(message, remedy)));
        }
    };
    let usable = size - size % smallest;
    if usable < largest {
        let message = format!("the region holds no block of {largest} bytes");
        let problem = Problem::new(message, "give a larger size or a smaller bs");
        return Err(("size", size.to_string(), problem));
    }
    let sector = u64::from(limits.sector_bytes);
    Ok(((range.offset + offset) / sector, usable / sector))
}

/// The smallest and the largest block of a job.
fn block_extremes(job: &Job) -> (u64, u64) {
    let sizes = [&job.block_sizes.read, &job.block_sizes.write, &job.block_sizes.trim];
    let shares = active(job).into_iter().flat_map(|direction| sizes[direction]);
    let bytes = || shares.clone().map(|share| u64::from(share.bytes));
    (bytes().min().unwrap_or(1), bytes().max().unwrap_or(1))
}

/// Bytes of a pass that `size` asks for beside a `filesize`; fio rounds a share down to the smallest block, and takes one
/// that is less than that for all.
pub fn pass_bytes(job: &Job, size: Extent, whole: u64) -> u64 {
    let bytes = in_bytes(size, whole);
    match size {
        Extent::Bytes(_) => bytes,
        Extent::Percent(_) => match bytes - bytes % block_extremes(job).0 {
            0 => whole,
            blocks => blocks,
        },
    }
}

/// Bytes of the largest block of a job, of whatever direction.
pub fn largest_block(job: &Job) -> u64 {
    let sizes = [&job.block_sizes.read, &job.block_sizes.write, &job.block_sizes.trim];
    sizes.into_iter().flatten().map(|share| u64::from(share.bytes)).max().unwrap_or(1)
}

/// Where a clone begins; a share is of `whole` bytes, rounded up to the smallest block.
pub fn offset_bytes(job: &Job, clone: u32, whole: u64) -> u64 {
    let step = in_bytes(job.offset_increment, whole).saturating_mul(u64::from(clone));
    let offset = in_bytes(job.offset, whole).saturating_add(step);
    let in_percent = |extent| matches!(extent, Extent::Percent(_));
    if in_percent(job.offset) || in_percent(job.offset_increment) {
        let block = if job.offset_align > 0 { job.offset_align } else { block_extremes(job).0 };
        offset.div_ceil(block.max(1)).saturating_mul(block)
    } else {
        offset
    }
}

/// An extent of something with so many bytes.
pub fn in_bytes(extent: Extent, whole: u64) -> u64 {
    match extent {
        Extent::Bytes(bytes) => bytes,
        Extent::Percent(percent) => (whole as f64 * percent / 100.0) as u64,
    }
}
