"""JSON in which no key stands twice in an object.

Python's own reader keeps the last of two and says nothing of the first.
"""

from __future__ import annotations

import json
from typing import Any


class KeyTwiceError(ValueError):
    """A key stands twice in an object: the message names it."""


def loads(text: str | bytes) -> Any:
    """Read a document.

    Raises
    ------
    KeyTwiceError
        A key stands twice in an object.
    ValueError, RecursionError
        It is not JSON, or nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise KeyTwiceError(f"{key!r:.60} stands twice in an object")
        found[key] = value
    return found
