"""Layouts that servers have: good ones, and ones with one thing wrong, each with what is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from machine import GIB, MadeMachine

_TIMER = "/etc/systemd/system/timers.target.wants/fstrim.timer"


@dataclass(frozen=True)
class Layout:
    """One layout.

    Attributes
    ----------
    name
        What it shows.
    build
        Makes the machine.
    found
        Check and severity of every finding that is not green, in the audit's order.
    place
        What the first finding's place must name.
    remedy
        What its remedy must have.
    """

    name: str
    build: Callable[[], MadeMachine]
    found: tuple[tuple[str, str], ...] = ()
    place: str = ""
    remedy: str = ""


def _plain(start: int = 2048) -> MadeMachine:
    return MadeMachine().drive("sda").partition("sda1", "sda", start=start)


def _encrypted(discards: bool = True, payload: int = 32768) -> MadeMachine:
    machine = _plain().crypt("dm-0", "sda1", payload=payload, discards=discards)
    return machine.mount("dm-0", "/home")


def _volumes(start: int = 2048) -> MadeMachine:
    return _plain().volume("dm-0", "sda1", start=start).mount("dm-0", "/srv")


def _thin(passdown: bool = True) -> MadeMachine:
    pool = "0 1 thin-pool 253:9 {below} 128 0" + ("" if passdown else " 1 no_discard_passdown")
    machine = _plain().mapped("dm-0", "vg-pool-tpool", "sda1", pool, "LVM-abc-tpool")
    machine.mapped("dm-1", "vg-thin", "dm-0", "0 1 thin {below} 1", "LVM-def")
    return machine.mount("dm-1", "/srv")


def _array(level: str = "raid1", drives: str = "ab", **attributes: str) -> MadeMachine:
    machine = MadeMachine()
    for letter in drives:
        machine.drive(f"sd{letter}").partition(f"sd{letter}1", f"sd{letter}", start=2048)
    members = {f"sd{letter}1": 264_192 for letter in drives}
    return machine.array("md0", level, members, **attributes)


def _with(machine: MadeMachine, **attributes: str) -> MadeMachine:
    for key, value in attributes.items():
        machine.file(f"/sys/block/sda/queue/{key}", value)
    return machine


LAYOUTS = (
    Layout("partition at 1 MiB", lambda: _plain().mount("sda1", "/")),
    Layout("LUKS that passes discards", _encrypted),
    Layout("LVM, linear", _volumes),
    Layout("LVM, thin", _thin),
    Layout("RAID 1", lambda: _array().mount("md0", "/")),
    Layout("RAID 10", lambda: _array("raid10", "abcd").mount("md0", "/")),
    Layout(
        "LVM in LUKS on RAID 1",
        lambda: _array().crypt("dm-0", "md0").volume("dm-1", "dm-0").mount("dm-1", "/"),
    ),
    Layout(
        "discard option in place of a timer",
        lambda: _plain().file(_TIMER, None).mount("sda1", "/", options="rw,discard"),
    ),
    Layout(
        "hard disk at sector 63 of cylinders, for data",
        lambda: (
            MadeMachine()
            .drive("sda", rotational="1", discard_max_bytes="0")
            .partition("sda1", "sda", start=2048)
            .mount("sda1", "/backup")
        ),
    ),
    Layout(
        "partition at sector 63",
        lambda: _plain(63).mount("sda1", "/"),
        (("alignment", "red"),),
        "/dev/sda1 on /dev/sda, byte 32256",
        "echo '2048,' | sfdisk --move-data -N 1 /dev/sda",
    ),
    Layout(
        "partition at sector 64, off the 1 MiB grid",
        lambda: _plain(64).mount("sda1", "/"),
        (("alignment", "yellow"),),
        "byte 32768",
        "--move-data",
    ),
    Layout(
        "LUKS without discards",
        lambda: _encrypted(False),
        (("discard", "red"),),
        "/home: /dev/mapper/crypt-sda1",
        "cryptsetup refresh --allow-discards --persistent crypt-sda1",
    ),
    Layout(
        "LUKS payload at an odd sector",
        lambda: _encrypted(payload=2047),
        (("alignment", "red"),),
        "/dev/mapper/crypt-sda1 on /dev/sda1",
        "luksFormat",
    ),
    Layout(
        "LUKS 1 payload of old, 1028 KiB",
        lambda: _encrypted(payload=2056),
        (("alignment", "yellow"),),
        "byte 1052672",
        "--offset",
    ),
    Layout(
        "LVM data at 192 KiB and a half",
        lambda: _volumes(385),
        (("alignment", "red"),),
        "/dev/mapper/vg-dm-0 on /dev/sda1",
        "pvcreate --dataalignment 1m",
    ),
    Layout(
        "thin pool that keeps discards",
        lambda: _thin(False),
        (("discard", "red"),),
        "vg-pool-tpool",
        "lvchange --discards passdown vg/pool",
    ),
    Layout(
        "RAID 5 takes no discards",
        lambda: _array("raid5", "abc", optimal_io_size=str(1 << 20)).mount("md0", "/"),
        (("discard", "red"),),
        "/dev/md0",
        "devices_handle_discard_safely=Y",
    ),
    Layout(
        "RAID 5 with a mismatch",
        lambda: _array("raid5", "abc", mismatch_cnt="128", discard_max_bytes="1048576").mount(
            "md0", "/"
        ),
        (("arrays", "red"),),
        "/dev/md0",
        "echo repair",
    ),
    Layout(
        "RAID 1 with a mismatch under swap",
        lambda: _array(mismatch_cnt="8").swap("md0"),
        (("arrays", "yellow"),),
        "/dev/md0",
        "echo repair",
    ),
    Layout(
        "RAID 10 with a drive missing",
        lambda: _array("raid10", "abcd", degraded="1").mount("md0", "/"),
        (("arrays", "red"),),
        "/dev/md0",
        "mdadm --manage",
    ),
    Layout(
        "array that nobody checks",
        lambda: _array().mount("md0", "/").file("/etc/cron.d/mdadm", None),
        (("arrays", "yellow"),),
        "mdcheck_start.timer",
        "systemctl enable --now mdcheck_start.timer",
    ),
    Layout(
        "array whose failure nobody hears of",
        lambda: _array().mount("md0", "/").file("/etc/mdadm/mdadm.conf", "HOMEHOST <system>"),
        (("arrays", "yellow"),),
        "mdadm.conf",
        "MAILADDR",
    ),
    Layout(
        "scheduler for disks",
        lambda: _with(_plain(), scheduler="none mq-deadline [bfq]").mount("sda1", "/"),
        (("scheduler", "yellow"),),
        "/dev/sda",
        "echo none > /sys/block/sda/queue/scheduler",
    ),
    Layout(
        "no NCQ",
        lambda: _plain().file("/sys/block/sda/device/queue_depth", "1").mount("sda1", "/"),
        (("scheduler", "yellow"),),
        "/dev/sda",
        "queue_depth",
    ),
    Layout(
        "nobody trims",
        lambda: _plain().file(_TIMER, None).mount("sda1", "/"),
        (("trim schedule", "yellow"),),
        "/",
        "systemctl enable --now fstrim.timer",
    ),
    Layout(
        "drive without TRIM, full",
        lambda: (
            MadeMachine()
            .drive("sda", discard_max_bytes="0")
            .partition("sda1", "sda", start=2048, size=63 * GIB)
            .mount("sda1", "/")
        ),
        (("discard", "yellow"), ("spare area", "yellow")),
        "/: /dev/sda (drive)",
        "unpartitioned",
    ),
    Layout(
        "drive without TRIM, a tenth free",
        lambda: (
            MadeMachine()
            .drive("sda", discard_max_bytes="0")
            .partition("sda1", "sda", start=2048, size=56 * GIB)
            .mount("sda1", "/")
        ),
        (("discard", "yellow"),),
        "/: /dev/sda (drive)",
        "unpartitioned",
    ),
    Layout(
        "barriers off over a volatile cache",
        lambda: _plain().mount("sda1", "/", options="rw,nobarrier"),
        (("write cache", "red"),),
        "/",
        "barrier=1",
    ),
    Layout(
        "link sleeps on a drive that hangs",
        lambda: (
            MadeMachine()
            .drive("sda", device_model="Crucial_CT240M500SSD1")
            .partition("sda1", "sda", start=2048)
            .mount("sda1", "/")
            .file("/sys/class/scsi_host/host0/link_power_management_policy", "min_power")
            .file("/sys/class/scsi_host/host0", "")
        ),
        (("link", "red"),),
        "host0",
        "med_power_with_dipm",
    ),
    Layout(
        "IDE mode",
        lambda: (
            _plain()
            .mount("sda1", "/")
            .file("/sys/class/scsi_host/host0/proc_name", "ata_piix")
            .file("/sys/class/scsi_host/host0", "")
        ),
        (("link", "yellow"),),
        "host0",
        "AHCI",
    ),
    Layout(
        "firmware with a known fault",
        lambda: (
            MadeMachine()
            .drive("sda", device_model="M4-CT128M4SSD2", device_rev="0009")
            .partition("sda1", "sda", start=2048)
            .mount("sda1", "/")
        ),
        (("known faults", "red"),),
        "/dev/sda",
        "firmware",
    ),
)
