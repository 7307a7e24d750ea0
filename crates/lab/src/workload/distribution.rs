//! Skewed random addresses: zipf, pareto, normal, zoned, over the blocks 0 … n−1 of a region.
//!
//! With u uniform in [0, 1), as fio 3.33 has them:
//!
//! - zipf: rank = n · (η u − η + 1)^(1/(1−θ)) with η = (1 − (2/n)^(1−θ)) / (1 − ζ(2)/ζ(n)), but rank 0 where
//!   u ζ(n) < 1, rank 1 where it is < 1 + 2^−θ; ζ(k) = Σ i^−θ up to k (Gray and others 1994, an approximation of
//!   the weights i^−θ). fio adds up ten million terms of ζ(n) at most, and so do we.
//! - pareto: rank = (n−1) · u^(ln h / ln(1−h)).
//! - normal: rank = the mean of twelve uniform draws from 0 … n, plus a uniform draw around 0 that is as wide as the
//!   given share s of the region. The standard deviation is √(1/12² + s²/12), and not s.
//! - All three: block = (rank · φ mod 2⁶⁴ + shift) mod n, φ = 0x61C8864680B583EB. Where n is no power of two,
//!   several ranks share a block, and some blocks have none: of 64,000 blocks 25,712 are ever met, of 65,536 all.
//! - zoned: a zone is drawn by its share, then a block of it uniformly.
//!
//! Two forms are ours, for what was measured on drives whose hot pages lie mixed with cold ones:
//! - zipf with a number of ranks, exactly (rejection-inversion, Hörmann and Derflinger 1996), spread over the region by
//!   a bijection. Of more ranks than blocks each block takes as many in a row, so that a small model's blocks get the
//!   share of the writes that the same part of a large drive gets.
//! - zoned, scattered: the zones' blocks are spread over the region by such a bijection.

use super::error::Problem;
use super::job::{Distribution, Extent, Zone};
use super::permutation::{Permutation, keyed};
use super::random::Stream;

/// fio's factor, 2⁶⁴ less the golden ratio's fraction of it, odd.
const HASH_FACTOR: u64 = 0x61C8_8646_80B5_83EB;
/// Terms of ζ(n) that fio adds up at most.
const MOST_TERMS: u64 = 10_000_000;
/// Draws that fio's normal averages.
const BELL_DRAWS: u64 = 12;

