"""How to start over with a real drive: the steps, what each destroys, how to see that it worked.

The order is that of the documents: a new drive, then secure erase, then shrinking what is there,
then the maker's tool. Nothing is carried out here. Commands are those of Linux (hdparm 9.65,
nvme-cli 2.3, util-linux 2.38; hdparm(8), nvme-format(1), nvme-sanitize(1), blkdiscard(8)), read up
in their manual pages and not tried. Left out: SAS drives (sg_format), FreeBSD's camcontrol, drives
behind a RAID controller, which passes these commands on only where its maker says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ssdlab import engine
from ssdlab.ground.errors import SsdlabError

NOTHING = "nothing"
ALL = "all data on the whole drive"
_ANY_SATA, _ANY_NVME = "/dev/sdX", "/dev/nvme0n1"
_PASSWORD = "ssdlab"
_NOTHING_IF_WELL = "nothing if all goes well; back up first"
_WHICH = (
    "A controller may have another number than its namespace: list-subsys names it, and it is the "
    "one to type"
)
SHARE = 0.2
"""What is left alone unless told otherwise; the documents say 10, 20 and 25 %."""


@dataclass(frozen=True)
class Stage:
    """One step.

    Attributes
    ----------
    text
        What to do, and why.
    destroys
        What is lost by it.
    lines
        What to type.
    seen
        How to see that it worked.
    check
        What to type for that.
    """

    text: str
    destroys: str
    lines: tuple[str, ...]
    seen: str
    check: tuple[str, ...] = ()


@dataclass(frozen=True)
class Way:
    """A way of starting over, and its steps in order."""

    title: str
    stages: tuple[Stage, ...]


def ways(device: str | None = None, share: float = SHARE) -> list[Way]:
    """Give the ways for a drive, best first.

    Parameters
    ----------
    device
        A whole drive; without one the ways of every kind are given.
    share
        What is to be left unpartitioned, of the capacity.

    Raises
    ------
    SsdlabError
        It is a partition, or no name that Linux gives a drive.
    """
    kind = "any" if device is None else _kind(device)
    sata = device if kind == "sata" and device else _ANY_SATA
    nvme = device if kind == "nvme" and device else _ANY_NVME
    plain = device or _ANY_SATA
    found = [Way("Way 1: a new drive", (_leave(plain, share),))]
    if kind in ("sata", "any"):
        found.append(Way("Way 2, SATA: secure erase", (*_secure_erase(sata), _leave(sata, share))))
    if kind in ("nvme", "any"):
        found.append(Way("Way 2, NVMe: format", (*_format(nvme), _leave(nvme, share))))
        found.append(Way("Way 2, NVMe: sanitize", (*_sanitize(nvme), _leave(nvme, share))))
    found.append(
        Way("Way 2, any drive that takes TRIM: discard", (*_discard(plain), _leave(plain, share)))
    )
    found.append(Way("Way 3: keep the data, shrink the last partition", (_shrink(plain, share),)))
    found.append(Way("Way 4: the maker's tool", (_tool(),)))
    return found


def _kind(device: str) -> str:
    if re.fullmatch(r"/dev/(sd[a-z]+|vd[a-z]+|xvd[a-z]+)\d+|/dev/(nvme\d+n|mmcblk)\d+p\d+", device):
        raise SsdlabError(f"{device}: a partition; give the whole drive, such as {_ANY_SATA}")
    if re.fullmatch(r"/dev/nvme\d+", device):
        raise SsdlabError(f"{device}: a controller; give its namespace, such as {device}n1")
    if re.fullmatch(r"/dev/sd[a-z]+", device):
        return "sata"
    if re.fullmatch(r"/dev/nvme\d+n\d+", device):
        return "nvme"
    if re.fullmatch(r"/dev/[\w./:+-]+", device):
        return "other"
    if device in {each["name"] for each in engine.profiles()}:
        raise SsdlabError(
            f"{device}: a simulated drive's profile, which nothing can erase; give the device of a "
            f"real one, as lsblk names it, such as --steps {_ANY_SATA}\n"
            f"how much spare area the profile needs: ssdlab align spare --spare 20% --drive "
            f"{device} --layer …; to start it over in the simulation: ssdlab season {device} --to "
            "fresh"
        )
    raise SsdlabError(
        f"{device}: not the name of a device; expected one of Linux, such as {_ANY_SATA} or "
        f"{_ANY_NVME} (lsblk lists them); on FreeBSD see camcontrol(8), security and sanitize"
    )


def _leave(device: str, share: float) -> Stage:
    used, left = f"{(1 - share) * 100:g}", f"{share * 100:g}"
    return Stage(
        f"Partition {used} % of the drive and leave the rest alone: what was never written, or was "
        "erased since, serves as spare area",
        "the partition table, and with it the way to all files",
        (f"parted -s -a optimal {device} mklabel gpt mkpart primary 1MiB {used}%",),
        f"the list of free space ends with about {left} % of the drive",
        (f"sfdisk --list-free {device}",),
    )


def _unused(device: str) -> Stage:
    return Stage(
        "Back up the data, and take the drive out of use: no mounted file system, no array and no "
        "swap on it. Encrypted data are lost with their header; they need not be decrypted first",
        NOTHING,
        (f"lsblk -o NAME,MODEL,SERIAL,SIZE,TYPE,MOUNTPOINTS {device}",),
        "model and serial number are those of the right drive, and nothing is mounted",
    )


def _secure_erase(device: str) -> tuple[Stage, ...]:
    erase = f"hdparm --user-master u --security-erase {_PASSWORD} {device}"
    look = f"hdparm -I {device}"
    return (
        _unused(device),
        Stage(
            "Ask what the drive supports. Under Security it says whether the feature is supported, "
            "enabled, locked and frozen, and how many minutes each erase takes. Most USB bridges "
            "do not pass these commands on: connect the drive to a SATA port",
            NOTHING,
            (look,),
            "it says supported, not enabled, not locked, not frozen",
        ),
        Stage(
            "If it says frozen: firmware freezes drives at power-on. Suspend the machine and wake "
            "it, or, with the machine running, unplug the drive's power for a moment",
            NOTHING,
            ("systemctl suspend",),
            "it now says not frozen; if not, try another port or another machine",
            (look,),
        ),
        Stage(
            "Set a password, which the erase command asks for and deletes. If you stop here, the "
            "drive locks itself at the next power-on; --security-disable removes the password",
            NOTHING,
            (f"hdparm --user-master u --security-set-pass {_PASSWORD} {device}",),
            "it says enabled, and security level high; to go back: hdparm --user-master u "
            f"--security-disable {_PASSWORD} {device}",
            (look,),
        ),
        Stage(
            "Erase the drive, on mains power; it takes about as long as the drive said. Never cut "
            "the power: a drive that was interrupted stays locked, and has to be erased again with "
            "the same password. If the drive supports it, --security-erase-enhanced also reaches "
            "reallocated sectors",
            ALL,
            (erase,),
            "it says not enabled again, and the drive reads as zeroes (or as noise, if it encrypts "
            "itself)",
            (look, f"cmp --bytes=1073741824 {device} /dev/zero"),
        ),
        Stage(
            "A drive that encrypts itself may only have changed its key: its flash still counts as "
            "full, and the next writes are as slow as before. Discard all of it; if the flash was "
            "erased, this costs nothing. The wear counters remain: no erase resets them, and this "
            "one has added an erase to every block",
            ALL,
            (f"blkdiscard --force --verbose {device}",),
            "the number of bytes that it discarded is the size of the whole drive",
        ),
    )


def _controller(device: str) -> str:
    return device.rpartition("n")[0]


def _format(device: str) -> tuple[Stage, ...]:
    controller = _controller(device)
    return (
        _unused(device),
        Stage(
            "Ask what the drive supports: oacs, bit 1, is format; fna, bits 0 and 1, says that a "
            "format or an erase concerns all namespaces, not only this one; fna, bit 2, is "
            f"cryptographic erase. {_WHICH}",
            NOTHING,
            (f"nvme list-subsys {device}", f"nvme id-ctrl {controller} --human-readable"),
            f"list-subsys names {controller}, format is supported, and you know which namespaces "
            "it concerns",
        ),
        Stage(
            "Format with --ses=1, which erases user data; --ses=2 only changes the key, and takes "
            "a moment. The LBA format stays as it is unless --lbaf is given. Firmware, settings "
            "and the wear counters remain",
            "all data of the namespace, or of all namespaces if fna says so",
            (f"nvme format {device} --ses=1",),
            "nuse is 0, or as near to it as the drive counts, and the drive reads as zeroes if "
            "dlfeat promises them",
            (
                f"nvme id-ns {device} --human-readable",
                f"cmp --bytes=1073741824 {device} /dev/zero",
            ),
        ),
    )


def _sanitize(device: str) -> tuple[Stage, ...]:
    controller = _controller(device)
    return (
        _unused(device),
        Stage(
            "Ask what the drive supports: sanicap, bit 0, is cryptographic erase, bit 1 block "
            "erase, bit 2 overwrite. Once begun, a sanitize goes on through resets and loss of "
            f"power, and the drive takes no reads or writes until it is done. {_WHICH}",
            NOTHING,
            (
                f"nvme list-subsys {device}",
                f"nvme id-ctrl {controller} --human-readable",
                f"nvme sanitize-log {controller}",
            ),
            f"list-subsys names {controller}, and sanicap is not 0; the log estimates the erase "
            "times in seconds",
        ),
        Stage(
            "Erase the blocks (--sanact=2), or, if the drive can erase only the key, use "
            "--sanact=4. Overwriting (--sanact=3) wears the flash and is no better. Sanitize also "
            "reaches caches and spare blocks, which format need not. The wear counters remain",
            "all data of the whole drive, in every namespace and in its spare area; it cannot be "
            "stopped",
            (f"nvme sanitize {controller} --sanact=2",),
            "SPROG is 65535 and SSTAT, bits 2:0, is 1: the last sanitize was completed",
            (f"nvme sanitize-log {controller}",),
        ),
    )


def _discard(device: str) -> tuple[Stage, ...]:
    return (
        _unused(device),
        Stage(
            "Ask whether the drive takes discards, and whether they reach it: behind a RAID "
            "controller they mostly do not",
            NOTHING,
            (f"lsblk --discard {device}",),
            "DISC-GRAN and DISC-MAX are not 0",
        ),
        Stage(
            "Discard everything. The drive erases its blocks when it likes: this frees flash, but "
            "does not promise that nobody can read what was there",
            ALL,
            (f"blkdiscard --force --verbose {device}",),
            "the number of bytes that it discarded is the size of the whole drive; it reads as "
            "zeroes only if it promises them (hdparm -I: Deterministic read ZEROs after TRIM)",
            (f"cmp --bytes=1073741824 {device} /dev/zero",),
        ),
    )


def _shrink(device: str, share: float) -> Stage:
    return Stage(
        "To keep the data: shrink what is in the last partition, then the partition, and trim what "
        "became free. This command shows the steps with all numbers; fill in your own capacity and "
        "partition",
        _NOTHING_IF_WELL,
        (
            f"ssdlab align spare --spare {share * 100:g}% --capacity 480GB --device {device} "
            "--layer partition:start=1MiB,size=440GiB --layer filesystem:type=ext4",
        ),
        "the file system passes its check and mounts, and the list of free space shows the share",
        (f"sfdisk --list-free {device}",),
    )


def _tool() -> Stage:
    return Stage(
        "Many makers have a tool that sets the spare area at the push of a button, such as "
        "Samsung's Magician; Intel's was the SSD Toolbox. It does what way 3 does, so decrypt an "
        "encrypted partition first",
        _NOTHING_IF_WELL,
        (),
        "the partitions end before the drive does",
    )
