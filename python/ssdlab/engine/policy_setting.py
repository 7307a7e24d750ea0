"""Which settings name a victim policy of the user's own, and which library that is.

``ftl.gc`` is ``PATH.so`` or ``PATH.so:ARGUMENT`` for a shared library, ``function:NUMBER:NAME`` for
a function of this process. The engine reads the same texts (`crates/device/src/config/ftl.rs`).
Every command loads this module, and few hash a library: hashlib is loaded there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_bytes

KEY = "ftl.gc"
LIBRARY_BYTES = 256 << 20
"""The largest library whose contents are hashed."""
_LIBRARY = re.compile(r"(?P<path>.*?\.so)(:.*)?", re.DOTALL)

SettingPairs = Sequence[tuple[str, str]]


def library(settings: SettingPairs) -> Path | None:
    """Return the library that settings name as policy; the last one counts.

    Examples
    --------
    >>> library([("ftl.gc", "./mine.so:window=8")])
    PosixPath('mine.so')
    >>> library([("ftl.gc", "greedy")])
    """
    named = [value for key, value in settings if key == KEY]
    found = _LIBRARY.fullmatch(named[-1].strip("\"'")) if named else None
    return Path(found["path"]) if found else None


def is_function(settings: SettingPairs) -> bool:
    """Tell whether the policy of settings is a function of this process."""
    return any(key == KEY and value.startswith("function:") for key, value in settings)


def own(settings: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return the setting of a policy that does not come along; it is named anew with each file."""
    if library(settings) is None and not is_function(settings):
        return ()
    return tuple(setting for setting in settings if setting[0] == KEY)[-1:]


def contents(settings: SettingPairs) -> str | None:
    """Return the hash of a library, whose every change may change a drive; None for other policies.

    Raises
    ------
    SsdlabError
        It cannot be read.
    """
    path = library(settings)
    if path is None:
        return None
    import hashlib

    try:
        return hashlib.sha256(read_bytes(path, LIBRARY_BYTES)).hexdigest()
    except (FileNotFoundError, InputError) as error:
        raise SsdlabError(f"--set {KEY}={path}: cannot be read: {error}") from None
