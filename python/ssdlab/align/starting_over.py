"""How to start over with a real drive: the steps, what each destroys, how to see it worked.

The order is that of the documents: a new drive, then secure erase, then shrinking what is there,
then the maker's tool. Nothing is carried out here. Commands are those of Linux (hdparm 9.65,
nvme-cli 2.3, util-linux 2.38; hdparm(8), nvme-format(1), nvme-sanitize(1), blkdiscard(8)), read up
in their manual pages and not tried. Left out: SAS drives (sg_format), FreeBSD's camcontrol, drives
behind a RAID controller, which passes these commands on only where its maker says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ssdlab.errors import SsdlabError

NOTHING = "nothing"
ALL = "all data on the whole drive"
_ANY_SATA, _ANY_NVME = "/dev/sdX", "/dev/nvme0n1"
_PASSWORD = "ssdlab"


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


def ways(device: str | None = None, share: float = 0.2) -> list[Way]:
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
    raise SsdlabError(
        f"{device}: not the name of a drive; expected one of Linux, such as {_ANY_SATA} or "
        f"{_ANY_NVME}; on FreeBSD see camcontrol(8), security and sanitize"
    )


def _leave(device: str, share: float) -> Stage:
    used = round((1 - share) * 100)
    return Stage(
        f"Partition {used} % of the drive and leave the rest alone: what was never written, or "
        "erased since, is spare area",
        "the partition table, and so the way to all files",
        (f"parted -s -a optimal {device} mklabel gpt mkpart primary 1MiB {used}%",),
        f"the list of free space ends with about {100 - used} % of the drive",
        (f"sfdisk --list-free {device}",),
    )


def _unused(device: str) -> Stage:
    return Stage(
        "Back up, and take the drive out of use: no file system mounted, no array, no swap on it. "
        "What is encrypted on it is lost with its header; there is nothing to decrypt first",
        NOTHING,
        (f"lsblk -o NAME,MODEL,SERIAL,SIZE,TYPE,MOUNTPOINTS {device}",),
        "model and serial number are those of the drive that is meant, and nothing is mounted",
    )


def _secure_erase(device: str) -> tuple[Stage, ...]:
    erase = f"hdparm --user-master u --security-erase {_PASSWORD} {device}"
    look = f"hdparm -I {device}"
    return (
        _unused(device),
        Stage(
            "Ask what the drive can do. Under Security it says whether it is supported, enabled, "
            "locked and frozen, and how many minutes either erase takes. By USB, most bridges do "
            "not pass these commands on: connect the drive to a SATA port",
            NOTHING,
            (look,),
            "it says supported, not enabled, not locked, not frozen",
        ),
        Stage(
            "Where it says frozen: firmware freezes drives at power-on. Suspend the machine and "
            "wake it, or unplug the drive's power for a moment with the machine running and plug "
            "it in again",
            NOTHING,
            ("systemctl suspend",),
            "it says not frozen now; else try another port or another machine",
            (look,),
        ),
        Stage(
            "Set a password, which the erase command asks for and deletes. If you stop here, the "
            "drive locks itself at the next power-on; security-disable takes the password off",
            NOTHING,
            (f"hdparm --user-master u --security-set-pass {_PASSWORD} {device}",),
            "it says enabled, and security level high; to go back: hdparm --user-master u "
            f"--security-disable {_PASSWORD} {device}",
            (look,),
        ),
        Stage(
            "Erase, on mains power; it takes about as long as the drive said. Never cut the power: "
            "a drive that was interrupted stays locked and has to be erased again with the same "
            "password. Where the drive has the enhanced erase, --security-erase-enhanced also "
            "reaches what was reallocated",
            ALL,
            (erase,),
            "it says not enabled again, and what is read are zeroes (or, on a drive that encrypts "
            "itself, noise)",
            (look, f"cmp --bytes=1073741824 {device} /dev/zero"),
        ),
        Stage(
            "A drive that encrypts itself may only have changed its key: its flash still counts as "
            "full, and the next writes are as slow as before. Discard all of it, which costs "
            "nothing on the others. What is left in any case are the counters of wear: no erase "
            "takes them back, and it is one erase more for every block",
            ALL,
            (f"blkdiscard --force --verbose {device}",),
            "it says how many bytes it discarded: those of the whole drive",
        ),
    )


def _controller(device: str) -> str:
    return device.rpartition("n")[0]


def _format(device: str) -> tuple[Stage, ...]:
    controller = _controller(device)
    return (
        _unused(device),
        Stage(
            "Ask what the drive can do: oacs, bit 1, is format; fna, bits 0 and 1, says that a "
            "format or an erase concerns all namespaces, not only this one; fna, bit 2, is erase "
            "by the key",
            NOTHING,
            (f"nvme id-ctrl {controller} --human-readable", f"nvme list-subsys {device}"),
            "format is supported, and you know which namespaces it concerns",
        ),
        Stage(
            "Format with --ses=1, which erases user data; --ses=2 changes the key only and takes "
            "a moment. The LBA format stays as it is unless --lbaf is given. Left afterwards: "
            "firmware, settings and the counters of wear",
            "all data of the namespace, or of all namespaces where fna says so",
            (f"nvme format {device} --ses=1",),
            "nuse is 0, or as near to it as the drive counts, and what is read are zeroes where "
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
            "Ask what the drive can do: sanicap, bit 0, is erase by the key, bit 1 erases blocks, "
            "bit 2 overwrites. The drive goes on by itself through resets and loss of power, and "
            "takes no other commands for data until it is done",
            NOTHING,
            (f"nvme id-ctrl {controller} --human-readable", f"nvme sanitize-log {controller}"),
            "sanicap is not 0; the log says under erase times how many seconds it takes",
        ),
        Stage(
            "Erase the blocks (--sanact=2); where only the key can be erased, --sanact=4. "
            "Overwriting (--sanact=3) wears flash out and is no better. It also reaches caches and "
            "spare blocks, which format need not. Left afterwards: the counters of wear",
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
            "Ask whether the drive takes discards, and whether they get through to it: behind a "
            "RAID controller mostly not",
            NOTHING,
            (f"lsblk --discard {device}",),
            "DISC-GRAN and DISC-MAX are not 0",
        ),
        Stage(
            "Discard everything. The drive may then erase its blocks when it likes; this frees "
            "flash, and is no promise that nobody can read what was there",
            ALL,
            (f"blkdiscard --force --verbose {device}",),
            "it says how many bytes it discarded: those of the whole drive; zeroes are read only "
            "where the drive promises them (hdparm -I: Deterministic read ZEROs after TRIM)",
            (f"cmp --bytes=1073741824 {device} /dev/zero",),
        ),
    )


def _shrink(device: str, share: float) -> Stage:
    return Stage(
        "Where the data have to stay: shrink what is in the last partition, then the partition, "
        "and trim what became free. The steps, with all numbers, gives this command; fill in the "
        "partition that you have",
        "nothing where nothing goes wrong: back up before",
        (
            f"ssdlab align spare --spare {share * 100:g}% --capacity 480GB --device {device} "
            "--layer partition:start=1MiB,size=440GiB --layer filesystem:type=ext4",
        ),
        "the file system is checked and mounts, and the list of free space shows the share",
        (f"sfdisk --list-free {device}",),
    )


def _tool() -> Stage:
    return Stage(
        "Many makers have a tool that sets the spare area at the push of a button. It does what "
        "way 3 does, so a partition that is encrypted has to be decrypted before",
        "nothing where nothing goes wrong: back up before",
        (),
        "the partitions end earlier than the drive",
    )
