"""Whether a command needs a child process, and what the child tells its parent.

A command with a library as victim policy runs in a child (`ssdlab.engine.policy_child`): what kills
it kills no more. The child tells over a pipe when the engine begins (+), gets on (.) and is done
(-), and when the command has come to its end (e).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ssdlab.engine.policy_setting import KEY, library

PIPE = "SSDLAB_POLICY_PIPE"
"""Names the pipe in the child's environment."""

_SET = re.compile(rf"(?:--set=)?(?P<key>{re.escape(KEY)})=(?P<value>.*)", re.DOTALL)


def policy_of(arguments: Sequence[str]) -> str | None:
    """Return the library that a command line names as policy; None in the child, which has it.

    Examples
    --------
    >>> policy_of(["run", "job.fio", "--set", "ftl.gc=./mine.so"])
    './mine.so'
    >>> policy_of(["run", "job.fio", "--set=ftl.gc=greedy"])
    """
    if PIPE in os.environ:
        return None
    given = (_SET.fullmatch(each) for each in arguments)
    named = [match["value"] for match in given if match and library([(KEY, match["value"])])]
    return named[-1] if named else None


def tell(sign: str) -> bool:
    """In a child, tell the parent; False where it is gone. Elsewhere this does nothing."""
    if (pipe := os.environ.get(PIPE)) is None:
        return True
    try:
        os.write(int(pipe), sign.encode())
    except BlockingIOError:
        # The parent has enough to read.
        return True
    except OSError:
        return False
    return True
