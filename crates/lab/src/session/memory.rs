//! The memory that simulated drives take, and whether the machine has it.
//!
//! A drive takes 4 B for each unit that it exports and 4 B for each slot of its flash, from first use on, and
//! 4 B a unit more for the bytes of its drive file while it is saved or read. A fresh drive of any size is
//! there at once. Preconditioning uses all of it; where that does not fit, the kernel would end the process
//! after minutes, so the memory is asked for before.
//!
//! Left out: requests in flight (asked for when a run begins), results, and what other processes take later.

use super::SessionError;
use crate::run::is_free;
use ssdlab_device::ftl::layout::{layout, memory_bytes};
use ssdlab_device::profile::Model;

/// Bytes of an entry of a drive's tables.
const ENTRY_BYTES: usize = 4;

/// What the drives of a session take at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    bytes: u64,
}

impl Memory {
    /// All drives together, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Another drive is to be simulated.
    ///
    /// # Errors
    /// The allocator would not give its maps, not even untouched; it would end the process.
    pub fn add(&mut self, name: &str, model: &Model) -> Result<(), SessionError> {
        let Model::Ssd(config) = model else { return Ok(()) };
        // What is wrong with a shape is said, with its place, when the drive is built.
        let (Ok(bytes), Ok((geometry, _))) = (memory_bytes(config), layout(config)) else { return Ok(()) };
        self.bytes += bytes;
        let largest_table = geometry.ppn_end() * ENTRY_BYTES;
        if is_free(largest_table) { Ok(()) } else { Err(SessionError::Drive(self.refusal(name, "less"))) }
    }

    /// All flash of the drives is to be written.
    ///
    /// # Errors
    /// They take more than is `free`, in bytes; where the machine does not say, `None`, they are taken to fit.
    pub fn check(&self, name: &str, free: Option<u64>) -> Result<(), SessionError> {
        match free {
            Some(free) if self.bytes > free => Err(SessionError::Drive(self.refusal(name, &gigabytes(free)))),
            _ => Ok(()),
        }
    }

    fn refusal(&self, name: &str, free: &str) -> String {
        let needed = gigabytes(self.bytes);
        format!(
            "{name}: the simulation takes up to {needed} of memory, and {free} is free\n\
             map larger units (--set ftl.mapping_unit_bytes=16KiB), or simulate less (--set capacity_bytes=…)"
        )
    }
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// Memory that processes can still take, as Linux estimates it.
pub fn available_bytes() -> Option<u64> {
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
        let mut memory = Memory::default();
        memory.add("theory", &theory()).unwrap();
        let maps = 4.0 * (2.0 * 4.0 + 4.0 * 1.28) * f64::from(1 << 20);
        assert!((1.0..1.1).contains(&(memory.bytes() as f64 / maps)), "{} of {maps}", memory.bytes());
    }

    #[test]
    fn drives_that_do_not_fit_together_are_refused() {
        let (mut memory, free) = (Memory::default(), Some(80_000_000));
        memory.add("first", &theory()).unwrap();
        assert!(memory.check("array", free).is_ok());
        memory.add("second", &theory()).unwrap();
        let refused = memory.check("array", free).unwrap_err().to_string();
        assert!(refused.starts_with("array: ") && refused.contains("0.1 GB is free"), "{refused}");
        assert!(memory.check("array", None).is_ok());
    }
}
