//! Parameters of power: what the drive draws in each state, when it changes between them, and how many dies may
//! program at once.

use crate::parameter::{Microseconds, Milliseconds, Problem};
use crate::section;

section! {
    /// Power states, which are left out without `active_mw`, and the budget for programs.
    pub struct PowerConfig in "power." {
        active_mw: Option<f64> ["mW"] {0 .. 1000000} = "\"none\"", "Power while commands are outstanding; with none, power is not modelled.";
        idle_mw: Option<f64> ["mW"] {0 .. 1000000} = "\"none\"", "Power while no command is outstanding, in a state from which the drive answers at once.";
        slumber_mw: Option<f64> ["mW"] {0 .. 1000000} = "\"none\"", "Power in the first low state: SATA Slumber, NVMe's first non-operational state.";
        slumber_after_ms: Option<Milliseconds> ["ms"] {0 .. 1000000000} = "\"none\"", "Idle time after which the drive enters that state (ALPM, DIPM, APST); with none it never does.";
        slumber_wake_us: Microseconds ["µs"] {0 .. 10000000} = "0", "Time that leaving that state adds to the command that wakes the drive.";
        sleep_mw: Option<f64> ["mW"] {0 .. 1000000} = "\"none\"", "Power in the second low state: SATA DevSleep, NVMe's deepest state.";
        sleep_after_ms: Option<Milliseconds> ["ms"] {0 .. 1000000000} = "\"none\"", "Idle time after which the drive enters that state; with none it never does.";
        sleep_wake_us: Microseconds ["µs"] {0 .. 10000000} = "0", "Time that leaving that state adds to the command that wakes the drive.";
        programs_at_once: Option<u32> [""] {1 .. 1024} = "\"none\"", "Dies that program or erase at the same instant at most, for a budget of power or current; with none all may.";
    }
}

impl PowerConfig {
    /// A state that is entered needs a power, and the deeper one comes later.
    ///
    /// # Errors
    /// The key that is missing or does not fit.
    pub fn check(&self) -> Result<(), Problem> {
        let needs = |given: bool, key: &str, power: Option<f64>, missing: &str| match power {
            None if given => Err(Problem::new(key, "given", format!("needs {missing} as well"))),
            _ => Ok(()),
        };
        needs(self.active_mw.is_some(), "power.active_mw", self.idle_mw, "power.idle_mw")?;
        let (slumber, sleep) = (self.slumber_after_ms, self.sleep_after_ms);
        for (key, after, power, missing) in [
            ("power.slumber_after_ms", slumber, self.slumber_mw, "power.slumber_mw"),
            ("power.sleep_after_ms", sleep, self.sleep_mw, "power.sleep_mw"),
        ] {
            needs(after.is_some(), key, power, missing)?;
            needs(after.is_some(), key, self.active_mw, "power.active_mw")?;
        }
        match (slumber, sleep) {
            (Some(first), Some(second)) if second <= first => {
                let message = format!(
                    "must be more than power.slumber_after_ms = {}: the deeper state comes later",
                    first.0.as_us() / 1e3
                );
                Err(Problem::new("power.sleep_after_ms", second.0.as_us() / 1e3, message))
            }
            _ => Ok(()),
        }
    }
}
