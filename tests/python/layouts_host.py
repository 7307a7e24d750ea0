"""Layouts in which the host around the drives is right or wrong."""

from __future__ import annotations

import json

from builders import adaptec, array, behind, encrypted, generation, host, plain
from layout import Layout
from machine import GIB, MadeMachine


def hanging(policy: str) -> MadeMachine:
    """Make the drive that hangs while its link may sleep, on a host of that policy."""
    machine = MadeMachine().drive(
        "sda", device_vendor="ATA", device_model="STT_FTM56GX25H", device_rev="1819"
    )
    machine.partition("sda1", "sda", start=2048, size=40 * GIB).mount("sda1", "/")
    return host(machine, policy)


def nameless_family() -> MadeMachine:
    """Make an SSD that tells its health by attributes that nobody documented."""
    attribute = {"id": 173, "name": "Unknown_Attribute", "value": 50, "worst": 50, "thresh": 0}
    report = {
        "model_name": "OBSCURE SSD",
        "firmware_version": "1",
        "rotation_rate": 0,
        "smart_status": {"passed": True},
        "ata_smart_attributes": {"table": [{**attribute, "raw": {"value": 12, "string": "12"}}]},
    }
    machine = MadeMachine().drive("sda").partition("sda1", "sda", start=2048).mount("sda1", "/")
    return machine.command("smartctl --json -x --nocheck=standby /dev/sda", json.dumps(report))


def without_aes(features: str, cipher: str = "aes-xts-plain64") -> MadeMachine:
    """Make an encrypted device on a CPU that lists its instructions."""
    machine = plain()
    table = f"0 67108864 crypt {cipher} :64:logon:x 0 {{below}} 32768 1 allow_discards"
    machine.mapped("dm-0", "home", "sda1", table, "CRYPT-LUKS2-0")
    machine.mount("dm-0", "/home")
    return machine.file("/proc/cpuinfo", f"processor : 0\nflags\t\t: fpu sse2 {features}\n")


def pool(shift: int, automatic: str, rotational: str = "0", health: str = "ONLINE") -> MadeMachine:
    """Make a pool of ZFS on one drive, as zpool tells of it."""
    machine = MadeMachine().drive("sda", rotational=rotational, device_model="MADE")
    machine.partition("sda1", "sda", start=2048).elsewhere("/tank", "zfs")
    asked = "zpool get -H -p -o name,property,value ashift,autotrim,health"
    told = {"ashift": shift, "autotrim": automatic, "health": health}
    machine.command(asked, "\n".join(f"tank\t{key}\t{value}" for key, value in told.items()))
    return machine.command("zpool list -v -H -P -L", "tank\t1\t2\n\t/dev/sda1\t1\t2")


HOST = (
    Layout(
        "drive that hangs if its link sleeps, and it does",
        lambda: hanging("min_power"),
        (("known faults", "red"),),
        "/dev/sda",
        "echo max_performance > /sys/class/scsi_host/host0/link_power_management_policy",
    ),
    Layout(
        "drive that hangs if its link sleeps, and it does not", lambda: hanging("max_performance")
    ),
    Layout("SSD of a family that is not known", nameless_family, unseen=("wear",)),
    Layout(
        "Adaptec that checks nothing",
        lambda: adaptec("Disabled", "Disabled", scrub="Disabled"),
        (("RAID patrol", "yellow"), ("RAID patrol", "yellow")),
        "controller 1 (background check Disabled",
        "arcconf DATASCRUB 1 on noprompt &&\narcconf DATASCRUB 1 period 30 noprompt",
    ),
    Layout("Adaptec, scrubbed", lambda: adaptec("Disabled", "Disabled", scrub="Enabled")),
    Layout(
        "MegaRAID for 6 Gb/s without FastPath",
        lambda: generation("SAS-6G", "MegaRAID RAID6"),
        (("RAID generation", "yellow"),),
        "/c0 (MegaRAID SAS, SAS-6G, made 07/25/15",
        "add the FastPath licence",
    ),
    Layout("MegaRAID with FastPath", lambda: generation("SAS-6G", "MegaRAID FastPath")),
    Layout("MegaRAID for 12 Gb/s", lambda: generation("SAS-12G", made="00/00/00")),
    Layout(
        "LUKS on a CPU without AES instructions",
        lambda: without_aes("avx"),
        (("encryption", "yellow"),),
        "/dev/mapper/home",
        "cryptsetup benchmark",
    ),
    Layout("LUKS on a CPU with AES instructions", lambda: without_aes("avx aes")),
    Layout(
        "LUKS with another cipher than AES",
        lambda: without_aes("avx", "xchacha12,aes-adiantum-plain64"),
    ),
    Layout("LUKS on a CPU that lists nothing", encrypted, unseen=("encryption",)),
    Layout("ZFS with 4 KiB writes and TRIM", lambda: pool(12, "on")),
    Layout("ZFS on a hard disk", lambda: pool(12, "off", rotational="1")),
    Layout(
        "ZFS with writes below a page, never trimmed",
        lambda: pool(9, "off"),
        (("ZFS", "yellow"), ("ZFS", "yellow")),
        "tank",
        "no remedy is given, because ashift is set once",
    ),
    Layout(
        "ZFS that lacks a device",
        lambda: pool(12, "on", health="DEGRADED"),
        (("ZFS", "red"),),
        "tank",
        "no remedy is given, because which drive is to be replaced",
    ),
    Layout(
        "MegaRAID with a degraded array",
        lambda: behind("NRWTD", state="Dgrd", physical="Failed"),
        (("RAID state", "red"), ("RAID state", "red")),
        "/c0",
        "no remedy is given, because which drive is to be replaced",
    ),
    Layout(
        "RAID 0 that lost a member",
        lambda: array("raid0", array_state="broken"),
        (("arrays", "red"),),
        "/dev/md0",
        "no remedy is given, because which drive is to be replaced",
    ),
    Layout("ZFS that chose its ashift", lambda: pool(0, "on"), unseen=("ZFS",)),
)
