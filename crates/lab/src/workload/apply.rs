//! What the options with more than a plain number mean: one function each, named in the table.

use super::draft::{Criterion, Draft, PatternSuffix};
use super::error::Problem;
use super::job::{BlockSizes, Pattern, SizeShare, SteadyMetric};
use super::value::{DefaultUnit, Value};

mod placement;
mod report;
mod skew;
mod timing;

pub use placement::{
    block_range, file_service, file_size, replay_scale, replay_skip, sg_write_mode, verify, zone_mode,
};
pub use report::percentiles;
pub use skew::{distribution, over_provisioning};
pub use timing::{
    continue_on_error, exit_what, latency, latency_percentile, rate_process, start_delay, think_blocks_type, wait_for,
};

type Applied = Result<(), Problem>;

/// `name`
pub fn name(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.name = value.text.to_string();
    Ok(())
}

/// `filename`: one drive of the run.
pub fn file_name(draft: &mut Draft, value: Value<'_>) -> Applied {
    if value.text.is_empty() {
        return Err(Problem::new("a name is missing", ""));
    }
    if value.text.contains(':') && !value.text.contains("\\:") {
        let remedy = "give each drive a job of its own";
        return Err(Problem::new("a job works on one drive", remedy));
    }
    draft.job.filename = Some(value.text.replace("\\:", ":"));
    Ok(())
}

/// `libblkio_path`: one drive of the run; a colon is part of it.
pub fn path(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.filename = Some(value.text.to_string());
    Ok(())
}

/// `rw`, with the suffix `:N` of the random patterns.
pub fn pattern(draft: &mut Draft, value: Value<'_>) -> Applied {
    let (kind, suffix) = match value.text.split_once(':') {
        Some((kind, suffix)) => (kind.trim(), Some(suffix)),
        None => (value.text, None),
    };
    let (sequential, random) = match kind.strip_prefix("rand") {
        Some(rest) => (rest, true),
        None => (kind, false),
    };
    let (reads, writes, trims) = match sequential {
        "read" => (true, false, false),
        "write" => (false, true, false),
        "trim" => (false, false, true),
        "rw" => (true, true, false),
        "readwrite" if !random => (true, true, false),
        "trimwrite" => (false, true, true),
        _ => return Err(unknown_pattern(kind)),
    };
    draft.job.pattern = Pattern { reads, writes, trims, random };
    draft.pattern_suffix = match suffix {
        None => None,
        Some(suffix) if random => Some(PatternSuffix::Run(value.part(suffix).count_u32(1)?)),
        Some(suffix) => Some(PatternSuffix::Hole(hole(&value, suffix)?)),
    };
    Ok(())
}

/// Bytes left out between two sequential requests; with a minus sign the job goes backwards.
fn hole(value: &Value<'_>, suffix: &str) -> Result<i64, Problem> {
    let (digits, sign) = match suffix.trim().strip_prefix('-') {
        Some(digits) => (digits, -1),
        None => (suffix, 1),
    };
    let bytes = Value { text: digits.trim(), ..*value }.count(0, 1 << 62)?;
    Ok(sign * bytes as i64)
}

fn unknown_pattern(kind: &str) -> Problem {
    let known = "read, write, trim, randread, randwrite, randtrim, rw, randrw, trimwrite, randtrimwrite";
    Problem::new(format!("'{kind}' is not a pattern"), format!("patterns are {known}"))
}

/// `rw_sequencer`
pub fn sequencer(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.repeats_place = match value.text {
        "sequential" => false,
        "identical" => true,
        _ => return Err(Problem::new("expected sequential or identical", "")),
    };
    Ok(())
}

