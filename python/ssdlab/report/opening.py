"""What a page opens with: experiments of their own bring one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdlab.engine.result import Result


@dataclass(frozen=True)
class Opening:
    """What a page opens with.

    Attributes
    ----------
    title
        The heading.
    sentence
        What is shown, in one sentence.
    chart
        Inline SVG.
    headings, rows
        A table below the chart; empty for none.
    notes
        Paragraphs below the table.
    """

    title: str
    sentence: str
    chart: str | None
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()


Opener = Callable[[Sequence[Result]], Opening]
"""Makes an opening of results."""
