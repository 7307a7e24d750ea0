//! Fabrics commands: connect and the controller's properties. Base Specification 2.0, sections 3.1.3 and 6.
//!
//! Left out: authentication, and the properties of a controller on PCI Express (queues, doorbells, memory buffer).

use super::command::Submission;
use super::fields::{text_at, u16_at};
use super::status::Status;

/// Types of fabrics commands.
pub const PROPERTY_SET: u8 = 0x00;
/// Connects a queue.
pub const CONNECT: u8 = 0x01;
/// Reads a property.
pub const PROPERTY_GET: u8 = 0x04;
/// Ends an I/O queue.
pub const DISCONNECT: u8 = 0x08;

/// The subsystem that tells of others.
pub const DISCOVERY: &str = "nqn.2014-08.org.nvmexpress.discovery";
/// Any controller will do.
pub const ANY_CONTROLLER: u16 = 0xFFFF;
/// Entries of a queue at most.
pub const MOST_ENTRIES: u16 = 128;
/// Bytes of the data of a connect.
pub const CONNECT_BYTES: u32 = 1024;
const NAME_BYTES: usize = 256;
/// Where the command has the descriptor of its data, the queue and its size.
const DESCRIPTOR_AT: u32 = 24;
const QUEUE_AT: u32 = 42;
const SIZE_AT: u32 = 44;
/// Where its data have the controller and the two names.
const CONTROLLER_AT: u32 = 16;
const SUBSYSTEM_AT: u32 = 256;
const HOST_AT: u32 = 512;
const IN_DATA: u32 = 1 << 16;

/// What a host wishes that connects a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect {
    /// 0 is the admin queue.
    pub queue: u16,
    /// Entries of the submission queue.
    pub entries: u16,
    /// Within so many milliseconds the host shows that it is alive; 0 is for ever.
    pub keep_alive_ms: u32,
    /// The controller, of an I/O queue.
    pub controller: u16,
    /// The subsystem that it looks for.
    pub subsystem: String,
    /// Who it is.
    pub host: String,
}

/// Why a queue is not connected, as the completion has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// How the command ends.
    pub status: Status,
    /// Of an invalid parameter its byte, in the command or, with bit 16, in the data.
    pub result: u32,
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Refusal {
        Refusal { status, result: 0 }
    }
}

impl Refusal {
    /// The data are too short.
    pub const DATA: Refusal = Refusal::parameter(DESCRIPTOR_AT);
    /// The controller has no such queue to connect.
    pub const QUEUE: Refusal = Refusal::parameter(QUEUE_AT);
    /// A queue is not as long.
    pub const SIZE: Refusal = Refusal::parameter(SIZE_AT);
    /// There is no such controller.
    pub const CONTROLLER: Refusal = Refusal::parameter(IN_DATA | CONTROLLER_AT);
    /// There is no subsystem of that name.
    pub const SUBSYSTEM: Refusal = Refusal::parameter(IN_DATA | SUBSYSTEM_AT);
    /// The controller is another host's.
    pub const HOST: Refusal = Refusal::parameter(IN_DATA | HOST_AT);

    const fn parameter(result: u32) -> Refusal {
        Refusal { status: Status::CONNECT_PARAMETERS, result }
    }
}

impl Connect {
    /// Reads the command and its data.
    ///
    /// # Errors
    /// What it ends with.
    pub fn read(command: &Submission, data: &[u8]) -> Result<Connect, Refusal> {
        if command.dword(10) & 0xFFFF != 0 {
            return Err(Status::CONNECT_FORMAT.into());
        }
        let entries = (command.dword(11) & 0xFFFF) + 1;
        if !(2..=u32::from(MOST_ENTRIES)).contains(&entries) {
            return Err(Refusal::SIZE);
        }
        if data.len() < CONNECT_BYTES as usize {
            return Err(Refusal::DATA);
        }
        Ok(Connect {
            queue: (command.dword(10) >> 16) as u16,
            entries: entries as u16,
            keep_alive_ms: command.dword(12),
            controller: u16_at(data, CONTROLLER_AT as usize),
            subsystem: text_at(data, SUBSYSTEM_AT as usize, NAME_BYTES),
            host: text_at(data, HOST_AT as usize, NAME_BYTES),
        })
    }
}

