//! The wall clock beside virtual time.
//!
//! ```text
//! virtual = anchor + factor × (wall − anchor of the wall)
//! ```
//! With `Pace::Off` nothing is measured: virtual time jumps to whatever happens next. This file alone asks the machine what
//! time it is. Left out: leaps of a machine that slept, which the monotonic clock leaves out, too.

use ssdlab_device::units::Nanos;
use std::time::{Duration, Instant};

/// How virtual time goes beside the wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Pace {
    /// So many virtual seconds in a second: 1 is as fast as the drive, below 1 is slower.
    Factor(f64),
    /// As fast as the machine computes.
    #[default]
    Off,
}

/// A pace that is none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the pace is {0}, and must be a number above 0, at most 1e6, or off")]
pub struct BadPace(pub f64);

impl Pace {
    /// The greatest factor: beyond it the wall clock's nanoseconds are too coarse to tell requests apart.
    pub const MOST: f64 = 1e6;

    /// Holds it to what a clock can go by.
    ///
    /// # Errors
    /// The factor that is none.
    pub fn check(self) -> Result<Pace, BadPace> {
        match self {
            Pace::Factor(factor) if !(factor > 0.0 && factor <= Pace::MOST) => Err(BadPace(factor)),
            pace => Ok(pace),
        }
    }

    /// It goes by the wall clock.
    pub fn is_paced(self) -> bool {
        self != Pace::Off
    }

    /// How long the machine's clock goes while so much virtual time passes; none where it is as fast as it is computed.
    pub fn lasts(self, virtual_time: Nanos) -> Duration {
        match self {
            Pace::Factor(factor) => {
                Duration::try_from_secs_f64(virtual_time.0 as f64 / 1e9 / factor).unwrap_or(Duration::MAX)
            }
            Pace::Off => Duration::ZERO,
        }
    }
}

/// What time it is now, on the machine.
#[allow(clippy::disallowed_methods, reason = "a server answers in the world's time")]
pub fn wall() -> Instant {
    Instant::now()
}

/// Virtual time that was tied to the wall clock at one instant of both.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    factor: f64,
    wall: Instant,
    virtual_time: Nanos,
}

impl Clock {
    /// At `wall` virtual time was so far.
    pub fn new(factor: f64, wall: Instant, virtual_time: Nanos) -> Clock {
        Clock { factor, wall, virtual_time }
    }

    /// The same pace from another instant on: between the two, virtual time stood still.
    pub fn again(&self, wall: Instant, virtual_time: Nanos) -> Clock {
        Clock { wall, virtual_time, ..*self }
    }

    /// Virtual time at an instant of the wall clock; before the anchor it stands still.
    pub fn virtual_time(&self, wall: Instant) -> Nanos {
        let since = wall.saturating_duration_since(self.wall).as_nanos() as f64;
        // The product's cast ends at the greatest number there is.
        Nanos(self.virtual_time.0.saturating_add((since * self.factor) as u64))
    }

    /// When virtual time gets there, if ever: nothing is waited for longer than a thousand years.
    pub fn wall_of(&self, time: Nanos) -> Option<Instant> {
        let ahead = time.0.saturating_sub(self.virtual_time.0) as f64 / self.factor / 1e9;
        let ahead = Duration::try_from_secs_f64(ahead).ok()?;
        self.wall.checked_add(ahead)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: at a tenth of the pace two seconds are 200 ms of the drive, and the way back leads to the same instant.
    #[test]
    fn there_and_back() {
        let start = wall();
        let clock = Clock::new(0.1, start, Nanos(5));
        let later = start + Duration::from_secs(2);
        assert_eq!(clock.virtual_time(later), Nanos(200_000_005));
        assert_eq!(clock.wall_of(Nanos(200_000_005)), Some(later));
        assert_eq!(clock.virtual_time(start), Nanos(5));
        assert_eq!(clock.wall_of(Nanos(1)), Some(start), "what is past is due at once");
    }

    /// Time never goes back, and what never happens is not waited for.
    #[test]
    fn ends_of_time() {
        let start = wall();
        let clock = Clock::new(1e6, start + Duration::from_secs(9), Nanos(7));
        assert_eq!(clock.virtual_time(start), Nanos(7));
        assert_eq!(clock.virtual_time(start + Duration::from_secs(1 << 40)), Nanos::NEVER);
        assert_eq!(Clock::new(1e-12, start, Nanos(7)).wall_of(Nanos::NEVER), None);
    }

    /// What is no factor is refused.
    #[test]
    fn bad_paces() {
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e6] {
            assert!(Pace::Factor(factor).check().is_err(), "{factor}");
        }
        assert_eq!(Pace::Factor(0.5).check(), Ok(Pace::Factor(0.5)));
        assert_eq!(Pace::Off.check(), Ok(Pace::Off));
    }
}
