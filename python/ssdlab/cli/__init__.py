"""The ``ssdlab`` command: one verb a module, one way to fail.

What is named here is loaded when it is used. Completion, which a shell asks for at every TAB, does
without: it needs neither click nor a verb (`ssdlab.cli.shells`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.ground.lazy import loader

if TYPE_CHECKING:
    from ssdlab.cli.command import VERBS, main, ssdlab

__all__ = ["VERBS", "main", "ssdlab"]

__getattr__ = loader(__name__, {".command": ("VERBS", "main", "ssdlab")})
