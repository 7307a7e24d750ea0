"""PowerShell's tables and lists of Get-PhysicalDisk, Get-Volume and Get-Partition.

The names of properties are English in every language of Windows. A row of which a value has
another form than its property is refused as a whole in a table, where it may have slipped between
columns; in a list the line is refused, and the rest is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ssdlab.machine.audit.pasted import Pasted, PastedLine
from ssdlab.machine.audit.states import StateKind, state_of

_SIZE = r"\d{1,20}(?:[.,]\d{1,6})?\s*(?:[KMGTP]?B)?"
_FLAG = "True|False|"
_FILE_SYSTEM = r"NTFS|ReFS|CSVFS\w*|FAT|FAT12|FAT16|FAT32|exFAT|CDFS|UDF|RAW|Unknown|"
_FORMS = {
    "MediaType": "SSD|HDD|SCM|Unspecified",
    "HealthStatus": "Healthy|Warning|Unhealthy|Unknown|(?:Scan|Spot Fix|Full Repair) Needed",
    "OperationalStatus": "Unknown|Other|Stressed|Starting|Stopping|Stopped|In Service|Aborted|"
    "Dormant|Power Mode|Relocating|Updating Firmware|Removing From Pool|"
    "(?:(?:Starting|Stopping|In) )?Maintenance(?: Mode)?|(?:Scan|Spot Fix|Full Repair) Needed|",
    "SizeRemaining": _SIZE,
    "Size": _SIZE,
    "AllocatedSize": _SIZE,
    "DriveType": "Fixed|Removable|CD-ROM|Network|Remote|RAM Disk|Invalid Root Path|Unknown",
    "FileSystem": _FILE_SYSTEM,
    "FileSystemType": _FILE_SYSTEM,
    "DriveLetter": "[A-Z]?",
    "DiskNumber": r"\d{1,6}",
    "PartitionNumber": r"\d{1,6}",
    "Offset": r"\d{1,24}",
    "Number": r"\d{0,6}",
    "DeviceId": r"\d{0,6}",
    "CanPool": _FLAG,
    "NoDefaultDriveLetter": _FLAG,
}
"""What a value looks like, where the audit uses it or it can be but a few words."""
_FREE = frozenset(
    """
    AccessPaths AdapterSerialNumber AllocationUnitSize Bus BusType CannotPoolReason CimClass
    CimInstanceProperties CimSystemProperties DedupMode Description DiskId DiskPath
    EnclosureNumber FileSystemLabel FirmwareVersion FriendlyName Function FruId GptType Guid
    IsActive IsBoot IsDAX IsHidden IsIndicationEnabled IsOffline IsPartial IsReadOnly
    IsShadowCopy IsSystem LogicalSectorSize Manufacturer MbrType Model ObjectId
    OperationalDetails OtherCannotPoolReasonDescription PSComputerName
    PartNumber PassThroughClass PassThroughIds PassThroughNamespace PassThroughServer Path
    PhysicalLocation PhysicalSectorSize ReFSDedupMode SerialNumber SlotNumber SoftwareVersion
    SpindleSpeed StoragePoolUniqueId SupportedUsages TransitionState Type UniqueId
    UniqueIdFormat Usage VirtualDiskFootprint
    """.split()
)
"""Properties that say nothing of what is judged, or names that somebody chose."""
_DECISIVE = {
    "disk": ("MediaType",),
    "volume": ("SizeRemaining",),
    "partition": ("PartitionNumber", "Offset"),
}
_PAIR = re.compile(r"(\w+)\s*: ?(.*)")
_DASHES = re.compile(r"\s*-+(\s+-+)+\s*")
_DISK_PATH = re.compile(r"\s*DiskPath:\s+\S.*")
"""Stands above the table of each disk that Get-Partition lists."""


@dataclass
class PowerShellRow:
    """What is told of one object.

    Attributes
    ----------
    kind
        ``disk``, ``volume`` or ``partition``.
    told
        Values that are understood, by property; a refused row of a table has none.
    is_whole
        Nothing of it was refused.
    """

    kind: str
    told: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True


def rows(pasted: Pasted) -> list[PowerShellRow]:
    """Read all tables and lists, and mark their lines."""
    found: list[PowerShellRow] = []
    for block in pasted.blocks():
        dashes = next((n for n, line in enumerate(block) if _DASHES.fullmatch(line.text)), 0)
        found += _table(block, dashes) if dashes else _list(block)
    if any(row.kind == "partition" for row in found):
        for line in pasted.lines:
            if _DISK_PATH.fullmatch(line.text):
                line.take()
    return found


def _kind(names: list[str]) -> str:
    told = (kind for kind, keys in _DECISIVE.items() if any(key in names for key in keys))
    return next(told, "")


def _is_known(name: str) -> bool:
    return name in _FORMS or name in _FREE


def _fits(name: str, value: str) -> bool:
    # Its words above say neither that all is well nor that it is not.
    if name == "OperationalStatus" and state_of(value) is not StateKind.UNKNOWN:
        return True
    return re.fullmatch(_FORMS.get(name, ".*"), value) is not None


def _table(block: list[PastedLine], dashes: int) -> Iterator[PowerShellRow]:
    """Read a line of names, a line of dashes, and lines in these columns."""
    spans = [each.span() for each in re.finditer(r"-+", block[dashes].text)]
    fitting = (line for line in block[:dashes][::-1] if len(line.text.split()) == len(spans))
    heading = next((line for line in fitting if _kind(line.text.split())), None)
    if heading is None:
        return
    # A column reaches from its dashes or its name, whichever begins first, to the next.
    names = heading.text.split()
    kind = _kind(names)
    strange = [name for name in names if not _is_known(name)]
    if strange or len(set(names)) < len(names):
        heading.refuse(f"{', '.join(strange) or 'one of them'} is no column that is known here")
    heading.take()
    block[dashes].take()
    for line in block[dashes + 1 :]:
        yield _cut(kind, line, names, spans)


def _cut(
    kind: str, line: PastedLine, names: list[str], spans: list[tuple[int, int]]
) -> PowerShellRow:
    """Understand a row of a table, or refuse it."""
    cells = _cells(line.text, names, spans)
    wrong = [name for name, value in cells.items() if not _fits(name, value)]
    if wrong:
        line.refuse(f"its {wrong[0]} is “{cells[wrong[0]]}”, which is not known here")
        return PowerShellRow(kind, is_whole=False)
    line.take()
    return PowerShellRow(kind, cells)


def _cells(row: str, names: list[str], spans: list[tuple[int, int]]) -> dict[str, str]:
    """Cut a row between its columns, where it has blanks."""
    cells, begin = {}, 0
    for place, name in enumerate(names):
        last = place == len(names) - 1
        end = len(row) if last else _blank(row, spans[place][1], spans[place + 1][0])
        cells[name] = row[begin:end].strip()
        begin = end
    return cells


def _blank(row: str, low: int, high: int) -> int:
    """Find where one column ends: numbers on the right begin before their name does."""
    if not row[high : high + 1].strip():
        return high
    gap = row.rfind(" ", low, high)
    return gap if gap >= 0 else max(high, row.find(" ", high))


def _list(block: list[PastedLine]) -> Iterator[PowerShellRow]:
    """Read a name, a colon and a value a line; an object is what stands between empty lines."""
    pairs = [_PAIR.fullmatch(line.text) for line in block]
    kind = _kind([pair[1] for pair in pairs if pair])
    if not kind:
        return
    row = PowerShellRow(kind)
    contrary: set[str] = set()
    column = 0
    for line, pair in zip(block, pairs, strict=True):
        if pair is None and column and _goes_on(line.text, column):
            line.take()
            continue
        why = _why_not(row, pair)
        # A long value that says nothing of what is judged goes on in the next line.
        column = pair.start(2) if pair and pair[1] in _FREE else 0
        if not why and pair:
            row.told[pair[1]] = pair[2].strip()
            line.take()
            continue
        line.refuse(why)
        row.is_whole = False
        contrary |= {pair[1]} if pair else set()
    # Of two values of one property neither counts.
    row.told = {name: value for name, value in row.told.items() if name not in contrary}
    yield row


def _why_not(row: PowerShellRow, pair: re.Match[str] | None) -> str:
    """Say why a line of a list is not understood; nothing if it is."""
    if pair is None:
        return "it is no property with a colon and a value"
    name, value = pair[1], pair[2].strip()
    if not _is_known(name):
        return f"{name} is no property that is known here"
    if not _fits(name, value):
        return f"no such value of {name} is known here"
    if row.told.get(name, value) != value:
        return f"{name} stands twice, with different values"
    return ""


def _goes_on(text: str, column: int) -> bool:
    return len(text) - len(text.lstrip(" ")) == column
