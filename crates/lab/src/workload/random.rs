//! The workload's random numbers: one stream per purpose, the same on every machine.
//!
//! A stream is xoshiro256++ (Blackman and Vigna), its state filled by splitmix64 from the run's
//! seed, the purpose, the clone and the job's own seed. A draw more for one purpose leaves the
//! others as they were. Seeding and bounded draws stand here, in full, so that the offered
//! workload depends on no library's version: of the library only the generator itself is used,
//! and a test holds it to the published numbers.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Addresses.
    Address = 1,
    /// Read or write.
    Mix = 2,
    /// Block sizes.
    Size = 3,
    /// Random or sequential.
    Order = 4,
    /// Files: their sizes, and which is next.
    File = 5,
    /// Which of the written blocks are trimmed.
    Trim = 6,
    /// When a job starts, and when its requests come.
    Arrival = 7,
    /// Which blocks `sprandom` writes again.
    Again = 8,
}

/// The golden ratio's fraction in 64 bits, splitmix64's step.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// splitmix64's output function: a bijection that mixes all bits.
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A hash of a text, for streams that belong to a name (FNV-1a, mixed).
pub fn hash(text: &str) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    mix(text.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
}

impl Stream {
    /// The stream of a purpose within a job's seed.
    pub fn new(seed: u64, purpose: Purpose) -> Stream {
        let start = mix(seed ^ mix(purpose as u64));
        let mut state = [0; 32];
        for (index, word) in (0u64..).zip(state.chunks_exact_mut(8)) {
            let value = mix(start.wrapping_add(index.wrapping_mul(STEP)));
            word.copy_from_slice(&value.to_le_bytes());
        }
        Stream { generator: Xoshiro256PlusPlus::from_seed(state) }
    }

    /// The next 64 bits.
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A number below `bound` (> 0), each alike: Lemire's multiplication, with rejection.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut wide = u128::from(self.next()) * u128::from(bound);
        if (wide as u64) < bound {
            let least = bound.wrapping_neg() % bound;
            while (wide as u64) < least {
                wide = u128::from(self.next()) * u128::from(bound);
            }
        }
        (wide >> 64) as u64
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Brings items into an order of which each is alike (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// True in so many of a hundred cases.
    #[inline]
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// The generator gives the published numbers for the state 1, 2, 3, 4.
    #[test]
    fn known_answers() {
        let mut state = [0; 32];
        for (index, byte) in [1, 2, 3, 4].into_iter().enumerate() {
            state[8 * index] = byte;
        }
        let mut stream = Stream { generator: Xoshiro256PlusPlus::from_seed(state) };
        let expected =
            [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386, 9_228_616_714_210_784_205];
        assert_eq!([(); 5].map(|()| stream.next()), expected);
    }

    /// Bounded draws stay below the bound and meet each value equally often (chi squared).
    #[test]
    fn bounded_draws_are_even() {
        let mut stream = Stream::new(7, Purpose::Address);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[stream.below(10) as usize] += 1;
        }
        let chi: f64 = counts.iter().map(|c| (f64::from(*c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 33.7, "{chi}: beyond the 0.01 % tail of 9 degrees of freedom");
    }

    /// A shuffled list has the same items, and each item comes first equally often (chi squared).
    #[test]
    fn shuffles_are_even() {
        let mut stream = Stream::new(3, Purpose::Order);
        let mut first = [0u32; 4];
        for _ in 0..40_000 {
            let mut items = [0, 1, 2, 3];
            stream.shuffle(&mut items);
            first[items[0]] += 1;
            items.sort_unstable();
            assert_eq!(items, [0, 1, 2, 3]);
        }
        let chi: f64 = first.iter().map(|count| (f64::from(*count) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 21.1, "{chi}: beyond the 0.01 % tail of 3 degrees of freedom");
    }

    /// Streams of two purposes and of two seeds differ.
    #[test]
    fn streams_differ() {
        let first = |seed, purpose| Stream::new(seed, purpose).next();
        assert_ne!(first(1, Purpose::Address), first(1, Purpose::Mix));
        assert_ne!(first(1, Purpose::Address), first(2, Purpose::Address));
    }
}
