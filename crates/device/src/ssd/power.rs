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
use crate::ftl::Ftl;
use crate::nand::contents::Contents;
use crate::parameter::Milliseconds;
use crate::sim::random::{Purpose, Stream};
use crate::ssd::Ssd;
use crate::units::Nanos;

/// Which state the drive is in, and since when.
#[derive(Clone, Debug)]
pub struct Power {
    active: bool,
    since: Nanos,
    /// Idle time after which each low state is entered, and what waking from it adds.
    slumber: (Nanos, Nanos),
    sleep: (Nanos, Nanos),
    hang_share: f64,
    hang_reset: Nanos,
    hangs: Stream,
}

impl Power {
    /// The states of an idle drive; none where the configuration leaves power out.
    pub fn new<C: Contents>(config: &DriveConfig, ftl: &Ftl<C>) -> Option<Power> {
        let power = &config.power;
        power.active_mw?;
        let after = |time: Option<Milliseconds>| time.map_or(Nanos::NEVER, |time| time.0);
        Some(Power {
            active: false,
            since: Nanos::ZERO,
            slumber: (after(power.slumber_after_ms), power.slumber_wake_us.0),
            sleep: (after(power.sleep_after_ms), power.sleep_wake_us.0),
            hang_share: config.link.hang_share,
            hang_reset: config.link.hang_reset_ms.0,
            hangs: Stream::new(ftl.seed, Purpose::Link),
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
    fn wake(&mut self, now: Nanos, counters: &mut Counters) -> Nanos {
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
}

impl<C: Contents> Ssd<C> {
    /// The first command has come: the controller takes it when the drive is awake.
    #[inline]
    pub(super) fn wake_up(&mut self) {
        if let Some(power) = &mut self.power {
            let wait = power.wake(self.now, &mut self.ftl.counters);
            self.controller.reserve(self.now, wait);
        }
    }

    /// The last command has ended.
    #[inline]
    pub(super) fn rest(&mut self) {
        if let Some(power) = &mut self.power
            && power.active
        {
            power.add_time(self.now, &mut self.ftl.counters);
            (power.active, power.since) = (false, self.now);
        }
    }
}
