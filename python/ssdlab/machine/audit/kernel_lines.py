"""Lines of the kernel's log that tell of trouble: their kinds, and whom they name.

Read are the lines of the block layer, of SCSI, ATA, NVMe, PCIe, md and the file systems. A line
that is of none of these kinds, but names a block device, link or controller and has a word such as
"failed", is told of as not understood: nothing vanishes. Left out are lines that a healthy machine
prints too (``HARMLESS``), and what names no device, such as the second lines of libata's reports,
whose first is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ssdlab.machine.audit.finding import Severity

# A file system's journal appends a number to the device's name ("sda1-8"); it is no part of it.
_DEVICE = r"(?P<device>dm-\d+|[a-z][\w!]*)"
_LINK = r"(?P<link>ata\d+)"
_ATA = rf"{_LINK}\.\d+"
_NVME = r"(?P<controller>nvme\d+)"
_SCSI = r"sd (?P<address>\d+:\d+:\d+:\d+): (?:scsi: )?"
_PCI = r"(?P<function>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)"
_FILE_SYSTEM = r"\b(?:EXT\d-fs|XFS|BTRFS|F2FS-fs|JFS|FAT-fs|exFAT-fs|ntfs3?)"


@dataclass(frozen=True)
class Trouble:
    """A kind of line: its name, how bad it is, and its words with the part that says who."""

    what: str
    severity: Severity
    words: re.Pattern[str]


def _red(what: str, *words: str) -> list[Trouble]:
    return [Trouble(what, Severity.RED, re.compile(each)) for each in words]


def _yellow(what: str, *words: str) -> list[Trouble]:
    return [Trouble(what, Severity.YELLOW, re.compile(each)) for each in words]


KINDS = (
    *_red(
        "failed requests",
        # A drive that lacks an operation (to write zeroes) is sound: such a line is only quoted.
        rf"(?<!not supported) error, dev {_DEVICE}",
        rf"I/O error on (?:dev(?:ice)? )?{_DEVICE}",
        rf"md\S*: {_DEVICE}: unrecoverable I/O",
        r"(?P<device>nvme\d\w*): .* @ LBA \d+, .*\(sct ",
    ),
    *_red(
        "failed commands",
        rf"{_ATA}: failed command",
        rf"\[{_DEVICE}\] .*(?i:failed:? result|unhandled (?:error|sense) code)",
    ),
    *_red(
        "errors that the drive told",
        rf"{_ATA}: (?:error: \{{|cmd .* Emask \w+ \()",
        rf"\[{_DEVICE}\] .*(?:Sense Key : (?:Medium|Hardware) Error|Add\. Sense: .*[Ee]rror)",
    ),
    *_red(
        "losses of the drive",
        rf"{_SCSI}(?:rejecting I/O to (?:offline|dead) device|Device offlined)",
        rf"{_ATA}: disabled?(?: device)?$",
        rf"{_LINK}: reset failed, giving up",
        rf"{_NVME}: (?:Disabling device after reset failure|Removing after probe failure)",
        rf"Disk failure on {_DEVICE}, disabling",
    ),
    *_yellow(
        "link resets",
        rf"{_LINK}(?:\.\d+)?: (?:(?:hard|soft) resetting link|\w*(?:RESET|reset|RST) failed)",
    ),
    *_yellow(
        "link errors",
        rf"{_LINK}(?:\.\d+)?: (?:exception Emask|limiting SATA link speed|irq_stat .*error)",
        rf"{_ATA}: NCQ disabled due to excessive errors",
        rf"{_PCI}: (?:AER: )?PCIe Bus Error: severity=Corrected",
        rf"AER: (?:Multiple )?Corrected error (?:message )?received: {_PCI}",
    ),
    *_yellow("time-outs", rf"{_NVME}: I/O .*timeout"),
    *_red(
        "controller resets",
        rf"{_NVME}: (?:controller is down|Device not ready|frozen state error|.* will reset)",
    ),
    *_red(
        "PCIe errors",
        rf"{_PCI}: (?:AER: )?PCIe Bus Error: severity=Uncorrected",
        rf"AER: (?:Multiple )?Uncorrected .*error (?:message )?received: {_PCI}",
    ),
    *_red(
        "errors of file systems",
        r"bdev (?:/dev/)?(?P<device>[\w!/.+-]+) errs: .*\b[1-9]",
        rf"{_FILE_SYSTEM} (?:error|critical) \(device {_DEVICE}",
        rf"{_FILE_SYSTEM}(?: \w+)? \((?:device )?{_DEVICE}[^)]*\): "
        r".*(?:I/O error|[Rr]emounting filesystem read-only|csum failed|[Ss]hut(?:ting)? down|"
        r"[Cc]orrupt(?! 0)|data loss|with errors|\berror count|\berror at time)",
        rf"(?:Aborting journal on device|JBD2: .*rror.* (?:for|on)) {_DEVICE}",
    ),
)

HARMLESS = re.compile(
    r"\bACPI\b.*|[Cc]ommand line:.*|\baudit[:(].*|\bsupports\b.*|\bBAR \d.*|error status/mask=|"
    r"errors=[\w-]+|[Ss]hutdown timeout set|errs: wr 0, rd 0, flush 0, corrupt 0, gen 0|"
    # What is switched off; a device that is off has a number before the colon.
    r"[A-Za-z)] ?: disabled|\b(?:map|caching|DAX|[Qq]uota|LPM|APST|FUA|DI[FX])(?: is)? disabled|"
    # Small USB drives and old SATA drives lack these; the kernel goes on without them.
    r"Asking for cache data failed|Test WP failed|READ LOG DMA EXT failed, trying"
)
"""Words of lines that name a device and an error, and that a sound machine prints too."""

_MARKS = (
    *("error", "errs", "fail", "reset", "disabl", "offline", "dead", "abort", "exception", "@ lba"),
    *("limiting", "timeout", "time-out", "timed out", "timing out", "is down", "not ready", "shut"),
    *("read-only", "corrupt", "data loss", "unrecover", "inaccessible", "lost", "blocked", "emask"),
    *("unhandled", "fault", "operational"),
)
"""Each line of trouble has one of these; most lines have none, which is found out at once."""
_LONGEST = 1024
"""The kernel's lines are no longer; longer ones are no lines of a kernel and cost time."""
_ALARMING = re.compile(
    r"\b(?:errors?|errs|fail(?:s|ed|ing|ures?)?|offlined?|disabled|time-?outs?|tim(?:ed|ing) out|"
    r"abort(?:ed|ing)|dead|inaccessible|unrecover\w*|corrupt\w*|lost|blocked for more than|"
    r"fault(?:s|y|ed|_state)?|non-operational)\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?<![\w:.])(?:(?:sd|hd|vd|xvd)[a-z]+\d*|(?:nvme|mmcblk|nbd|rbd|drbd|bcache|md|zd|pmem)\d\w*|"
    r"dm-\d+|(?:ata|host|loop)\d+|\d+:\d+:\d+:\d+|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)\b"
    r"|mpt[23]sas_cm\d+|(?<=: )\d+:\d+(?=: )|(?<=md:)md\d+|(?<=\d:)md\d+"
)
_GONE = re.compile(r"(?:sd|hd|vd|xvd)[a-z]+\d*|nvme\d.*|mmcblk\d.*|md\d.*|pmem\d.*")


