"""The report of a PTS result: one self-contained page, or a PDF, from the folder of a result.

It can be made at any time, also of a run that has not ended: all figures follow from the rounds
that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ssdlab.bench.report.reading import not_judged
from ssdlab.bench.report.sources import read_results
from ssdlab.ground.output import PendingFile
from ssdlab.ground.unread import Unread
from ssdlab.report.printing import is_pdf, write_page

__all__ = ["write_pts_report"]


def write_pts_report(
    results: Sequence[str | Path], path: str | Path, *, title: str | None = None
) -> list[Unread]:
    """Write the page; a PDF where the name ends in ``.pdf``.

    Parameters
    ----------
    results
        Folders that `ssdlab pts … -o DIR` wrote, and result files of TKperf; several are drawn
        together.
    path
        Where the page is written.
    title
        The heading; by default it names the drives.

    Returns
    -------
    list
        What was not understood in the results.

    Raises
    ------
    SsdlabError
        One of them is no such result, the place cannot be written to, or there is no browser that
        prints.
    """
    with PendingFile(path, "-o") as pending:
        measured = read_results([Path(result) for result in results])
        # The drawing library takes a while to load.
        from ssdlab.bench.report.page import build_html

        html = build_html(measured, title, interactive=not is_pdf(path))
        write_page(pending, html, path)
    return not_judged(measured)
