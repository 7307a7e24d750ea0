//! The memory that simulated drives take, and whether the machine has it.
//!
//! A drive takes 4 B for each unit that it exports and 4 B for each slot of its flash, from first use on, and
//! 4 B a unit more for the bytes of its drive file while it is saved or read. So one that does not fit would be found out in the middle of a long preconditioning, when the kernel ends
//! the process. It is asked for before.
//!
//! Left out: requests in flight (asked for when a run begins), results, and what other processes take later.

use super::SessionError;
use ssdlab_device::config::DriveConfig;
use ssdlab_device::ftl::layout::memory_bytes;
use ssdlab_device::profile::Model;

/// What the drives of a session take.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Bytes that are free on the machine; `None` where it does not say.
    free: Option<u64>,
    taken: u64,
}

impl Memory {
    /// That of this machine.
    pub fn of_machine() -> Memory {
        Memory { free: available_bytes(), taken: 0 }
    }

    /// All drives so far together, in bytes.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Another drive is to be simulated.
    ///
    /// # Errors
    /// It does not fit with those before it.
    pub fn take(&mut self, name: &str, model: &Model) -> Result<(), SessionError> {
        let Model::Ssd(config) = model else { return Ok(()) };
        // What is wrong with a shape is said, with its place, when the drive is built.
        let Ok(bytes) = memory_bytes(config) else { return Ok(()) };
        self.taken += bytes;
        match self.free {
            Some(free) if self.taken > free => Err(SessionError::Drive(self.refusal(name, config, free))),
            _ => Ok(()),
        }
    }

    fn refusal(&self, name: &str, config: &DriveConfig, free: u64) -> String {
        let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
        format!(
            "{name}: the simulation takes {} of memory, and {} are free\n\
             map larger units (ftl.mapping_unit_bytes is {} B), or simulate a smaller capacity_bytes",
            gigabytes(self.taken),
            gigabytes(free),
            config.unit_bytes()
        )
    }
}

/// Memory that processes can still take, as Linux estimates it.
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod test {
    use super::*;
    use ssdlab_device::profile::{Profile, built_in};

    fn theory() -> Model {
        Profile::read("theory", "theory", built_in("theory").unwrap(), &[]).unwrap().model
    }

    /// 16 GiB in units of 4 KiB: twice 4 Mi units, and 28 % more slots than units, 4 B each; blocks that are
    /// kept free, and what each block takes, come on top.
    #[test]
    fn a_drive_takes_four_bytes_a_slot_and_eight_a_unit() {
        let mut memory = Memory { free: None, taken: 0 };
        memory.take("theory", &theory()).unwrap();
        let maps = 4.0 * (2.0 * 4.0 + 4.0 * 1.28) * f64::from(1 << 20);
        assert!((1.0..1.1).contains(&(memory.taken() as f64 / maps)), "{} of {maps}", memory.taken());
    }

    #[test]
    fn drives_that_do_not_fit_together_are_refused() {
        let mut memory = Memory { free: Some(80_000_000), taken: 0 };
        memory.take("first", &theory()).unwrap();
        let refused = memory.take("second", &theory()).unwrap_err().to_string();
        assert!(refused.starts_with("second: ") && refused.contains("GB are free"), "{refused}");
    }
}
