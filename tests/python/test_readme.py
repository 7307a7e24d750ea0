"""README, docs/howto and docs/tutorial: each command runs as it stands, and prints what is shown.

`pytest --renew-golden` (`make golden`) writes what they print into the documents, README's picture
into ``docs/demo.svg``, and the machine of the audit into ``examples/server.json``.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from builders import readme_server
from ssdlab.machine.audit.capture import capture
from test_attach import missing

pytestmark = pytest.mark.end_to_end

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
COMMANDS = ROOT / "docs/howto/commands.md"
PICTURE = ROOT / "docs/demo.svg"
SERVER = ROOT / "examples/server.json"
_INDENT = "    "
_PROMPT = f"{_INDENT}$ "


@dataclass(frozen=True)
class Step:
    """A command of the README.

    Attributes
    ----------
    command
        What a reader types, in as many lines as the shell needs.
    shown
        The lines that the README shows below it.
    begin, end
        Where those lines stand, counted from 0.
    """

    command: str
    shown: list[str]
    begin: int
    end: int


def _steps(lines: list[str]) -> Iterator[Step]:
    at = 0
    while at < len(lines):
        if not lines[at].startswith(_PROMPT):
            at += 1
            continue
        command = lines[at].removeprefix(_PROMPT)
        at += 1
        while not _is_complete(command):
            command += "\n" + lines[at].removeprefix(_INDENT)
            at += 1
        begin = at
        while at < len(lines) and lines[at].startswith(_INDENT) and lines[at][4:6] != "$ ":
            at += 1
        shown = [line.removeprefix(_INDENT) for line in lines[begin:at]]
        yield Step(command, shown, begin, at)


def _is_complete(command: str) -> bool:
    asked = subprocess.run(["bash", "-n", "-c", command], capture_output=True, check=False)
    return asked.returncode == 0 and not command.endswith("\\")


def _run(step: Step, folder: Path) -> list[str]:
    """Type a command; give what a reader sees, of stdout and stderr."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(folder / "cache"),
        # What a pipe gets; who runs the tests may have another terminal.
        "COLUMNS": "100",
    }
    done = subprocess.run(
        ["bash", "-c", step.command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{step.command}\n{done.stdout}"
    return [line.rstrip() for line in done.stdout.rstrip("\n").splitlines()]


def test_example_server_is_a_capture(request: pytest.FixtureRequest) -> None:
    """The example is what a capture of that machine holds now: it has all that the audit asks."""
    made = capture(readme_server().system())
    if request.config.getoption("--renew-golden"):
        SERVER.write_text(made, encoding="utf-8")
    assert made == SERVER.read_text(encoding="utf-8"), "renew it with: make golden"


def _print_what_they_show(document: Path, folder: Path, renews: bool) -> None:
    lines = document.read_text(encoding="utf-8").splitlines()
    steps = list(_steps(lines))
    assert len(steps) > 2, f"the console blocks of {document} are not found"
    pairs = [(step, _run(step, folder)) for step in steps]
    if not renews:
        for step, output in pairs:
            assert output == step.shown, f"{step.command}\nif this is right: make golden"
        return
    for step, output in reversed(pairs):
        lines[step.begin : step.end] = [_INDENT + line for line in output]
    document.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the shipped examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=lambda *_: ["victim-policy"])
    return tmp_path


def test_commands_print_what_is_shown(request: pytest.FixtureRequest, folder: Path) -> None:
    """Every `$` line, in the order of the documents."""
    renews = request.config.getoption("--renew-golden")
    for document in (README, COMMANDS):
        _print_what_they_show(document, folder, renews)
    picture = _picture((folder / "demo/report.html").read_text("utf-8"))
    if renews:
        PICTURE.write_text(picture, encoding="utf-8")
    assert picture == PICTURE.read_text(encoding="utf-8"), "if this is right: make golden"


@pytest.mark.parametrize("reader", ["buyer", "administrator", "researcher"])
def test_a_tutorial_prints_what_is_shown(
    reader: str, request: pytest.FixtureRequest, folder: Path
) -> None:
    """Every `$` line of a tutorial, in an empty folder with the shipped examples."""
    document = ROOT / f"docs/tutorial/{reader}.md"
    _print_what_they_show(document, folder, request.config.getoption("--renew-golden"))


def _picture(page: str) -> str:
    """Return the chart that a demo's page opens with, in the page's light colours."""
    found = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert found is not None
    chart = found[0]
    for name, colour in re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]+)", page.partition("@media")[0]):
        chart = chart.replace(f"var({name})", colour)
    assert "var(" not in chart
    return chart.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"


@pytest.mark.parametrize(
    ("first", "tools"),
    [("drive", ["mkfs.ext4", "fio"]), ("disk", ["qemu-io"])],
    ids=["mounted", "over NBD"],
)
def test_it_is_mounted_as_it_stands(first: str, tools: list[str], tmp_path: Path) -> None:
    """The five lines that mount a drive, and those that do without root, in an empty folder."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin"
    lacks = [tool for tool in tools if shutil.which(tool, path=path) is None]
    reason = f"{lacks[0]} is not here" if lacks else missing() if first == "drive" else None
    if reason is not None:
        pytest.skip(reason)
    text = (README if first == "drive" else COMMANDS).read_text(encoding="utf-8")
    (block,) = re.findall(rf"\n\n((?:    .*\n)*    .*-o {first} --wait-ready\n(?:    .*\n)*)", text)
    assert len(block.splitlines()) == 5
    environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def typed(script: str) -> subprocess.CompletedProcess[str]:
        words = ["bash", "-e", "-c", script]
        return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)

    done = typed(textwrap.dedent(block))
    if done.returncode != 0:
        typed("umount mnt || :; ssdlab detach drive || :; kill $(cat */pid)")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("write amplification" in done.stdout) == (first == "drive")


def test_python_block_prints_what_is_shown(request: pytest.FixtureRequest) -> None:
    """Every `>>>` line, one after the other."""
    text = README.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    examples = doctest.DocTestParser().get_examples(text)
    assert examples, "the README's Python block is not found"
    for example in examples:
        seen = io.StringIO()
        with contextlib.redirect_stdout(seen):
            exec(compile(example.source, "README.md", "single"), names)
        if request.config.getoption("--renew-golden") and example.want:
            text = text.replace(f"{_INDENT}{example.want}", f"{_INDENT}{seen.getvalue()}")
            README.write_text(text, encoding="utf-8")
        else:
            assert seen.getvalue() == example.want, example.source


def test_citation_is_of_this_version() -> None:
    """CITATION.cff gives the version of the crates."""
    crates = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "([^"]+)"', crates, re.M)
    assert version is not None
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {version[1]}\n" in cited


def test_what_ci_runs_is_named() -> None:
    """README and CONTRIBUTING name every command of `.ci/run`."""
    ran = re.findall(r"^make [a-z0-9-]+", (ROOT / ".ci/run").read_text(encoding="utf-8"), re.M)
    assert "make test" in ran
    for document in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        assert [command for command in ran if f"{command} " not in text] == []
