"""The verbs in outline: what completion has to know of them, without loading a single one.

``data/outline.json`` is written from the verbs themselves (`make golden`), and a test holds it to
them: their options and arguments, and the words that the package knows for values.
"""

from __future__ import annotations

import click

from ssdlab.cli.arguments import FioCommand
from ssdlab.cli.offers import Outline


def made(root: click.Group) -> Outline:
    """Return the outline of all verbs of a command and the words for values; it loads all verbs."""
    return {"verb": _verb(root), "words": _words()}


def _verb(given: click.Command) -> Outline:
    context = click.Context(given, **given.context_settings)
    told: Outline = {
        "help": given.get_short_help_str(limit=100),
        "takes_fio": isinstance(given, FioCommand),
        "parameters": [_parameter(each) for each in given.get_params(context)],
    }
    if isinstance(given, click.Group):
        told["verbs"] = {name: _verb(verb) for name, verb in given.commands.items()}
    return told


def _parameter(given: click.Parameter) -> Outline:
    """Return a parameter: its name, what was told of it, and no word of what was not."""
    told: Outline = {
        "name": given.name,
        "metavar": given.metavar or given.name,
        "choices": list(getattr(given.type, "choices", ())),
        "repeats": given.multiple or given.nargs == -1,
    }
    if isinstance(given, click.Option):
        told |= {"options": given.opts, "is_flag": given.is_flag}
        told |= {"help": given.help, "hidden": given.hidden}
    return {key: value for key, value in told.items() if value}


def _words() -> Outline:
    from ssdlab import engine
    from ssdlab.bench.book import TESTS
    from ssdlab.experiment import jobs
    from ssdlab.machine.align.reading import kinds
    from ssdlab.referee.reproduce.catalogue import questions
    from ssdlab.study.everyday.catalogue import NAMES

    drives, keys = _drives_and_keys()
    layers = {
        str(kind["name"]): [str(each["key"]).partition(".")[2] for each in kind["parameters"]]
        for kind in engine.layers()
    }
    return {
        "drives": drives,
        "keys": keys,
        "layers": layers,
        "layers of align": {name: list(each) for name, each in kinds().items()},
        "jobs": jobs.names(),
        "questions": sorted(each.name for each in questions()),
        "scenarios": list(NAMES),
        "tests": list(TESTS),
    }


def _drives_and_keys() -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return by drive the first one that has the same keys, and by such a drive its keys."""
    from ssdlab import engine

    drives, keys = {}, dict[str, list[str]]()
    for name in (str(each["name"]) for each in engine.profiles()):
        own = [str(each["key"]) for each in engine.show(name)["parameters"]]
        drives[name] = next((alike for alike, found in keys.items() if found == own), name)
        keys.setdefault(drives[name], own)
    return drives, keys
