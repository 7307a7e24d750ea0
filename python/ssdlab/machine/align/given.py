"""The keys of one layer as they were given, read with their units and refused by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align.notation import LARGEST_BYTES, Geometry, parse_position


def hint(word: str, known: Sequence[str], also: Sequence[str] = ()) -> str:
    """Name what was likely meant, of `also` too, or all that is known."""
    near = difflib.get_close_matches(word, (*known, *also), n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"


class Given:
    """What was given for one layer.

    Parameters
    ----------
    values
        Keys and values; numbers may be numbers or text.
    sizes
        Known keys of sizes; with ``_bytes`` or ``_sector`` behind them the value needs no unit.
    words
        Other known keys.
    place
        For messages.
    geometry
        What a sector holds.

    Raises
    ------
    SsdlabError
        A key is unknown.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        sizes: Sequence[str],
        words: Sequence[str],
        place: str,
        geometry: Geometry,
    ) -> None:
        self._values = values
        self.place = place
        self._geometry = geometry
        keys = (*sizes, *words)
        spellings = [spelling for key in sizes for spelling in self._spellings(key)]
        for key in values:
            if key not in words and key not in spellings:
                raise SsdlabError(f"{place}: unknown key {key}; {hint(key, keys, spellings)}")

    def _spellings(self, key: str) -> dict[str, int]:
        return {key: 0, f"{key}_bytes": 1, f"{key}_sector": self._geometry.sector_bytes}

    def has(self, key: str) -> bool:
        """Whether a key was given, in whichever spelling."""
        return any(name in self._values for name in self._spellings(key))

    def refuse(self, keys: Sequence[str], because: str) -> None:
        """Refuse keys that would say nothing here."""
        for key in keys:
            if self.has(key):
                raise SsdlabError(
                    f"{self.place}: {key} has no effect here: {because}; leave it out"
                )

    def size(self, key: str, default: int | None = None, least: int = 0) -> int:
        """Take a size; a whole number of sectors."""
        units = self._spellings(key)
        given = [name for name in units if name in self._values]
        if len(given) > 1:
            raise SsdlabError(f"{self.place}: {' and '.join(given)} say the same; give one of them")
        if not given:
            if default is None:
                raise SsdlabError(f"{self.place}: {key} is missing; write {key}=… with its unit")
            return default
        name, sector = given[0], self._geometry.sector_bytes
        number = self._bytes(name, units[name])
        if number % sector or number < least:
            least = max(least, sector) if least else 0
            raise SsdlabError(
                f"{self.place}: {name} {self._values[name]}: expected a whole number of "
                f"{sector}-byte sectors, {least} bytes or more"
            )
        return number

    def _bytes(self, name: str, unit: int) -> int:
        value = self._values[name]
        where = f"{self.place}: {name}"
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise SsdlabError(f'{where}: {value!r} is not a size; write it as "1MiB" or "2048s"')
        if unit and value.isdecimal():
            if len(value) > 25 or int(value) * unit > LARGEST_BYTES:
                raise SsdlabError(f"{where}: {value} is more than any drive has; correct it")
            return int(value) * unit
        return parse_position(value, where, self._geometry)

    def count(self, key: str, default: int, least: int, most: int) -> int:
        """Take a number."""
        value = self._values.get(key, default)
        text = str(value)
        number = int(text) if text.isdecimal() and text.isascii() and len(text) < 12 else -1
        if not least <= number <= most:
            raise SsdlabError(f"{self.place}: {key} {value}: expected {least} to {most}")
        return number

    def word(self, key: str, default: str | None, choices: Sequence[str]) -> str:
        """Take one of a few words."""
        value = self._values.get(key)
        if value is None and default is not None:
            return default
        if str(value) not in choices:
            said = "is missing" if value is None else f"{value} is unknown"
            raise SsdlabError(f"{self.place}: {key} {said}; choose from {', '.join(choices)}")
        return str(value)
