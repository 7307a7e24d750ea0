//! Parameters of the drive around the flash: link, controller, write buffer.

use crate::named_choice;
use crate::parameter::{Bytes, Microseconds, Milliseconds};
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
    /// Administration.
    pub struct AdminConfig in "admin." {
        command_ms: Milliseconds ["ms"] {0 .. 86400000} = "1000", "Time that a secure or crypto erase takes beyond erasing blocks.";
    }
}

section! {
    /// The host link.
    pub struct LinkConfig in "link." {
        protocol: Protocol [""] {}, "sata-ide, sata-ncq or nvme.";
        mb_per_s: f64 ["MB/s"] {1 .. 100000}, "Payload rate.";
        command_us: Microseconds ["µs"] {0 .. 1000} = "0", "Link time of a command's own frames (host to device), without data.";
        queue_depth: u32 [""] {1 .. 1048576}, "Maximum number of outstanding commands (NVMe: queues times depth).";
        trim_queued: bool [""] {} = "true", "Trims are queued with other commands; if false, as on SATA before 3.1, the queue drains first and later commands wait until the trim ends.";
        hang_share: f64 [""] {0 .. 1} = "0", "Share of wake-ups from a low power state at which the link hangs until it is reset.";
        hang_reset_ms: Milliseconds ["ms"] {0 .. 86400000} = "30000", "Time that such a hang takes: the host's timeout and the reset (Linux waits 30 s for an ATA command).";
    }
}

section! {
    /// The controller.
    pub struct ControllerConfig in "controller." {
        read_command_us: Microseconds ["µs"] {0 .. 10000}, "Controller time of a read command; commands queue for it.";
        write_command_us: Microseconds ["µs"] {0 .. 10000}, "Controller time of a write command.";
        flush_command_us: Microseconds ["µs"] {0 .. 10000} = "0", "Controller time of a flush command, besides what it has to write.";
        trim_command_us: Microseconds ["µs"] {0 .. 10000000} = "20", "Controller time of a trim or write-zeroes command.";
        trim_range_us: Microseconds ["µs"] {0 .. 10000000} = "0", "Controller time of each range of a trim: 65535 sectors at most on SATA, the whole request on NVMe.";
        trim_unit_us: Microseconds ["µs"] {0 .. 10000} = "0", "Controller time of each mapping unit that a trim covers.";
        read_latency_us: Microseconds ["µs"] {0 .. 100000} = "0", "Latency added to each read when its work is done; latencies overlap, so they do not limit the rate.";
        write_latency_us: Microseconds ["µs"] {0 .. 100000} = "0", "Latency added to each write when its work is done.";
        latency_jitter_us: Microseconds ["µs"] {0 .. 100000} = "0", "Mean of an exponentially distributed random time that is added to the latency of each read and write.";
        unit_us: Microseconds ["µs"] {0 .. 1000} = "0", "Controller time of each further mapping unit of a command.";
        move_unit_us: Microseconds ["µs"] {0 .. 1000} = "0", "Controller time of each unit that collection moves; moves of all dies queue for it, apart from commands.";
        paced_write_mb_per_s: Option<f64> ["MB/s"] {0.01 .. 100000} = "\"none\"", "Rate to which host writes are held while some die has no more than ftl.gc_high_blocks free; with none they are not.";
        compression: bool [""] {} = "false", "Data is compressed on its way to flash (SandForce and the like).";
        compression_floor: f64 [""] {0.05 .. 1} = "0.125", "Smallest share of its size to which a unit is compressed.";
    }
}

section! {
    /// The write buffer.
    pub struct BufferConfig in "buffer." {
        bytes: Bytes ["B"] {0 .. 68719476736.0} = "0", "RAM for writes; with 0 a write completes only once it is programmed.";
        join_bytes: Bytes ["B"] {0 .. 68719476736.0} = "64 GiB", "A write goes over what waits of the same unit where that is among the newest so many bytes; else both are programmed.";
        power_loss_protected: bool [""] {} = "false", "Acknowledged data survives a power cut (capacitors).";
        fua_past_slc: bool [""] {} = "false", "Without power-loss protection, data of a write with FUA goes past the SLC cache.";
    }
}
