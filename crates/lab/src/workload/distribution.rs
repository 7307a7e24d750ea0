//! Skewed random addresses: zipf, pareto, normal, zoned, over the blocks 0 … n−1 of a region.
//!
//! - zipf: the rank k ≥ 1 is drawn with weight k^−θ, exactly, by rejection-inversion (Hörmann and
//!   Derflinger 1996); fio approximates the same law.
//! - pareto: rank = (n−1) · u^(ln h / ln(1−h)), fio's formula, u uniform.
//! - Ranks of both are spread over the region by a fixed bijection, where fio uses a hash that
//!   may put two ranks on one block. With a center the hottest block lies there.
//! - normal: Gaussian by Box and Muller's polar method, drawn again where it falls outside the
//!   region. The standard deviation is the given share of the region, as fio's manual has it;
//!   fio's program averages twelve uniform draws (a fixed 8.3 %) and hashes the place away.
//! - zoned: a zone is drawn by its share, then a block of it uniformly.
//!
//! Two forms are ours, for what was measured on drives whose hot pages lie mixed with cold ones:
//! - zipf over more ranks than blocks: each block takes as many ranks in a row, so that a small
//!   model's blocks get the share of the writes that the same part of a large drive gets.
//! - zoned, scattered: the zones' blocks are spread over the region by the bijection of the ranks.

use super::error::Problem;
use super::job::{Distribution, Extent, Zone};
use super::permutation::{Permutation, keyed};
use super::random::Stream;

/// A skewed distribution over the blocks of a region.
#[derive(Clone, Debug)]
pub enum Skew {
    /// Zipf ranks, as many a block as given, spread.
    Zipf(Zipf, f64, Spread),
    /// Pareto ranks, spread.
    Pareto {
        /// ln h / ln(1−h).
        power: f64,
        /// Number of blocks.
        count: u64,
        /// Ranks to blocks.
        spread: Spread,
    },
    /// A bell around a center.
    Normal {
        /// Mean, in blocks.
        mean: f64,
        /// Standard deviation, in blocks.
        deviation: f64,
        /// Number of blocks.
        count: u64,
    },
    /// Zones: share in percent, accumulated; first block; number of blocks.
    Zoned(Vec<(f64, u64, u64)>),
    /// Zones as above, spread.
    Scattered(Vec<(f64, u64, u64)>, Spread),
}

/// What a zone is measured against.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Blocks in the region.
    pub count: u64,
    /// Bytes of a block.
    pub bytes: u64,
}

impl Skew {
    /// The distribution over `blocks` (at least one); `zones` are those of the direction asked
    /// for; `None` for the uniform distribution.
    ///
    /// # Errors
    /// Zones larger than the region, or too small to hold a block; fewer ranks than blocks.
    pub fn new(
        distribution: &Distribution,
        zones: &[Zone],
        blocks: Blocks,
        stream: &mut Stream,
    ) -> Result<Option<Skew>, Problem> {
        let count = blocks.count;
        Ok(Some(match distribution {
            Distribution::Uniform => return Ok(None),
            Distribution::Zipf { theta, center, ranks } => {
                let ranks = ranks_of(*ranks, count)?;
                Skew::Zipf(Zipf::new(ranks, *theta), ranks as f64 / count as f64, Spread::new(count, *center, stream))
            }
            Distribution::Pareto { h, center } => Skew::Pareto {
                power: libm::log(*h) / libm::log(1.0 - *h),
                count,
                spread: Spread::new(count, *center, stream),
            },
            Distribution::Normal { deviation_percent, center } => {
                Skew::Normal { mean: center * count as f64, deviation: deviation_percent / 100.0 * count as f64, count }
            }
            Distribution::Zoned(_) => Skew::Zoned(zone_table(zones, blocks)?),
            Distribution::Scattered(_) => Skew::Scattered(zone_table(zones, blocks)?, Spread::new(count, None, stream)),
        }))
    }

    /// The next block.
    pub fn next(&self, stream: &mut Stream) -> u64 {
        match self {
            Skew::Zipf(zipf, ranks, spread) => {
                let block = (zipf.next(stream) as f64 / ranks) as u64;
                spread.block(block.min(spread.count - 1))
            }
            Skew::Pareto { power, count, spread } => {
                let rank = (count - 1) as f64 * libm::pow(stream.unit(), *power);
                spread.block((rank as u64).min(count - 1))
            }
            Skew::Normal { mean, deviation, count } => loop {
                let place = mean + deviation * standard_normal(stream);
                if place >= 0.0 && place < *count as f64 {
                    return place as u64;
                }
            },
            Skew::Zoned(zones) => place_in(zones, stream),
            Skew::Scattered(zones, spread) => spread.block(place_in(zones, stream)),
        }
    }
}

