//! `random_distribution`: which law the random addresses follow; and the spare space that `sprandom` goes by.

use super::{Applied, fill_blanks};
use crate::workload::draft::Draft;
use crate::workload::error::Problem;
use crate::workload::job::{Distribution, Extent, PerDirection, Zone};
use crate::workload::value::Value;

/// fio's own exponents where a distribution is named without one.
const DEFAULT_ZIPF_THETA: f64 = 1.1;
const DEFAULT_PARETO_H: f64 = 0.2;
/// A rank is drawn as a real number, which holds these without a gap.
const MOST_RANKS: u64 = 1 << 48;
/// fio's own limits of a sequence.
const MOST_OF_SEQUENCE: usize = 64;
const MOST_BLOCK: u64 = i32::MAX as u64;

/// `random_distribution`
pub fn distribution(draft: &mut Draft, value: Value<'_>) -> Applied {
    let (kind, input) = value.text.split_once([':', '=']).unwrap_or((value.text, ""));
    if input.is_empty() && kind.len() < value.text.len() {
        return Err(Problem::new("a number is missing behind the colon", "such as zipf:1.2, or zipf alone"));
    }
    draft.job.distribution = match kind.trim() {
        "random" => Distribution::Uniform,
        "zipf" => zipf(value.part(input))?,
        "pareto" => pareto(value.part(input))?,
        "normal" => normal(value.part(input))?,
        "zoned" => Distribution::Zoned(zones(value.part(input), false)?),
        "zoned_scatter" => Distribution::Scattered(zones(value.part(input), false)?),
        "zoned_abs" => Distribution::Zoned(zones(value.part(input), true)?),
        "sequence" => sequence(value.part(input))?,
        kind => {
            let known = "distributions are random, zipf, pareto, normal, zoned, zoned_abs, zoned_scatter and sequence";
            return Err(Problem::new(format!("'{kind}' is not supported"), known));
        }
    };
    Ok(())
}

fn zipf(input: Value<'_>) -> Result<Distribution, Problem> {
    let (law, ranks) = match input.text.split_once(":ranks=") {
        Some((law, ranks)) => (law, Some(input.part(ranks).count(1, MOST_RANKS)?)),
        None => (input.text, None),
    };
    let (theta, center) = input_and_center(input.part(law))?;
    let theta = theta.unwrap_or(DEFAULT_ZIPF_THETA);
    if theta <= 0.0 || theta == 1.0 {
        return Err(Problem::new("theta must be above 0 and not 1", "such as zipf:1.2"));
    }
    Ok(Distribution::Zipf { theta, center, ranks })
}

fn pareto(input: Value<'_>) -> Result<Distribution, Problem> {
    let (h, center) = input_and_center(input)?;
    let h = h.unwrap_or(DEFAULT_PARETO_H);
    if h <= 0.0 || h >= 1.0 {
        return Err(Problem::new("the input must lie between 0 and 1", "such as pareto:0.2"));
    }
    Ok(Distribution::Pareto { h, center })
}

fn normal(input: Value<'_>) -> Result<Distribution, Problem> {
    let (deviation, center) = input_and_center(input)?;
    let deviation_percent = deviation.unwrap_or(0.0);
    if !(0.0..100.0).contains(&deviation_percent) {
        let message = "the deviation must lie between 0 and 100 (percent of the range)";
        return Err(Problem::new(message, "such as normal:10"));
    }
    Ok(Distribution::Normal { deviation_percent, center })
}

/// `sequence:2,0,1`: blocks in their order.
fn sequence(input: Value<'_>) -> Result<Distribution, Problem> {
    let blocks: Vec<&str> = input.text.split(',').collect();
    if blocks.len() > MOST_OF_SEQUENCE {
        let message = format!("{} blocks are more than the {MOST_OF_SEQUENCE} of a sequence", blocks.len());
        return Err(Problem::new(message, "give a shorter sequence, or a fio iolog with read_iolog"));
    }
    let number = |text: &str| {
        let number = text.trim().parse::<u64>().ok().filter(|block| *block <= MOST_BLOCK);
        number.ok_or_else(|| Problem::new(format!("'{}' is not the number of a block", text.trim()), "such as 2,0,1"))
    };
    let blocks = blocks.into_iter().map(number).collect::<Result<_, _>>()?;
    Ok(Distribution::Sequence { blocks, strides: false })
}

/// `spr_op`
pub fn over_provisioning(draft: &mut Draft, value: Value<'_>) -> Applied {
    let ratio = value.real("a ratio such as 0.15")?;
    if ratio <= 0.0 || ratio >= 1.0 {
        return Err(Problem::new("the ratio must lie between 0 and 1", "such as 0.07 for 7 % of spare space"));
    }
    draft.order.shape.over_provisioning = ratio;
    Ok(())
}

fn input_and_center(value: Value<'_>) -> Result<(Option<f64>, Option<f64>), Problem> {
    let (input, center) = value.text.split_once(':').unwrap_or((value.text, ""));
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        text => value.part(text).real("a number").map(Some),
    };
    let (input, center) = (number(input)?, number(center)?);
    if center.is_some_and(|center| !(0.0..=1.0).contains(&center)) {
        return Err(Problem::new("the center must lie between 0 and 1", ""));
    }
    Ok((input, center))
}

fn zones(value: Value<'_>, absolute: bool) -> Result<PerDirection<Vec<Zone>>, Problem> {
    let mut zones = PerDirection::default();
    value.per_direction(&mut zones, |value| one_direction_zones(value, absolute))?;
    if zones.read.is_empty() || zones.write.is_empty() || zones.trim.is_empty() {
        return Err(Problem::new("a direction has no zones", "give zones for each direction"));
    }
    Ok(zones)
}

fn one_direction_zones(value: Value<'_>, absolute: bool) -> Result<Vec<Zone>, Problem> {
    let (mut access, mut sizes) = (Vec::new(), Vec::new());
    for part in value.text.split(':').filter(|part| !part.trim().is_empty()) {
        let (share, size) = part.split_once('/').unwrap_or((part, ""));
        access.push(f64::from(value.part(share).percent()?));
        let size = value.part(size.trim().trim_end_matches('%'));
        sizes.push(if absolute {
            Some(size.bytes(1)? as f64)
        } else {
            Some(size.text).filter(|text| !text.is_empty()).map(|_| size.percent()).transpose()?.map(f64::from)
        });
    }
    let total: f64 = access.iter().sum();
    if total != 100.0 {
        let message = format!("the shares of the accesses add up to {total} %, not 100");
        return Err(Problem::new(message, "write share/size:share/size, as in 60/10:40/90"));
    }
    let sizes = if absolute { sizes.into_iter().flatten().collect() } else { zone_percents(sizes)? };
    let size = |size: f64| {
        if absolute { Extent::Bytes(size as u64) } else { Extent::Percent(size) }
    };
    let zones = access.into_iter().zip(sizes);
    Ok(zones.map(|(access_percent, s)| Zone { access_percent, size: size(s) }).collect())
}

/// Unlike shares, sizes may cover less than everything.
fn zone_percents(sizes: Vec<Option<f64>>) -> Result<Vec<f64>, Problem> {
    let given: f64 = sizes.iter().flatten().sum();
    if given <= 100.0 && sizes.iter().all(Option::is_some) {
        return Ok(sizes.into_iter().flatten().collect());
    }
    fill_blanks(sizes)
}
