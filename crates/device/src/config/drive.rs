//! Parameters of the drive around the flash: link, controller, write buffer.

use crate::named_choice;
use crate::parameter::{Bytes, Microseconds};
use crate::section;

named_choice! {
    /// The host interface.
    pub enum Protocol {
        /// SATA, one command at a time.
        SataIde = "sata-ide",
        /// SATA with native command queuing, up to 32 commands; the link is half duplex.
        SataNcq = "sata-ncq",
        /// NVMe over PCIe; the link is full duplex.
        Nvme = "nvme",
    }
}

section! {
    /// The host link.
    pub struct LinkConfig in "link." {
        protocol: Protocol [""] {}, "sata-ide, sata-ncq or nvme.";
        mb_per_s: f64 ["MB/s"] {1 .. 100000}, "Payload rate.";
        command_us: Microseconds ["µs"] {0 .. 1000} = "0", "Link time of a command's own frames (host to device), without data.";
        queue_depth: u32 [""] {1 .. 1048576}, "Commands outstanding at most (NVMe: queues times depth).";
    }
}

section! {
    /// The controller.
    pub struct ControllerConfig in "controller." {
        read_command_us: Microseconds ["µs"] {0 .. 10000}, "Controller time of a read command; commands queue for it.";
        write_command_us: Microseconds ["µs"] {0 .. 10000}, "Controller time of a write command.";
        trim_command_us: Microseconds ["µs"] {0 .. 10000000} = "20", "Controller time of a trim or write-zeroes command.";
        unit_us: Microseconds ["µs"] {0 .. 1000} = "0", "Controller time of each further mapping unit of a command.";
        compression: bool [""] {} = "false", "Data is compressed on its way to flash (SandForce and like).";
        compression_floor: f64 [""] {0.05 .. 1} = "0.125", "Smallest share of its size that a unit takes when compressed.";
    }
}

section! {
    /// The write buffer.
    pub struct BufferConfig in "buffer." {
        bytes: Bytes ["B"] {0 .. 68719476736.0} = "0", "RAM for writes; 0 completes a write only when it is programmed.";
        power_loss_protected: bool [""] {} = "false", "Acknowledged data survives a power cut (capacitors).";
    }
}
