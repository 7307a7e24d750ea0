"""What FreeBSD tells of its storage, from texts that its own tools printed.

It reads ``gpart show`` (also of slices with BSD labels), ``diskinfo -v``, ``tunefs -p`` and ``zpool
get`` with its default columns. Sectors are taken for 512 bytes, unless diskinfo tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align.grid import Grid
from ssdlab.machine.align.listings import judge, read_listing
from ssdlab.machine.audit.checks import zfs
from ssdlab.machine.audit.finding import Finding, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, advice
from ssdlab.machine.audit.room import WANTED
from ssdlab.machine.audit.windows import aligned
from ssdlab.real.device import whole

_SOURCE = "gpart(8), diskinfo(8), tunefs(8)"
_HEADER = re.compile(r"=>\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+\(")
_ROW = re.compile(r"\s+(\d+)\s+(\d+)\s+(?:(\d+)\s+(\S+)|- free -)")
_DISK = re.compile(r"^(/dev/\S+|[a-z]+\d+\S*)\s*\n((?:\s+\S.*#.*\n?)+)", re.MULTILINE)


def findings(text: str) -> Iterator[Finding]:
    """Give what a text tells; nothing where it is none of these."""
    disks = _disks(text)
    for name, told in disks.items():
        yield from _disk(name, told)
    yield from _partitions(text, disks)
    yield from _tunefs(text)
    for pool, properties in _pools(text).items():
        yield from zfs.judged(pool, properties)
        yield from _capacity(pool, properties)


def _disks(text: str) -> dict[str, dict[str, str]]:
    """Give what diskinfo says of each disk, by the words behind its signs of number."""
    disks = {}
    for name, block in _DISK.findall(text + "\n"):
        pairs = re.findall(r"^\s+(.*?)\s*#\s*(.*?)\s*$", block, re.MULTILINE)
        disks[name.removeprefix("/dev/")] = {key: value for value, key in pairs}
    return disks


def _disk(name: str, told: dict[str, str]) -> Iterator[Finding]:
    trim = told.get("TRIM/UNMAP support")
    rotates = (whole(told.get("Rotation rate in RPM")) or 0) > 0
    if rotates:
        yield Finding("media", Severity.GREEN, "a hard disk, which needs no TRIM", name)
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


def _partitions(text: str, disks: dict[str, dict[str, str]]) -> Iterator[Finding]:
    """Judge what gpart lists by the reader and the rule of `ssdlab align check`."""
    blocks = [each for each in re.split(r"\n\s*\n", text) if re.search(r"^=>", each, re.M)]
    if not blocks:
        return
    sectors = [
        f"{name}\n{told['sectorsize']} # sectorsize"
        for name, told in disks.items()
        if "sectorsize" in told and not re.search(r"\d[ps]\d+[a-h]?$", name)
    ]
    try:
        listing = read_listing("\n".join([*sectors, *blocks]), "gpart show")
    except SsdlabError as error:
        yield not_looked_at("alignment", str(error), "gpart show")
        return
    for disk in judge(listing, Grid()):
        for each in disk.judged:
            byte = each.listed.start.byte
            if byte is not None:
                yield aligned(f"{each.listed.name} on {disk.listed.name}", byte)
    for unread in listing.unread:
        quoted = " ".join(unread.quoted.split())
        yield not_looked_at("alignment", f"the row is not understood: {unread.why}", quoted)
    for name, scheme, rows in _tables(text):
        if not (scheme == "BSD" and re.fullmatch(r".+s\d+", name)):
            yield from _unpartitioned(name, rows)


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


def _unpartitioned(name: str, rows: list[tuple[int, int, str]]) -> Iterator[Finding]:
    free = sum(size for _, size, index in rows if not index)
    taken = sum(size for _, size, index in rows if index)
    share = free / taken if taken else 0.0
    told = f"unpartitioned space is {share:.0%} of the rest"
    if share >= WANTED:
        yield Finding("spare area", Severity.GREEN, told, name)
    else:
        because = f"{told}, and gpart does not show how full file systems are"
        yield not_looked_at("spare area", because, name)


def _tunefs(text: str) -> Iterator[Finding]:
    for state in re.findall(r"trim: \(-t\)\s+(enabled|disabled)", text):
        if state == "enabled":
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


def _pools(text: str) -> dict[str, dict[str, str]]:
    """Read zpool get, with or without its heading and source column."""
    pools: dict[str, dict[str, str]] = {}
    pattern = r"^(\S+)\s+(ashift|autotrim|capacity)\s+(\S+)"
    for pool, key, value in re.findall(pattern, text, re.MULTILINE):
        pools.setdefault(pool, {})[key] = value
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
