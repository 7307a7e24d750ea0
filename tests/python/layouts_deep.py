"""Layouts that hide what is below them, or in which a remedy would do harm."""

from __future__ import annotations

import json

from builders import array, behind, encrypted, plain, smart_array, volumes, with_queue
from layout import Layout
from machine import GIB, MadeMachine

TIMER = "/etc/systemd/system/timers.target.wants/fstrim.timer"
_MASKED = "/etc/systemd/system/fstrim.timer"


def lvm_raid(letters: str = "AA", mismatches: int = 0) -> MadeMachine:
    """Make a mirrored volume with a leg on each of two drives."""
    machine = MadeMachine()
    for letter in "ab":
        machine.drive(f"sd{letter}").partition(f"sd{letter}1", f"sd{letter}", start=2048)
    for number, letter in enumerate("ab"):
        for part, name in enumerate(("rmeta", "rimage")):
            place = 2048 + 8192 * part
            table = f"0 65536 linear {{below}} {place}"
            label = f"vg-pair_{name}_{number}"
            machine.mapped(f"dm-{2 * number + part}", label, f"sd{letter}1", table, "LVM-leg")
    table = "0 65536 raid raid1 3 0 region_size 4096 2 {1} {0} {3} {2}"
    machine.mapped("dm-4", "vg-pair", "dm-1 dm-0 dm-3 dm-2", table, "LVM-pair")
    state = f"vg-pair: 0 65536 raid raid1 2 {letters} 65536/65536 idle {mismatches} 0 -"
    return machine.command("dmsetup status", state).mount("dm-4", "/srv")


def cached(kind: str = "cache", state: str = "", fast: int = 63) -> MadeMachine:
    """Make a hard disk with an SSD as its cache; of 64 GiB the SSD has so many in use."""
    machine = MadeMachine().drive("sda", device_model="MADE SSD")
    machine.drive("sdb", rotational="1", device_model="MADE DISK")
    machine.partition("sda1", "sda", start=2048, size=fast * GIB)
    tables = {
        "cache": "0 9 cache {2} {1} {0} 128 2 metadata2 writethrough smq 0",
        "writecache": "0 9 writecache s {0} {1} 4096 0",
    }
    slaves = "sdb sda1" if kind == "writecache" else "sdb sda1 dm-1"
    if kind == "cache":
        machine.mapped("dm-1", "vg-map", "sda1", "0 8 linear {below} 2048", "LVM-map")
        machine.extents(f"sda1,vg,map,{GIB} sda1,vg,slow,{(fast - 1) * GIB}")
    machine.mapped("dm-0", "vg-slow", slaves, tables[kind], "LVM-slow")
    return machine.command("dmsetup status", f"vg-slow: {state}").mount("dm-0", "/srv")


def bcache(fast: int = 63) -> MadeMachine:
    """Make a hard disk with an SSD as its cache, by bcache."""
    machine = MadeMachine().drive("sda", device_model="MADE SSD")
    machine.drive("sdb", device_model="MADE DISK", rotational="1")
    machine.partition("sda1", "sda", start=2048, size=fast * GIB).over("bcache0", "sda1", "sdb")
    machine.file("/sys/class/block/sda1/bcache/cache_replacement_policy", "[lru] fifo random")
    return machine.mount("bcache0", "/srv")


def two_btrfs(missing: int = 0, discards: bool = True) -> MadeMachine:
    machine = MadeMachine().drive("sda")
    machine.drive("sdb") if discards else machine.drive("sdb", discard_max_bytes="0")
    return machine.btrfs("/", "sda", "sdb", missing=missing)


def checked(kind: str, table: str, uuid: str, options: str = "rw") -> MadeMachine:
    """Make a device of dm-integrity or dm-verity, whose UUID begins as dm-crypt's."""
    machine = plain().mapped("dm-0", kind, "sda1", table, uuid, "allow_discards" in table)
    return machine.mount("dm-0", "/srv", options=options)


def ata(model: str, firmware: str, rotational: str = "0") -> MadeMachine:
    """Make a SATA drive as sysfs shows it, cut to SCSI's fields."""
    machine = MadeMachine().drive(
        "sda",
        device_model=model[:16],
        device_rev=firmware,
        device_vendor="ATA",
        rotational=rotational,
    )
    return machine.partition("sda1", "sda", start=2048).mount("sda1", "/srv")


