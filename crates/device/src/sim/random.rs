//! Seeded randomness, a stream of its own for every part: a draw more in one part leaves all
//! others as they were.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// The parts of a drive that draw.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// Which blocks are bad from the factory, how long each endures.
    Manufacture = 1,
    /// Choice of victims.
    Victim = 2,
    /// Bit errors, failing programs.
    Errors = 3,
    /// How far a disk has turned at the beginning.
    Spindle = 4,
    /// Hangs of the host link.
    Link = 5,
    /// Latencies of commands.
    Latency = 6,
    /// What a loss of power takes.
    PowerCut = 7,
    /// What a faulty drive does besides at a loss of power.
    Faults = 8,
}

/// A probability, as what a draw of 53 bits stays below: compared without a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chance(u64);

impl Chance {
    /// Of this probability, to 2⁻⁵³: what [`Stream::unit`] below it would be.
    pub fn new(probability: f64) -> Chance {
        Chance((probability * (1u64 << 53) as f64).ceil() as u64)
    }

    /// It may come about.
    #[inline(always)]
    pub fn is_possible(self) -> bool {
        self.0 > 0
    }
}

/// A stream of random numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of one part under one seed.
    pub fn new(seed: u64, purpose: Purpose) -> Stream {
        // SplitMix64's increment keeps the streams of neighbouring seeds and purposes apart.
        let mixed = seed ^ (purpose as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Stream(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// A number below `bound`, each alike up to 2⁻³² (Lemire's multiply).
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from((self.0.next_u64() >> 32) as u32) * u64::from(bound)) >> 32) as u32
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 up to but without 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// What has this chance comes about.
    #[inline(always)]
    pub fn happens(&mut self, chance: Chance) -> bool {
        self.0.next_u64() >> 11 < chance.0
    }

    /// A draw from the exponential distribution of mean 1 (by inversion).
    pub fn exponential(&mut self) -> f64 {
        -libm::log1p(-self.unit())
    }

    /// A draw from the standard normal distribution (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Bounded draws stay below their bound and reach every value; streams differ by purpose.
    #[test]
    fn streams_are_bounded_and_apart() {
        let mut victim = Stream::new(1, Purpose::Victim);
        let mut errors = Stream::new(1, Purpose::Errors);
        let mut seen = [false; 7];
        (0..200).for_each(|_| seen[victim.below(7) as usize] = true);
        assert!(seen.iter().all(|&hit| hit));
        assert_ne!(victim.unit(), errors.unit());
    }

    /// A chance comes about where a draw lies below it, to the last bit.
    #[test]
    fn a_chance_is_a_draw_below_it() {
        let mut stream = Stream::new(3, Purpose::Errors);
        for _ in 0..1000 {
            let drawn = stream.clone().unit();
            let above = f64::from_bits(drawn.to_bits() + 1);
            let chances = [0.0, drawn, above, 0.5, 1.0];
            let happens = chances.map(|chance| stream.clone().happens(Chance::new(chance)));
            assert_eq!(happens, chances.map(|chance| drawn < chance));
            stream.unit();
        }
        assert!(!Chance::new(0.0).is_possible() && Chance::new(f64::MIN_POSITIVE).is_possible());
    }

    /// The normal draw has mean 0 and variance 1 within three standard errors.
    #[test]
    fn normal_has_its_moments() {
        let mut stream = Stream::new(5, Purpose::Manufacture);
        let draws: Vec<f64> = (0..40_000).map(|_| stream.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 40_000.0;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 40_000.0;
        assert!(mean.abs() < 0.015 && (variance - 1.0).abs() < 0.022, "{mean} {variance}");
    }
}
