"""Prices, from the buyer's own table: ``drive,price``, in whatever currency the buyer counts."""

from __future__ import annotations

import csv
import difflib
import io
import math
from collections.abc import Collection

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_text

_HEADER = ["drive", "price"]
_REMEDY = "write drive,price, and below it a line for each drive, such as intel-dc-s3500-80gb,110"


def read_prices(path: str, known: Collection[str]) -> dict[str, float]:
    """Read prices by drive.

    Parameters
    ----------
    path
        A CSV file, whose first line is ``drive,price``; ``-`` is standard input.
    known
        Names of drives. What has a price under another name would be left without one.

    Raises
    ------
    SsdlabError
        It cannot be read, or a line is not a known drive and a number above 0, once each.
    """
    try:
        content = read_text(path)
    except FileNotFoundError:
        raise SsdlabError(f"--prices {path}: no such file\n{_REMEDY}") from None
    except InputError as error:
        raise SsdlabError(f"--prices {path}: cannot be read: {error}\n{_REMEDY}") from None
    rows = csv.reader(io.StringIO(content.removeprefix("\ufeff")), skipinitialspace=True)
    found: dict[str, float] = {}
    try:
        header = next(rows, [])
        if [word.strip().lower() for word in header] != _HEADER:
            what = _shown(header) or "(empty)"
            raise SsdlabError(
                f"--prices {path}, line 1: {what}: the first line must be {','.join(_HEADER)}"
                f"\n{_REMEDY}"
            )
        for row in rows:
            if row:
                _add(found, f"--prices {path}, line {rows.line_num}", row, known)
    except csv.Error as error:
        raise SsdlabError(f"--prices {path}, line {rows.line_num}: {error}\n{_REMEDY}") from None
    return found


def _add(found: dict[str, float], place: str, row: list[str], known: Collection[str]) -> None:
    drive, price = _price(place, row)
    if drive in found:
        raise SsdlabError(
            f"{place}: {drive}: has a price of {found[drive]:g} already\nleave one of them out"
        )
    if drive not in known:
        near = difflib.get_close_matches(drive, known, 1)
        did = f"did you mean {near[0]}? " if near else ""
        raise SsdlabError(
            f"{place}: {drive}: no drive of that name is known, so its price would go unused\n"
            f"{did}ssdlab drives lists the names; a profile of your own is named by --drive"
        )
    found[drive] = price


def _price(place: str, row: list[str]) -> tuple[str, float]:
    try:
        drive, price = row
        number = float(price)
    except ValueError:
        drive, number = "", math.nan
    if not (drive.strip() and math.isfinite(number) and number > 0):
        raise SsdlabError(
            f"{place}: {_shown(row)}: expected a drive and a price above 0, without a currency\n"
            f"{_REMEDY}"
        )
    return drive.strip(), number


def _shown(row: list[str]) -> str:
    return ",".join(row)[:80]
