"""The report of a sweep: one self-contained page, also of a sweep that is still under way."""

from __future__ import annotations

from pathlib import Path

from ssdlab.ground.output import PendingFile
from ssdlab.report.printing import write_page

__all__ = ["write_sweep_report"]


def write_sweep_report(folder: str | Path, path: str | Path, *, title: str | None = None) -> None:
    """Write the page.

    Parameters
    ----------
    folder
        The sweep's.
    path
        Where the page shall be; it is printed as PDF where this ends in ``.pdf``.
    title
        The heading; by default the study's name.

    Raises
    ------
    SsdlabError
        The place cannot be written to, or nothing has ended in the folder yet.
    """
    with PendingFile(path, "-o") as pending:
        # The drawing library takes a while to load, and most commands draw nothing.
        from ssdlab.study.sweeps.report.page import build_html

        write_page(pending, build_html(folder, title), path)
