"""A part of a report, value by value: what is not understood is kept as `Unread`, never dropped.

`untrusted` gives what is of the kind asked for; here whatever is there and is of another kind, out
of its range or under a name that nobody knows is noted with its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ssdlab.ground.unread import Unread
from ssdlab.ground.untrusted import real, text, whole

LARGEST = 2**128
_EXACT = ("_s", "_le")
"""Endings of what smartctl writes beside a counter beyond 2^53: its digits, and its bytes."""
_GROUPS = re.compile(r"[1-9]\d{0,2}(?:([.,' \u00a0\u202f\u2019])\d{3})(?:\1\d{3})*")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,32}")


class Told:
    """An object of a report.

    Parameters
    ----------
    content
        The object.
    where
        Its place, such as ``nvme_smart_health_information_log``; empty of the whole report.
    unread
        Receives what is not understood; one list for the whole report.
    """

    def __init__(self, content: Mapping[str, Any], where: str, unread: list[Unread]) -> None:
        self._content, self._where, self._unread = content, where, unread

    def __bool__(self) -> bool:
        """Whether there is anything in it."""
        return bool(self._content)

    def place(self, key: str) -> str:
        """Name the place of a value."""
        return f"{self._where}.{key}" if self._where else key

    def note(self, key: str, why: str) -> None:
        """Note that a value is not understood."""
        self._unread.append(Unread(self.place(key), _quoted(self._content.get(key)), why))

    def only(self, known: Collection[str]) -> Told:
        """Note every name that is not among the known ones; gives the object itself."""
        for key in self._content:
            plain = next((key[: -len(end)] for end in _EXACT if key.endswith(end)), key)
            if key not in known and plain not in known:
                self.note(key, "no field of this name is known here")
        return self

    def names(self) -> list[str]:
        """Return the names of all that is there."""
        return list(self._content)

    def has(self, key: str) -> bool:
        """Whether a value is there, whatever it is."""
        return key in self._content

    def number(self, key: str, most: int = LARGEST) -> int | None:
        """Read a whole number from 0 to the most that it can be."""
        exact = whole(self._content.get(f"{key}_s"))
        if key not in self._content:
            return exact
        value = exact if exact is not None else count_in(self._content[key])
        if value is None or value > most:
            limit = f" from 0 to {most}" if most < LARGEST else ""
            self.note(key, f"a whole number{limit} was expected")
            return None
        return value

    def real(self, key: str, least: float, most: float) -> float | None:
        """Read a number between bounds."""
        if key not in self._content:
            return None
        value = real(self._content[key])
        if value is None or not least <= value <= most:
            self.note(key, f"a number from {least:g} to {most:g} was expected")
            return None
        return value

    def truth(self, key: str) -> bool | None:
        """Read true or false."""
        value = self._content.get(key)
        if key in self._content and not isinstance(value, bool):
            self.note(key, "true or false was expected")
        return value if isinstance(value, bool) else None

    def text(self, key: str) -> str:
        """Read a text in one line; empty where there is none."""
        value = self._content.get(key, "")
        if not isinstance(value, str):
            self.note(key, "a text was expected")
        return text(value)

    def part(self, key: str) -> Told:
        """Read an object; an empty one where there is none."""
        value = self._content.get(key, {})
        if not isinstance(value, Mapping):
            self.note(key, "an object was expected")
        return Told(value if isinstance(value, Mapping) else {}, self.place(key), self._unread)

    def rows(self, key: str) -> Iterator[Told]:
        """Read the objects of a list."""
        value = self._content.get(key, [])
        if not isinstance(value, list):
            self.note(key, "a list was expected")
            return
        for place, entry in enumerate(value):
            where = f"{self.place(key)}[{place}]"
            if isinstance(entry, Mapping):
                yield Told(entry, where, self._unread)
            else:
                self._unread.append(Unread(where, _quoted(entry), "an object was expected"))


def count_in(value: object) -> int | None:
    """Read a whole number that is not negative, also from text: ``8``, ``0x08``, ``1,302``.

    Examples
    --------
    >>> count_in("1,302"), count_in("0x08"), count_in("250.059.350.016"), count_in("50 Celsius")
    (1302, 8, 250059350016, None)
    """
    if isinstance(value, float) and not value.is_integer():
        return None
    if isinstance(value, str):
        value = value.strip()
        if _HEXADECIMAL.fullmatch(value):
            return int(value, 16)
        if _GROUPS.fullmatch(value):
            value = re.sub(r"\D", "", value)
    return whole(value)


def _quoted(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)[:2000]
    except (ValueError, RecursionError):
        return "…"
