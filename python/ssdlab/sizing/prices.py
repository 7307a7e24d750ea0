"""Prices, from the buyer's own table: ``drive,price``, in whatever currency the buyer counts."""

from __future__ import annotations

import csv
import io
import math

from ssdlab.errors import SsdlabError
from ssdlab.input import InputError, read_text

_HEADER = ["drive", "price"]


def read_prices(path: str) -> dict[str, float]:
    """Read prices by drive.

    Parameters
    ----------
    path
        A CSV file, whose first line is ``drive,price``; ``-`` is standard input.

    Raises
    ------
    SsdlabError
        It cannot be read, or a line is not a drive and a number above 0.
    """
    try:
        content = read_text(path)
    except FileNotFoundError:
        raise SsdlabError(f"--prices {path}: no such file") from None
    except InputError as error:
        raise SsdlabError(f"--prices {path}: cannot be read: {error}") from None
    rows = csv.reader(io.StringIO(content))
    try:
        header = next(rows, [])
        if [word.strip().lower() for word in header] != _HEADER:
            raise SsdlabError(f"--prices {path}: the first line must be {','.join(_HEADER)}")
        return dict(_price(path, rows.line_num, row) for row in rows if row)
    except csv.Error as error:
        raise SsdlabError(f"--prices {path}, line {rows.line_num}: {error}") from None


def _price(path: str, line: int, row: list[str]) -> tuple[str, float]:
    try:
        drive, price = row
        number = float(price)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise SsdlabError(
            f"--prices {path}, line {line}: {','.join(row)}: expected a drive and a price above 0, "
            "such as intel-dc-s3500-80gb,110"
        )
    return drive.strip(), number
