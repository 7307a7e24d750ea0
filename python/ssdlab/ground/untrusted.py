"""Values out of JSON that nobody vouches for: what is not of the kind asked for is not there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any


def mapping(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Read an object; an empty one where there is none."""
    value = content.get(key)
    return value if isinstance(value, Mapping) else {}


def entries(value: object) -> Iterator[Mapping[str, Any]]:
    """Read the objects of a list."""
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, Mapping))


def text(value: object) -> str:
    """Read a text in one line, without the blanks around it; empty where there is none.

    What would move a terminal's cursor becomes a blank.
    """
    if not isinstance(value, str):
        return ""
    return "".join(sign if sign.isprintable() else " " for sign in value).strip()


def truth(value: object) -> bool | None:
    """Read true or false."""
    return value if isinstance(value, bool) else None


def number(content: Mapping[str, Any], key: str) -> int | None:
    """Read a counter: the exact text beside it before the number itself."""
    exact = whole(content.get(f"{key}_s"))
    return exact if exact is not None else whole(content.get(key))


def whole(value: object) -> int | None:
    """Read a whole number that is not negative, also from text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 0 <= value < 2**128 else None
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and 0 <= value < 2**128 else None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 40:
        return int(value)
    return None


def real(value: object) -> float | None:
    """Read a number of everyday size."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if -1e6 < value < 1e6 else None
