"""The command as a whole: help, versions, verbs that need no drive."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest

import ssdlab
from stand_in import StandIn

Command = Callable[..., tuple[int, str, str]]
VERBS = (
    "drives",
    "layers",
    "show",
    "run",
    "season",
    "pts",
    "sizing",
    "lifetime",
    "sweep",
    "fit",
    "twin",
    "import",
    "trace",
    "cache",
    "theory",
    "explain",
    "compare",
    "report",
    "demo",
    "reproduce",
    "measure",
    "audit",
    "health",
    "smart",
    "align",
    "serve",
    "attach",
    "detach",
    "ctl",
    "check",
    "completion",
)
ALIGNS = ("boundaries", "check", "commands", "move", "spare")


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help(command: Command, golden: Callable[[str, str], None], verb: str) -> None:
    """The help of every verb, as reviewed."""
    code, out, _ = command(*filter(None, [verb, "--help"]))
    assert code == 0
    golden(f"help-{verb}" if verb else "help", out)


@pytest.mark.parametrize("verb", ["", *VERBS, *(f"align {each}" for each in ALIGNS)])
def test_help_fits_a_terminal(command: Command, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """No line of it is longer than 80 columns, examples included, which can be copied still."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = command(*verb.split(), "--help")
    assert code == 0
    assert [line for line in out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("verb", ["", *VERBS, "align check"])
def test_short_help(command: Command, verb: str) -> None:
    """`-h` is `--help`, with every verb; to `run`, which leaves unknown options to fio, too."""
    asked = command(*verb.split(), "-h")
    assert asked == command(*verb.split(), "--help")
    assert asked[0] == 0


def test_verbs_are_those_of_the_contract() -> None:
    """No verb is listed that does not work."""
    from ssdlab.cli import ssdlab

    assert tuple(ssdlab.commands) == VERBS


def test_unknown_verb(command: Command) -> None:
    """An unknown verb is refused with the way to the list."""
    code, out, err = command("runn")
    assert (code, out) == (2, "")
    assert "runn" in err
    assert "ssdlab --help" in err


def test_no_verb_shows_the_help(command: Command) -> None:
    """Bare `ssdlab` lists the verbs, and is no success."""
    code, out, err = command()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: ssdlab")
    assert all(verb in err for verb in VERBS)


def test_choices_are_told_in_one_line(command: Command) -> None:
    """A condition that does not exist is refused with those there are."""
    code, _, err = command("season", "theory", "--to", "worn")
    assert code == 2
    assert "'fresh', 'filled', 'used', 'steady'" in err


@pytest.mark.parametrize(
    ("option", "wanted"), [("--cell-seconds", "number"), ("--depth", "whole number")]
)
def test_what_is_no_number_is_told_in_plain_words(
    command: Command, option: str, wanted: str
) -> None:
    """Not in those of a programming language."""
    code, _, err = command("pts", "theory", option, "ten")
    assert code == 2
    assert f"'{option}': 'ten' is not a {wanted}." in err


def test_theory(stand_in: StandIn, command: Command, golden: Callable[[str, str], None]) -> None:
    """Shares are read as fractions or percent, and programs get JSON."""
    _, out, _ = command("theory", "--op", "25%")
    golden("theory", out)
    _, out, _ = command("theory", "--op", "0.5", "--json")
    assert json.loads(out)["write_amplification"] == 2


def test_theory_refuses_what_is_no_share(stand_in: StandIn, command: Command) -> None:
    """The option and the value are named."""
    code, _, err = command("theory", "--op", "much")
    assert code == 2
    assert "--op much: expected a share such as 0.28 or 28%" in err


def test_theory_refuses_percent_without_its_sign(stand_in: StandIn, command: Command) -> None:
    """7 would be 700 %; both meanings are named as they are written, and 700% is taken."""
    code, _, err = command("theory", "--op", "7")
    assert code == 2
    assert "--op 7: is 700%; write 7% if you mean percent, or 700% if you mean that" in err
    assert command("theory", "--op", "700%")[0] == 0
    assert (
        "--op 2000%: that is 2000%; must be at most 1000%" in command("theory", "--op", "2000%")[2]
    )


def test_public_names_are_listed() -> None:
    """`dir(ssdlab)`, and so completion at Python's prompt, names what can be used, and it works."""
    assert dir(ssdlab) == sorted(ssdlab.__all__)
    assert all(callable(getattr(ssdlab, name)) for name in dir(ssdlab))


def test_missing_engine(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the compiled engine the remedy is named."""
    monkeypatch.setitem(sys.modules, "ssdlab._engine", None)
    code, _, err = command("theory", "--op", "0.1")
    assert code == 2
    assert "make install" in err
