//! Parameters of the flash: geometry, times, reliability.

use crate::named_choice;
use crate::parameter::{Bytes, Microseconds, PageTimes, Problem};
use crate::section;

named_choice! {
    /// How many bits a cell holds.
    pub enum Cell {
        /// One bit.
        Slc = "slc",
        /// Two bits.
        Mlc = "mlc",
        /// Three bits.
        Tlc = "tlc",
        /// Four bits.
        Qlc = "qlc",
    }
}

impl Cell {
    /// Bits a cell, which is also the number of page kinds.
    pub fn bits(self) -> u32 {
        match self {
            Cell::Slc => 1,
            Cell::Mlc => 2,
            Cell::Tlc => 3,
            Cell::Qlc => 4,
        }
    }
}

section! {
    /// Geometry and times of the flash (ONFI terms).
    pub struct NandConfig in "nand." {
        cell: Cell [""] {}, "Bits per cell: slc, mlc, tlc or qlc.";
        channels: u32 [""] {1 .. 64}, "Buses between the controller and the flash.";
        dies_per_channel: u32 [""] {1 .. 64}, "Dies (LUNs) on each bus.";
        planes: u32 [""] {1 .. 8} = "1", "Planes of a die.";
        multi_plane: bool [""] {} = "true", "Planes of a die are programmed and erased together.";
        blocks_per_plane: Option<u32> [""] {1 .. 1000000} = "\"none\"", "Blocks of a plane; follows from over_provisioning where not given.";
        pages_per_block: u32 [""] {2 .. 4096}, "Pages of a block.";
        page_bytes: Bytes ["B"] {512 .. 262144}, "Data bytes of a page.";
        spare_bytes: Bytes ["B"] {0 .. 65536} = "0", "Spare bytes of each page, for ECC and out-of-band data; they cross the channel with it.";
        read_us: PageTimes ["µs"] {0 .. 100000}, "tR, array to register, per page kind.";
        program_us: PageTimes ["µs"] {0 .. 100000}, "tPROG, register to array, per page kind.";
        slc_read_us: Microseconds ["µs"] {0 .. 100000} = "25", "tR of a block used with one bit a cell (SLC cache).";
        slc_program_us: Microseconds ["µs"] {0 .. 100000} = "200", "tPROG of a block used with one bit a cell (SLC cache).";
        erase_us: Microseconds ["µs"] {0 .. 1000000}, "tBERS of a fresh block.";
        erase_growth: f64 [""] {0 .. 20} = "0.0", "Share by which tBERS has grown, linearly, once the block reaches its endurance; it grows on beyond.";
        erase_limit_us: Option<Microseconds> ["µs"] {0 .. 10000000} = "\"none\"", "Longest erase: a block whose erase takes longer becomes bad.";
        channel_mb_per_s: f64 ["MB/s"] {1 .. 100000}, "Data rate of a channel.";
        command_us: Microseconds ["µs"] {0 .. 1000} = "0", "Command and address cycles of one flash operation on its channel.";
        copyback: bool [""] {} = "false", "Moves inside a die do not cross the channel.";
        suspend: bool [""] {} = "false", "A read suspends a program or erase under way on its die.";
        suspend_us: Microseconds ["µs"] {0 .. 10000} = "20", "Time to suspend, and again to resume.";
    }
}

section! {
    /// Wear and errors of the flash.
    pub struct ReliabilityConfig in "reliability." {
        rated_cycles: u32 [""] {1 .. 10000000}, "Program/erase cycles that a block endures on average.";
        cycles_spread: f64 [""] {0 .. 0.5} = "0.0", "Standard deviation of a block's own endurance, as a share of the mean.";
        factory_bad_share: f64 [""] {0 .. 0.2} = "0.0", "Share of blocks marked bad at the factory.";
        program_fail_share: f64 [""] {0 .. 0.01} = "0.0", "Probability that a program fails.";
        rber_fresh: f64 [""] {0 .. 0.1} = "0.0", "Raw bit error rate of a block without wear.";
        rber_rated: f64 [""] {0 .. 0.1} = "0.0", "Raw bit error rate added at the rated cycles (grows with the square of wear).";
        rber_per_day: f64 [""] {0 .. 0.1} = "0.0", "Raw bit error rate added per day of retention at the rated cycles.";
        retention_days: f64 ["d"] {0 .. 36500} = "0.0", "Retention: days between writing and reading, for all data in the drive.";
        rber_per_read: f64 [""] {0 .. 0.01} = "0.0", "Raw bit error rate added per read of the block since its last erase (read disturb).";
        codeword_bytes: Bytes ["B"] {256 .. 16384} = "1024", "Data bytes of an ECC codeword.";
        correctable_bits: u32 [""] {1 .. 1000} = "40", "Bit errors that the ECC corrects in a codeword.";
        retries: u32 [""] {0 .. 32} = "4", "Read retries: further attempts, each at shifted thresholds.";
        retry_gain: f64 [""] {0.01 .. 1} = "0.4", "Factor by which each further attempt multiplies the raw bit error rate.";
    }
}

impl NandConfig {
    /// Checks what single ranges cannot: page times against page kinds, sizes against each other.
    ///
    /// # Errors
    /// The key whose value does not fit.
    pub fn check(&self) -> Result<(), Problem> {
        let kinds = self.cell.bits() as usize;
        for (key, times) in [("nand.read_us", &self.read_us), ("nand.program_us", &self.program_us)] {
            if times.0.len() != 1 && times.0.len() != kinds {
                let message =
                    format!("{} times given; give one, or one for each of the {kinds} page kinds", times.0.len());
                return Err(Problem::new(key, crate::parameter::Value::show(times), message));
            }
        }
        if !self.page_bytes.0.is_multiple_of(512) {
            return Err(Problem::new("nand.page_bytes", self.page_bytes.0, "must be a multiple of 512 B"));
        }
        if self.channels * self.dies_per_channel > 1024 {
            return Err(Problem::new(
                "nand.dies_per_channel",
                self.dies_per_channel,
                "a drive must have at most 1024 dies",
            ));
        }
        Ok(())
    }
}
