"""The manual page: the help of every verb, as roff that man can read."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import click
import pytest

from ssdlab.cli import ssdlab
from ssdlab.cli.manual import page

PAGE = Path(__file__).parents[2] / "wheel/data/share/man/man1/ssdlab.1"


def test_manual_page_is_of_this_help(request: pytest.FixtureRequest) -> None:
    """The page that the wheel installs is what the help makes today."""
    made = page(ssdlab)
    if request.config.getoption("--renew-golden"):
        PAGE.write_text(made, encoding="utf-8")
    assert made == PAGE.read_text(encoding="utf-8"), "renew it with: make golden"


def test_manual_page_has_every_verb_and_option() -> None:
    """Whatever --help lists stands in the page, of verbs below verbs too."""
    made = page(ssdlab).replace("\\-", "-")
    for path, verb in _commands("ssdlab", ssdlab):
        assert f'.SS "{path}"' in made or path == "ssdlab"
        shown = [each for each in verb.params if not getattr(each, "hidden", False)]
        for parameter in shown:
            assert all(name in made for name in parameter.opts if name.startswith("-")), path


def _commands(path: str, command: click.Command) -> list[tuple[str, click.Command]]:
    below = command.commands if isinstance(command, click.Group) else {}
    # What a verb takes before the verbs below it.
    words = [str(each.metavar) for each in command.params if isinstance(each, click.Argument)]
    start = " ".join([path, *words])
    found = [each for name, verb in below.items() for each in _commands(f"{start} {name}", verb)]
    return [(path, command), *found]


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff, which reads the page")
def test_manual_page_is_sound_roff() -> None:
    """groff finds nothing to warn about, at the width of a terminal."""
    done = subprocess.run(
        ["groff", "-Kutf8", "-Tutf8", "-man", "-ww", "-rLL=78n", str(PAGE)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "ssdlab run" in done.stdout
