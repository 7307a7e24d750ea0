"""MQSim's `ssdconfig.xml`: its elements by name, read strictly.

Units are those of MQSim (snapshot 7ec40e3, read from its own example): times in ns, the transfer
rate in 10⁶ transfers a second, lane bandwidth in GB/s, sizes in bytes. An element that is missing
or has another kind of value is refused with its name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree

from ssdlab.errors import SsdlabError
from ssdlab.xml_input import XmlError, read_xml

T = TypeVar("T")
_ROOT = "Execution_Parameter_Set"
_REMEDY = "give a configuration of MQSim (ssdconfig.xml)"
_MOST_DEPTH = 8


class Configuration:
    """The elements of a configuration; it remembers which were asked for.

    Attributes
    ----------
    path
        The file.
    """

    def __init__(self, path: Path, values: dict[str, str]) -> None:
        self.path = path
        self._values = values
        self._asked: set[str] = set()

    @classmethod
    def read(cls, path: Path) -> Configuration:
        """Read a file.

        Raises
        ------
        SsdlabError
            It cannot be read, or is no configuration of MQSim.
        """
        root = _root(path)
        if root.tag != _ROOT:
            raise refused(path, f"begins with <{root.tag[:40]}>, not with <{_ROOT}>")
        leaves = (each for each in root.iter() if len(each) == 0)
        return cls(path, {each.tag: (each.text or "").strip() for each in leaves})

    def number(self, name: str) -> float:
        """Return a number above zero, or zero."""
        value = self._value(name, float, "a number")
        if not 0 <= value < float("inf"):
            raise refused(self.path, f"{name}: {value:g}: must be 0 or more")
        return value

    def count(self, name: str) -> int:
        """Return a whole number from 1."""
        value = self._value(name, int, "a whole number")
        if value < 1:
            raise refused(self.path, f"{name}: {value}: must be 1 or more")
        return value

    def is_true(self, name: str) -> bool:
        """Return a truth value."""
        return self.word(name, ("true", "false")) == "true"

    def word(self, name: str, known: tuple[str, ...]) -> str:
        """Return one of some words, whatever the case."""
        value = self._value(name, str, "a word")
        for each in known:
            if each.lower() == value.lower():
                return each
        raise refused(self.path, f"{name}: {value[:40]}: must be one of {', '.join(known)}")

    def unasked(self) -> list[str]:
        """Return the names of elements that nobody asked for, in the file's order."""
        return [name for name in self._values if name not in self._asked]

    def _value(self, name: str, kind: Callable[[str], T], expected: str) -> T:
        self._asked.add(name)
        text = self._values.get(name)
        if text is None:
            raise refused(self.path, f"there is no <{name}>")
        try:
            return kind(text)
        except ValueError:
            raise refused(self.path, f"{name}: {text[:40]!r}: must be {expected}") from None


def refused(path: Path, what: str, remedy: str = _REMEDY) -> SsdlabError:
    """Return an error that says what is wrong in a file."""
    return SsdlabError(f"{path}: {what}\n{remedy}")


def _root(path: Path) -> ElementTree.Element:
    try:
        return read_xml(path, _MOST_DEPTH)
    except XmlError as error:
        raise refused(path, str(error)) from None
