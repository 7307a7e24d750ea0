"""Standard streams that are closed, full, gone, or cannot show every sign."""

from __future__ import annotations

import codecs
import json
import os
import sys

from ssdlab.ground import stdout

_PLAIN = {
    **{"µ": "u", "–": "-", "—": "-", "−": "-", "…": "...", "×": "x", "·": "-", "→": "->"},
    **{"≤": "<=", "≥": ">=", "≈": "~", "“": '"', "”": '"', "’": "'", "°": " degrees", "─": "-"},
}


def prepare() -> None:
    """Make all three usable: what is written to a closed one fails as it would with any other."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # Else the next file opened would be taken for the stream. It is open the wrong way
            # round, but for stderr, which has nobody to complain to.
            os.open(os.devnull, (os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)[descriptor])
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8")
    stdout.let_readers_leave()
    _show_every_sign()


def shows_every_sign() -> bool:
    """Whether standard output takes all of Unicode."""
    try:
        return codecs.lookup(sys.stdout.encoding).name.startswith("utf")
    except (AttributeError, LookupError, TypeError):
        return True


def escaped(document: str) -> str:
    """Write JSON so that standard output can show it: the same JSON, other signs as escapes."""
    return document if shows_every_sign() else document.encode("ascii", _ESCAPES).decode("ascii")


def printable(text: str) -> str:
    """Leave out what would move a terminal's cursor; a name may come from a stranger."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)


def _show_every_sign() -> None:
    # Names of files need not be UTF-8; they go out as they came in.
    errors = "surrogateescape" if shows_every_sign() else _SIGNS
    if (reconfigure := getattr(sys.stdout, "reconfigure", None)) is not None:
        reconfigure(errors=errors)


def _plain(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    unknown = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign, "?") for sign in unknown), error.end


def _escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


_SIGNS = "ssdlab-plain-signs"
_ESCAPES = "ssdlab-json-escapes"
codecs.register_error(_SIGNS, _plain)
codecs.register_error(_ESCAPES, _escape)
