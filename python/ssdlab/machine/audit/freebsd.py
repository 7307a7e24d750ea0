"""What FreeBSD tells of its storage, from texts that its own tools printed.

It reads ``gpart show`` (also of slices with BSD labels), ``diskinfo -v``, ``tunefs -p`` and ``zpool
get`` with its default columns. Sectors are taken for 512 bytes, unless diskinfo tells. A value that
is not understood is refused where it stands, and counts neither as good nor as bad.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align.grid import Grid
from ssdlab.machine.align.listings import Listing, judge, read_listing
from ssdlab.machine.align.listings.freebsd import FreeBsd
from ssdlab.machine.audit.checks import zfs
from ssdlab.machine.audit.finding import Finding, Severity, not_looked_at
from ssdlab.machine.audit.pasted import Pasted, PastedLine
from ssdlab.machine.audit.remedy import Remedy, advice
from ssdlab.machine.audit.room import WANTED
from ssdlab.machine.audit.states import StateKind, state_of
from ssdlab.machine.audit.windows import aligned
from ssdlab.real.device import whole

_SOURCE = "gpart(8), diskinfo(8), tunefs(8)"
_HEADER = re.compile(r"=>\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+\(")
_ROW = re.compile(r"\s+(\d+)\s+(\d+)\s+(?:- free -|(\S+)\s+(\S+))")
_FACT = re.compile(r"\s+(?:(\S.*?)\s*)?#\s*(.*?)\s*")
_DEVICE = re.compile(r"(?:/dev/\S+|[a-z]+\d+\S*)\s*")
_FACTS = {
    "TRIM/UNMAP support": "Yes|No",
    "Rotation rate in RPM": r"\d{1,6}|Unknown|Invalid",
    "sectorsize": r"\d{1,6}",
}
"""What a fact of diskinfo looks like, where it is used."""
_TUNABLE = re.compile(
    r"(?:tunefs: )?(?:POSIX\.1e ACLs: \(-a\)|NFSv4 ACLs: \(-N\)|MAC multilabel: \(-l\)|"
    r"soft updates: \(-n\)|soft update journaling: \(-j\)|gjournal: \(-J\)|"
    r"maximum blocks per file in a cylinder group: \(-e\)|average file size: \(-f\)|"
    r"average number of files in a directory: \(-s\)|minimum percentage of free space: \(-m\)|"
    r"space to hold for metadata blocks: \(-k\)|optimization preference: \(-o\)|"
    r"volume label: \(-L\))(?:\s+\S.*)?"
)
_TRIM = re.compile(r"(?:tunefs: )?trim: \(-t\)\s+(\S.*)")
_POOL_HEADING = re.compile(r"NAME\s+PROPERTY\s+VALUE(?:\s+SOURCE)?\s*")
_POOL_FORMS = {"ashift": r"\d{1,2}", "autotrim": "on|off", "capacity": r"\d{1,3}%?"}
_POOL_ROW = re.compile(
    r"(\S+)\s+(ashift|autotrim|capacity|allocated|altroot|autoexpand|autoreplace|bclone\w+|bootfs|"
    r"cachefile|checkpoint|compatibility|dedup\w+|delegation|expandsize|failmode|fragmentation|"
    r"free|freeing|guid|health|last_scrubbed_txg|leaked|listsnapshots|listsnaps|load_guid|"
    r"maxblocksize|maxdnodesize|multihost|readonly|size|unsupported@\S+|feature@\S+|version)"
    r"\s+(\S+)(?:\s+(?:-|default|local|received|temporary|inherited from \S+))?\s*"
)
_POOL_COMMENT = re.compile(r"\S+\s+comment\s+\S.*")


def findings(pasted: Pasted) -> Iterator[Finding]:
    """Give what texts tell, and mark their lines; nothing where they are none of these."""
    disks = _disks(pasted)
    for name, info in disks.items():
        yield from _disk(name, info)
    yield from _partitions(pasted, disks)
    yield from _tunefs(pasted)
    for pool, properties in _pools(pasted).items():
        yield from zfs.judged(pool, properties)
        yield from _capacity(pool, properties)


@dataclass
class _DiskInfo:
    """What diskinfo says of a disk: its facts with their lines, by the words behind the sign #."""

    told: dict[str, str] = field(default_factory=dict)
    lines: dict[str, PastedLine] = field(default_factory=dict)
    is_whole: bool = True

    def add(self, key: str, value: str, line: PastedLine) -> None:
        """Take a fact, or refuse it."""
        if not FreeBsd().knows(line.text.expandtabs()):
            line.refuse(f"{key or 'this'} is no fact that diskinfo is known to tell")
        elif not re.fullmatch(_FACTS.get(key, ".*"), value):
            line.refuse(f"no such value of {key} is known here")
        elif self.told.get(key, value) != value:
            line.refuse(f"{key} stands twice, with different values")
            del self.told[key]
        else:
            line.take()
            self.told[key], self.lines[key] = value, line
        self.is_whole = self.is_whole and not line.refusal


