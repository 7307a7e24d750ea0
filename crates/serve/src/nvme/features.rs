//! Features of a controller: Base Specification 2.0, section 5.27.1. None outlives the connection.

use super::command::Submission;
use super::status::Status;
use ssdlab_device::ssd::health::TOO_HOT_KELVIN;
use std::collections::BTreeMap;

const ARBITRATION: u8 = 0x01;
/// Which state the drive is in, and not an agreement with one host: its owner tells.
pub const POWER_MANAGEMENT: u8 = 0x02;
const TEMPERATURE_THRESHOLD: u8 = 0x04;
const ERROR_RECOVERY: u8 = 0x05;
const VOLATILE_WRITE_CACHE: u8 = 0x06;
const NUMBER_OF_QUEUES: u8 = 0x07;
const WRITE_ATOMICITY: u8 = 0x0A;
const EVENTS: u8 = 0x0B;
const KEEP_ALIVE: u8 = 0x0F;

/// I/O queues of a controller at most.
pub const MOST_QUEUES: u16 = 32;
const SAVE: u32 = 1 << 31;
const CHANGEABLE: u32 = 1 << 2;
/// Other sensors, or temperatures that are too low.
const OTHER_THRESHOLDS: u32 = 0x3F << 16;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    values: BTreeMap<u8, u32>,
}

impl Features {
    /// As they are at first.
    pub fn new(keep_alive_ms: u32) -> Features {
        let defaults = [
            (ARBITRATION, 0),
            (TEMPERATURE_THRESHOLD, TOO_HOT_KELVIN.into()),
            (ERROR_RECOVERY, 0),
            (WRITE_ATOMICITY, 0),
            (EVENTS, 0),
            (KEEP_ALIVE, keep_alive_ms),
        ];
        Features { values: BTreeMap::from(defaults) }
    }

    /// Kinds of warnings of which the host wants to hear.
    pub fn events(&self) -> u8 {
        self.values.get(&EVENTS).copied().unwrap_or(0) as u8
    }

    /// The temperature in kelvins from which on it is too high.
    pub fn too_hot_kelvin(&self) -> u16 {
        self.values.get(&TEMPERATURE_THRESHOLD).copied().unwrap_or(0) as u16
    }

    /// Within so many milliseconds the host shows that it is alive; 0 is for ever.
    pub fn keep_alive_ms(&self) -> u32 {
        self.values.get(&KEEP_ALIVE).copied().unwrap_or(0)
    }

