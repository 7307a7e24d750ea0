"""Machines of several makers, rebuilt from what their owners showed in public threads.

Only facts were taken: what is there, on what it stands, how sysfs and tools name it. What a thread
does not show is as in any good machine here. Of Lenovo's controllers no such thread was found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from machine import GIB, MadeMachine


@dataclass(frozen=True)
class PublicMachine:
    """A machine that somebody showed.

    Attributes
    ----------
    source
        The thread.
    build
        Makes it.
    right
        Checks that must look right.
    wrong
        Check and place of all that must look wrong.
    unseen
        Checks that must say that they did not look.
    """

    source: str
    build: Callable[[], MadeMachine]
    right: tuple[str, ...] = ()
    wrong: tuple[tuple[str, str], ...] = ()
    unseen: tuple[str, ...] = ()


def _intel_firmware_raid() -> MadeMachine:
    """Make a RAID 1 of the firmware of two Intel SSDs: container, array in it, LVM on that."""
    machine = MadeMachine()
    for name in ("sda", "sdb"):
        machine.drive(name, device_vendor="ATA", device_model="INTEL_SSDSC2BB15")
        machine.file(f"/sys/block/{name}/device/rev", "0112")
    machine.array("md127", "container", {"sda": 0, "sdb": 0}, array_state="inactive")
    machine.file("/sys/block/md127/size", "0")
    machine.file("/sys/block/md127/md/metadata_version", "external:imsm")
    machine.array("md126", "raid1", {"sda": 0, "sdb": 0})
    machine.file("/sys/block/md126/md/metadata_version", "external:/md127/0")
    machine.partition("md126p1", "md126", start=2048, size=GIB).mount("md126p1", "/boot/efi")
    machine.partition("md126p2", "md126", start=2099200, size=50 * GIB)
    return machine.volume("dm-0", "md126p2").mount("dm-0", "/")


def _hp_h240() -> MadeMachine:
    """Make an HP H240 in RAID mode, without a cache."""
    machine = MadeMachine().drive("sda", device_vendor="HP", device_model="LOGICAL VOLUME")
    machine.file("/sys/block/sda/device/scsi_device/0:1:0:0", "")
    machine.file("/sys/class/scsi_host/host0/proc_name", "hpsa")
    return machine.partition("sda1", "sda", start=2048).mount("sda1", "/")


def _with_ssacli(machine: MadeMachine, header: str, *lines: str) -> MadeMachine:
    text = "\n".join([header, *(f"   {line}" for line in lines)])
    return machine.command("ssacli ctrl all show config detail", text)


def _hp_h240_asked() -> MadeMachine:
    return _with_ssacli(
        _hp_h240(),
        "Smart HBA H240 in Slot 2 (RAID Mode)",
        "Controller Status: OK",
        "Surface Scan Mode: Idle",
        "Cache Board Present: False",
        "Drive Write Cache: Disabled",
        "SATA NCQ Supported: True",
    )


def _hp_p800() -> MadeMachine:
    """Make an HP P800 that caches writes although both batteries have failed."""
    machine = MadeMachine().drive("cciss!c0d0", device_vendor="HP", device_model="LOGICAL VOLUME")
    return _with_ssacli(
        machine,
        "Smart Array P800 in Slot 1",
        "Controller Status: OK",
        "Surface Scan Mode: Idle",
        "Cache Status: OK",
        "Drive Write Cache: Disabled",
        "No-Battery Write Cache: Enabled",
        "Battery/Capacitor Status: Failed (Replace Batteries)",
    )


def _dell_h330_passed_through() -> MadeMachine:
    """Make a Dell PERC H330 that passes its disks through: they are no virtual drives."""
    machine = MadeMachine()
    machine.file("/sys/class/scsi_host/host0/proc_name", "megaraid_sas")
    for target, name in enumerate(("sda", "sdb")):
        machine.drive(
            name,
            rotational="1",
            discard_max_bytes="0",
            device_vendor="ATA",
            device_model="TOSHIBA HDWE160",
        )
        machine.file(f"/sys/block/{name}/device/scsi_device/0:0:{target}:0", "")
    return machine.mount("sda", "/srv")


def _bcache_of_disks() -> MadeMachine:
    """Make two large disks with one NVMe drive as the cache of both, and the system on another."""
    machine = MadeMachine().drive("nvme4n1").drive("nvme1n1")
    machine.file("/sys/class/block/nvme4n1/bcache/cache_replacement_policy", "[lru] fifo random")
    for number, name in enumerate(("sda", "sdb")):
        machine.drive(name, rotational="1", discard_max_bytes="0", device_model="MADE DISK")
        machine.over(f"bcache{number}", "nvme4n1", name, discard_max_bytes="0")
        machine.mount(f"bcache{number}", f"/data{number}")
    machine.partition("nvme1n1p1", "nvme1n1", start=2048, size=GIB // 2)
    machine.partition("nvme1n1p2", "nvme1n1", start=1050624)
    return machine.mount("nvme1n1p1", "/boot/efi").mount("nvme1n1p2", "/")


def _netapp_paths() -> MadeMachine:
    """Make a NetApp namespace whose paths the kernel joins, each a hidden device."""
    machine = MadeMachine().drive("nvme1n1", device_model="NetApp ONTAP Controller")
    machine.file("/sys/block/nvme1n1/device/firmware_rev", "FFFFFFFF")
    for path in range(1, 9):
        machine.drive(f"nvme1c{path}n1", discard_max_bytes="0")
    return machine.mount("nvme1n1", "/srv")


def _usb_bridge() -> MadeMachine:
    """Make an SSD behind a USB bridge with an optimal I/O size of 32 MiB less a sector."""
    machine = MadeMachine().drive("sda", optimal_io_size="33553920", physical_block_size="512")
    return machine.partition("sda1", "sda", start=2048).mount("sda1", "/srv")


PUBLIC = (
    PublicMachine(
        "github.com/AmitKumarDas/Decisions/issues/238",
        _intel_firmware_raid,
        right=("alignment", "arrays", "discard", "known faults"),
    ),
    PublicMachine(
        "github.com/openmediavault/openmediavault/issues/535",
        _hp_h240,
        unseen=("RAID controller", "RAID patrol", "RAID state", "wear"),
    ),
    PublicMachine(
        "github.com/openmediavault/openmediavault/issues/535",
        _hp_h240_asked,
        right=("RAID controller", "RAID patrol"),
        unseen=("wear",),
    ),
    PublicMachine(
        "github.com/glensc/nagios-plugin-check_raid/issues/174",
        _hp_p800,
        wrong=(("RAID controller", "slot 1"), ("RAID controller", "slot 1")),
    ),
    PublicMachine(
        "github.com/libstorage/libstoragemgmt/issues/520",
        _dell_h330_passed_through,
        unseen=("media", "wear"),
    ),
    PublicMachine(
        "github.com/canonical/lxd/issues/16347",
        _bcache_of_disks,
        right=("discard",),
        wrong=(("spare area", "/dev/nvme4n1"),),
    ),
    PublicMachine(
        "github.com/linux-nvme/nvme-cli/pull/1693",
        _netapp_paths,
        right=("discard", "known faults", "spare area"),
    ),
    PublicMachine(
        "github.com/util-linux/util-linux/issues/1221",
        _usb_bridge,
        right=("alignment", "discard"),
    ),
)