/// A skewed distribution over the blocks of a region.
#[derive(Clone, Debug)]
pub enum Skew {
    /// fio's zipf.
    Zipf(Gray, Hash),
    /// Exact zipf ranks, as many a block as given, spread.
    ExactZipf(Zipf, f64, Spread),
    /// Ranks by the power ln h / ln(1−h).
    Pareto(f64, Hash),
    /// A bell, and the width of the uniform draw on top of it, in blocks.
    Normal(f64, Hash),
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
            // A sequence draws nothing.
            Distribution::Uniform | Distribution::Sequence { .. } => return Ok(None),
            Distribution::Zipf { theta, center, ranks: Some(ranks) } => {
                let (ranks, spread) = (ranks_of(*ranks, count)?, Spread::new(count, *center, stream));
                Skew::ExactZipf(Zipf::new(ranks, *theta), ranks as f64 / count as f64, spread)
            }
            Distribution::Zipf { theta, center, ranks: None } => {
                Skew::Zipf(Gray::new(count, *theta), Hash::new(count, *center, stream))
            }
            Distribution::Pareto { h, center } => {
                Skew::Pareto(libm::log(*h) / libm::log(1.0 - *h), Hash::new(count, *center, stream))
            }
            Distribution::Normal { deviation_percent, center } => {
                let width = libm::ceil(count as f64 * deviation_percent / 100.0);
                let shift = center.map_or(0, |center| (count as f64 * (center - 0.5)) as i64 as u64);
                Skew::Normal(width.min((count / 2) as f64), Hash { count, factor: HASH_FACTOR, shift })
            }
            Distribution::Zoned(_) => Skew::Zoned(zone_table(zones, blocks)?),
            Distribution::Scattered(_) => Skew::Scattered(zone_table(zones, blocks)?, Spread::new(count, None, stream)),
        }))
    }

    /// The same ranks where they are not hashed, as fio has it for files.
    pub fn unhashed(mut self) -> Skew {
        if let Skew::Zipf(_, hash) | Skew::Pareto(_, hash) | Skew::Normal(_, hash) = &mut self {
            hash.factor = 1;
        }
        self
    }

    /// The next block.
    pub fn next(&self, stream: &mut Stream) -> u64 {
        match self {
            Skew::Zipf(zipf, hash) => hash.block(zipf.next(stream)),
            Skew::ExactZipf(zipf, ranks, spread) => {
                let block = (zipf.next(stream) as f64 / ranks) as u64;
                spread.block(block.min(spread.count - 1))
            }
            Skew::Pareto(power, hash) => {
                let rank = (hash.count - 1) as f64 * libm::pow(stream.unit(), *power);
                hash.block(rank as u64)
            }
            Skew::Normal(width, hash) => hash.block(bell(hash.count, *width, stream)),
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

fn ranks_of(ranks: u64, blocks: u64) -> Result<u64, Problem> {
    if ranks >= blocks {
        return Ok(ranks);
    }
    let message = format!("{ranks} ranks are fewer than the {blocks} blocks that share them");
    Err(Problem::new(message, "give more ranks, a larger bs or a smaller size"))
}

/// The mean of twelve draws, rounded up, and a draw of the given width around 0, halved until both stay within
/// the blocks.
fn bell(count: u64, width: f64, stream: &mut Stream) -> u64 {
    let sum: u64 = (0..BELL_DRAWS).map(|_| stream.below(count + 1)).sum();
    let mean = sum.div_ceil(BELL_DRAWS) as i64;
    let mut beside = (stream.unit() * width) as i64 - (width / 2.0) as i64;
    while beside != 0 && !(0..count as i64).contains(&(mean + beside)) {
        beside /= 2;
    }
    (mean + beside) as u64
}

/// How fio places ranks: a multiplication, and a shift.
#[derive(Clone, Debug)]
pub struct Hash {
    count: u64,
    factor: u64,
    shift: u64,
}

impl Hash {
    /// With the hottest block at a share of the region, or anywhere.
    fn new(count: u64, center: Option<f64>, stream: &mut Stream) -> Hash {
        let anywhere = stream.next() >> 32;
        Hash { count, factor: HASH_FACTOR, shift: center.map_or(anywhere, |center| (count as f64 * center) as u64) }
    }

    fn block(&self, rank: u64) -> u64 {
        rank.wrapping_mul(self.factor).wrapping_add(self.shift) % self.count
    }
}

/// fio's approximate zipf ranks for any exponent but 1.
#[derive(Clone, Debug)]
pub struct Gray {
    count: u64,
    alpha: f64,
    eta: f64,
    zeta: f64,
    /// 1 + 2^−θ.
    zeta_of_two: f64,
}

impl Gray {
    fn new(count: u64, theta: f64) -> Gray {
        let zeta = zeta(count.min(MOST_TERMS), theta);
        let zeta_of_two = 1.0 + libm::pow(0.5, theta);
        let eta = (1.0 - libm::pow(2.0 / count as f64, 1.0 - theta)) / (1.0 - zeta_of_two / zeta);
        Gray { count, alpha: 1.0 / (1.0 - theta), eta, zeta, zeta_of_two }
    }

    /// A rank counted from 0.
    fn next(&self, stream: &mut Stream) -> u64 {
        let draw = stream.unit();
        match draw * self.zeta {
            area if area < 1.0 => 0,
            area if area < self.zeta_of_two => 1,
            _ => (self.count as f64 * libm::pow(self.eta * draw - self.eta + 1.0, self.alpha)) as u64,
        }
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

/// Σ i^−θ for i up to n: the first terms one by one, the others by Euler and Maclaurin's formula, within 1e-12 of it.
fn zeta(terms: u64, theta: f64) -> f64 {
    let weight = |i: f64, power: f64| libm::pow(i, power - theta);
    let one_by_one = terms.min(1000);
    let first: f64 = (1..=one_by_one).map(|i| weight(i as f64, 0.0)).sum();
    let (from, to) = (one_by_one as f64, terms as f64);
    let between = |power: f64| weight(to, power) - weight(from, power);
    first + between(1.0) / (1.0 - theta) + between(0.0) / 2.0 - theta * between(-1.0) / 12.0
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