    /// The value of a feature; the drive's write cache is on or off, where it has a volatile one.
    ///
    /// # Errors
    /// There is no such feature.
    pub fn get(&self, command: &Submission, cache: Option<bool>, power_state: u32) -> Result<u32, Status> {
        let value = match (feature(command), cache) {
            (POWER_MANAGEMENT, _) => power_state,
            (VOLATILE_WRITE_CACHE, Some(is_on)) => u32::from(is_on),
            (NUMBER_OF_QUEUES, _) => both(MOST_QUEUES - 1),
            (TEMPERATURE_THRESHOLD, _) if command.dword(11) & OTHER_THRESHOLDS != 0 => 0,
            (known, _) => *self.values.get(&known).ok_or(Status::INVALID_FIELD)?,
        };
        match command.dword(10) >> 8 & 7 {
            0 => Ok(value),
            1 | 2 => Ok(self.default_of(feature(command))),
            3 => Ok(CHANGEABLE),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    fn default_of(&self, feature: u8) -> u32 {
        match feature {
            VOLATILE_WRITE_CACHE => 1,
            NUMBER_OF_QUEUES => both(MOST_QUEUES - 1),
            _ => Features::new(self.keep_alive_ms()).values.get(&feature).copied().unwrap_or(0),
        }
    }

    /// Sets a feature; returns what the completion says.
    ///
    /// # Errors
    /// There is no such feature, or no such value.
    pub fn set(&mut self, command: &Submission, cache: Option<&mut bool>) -> Result<u32, Status> {
        refuse_saving(command)?;
        let value = command.dword(11);
        match (feature(command), cache) {
            (VOLATILE_WRITE_CACHE, Some(is_on)) => *is_on = value & 1 != 0,
            (NUMBER_OF_QUEUES, _) => {
                let (submissions, completions) = (value & 0xFFFF, value >> 16);
                if submissions == 0xFFFF || completions == 0xFFFF {
                    return Err(Status::INVALID_FIELD);
                }
                return Ok(both(submissions.min(completions).min(u32::from(MOST_QUEUES) - 1) as u16));
            }
            (TEMPERATURE_THRESHOLD, _) if value & OTHER_THRESHOLDS != 0 => return Err(Status::INVALID_FIELD),
            (known, _) => *self.values.get_mut(&known).ok_or(Status::INVALID_FIELD)? = value,
        }
        Ok(0)
    }
}

/// No feature outlives the connection.
///
/// # Errors
/// The command asks to save it.
pub fn refuse_saving(command: &Submission) -> Result<(), Status> {
    if command.dword(10) & SAVE != 0 { Err(Status::NOT_SAVEABLE) } else { Ok(()) }
}

/// The feature that is named.
pub fn feature(command: &Submission) -> u8 {
    command.dword(10) as u8
}

/// A number of submission and of completion queues.
fn both(queues: u16) -> u32 {
    u32::from(queues) | u32::from(queues) << 16
}

#[cfg(test)]
mod test {
    use super::*;

    fn command(feature: u32, value: u32) -> Submission {
        Submission { dwords: [feature, value, 0, 0, 0, 0], ..Submission::read(&[0; 64]) }
    }

    /// Queues are granted up to the most there are; a value that is set comes back.
    #[test]
    fn what_is_set_comes_back() {
        let mut features = Features::new(5000);
        assert_eq!(features.set(&command(7, 3 | 7 << 16), None), Ok(3 | 3 << 16));
        assert_eq!(features.set(&command(7, 500 | 500 << 16), None), Ok(31 | 31 << 16));
        assert_eq!(features.set(&command(0x0B, 0x1F), None), Ok(0));
        assert_eq!((features.get(&command(0x0B, 0), None, 0), features.events()), (Ok(0x1F), 0x1F));
        assert_eq!(features.get(&command(0x0B | 1 << 8, 0), None, 0), Ok(0), "the default");
        assert_eq!(features.get(&command(0x0B | 3 << 8, 0), None, 0), Ok(CHANGEABLE));
        assert_eq!(features.get(&command(0x0F, 0), None, 0), Ok(5000));
        assert_eq!((features.set(&command(4, 330), None), features.too_hot_kelvin()), (Ok(0), 330));
        assert_eq!(features.set(&command(4, 330 | 1 << 20), None), Err(Status::INVALID_FIELD), "too cold");
    }

    /// A cache is there or not, and what there is not has its status.
    #[test]
    fn the_cache_and_what_is_not_there() {
        let (mut features, mut is_on) = (Features::new(0), true);
        assert_eq!(features.set(&command(6, 0), Some(&mut is_on)), Ok(0));
        assert_eq!((is_on, features.get(&command(6, 0), Some(false), 0)), (false, Ok(0)));
        assert_eq!(features.get(&command(6, 0), None, 0), Err(Status::INVALID_FIELD));
        assert_eq!(features.set(&command(6, 1), None), Err(Status::INVALID_FIELD));
        assert_eq!(features.set(&command(0xD0, 1), None), Err(Status::INVALID_FIELD));
        assert_eq!(
            (features.get(&command(2, 0), None, 1), features.get(&command(2 | 1 << 8, 0), None, 1)),
            (Ok(1), Ok(0))
        );
        assert_eq!(features.set(&command(0x0B | SAVE, 1), None), Err(Status::NOT_SAVEABLE));
    }
}
