"""One self-contained HTML page from results: readable on screen, in the dark and on paper."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from ssdlab.engine.result import Result
from ssdlab.ground.output import PendingFile
from ssdlab.report.opening import Opener
from ssdlab.report.printing import write_page

__all__ = ["write_report"]


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """Leave out that the home cannot be written to: charts are drawn all the same."""
    return record.funcName != "_get_config_or_cache_dir"


logging.getLogger("matplotlib").addFilter(_is_worth_telling)


def write_report(
    results: Sequence[Result],
    path: str | Path,
    *,
    title: str | None = None,
    opening: Opener | None = None,
) -> None:
    """Write the page.

    Parameters
    ----------
    results
        In the order in which they shall appear.
    path
        Where the page shall be; it is printed as PDF where this ends in ``.pdf``.
    title
        The heading; by default that of the opening.
    opening
        Makes what the page opens with; without it, that is an overview of the runs.

    Raises
    ------
    SsdlabError
        The place cannot be written to, or the results hold no jobs.
    """
    with PendingFile(path, "-o") as pending:
        # The drawing library takes a while to load, and most commands draw nothing.
        from ssdlab.report.page import build_html

        write_page(pending, build_html(results, title, opening), path)