def _disks(pasted: Pasted) -> dict[str, _DiskInfo]:
    disks: dict[str, _DiskInfo] = {}
    for block in pasted.blocks():
        device: PastedLine | None = None
        for line in block:
            fact = _FACT.fullmatch(line.text)
            if _DEVICE.fullmatch(line.text):
                device = line
            elif fact and device:
                device.take()
                name = device.text.strip().removeprefix("/dev/")
                disks.setdefault(name, _DiskInfo()).add(fact[2], fact[1] or "", line)
    return disks


def _disk(name: str, info: _DiskInfo) -> Iterator[Finding]:
    trim = info.told.get("TRIM/UNMAP support")
    rotates = (whole(info.told.get("Rotation rate in RPM")) or 0) > 0
    if rotates:
        yield Finding("media", Severity.GREEN, "a hard disk, which needs no TRIM", name)
    elif not info.is_whole:
        yield not_looked_at("discard", "not all that diskinfo tells of it is understood", name)
    elif trim is None:
        yield not_looked_at("discard", "this diskinfo does not mention TRIM", name)
    elif trim == "Yes":
        yield Finding("discard", Severity.GREEN, "the drive takes TRIM", name)
    else:
        yield Finding(
            "discard",
            Severity.YELLOW,
            "the drive, or the controller before it, takes no TRIM",
            name,
            "the drive never learns what was deleted, and acts as if it were full",
            advice("leave a tenth to a fifth of the drive unpartitioned when it is set up anew"),
            _SOURCE,
        )


def _partitions(pasted: Pasted, disks: dict[str, _DiskInfo]) -> Iterator[Finding]:
    """Judge what gpart lists by the reader and the rule of `ssdlab align check`."""
    blocks = [block for block in map(_gpart, pasted.blocks()) if block]
    if not blocks:
        return
    try:
        listing = _listing(blocks, disks)
    except SsdlabError as error:
        yield not_looked_at("alignment", str(error), "gpart show")
        return
    for disk in judge(listing, Grid()):
        for each in disk.judged:
            byte = each.listed.start.byte
            if byte is not None:
                yield aligned(f"{each.listed.name} on {disk.listed.name}", byte)
    for block in blocks:
        is_whole = not any(line.refusal for line in block)
        for name, scheme, rows in _tables("\n".join(line.text for line in block)):
            if not (scheme == "BSD" and re.fullmatch(r".+s\d+", name)):
                yield _unpartitioned(name, rows, is_whole)


def _gpart(block: list[PastedLine]) -> list[PastedLine]:
    """Give the lines of a block that has tables of gpart; nothing if one has no known beginning."""
    begins = [line for line in block if line.text.startswith("=>")]
    for line in begins:
        if not FreeBsd.starts_with(line.text.expandtabs()):
            line.refuse("it is no beginning of a table, as gpart is known to print it")
    # The rows of such a table would be taken for those of the one before.
    is_known = begins and not any(line.refusal for line in begins)
    return [line for line in block if line.is_open] if is_known else []


def _listing(blocks: list[list[PastedLine]], disks: dict[str, _DiskInfo]) -> Listing:
    """Read gpart's tables with the sectors that diskinfo tells, and mark their lines."""
    rows: list[tuple[str, PastedLine | None]] = []
    for name, info in disks.items():
        if "sectorsize" in info.told and not re.search(r"\d[ps]\d+[a-h]?$", name):
            size = f"{info.told['sectorsize']} # sectorsize"
            rows += [(name, None), (size, info.lines["sectorsize"])]
    for block in blocks:
        rows += [*((line.text, line) for line in block), ("", None)]
    listing = read_listing("\n".join(text for text, _ in rows), "gpart show")
    refused = {int(each.where.rpartition(" ")[2]): each.why for each in listing.unread}
    for number, (_, line) in enumerate(rows, 1):
        if line is not None and number in refused:
            line.refuse(refused[number])
        elif line is not None:
            line.take()
    return listing


