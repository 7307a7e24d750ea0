//! Starting over: secure erase, crypto erase, TRIM of the whole drive.
//!
//! | way | what can be read | blocks | time |
//! |---|---|---|---|
//! | secure erase | nothing, all is unmapped | erased; those that were written wear by one | `admin.command_ms` + the erases, dies side by side |
//! | crypto erase | noise: the key is gone, the map is not | stay full until trimmed or overwritten | `admin.command_ms` |
//! | overwrite | nothing, all is unmapped | programmed whole with a pattern and erased: all wear by one | `admin.command_ms` + the programs and erases, dies side by side |
//! | trim | nothing, all is unmapped | hold nothing valid, and are erased when collected | the trim commands |
//!
//! Each needs a drive without commands outstanding (none of them is queued); what the write buffer
//! holds is programmed first, in no time. The host lets the time pass that is returned. Left out: what the
//! pattern of an overwrite is, since it is erased; a purge that goes on over a power cut.

use crate::named_choice;
use crate::nand::contents::Contents;
use crate::ssd::Ssd;
use crate::units::Nanos;
use thiserror::Error;

named_choice! {
    /// How a drive starts over.
    pub enum StartOver {
        /// ATA SECURITY ERASE UNIT, NVMe Format with user-data erase: every block is erased.
        SecureErase = "secure-erase",
        /// NVMe Format with cryptographic erase, TCG revert: the key is thrown away.
        CryptoErase = "crypto-erase",
        /// Every exported sector is trimmed.
        Trim = "trim",
        /// One pass of a sanitize by overwriting: every row is programmed with a pattern, every block erased.
        Overwrite = "overwrite",
    }
}

/// Why a drive does not start over.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Refused {
    /// Commands are outstanding.
    #[error("commands are outstanding; starting over needs an idle drive")]
    Outstanding,
    /// The spare is used up.
    #[error("the drive is read-only, its spare is used up; it cannot start over")]
    ReadOnly,
    /// A trim does nothing on this drive.
    #[error("the drive has no TRIM (ftl.trim = false); use secure-erase")]
    NoTrim,
}

impl StartOver {
    /// Nothing is mapped afterwards.
    pub fn empties(self) -> bool {
        self != StartOver::CryptoErase
    }

    /// Every block is erased afterwards, as on a fresh drive.
    pub fn erases(self) -> bool {
        matches!(self, StartOver::SecureErase | StartOver::Overwrite)
    }
}

impl<C: Contents> Ssd<C> {
    /// Starts over; returns the time that this takes. Wear and counters stay.
    ///
    /// # Errors
    /// [`Refused`] where the drive is busy or cannot; nothing has happened then.
    pub fn start_over(&mut self, how: StartOver) -> Result<Nanos, Refused> {
        if self.commands.outstanding() > 0 {
            return Err(Refused::Outstanding);
        }
        if self.ftl.is_read_only() {
            return Err(Refused::ReadOnly);
        }
        if how == StartOver::Trim && !self.shape.config.ftl.trim {
            return Err(Refused::NoTrim);
        }
        self.come_to_rest();
        Ok(match how {
            StartOver::SecureErase => self.secure_erase(),
            StartOver::CryptoErase => self.crypto_erase(),
            StartOver::Overwrite => self.shape.config.admin.command_ms.0 + self.ftl.overwrite_all(),
            StartOver::Trim => self.trim_drive(),
        })
    }

    /// Ends what goes on inside, without time.
    fn come_to_rest(&mut self) {
        self.put_away();
        self.ftl.backlog.clear();
        self.start_idling();
    }

    fn secure_erase(&mut self) -> Nanos {
        self.ftl.counters.secure_erases += 1;
        self.shape.config.admin.command_ms.0 + self.ftl.erase_all()
    }

    fn crypto_erase(&mut self) -> Nanos {
        self.ftl.counters.crypto_erases += 1;
        self.ftl.flash.contents.discard_key();
        self.shape.config.admin.command_ms.0
    }

    /// As few trim commands as the drive can be named in.
    fn trim_drive(&mut self) -> Nanos {
        let most = self.shape.most_trimmed_sectors();
        let (mut left, mut time) = (self.shape.limits.sectors, Nanos::ZERO);
        while left > 0 {
            let sectors = left.min(u64::from(most)) as u32;
            time += self.shape.config.link.command_us.0
                + self.shape.config.controller.trim_command_us.0
                + self.shape.trim_time(sectors);
            self.ftl.counters.host_trims += 1;
            left -= u64::from(sectors);
        }
        let bytes = u64::from(self.ftl.trim_all()) * u64::from(self.shape.unit_bytes);
        self.ftl.counters.host_bytes_trimmed += bytes;
        time
    }
}
