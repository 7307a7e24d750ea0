"""What a vendor's attributes mean: the database, kept as data in ``ssdlab/data/wear``.

An attribute's number means nothing by itself: 202 is the life of a Crucial, the exceptions of a
Samsung and an address mark of a hard disk. So an entry belongs to a family of drives, told by
model name or by smartctl's family name, and says what is read (the normalised value, the raw
number or some of its bits), which way it runs and in which unit.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_text
from ssdlab.real.smart.report import DriveReport

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MEANINGS = {
    "life left": "percent of the rated life that is left",
    "life used": "percent of the rated life that is used",
    "spare left": "percent of the spare blocks that are left",
    "host written": "bytes written by the host",
    "host read": "bytes read by the host",
    "flash written": "bytes programmed into flash; several add up",
    "host pages": "flash pages programmed for the host",
    "other pages": "flash pages programmed for the drive itself",
    "average erases": "mean erase count of the blocks",
    "rated erases": "erases of a block that the maker allows for",
    "power-loss protection": "normalised result of the capacitors' self-test, 100 is good",
    "errors": "a count that should not grow",
    "temperature": "degrees Celsius",
}
"""What an attribute can mean."""

_KEYS = {"id", "means", "read", "bits", "unit_bytes", "warning", "critical", "name", "source"}
_FAMILY_KEYS = {
    "family",
    "models",
    "families",
    "products",
    "firmware",
    "not_told",
    "source",
    "attribute",
}


@dataclass(frozen=True)
class Meaning:
    """What one attribute of a family means.

    Attributes
    ----------
    id
        The attribute's number.
    means
        One of `MEANINGS`.
    read
        ``value`` (normalised) or ``raw``.
    bits
        First and end bit of the raw number that count.
    unit_bytes
        Bytes of one step of the number.
    warning, critical
        Limits of its own: what counts down alarms below them, what counts up at them.
    name
        What the vendor calls it.
    source
        Who says so.
    """

    id: int
    means: str
    read: str
    bits: tuple[int, int] | None
    unit_bytes: int
    warning: float | None
    critical: float | None
    name: str
    source: str

    def number(self, report: DriveReport) -> int | None:
        """Read the attribute from a report, in bytes, percent or pieces."""
        attribute = report.attributes.get(self.id)
        if attribute is None:
            return None
        if self.read == "value":
            return attribute.value
        if attribute.raw is None or (self.bits and attribute.is_cut):
            return None
        first, end = self.bits or (0, 64)
        return (attribute.raw >> first & (1 << end - first) - 1) * self.unit_bytes

    @property
    def alarms_below(self) -> bool:
        """Whether less is worse."""
        return self.means in ("life left", "spare left", "power-loss protection")


@dataclass(frozen=True)
class Family:
    """Drives whose attributes mean the same.

    Attributes
    ----------
    name
        What people call them.
    models, families
        Patterns of the model's name and of smartctl's family name.
    products, firmware
        Patterns that narrow those down: of the additional product, which tells of firmware that is
        not the maker's, and of the firmware's version; none means any.
    meanings
        Of their attributes.
    not_told
        Why their attributes say nothing about life; empty where they do.
    source
        Where the meanings are from.
    """

    name: str
    models: tuple[re.Pattern[str], ...]
    families: tuple[re.Pattern[str], ...]
    products: tuple[re.Pattern[str], ...]
    firmware: tuple[re.Pattern[str], ...]
    meanings: tuple[Meaning, ...]
    not_told: str
    source: str

    def has_model(self, report: DriveReport) -> bool:
        """Whether the drive is one of them by what it says of itself: model, product, firmware."""
        return _any(self.models, report.model) and self._is_narrowed_to(report)

    def has_family(self, report: DriveReport) -> bool:
        """Whether the drive is one of them by smartctl's family name."""
        return _any(self.families, report.family) and self._is_narrowed_to(report)

    def _is_narrowed_to(self, report: DriveReport) -> bool:
        narrower = ((self.products, report.product), (self.firmware, report.firmware))
        return all(_any(patterns, told) for patterns, told in narrower if patterns)

    def of(self, means: str) -> list[Meaning]:
        """Give the attributes with one meaning."""
        return [meaning for meaning in self.meanings if meaning.means == means]


