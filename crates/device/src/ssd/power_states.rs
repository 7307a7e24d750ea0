//! Power states: active, idle, and two low ones that are entered after idle time.
//!
//! ```text
//!   command outstanding: active      none: idle ─slumber_after_ms► slumber ─sleep_after_ms► sleep
//!   energy = Σ over states of time in the state · its power
//! ```
//! The command that finds a low state waits `…_wake_us` for the controller, at active power. Waking,
//! the link may hang (`link.hang_share`): it is reset, and the command waits `link.hang_reset_ms` more.
//!
//! The states follow from when commands come and end, so they need no events: times are added up
//! when the drive wakes or comes to rest. Left out: the cost of entering a state, work in the background
//! (draining the buffer, collecting when idle), which is charged at the power of the state it falls
//! into, and power by kind of work.

use crate::config::DriveConfig;
use crate::counters::Counters;
use crate::parameter::Milliseconds;
use crate::sim::random::{Purpose, Stream};
use crate::units::Nanos;

/// Which state the drive is in, and since when.
#[derive(Clone, Debug)]
pub struct PowerStates {
    active: bool,
    since: Nanos,
    /// Idle time after which each low state is entered, and what waking from it adds.
    slumber: (Nanos, Nanos),
    sleep: (Nanos, Nanos),
    hang_share: f64,
    hang_reset: Nanos,
    hangs: Stream,
}

impl PowerStates {
    /// The states of an idle drive; none where the configuration leaves power out.
    pub fn new(config: &DriveConfig, seed: u64) -> Option<PowerStates> {
        let power = &config.power;
        power.active_mw?;
        let after = |time: Option<Milliseconds>| time.map_or(Nanos::NEVER, |time| time.0);
        Some(PowerStates {
            active: false,
            since: Nanos::ZERO,
            slumber: (after(power.slumber_after_ms), power.slumber_wake_us.0),
            sleep: (after(power.sleep_after_ms), power.sleep_wake_us.0),
            hang_share: config.link.hang_share,
            hang_reset: config.link.hang_reset_ms.0,
            hangs: Stream::new(seed, Purpose::Link),
        })
    }

    /// Adds the time since the last change to the states it was spent in.
    pub fn add_time(&self, now: Nanos, counters: &mut Counters) {
        let time = now.saturating_sub(self.since).0;
        if self.active {
            counters.power_active_ns += time;
            return;
        }
        let asleep = time.saturating_sub(self.sleep.0.0);
        let low = time.saturating_sub(self.slumber.0.0.min(self.sleep.0.0));
        counters.power_sleep_ns += asleep;
        counters.power_slumber_ns += low - asleep;
        counters.power_idle_ns += time - low;
    }

    /// A command has come to a drive at rest; returns what it waits for.
    pub fn wake(&mut self, now: Nanos, counters: &mut Counters) -> Nanos {
        self.add_time(now, counters);
        let rested = now.saturating_sub(self.since);
        (self.active, self.since) = (true, now);
        let wake = match rested {
            rested if rested > self.sleep.0 => self.sleep.1,
            rested if rested > self.slumber.0 => self.slumber.1,
            _ => return Nanos::ZERO,
        };
        counters.wake_ups += 1;
        if self.hang_share == 0.0 || self.hangs.unit() >= self.hang_share {
            return wake;
        }
        counters.link_resets += 1;
        wake + self.hang_reset
    }

    /// The last command has ended, or the power is gone.
    pub fn rest(&mut self, now: Nanos, counters: &mut Counters) {
        if self.active {
            self.add_time(now, counters);
            (self.active, self.since) = (false, now);
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: of 10 ms at rest 2 are idle, 5 slumber, 3 sleep; the command that ends them waits 1 ms and is
    /// active for 4.
    #[test]
    fn time_is_added_to_the_states_it_was_spent_in() {
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        let mut power = PowerStates {
            active: false,
            since: Nanos::ZERO,
            slumber: (ms(2), Nanos(500)),
            sleep: (ms(7), ms(1)),
            hang_share: 0.0,
            hang_reset: Nanos::ZERO,
            hangs: Stream::new(1, Purpose::Link),
        };
        let mut counters = Counters::default();
        assert_eq!(power.wake(ms(10), &mut counters), ms(1));
        power.rest(ms(14), &mut counters);
        let states =
            [counters.power_idle_ns, counters.power_slumber_ns, counters.power_sleep_ns, counters.power_active_ns];
        assert_eq!(states, [2, 5, 3, 4].map(|time| ms(time).0));
        assert_eq!(power.wake(ms(15), &mut counters), Nanos::ZERO);
        assert_eq!(counters.wake_ups, 1);
    }
}
