"""Machines in words, each with one kind of layer, good unless it is said otherwise."""

from __future__ import annotations

import json

from machine import GIB, MadeMachine
from ssdlab.machine.audit.checks.kernel_log import JOURNAL
from ssdlab.real.sampled_files import FileSample, SampledFile


def plain(start: int = 2048) -> MadeMachine:
    return MadeMachine().drive("sda").partition("sda1", "sda", start=start)


def encrypted(discards: bool = True, payload: int = 32768) -> MadeMachine:
    machine = plain().crypt("dm-0", "sda1", payload=payload, discards=discards)
    return machine.mount("dm-0", "/home")


def volumes(start: int = 2048) -> MadeMachine:
    return plain().volume("dm-0", "sda1", start=start).mount("dm-0", "/srv")


def thin(passdown: bool = True) -> MadeMachine:
    pool = "0 1 thin-pool 253:9 {below} 128 0" + ("" if passdown else " 1 no_discard_passdown")
    machine = plain().mapped("dm-0", "vg-pool-tpool", "sda1", pool, "LVM-abc-tpool")
    machine.mapped("dm-1", "vg-thin", "dm-0", "0 1 thin {below} 1", "LVM-def")
    return machine.mount("dm-1", "/srv")


def array(level: str = "raid1", drives: str = "ab", **attributes: str) -> MadeMachine:
    machine = MadeMachine()
    for letter in drives:
        machine.drive(f"sd{letter}").partition(f"sd{letter}1", f"sd{letter}", start=2048)
    members = {f"sd{letter}1": 264_192 for letter in drives}
    return machine.array("md0", level, members, **attributes)


def with_queue(machine: MadeMachine, **attributes: str) -> MadeMachine:
    for key, value in attributes.items():
        machine.file(f"/sys/block/sda/queue/{key}", value)
    return machine


def behind(
    cache: str,
    model: str = "MR9361-8i",
    vendor: str = "AVAGO",
    media: str = "",
    *,
    state: str = "Optl",
    physical: str = "Onln",
) -> MadeMachine:
    """Make a virtual drive of a MegaRAID; with ``media`` it tells what its drives are."""
    machine = MadeMachine().drive("sda", device_model=model, device_vendor=vendor)
    told = {"EID:Slt": "252:0", "State": physical} | ({"Med": media} if media else {})
    answer = json.dumps({"Controllers": [{"Response Data": {"Drive Information": [told]}}]})
    machine.command("storcli64 /cALL/eALL/sALL show J", answer)
    drives = [{"DG/VD": "0/0", "TYPE": "RAID5", "State": state, "Cache": cache}]
    content = {"Controllers": [{"Response Data": {"Virtual Drives": drives}}]}
    return machine.command("storcli64 /cALL/vALL show J", json.dumps(content))


