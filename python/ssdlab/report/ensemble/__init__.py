"""The report of ensembles: one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ssdlab.experiment.ensemble.document import Arm
from ssdlab.ground.output import PendingFile
from ssdlab.report.printing import write_page

__all__ = ["write_ensemble_report"]


def write_ensemble_report(
    arms: Sequence[Arm], path: str | Path, *, title: str | None = None
) -> None:
    """Write the page.

    Parameters
    ----------
    arms
        At least one; the others are compared with the first.
    path
        Where the page shall be; it is printed as PDF where this ends in ``.pdf``.
    title
        The heading; by default what an ensemble tells.

    Raises
    ------
    SsdlabError
        The place cannot be written to.
    """
    with PendingFile(path, "-o") as pending:
        # The drawing library takes a while to load, and most commands draw nothing.
        from ssdlab.report.ensemble.page import build_html

        write_page(pending, build_html(arms, title), path)
