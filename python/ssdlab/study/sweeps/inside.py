"""Files that a file names which a point names: those of stacks and profiles, and included jobs.

    stack      drive, the second drive of a layer, the library of set.ftl.gc
    profile    the library of ftl.gc
    job file   what it includes, and what those files include

What a stack or a profile names is found from where the command is given. A worker that has such a
file elsewhere gets a copy of the stack that names it there (`sent.py`). A job file's text goes with
the request, so what it includes is put in its place, as the engine does
(`crates/lab/src/workload/parse/sections.rs`); an include that cannot be read stays, and the engine
tells. Left out: what variables of the environment other than those of an include name.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.engine.policy_setting import KEY, library
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import TEXT_BYTES, InputError, read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_DRIVES = ("drive", "layer.drive")
_POLICIES = (f"set.{KEY}", KEY, f"{KEY}.value")
_QUOTED = re.compile(r'"(?P<basic>[^"\\\n]+)"|\'(?P<literal>[^\'\n]+)\'')
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_MOST_INCLUDED = 16


def names_in(file: str) -> tuple[str, ...]:
    """Return the files that a stack or a profile names; none where it is neither.

    The file is read once as long as it stays the same.
    """
    if not file.endswith(".toml"):
        return ()
    try:
        figures = os.stat(file)
        named = _names_in(file, figures.st_size, figures.st_mtime_ns)
    except (OSError, InputError):
        return ()
    return tuple(name for name in named if os.path.isfile(name))


def renamed(text: str, places: Mapping[str, str]) -> str:
    """Return the text of a stack or a profile with files named where a worker has them.

    Examples
    --------
    >>> renamed("drive = 'a.toml' # mine", {"a.toml": "/there/a.toml"})
    'drive = "/there/a.toml" # mine'
    """

    def one(found: re.Match[str]) -> str:
        value = found["basic"] or found["literal"]
        policy = library([(KEY, value)])
        name = value if policy is None else str(policy)
        if name not in places:
            return found[0]
        argument = "" if policy is None else value.partition(".so")[2]
        return json.dumps(places[name] + argument, ensure_ascii=False)

    return _QUOTED.sub(one, text)


def with_included(text: str, file: str) -> str:
    """Return a job file's text with the files that it includes in their places.

    Parameters
    ----------
    text
        The job file's.
    file
        Its name: what it includes is looked for beside it, then where the command is given.

    Raises
    ------
    SsdlabError
        All of it is larger than a job file may be.
    """
    lines: list[str] = []
    left = TEXT_BYTES
    for line in _lines(text, file, 0):
        left -= len(line)
        if left < 0:
            most = f"larger than the limit of {TEXT_BYTES >> 20} MiB"
            raise SsdlabError(f"{file}: with the files that it includes {most}")
        lines.append(line)
    return "".join(lines)


@functools.lru_cache(maxsize=4096)
def _names_in(file: str, _size: int, _changed: int) -> tuple[str, ...]:
    try:
        root = tomllib.loads(read_text(file))
    except (tomllib.TOMLDecodeError, RecursionError):
        return ()  # the engine tells what is wrong with it
    found = []
    for key, value in _texts("", root):
        if key in _DRIVES:
            found.append(value)
        elif key in _POLICIES and (policy := library([(KEY, value)])) is not None:
            found.append(str(policy))
    return tuple(found)


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """Give all texts of a document with their dotted keys."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(key, each)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(f"{key}.{name}" if key else name, each)


def _lines(text: str, file: str, depth: int) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        words = re.split("[;#]", line, maxsplit=1)[0].split(maxsplit=1)
        found = _included(words[1].strip(), file) if _is_include(words) else None
        if found is None or depth == _MOST_INCLUDED:
            yield line
        else:
            yield from _lines(*found, depth + 1)
            yield "\n"


def _is_include(words: list[str]) -> bool:
    return len(words) == 2 and words[0] == "include"


def _included(name: str, file: str) -> tuple[str, str] | None:
    """Return the text and the name of what a file includes; None where it cannot be read."""
    name = _VARIABLE.sub(lambda found: os.environ.get(found[1], found[0]), name)
    folder = file.rpartition("/")[0]
    for place in (f"{folder}/{name}" if "/" in file and name[:1] != "/" else name, name):
        try:
            return read_text(place), place
        except (FileNotFoundError, InputError):
            continue
    return None
