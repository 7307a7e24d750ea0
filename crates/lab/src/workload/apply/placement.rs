//! What the options mean that place a job's requests: sizes, files, zones, and what is read back.

use super::Applied;
use crate::workload::draft::{Draft, SgWrite, ZoneMode};
use crate::workload::error::Problem;
use crate::workload::job::FileService;
use crate::workload::trace::Scale;
use crate::workload::value::Value;
use ssdlab_device::block::Operation;

/// `bsrange`: `least-most`, commas part directions.
pub fn block_range(draft: &mut Draft, value: Value<'_>) -> Applied {
    // fio parts the directions with a slash too.
    let text = value.text.replace('/', ",");
    let mut range = draft.range;
    Value { text: &text, ..value }.per_direction(&mut range, |value| {
        let (least, most) = value.range()?;
        let (least, most) = (least.block_bytes()?, most.block_bytes()?);
        Ok(Some((least.min(most), least.max(most))))
    })?;
    draft.range = range;
    Ok(())
}

/// `filesize`: a size, a share, or a range of sizes.
pub fn file_size(draft: &mut Draft, value: Value<'_>) -> Applied {
    if !value.text.contains('-') {
        draft.file_size = Some(value.extent()?);
        draft.file_sizes = None;
        return Ok(());
    }
    let (least, most) = value.range()?;
    let (least, most) = (least.bytes(1)?, most.bytes(1)?);
    if least > most {
        return Err(Problem::new("the range is empty", "write the smaller size first, such as 1m-4m"));
    }
    draft.file_sizes = Some((least, most));
    Ok(())
}

/// `file_service_type`: a kind, and how long a file is stayed with or how far it is skewed.
pub fn file_service(draft: &mut Draft, value: Value<'_>) -> Applied {
    let (kind, suffix) = value.text.split_once(':').map_or((value.text, None), |(kind, suffix)| (kind, Some(suffix)));
    let real = |default: f64| suffix.map_or(Ok(default), |suffix| value.part(suffix).real("a number such as 1.2"));
    let plain = |service| suffix.map_or(Ok(1), |suffix| value.part(suffix).count_u32(1)).map(|stay| (service, stay));
    (draft.job.files.service, draft.job.files.stay) = match kind.trim() {
        "roundrobin" => plain(FileService::RoundRobin)?,
        "random" => plain(FileService::Random)?,
        "sequential" => plain(FileService::Sequential)?,
        "zipf" => (FileService::Zipf(within(real(1.1)?, 0.0, 100.0)?), 1),
        "pareto" => (FileService::Pareto(within(real(0.2)?, 0.0, 1.0)?), 1),
        "normal" | "gauss" => (FileService::Normal(normal_width(real(0.0)?)?), 1),
        other => {
            let known = "kinds are roundrobin, random, sequential, zipf, pareto and normal";
            return Err(Problem::new(format!("'{other}' is not a kind"), known));
        }
    };
    Ok(())
}

fn normal_width(percent: f64) -> Result<f64, Problem> {
    if (0.0..100.0).contains(&percent) { Ok(percent) } else { Err(Problem::new("must lie between 0 and 100", "")) }
}

fn within(number: f64, least: f64, most: f64) -> Result<f64, Problem> {
    let inside = number > least && number < most && number != 1.0;
    if inside {
        Ok(number)
    } else {
        Err(Problem::new(format!("must lie between {least} and {most}, and not be 1"), ""))
    }
}

/// `zonemode`: strides are carried out; a drive without zones takes `zbd` as it takes `none`.
pub fn zone_mode(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.zone_mode = match value.text {
        "none" | "0" => ZoneMode::None,
        "zbd" => ZoneMode::Zoned,
        "strided" => ZoneMode::Strided,
        _ => return Err(Problem::new("expected none, strided or zbd", "")),
    };
    Ok(())
}

/// `verify`: every check reads alike.
pub fn verify(draft: &mut Draft, value: Value<'_>) -> Applied {
    let kinds = [
        "md5",
        "crc16",
        "crc32",
        "crc32c",
        "crc32c-intel",
        "crc64",
        "crc7",
        "sha1",
        "sha256",
        "sha512",
        "sha3-224",
        "sha3-256",
        "sha3-384",
        "sha3-512",
        "xxhash",
        "meta",
        "pattern",
        "null",
    ];
    draft.verify = match value.text {
        "0" | "none" => false,
        kind if kinds.contains(&kind) => true,
        _ => return Err(Problem::new("fio has no such check", format!("checks are {}", kinds.join(", ")))),
    };
    Ok(())
}

/// `sg_write_mode`: what the writes of the sg engine ask of the drive.
pub fn sg_write_mode(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.sg_write = match value.text {
        "write" | "write_and_verify" | "write_same" => SgWrite::Write,
        "verify" | "verify_bytchk_00" | "verify_bytchk_01" | "verify_bytchk_11" => SgWrite::Verify,
        "write_same_ndob" => SgWrite::Zeroes,
        _ => return Err(Problem::new("expected write, verify_bytchk_00, _01, _11 or write_same_ndob", "")),
    };
    Ok(())
}

/// `replay_skip`: operations of a trace that are left out.
pub fn replay_skip(draft: &mut Draft, value: Value<'_>) -> Applied {
    for kind in value.text.split(',').map(str::trim) {
        draft.replay.adjust.skip.push(match kind {
            "read" => Operation::Read,
            "write" => Operation::Write,
            "trim" => Operation::Trim,
            "sync" => Operation::Flush,
            _ => return Err(Problem::new(format!("'{kind}' is not a kind"), "kinds are read, write, trim and sync")),
        });
    }
    Ok(())
}

/// `replay_scale`: a divisor of offsets, or ours: `fit`.
pub fn replay_scale(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.replay.adjust.scale = match value.text {
        "fit" => Scale::Fit,
        _ => Scale::Divide(value.bytes(1)?),
    };
    Ok(())
}
