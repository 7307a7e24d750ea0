"""The exit codes of all verbs: one table, in which wrong input never equals a finding.

Where several apply, the worst counts: wrong input, then 5, 3, 1 and 4. Only ``--format nagios`` has
its own codes, those of monitoring plug-ins: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, and wrong input
is UNKNOWN there.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """What the command's exit code says."""

    DONE = 0
    ATTENTION = 1
    WRONG_INPUT = 2
    FINDING = 3
    NOT_JUDGED = 4
    NOT_IN_CONDITION = 5


MEANINGS = (
    ("0", "The command is done, and all that it judged is in order."),
    ("1", "The command is done, and something deserves attention: a warning."),
    (
        "2",
        "The input is wrong, and nothing was judged; the message on stderr names the place and "
        "the remedy.",
    ),
    (
        "3",
        "There is a finding: misaligned, critical, read-only, failed writes, or nothing that "
        "meets the limits.",
    ),
    (
        "4",
        "Something was not judged, since it was not understood or could not be looked at; nothing "
        "worse was found.",
    ),
    ("5", "The drive did not come into the condition that was asked for."),
    ("129, 130, 143", "SIGHUP, Ctrl-C or SIGTERM stopped the command; finished results are kept."),
)
"""Codes and their meaning, as the manual page has them."""

_WORST_FIRST = (
    Exit.WRONG_INPUT,
    Exit.NOT_IN_CONDITION,
    Exit.FINDING,
    Exit.ATTENTION,
    Exit.NOT_JUDGED,
)


def worst(codes: Iterable[Exit]) -> Exit:
    """Return the code that counts where several apply; `Exit.DONE` of none.

    Examples
    --------
    >>> worst([Exit.NOT_JUDGED, Exit.FINDING, Exit.DONE]).name
    'FINDING'
    """
    found = set(codes)
    return next((code for code in _WORST_FIRST if code in found), Exit.DONE)
