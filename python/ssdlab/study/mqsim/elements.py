"""What MQSim's XML says: elements by name, read strictly; what is no part of its form is named.

Units are those of MQSim (snapshot 7ec40e3, read from its own example): times in ns, the transfer
rate in 10⁶ transfers a second, lane bandwidth in GB/s, sizes in bytes, of requests in sectors. An
element that is missing or has another kind of value is refused with its name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.xml_input import XmlError, read_xml

T = TypeVar("T")
CONFIGURATION = "Execution_Parameter_Set"
WORKLOAD = "MQSim_IO_Scenarios"
_REMEDY = "give a configuration (ssdconfig.xml) or a workload (workload.xml) of MQSim"
_MOST_DEPTH = 8
_MOST_COUNT = 2**63 - 1


class Elements:
    """The elements of a part of a document; it remembers which were asked for.

    Parameters
    ----------
    place
        The file, and the part of it, for messages.
    leaves
        The elements; where two have one name, the last counts, as in MQSim.
    """

    def __init__(self, place: str, leaves: list[ElementTree.Element]) -> None:
        self.place = place
        self._values = {each.tag: (each.text or "").strip() for each in leaves}
        self._asked: set[str] = set()

    def number(self, name: str) -> float:
        """Return a number above zero, or zero."""
        value = self._value(name, float, "a number")
        if not 0 <= value < float("inf"):
            raise self.refused(f"{name}: {value:g}: must be 0 or more")
        return value

    def count(self, name: str, least: int = 1, most: int = _MOST_COUNT) -> int:
        """Return a whole number from the least to the most."""
        value = self._value(name, _whole, "a whole number")
        if value < least:
            raise self.refused(f"{name}: {value}: must be {least} or more")
        if value > most:
            raise self.refused(f"{name}: {value}: must be {most} or less")
        return value

    def is_true(self, name: str) -> bool:
        """Return a truth value."""
        return self.word(name, ("true", "false")) == "true"

    def word(self, name: str, known: tuple[str, ...]) -> str:
        """Return one of some words, whatever the case."""
        value = self.text(name)
        for each in known:
            if each.lower() == value.lower():
                return each
        raise self.refused(f"{name}: {value[:40]}: must be one of {', '.join(known)}")

    def text(self, name: str) -> str:
        """Return a text, such as a file's name."""
        return self._value(name, str, "a text")

    def pass_over(self, *names: str) -> None:
        """Take elements for known that change nothing."""
        self._asked.update(names)

    def unasked(self) -> list[str]:
        """Return the names of elements that nobody asked for, in the file's order."""
        return [name for name in self._values if name not in self._asked]

    def refused(self, what: str) -> SsdlabError:
        """Return an error that says what is wrong here."""
        return refused(self.place, what)

    def _value(self, name: str, kind: Callable[[str], T], expected: str) -> T:
        self._asked.add(name)
        text = self._values.get(name)
        if text is None:
            raise self.refused(f"there is no <{name}>")
        try:
            return kind(text)
        except ValueError:
            raise self.refused(f"{name}: {text[:40]!r}: must be {expected}") from None


def read_document(path: Path) -> ElementTree.Element:
    """Return the root of a configuration or of a workload definition.

    Raises
    ------
    SsdlabError
        It cannot be read, or is neither.
    """
    try:
        root = read_xml(path, _MOST_DEPTH)
    except XmlError as error:
        raise refused(path, str(error)) from None
    if root.tag not in (CONFIGURATION, WORKLOAD):
        known = f"not with <{CONFIGURATION}> or <{WORKLOAD}>"
        raise refused(path, f"begins with <{root.tag[:40]}>, {known}")
    return root


def not_of_the_form(root: ElementTree.Element) -> list[str]:
    """Name what no document of MQSim has: attributes, and words between elements."""
    found = []
    for each in root.iter():
        found += [f"attribute {name[:40]} of <{each.tag[:40]}>" for name in each.attrib]
        # What follows an element belongs to the one around it.
        between = [each.text] if len(each) else []
        between += [child.tail for child in each]
        words = [text.strip() for text in between if text and text.strip()]
        found += [f"words {text[:40]!r} in <{each.tag[:40]}>" for text in words]
    return found


def inside(element: ElementTree.Element) -> list[str]:
    """Name the elements in one that should have none, such as a number."""
    return [f"<{each.tag[:40]}> in <{element.tag[:40]}>" for each in element.iter()][1:]


def refused(place: Path | str, what: str, remedy: str = _REMEDY) -> SsdlabError:
    """Return an error that says what is wrong in a file."""
    return SsdlabError(f"{place}: {what}\n{remedy}")


def _whole(text: str) -> int:
    """Return a whole number; what only Python takes for one is none."""
    if not (text.isascii() and text.removeprefix("-").isdigit()):
        raise ValueError(text)
    return int(text)