def known(line: str) -> tuple[Trouble, str, str] | None:
    """Give the kind of a line, the name in it, and what the name is: device, link and so on."""
    for kind in KINDS if _has_mark(line) else ():
        if found := kind.words.search(line, 0, _LONGEST):
            ((what, name),) = found.groupdict().items()
            return kind, name, what
    return None


def alarming_names(line: str) -> list[str]:
    """Name the devices in a line that is of no kind above and may tell of trouble."""
    line = line[:_LONGEST]
    # Only the harmless words are passed over: another error in the same line still counts.
    is_alarming = _has_mark(line) and _ALARMING.search(HARMLESS.sub("", line))
    return _NAME.findall(line) if is_alarming else []


def _has_mark(line: str) -> bool:
    small = line.lower()
    return any(mark in small for mark in _MARKS)


def spellings(name: str) -> Iterator[str]:
    """Give what a device may be called instead: its drive's name comes first.

    Examples
    --------
    >>> list(spellings("sda1")), list(spellings("nvme0c1n1p2"))
    (['sda', 'sda1'], ['nvme0n1', 'nvme0c1n1p2'])
    """
    drive = re.sub(r"^(nvme\d+)c\d+(n\d+)", r"\1\2", name)
    drive = re.sub(r"^((?:sd|hd|vd|xvd)[a-z]+)\d+$|^(.*\d)p\d+$", r"\1\2", drive)
    yield drive
    if drive != name:
        yield name


def may_be_gone(name: str) -> bool:
    """Whether a name is a drive's: one that the system no longer has is then a drive that is lost.

    Not so loop devices, floppies and mapped devices, which come and go.
    """
    return bool(_GONE.fullmatch(name))