def _any(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    return any(pattern.match(text) for pattern in patterns)


def family_of(report: DriveReport, overrides: Iterable[Family] = ()) -> Family | None:
    """Find the family of a drive; the user's own come first.

    The model goes before smartctl's family name, which holds drives of several kinds: SanDisk's SSD
    Plus is among the "SandForce Driven SSDs". Of families that fit, the first by file and place is
    taken, so that narrow ones stand before wide ones.
    """
    for known in (tuple(overrides), built_in()):
        for fits in (Family.has_model, Family.has_family):
            for family in known:
                if fits(family, report):
                    return family
    return None


@cache
def built_in() -> tuple[Family, ...]:
    """Read the families that come along."""
    folder = files("ssdlab.data").joinpath("wear")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return tuple(
        family
        for name in names
        for family in parse_families(folder.joinpath(name).read_text(encoding="utf-8"), name)
    )


def read_overrides(path: str) -> tuple[Family, ...]:
    """Read families of the user's own.

    Raises
    ------
    SsdlabError
        The file cannot be read, or says what is not understood.
    """
    try:
        content = read_text(path)
    except (FileNotFoundError, InputError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SsdlabError(f"--meanings {path}: cannot be read: {reason}") from None
    return parse_families(content, path)


def parse_families(content: str, source: str) -> tuple[Family, ...]:
    """Read families from TOML.

    Raises
    ------
    SsdlabError
        With file, family, key and value of what is not understood.
    """
    try:
        document = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise SsdlabError(f"{source}: {error}") from None
    entries = document.get("drive")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise SsdlabError(f'{source}: no drives; write [[drive]] with family = "…" and models')
    _refuse_unknown(document, {"drive"}, source)
    return tuple(_family(entry, source) for entry in entries)


def _family(entry: Mapping[str, Any], source: str) -> Family:
    name = _text(entry, "family", source)
    place = f"{source}: family {name!r}"
    _refuse_unknown(entry, _FAMILY_KEYS, place)
    attributes = entry.get("attribute", [])
    if not name or not isinstance(attributes, list):
        raise SsdlabError(f"{place}: a family needs a name and [[drive.attribute]] entries")
    default_source = _text(entry, "source", place, source)
    family = Family(
        name=name,
        models=_patterns(entry.get("models", []), place),
        families=_patterns(entry.get("families", []), place),
        products=_patterns(entry.get("products", []), place),
        firmware=_patterns(entry.get("firmware", []), place),
        meanings=tuple(_meaning(each, place, default_source) for each in attributes),
        not_told=_text(entry, "not_told", place),
        source=default_source,
    )
    if not family.models and not family.families:
        raise SsdlabError(
            f'{place}: no drive is of it\nsay which are: models = ["INTEL SSDSC2.*"], or families'
        )
    return family


def _patterns(texts: object, place: str) -> tuple[re.Pattern[str], ...]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise SsdlabError(
            f'{place}: models, families, products, firmware are lists, such as ["INTEL SSDSC2.*"]'
        )
    try:
        return tuple(re.compile(f"(?:{text})$", re.IGNORECASE) for text in texts)
    except re.error as error:
        raise SsdlabError(f"{place}: pattern {error.pattern!r}: {error}") from None


def _meaning(entry: object, place: str, source: str) -> Meaning:
    if not isinstance(entry, Mapping):
        raise SsdlabError(f"{place}: an attribute is a table with id and means")
    place = f"{place}: attribute {entry.get('id')}"
    _refuse_unknown(entry, _KEYS, place)
    number, means = entry.get("id"), entry.get("means")
    if type(number) is not int or not 0 < number < 256:
        raise SsdlabError(f"{place}: id is a number from 1 to 255")
    if means not in MEANINGS:
        raise SsdlabError(f"{place}: means = {means!r}: expected one of {', '.join(MEANINGS)}")
    read = entry.get("read", "value")
    if read not in ("value", "raw"):
        raise SsdlabError(f'{place}: read = {read!r}: expected "value" or "raw"')
    meaning = Meaning(
        id=number,
        means=str(means),
        read=read,
        bits=_bits(entry.get("bits"), place),
        unit_bytes=_unit(entry.get("unit_bytes", 1), place),
        warning=_limit(entry.get("warning"), place),
        critical=_limit(entry.get("critical"), place),
        name=_text(entry, "name", place),
        source=_text(entry, "source", place, source),
    )
    for key in ("bits", "unit_bytes"):
        if key in entry and read != "raw":
            raise SsdlabError(f'{place}: {key} is of the raw number\nadd read = "raw"')
    return meaning


def _bits(value: object, place: str) -> tuple[int, int] | None:
    if value is None:
        return None
    if (
        isinstance(value, list)
        and len(value) == 2
        and all(type(bit) is int for bit in value)
        and 0 <= value[0] < value[1] <= 64
    ):
        return value[0], value[1]
    raise SsdlabError(f"{place}: bits = {value!r}: expected first and end bit, such as [8, 16]")


def _unit(value: object, place: str) -> int:
    if type(value) is int and value > 0:
        return value
    raise SsdlabError(f"{place}: unit_bytes = {value!r}: expected a number of bytes")


def _limit(value: object, place: str) -> float | None:
    if value is None or isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise SsdlabError(f"{place}: a limit is a number, not {value!r}")


def _text(entry: Mapping[str, Any], key: str, place: str, default: str = "") -> str:
    value = entry.get(key, default)
    if isinstance(value, str):
        return value
    raise SsdlabError(f"{place}: {key} = {value!r}: expected a text, in quotes")


def _refuse_unknown(entry: Mapping[str, Any], known: set[str], place: str) -> None:
    for key in entry:
        if key not in known:
            raise SsdlabError(f"{place}: unknown key {key!r}; there are {', '.join(sorted(known))}")
