"""What a given file is, said below an error of a reader that takes files of another kind.

Verbs that read results, reports and listings tell it themselves; these are the others: files of
jobs, drives, traces, studies and prices, texts that were pasted, and what stands in the place of a
served drive's folder. A file of a kind that its reader takes is left to the reader's own words.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ssdlab.ground.recognise import what_the_file_is

_DRIVES = ("a drive file of ssdlab", "a profile of a drive", "a layout")
_JOBS = ("a job file of fio",)
_TRACES = (
    "an iolog of fio",
    "blkparse's text",
    "a trace of MSR Cambridge",
    "a trace of SYSTOR '17",
    "a trace of block requests",
    "a gzip archive",
    "a zstd archive",
)
_PRICES = ("a table (CSV)",)
_TEXTS = ("a listing of partitions", "text in UTF-16, as PowerShell's > writes")
_MQSIM = ("MQSim's configuration", "MQSim's workload definition")
_TAKEN = {
    "run": _JOBS,
    "sizing": _JOBS,
    "lifetime": _DRIVES,
    "trace": _TRACES,
    "sweep": ("a study",),
    "import": _MQSIM,
    "show": _DRIVES,
    "season": _DRIVES,
    "pts": _DRIVES,
    "theory": _DRIVES,
    "demo": _DRIVES,
    "explain": _DRIVES,
    "fit": (),
    "twin": ("a table (CSV)",),
    "layers": (),
    "serve": _DRIVES,
    "smart": _DRIVES,
    **dict.fromkeys(("check", "ctl", "attach", "detach"), ()),
    "audit": _TEXTS,
    "--job": _JOBS,
    "--drive": _DRIVES,
    "--stack": _DRIVES,
    "--trace": _TRACES,
    "--read_iolog": _TRACES,
    "--prices": _PRICES,
}
"""By option, else by verb: the kinds that are read there."""
_TARGETS = frozenset({"--target", "--destroy", "--destroy-content", "--data", "--root"})
"""A file of any kind may be given up, or hold a drive's bytes; who reads captures tells itself."""


def what_was_given(message: str, arguments: Sequence[str]) -> str:
    """Say what a file is that an error names, where it is of a kind that is not read there.

    Parameters
    ----------
    message
        The error, whose first line names the file.
    arguments
        Of the command line, the verb first.

    Returns
    -------
    str
        Lines to be added, each after a line break; empty where nothing is to be said.
    """
    verb, *words = arguments or ("",)
    if verb not in _TAKEN or "\nit is " in message:
        return ""
    first = message.partition("\n")[0]
    for option, word in _options_and_words(words):
        if option in _TARGETS or not word or word not in first or not os.path.isfile(word):
            continue
        kind = what_the_file_is(word)
        taken = _TAKEN.get(option, _TAKEN[verb])
        if kind is not None and kind.name not in taken:
            return f"\n{kind.told(word)}"
    return ""


def _options_and_words(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give each word that may be a file, with the option before it, if there is one."""
    option = ""
    for word in words:
        if word.startswith("--"):
            option, _, value = word.partition("=")
            yield option, value
        else:
            yield option, word
            option = ""
