"""Tables that people write as CSV: a header of known columns, a line an entry.

Left out: what a cell means, which its reader says.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_text

TableLine = tuple[str, dict[str, str]]
"""Where a line stands, and its cells by column; an optional one that is missing is empty."""


def rows(path: Path, needed: Sequence[str], optional: Sequence[str], what: str) -> list[TableLine]:
    """Read the lines of a table.

    Parameters
    ----------
    needed, optional
        Names of columns, which may come in any order.
    what
        What a line is, such as ``measurements``.

    Raises
    ------
    SsdlabError
        It cannot be read, its header is another one, it has no lines, or one has too many or too
        few cells; file, line and value are named.
    """
    try:
        document = read_text(path)
    except FileNotFoundError:
        raise SsdlabError(f"{path}: cannot be read: No such file or directory") from None
    except InputError as error:
        raise SsdlabError(f"{path}: cannot be read: {error}") from None
    lines = csv.reader(io.StringIO(document.removeprefix("\ufeff")), skipinitialspace=True)
    try:
        header = [each.strip() for each in next(lines, [])]
        _check_header(path, header, needed, optional)
        read = [(f"{path}:{lines.line_num}", cells) for cells in lines]
    except csv.Error as error:
        raise SsdlabError(f"{path}:{lines.line_num}: {error}\nquote cells with commas") from None
    found = [
        _row(place, header, cells, needed, optional)
        for place, cells in read
        if any(cell.strip() for cell in cells)
    ]
    if not found:
        raise SsdlabError(f"{path}: no {what} in it\nadd a line each below the header")
    return found


def number(place: str, what: str, value: str, most: float = math.inf) -> float:
    """Read a number above 0.

    Raises
    ------
    SsdlabError
        It is none, or above what it may be at most.
    """
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if not (math.isfinite(found) and 0 < found <= most):
        bound = "" if math.isinf(most) else f" and at most {most:g}"
        raise SsdlabError(
            f"{place}: {what} {value or '(empty)'}: must be a number above 0{bound}\n"
            "write it with a point and without a unit, such as 9100 or 0.02"
        )
    return found


def _check_header(
    path: Path, header: list[str], needed: Sequence[str], optional: Sequence[str]
) -> None:
    missing = [name for name in needed if name not in header]
    strange = [name for name in header if name not in (*needed, *optional)]
    if missing or strange or len(set(header)) < len(header):
        wrong = f"no column {missing[0]}" if missing else f"column {(strange or header)[0]!r}"
        raise SsdlabError(
            f"{path}:1: {wrong}\nthe first line is {','.join((*needed, *optional))}; "
            f"{', '.join(optional)} may be left out"
        )


def _row(
    place: str,
    header: list[str],
    cells: list[str],
    needed: Sequence[str],
    optional: Sequence[str],
) -> TableLine:
    if len(cells) > len(header):
        raise SsdlabError(
            f"{place}: {len(cells)} cells for {len(header)} columns\nquote cells with commas"
        )
    cut = [name for name in header[len(cells) :] if name in needed]
    if cut:
        raise SsdlabError(
            f"{place}: {','.join(cells)[:80]}: ends before its {cut[0]}\n"
            f"write a cell for each of {', '.join(header)}"
        )
    row = {name: "" for name in optional}
    row.update((name, cell.strip()) for name, cell in zip(header, cells, strict=False))
    return place, row
