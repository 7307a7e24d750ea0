//! Power states: active, idle, and two low ones that are entered after idle time.
//!
//! ```text
//!   command outstanding: active      none: idle ─slumber_after_ms► slumber ─sleep_after_ms► sleep
//!   energy = Σ over states of time in the state · its power
//! ```
//! A host may let a drive enter a low state at once (NVMe's power management); a command wakes it as from idling.
//! The command that finds a low state waits `…_wake_us` for the controller, at active power. Waking,
//! the link may hang (`link.hang_share`): it is reset, and the command waits `link.hang_reset_ms` more.
//!
//! The states follow from when commands come and end, so they need no events: times are added up
//! when the drive wakes or comes to rest. Left out: the cost of entering a state, work in the background
//! (draining the buffer, collecting when idle), which is charged at the power of the state it falls
//! into, and power by kind of work.

use crate::config::DriveConfig;
use crate::counters::Counters;
use crate::named_choice;
use crate::parameter::Milliseconds;
use crate::sim::random::{Purpose, Stream};
use crate::units::Nanos;

named_choice! {
    /// A state that a host can ask for.
    pub enum PowerState {
        /// Commands are taken at once: active, or idle.
        Awake = "awake",
        /// The first low state.
        Slumber = "slumber",
        /// The second low state.
        Sleep = "sleep",
    }
}

/// Which state the drive is in, and since when.
#[derive(Clone, Debug)]
pub struct PowerStates {
    active: bool,
    since: Nanos,
    /// What a host let the drive enter as soon as it rests, until a command wakes it.
    asked: PowerState,
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
            asked: PowerState::Awake,
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
        let (slumber_after, sleep_after) = self.entered_after();
        let asleep = time.saturating_sub(sleep_after.0);
        let low = time.saturating_sub(slumber_after.0.min(sleep_after.0));
        counters.power_sleep_ns += asleep;
        counters.power_slumber_ns += low - asleep;
        counters.power_idle_ns += time - low;
    }

    /// Time at rest after which each low state is entered.
    fn entered_after(&self) -> (Nanos, Nanos) {
        match self.asked {
            PowerState::Awake => (self.slumber.0, self.sleep.0),
            PowerState::Slumber => (Nanos::ZERO, self.sleep.0),
            PowerState::Sleep => (Nanos::ZERO, Nanos::ZERO),
        }
    }

    /// The state that it is in.
    pub fn state(&self, now: Nanos) -> PowerState {
        let rested = now.saturating_sub(self.since);
        match self.asked {
            _ if self.active => PowerState::Awake,
            _ if rested > self.sleep.0 => PowerState::Sleep,
            PowerState::Awake if rested > self.slumber.0 => PowerState::Slumber,
            asked => asked,
        }
    }

    /// A host lets it enter that state, or leave a low one.
    pub fn enter(&mut self, state: PowerState, now: Nanos, counters: &mut Counters) {
        self.add_time(now, counters);
        (self.since, self.asked) = (now, state);
    }

    /// A command has come to a drive at rest; returns what it waits for.
    pub fn wake(&mut self, now: Nanos, counters: &mut Counters) -> Nanos {
        self.add_time(now, counters);
        let state = self.state(now);
        (self.active, self.since, self.asked) = (true, now, PowerState::Awake);
        let wake = match state {
            PowerState::Awake => return Nanos::ZERO,
            PowerState::Slumber => self.slumber.1,
            PowerState::Sleep => self.sleep.1,
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
            asked: PowerState::Awake,
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

        // At rest from 16 ms on, told to slumber at 17: 1 ms idle, then 7 ms of slumber until it sleeps for 1.
        power.rest(ms(16), &mut counters);
        let before = counters;
        power.enter(PowerState::Slumber, ms(17), &mut counters);
        assert_eq!(
            [17, 24, 25].map(|at| power.state(ms(at))),
            [PowerState::Slumber, PowerState::Slumber, PowerState::Sleep]
        );
        assert_eq!(power.wake(ms(25), &mut counters), ms(1));
        let spent = counters - before;
        let states = [spent.power_idle_ns, spent.power_slumber_ns, spent.power_sleep_ns];
        assert_eq!(states, [1, 7, 1].map(|time| ms(time).0));
        assert_eq!(power.state(ms(25)), PowerState::Awake, "a command wakes it");
        // Told meanwhile, it sleeps from its rest on, however short that is.
        power.enter(PowerState::Sleep, ms(26), &mut counters);
        assert_eq!(power.state(ms(26)), PowerState::Awake, "it has a command");
        power.rest(ms(27), &mut counters);
        assert_eq!((power.state(ms(27)), power.wake(ms(27), &mut counters)), (PowerState::Sleep, ms(1)));
    }
}