def promising(machine: MadeMachine, drives: str) -> MadeMachine:
    """Let drives say that what was trimmed reads as zeroes."""
    for letter in drives:
        report = {
            "model_name": "MADE SSD",
            "trim": {"supported": True, "deterministic": True, "zeroed": True},
        }
        words = f"smartctl --json -x --nocheck=standby /dev/sd{letter}"
        machine.command(words, json.dumps(report))
    return machine


def member_at_63(**attributes: str) -> MadeMachine:
    machine = MadeMachine().drive("sda").partition("sda1", "sda", start=63)
    machine.drive("sdb").partition("sdb1", "sdb", start=2048)
    members = {"sda1": 264_192, "sdb1": 264_192}
    return machine.array("md0", "raid1", members, **attributes).mount("md0", "/")


HARM = (
    Layout(
        "RAID 1 with a false optimal I/O size",
        lambda: array(optimal_io_size="16773120").volume("dm-0", "md0").mount("dm-0", "/"),
    ),
    Layout(
        "LVM off the stripe of RAID 5 with a false optimal I/O size",
        lambda: (
            array("raid5", "abcd", optimal_io_size="16773120", discard_max_bytes="1048576")
            .volume("dm-0", "md0")
            .mount("dm-0", "/")
        ),
        (("alignment", "yellow"),),
        "/dev/mapper/vg-dm-0 on /dev/md0",
        "pvcreate --dataalignment 3072k /dev/NEW",
    ),
    Layout(
        "partition of the running system at sector 63",
        lambda: plain(63).mount("sda1", "/"),
        (("alignment", "red"),),
        "/dev/sda1 on /dev/sda",
        "no remedy is given, because / is in use by the running system",
    ),
    Layout(
        "partition at sector 63 beside one in use",
        lambda: (
            plain(63)
            .mount("sda1", "/srv")
            .partition("sda2", "sda", start=50 * 2**21, size=GIB)
            .mount("sda2", "/home")
        ),
        (("alignment", "red"),),
        "/dev/sda1 on /dev/sda",
        "no remedy is given, because /dev/sda2 on the same drive is in use",
    ),
    Layout(
        "partition at sector 63 with another behind it",
        lambda: (
            plain(63)
            .mount("sda1", "/srv")
            .partition("sda2", "sda", start=63 + 40 * 2**21, size=GIB)
        ),
        (("alignment", "red"), ("alignment", "red")),
        "/dev/sda1 on /dev/sda",
        "no remedy is given, because behind /dev/sda1 1985 sectors must be free",
    ),
    Layout(
        "member of a degraded RAID 1 at sector 63",
        lambda: member_at_63(degraded="1"),
        (("alignment", "red"), ("arrays", "red")),
        "/dev/sda1 on /dev/sda",
        "no remedy is given, because /dev/md0 is not whole",
    ),
    Layout(
        "member of a RAID 1 with mismatches at sector 63",
        lambda: member_at_63(mismatch_cnt="128"),
        (("alignment", "red"), ("arrays", "yellow")),
        "/dev/sda1 on /dev/sda",
        "no remedy is given, because the copies of /dev/md0 differ",
    ),
    Layout(
        "RAID 1 with a mismatch under a file system",
        lambda: array(mismatch_cnt="8").mount("md0", "/"),
        (("arrays", "yellow"),),
        "/dev/md0",
        "no remedy is given, because where two copies differ",
    ),
    Layout(
        "RAID 5 whose drives promise zeroes",
        lambda: promising(array("raid5", "abc"), "abc").mount("md0", "/"),
        (("discard", "red"),),
        "/dev/md0",
        "COSTS data, at a rebuild, if only one drive does not keep its promise",
    ),
    Layout(
        "LUKS with options of its own, without discards",
        lambda: (
            plain()
            .mapped(
                "dm-0",
                "home",
                "sda1",
                "0 9 crypt aes-xts-plain64 :64:logon:x 0 {below} 32768 1 no_read_workqueue",
                "CRYPT-LUKS2-0",
                False,
            )
            .mount("dm-0", "/home")
        ),
        (("discard", "red"),),
        "/home: /dev/mapper/home",
        "refresh --allow-discards --persistent --perf-no_read_workqueue home",
    ),
    Layout(
        "mount point with a line break in its name",
        lambda: plain(63).mount("sda1", r"/a\012reboot"),
        (("alignment", "red"),),
        "/dev/sda1 on /dev/sda",
        "no remedy is given, because a name in it contains characters that are unsafe to type",
    ),
)

