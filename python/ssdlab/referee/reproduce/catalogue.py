"""The questions there are: every module in `questions` that has a `QUESTION`."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from ssdlab.ground.errors import SsdlabError
from ssdlab.referee.reproduce import questions as folder
from ssdlab.referee.reproduce.question import Question


@cache
def questions() -> tuple[Question, ...]:
    """Return every question, in order."""
    names = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    modules = [importlib.import_module(f"{folder.__name__}.{name}") for name in names]
    return tuple(sorted((module.QUESTION for module in modules), key=lambda each: each.number))


def find(names: Sequence[str]) -> list[Question]:
    """Return the questions of these names or numbers, in order; all where none is named.

    Raises
    ------
    SsdlabError
        There is none of that name.
    """
    if not names:
        return list(questions())
    known = {name: each for each in questions() for name in (each.name, str(each.number))}
    for name in names:
        if name not in known:
            raise SsdlabError(_unknown(name))
    wanted = {known[name].name for name in names}
    return [each for each in questions() if each.name in wanted]


def _unknown(name: str) -> str:
    all_names = [each.name for each in questions()]
    near = difflib.get_close_matches(name, all_names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"no question {name!r}\n{hint}questions are: {', '.join(all_names)}"
