//! Power states of a drive: Base Specification 2.0, sections 5.17.2.1 (descriptors) and 5.27.1.2 (power management).
//!
//! ```text
//! state 0    awake: MP = power.active_mw, and IDLP = power.idle_mw while it has nothing to do
//! state 1 …  the low states that the profile knows: MP = power.slumber_mw, power.sleep_mw; EXLAT = power.…_wake_us
//! ```
//! Low states are non-operational: a command wakes the drive into state 0. All controllers tell the drive's own state.
//! Left out: power that a profile does not know, which is told as not reported; the time to enter a state; autonomous
//! transitions by a host's table (the drive's own idle times hold), and hints about the workload.

use super::command::Submission;
use super::fields::Page;
use super::status::Status;
use ssdlab_device::config::power::PowerConfig;
use ssdlab_device::ssd::power_states::PowerState;
use ssdlab_device::units::Nanos;

const DESCRIPTORS_AT: usize = 2048;
const DESCRIPTOR_BYTES: usize = 32;
/// Power is counted in steps of 10 mW; that of low states in steps of 0.1 mW, as this bit of the flags says of MP.
const FINE_SCALE: u8 = 1;
const NON_OPERATIONAL: u8 = 1 << 1;
/// The scale of IDLP: steps of 10 mW.
const IDLE_IN_10_MW: u8 = 2 << 6;

/// What a profile knows of its power states, and which one the drive is in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Power {
    /// The most that it draws, in milliwatts.
    pub active_mw: Option<f64>,
    /// What it draws while it is awake and has nothing to do, in milliwatts.
    pub idle_mw: Option<f64>,
    /// Its low states: what each draws in milliwatts, and how long it takes to wake.
    pub low: Vec<(PowerState, f64, Nanos)>,
    /// The state that it is in.
    pub state: Option<PowerState>,
}

impl Power {
    /// As a drive of that configuration has them.
    pub fn of(config: &PowerConfig, state: PowerState) -> Power {
        let slumber = config.slumber_mw.map(|draws| (PowerState::Slumber, draws, config.slumber_wake_us.0));
        let sleep = config.sleep_mw.map(|draws| (PowerState::Sleep, draws, config.sleep_wake_us.0));
        // Without `active_mw` power is not modelled.
        let is_modelled = |_: &_| config.active_mw.is_some();
        let low = slumber.into_iter().chain(sleep).filter(is_modelled).collect();
        let idle_mw = config.idle_mw.filter(|_| config.active_mw.is_some());
        Power { active_mw: config.active_mw, idle_mw, low, state: Some(state) }
    }

    /// The number of the state that the drive is in.
    pub fn number(&self) -> u32 {
        let place = self.low.iter().position(|(state, ..)| Some(*state) == self.state);
        place.map_or(0, |place| place as u32 + 1)
    }

    /// The state that a host asks for.
    ///
    /// # Errors
    /// The drive has none of that number.
    pub fn asked(&self, command: &Submission) -> Result<PowerState, Status> {
        match (command.dword(11) & 0x1F) as usize {
            0 => Ok(PowerState::Awake),
            number => self.low.get(number - 1).map(|(state, ..)| *state).ok_or(Status::INVALID_FIELD),
        }
    }

    /// Tells the states in the structure that identifies a controller.
    pub fn describe(&self, page: Page) -> Page {
        let in_10_mw = |power_mw: f64| (power_mw / 10.0).round() as u16;
        let page = page.put_u8(263, self.low.len() as u8).put_u16(place_of(0), in_10_mw(self.active_mw.unwrap_or(0.0)));
        let page = match self.idle_mw {
            Some(idle_mw) => page.put_u16(place_of(0) + 16, in_10_mw(idle_mw)).put_u8(place_of(0) + 18, IDLE_IN_10_MW),
            None => page,
        };
        self.low.iter().zip(1..).fold(page, |page, ((_, power_mw, wakes), number)| {
            let at = place_of(number);
            page.put_u16(at, (power_mw * 10.0).round() as u16)
                .put_u8(at + 3, FINE_SCALE | NON_OPERATIONAL)
                .put_u32(at + 8, wakes.as_us() as u32)
                // Relative performance: the lower the state, the worse.
                .put(at + 12, &[number as u8; 4])
        })
    }
}

fn place_of(number: usize) -> usize {
    DESCRIPTORS_AT + number * DESCRIPTOR_BYTES
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::nvme::fields::{u8_at, u16_at, u32_at};

    fn of_two() -> Power {
        let low = vec![(PowerState::Slumber, 40.0, Nanos(1_200_000)), (PowerState::Sleep, 5.0, Nanos(9_500_000))];
        Power { active_mw: Some(8250.0), idle_mw: Some(5000.0), low, state: Some(PowerState::Sleep) }
    }

    /// By hand: 8.25 W in steps of 10 mW, 40 and 5 mW in steps of 0.1, which take 1200 and 9500 us to leave.
    #[test]
    fn descriptors_by_hand() {
        let page = of_two().describe(Page::new(4096)).bytes();
        assert_eq!(u8_at(&page, 263), 2, "from zero on");
        let told = [0, 1, 2].map(|number| {
            let at = 2048 + 32 * number;
            (u16_at(&page, at), u8_at(&page, at + 3), u32_at(&page, at + 8), u8_at(&page, at + 15))
        });
        assert_eq!(told, [(825, 0, 0, 0), (400, 3, 1200, 1), (50, 3, 9500, 2)]);
        assert_eq!((u16_at(&page, 2048 + 16), u8_at(&page, 2048 + 18)), (500, 0x80), "5 W at rest");
        let unknown = Power::default().describe(Page::new(4096)).bytes();
        assert_eq!((u8_at(&unknown, 263), u16_at(&unknown, 2048)), (0, 0), "not reported");
    }

    /// A host names a state by its number; one that is not there is refused.
    #[test]
    fn states_by_number() {
        let ask = |number| Submission { dwords: [2, number, 0, 0, 0, 0], ..Submission::read(&[0; 64]) };
        assert_eq!(of_two().asked(&ask(1)), Ok(PowerState::Slumber));
        assert_eq!(of_two().asked(&ask(0xE0)), Ok(PowerState::Awake), "a hint is no state");
        assert_eq!(of_two().asked(&ask(3)), Err(Status::INVALID_FIELD));
        assert_eq!(Power::default().asked(&ask(1)), Err(Status::INVALID_FIELD));
        assert_eq!((of_two().number(), Power::default().number()), (2, 0));
    }
}
