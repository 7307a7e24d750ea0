"""The scenarios by name: short names for people, and the engine's scenarios that they run."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ssdlab.ground.errors import SsdlabError

PCMARK = "pcmark"
"""Runs as a job on the drive itself, not as files."""

NAMES: dict[str, tuple[str, ...]] = {
    "boot": ("boot",),
    "build": ("build-package",),
    "start": ("start-firefox",),
    "search": ("search-packages",),
    "install": ("install-package",),
    "purge": ("purge-package",),
    "packages": ("search-packages", "install-package", "purge-package"),
    "everyday": (
        "boot",
        "build-package",
        "start-firefox",
        "search-packages",
        "install-package",
        "purge-package",
    ),
    "copy": ("copy-files",),
    "desktop": ("desktop-mix",),
    "sync": ("sync-writes",),
    "restore": ("restore-image",),
    "scattered": ("scattered-file",),
    "dd": ("dd-ufs",),
    "bonnie": ("bonnie",),
    PCMARK: (PCMARK,),
}
"""What each name runs, in this order."""


def resolve(asked: Sequence[str]) -> list[str]:
    """Return what is to be run for names that were asked for, each once, in their order.

    Parameters
    ----------
    asked
        Names of `NAMES` or of the engine's scenarios; one text may have several with commas.

    Raises
    ------
    SsdlabError
        A name that is none.

    Examples
    --------
    >>> resolve(["packages,boot", "install-package"])
    ['search-packages', 'install-package', 'purge-package', 'boot']
    """
    single = {each: (each,) for names in NAMES.values() for each in names}
    names = [name.strip() for text in asked for name in text.split(",")]
    found: list[str] = []
    for name in names:
        if name not in NAMES and name not in single:
            raise SsdlabError(_unknown(name))
        found += NAMES.get(name) or single[name]
    return list(dict.fromkeys(found))


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, NAMES, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"--scenario {name}: no such scenario\n{hint}scenarios are: {', '.join(NAMES)}"