/// `ioengine`: what matters to a drive is whether it is synchronous, and whether a page cache lies before it.
pub fn engine(draft: &mut Draft, value: Value<'_>) -> Applied {
    let engine = value.text.split(':').next().unwrap_or_default();
    draft.engine_is_direct = matches!(engine, "io_uring_cmd" | "xnvme" | "libblkio" | "sg");
    match engine {
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" | "mmap" => {
            draft.synchronous_engine = Some(engine.to_string());
            draft.job.is_queued_by_engine = false;
        }
        "libaio" | "io_uring" | "io_uring_cmd" | "posixaio" | "solarisaio" | "windowsaio" | "nbd" | "sg" | "null"
        | "xnvme" | "libblkio" => {
            draft.synchronous_engine = None;
            draft.job.is_queued_by_engine = true;
        }
        "libzbc" | "cpuio" | "net" | "netsplice" | "splice" | "ftruncate" | "filecreate" | "filestat"
        | "filedelete" | "falloc" | "e4defrag" | "exec" | "gfapi" | "gfapi_async" | "mtd" | "rdma" | "rados"
        | "rbd" | "http" | "hdfs" | "libhdfs" | "nfs" | "dfs" | "libiscsi" | "pmemblk" | "dev-dax" | "libpmem"
        | "libcufile" | "external" => {
            return Err(Problem::new(
                "this engine does no plain I/O on a block device",
                "use libaio or io_uring, or psync for depth 1",
            ));
        }
        _ => {
            return Err(Problem::new("fio has no such engine", "use libaio, io_uring or psync"));
        }
    }
    Ok(())
}

/// `bs`: `reads,writes,trims`. fio reads a range as the first two of them.
pub fn block_bytes(draft: &mut Draft, value: Value<'_>) -> Applied {
    let text = parted_by_commas(value.text);
    Value { text: &text, ..value }.per_direction(&mut draft.block_bytes, |value| value.block_bytes())
}

/// fio's program parts directions by dashes and colons, too: what follows one is the next direction's, until a comma
/// begins that one anew.
fn parted_by_commas(text: &str) -> String {
    if !text.contains(['-', ':']) || text.starts_with('-') {
        return text.to_string();
    }
    let mut directions: Vec<&str> = Vec::new();
    for (number, part) in text.split(',').enumerate() {
        directions.truncate(directions.len().min(number));
        directions.extend(part.split(['-', ':']));
    }
    directions.join(",")
}

/// `bssplit`: `size/percent:size/percent`, blanks share what is left, commas part directions.
pub fn block_split(draft: &mut Draft, value: Value<'_>) -> Applied {
    let mut split = draft.split.take().unwrap_or_default();
    value.per_direction(&mut split, one_split)?;
    draft.split = Some(split);
    Ok(())
}

/// fio goes through the sizes by rising share, and adds them up to 100: the last takes what is missing, and what is
/// beyond is not drawn.
fn one_split(value: Value<'_>) -> Result<BlockSizes, Problem> {
    let mut shares: Vec<(u32, Option<f64>)> = Vec::new();
    for part in value.text.split(':').filter(|part| !part.trim().is_empty()) {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let percent = match percent.trim().trim_end_matches('%') {
            "" => None,
            percent => Some(f64::from(value.part(percent).percent()?)),
        };
        shares.push((value.part(size).block_bytes()?, percent));
    }
    if shares.is_empty() {
        return Err(Problem::new("a size is missing", "such as 4k/60:8k/40"));
    }
    let given: f64 = shares.iter().filter_map(|(_, percent)| *percent).sum();
    let blanks = shares.iter().filter(|(_, percent)| percent.is_none()).count();
    if given > 100.0 && blanks > 1 {
        let remedy = "shares add up to 100 at most, and blank ones take what is left";
        return Err(Problem::new(format!("the shares add up to {given} %"), remedy));
    }
    let blank = ((100.0 - given).max(0.0) / blanks.max(1) as f64).floor();
    let mut sizes: BlockSizes =
        shares.into_iter().map(|(bytes, p)| SizeShare { bytes, percent: p.unwrap_or(blank) }).collect();
    sizes.sort_by(|one, other| one.percent.total_cmp(&other.percent));
    let mut left = 100.0;
    for share in &mut sizes {
        share.percent = share.percent.min(left);
        left -= share.percent;
    }
    if let Some(last) = sizes.last_mut() {
        last.percent += left;
    }
    Ok(sizes)
}

/// Gives each blank an even share of what is left of 100 %.
fn fill_blanks(percents: Vec<Option<f64>>) -> Result<Vec<f64>, Problem> {
    let given: f64 = percents.iter().flatten().sum();
    let blanks = percents.iter().filter(|percent| percent.is_none()).count();
    if given > 100.0 || (blanks == 0 && given != 100.0) {
        let remedy = "shares add up to 100; a blank one takes what is left";
        return Err(Problem::new(format!("the shares add up to {given} %"), remedy));
    }
    let rest = (100.0 - given) / blanks.max(1) as f64;
    Ok(percents.into_iter().map(|percent| percent.unwrap_or(rest)).collect())
}

