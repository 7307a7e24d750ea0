"""Standard streams: named as a file, full, closed, gone, of few signs; notices on stderr."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import ssdlab
from process import RUN, SMALL, WRITERS, ssdlab_run
from ssdlab import engine

pytestmark = pytest.mark.end_to_end

EXAMPLES = Path(__file__).parents[2] / "examples"
SSD = "intel-x25-m-g2-80gb"
Command = Callable[..., tuple[int, str, str]]


def test_minus_and_dev_stdout_are_stdout(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every output; no file of that name is made."""
    monkeypatch.chdir(inputs)
    begun = set(os.listdir())
    for place in ("-", "/dev/stdout"):
        into_a_pipe = "{} | cat"
        _, out, _ = ssdlab_run(*RUN, "--output-format=json", "-o", place, shell=into_a_pipe)
        assert json.loads(out)["jobs"]
        _, out, _ = ssdlab_run("report", "old.json", "-o", place, shell=into_a_pipe)
        assert out.rstrip().endswith("</html>")
        _, out, _ = ssdlab_run(*RUN, f"--write_iolog={place}", shell=into_a_pipe)
        assert out.startswith("fio version 3 iolog\n") and "IOPS=" in out
        _, out, err = ssdlab_run(
            *WRITERS["season -o"](place), shell="{} | (head -c 14; cat > /dev/null)"
        )
        assert (out, err) == ("ssdlab drive 8", "stdout: fresh\n")
        code, out, err = ssdlab_run(*RUN, "--save", place)
        assert (code, out) == (2, "") and "stdout already receives the results" in err
    assert set(os.listdir()) == begun


