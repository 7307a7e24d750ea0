//! What the options mean that start, pace and end a job.

use super::Applied;
use crate::workload::draft::Draft;
use crate::workload::error::Problem;
use crate::workload::job::{ExitWhat, PerDirection};
use crate::workload::value::{DefaultUnit, Value};
use ssdlab_device::units::Nanos;

/// `startdelay`: a time, or two with a dash between them.
pub fn start_delay(draft: &mut Draft, value: Value<'_>) -> Applied {
    let (least, most) = if value.text.contains('-') { value.range()? } else { (value, value) };
    let (least, most) = (least.time(DefaultUnit::Seconds)?, most.time(DefaultUnit::Seconds)?);
    if least > most {
        return Err(Problem::new("the range is empty", "write the shorter time first, such as 1-5"));
    }
    draft.job.start_delay = (least, most);
    Ok(())
}

/// `wait_for`
pub fn wait_for(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.wait_for = Some(value.text.to_string());
    Ok(())
}

/// `exit_what`
pub fn exit_what(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.exit_what = match value.text {
        "group" => ExitWhat::Group,
        "stonewall" => ExitWhat::Stonewall,
        "all" => ExitWhat::All,
        _ => return Err(Problem::new("expected group, stonewall or all", "")),
    };
    Ok(())
}

/// `continue_on_error`: which requests may fail without ending the job.
pub fn continue_on_error(draft: &mut Draft, value: Value<'_>) -> Applied {
    let (read, write) = match value.text {
        "none" | "0" | "verify" => (false, false),
        "read" => (true, false),
        "write" => (false, true),
        "io" | "all" | "1" => (true, true),
        _ => return Err(Problem::new("expected none, read, write, io, verify or all", "")),
    };
    draft.job.continue_on_error = PerDirection { read, write, trim: write };
    Ok(())
}

/// `rate_process`
pub fn rate_process(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.rate_poisson = match value.text {
        "linear" => false,
        "poisson" => true,
        _ => return Err(Problem::new("expected linear or poisson", "")),
    };
    Ok(())
}

/// `thinktime_blocks_type`
pub fn think_blocks_type(draft: &mut Draft, value: Value<'_>) -> Applied {
    draft.job.think_by_issue = match value.text {
        "complete" => false,
        "issue" => true,
        _ => return Err(Problem::new("expected complete or issue", "")),
    };
    Ok(())
}

/// A limit of latency; 0 is none.
pub fn latency(value: Value<'_>) -> Result<Option<Nanos>, Problem> {
    Ok(Some(value.time(DefaultUnit::Microseconds)?).filter(|time| time.0 > 0))
}

/// `latency_percentile`
pub fn latency_percentile(draft: &mut Draft, value: Value<'_>) -> Applied {
    let percent = value.real("a percentage such as 99.9")?;
    if !(0.0..=100.0).contains(&percent) || percent == 0.0 {
        return Err(Problem::new("a percentile lies above 0 and at most at 100", ""));
    }
    draft.latency_percentile = percent;
    Ok(())
}