BLIND = (
    Layout("LVM RAID 1", lvm_raid),
    Layout(
        "LVM RAID 1 with a dead leg",
        lambda: lvm_raid("AD"),
        (("volumes", "red"),),
        "/dev/mapper/vg-pair",
        "lvconvert --yes --repair vg/pair",
    ),
    Layout(
        "LVM RAID 1 with mismatches",
        lambda: lvm_raid(mismatches=128),
        (("volumes", "yellow"),),
        "/dev/mapper/vg-pair",
        "no remedy is given, because where two copies differ",
    ),
    Layout(
        "array that was not started",
        lambda: array(array_state="inactive").file("/sys/block/md0/size", "0"),
        (("arrays", "red"),),
        "/dev/md0",
        "no remedy is given, because which members are current",
    ),
    Layout("btrfs of two devices", two_btrfs),
    Layout(
        "btrfs whose second device takes no TRIM",
        lambda: two_btrfs(discards=False),
        (("discard", "yellow"), ("spare area", "yellow")),
        "/: /dev/sdb (drive)",
    ),
    Layout(
        "btrfs with a device missing",
        lambda: two_btrfs(missing=1),
        (("volumes", "red"),),
        "btrfs on /dev/sda, /dev/sdb",
        "btrfs replace start -B N /dev/NEW /",
        ("discard",),
    ),
    Layout(
        "SSD that calls itself a disk",
        lambda: ata("Samsung SSD 870 EVO 1TB", "2B6Q", rotational="1"),
        (("media", "yellow"),),
        "/dev/sda",
        "echo 0 > /sys/block/sda/queue/rotational",
    ),
    Layout(
        "virtual machine whose drive calls itself a disk",
        lambda: (
            MadeMachine()
            .drive("vda", rotational="1", discard_max_bytes="0")
            .partition("vda1", "vda", start=2048)
            .mount("vda1", "/")
        ),
        unseen=("discard", "media"),
    ),
    Layout(
        "SATA names cut, with a known fault",
        lambda: ata("INTEL SSDSA2CW120G3", "0302"),
        (("known faults", "red"),),
        "/dev/sda",
        "update the firmware to 4PC10362",
    ),
    Layout("SATA names cut, without a known fault", lambda: ata("INTEL SSDSA2CW120G3", "0362")),
    Layout(
        "link sleeps on a drive that hangs, its name cut",
        lambda: (
            ata("Crucial_CT240M500SSD1", "MU05")
            .file("/sys/class/scsi_host/host0/link_power_management_policy", "min_power")
            .file("/sys/class/scsi_host/host0", "")
        ),
        (("link", "red"),),
        "host0",
        "echo min_power > /sys/class/scsi_host/host0/link_power_management_policy",
    ),
    Layout(
        "drive that is nearly full",
        lambda: (
            MadeMachine()
            .drive("sda")
            .partition("sda1", "sda", start=2048, size=63 * GIB)
            .mount("sda1", "/", free=0.05)
        ),
        (("spare area", "yellow"),),
        "/dev/sda",
        "move what is not needed from / to another drive",
    ),
    Layout(
        "drive of which nobody tells how full it is",
        lambda: (
            MadeMachine()
            .drive("sda")
            .partition("sda1", "sda", start=2048, size=63 * GIB)
            .mount("sda1", "/", free=None)
        ),
        unseen=("spare area",),
    ),
    Layout("dm-cache with a tenth of its SSD free", lambda: cached(fast=56)),
    Layout(
        "dm-cache",
        cached,
        (("spare area", "yellow"),),
        "/dev/sda",
        "COSTS all data on the drive",
    ),
    Layout(
        "dm-writecache",
        lambda: cached("writecache"),
        (("spare area", "yellow"),),
        "/dev/sda",
    ),
    Layout("bcache", bcache, (("spare area", "yellow"),), "/dev/sda"),
    Layout(
        "dm-integrity that passes discards",
        lambda: checked(
            "sums", "0 9 integrity {below} 0 4 J 2 internal_hash:crc32c allow_discards", "CRYPT-INT"
        ),
    ),
    Layout(
        "dm-integrity without discards",
        lambda: checked(
            "sums", "0 9 integrity {below} 0 4 J 1 internal_hash:crc32c", "CRYPT-INTEGRITY-sums"
        ),
        (("discard", "red"),),
        "/srv: /dev/mapper/sums (integrity)",
        "no remedy is given",
    ),
    Layout(
        "dm-verity",
        lambda: checked(
            "image",
            "0 9 verity 1 {below} {below} 4096 4096 9 10 sha256 0 0",
            "CRYPT-VERITY-image",
            "ro",
        ),
    ),
    Layout(
        "file system in a file",
        lambda: plain().mount("sda1", "/").loop("loop0", "/images/a").mount("loop0", "/srv"),
    ),
    Layout(
        "file system in a file over LUKS without discards",
        lambda: encrypted(False).loop("loop0", "/home/images/a").mount("loop0", "/srv"),
        (("discard", "red"),),
        "/home: /dev/mapper/crypt-sda1",
        "--allow-discards",
    ),
    Layout(
        "loop device over a drive",
        lambda: MadeMachine().drive("sda").loop("loop0", "/dev/sda").mount("loop0", "/srv"),
        unseen=("discard",),
    ),
    Layout(
        "HPE Smart Array that nothing can ask",
        lambda: MadeMachine().drive("sda", device_vendor="HPE", device_model="LOGICAL VOLUME"),
        unseen=("RAID controller", "RAID patrol", "RAID state", "wear"),
    ),
    Layout("HPE Smart Array", lambda: smart_array("Disabled", "OK", "Idle")),
    Layout(
        "HPE Smart Array that caches without a battery",
        lambda: smart_array("Enabled", "Failed (Replace Batteries)", "Disabled"),
        (("RAID controller", "red"), ("RAID controller", "red"), ("RAID patrol", "yellow")),
        "slot 0",
        "ssacli ctrl slot=0 modify nbwc=disable",
    ),
    Layout(
        "Lenovo's MegaRAID with write-back",
        lambda: behind("NRWBD", "RAID 930-8i-2GB", "Lenovo"),
        (("RAID controller", "yellow"),),
        "/c0/v0",
        "storcli64 /c0/v0 set wrcache=wb",
        ("RAID patrol",),
    ),
    Layout(
        "MegaRAID that does not say what is behind it",
        lambda: with_queue(behind("RWBD"), rotational="1"),
        unseen=("RAID controller",),
    ),
    Layout(
        "fstrim's timer is masked",
        lambda: plain().mount("sda1", "/").file(_MASKED, "").link(_MASKED, "/dev/null"),
        (("trim schedule", "yellow"),),
        "/",
        "systemctl unmask fstrim.timer &&\nsystemctl enable --now fstrim.timer",
    ),
    Layout(
        "discard in fstab, not in effect",
        lambda: (
            plain()
            .mount("sda1", "/")
            .file(TIMER, None)
            .file("/etc/fstab", "/dev/sda1 / ext4 defaults,discard 0 1")
        ),
        (("trim schedule", "yellow"),),
        "/",
        "mount -o remount,discard /",
    ),
    Layout(
        "mount that fstab does not list",
        lambda: plain().mount("sda1", "/srv").file("/etc/fstab", "/dev/sdb1 / ext4 defaults 0 1"),
        (("trim schedule", "yellow"),),
        "/srv",
        "put /srv into /etc/fstab",
    ),
    Layout(
        "array whose check is turned off",
        lambda: array().mount("md0", "/").file("/etc/default/mdadm", "AUTOCHECK=false"),
        (("arrays", "yellow"),),
        "mdcheck_start.timer",
        "sed -i 's/^ *AUTOCHECK=.*/AUTOCHECK=true/' /etc/default/mdadm",
    ),
    Layout(
        "ZFS",
        lambda: volumes().elsewhere("/tank", "zfs"),
        unseen=("devices",),
    ),
)
DEEP = (*HARM, *BLIND)