def in_pieces(kib: int, kind: str = "ext4", *, on_disk: bool = False) -> MadeMachine:
    """Make a drive with one file whose extents have so many KiB in the mean."""
    made = MadeMachine()
    if on_disk:
        made.drive("sda", rotational="1", discard_max_bytes="0", device_model="MADE DISK")
    else:
        made.drive("sda")
    made.partition("sda1", "sda", start=2048).mount("sda1", "/srv", kind)
    file = SampledFile("/srv/vm.img", 1 << 30, (1 << 20) // kib)
    made.samples["/srv"] = FileSample((file,), 9, is_whole=True)
    return made


def logged(*lines: str) -> MadeMachine:
    """Make a machine whose kernel has logged something of its drive."""
    made = plain().mount("sda1", "/")
    made.commands[" ".join(JOURNAL)] = "\n".join(["Linux version 6.1", *lines])
    return made


def patrolled(on_ssd: str, consistency: str | None) -> MadeMachine:
    """Make a virtual drive of a MegaRAID that tells of patrol read and consistency check."""
    machine = behind("NRWTD")
    told = {
        "patrolread": {"PR Mode": "Auto", "PR on SSD": on_ssd},
        "cc": {} if consistency is None else {"CC Operation Mode": consistency},
    }
    for subject, properties in told.items():
        rows = [{"Ctrl_Prop": name, "Value": value} for name, value in properties.items()]
        content = {"Controllers": [{"Response Data": {"Controller Properties": rows}}]}
        machine.command(f"storcli64 /cALL show {subject} J", json.dumps(content))
    return machine


def smart_array(without_battery: str, battery: str, scan: str) -> MadeMachine:
    """Make a logical drive of an HPE Smart Array, with the lines that ssacli prints of it."""
    machine = MadeMachine().drive("sda", device_vendor="HPE", device_model="LOGICAL VOLUME")
    return machine.command(
        "ssacli ctrl all show config detail",
        "HPE Smart Array P408i-a SR Gen10 in Slot 0 (Embedded)\n"
        "   Controller Status: OK\n"
        f"   Surface Scan Mode: {scan}\n"
        f"   No-Battery Write Cache: {without_battery}\n"
        f"   Battery/Capacitor Status: {battery}\n"
        "   Array: A\n"
        "      Interface Type: Solid State SATA\n"
        "      Logical Drive: 1\n"
        "         Status: OK\n"
        "      physicaldrive 1I:1:1\n"
        "         Status: OK\n",
    )


def adaptec(read: str, write: str, scrub: str = "") -> MadeMachine:
    """Make the logical drives of two Adaptecs; the first is as it should be."""
    machine = MadeMachine().drive("sda", device_model="LogicalDrv 0", device_vendor="Adaptec")
    for number, caches in enumerate((("Disabled", "Disabled"), (read, write)), 1):
        machine.command(
            f"arcconf GETCONFIG {number} LD",
            "Controllers found: 2\n"
            "Logical Device number 0\n"
            "   Status of Logical Device                 : Optimal\n"
            "   Failed stripes                           : No\n"
            f"   Read-cache setting                       : {caches[0]}\n"
            f"   Write-cache setting                      : {caches[1]}\n",
        )
        if scrub:
            machine.command(
                f"arcconf GETCONFIG {number} AD",
                "Controllers found: 2\n"
                "   Controller Model                         : Adaptec 6805\n"
                f"   Background consistency check             : {scrub}\n"
                "   Background consistency check period      : 30\n",
            )
    return machine


def generation(interface: str, *options: str, made: str = "07/25/15") -> MadeMachine:
    """Make a virtual drive of a MegaRAID that tells how old it is and what it has."""
    machine = behind("NRWTD")
    content = {
        "Basics": {"Model": "MegaRAID SAS", "Mfg Date": made},
        "Bus": {"Device Interface": interface},
        "Advanced Software Option": [{"Adv S/W Opt": option} for option in options],
    }
    answer = json.dumps({"Controllers": [{"Response Data": content}]})
    return machine.command("storcli64 /cALL show all J", answer)


def worn(used: int) -> MadeMachine:
    """Make an NVMe drive that tells how much of its life is used."""
    log = {"percentage_used": used, "available_spare": 100, "available_spare_threshold": 10}
    log |= {"critical_warning": 0, "media_errors": 0}
    report = {
        "model_name": "NVMe",
        "device": {"protocol": "NVMe"},
        "nvme_smart_health_information_log": log,
    }
    machine = (
        MadeMachine()
        .drive("nvme0n1", device_firmware_rev="1.0")
        .partition("nvme0n1p1", "nvme0n1", start=2048)
    )
    machine.mount("nvme0n1p1", "/")
    return machine.command("smartctl --json -x --nocheck=standby /dev/nvme0n1", json.dumps(report))


def host(machine: MadeMachine, policy: str) -> MadeMachine:
    """Add a SATA host."""
    machine.file("/sys/class/scsi_host/host0/link_power_management_policy", policy)
    return machine.file("/sys/class/scsi_host/host0", "")


def readme_server() -> MadeMachine:
    """Make the server of the README: an old partition table, and encryption that stops TRIM."""
    machine = MadeMachine().drive("sda").partition("sda1", "sda", start=63, size=8 * GIB)
    machine.partition("sda2", "sda", start=2048 * 8193, size=52 * GIB)
    machine.mount("sda1", "/", free=0.1).file("/proc/cpuinfo", "flags : fpu sse2 aes avx")
    return machine.crypt("dm-0", "sda2", discards=False).mount("dm-0", "/home")
