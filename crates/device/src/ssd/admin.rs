//! Starting over: secure erase, crypto erase, TRIM of the whole drive.
//!
//! | way | what can be read | blocks | time |
//! |---|---|---|---|
//! | secure erase | nothing, all is unmapped | erased; those that were written wear by one | `admin.command_ms` + the erases, dies side by side |
//! | crypto erase | noise: the key is gone, the map is not | stay full until trimmed or overwritten | `admin.command_ms` |
//! | trim | nothing, all is unmapped | hold nothing valid, and are erased when collected | the trim commands |
//!
//! Each needs a drive without commands outstanding (none of them is queued); what the write buffer
//! holds is programmed first, in no time. The host lets the time pass that is returned. Left out:
//! sanitize's overwrite, and a purge that goes on over a power cut.

use crate::config::drive::Protocol;
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
}

/// Ranges of one block of ATA's DATA SET MANAGEMENT, of 65535 sectors each (ACS-3).
const ATA_TRIM_SECTORS: u32 = 64 * 65_535;

impl<C: Contents> Ssd<C> {
    /// Starts over; returns the time that this takes. Wear and counters stay.
    ///
    /// # Errors
    /// [`Refused`] where the drive is busy or cannot; nothing has happened then.
    pub fn start_over(&mut self, how: StartOver) -> Result<Nanos, Refused> {
        if self.front.outstanding() > 0 {
            return Err(Refused::Outstanding);
        }
        if self.ftl.is_read_only() {
            return Err(Refused::ReadOnly);
        }
        if how == StartOver::Trim && !self.config.ftl.trim {
            return Err(Refused::NoTrim);
        }
        self.come_to_rest();
        Ok(match how {
            StartOver::SecureErase => self.secure_erase(),
            StartOver::CryptoErase => self.crypto_erase(),
            StartOver::Trim => self.trim_drive(),
        })
    }

    /// Puts the drive away without time: what the buffer holds is programmed, a row under way counts as
    /// programmed, and collection stays where it is, as it is under load.
    pub fn put_away(&mut self) {
        self.flush_now();
        // A drive that rests has its backlog, and nothing else.
        if !self.rests {
            self.stop_here();
        }
    }

    /// As [`Ssd::put_away`], of a drive that does not rest.
    pub(super) fn stop_here(&mut self) {
        debug_assert_eq!(self.front.outstanding(), 0, "the host waits for nothing");
        self.rests = true;
        self.ftl.backlog.clear();
        self.empty_buffer(true);
        self.restart(self.now);
    }

    /// Ends what goes on inside, without time.
    fn come_to_rest(&mut self) {
        self.put_away();
        self.ftl.backlog.clear();
        self.start_idling();
    }

    fn secure_erase(&mut self) -> Nanos {
        self.ftl.counters.secure_erases += 1;
        self.config.admin.command_ms.0 + self.ftl.erase_all()
    }

    fn crypto_erase(&mut self) -> Nanos {
        self.ftl.counters.crypto_erases += 1;
        self.ftl.flash.contents.discard_key();
        self.config.admin.command_ms.0
    }

    /// As few trim commands as the drive can be named in.
    fn trim_drive(&mut self) -> Nanos {
        let most = match self.config.link.protocol {
            Protocol::SataIde | Protocol::SataNcq => ATA_TRIM_SECTORS,
            Protocol::Nvme => u32::MAX,
        };
        let (mut left, mut time) = (self.limits.sectors, Nanos::ZERO);
        while left > 0 {
            let sectors = left.min(u64::from(most)) as u32;
            time += self.config.link.command_us.0 + self.config.controller.trim_command_us.0 + self.trim_time(sectors);
            self.ftl.counters.host_trims += 1;
            left -= u64::from(sectors);
        }
        let bytes = u64::from(self.ftl.trim_all()) * u64::from(self.ftl.geometry.unit_bytes);
        self.ftl.counters.host_bytes_trimmed += bytes;
        time
    }
}
