//! How a command ends: status code type and status code, Base Specification 2.0, figures 94 to 98.

use crate::request::{Command, Fault};

/// Status code type in the upper byte, status code in the lower one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub u16);

/// Asking again does not help.
const DO_NOT_RETRY: u16 = 1 << 15;

impl Status {
    /// Successful Completion.
    pub const SUCCESS: Status = Status(0x000);
    /// Invalid Command Opcode.
    pub const INVALID_OPCODE: Status = Status(0x001);
    /// Invalid Field in Command.
    pub const INVALID_FIELD: Status = Status(0x002);
    /// Internal Error.
    pub const INTERNAL_ERROR: Status = Status(0x006);
    /// Command Abort Requested.
    pub const ABORT_REQUESTED: Status = Status(0x007);
    /// Invalid Namespace or Format.
    pub const INVALID_NAMESPACE: Status = Status(0x00B);
    /// Command Sequence Error.
    pub const SEQUENCE_ERROR: Status = Status(0x00C);
    /// Data SGL Length Invalid.
    pub const SGL_LENGTH: Status = Status(0x00F);
    /// SGL Descriptor Type Invalid.
    pub const SGL_TYPE: Status = Status(0x011);
    /// Sanitize In Progress.
    pub const SANITIZE_IN_PROGRESS: Status = Status(0x01D);
    /// Namespace is Write Protected.
    pub const WRITE_PROTECTED: Status = Status(0x020);
    /// Transient Transport Error.
    pub const TRANSPORT: Status = Status(0x022);
    /// LBA Out of Range.
    pub const LBA_OUT_OF_RANGE: Status = Status(0x080);
    /// Namespace Not Ready.
    pub const NOT_READY: Status = Status(0x082);
    /// Asynchronous Event Request Limit Exceeded.
    pub const EVENT_LIMIT: Status = Status(0x105);
    /// Invalid Log Page.
    pub const INVALID_LOG_PAGE: Status = Status(0x109);
    /// Invalid Format.
    pub const INVALID_FORMAT: Status = Status(0x10A);
    /// Feature Identifier Not Saveable.
    pub const NOT_SAVEABLE: Status = Status(0x10D);
    /// Feature Not Changeable.
    pub const NOT_CHANGEABLE: Status = Status(0x10E);
    /// Fabrics: Connect Incompatible Format.
    pub const CONNECT_FORMAT: Status = Status(0x180);
    /// Fabrics: Connect Controller Busy.
    pub const CONNECT_BUSY: Status = Status(0x181);
    /// Fabrics: Connect Invalid Parameters.
    pub const CONNECT_PARAMETERS: Status = Status(0x182);
    /// Write Fault.
    pub const WRITE_FAULT: Status = Status(0x280);
    /// Unrecovered Read Error.
    pub const UNRECOVERED_READ: Status = Status(0x281);
    /// Compare Failure.
    pub const COMPARE_FAILURE: Status = Status(0x285);

    /// How a request that failed ends.
    pub fn of(fault: Fault, command: Command) -> Status {
        match fault {
            Fault::WriteProtected => Status::WRITE_PROTECTED,
            Fault::OutOfRange => Status::LBA_OUT_OF_RANGE,
            Fault::Media if command.writes() => Status::WRITE_FAULT,
            Fault::Media => Status::UNRECOVERED_READ,
            Fault::Unequal => Status::COMPARE_FAILURE,
            Fault::NoPower => Status::NOT_READY,
            Fault::Broken | Fault::Ends => Status::INTERNAL_ERROR,
        }
    }

    /// It was done.
    pub fn is_success(self) -> bool {
        self == Status::SUCCESS
    }

    /// The field of a completion, its phase tag 0. What will pass, as a drive without power, may be asked again.
    pub fn field(self) -> u16 {
        const PASSES: [Status; 4] = [Status::SUCCESS, Status::NOT_READY, Status::INTERNAL_ERROR, Status::TRANSPORT];
        let lasts = !PASSES.contains(&self);
        self.0 << 1 | if lasts { DO_NOT_RETRY } else { 0 }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand: type in bits 11 to 9, code in bits 8 to 1, do not retry in bit 15.
    #[test]
    fn fields_by_hand() {
        assert_eq!(Status::SUCCESS.field(), 0);
        assert_eq!(Status::INVALID_FIELD.field(), 0x8004);
        assert_eq!(Status::UNRECOVERED_READ.field(), 0x8000 | 2 << 9 | 0x81 << 1);
        assert_eq!(Status::NOT_READY.field(), 0x82 << 1);
    }
}
