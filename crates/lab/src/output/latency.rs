//! Latencies in fio's normal text, in the unit that suits them.

use super::number::{Prefix, short};
use super::page::{Page, number};
use serde_json::Value;

/// Nanoseconds a displayed unit has, and its name. fio changes the unit only where even the
/// smallest value stays readable.
fn unit(least: f64, most: f64) -> (f64, &'static str) {
    if least > 2_000_000.0 && most > 99_999_999.0 {
        (1e6, "msec")
    } else if least > 2_000.0 && most > 99_999.0 {
        (1e3, "usec")
    } else {
        (1.0, "nsec")
    }
}

/// The line `clat (usec): min=…`.
pub fn latency(page: &mut Page, label: &str, latency: &Value) {
    let (min, max) = (number(&latency["min"]), number(&latency["max"]));
    let (mean, deviation) = (number(&latency["mean"]), number(&latency["stddev"]));
    let (divisor, unit) = latency_unit(min, max, deviation);
    let scaled = |value: f64| short((value / divisor) as u64, 6, Prefix::Decimal, "");
    page.line(format_args!(
        "    {label} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
        scaled(min),
        scaled(max),
        mean / divisor,
        deviation / divisor
    ));
}

/// As [`unit`], where also the deviation has to be readable.
fn latency_unit(min: f64, max: f64, deviation: f64) -> (f64, &'static str) {
    match unit(min, max) {
        (divisor, name) if deviation > divisor => (divisor, name),
        _ if deviation > 1e3 && unit(min, max).0 > 1e3 => (1e3, "usec"),
        _ => (1.0, "nsec"),
    }
}

/// The table of percentiles.
pub fn percentiles(page: &mut Page, name: &str, percentiles: &Value) {
    let Some(entries) = percentiles.as_object().filter(|entries| !entries.is_empty()) else {
        return;
    };
    let values: Vec<f64> = entries.values().map(number).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let (divisor, unit) = unit(values.iter().copied().fold(f64::MAX, f64::min), most);
    page.line(format_args!("    {name} percentiles ({unit}):"));
    let width = format!("{:.0}", (most / divisor).floor()).len().max(5);
    let digits = entries.keys().map(|percent| decimals(percent)).max().unwrap_or(0);
    let cells: Vec<String> = entries
        .keys()
        .zip(&values)
        .map(|(percent, value)| {
            let percent = percent.parse().unwrap_or(0.0_f64);
            format!(" {percent:places$.digits$}th=[{:width$}]", (value / divisor).ceil(), places = digits + 3)
        })
        .collect();
    let per_line = ((80 - 7) / (10 + digits + width)).max(1);
    let rows: Vec<String> = cells.chunks(per_line).map(|row| row.join(",")).collect();
    page.line(format_args!("     |{}", rows.join(",\n     |")));
}

/// Decimals that a percentile needs, as fio shows them: those of the most precise one for all.
fn decimals(percent: &str) -> usize {
    percent.split_once('.').map_or(0, |(_, decimals)| decimals.trim_end_matches('0').len())
}

/// The lines `lat (usec)   : 2=…%`: shares of the requests by their latency.
pub fn latency_ranges(page: &mut Page, unit: &str, ranges: &Value) {
    let Some(ranges) = ranges.as_object() else {
        return;
    };
    let shares = ranges.iter().map(|(end, share)| (end, number(share)));
    let cells: Vec<String> =
        shares.filter(|&(_, share)| share > 0.0).map(|(end, share)| format!("{end}={share:.2}%")).collect();
    for row in cells.chunks(5) {
        page.line(format_args!("  lat ({unit})   : {}", row.join(", ")));
    }
}
