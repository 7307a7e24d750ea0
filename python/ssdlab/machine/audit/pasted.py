"""Texts as they were pasted, line by line: what no reader takes is quoted, so that none vanishes.

A reader marks the lines that it understands. It refuses, with the reason, a line that it recognises
and cannot make sense of. No reader knows the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ssdlab.ground.unread import Unread
from ssdlab.machine.align.listings.notices import is_typed

_NOT_KNOWN = "no known tool prints such a row here"


@dataclass
class PastedLine:
    """A line.

    Attributes
    ----------
    where
        Its file and number.
    text
        What stands there.
    is_taken
        A reader understood it.
    refusal
        Why it makes no sense where it stands; empty if it does, or if nobody knows it.
    """

    where: str
    text: str
    is_taken: bool = False
    refusal: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it says something that no reader looked at."""
        return bool(self.text.strip()) and not self.is_taken and not self.refusal

    def take(self) -> None:
        """Mark it as understood."""
        self.is_taken = True

    def refuse(self, why: str) -> None:
        """Mark it as recognised, but not understood."""
        self.refusal = self.refusal or why


class Pasted:
    """The lines of one or several files of one machine."""

    def __init__(self, files: Iterable[list[PastedLine]]) -> None:
        self.lines: list[PastedLine] = []
        for lines in files:
            # An empty line ends what the file before has begun.
            self.lines += [*lines, PastedLine("", "")]

    def blocks(self) -> Iterator[list[PastedLine]]:
        """Give the runs of lines between empty ones."""
        block: list[PastedLine] = []
        for line in self.lines:
            if line.text.strip():
                block.append(line)
            elif block:
                yield block
                block = []


def lines_of(name: str, text: str) -> list[PastedLine]:
    """Give the lines of a file with their numbers."""
    rows = enumerate(text.splitlines(), 1)
    return [PastedLine(f"{name}, line {number}", row) for number, row in rows]


def not_understood(lines: Iterable[PastedLine]) -> list[Unread]:
    """Give what no reader understood; commands as they were typed say nothing of the machine."""
    return [
        Unread(line.where, line.text, line.refusal or _NOT_KNOWN)
        for line in lines
        if line.refusal or (line.is_open and not is_typed(line.text))
    ]