def _tables(text: str) -> Iterator[tuple[str, str, list[tuple[int, int, str]]]]:
    """Give name, scheme and rows (start, sectors, index or nothing) of every table."""
    table: tuple[str, str, list[tuple[int, int, str]]] | None = None
    for line in text.splitlines():
        header, row = _HEADER.match(line), _ROW.match(line)
        if header:
            if table:
                yield table
            table = (header[3], header[4], [])
        elif table and row:
            table[2].append((int(row[1]), int(row[2]), row[3] or ""))
        elif table and line.strip():
            yield table
            table = None
    if table:
        yield table


def _unpartitioned(name: str, rows: list[tuple[int, int, str]], is_whole: bool) -> Finding:
    if not is_whole:
        because = "not every row of its table is understood"
        return not_looked_at("spare area", because, name)
    free = sum(size for _, size, index in rows if not index)
    taken = sum(size for _, size, index in rows if index)
    share = free / taken if taken else 0.0
    told = f"unpartitioned space is {share:.0%} of the rest"
    if share >= WANTED:
        return Finding("spare area", Severity.GREEN, told, name)
    because = f"{told}, and gpart does not show how full file systems are"
    return not_looked_at("spare area", because, name)


def _tunefs(pasted: Pasted) -> Iterator[Finding]:
    for line in pasted.lines:
        trim = _TRIM.fullmatch(line.text.strip())
        if _TUNABLE.fullmatch(line.text.strip()):
            line.take()
        if trim is None:
            continue
        if trim[1] not in ("enabled", "disabled"):
            line.refuse("“enabled” or “disabled” was expected")
            yield not_looked_at("trim schedule", "what trim (-t) is, is not understood", "tunefs")
            continue
        line.take()
        if trim[1] == "enabled":
            yield Finding("trim schedule", Severity.GREEN, "UFS sends TRIM", "tunefs")
            continue
        yield Finding(
            "trim schedule",
            Severity.YELLOW,
            "UFS sends no TRIM (tunefs -t is disabled)",
            "tunefs",
            "the drive treats deleted data as valid until it is overwritten",
            Remedy(
                "lets UFS send TRIM; /dev/PART is the partition, which must not be mounted",
                "none to data; deleting takes longer on drives with a slow TRIM",
                "tunefs -t disable /dev/PART",
                ("tunefs -t enable /dev/PART",),
            ),
            _SOURCE,
        )


def _pools(pasted: Pasted) -> dict[str, dict[str, str]]:
    """Read zpool get, with or without its heading and source column."""
    pools: dict[str, dict[str, str]] = {}
    contrary: set[tuple[str, str]] = set()
    for line in pasted.lines:
        row = _POOL_ROW.fullmatch(line.text)
        if _POOL_HEADING.fullmatch(line.text) or _POOL_COMMENT.fullmatch(line.text):
            line.take()
        if row is None:
            continue
        pool, key, value = row.groups()
        told = pools.setdefault(pool, {})
        is_strange = key == "health" and state_of(value) is StateKind.UNKNOWN
        if is_strange or not re.fullmatch(_POOL_FORMS.get(key, ".*"), value):
            line.refuse(f"no such value of {key} is known here")
        elif told.setdefault(key, value) != value:
            line.refuse(f"{key} stands twice, with different values")
        else:
            line.take()
        contrary |= {(pool, key)} if line.refusal else set()
    for pool, key in contrary:
        pools[pool].pop(key, None)
    return pools


def _capacity(pool: str, properties: dict[str, str]) -> Iterator[Finding]:
    used = whole(properties.get("capacity", "").rstrip("%"))
    if used is None or properties.get("autotrim") != "on":
        return
    share = (100 - used) / max(used, 1)
    told = f"free space in the pool is {share:.0%} of what is taken"
    if share >= WANTED:
        yield Finding("spare area", Severity.GREEN, told, pool)
        return
    why = "the fuller a drive is, the more data it moves for every random write"
    remedy = advice("free space until a tenth of the pool is free")
    source = "zpoolprops(7): capacity"
    yield Finding("spare area", Severity.YELLOW, told, pool, why, remedy, source)
