"""``--json``: every verb has it, and what it prints is whole, also where there is a finding."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from pretended import Pretended, served
from process import RUN, SMALL
from ssdlab import engine
from ssdlab.cli import VERBS, ssdlab
from ssdlab.engine.request import RunRequest
from test_demo import part
from test_serve import end

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
S3500 = "intel-dc-s3500-80gb"
SMART = Path(__file__).parent / "smart"
ELSEWHERE = {"attach", "detach", "measure", "twin"}
"""Tried by `test_attach`, where a machine has what they need, by `test_measure` and `test_twin`."""
NONE = {"completion": "prints a script for a shell, and nothing else"}
STUDY = (
    '[base]\ndrives = ["theory"]\njob = "--rw=randwrite --bs=4k --number_ios=10"\n'
    'settings = { capacity_bytes = "1GiB" }\n'
)
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "drives": (("drives",),),
    "layers": (("layers",), ("layers", "crypt")),
    "show": (("show", "theory"),),
    "run": (RUN, ("run", "--scenario", "boot", "--drive", *SMALL)),
    "season": (("season", *SMALL, "--to", "fresh", "-o", "new.ssd"),),
    "pts": (
        ("pts", *SMALL, "--tests", "lat", "--cell-seconds", "0.1", "--most-rounds", "1", "-o", "p"),
    ),
    "sizing": (("sizing", "--drive", S3500, "--writes", "90TB/day", "--years", "9"),),
    "lifetime": (("lifetime", "theory", "--writes", "1TB/day", "--sequential", "--spare", "20%"),),
    "sweep": (
        ("sweep", "study.toml", "--dry-run"),
        ("sweep", "study.toml", "-o", "s", "--workers", "1"),
        ("sweep", "--watch", "-o", "s"),
    ),
    "fit": (("fit", "--plan", "--drive", S3500, "--draws", "16"),),
    "import": (("import", "a.trace", "-o", "a.log"),),
    "trace": (("trace", "a.csv"),),
    "cache": (("cache", "list"), ("cache", "clear", "--yes")),
    "theory": (("theory", "--op", "7%"),),
    "explain": (("explain",),),
    "compare": (("compare", "old.json", "old.json"), ("compare", "old.json", "odd.json")),
    "report": (("report", "old.json", "-o", "r.html"), ("report", "odd.json", "-o", "r.html")),
    "demo": (("demo", "-o", "d"),),
    "reproduce": (("reproduce", "--list"),),
    "audit": (("audit", "--root", "capture.json"),),
    "smart": (("smart", "theory"), ("smart", "-H", "intel-dc-s3500-80gb")),
    "health": (("health", "--from", "drive.json"), ("health", "--from", "worn.json")),
    "align": (
        ("align", "check", "wrong.toml"),
        ("align", "commands", "--layer", "partition:start=1MiB", "--device", "/dev/sda"),
    ),
    "serve": (("serve", "theory", "--set", "capacity_bytes=64MiB", "-o", "sv", "--wait-ready"),),
    "check": (("check", "sound"), ("check", "cut")),
    "ctl": (
        ("ctl", "served", "stats"),
        ("ctl", "served", "power-cut"),
        ("ctl", "served", "power-on"),
    ),
}
"""Of each verb short ones, some of which end with a finding, or with something not judged."""


@pytest.fixture(autouse=True)
def _files(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put what the commands read into the folder, and short work in the place of hours."""
    old = json.loads((inputs / "old.json").read_text())
    old["jobs"][0]["drive_is_dying"] = "soon"
    (inputs / "odd.json").write_text(json.dumps(old))
    shutil.copy(SMART / "nvme-samsung-worn.json", inputs / "worn.json")
    (inputs / "study.toml").write_text(STUDY)
    (inputs / "a.csv").write_text("128166372003061629,hm,1,Read,383496192,32768,413\n")
    (inputs / "a.trace").write_text("938513000 4 26471 16 0\n")
    (inputs / "wrong.toml").write_text("[[layer]]\nkind = 'partition'\nstart_sector = 63\n")
    capture = {"files": {"/proc/1/comm": "systemd"}, "folders": {}, "commands": {}}
    (inputs / "capture.json").write_text(json.dumps(capture))
    monkeypatch.setattr("ssdlab.study.fitting.waves.run_wave", _drawn)
    monkeypatch.setattr("ssdlab.study.demo.perform.DemoPerformance", _Performed)
    small = RunRequest("theory", settings=(("capacity_bytes", "64MiB"),))
    engine.make_folder(small, inputs / "sound", None)
    shutil.copytree(inputs / "sound", inputs / "cut")
    (inputs / "cut" / "since").write_bytes(b"")
    with served(inputs / "served", Pretended()):
        yield
    if (inputs / "sv").exists():
        end(inputs / "sv")


def _drawn(_space: Any, places: Any, asked: Any, *_rest: Any) -> Any:
    return np.random.default_rng(1).uniform(1.0, 2.0, (len(places), len(asked)))


class _Performed:
    """Stands for runs of a minute."""

    def __init__(self, *_arguments: Any) -> None:
        pass

    def tasks(self) -> list[tuple[str, Callable[..., None]]]:
        return [("none", lambda _progress: None)]

    def in_order(self) -> list[Any]:
        return [part("randwrite-fresh"), part("randwrite-steady")]


def leaves(group: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Give every command that does something, with its name."""
    if not isinstance(group, click.Group):
        yield name, group
        return
    with click.Context(group) as context:
        for each in group.list_commands(context):
            below = group.get_command(context, each)
            assert below is not None
            yield from leaves(below, f"{name} {each}".strip())


def test_every_verb_has_the_option() -> None:
    """Called the same everywhere, with no verb left out."""
    found = dict(leaves(ssdlab))
    assert {name.split()[0] for name in found} == set(VERBS)
    for name, each in found.items():
        options = {option for parameter in each.params for option in parameter.opts}
        assert ("--json" in options) is (name not in NONE), name


def test_every_verb_is_tried() -> None:
    """Below, but for those that have nothing to print."""
    assert set(COMMANDS) | ELSEWHERE == set(VERBS) - set(NONE)


@pytest.mark.parametrize("verb", COMMANDS)
def test_json_is_whole(command: Command, verb: str) -> None:
    """All of stdout is one document, whatever the exit code says but wrong input."""
    for words in COMMANDS[verb]:
        code, out, error = command(*words, "--json")
        assert code != 2, error
        assert json.loads(out) is not None, words


def test_findings_are_among_them(command: Command) -> None:
    """The commands above do end with findings: 1, 3 and 4."""
    codes = {
        command(*words, "--json")[0]
        for verb in ("sizing", "compare", "report", "health", "align", "audit")
        for words in COMMANDS[verb]
    }
    assert {0, 3, 4} <= codes


def test_wrong_input_prints_nothing(command: Command) -> None:
    """With exit code 2 stdout stays empty, so that no half of a document is read."""
    for words in (
        ("season", "none", "--to", "fresh", "-o", "new.ssd"),
        ("fit", "none", "--drive", S3500, "-o", "x.toml"),
    ):
        code, out, _ = command(*words, "--json")
        assert (code, out) == (2, "")
    assert "name a file" in command("report", "old.json", "-o", "-", "--json")[2]
