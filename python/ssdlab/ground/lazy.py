"""A package's public names, each loaded when it is first used.

So `ssdlab.real.device` can be imported without all checks, and the audit runs where nothing but
Python is installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def loader(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return what a package has as ``__getattr__``.

    Parameters
    ----------
    package
        Its name.
    homes
        By module the names that are found there; ``.module`` is one of the package's own.
        A name may be that of a module, too.
    """

    def load(name: str) -> Any:
        for home, names in homes.items():
            if name in names:
                found = importlib.import_module(home, package)
                if hasattr(found, name):
                    return getattr(found, name)
                return importlib.import_module(f"{found.__name__}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load