/// Registers of a controller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Properties {
    configuration: u32,
}

const CAPABILITIES: u32 = 0x00;
const VERSION: u32 = 0x08;
const CONFIGURATION: u32 = 0x14;
const STATUS: u32 = 0x1C;

/// 1.4.
pub const VERSION_VALUE: u32 = 0x0001_0400;
const READY_WITHIN_HALF_SECONDS: u64 = 20;
const ENABLED: u32 = 1;
const SHUTDOWN: u32 = 3 << 14;
const SHUTDOWN_COMPLETE: u32 = 2 << 2;

impl Properties {
    /// The value of a property.
    ///
    /// # Errors
    /// There is none at that offset.
    pub fn get(&self, command: &Submission) -> Result<u64, Status> {
        match command.dword(11) {
            CAPABILITIES => {
                // Contiguous queues, the NVM command set, pages of 4 KiB.
                let entries = u64::from(MOST_ENTRIES - 1);
                Ok(entries | 1 << 16 | READY_WITHIN_HALF_SECONDS << 24 | 1 << 37)
            }
            VERSION => Ok(VERSION_VALUE.into()),
            CONFIGURATION => Ok(self.configuration.into()),
            STATUS => {
                let shut = if self.configuration & SHUTDOWN == 0 { 0 } else { SHUTDOWN_COMPLETE };
                Ok((self.configuration & ENABLED | shut).into())
            }
            _ => Err(Status::INVALID_FIELD),
        }
    }

    /// Sets a property; the host may set the configuration alone.
    ///
    /// # Errors
    /// It is another one, or of another size.
    pub fn set(&mut self, command: &Submission) -> Result<(), Status> {
        if command.dword(11) != CONFIGURATION || command.dword(10) & 7 != 0 {
            return Err(Status::INVALID_FIELD);
        }
        self.configuration = command.dword(12);
        Ok(())
    }

    /// The controller takes commands.
    pub fn is_enabled(&self) -> bool {
        self.configuration & ENABLED != 0
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::nvme::fields::Page;

    fn connect(dwords: [u32; 6]) -> Submission {
        Submission { dwords, ..Submission::read(&[0; 64]) }
    }

    /// By hand: an I/O queue of 128 entries of controller 7.
    #[test]
    fn a_connect_by_hand() {
        let data = Page::new(1024).put_u16(16, 7).put_text(256, 256, 0, DISCOVERY).put_text(512, 256, 0, "nqn.host");
        let data = data.bytes();
        let found = Connect::read(&connect([2 << 16, 127, 5000, 0, 0, 0]), &data).unwrap();
        assert_eq!((found.queue, found.entries, found.keep_alive_ms, found.controller), (2, 128, 5000, 7));
        assert_eq!((found.subsystem.as_str(), found.host.as_str()), (DISCOVERY, "nqn.host"));
        assert_eq!(Connect::read(&connect([1, 127, 0, 0, 0, 0]), &data), Err(Status::CONNECT_FORMAT.into()));
        for size in [0, 128] {
            assert_eq!(Connect::read(&connect([0, size, 0, 0, 0, 0]), &data), Err(Refusal::SIZE));
        }
        assert_eq!(Connect::read(&connect([0, 31, 0, 0, 0, 0]), &data[..1023]), Err(Refusal::DATA));
    }

    /// A controller is ready when it is enabled, and says when it has shut down.
    #[test]
    fn properties() {
        let mut properties = Properties::default();
        let at = |offset, value| connect([0, offset, value, 0, 0, 0]);
        assert_eq!(properties.get(&at(STATUS, 0)), Ok(0));
        properties.set(&at(CONFIGURATION, 0x46_0001)).unwrap();
        assert_eq!((properties.get(&at(STATUS, 0)), properties.is_enabled()), (Ok(1), true));
        properties.set(&at(CONFIGURATION, 0x46_4001)).unwrap();
        assert_eq!(properties.get(&at(STATUS, 0)), Ok(9));
        assert_eq!(properties.get(&at(CAPABILITIES, 0)).map(|value| value & 0xFFFF), Ok(127));
        assert_eq!(properties.set(&at(CAPABILITIES, 1)), Err(Status::INVALID_FIELD));
        assert_eq!(properties.get(&at(0x100, 0)), Err(Status::INVALID_FIELD));
    }
}