fn place_in(zones: &[(f64, u64, u64)], stream: &mut Stream) -> u64 {
    let draw = stream.unit() * 100.0;
    let zone = zones.iter().find(|(up_to, ..)| draw < *up_to).or(zones.last());
    zone.map_or(0, |(_, first, count)| first + stream.below(*count))
}

fn ranks_of(ranks: Option<u64>, blocks: u64) -> Result<u64, Problem> {
    match ranks {
        Some(ranks) if ranks < blocks => {
            let message = format!("{ranks} ranks are fewer than the {blocks} blocks that share them");
            Err(Problem::new(message, "give more ranks, a larger bs or a smaller size"))
        }
        ranks => Ok(ranks.unwrap_or(blocks)),
    }
}

/// Ranks to blocks, by a bijection and a rotation.
#[derive(Clone, Debug)]
pub struct Spread {
    permutation: Permutation,
    count: u64,
    rotation: u64,
}

impl Spread {
    fn new(count: u64, center: Option<f64>, stream: &mut Stream) -> Spread {
        let permutation = keyed(count, stream.next());
        let rotation = center.map_or(0, |center| {
            let hottest = (center * count as f64) as u64;
            (hottest.min(count - 1) + count - permutation.at(0)) % count
        });
        Spread { permutation, count, rotation }
    }

    fn block(&self, rank: u64) -> u64 {
        let block = self.permutation.at(rank) + self.rotation;
        if block >= self.count { block - self.count } else { block }
    }
}

/// Exact zipf ranks for any exponent above 0 but 1.
#[derive(Clone, Debug)]
pub struct Zipf {
    count: u64,
    theta: f64,
    /// H(1.5) − 1, where the area under the hat begins.
    least: f64,
    /// H(n + 0.5), where it ends.
    most: f64,
    /// Ranks this near to their draw need no test.
    squeeze: f64,
}

impl Zipf {
    fn new(count: u64, theta: f64) -> Zipf {
        let mut zipf = Zipf { count, theta, least: 0.0, most: 0.0, squeeze: 0.0 };
        zipf.least = zipf.area(1.5) - 1.0;
        zipf.most = zipf.area(count as f64 + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse_area(zipf.area(2.5) - zipf.weight(2.0));
        zipf
    }

    /// x^−θ
    fn weight(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// H(x) = (x^(1−θ) − 1) / (1 − θ), the integral of the weight from 1.
    fn area(&self, x: f64) -> f64 {
        libm::expm1((1.0 - self.theta) * libm::log(x)) / (1.0 - self.theta)
    }

    fn inverse_area(&self, area: f64) -> f64 {
        let argument = (area * (1.0 - self.theta)).max(-1.0);
        libm::exp(libm::log1p(argument) / (1.0 - self.theta))
    }

    /// A rank counted from 0.
    fn next(&self, stream: &mut Stream) -> u64 {
        loop {
            let area = self.most + stream.unit() * (self.least - self.most);
            let x = self.inverse_area(area);
            let rank = libm::round(x).clamp(1.0, self.count as f64);
            if rank - x <= self.squeeze || area >= self.area(rank + 0.5) - self.weight(rank) {
                return (rank as u64).min(self.count) - 1;
            }
        }
    }
}

fn standard_normal(stream: &mut Stream) -> f64 {
    loop {
        let (x, y) = (2.0 * stream.unit() - 1.0, 2.0 * stream.unit() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * libm::sqrt(-2.0 * libm::log(square) / square);
        }
    }
}

fn zone_table(zones: &[Zone], blocks: Blocks) -> Result<Vec<(f64, u64, u64)>, Problem> {
    let mut table = Vec::with_capacity(zones.len());
    let (mut share, mut percent, mut bytes) = (0.0, 0.0, 0u64);
    for zone in zones {
        let block = |bytes: u64, percent: f64| bytes / blocks.bytes + (percent / 100.0 * blocks.count as f64) as u64;
        let first = block(bytes, percent);
        match zone.size {
            Extent::Bytes(size) => bytes = bytes.saturating_add(size),
            Extent::Percent(size) => percent += size,
        }
        let end = block(bytes, percent);
        if end > blocks.count {
            let message = format!("the zones reach to byte {bytes}");
            let remedy = format!("the region has {} bytes", blocks.count * blocks.bytes);
            return Err(Problem::new(message, remedy));
        }
        share += zone.access_percent;
        if zone.access_percent == 0.0 {
            continue;
        }
        if end == first {
            let message = "a zone is smaller than a block";
            return Err(Problem::new(message, "enlarge the zone or the region"));
        }
        table.push((share, first, end - first));
    }
    Ok(table)
}
