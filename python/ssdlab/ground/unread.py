"""What a reader of foreign input did not understand: quoted, so that nothing vanishes.

A reader that meets a row, a field, a unit or a version that it does not know keeps it as `Unread`
and goes on. Whoever judges the input then shows it and answers "not judged" (`Exit.NOT_JUDGED`)
where nothing worse was found, never "fine".
"""

from __future__ import annotations

from dataclasses import dataclass

_QUOTED_SIGNS = 120


@dataclass(frozen=True)
class Unread:
    """A part of an input that its reader does not understand.

    Attributes
    ----------
    where
        Its place: ``line 12``, or a JSON path such as ``jobs[0].read``.
    quoted
        The part itself, as it stands there.
    why
        What is not understood about it, and what would be.
    """

    where: str
    quoted: str
    why: str

    def told(self) -> str:
        """Say it in one line."""
        text = " ".join(self.quoted.split())
        cut = text if len(text) <= _QUOTED_SIGNS else text[: _QUOTED_SIGNS - 1] + "…"
        return f"{self.where} is not understood: “{cut}”: {self.why}"

    def to_json(self) -> dict[str, str]:
        """Give it to programs."""
        return {"where": self.where, "quoted": self.quoted, "why": self.why}
