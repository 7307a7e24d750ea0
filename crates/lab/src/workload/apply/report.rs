//! What the options mean that shape a report.

use super::Applied;
use crate::workload::draft::Draft;
use crate::workload::error::Problem;
use crate::workload::value::Value;

/// fio's own limit.
const MOST_PERCENTILES: usize = 20;

/// `percentile_list`: percentiles with colons between them, reported in rising order.
pub fn percentiles(draft: &mut Draft, value: Value<'_>) -> Applied {
    let remedy = "write percentages with colons between them, such as 50:99:99.9";
    let mut percentiles = Vec::new();
    for part in value.text.split(':') {
        let percent = value.part(part).real("percentiles").map_err(|problem| Problem::new(problem.message, remedy))?;
        if !(0.0..=100.0).contains(&percent) || percent == 0.0 {
            let message = format!("{}: a percentile lies above 0 and at most at 100", part.trim());
            return Err(Problem::new(message, remedy));
        }
        percentiles.push(percent);
    }
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup();
    if percentiles.len() > MOST_PERCENTILES {
        return Err(Problem::new(format!("more than {MOST_PERCENTILES} percentiles"), "leave some out"));
    }
    draft.job.percentiles = percentiles;
    Ok(())
}
