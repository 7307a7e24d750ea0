"""What ``ssdlab align check`` says of a listing: a table a drive, the verdict, the remedies.

What no reader understood is quoted, and then the answer is not that all is well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ssdlab.cli.align_words import size_of, writes_that_straddle
from ssdlab.cli.console import (
    print_json,
    print_line,
    print_list,
    print_paragraph,
    print_table,
    print_text,
)
from ssdlab.ground import text
from ssdlab.ground.exit_codes import Exit, worst
from ssdlab.machine.align.grid import Grid
from ssdlab.machine.align.listings import (
    JudgedDisk,
    JudgedPartition,
    ListedDisk,
    Listing,
    Start,
    judge,
)
from ssdlab.machine.align.notation import decimal_text
from ssdlab.machine.align.rule import Judgement
from ssdlab.machine.align.rule import worst as worst_judgement

_FITS = {True: "yes", False: "no", None: "not known"}
_ASK = (
    "list them in sectors or bytes: parted DEVICE unit s print, fdisk -l -u, or diskpart's detail "
    "partition"
)


def print_listing(listing: Listing, grid: Grid, *, as_json: bool) -> Exit:
    """Judge a listing and print what was found.

    Returns
    -------
    Exit
        A finding where something is misaligned, attention where something misses what is good
        practice, not judged where something is not known or was not understood.
    """
    judged = judge(listing, grid)
    if as_json:
        _print_json(listing, judged)
    else:
        _print_text(listing, judged)
    return answer_of(listing, judged)


def answer_of(listing: Listing, judged: Sequence[JudgedDisk]) -> Exit:
    """Give the exit code of what was judged, and of what was not."""
    return worst([*(disk.judgement.exit for disk in judged), *_not_judged(listing, judged)])


def _not_judged(listing: Listing, judged: Sequence[JudgedDisk]) -> list[Exit]:
    """Say that something was not judged: what is unread, or all that there is."""
    nothing = not any(disk.judged for disk in judged)
    return [Exit.NOT_JUDGED] if listing.unread or nothing else []


def _overall(listing: Listing, judged: Sequence[JudgedDisk]) -> Judgement:
    missing = [Judgement.NOT_KNOWN] if _not_judged(listing, judged) else []
    return worst_judgement([*missing, *(disk.judgement for disk in judged)])


def _aligned(found: Judgement, *, is_whole: bool) -> bool | None:
    """Say whether what is a must fits, as JSON does."""
    if found is Judgement.MISALIGNED:
        return False
    return True if is_whole and found is not Judgement.NOT_KNOWN else None


def _print_json(listing: Listing, judged: Sequence[JudgedDisk]) -> None:
    found = _overall(listing, judged)
    known = not _not_judged(listing, judged) and all(disk.aligned is not None for disk in judged)
    print_json(
        {
            "aligned": _aligned(found, is_whole=known),
            "verdict": found.value,
            "read_as": listing.read_as,
            "disks": [_as_json(disk) for disk in judged],
            "unread": [each.to_json() for each in listing.unread],
        }
    )


def _as_json(disk: JudgedDisk) -> dict[str, Any]:
    listed = disk.listed
    return {
        "name": listed.name,
        "sector_bytes": listed.sector_bytes,
        "physical_bytes": listed.physical_bytes,
        "optimal_bytes": listed.optimal_bytes,
        "capacity_bytes": listed.capacity,
        "aligned": disk.aligned,
        "verdict": disk.judgement.value,
        "not_listed": listed.unseen or None,
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
        "verdict": judged.judgement.value,
        "to_the_listings_precision": judged.as_printed,
        "judged": not listed.idle,
        "why_not_judged": listed.idle or None,
        "fits": [
            {
                "unit": unit.name,
                "bytes": unit.bytes,
                "required": unit.required,
                "standing": unit.standing.value,
                "fits": fits,
            }
            for unit, fits in judged.fits
        ],
        "remedy": judged.remedy or None,
    }


def _print_text(listing: Listing, judged: Sequence[JudgedDisk]) -> None:
    print_line(f"Read as: {'; '.join(listing.read_as)}.")
    for disk in judged:
        _print_disk(disk, is_whole=not listing.unread)
    if listing.unread:
        unread = [each.told() for each in listing.unread]
        print_list("Not understood, and so not judged", unread)
    if any(disk.judgement is Judgement.NOT_KNOWN and not disk.listed.unseen for disk in judged):
        print_paragraph(f"To know more, {_ASK}.")


def _print_disk(disk: JudgedDisk, *, is_whole: bool) -> None:
    print_text("")
    print_line(_heading(disk.listed))
    _print_partitions(disk)
    for note in disk.listed.notes:
        print_paragraph(f"Note: {note}.")
    if disk.listed.unseen:
        print_paragraph(f"Not judged: {disk.listed.unseen}.")
    if is_whole or disk.judgement is not Judgement.ALIGNED or not disk.judged:
        print_paragraph(_verdict(disk))
    else:
        print_paragraph("What was understood fits every unit; what was not, see below, may not.")
    mends = [f"{each.listed.name}: {each.remedy}" for each in disk.partitions if each.remedy]
    if mends and disk.judgement is Judgement.MISALIGNED:
        print_list("Remedies (ssdlab align move shows how)", mends)
    elif mends:
        print_list("Where they fit both, once they are made anew", mends)


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
    return f"{unit.name}{size_of(unit)}" + ("" if unit.judged else " (not judged)")


def _place(start: Start, sector: int) -> tuple[str, str]:
    if start.exact:
        return str(start.low), decimal_text(start.low, sector)
    if start.high is None:
        low = f"{start.low} + n × {start.step}" if start.step > 1 else "not listed"
        return low, text.NOTHING
    low, high = (decimal_text(place, sector) for place in (start.low, start.high))
    return f"{start.low} to {start.high}", f"{low} to {high}"


def _remark(judged: JudgedPartition) -> str:
    if judged.listed.idle:
        return f"not judged: {judged.listed.idle}"
    if judged.as_printed:
        return "to the listing's precision"
    worst_of_all = next(
        (each for each in judged.findings if each.decides and not each.aligned), None
    )
    if worst_of_all is None:
        return ""
    if judged.judgement is Judgement.NOT_GOOD_PRACTICE:
        return "pages fit; 1 MiB is good practice"
    return f"writes that straddle: {writes_that_straddle(worst_of_all.straddling)}"


def _verdict(disk: JudgedDisk) -> str:
    found = disk.judgement
    if found is Judgement.MISALIGNED:
        return f"Misaligned: {_names(disk, found)}."
    if found is Judgement.NOT_GOOD_PRACTICE:
        return (
            f"Not on the grid that is good practice: {_names(disk, found)}. What is a must fits: "
            "nothing has to be moved for it."
        )
    if found is Judgement.NOT_KNOWN:
        return "Not known: the listing does not show whether every partition fits."
    if not disk.judged:
        return "No partition is judged."
    if any(each.as_printed for each in disk.judged):
        return (
            "Aligned, to the listing's precision: it rounds, and every judged partition begins "
            "where it fits, or so close to it that the listing cannot tell them apart."
        )
    return "Aligned: every judged partition fits every unit."


def _names(disk: JudgedDisk, found: Judgement) -> str:
    return ", ".join(each.listed.name for each in disk.judged if each.judgement is found)
