//! How long the arm takes: a + b·√d for short seeks, linear for long ones (Ruemmler and Wilkes, An
//! Introduction to Disk Drive Modeling, IEEE Computer 27(3), 1994).
//!
//! With x = d / C the share of the stroke, C cylinders, and k the knee:
//!
//! ```text
//! s(x) = a + b·√x                    x ≤ k: the arm accelerates, then brakes
//! s(x) = a + b·(√k/2 + x/(2·√k))     x > k: it coasts between; value and slope meet at the knee
//! mean over all pairs of cylinders = a + b·m(k)      density of x: 2·(1 − x)
//! m(k) = 4/3·k^1.5 − 4/5·k^2.5 + √k/2·(1 − k)² + (1/3 − k² + 2/3·k³) / (2·√k)
//! ```
//!
//! Three figures of a data sheet, to the next track, mean and full stroke, determine a, b and k. Their
//! ratio (mean − next) / (full − next) lies between 1/3 (a straight line) and 8/15 (a square root).
//! Some data sheets lie above that, because a step to the next track needs no full settling: then
//! k = 1, mean and full stroke determine a and b, and the next track keeps its own time. Left out:
//! inward and outward seeks that differ, and the spread around the curve.

use crate::units::Nanos;

/// Time by distance.
#[derive(Clone, Debug)]
pub struct SeekCurve {
    cylinders: f64,
    next: Nanos,
    settle_ns: f64,
    rise_ns: f64,
    knee: f64,
}

/// Mean of the curve's shape over all pairs of cylinders.
fn mean_shape(knee: f64) -> f64 {
    let root = knee.sqrt();
    let square = knee * knee;
    4.0 / 3.0 * knee * root - 0.8 * square * root
        + root / 2.0 * (1.0 - knee) * (1.0 - knee)
        + (1.0 / 3.0 - square + 2.0 / 3.0 * square * knee) / (2.0 * root)
}

fn shape(share: f64, knee: f64) -> f64 {
    if share <= knee { share.sqrt() } else { knee.sqrt() / 2.0 + share / (2.0 * knee.sqrt()) }
}

impl SeekCurve {
    /// The curve through the three figures of a data sheet; without a full stroke a square root.
    pub fn new(cylinders: u64, next: Nanos, mean: Nanos, full: Option<Nanos>) -> SeekCurve {
        let cylinders = cylinders as f64;
        let first = (1.0 / cylinders).sqrt();
        let (next_ns, mean_ns) = (next.0 as f64, mean.0 as f64);
        let through_next = |knee: f64| (mean_ns - next_ns) / (mean_shape(knee) - first);
        let curve = |settle_ns, rise_ns, knee| SeekCurve { cylinders, next, settle_ns, rise_ns, knee };
        let Some(full_ns) = full.map(|full| full.0 as f64) else {
            let rise = through_next(1.0);
            return curve(next_ns - rise * first, rise, 1.0);
        };
        if (mean_ns - next_ns) / (full_ns - next_ns) >= (mean_shape(1.0) - first) / (1.0 - first) {
            let rise = (full_ns - mean_ns) / (1.0 - mean_shape(1.0));
            return curve(full_ns - rise, rise, 1.0);
        }
        let knee = knee_of((mean_ns - next_ns) / (full_ns - next_ns), first);
        let rise = through_next(knee);
        curve(next_ns - rise * first, rise, knee)
    }

    /// The time over a distance in cylinders.
    pub fn time(&self, distance: u64) -> Nanos {
        match distance {
            0 => Nanos::ZERO,
            1 => self.next,
            _ => {
                let time = self.settle_ns + self.rise_ns * shape(distance as f64 / self.cylinders, self.knee);
                Nanos((time.max(0.0)).round() as u64)
            }
        }
    }
}

/// The knee at which mean and full stroke have this ratio, both less the next track; it grows with the knee.
fn knee_of(ratio: f64, first: f64) -> f64 {
    let (mut low, mut high) = (first * first, 1.0);
    for _ in 0..60 {
        let knee = (low + high) / 2.0;
        let here = (mean_shape(knee) - first) / (shape(1.0, knee) - first);
        if here < ratio { low = knee } else { high = knee }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod test {
    use super::*;

    /// The mean over all pairs of cylinders, added up distance by distance.
    fn mean_ms(curve: &SeekCurve, cylinders: u64) -> f64 {
        let sum: f64 = (1..cylinders).map(|d| 2.0 * (cylinders - d) as f64 * curve.time(d).0 as f64).sum();
        sum / (cylinders as f64 * cylinders as f64) / 1e6
    }

    /// Next track, mean and full stroke of the curve are those that it was made from: with a knee, as a
    /// square root, and with a next track of its own.
    #[test]
    fn keeps_the_three_figures() {
        for (next, mean, full) in [(0.8, 8.5, Some(18.0)), (0.8, 8.5, None), (1.0, 12.0, Some(20.0))] {
            let cylinders = 20_000;
            let full_ns = full.map(Nanos::from_ms);
            let curve = SeekCurve::new(cylinders, Nanos::from_ms(next), Nanos::from_ms(mean), full_ns);
            assert_eq!(curve.time(1), Nanos::from_ms(next));
            assert!((mean_ms(&curve, cylinders) / mean - 1.0).abs() < 1e-3, "{curve:?}");
            if let Some(full) = full {
                assert!((curve.time(cylinders).0 as f64 / 1e6 - full).abs() < 1e-3, "{curve:?}");
            }
        }
    }

    /// A longer seek never takes less time.
    #[test]
    fn rises() {
        let ms = Nanos::from_ms;
        for curve in [
            SeekCurve::new(5000, ms(0.8), ms(8.5), Some(ms(18.0))),
            SeekCurve::new(5000, ms(1.0), ms(12.0), Some(ms(20.0))),
            SeekCurve::new(5000, ms(0.4), ms(3.6), None),
        ] {
            assert!((0..5000).all(|d| curve.time(d) <= curve.time(d + 1)), "{curve:?}");
        }
    }
}
