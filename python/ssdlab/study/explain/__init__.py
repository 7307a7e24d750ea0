"""A small simulated drive, step by step: what `ssdlab explain` prints and draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.ground.output import PendingFile

__all__ = ["recorded", "write_page"]


def recorded(settings: Settings = ()) -> dict[str, Any]:
    """Record the small drive and put what happens into words.

    Parameters
    ----------
    settings
        Dotted keys and values that differ from the small drive.

    Returns
    -------
    dict
        ``drive``, its shape; ``chapters``, each with ``name``, ``title``, ``about`` and the number
        of its ``first`` step; ``steps``, each with state, counters and ``text``.

    Raises
    ------
    SsdlabError
        A setting is wrong, or the drive cannot be drawn.
    """
    from ssdlab.study.explain.words import in_words

    return in_words(engine.explain(settings))


def write_page(path: str | Path, settings: Settings = ()) -> None:
    """Write the page.

    Parameters
    ----------
    path
        Where it shall be.
    settings
        Dotted keys and values that differ from the small drive.

    Raises
    ------
    SsdlabError
        The place cannot be written to, a setting is wrong, or the drive cannot be drawn.
    """
    from ssdlab.study.explain.page import build_html

    with PendingFile(path, "-o") as pending:
        pending.write(build_html(recorded(settings), engine.version()))
