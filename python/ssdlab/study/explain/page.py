"""The page: the recording, the script that shows it, and every step as text; loads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ssdlab.ground import pages

_LIMITS = (
    "The drive is far smaller than any real one, so that every page can be seen. Its blocks have "
    "few pages and its spare area is large; do not take its figures for those of a real drive.",
    "A real drive writes to many dies at once, and its pages often hold several units. With "
    "--set nand.dies_per_channel=2 the drive here has two dies.",
    "The victim policy, the watermarks and wear levelling are the simulated drive's. Makers do not "
    "publish theirs.",
)


def build_html(told: Mapping[str, Any], version: str) -> str:
    """Return the page as text.

    Parameters
    ----------
    told
        What `recorded` returns.
    version
        Of the program, for the footer.
    """
    own, drive = "ssdlab.study.explain", told["drive"]
    return pages.render(
        own,
        css=pages.embedded("ssdlab.report", "page.css") + pages.embedded(own, "page.css"),
        script=pages.embedded(own, "page.js"),
        record=pages.embedded_json(told),
        drive=drive,
        page_size=_size(drive["page_bytes"]),
        chapters=told["chapters"],
        steps=told["steps"],
        limits=_LIMITS,
        version=version,
    )


def _size(size_bytes: int) -> str:
    """Pages are powers of two, and people know them in KiB."""
    return f"{size_bytes} B" if size_bytes % 1024 else f"{size_bytes // 1024} KiB"
