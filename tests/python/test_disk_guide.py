"""The guide to a drive with bytes, docs/howto/disk.md, and its example: a log that loses power."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from test_disk import tiny

pytest_plugins = "pytester"
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/write_ahead_log.py"


def _module(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


write_ahead_log = _module(EXAMPLE)


def test_a_log_survives_cuts_and_its_wrong_one_is_caught() -> None:
    """Through 2,000 losses of power, most of them on clones; without its flush not through 100."""
    assert write_ahead_log.broken_promise(tiny(), True, 2000) is None
    assert write_ahead_log.broken_promise(tiny(), True, 500, clones=0, seed=2) is None
    told = write_ahead_log.broken_promise(tiny(), False, 100)
    assert told is not None
    assert re.match(r"cut \d+: record \d+ is gone; not flushed were writes \d+", told)


def test_the_example_runs() -> None:
    """As docs/howto/disk.md says."""
    asked = [sys.executable, str(EXAMPLE), "50"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "with flush: 50 cuts, nothing lost"
    assert done.stdout.splitlines()[1].startswith("without flush: cut ")
    assert all("the drive had promised write" in each for each in done.stdout.splitlines()[2:])


def test_the_guide_is_right(pytester: pytest.Pytester) -> None:
    """What docs/howto/disk.md shows does what it says there, and tells what the example prints."""
    guide = (ROOT / "docs/howto/disk.md").read_text("utf-8")
    blocks = [
        textwrap.dedent(each) for each in re.findall(r"(?:^(?:    .*)?\n)+", guide, re.MULTILINE)
    ]
    programs = [each for each in blocks if each.lstrip().startswith("import ssdlab")]
    tests = [each for each in blocks if each.lstrip().startswith("def test_")]
    assert (len(programs), len(tests)) == (2, 1)
    for program in programs:
        exec(program, {})
    pytester.makepyfile(tests[0].lstrip())
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
    for title, name, flushes, faults in write_ahead_log.TRIALS[1:]:
        drive = ssdlab.disk(name, capacity_bytes="1GB", faults=faults)
        assert f"{title}: {write_ahead_log.broken_promise(drive, flushes, 100)}\n" in guide
