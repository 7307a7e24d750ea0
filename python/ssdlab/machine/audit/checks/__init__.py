"""The checks, one a file: adding one is writing a file with a function ``check``.

A check looks at a machine and gives findings: what is wrong, and once in green what was looked at
and is good, so that silence never passes for health.
"""

from __future__ import annotations

import importlib
import pkgutil

from ssdlab.machine.audit.finding import Check


def all_checks() -> list[tuple[str, Check]]:
    """Give every check with its name, in alphabetical order."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [(name, importlib.import_module(f"{__name__}.{name}").check) for name in names]
