"""The exit codes of all verbs: one table, in which wrong input never equals a finding.

====  =====================================================================================
code  meaning
====  =====================================================================================
0     done; all that was judged is in order
1     done, and something deserves attention: a warning
2     wrong input; nothing was judged
3     a finding: misaligned, critical, read-only, failed writes, no drive that meets the limits
4     not judged: something was not understood or could not be looked at, and nothing worse
5     the drive did not come into the condition that was asked for
129   stopped by SIGHUP; 130 by Ctrl-C, 143 by SIGTERM
====  =====================================================================================

Where several apply, the worst counts: 5, then 3, 1, 4. Only ``--format nagios`` has its own codes,
those of monitoring plug-ins: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, wrong input among the last.
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


_WORST_FIRST = (
    Exit.WRONG_INPUT,
    Exit.NOT_IN_CONDITION,
    Exit.FINDING,
    Exit.ATTENTION,
    Exit.NOT_JUDGED,
)


def worst(codes: Iterable[Exit]) -> Exit:
    """Return the code that counts where several apply; `Exit.DONE` of none."""
    found = set(codes)
    return next((code for code in _WORST_FIRST if code in found), Exit.DONE)
