//! Wear and errors: how long a block endures and how often a read of it goes wrong.
//!
//! Raw bit error rate (a common empirical form; the parameters are the profile's):
//!   RBER = fresh + rated·w² + per_day·days·w + per_read·reads,   w = erases / endurance of the block.
//! The days are `reliability.retention_days`, the same for everything in the drive: a run takes
//! seconds of virtual time, so data ages between runs (a drive on the shelf), not within one.
//! A codeword of n bits with up to t correctable errors fails with P(X > t), X ~ Poisson(n·RBER);
//! a retry sees the rate times `retry_gain`. Only the probability that the first attempt fails is
//! drawn for every read; it is worked out anew when a block is erased and every 1024 reads of it,
//! so that leaving errors on costs one comparison a read.
//!
//! Left out: read disturb of single word lines, differences between page kinds, temperature.

use crate::config::nand::ReliabilityConfig;

/// How a read went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOutcome {
    /// Further attempts that were needed.
    pub retries: u32,
    /// Even the last attempt failed.
    pub uncorrectable: bool,
}

/// Raw bit error rate of a block.
pub fn raw_bit_error_rate(config: &ReliabilityConfig, wear: f64, reads: u32) -> f64 {
    let rate = config.rber_fresh
        + config.rber_rated * wear * wear
        + config.rber_per_day * config.retention_days * wear
        + config.rber_per_read * f64::from(reads);
    rate.min(0.5)
}

/// Probability that at least one of `codewords` has more errors than the ECC corrects.
pub fn failure_probability(config: &ReliabilityConfig, rate: f64, codewords: u32) -> f64 {
    let mean = rate * config.codeword_bytes.0 as f64 * 8.0;
    let fail = poisson_tail(mean, config.correctable_bits);
    -libm::expm1(f64::from(codewords) * libm::log1p(-fail.min(1.0 - 1e-16)))
}

/// P(X > most) for X ~ Poisson(mean): the complement of the regularised incomplete gamma function,
/// summed from its largest term.
fn poisson_tail(mean: f64, most: u32) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    let first = f64::from(most + 1);
    let mut term = libm::exp(first * libm::log(mean) - mean - libm::lgamma(first + 1.0));
    if mean > first {
        // The bulk lies above: sum the other side.
        let mut below = 0.0;
        let mut count = f64::from(most);
        term = libm::exp(count * libm::log(mean) - mean - libm::lgamma(count + 1.0));
        while count >= 0.0 && term > 1e-18 {
            below += term;
            term *= count / mean;
            count -= 1.0;
        }
        return (1.0 - below).max(0.0);
    }
    let (mut sum, mut count) = (0.0, first);
    while term > sum * 1e-15 && term > 0.0 {
        sum += term;
        count += 1.0;
        term *= mean / count;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod test {
    use super::*;

    /// The Poisson tail equals its definition by hand: P(X > 0) = 1 − e⁻¹, P(X > 1) = 1 − 2e⁻¹ at mean 1.
    #[test]
    fn poisson_tail_by_hand() {
        let e = libm::exp(-1.0);
        assert!((poisson_tail(1.0, 0) - (1.0 - e)).abs() < 1e-12);
        assert!((poisson_tail(1.0, 1) - (1.0 - 2.0 * e)).abs() < 1e-12);
        assert!((poisson_tail(50.0, 40) - 0.913_930_0).abs() < 1e-6, "{}", poisson_tail(50.0, 40));
        assert!(poisson_tail(1e-6, 40) < 1e-200);
    }
}
