"""What the user allows of a real target, and which words mean one; nothing that opens it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

WAYS = ("best", "format", "sanitize", "erase", "discard", "none")
"""How a real target can be purged."""


@dataclass(frozen=True)
class Wishes:
    """What the user allows, and how it shall be done.

    Attributes
    ----------
    destroy
        What ``--destroy`` names.
    destroy_content
        What ``--destroy-content`` names.
    purge
        One of `WAYS`.
    show_serial
        Whether results tell the serial number.
    """

    destroy: Sequence[str] = ()
    destroy_content: Sequence[str] = ()
    purge: str = "best"
    show_serial: bool = True


def is_real(word: str) -> bool:
    """Tell whether a word means a block device or an export, and no simulated drive."""
    if is_uri(word) or word.startswith("/dev/"):
        return True
    try:
        return stat.S_ISBLK(os.stat(word).st_mode)
    except (OSError, ValueError):
        return False


def is_uri(text: str) -> bool:
    """Tell whether a text names an export."""
    return text.startswith(("nbd:", "nbd+unix:", "nbds:", "nbds+unix:"))
