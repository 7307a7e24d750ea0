"""The command answers quickly because it loads what it needs: shown by modules, not by a clock."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import ssdlab.cli
from ssdlab.cli.verb import Verbs

HEAVY = {
    *("asyncio", "concurrent.futures", "dask", "importlib.metadata", "jinja2", "matplotlib"),
    *("multiprocessing", "numba", "numpy", "pandas", "pyarrow", "rich", "scipy"),
}
"""Libraries that take longer to load than `ssdlab drives` may take."""

SLOW = {
    *("click", "dataclasses", "email", "importlib.resources", "inspect", "pathlib", "platform"),
    *("subprocess", "tempfile", "urllib", "uuid"),
}
"""What takes as long to load as the rest of an answer to TAB."""

COMPLETING = {
    *("ssdlab", "ssdlab.__main__", "ssdlab.ground", "ssdlab.ground.lazy", "ssdlab.ground.signals"),
    "ssdlab.ground.stdout",
    *("ssdlab.cli", "ssdlab.cli.command_line", "ssdlab.cli.offers", "ssdlab.cli.shells"),
    "ssdlab.cli.streams",
}
"""All of the package that an answer to TAB needs."""

RUN = "run --rw=randwrite --bs=4k --number_ios=100 --drive intel-dc-s3500-80gb --output result"


def _loaded(line: str, folder: Path, **variables: str) -> set[str]:
    """Carry out a command line; return the modules that it leaves loaded."""
    tell = "import atexit, sys; atexit.register(lambda: print('', *sys.modules, file=sys.stderr))"
    done = subprocess.run(
        [sys.executable, "-c", f"{tell}; from ssdlab.__main__ import entry_point; entry_point()"]
        + line.split(),
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return set(done.stderr.splitlines()[-1].split())


def _completing(line: str, folder: Path) -> set[str]:
    """Answer bash, which asks for a line's last word; return the modules that are loaded then."""
    return _loaded("", folder, _SSDLAB_COMPLETE="bash_complete", COMP_LINE=line)


@pytest.mark.parametrize(
    ("line", "needs", "most"),
    [
        ("-h", set(), 160),
        ("--version", set(), 160),
        ("runn", set(), 160),
        ("drives", {"rich"}, 240),
        ("drives --json", set(), 180),
        ("season theory --to worn", {"concurrent.futures"}, 330),
        (RUN, {"concurrent.futures"}, 240),
    ],
)
def test_a_command_loads_what_it_needs(
    line: str, needs: set[str], most: int, tmp_path: Path
) -> None:
    """None of the large libraries that it does without, and few modules; a third are Python's."""
    loaded = _loaded(line, tmp_path)
    assert "ssdlab.cli" in loaded
    assert loaded & HEAVY == needs
    assert len(loaded) < most


@pytest.mark.parametrize(
    "line",
    [
        "",
        "runn",
        *(f"{verb} --" for verb in ssdlab.cli.VERBS),
        *("align check --", "pts theory --tests iops,w", "reproduce s", "layers sch"),
        *("run --drive theo", "run --drive=theo", "run --layer cry", "run --state ", "run base"),
        *("run --iode", "run --rw=randw", "run --rw randw", "run --scenario b", "run --trace "),
        *("run --set over", "run --drive theory --layer crypt --set crypt.", "ctl drive power"),
    ],
)
def test_completion_loads_no_verb(line: str, tmp_path: Path) -> None:
    """TAB is answered at once: the words lie in two files, and a few modules find those that fit.

    Half of the modules are what Python itself begins with.
    """
    loaded = _completing(f"ssdlab {line}", tmp_path)
    assert {name for name in loaded if name.split(".")[0] == "ssdlab"} == COMPLETING
    assert not loaded & (HEAVY | SLOW)
    assert len(loaded) < 85


def test_completion_asks_the_engine_for_keys_of_ones_own_drive(tmp_path: Path) -> None:
    """No file that comes along knows them; click and the verbs are not needed for it either."""
    loaded = _completing("ssdlab run --drive my.toml --set over", tmp_path)
    assert loaded >= COMPLETING | {"ssdlab._engine"}
    assert not loaded & (HEAVY | {"click", "ssdlab.cli.command", "ssdlab.cli.run"})


@pytest.mark.parametrize("verb", ssdlab.cli.VERBS)
def test_help_draws_and_computes_nothing(verb: str, tmp_path: Path) -> None:
    """The help of a verb loads that verb, and neither numpy nor anything that draws."""
    loaded = _loaded(f"{verb} -h", tmp_path)
    module = ssdlab.cli.VERBS[verb][0].partition(":")[0]
    assert f"ssdlab.cli.{module}" in loaded
    assert loaded & HEAVY <= {"concurrent.futures"}


@pytest.mark.parametrize("verb", ssdlab.cli.VERBS)
def test_the_list_tells_what_a_verb_says_of_itself(verb: str) -> None:
    """The sentence in the table, which needs no import, is the verb's own."""
    command = ssdlab.cli.ssdlab.commands[verb]
    assert isinstance(command, click.Command)
    assert command.name == verb
    assert ssdlab.cli.VERBS[verb][1] == command.get_short_help_str(limit=100)
    if isinstance(command, Verbs):
        for name, sentence in command.sentences.items():
            assert command.commands[name].get_short_help_str(limit=100) == sentence
