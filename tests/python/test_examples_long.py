"""Every example of README and of a verb's help ends soon, from a cold start.

`make test-long PART=examples` types each in a folder of its own, without kept drives, and prints
the processor time that it took: at most two minutes, which are one on two idle cores, or it says in
its first lines how long it takes. `SSDLAB_EXAMPLES=sizing` types those that begin so. Examples that
need what a reader has and nobody else (a device, a file of theirs) are named and left out.
"""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import examples

MOST_S = 120.0
SAYS_HOW_LONG = (" take about ", "takes about ")
ASKED = os.environ.get("SSDLAB_EXAMPLES", "")
ALL = list(dict.fromkeys([*examples.of_help(), *examples.of_readme()]))
RUN = [each for each in ALL if ASKED in ("", "all") or each.startswith(f"ssdlab {ASKED}")]


def test_the_examples_are_found() -> None:
    """Of every verb that has some, and of README."""
    verbs = {shlex.split(each)[1] for each in examples.of_help() if each.startswith("ssdlab ")}
    assert {"run", "season", "sizing", "lifetime", "demo", "reproduce", "pts"} <= verbs
    assert any("lifetime" in each for each in examples.of_readme())


@pytest.mark.skipif(not ASKED, reason="a part of make test-long")
@pytest.mark.parametrize("example", RUN)
def test_an_example_ends_soon(example: str, tmp_path: Path) -> None:
    """Within its processor time, or it tells how long it takes before it begins."""
    for name in ("job.fio", "mail.fio"):
        shutil.copy(examples.ROOT / "examples/uniform.fio", tmp_path / name)
    if (lacking := examples.missing(example, tmp_path)) is not None:
        pytest.skip(f"{example}: needs {lacking}")
    before = _children_s()
    done = _typed(example, tmp_path)
    took = _children_s() - before
    if done.returncode == 2:
        pytest.skip(f"{example}: wants more: {done.stderr.splitlines()[-1]}")
    print(f"{took:7.1f} s  exit {done.returncode}  {example}")
    assert done.returncode in (0, 1, 3, 4), done.stderr
    said = any(words in done.stderr for words in SAYS_HOW_LONG)
    assert took <= MOST_S or said, f"{example}: {took:.0f} s"


def _typed(example: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SSDLAB_CACHE": str(folder / "cache"),
    }
    environment.pop("SSDLAB_PROGRESS", None)
    command = ["bash", "-c", example]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
