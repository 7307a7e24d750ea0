//! For what drives and jobs a scale model holds, and why not for the others.

use crate::workload::job::{Distribution, Extent, Files, Job, TrimWritten};
use ssdlab_device::config::DriveConfig;
use ssdlab_device::config::ftl::SlcCache;
use ssdlab_device::nand::geometry::Geometry;
use ssdlab_device::ssd::Ssd;

/// Whether copies of a few dies are a drive like this one.
///
/// # Errors
/// Why not.
pub fn check_drive(ssd: &Ssd) -> Result<(), String> {
    let reason = reason_against(ssd.config());
    let used = ssd.ftl.counters.host_pages_written > 0 || ssd.ftl.counters.blocks_erased > 0;
    let reason = reason.or(used.then_some("the drive has been written before, and its wear is its own"));
    reason.map_or(Ok(()), |reason| Err(reason.into()))
}

fn reason_against(config: &DriveConfig) -> Option<&'static str> {
    let ftl = &config.ftl;
    if ftl.slc_cache != SlcCache::None && ftl.slc_fold_at.is_some() {
        return Some("the SLC cache is folded while the host writes");
    }
    if ftl.gc.is_foreign() {
        return Some("the victim policy is not ours, and nobody has compared what it does in copies of a small drive");
    }
    None
}

/// Units that each write of the jobs covers; without jobs, one.
///
/// # Errors
/// Why these writes do not leave the same state behind on a small drive as on a large one.
pub fn units_together(geometry: &Geometry, jobs: &[Job]) -> Result<u32, String> {
    let unit_bytes = geometry.unit_bytes;
    let mut bytes = None;
    for job in jobs {
        if geometry.packing > 1 && job.compress_percent > 0 {
            return Err(format!("job {}: the drive compresses what it writes", job.name));
        }
        if let Some(reason) = reason_against_job(job) {
            return Err(format!("job {}: {reason}", job.name));
        }
        let size = job.sizes_of_directions().write[0].bytes;
        if bytes.is_some_and(|other| other != size) {
            return Err("the jobs write different sizes".into());
        }
        bytes = Some(size);
    }
    let bytes = bytes.unwrap_or(unit_bytes).max(unit_bytes);
    if !bytes.is_multiple_of(unit_bytes) {
        return Err(format!("writes of {bytes} B cover mapping units of {unit_bytes} B in part"));
    }
    let units = bytes / unit_bytes;
    if !geometry.units_per_row.is_multiple_of(units) {
        return Err(format!("each write of {bytes} B goes to several dies, more than a model has"));
    }
    Ok(units)
}

fn reason_against_job(job: &Job) -> Option<&'static str> {
    let sizes = job.sizes_of_directions().write;
    let is_plain = job.files == Files::default() && job.strides.is_none() && job.hole_bytes == 0;
    let checks = [
        (
            !job.pattern.random || job.percent_random.write < 100 || job.sequential_run > 1,
            "what it writes in order lies in order",
        ),
        (job.pattern.trims || job.trim_written != TrimWritten::default(), "it trims"),
        (
            job.sprandom.is_some() || matches!(job.distribution, Distribution::Sequence { .. }),
            "it gives its blocks an order of its own",
        ),
        (sizes.len() != 1, "it writes several sizes"),
        (job.block_align.write != 0, "its writes are aligned otherwise than by their size"),
        (
            !matches!(job.distribution, Distribution::Uniform | Distribution::Zoned(_)),
            "a hash scatters what it writes often",
        ),
        (
            !job.no_random_map,
            "it writes each place once before any again, so its passes are not those of a small drive",
        ),
        (
            job.size.is_some() || job.offset != Extent::Bytes(0) || !job.own_ranges.is_empty(),
            "it writes a part of the drive",
        ),
        (!is_plain || job.verify.is_some(), "its region is divided, or read back"),
    ];
    checks.into_iter().find(|(applies, _)| *applies).map(|(_, reason)| reason)
}
