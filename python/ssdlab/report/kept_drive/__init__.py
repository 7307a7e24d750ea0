"""The report of a drive that is kept, as the folder of `ssdlab serve`: one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdlab.ground.output import PendingFile
from ssdlab.report.printing import write_page

__all__ = ["write_drive_report"]


def write_drive_report(
    place: str,
    shown: Mapping[str, Any],
    smart: str,
    path: str | Path,
    *,
    title: str | None = None,
) -> None:
    """Write the page.

    Parameters
    ----------
    place
        What the drive is called: its folder.
    shown
        The drive as ``engine.show`` gives it.
    smart
        Its health as `ssdlab smart` prints it.
    path
        Where the page shall be; it is printed as PDF where this ends in ``.pdf``.
    title
        The heading; by default the drive's place.

    Raises
    ------
    SsdlabError
        The place cannot be written to.
    """
    with PendingFile(path, "-o") as pending:
        # The drawing library takes a while to load, and most commands draw nothing.
        from ssdlab.report.kept_drive.page import build_html

        write_page(pending, build_html(place, shown, smart, title), path)