/// `sync`: O_SYNC and O_DSYNC are one to a block device, whose writes then come with FUA.
pub fn synchronous_writes(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.synchronous_writes = match value.text {
        "0" | "none" => false,
        "1" | "sync" | "dsync" => true,
        _ => return Err(Problem::new("expected none, sync or dsync", "0 means none, 1 means sync")),
    };
    Ok(())
}

/// `runtime`
pub fn runtime(draft: &mut Draft, value: Value<'_>) -> Applied {
    let time = value.time(DefaultUnit::Seconds)?;
    draft.job.runtime = (time.0 > 0).then_some(time);
    Ok(())
}

/// `ramp_time`
pub fn ramp_time(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.ramp_time = value.time(DefaultUnit::Seconds)?;
    Ok(())
}

/// `thinktime`
pub fn think_time(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.think_time = value.time(DefaultUnit::Microseconds)?;
    Ok(())
}

/// `number_ios`; 0 is no limit.
pub fn number_ios(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.number_ios = Some(value.bytes(0)?).filter(|number| *number > 0);
    Ok(())
}

/// `rate` and `rate_iops`; 0 is no cap.
pub fn cap(value: Value<'_>) -> Result<Option<u64>, Problem> {
    Ok(Some(value.bytes(0)?).filter(|cap| *cap > 0))
}

/// `buffer_compress_percentage`
pub fn compress_percent(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.compress_percent = value.percent()? as u8;
    draft.has_compression = true;
    Ok(())
}

/// `random_generator`: which numbers are drawn does not matter, whether all blocks are met does.
pub fn random_generator(draft: &mut Draft, value: Value<'_>) -> Applied {
    let is_full_period = match value.text {
        "tausworthe" | "tausworthe64" => false,
        "lfsr" => true,
        _ => {
            return Err(Problem::new("expected tausworthe, tausworthe64 or lfsr", ""));
        }
    };
    (draft.job.full_period, draft.order.wants_draws) = (is_full_period, !is_full_period);
    Ok(())
}

/// `steadystate`: criterion and limit.
pub fn steady_state(draft: &mut Draft, value: Value<'_>) -> Applied {
    let (criterion, limit) = value.text.split_once(':').unwrap_or((value.text, ""));
    let (metric, slope) = match criterion.trim() {
        "iops" => (SteadyMetric::Iops, false),
        "iops_slope" => (SteadyMetric::Iops, true),
        "bw" => (SteadyMetric::Bandwidth, false),
        "bw_slope" => (SteadyMetric::Bandwidth, true),
        "lat" => (SteadyMetric::Latency, false),
        "lat_slope" => (SteadyMetric::Latency, true),
        other => {
            let known = "criteria are iops, bw and lat, each also with _slope";
            return Err(Problem::new(format!("'{other}' is not a criterion"), known));
        }
    };
    let limit = value.part(limit);
    let percent = limit.text.strip_suffix('%');
    let number = match (percent, metric) {
        (Some(percent), _) => value.part(percent).real("a percentage such as 5%")?,
        (None, SteadyMetric::Iops) => limit.real("a limit such as 100 or 5%")?,
        (None, SteadyMetric::Bandwidth) => limit.bytes(0)? as f64,
        (None, SteadyMetric::Latency) => limit.time(DefaultUnit::Microseconds)?.0 as f64,
    };
    if number < 0.0 {
        return Err(Problem::new("a limit is not negative", ""));
    }
    let limit_is_percent = percent.is_some();
    draft.criterion = Some(Criterion { metric, slope, limit: number, limit_is_percent });
    Ok(())
}

/// `steadystate_duration`
pub fn steady_window(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.steady_window = value.time(DefaultUnit::Seconds)?;
    Ok(())
}

/// `steadystate_ramp_time`
pub fn steady_ramp(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.steady_ramp = value.time(DefaultUnit::Seconds)?;
    Ok(())
}

/// `steadystate_check_interval`
pub fn steady_interval(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.steady_interval = value.time(DefaultUnit::Seconds)?;
    Ok(())
}
