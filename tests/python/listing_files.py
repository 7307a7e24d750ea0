"""Listings in `listings`: of public threads, and of tools run on two images, with what is right.

The images were made by sfdisk. ``gpt`` has partitions at sectors 2048, 206848 and 616487; ``dos``
at 63, 206848 and, in an extended partition at 616448, at 618496. The others are of the forms that
versions print which are no longer at hand; their numbers are made up, and worked out by hand.
Names of files tell program, version and form. Identifiers are replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ssdlab.ground.exit_codes import Exit

FOLDER = Path(__file__).parent / "listings"
GPT = (2048, 206848, 616487)
DOS = (63, 206848, 618496)


@dataclass(frozen=True)
class Right:
    """What is right of a listing: the exit code, and where what is judged begins, in sectors.

    A start that the listing rounds is None.
    """

    exit: Exit
    starts: tuple[int | None, ...]
    quoted: int = 0
    """So many of its rows say too little, and are quoted."""


_MISALIGNED, _NOT_JUDGED = Exit.FINDING, Exit.NOT_JUDGED
_ROUNDED = Right(_NOT_JUDGED, (None, None, None))
_EXACT = (
    "busybox-1.35-dos.txt fdisk-2.38-de_DE.txt fdisk-2.38-dos.txt fdisk-2.38-fr_FR.txt "
    "fdisk-2.38-gpt.txt fdisk-2.38-ja_JP.txt fdisk-2.38-x-dos.txt fdisk-2.38-x-gpt.txt "
    "fdisk-2.38-zh_CN.txt mmls-4.11-dos.txt mmls-4.11-gpt.txt parted-3.5-b-dos.txt "
    "parted-3.5-b-gpt.txt parted-3.5-free-dos.txt parted-3.5-free-gpt.txt "
    "parted-3.5-m-free-dos.txt parted-3.5-m-free-gpt.txt parted-3.5-s-dos.txt "
    "parted-3.5-s-gpt.txt partx-2.38-l-dos.txt partx-2.38-l-gpt.txt partx-2.38-s-dos.txt "
    "partx-2.38-s-gpt.txt sfdisk-2.38-d-dos.txt sfdisk-2.38-d-gpt.txt sfdisk-2.38-j-dos.json "
    "sfdisk-2.38-j-gpt.json sgdisk-1.0.9-dos.txt sgdisk-1.0.9-gpt.txt"
).split()
RIGHT = {
    **{name: Right(_MISALIGNED, GPT if "gpt" in name else DOS) for name in _EXACT},
    "01-fdisk-centos7-mbr-and-gpt.txt": Right(_MISALIGNED, (2048, 34, 209715167, 34, 16777216)),
    "03-gdisk-hybrid-mac.txt": Right(Exit.ATTENTION, (40, 409640, 908612760, 919713792, 937711616)),
    "04-sfdisk-luB-blocks.txt": Right(Exit.DONE, (2048, 2099200)),
    "05-blockdev-report.txt": Right(_MISALIGNED, (34,)),
    "06-fdisk-protective-mbr.txt": Right(_NOT_JUDGED, ()),
    "07-fdisk-free-space.txt": Right(Exit.ATTENTION, (40,)),
    "blkid-p.txt": Right(_MISALIGNED, (2048, 1050625)),
    "busybox-1.35-gpt.txt": Right(_NOT_JUDGED, ()),
    "busybox-gpt.txt": Right(_MISALIGNED, (16384, 24609, 32801)),
    "diskpart-list.txt": Right(Exit.DONE, (None,)),
    "diskpart-xp.txt": Right(_NOT_JUDGED, (None,)),
    "diskutil-list.txt": Right(_NOT_JUDGED, (None, None)),
    "fdisk-2.12-long-name.txt": Right(Exit.DONE, (2048, 20973568)),
    "fdisk-2.17-dos-cylinders.txt": Right(_MISALIGNED, (None, 13 * 16065)),
    "fdisk-2.17-gpt-unsupported.txt": Right(_NOT_JUDGED, ()),
    "fdisk-2.38-cylinders-dos.txt": _ROUNDED,
    "fdisk-2.38-cylinders-gpt.txt": _ROUNDED,
    # The command i lists the first one again.
    "fdisk-2.38-session.txt": Right(_MISALIGNED, (*DOS, 63)),
    "fdisk-4096-byte-sectors.txt": Right(Exit.ATTENTION, (256 * 8, 131335 * 8)),
    "fdisk-freebsd.txt": Right(_MISALIGNED, (63,)),
    "fdisk-macos.txt": Right(Exit.ATTENTION, (409640, 734326824, 735598592)),
    "gpart-p-list.txt": Right(_MISALIGNED, (34, 2048, 4196352)),
    "gpt-macos.txt": Right(Exit.ATTENTION, (40, 409640)),
    "growpart.txt": Right(Exit.DONE, (2048,)),
    "kpartx-l.txt": Right(_MISALIGNED, (63, 206848)),
    "lsblk-plain.txt": Right(_NOT_JUDGED, (None, None)),
    "lsblk-start.txt": Right(_MISALIGNED, (2048, 1050624, 63)),
    "parted-3.5-chs-gpt.txt": Right(_NOT_JUDGED, (), quoted=4),
    # 32.3kB may be one sector only; whole megabytes are not enough.
    "parted-3.5-compact-dos.txt": Right(_MISALIGNED, (63, None, None)),
    "parted-3.5-compact-gpt.txt": _ROUNDED,
    "parted-3.5-kib-dos.txt": Right(_MISALIGNED, (63, None, None)),
    "parted-3.5-kib-gpt.txt": _ROUNDED,
    "parted-3.5-mib-dos.txt": _ROUNDED,
    "parted-3.5-mib-gpt.txt": _ROUNDED,
    "parted-3.5-p-gpt.txt": Right(_NOT_JUDGED, (), quoted=4),
    "proc-partitions.txt": Right(_NOT_JUDGED, (None, None)),
    "sfdisk-2.17-d.txt": Right(_MISALIGNED, (63, 210944)),
    "sfdisk-2.20-cylinders.txt": Right(_MISALIGNED, (None, 13 * 16065)),
    "sfdisk-2.20-mib.txt": Right(_NOT_JUDGED, (2048, None)),
    "sfdisk-2.20-sectors.txt": Right(_MISALIGNED, (63, 210944)),
    "sgdisk-1.0.9-i.txt": Right(_MISALIGNED, (616487,)),
    "sysfs-start.txt": Right(_MISALIGNED, (2048, 1050624, 63)),
    "wmic-csv.txt": Right(_MISALIGNED, (2048, 63)),
}


def text_of(name: str) -> str:
    """Give a listing's text."""
    return (FOLDER / name).read_text(encoding="utf-8")
