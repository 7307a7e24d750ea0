//! Commands whose work is done, and whose answer is on its way to the host.
//!
//! ```text
//!   latency = read_latency_us or write_latency_us + Exp(latency_jitter_us)
//! ```
//! What a read or a write takes beside all that it occupies and waits for: firmware and host interface, through which
//! commands pass side by side. So it lengthens a command and does not limit the rate, as the controller's time does.
//! The jitter, an exponential time of that mean, stands for what a command meets now and then: arbitration, refresh, a
//! lookup that misses. With it, commands overtake each other.
//!
//! Left out: latencies of other commands, and jitter that depends on the load.

use crate::block::Operation;
use crate::config::DriveConfig;
use crate::sim::random::{Purpose, Stream};
use crate::units::Nanos;
use std::collections::VecDeque;

/// Commands by the time at which they end.
#[derive(Clone, Debug)]
pub struct Endings {
    /// By operation.
    latencies: [Nanos; Operation::COUNT],
    /// Mean, in nanoseconds.
    jitter_ns: f64,
    draws: Stream,
    /// When each command ends, and its number, in order of time; at equal times the lowest number comes first.
    coming: VecDeque<(Nanos, u32)>,
}

impl Endings {
    /// Those of a drive at rest; `None` where commands end with their work.
    pub fn new(config: &DriveConfig, seed: u64) -> Option<Endings> {
        let controller = &config.controller;
        let mut latencies = [Nanos::ZERO; Operation::COUNT];
        latencies[Operation::Read as usize] = controller.read_latency_us.0;
        latencies[Operation::Write as usize] = controller.write_latency_us.0;
        let jitter_ns = controller.latency_jitter_us.0.0 as f64;
        let is_present = jitter_ns > 0.0 || latencies.iter().any(|latency| *latency > Nanos::ZERO);
        is_present.then(|| Endings::with(latencies, jitter_ns, seed))
    }

    fn with(latencies: [Nanos; Operation::COUNT], jitter_ns: f64, seed: u64) -> Endings {
        Endings { latencies, jitter_ns, draws: Stream::new(seed, Purpose::Latency), coming: VecDeque::new() }
    }

    /// The work of a command is done: it ends then. None where it ends at once.
    #[inline(always)]
    pub fn begin(&mut self, now: Nanos, operation: Operation, number: u32) -> Option<Nanos> {
        if !matches!(operation, Operation::Read | Operation::Write) {
            return None;
        }
        let jitter = if self.jitter_ns > 0.0 { self.draws.exponential() * self.jitter_ns } else { 0.0 };
        // Adding a half rounds without a call to `round`; by way of a signed number the cast takes fewer instructions.
        let latency = self.latencies[operation as usize] + Nanos((jitter + 0.5) as i64 as u64);
        self.insert((now + latency, number));
        Some(now + latency)
    }

    /// Mostly what comes last ends last: jitter is small beside the time between two commands.
    #[inline(always)]
    fn insert(&mut self, ending: (Nanos, u32)) {
        if self.coming.back().is_none_or(|last| *last < ending) {
            return self.coming.push_back(ending);
        }
        let place = self.coming.partition_point(|other| *other < ending);
        self.coming.insert(place, ending);
    }

    /// When the next one ends.
    pub fn next_time(&self) -> Option<Nanos> {
        self.coming.front().map(|(time, _)| *time)
    }

    /// Takes the next one.
    pub fn end_next(&mut self) -> Option<u32> {
        self.coming.pop_front().map(|(_, number)| number)
    }

    /// All are forgotten.
    pub fn clear(&mut self) {
        self.coming.clear();
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn endings(jitter_ns: f64) -> Endings {
        let mut latencies = [Nanos::ZERO; Operation::COUNT];
        latencies[Operation::Read as usize] = Nanos(3000);
        Endings::with(latencies, jitter_ns, 1)
    }

    /// A read ends 3 µs after its work, a write at once, a flush is not delayed.
    #[test]
    fn latencies_are_those_of_the_operation() {
        let mut endings = endings(0.0);
        assert_eq!(endings.begin(Nanos(500), Operation::Read, 7), Some(Nanos(3500)));
        assert_eq!(endings.begin(Nanos(600), Operation::Write, 8), Some(Nanos(600)));
        assert_eq!(endings.begin(Nanos(600), Operation::Flush, 9), None);
        assert_eq!((endings.next_time(), endings.end_next()), (Some(Nanos(600)), Some(8)));
        assert_eq!((endings.next_time(), endings.end_next()), (Some(Nanos(3500)), Some(7)));
        assert_eq!((endings.next_time(), endings.end_next()), (None, None));
    }

    /// Jitter has its mean, and the spread of an exponential time: e⁻¹ of all lie above the mean. Within three
    /// standard errors.
    #[test]
    fn jitter_is_exponential() {
        let mut endings = endings(2000.0);
        (0..10_000).for_each(|number| assert!(endings.begin(Nanos::ZERO, Operation::Write, number).is_some()));
        let times: Vec<f64> = std::iter::from_fn(|| {
            let time = endings.next_time()?;
            endings.end_next();
            Some(time.0 as f64)
        })
        .collect();
        assert!(times.is_sorted() && times.len() == 10_000, "the earliest ends first, and all end");
        let mean = times.iter().sum::<f64>() / 10_000.0;
        let above = times.iter().filter(|time| **time > 2000.0).count() as f64 / 10_000.0;
        assert!((mean - 2000.0).abs() < 60.0, "{mean}");
        assert!((above - libm::exp(-1.0)).abs() < 0.0145, "{above}");
    }
}
