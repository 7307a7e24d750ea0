"""What ``ssdlab align check`` says of a listing: a table a drive, the verdict, the remedies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ssdlab import text
from ssdlab.align.grid import Grid
from ssdlab.align.listings import JudgedDisk, JudgedPartition, ListedDisk, Start, judge
from ssdlab.align.notation import decimal_text
from ssdlab.cli.align_words import size_of, writes_that_straddle
from ssdlab.cli.console import print_json, print_list, print_paragraph, print_table, print_text
from ssdlab.errors import SsdlabError

EXIT_MISALIGNED = 1
_FITS = {True: "yes", False: "no", None: "not known"}


def print_listing(disks: Sequence[ListedDisk], grid: Grid, *, as_json: bool) -> int:
    """Judge a listing and print what was found.

    Returns
    -------
    int
        The exit code: 0 where all that is judged fits, 1 where something does not.

    Raises
    ------
    SsdlabError
        Nothing is known to be misaligned, but the listing does not tell of all.
    """
    judged = judge(disks, grid)
    verdicts = [disk.aligned for disk in judged]
    wrong, unknown = False in verdicts, None in verdicts
    if as_json:
        aligned = False if wrong else None if unknown else True
        print_json({"aligned": aligned, "disks": [_as_json(disk) for disk in judged]})
    else:
        for number, disk in enumerate(judged):
            _print_disk(disk, is_first=number == 0)
    if unknown and not wrong:
        raise SsdlabError(
            "the listing does not show whether all partitions fit: it rounds where they begin\n"
            "list them in sectors or bytes: parted DEVICE unit s print, fdisk -l -u, or diskpart's "
            "detail partition"
        )
    return EXIT_MISALIGNED if wrong else 0


def _as_json(disk: JudgedDisk) -> dict[str, Any]:
    listed = disk.listed
    return {
        "name": listed.name,
        "sector_bytes": listed.sector_bytes,
        "physical_bytes": listed.physical_bytes,
        "optimal_bytes": listed.optimal_bytes,
        "capacity_bytes": listed.capacity,
        "aligned": disk.aligned,
        "notes": listed.notes,
        "partitions": [_partition_as_json(each) for each in disk.partitions],
    }


def _partition_as_json(judged: JudgedPartition) -> dict[str, Any]:
    listed = judged.listed
    return {
        "name": listed.name,
        "first_byte": listed.start.low,
        "last_possible_byte": listed.start.high,
        "size_bytes": listed.size,
        "aligned": judged.aligned,
        "judged": not listed.idle,
        "why_not_judged": listed.idle or None,
        "fits": [
            {"unit": unit.name, "bytes": unit.bytes, "required": unit.required, "fits": fits}
            for unit, fits in judged.fits
        ],
        "remedy": judged.remedy or None,
    }


def _print_disk(disk: JudgedDisk, *, is_first: bool) -> None:
    print_text(f"{'' if is_first else chr(10)}{_heading(disk.listed)}")
    _print_partitions(disk)
    for note in disk.listed.notes:
        print_paragraph(f"Note: {note}.")
    print_paragraph(_verdict(disk))
    mends = [f"{each.listed.name}: {each.remedy}" for each in disk.partitions if each.remedy]
    if mends:
        print_list("Remedies (ssdlab align move shows how)", mends)


def _heading(listed: ListedDisk) -> str:
    facts = []
    if listed.capacity:
        facts.append(f"{listed.capacity} bytes")
    if listed.sector_bytes:
        facts.append(f"sectors of {listed.sector_bytes} bytes")
    if listed.physical_bytes and listed.physical_bytes != listed.sector_bytes:
        facts.append(f"physical sectors of {listed.physical_bytes} bytes")
    return f"{listed.name}: {', '.join(facts)}" if facts else listed.name


def _print_partitions(disk: JudgedDisk) -> None:
    if not disk.partitions:
        return
    units = disk.grid.units
    sector = disk.grid.geometry.sector_bytes
    rows = []
    for each in disk.partitions:
        fits = dict(each.fits)
        answers = [_FITS[fits[unit]] if unit in fits else text.NOTHING for unit in units]
        rows.append((each.listed.name, *_place(each.listed.start, sector), *answers, _remark(each)))
    names = [_unit_heading(disk, number) for number in range(len(units))]
    headings = ("partition", "at byte", "sector", *names, "remark")
    print_table(headings, rows, right=(1, 2), fold=len(headings) - 1)


def _unit_heading(disk: JudgedDisk, number: int) -> str:
    unit = disk.grid.units[number]
    return f"{unit.name}{size_of(unit)}" + ("" if unit.required else " (not judged)")


def _place(start: Start, sector: int) -> tuple[str, str]:
    if start.exact:
        return str(start.low), decimal_text(start.low, sector)
    if start.high is None:
        return f"{start.low} + n × {start.step}", text.NOTHING
    low, high = (decimal_text(place, sector) for place in (start.low, start.high))
    return f"{start.low} to {start.high}", f"{low} to {high}"


def _remark(judged: JudgedPartition) -> str:
    if judged.listed.idle:
        return f"not judged: {judged.listed.idle}"
    worst = next((each for each in judged.findings if each.decides and not each.aligned), None)
    if worst is None:
        return ""
    return f"writes that straddle: {writes_that_straddle(worst.straddling)}"


def _verdict(disk: JudgedDisk) -> str:
    if disk.aligned is None:
        return "Not known: the listing does not show whether every partition fits."
    if disk.aligned is False:
        wrong = [each.listed.name for each in disk.partitions if _is_wrong(each)]
        return f"Misaligned: {', '.join(wrong)}."
    if all(each.listed.idle for each in disk.partitions):
        return "No partition is judged."
    return "Aligned: every judged partition fits every unit."


def _is_wrong(judged: JudgedPartition) -> bool:
    return judged.aligned is False and not judged.listed.idle