def test_a_pipe_as_stdout_works(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused as a file to replace is a fine stdout."""
    monkeypatch.chdir(inputs)
    os.mkfifo("pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text()))
    reader.start()
    code, _, err = ssdlab_run(*RUN, "--output-format=json", shell="{} > pipe")
    reader.join()
    assert (code, err) == (0, "")
    assert json.loads(read[0])["jobs"]


TALKERS = {
    "help": ("--help",),
    "drives": ("drives",),
    "drives --json": ("drives", "--json"),
    "show": ("show", "theory"),
    "run": RUN,
    "season": ("season", *SMALL, "--to", "fresh", "-o", "-"),
    "compare": ("compare", "old.json", "old.json"),
    "report": ("report", "old.json", "-o", "-"),
    "explain": ("explain", "-o", "-"),
    "explain --json": ("explain", "--json"),
    "theory": ("theory", "--op", "0.1"),
}


@pytest.mark.parametrize("name", TALKERS)
def test_stdout_full_closed_or_gone(
    inputs: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """One line and 2 where the output is lost; silence and 0 where the reader has left."""
    monkeypatch.chdir(inputs)
    code, _, err = ssdlab_run(*TALKERS[name], shell="{} > /dev/full")
    assert (code, err) == (2, "ssdlab: standard output: No space left on device\n")
    code, _, err = ssdlab_run(*TALKERS[name], shell="{} >&-")
    assert (code, err) == (2, "ssdlab: standard output: Bad file descriptor\n")
    code, _, err = ssdlab_run(*TALKERS[name], shell="{} >&- 2>&-")
    assert (code, err) == (2, "")
    # The reader's end is closed before anything is written.
    code, _, err = ssdlab_run(*TALKERS[name], shell="(sleep 0.1; {}) | true")
    assert (code, err.replace("stdout: fresh\n", "")) == (0, "")


FOUND = {
    "health": ("health", "--from", "worn.json"),
    "health of two": ("health", "--from", "worn.json", "drive.json", "--format", "json"),
    "run": ("run", "--rw=sideways", "--drive", *SMALL),
    "align": ("align", "check", "--layer", "partition:start_sector=63", "--drive", SSD),
    "audit": ("audit", "--root", "server.json"),
}
"""Verbs that find something, or are asked for what there is not."""


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_stays_the_exit_code(
    inputs: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A reader who leaves, before the first line or behind it, takes no finding with him."""
    monkeypatch.chdir(inputs)
    content = json.loads(Path("drive.json").read_text(encoding="utf-8"))
    Path("worn.json").write_text(json.dumps(content | {"smart_status": {"passed": False}}))
    shutil.copy(EXAMPLES / "server.json", "server.json")
    code, _, err = ssdlab_run(*FOUND[name], shell="{} | cat")
    assert code in (1, 2, 3, 4), err
    for reader in ("(sleep 0.1; {}) | true", "{} | head -1"):
        assert ssdlab_run(*FOUND[name], shell=reader)[::2] == (code, err), reader
    unbuffered = {**os.environ, "PYTHONUNBUFFERED": "1"}
    assert ssdlab_run(*FOUND[name], shell="{} | head -1", env=unbuffered)[::2] == (code, err)


def test_a_document_whose_reader_has_left(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes out as bytes is dropped as text is; the file beside it is written whole."""
    monkeypatch.chdir(inputs)
    words = (*RUN, "--write_iolog=-", "--output-format=json", "-o", "new.json")
    code, _, err = ssdlab_run(*words, shell="(sleep 0.1; {}) | true")
    assert (code, err) == (0, "")
    assert json.loads(Path("new.json").read_text())["jobs"]


def test_a_closed_stdout_takes_nothing_for_itself(
    inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result goes to its file, and nothing of it elsewhere, although descriptor 1 was free."""
    monkeypatch.chdir(inputs)
    words = (*RUN, "--output-format=json", "-o", "new.json", "--save", "new.ssd")
    code, _, err = ssdlab_run(*words, shell="{} <&- >&- 2>&-")
    assert code == 0, err
    assert json.loads(Path("new.json").read_text())["jobs"]
    assert ssdlab.drive("new.ssd").show()["condition"] == "fresh"


def test_a_stdout_of_few_signs(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ASCII gets texts in plain signs, and JSON that says the same."""
    monkeypatch.chdir(inputs)
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    code, out, err = ssdlab_run("show", "theory", env=ascii_only)
    assert (code, err) == (0, "") and out.isascii() and " us " in out
    code, out, err = ssdlab_run("drives", "--json", env=ascii_only)
    assert (code, err) == (0, "") and out.isascii()
    assert json.loads(out) == engine.profiles()
    code, out, err = ssdlab_run(*RUN, "--output-format=json", env=ascii_only)
    assert (code, err) == (0, "") and out.isascii() and json.loads(out)["jobs"]


def test_names_that_are_no_text(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of bytes that are not UTF-8 is taken, or refused in one line."""
    monkeypatch.chdir(inputs)
    strange = os.fsdecode(b"\xff")
    code, _, err = ssdlab_run(*RUN, "-o", f"{strange}.json")
    assert (code, err) == (0, "")
    for words in (("show", strange), WRITERS["season -o"](f"{strange}.ssd")):
        code, _, err = ssdlab_run(*words)
        assert (code, "Traceback" in err, "UTF-8" in err) == (2, False, True), err


def test_notices_are_told_on_stderr(command: Command) -> None:
    """What the JSON tells programs, people are told too: once, whatever the number of runs."""
    code, out, err = command(*RUN, "--nice=3", "--seed=1-3", "--output-format=json")
    assert code == 0
    notices = json.loads(out)["jobs"][0]["ssdlab"]["notices"]
    assert len(notices) == 1
    assert err == f"ssdlab: {notices[0]}\n"


def test_a_home_that_cannot_be_written_to(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The drawing library's complaints are left out; the report is made."""
    monkeypatch.chdir(inputs)
    homeless = {**os.environ, "HOME": "/dev/null"}
    for name in ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        homeless.pop(name, None)
    code, out, err = ssdlab_run("report", "old.json", env=homeless)
    assert (code, out, err) == (0, "", "written: report.html\n")
