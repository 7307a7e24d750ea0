"""The fixture `ssd`: a seed for each test, told where it fails, and given again by an option."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.end_to_end

pytest_plugins = "pytester"

_DRIVE = 'ssd("theory", {"nand.pages_per_block": 32, "buffer.bytes": "0"}, capacity_bytes="64MiB")'
"""A drive that is made at once; what is under program at a cut is drawn."""


def _run(pytester: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(test)
    # A process of its own: what this one has loaded says nothing about a user's.
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)


def _told(result: pytest.RunResult) -> list[str]:
    found = (
        re.search(r"to do the same again: (--ssdlab-seed \d+)$", line) for line in result.outlines
    )
    return [match[1] for match in found if match]


def _raised(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("E ") and "ValueError" in line]


def test_a_failing_test_tells_its_seed(pytester: pytest.Pytester) -> None:
    """Only where it fails; by that seed drives do the same again; each test draws its own."""
    test = f"""
        def lost(ssd):
            drives = [{_DRIVE} for _ in range(2)]
            for drive in drives:
                for unit in range(32):
                    drive.submit_write(4096 * unit, bytes([unit + 1]) * 4096)
                while drive.stats().counters["nand_pages_written"] == 0:
                    drive.step()
            cuts = [[each.offset for each in drive.power_cut().lost] for drive in drives]
            return f"lost {{cuts}}, drew {{ssd.random.random()}}"
        def test_passes(ssd):
            lost(ssd)
        def test_first(ssd):
            raise ValueError(lost(ssd))
        def test_second(ssd):
            raise ValueError(lost(ssd))
    """
    first = _run(pytester, test)
    first.assert_outcomes(passed=1, failed=2)
    seeds = _told(first)
    assert len(set(seeds)) == 2
    lost = _raised(first)
    assert len(set(lost)) == 2
    again = _run(pytester, test, *seeds[1].split())
    assert _told(again) == [seeds[1]] * 2
    assert _raised(again) == [lost[1]] * 2


def test_drives_of_one_test_differ(pytester: pytest.Pytester) -> None:
    """Each has a seed of its own, the first that of the test."""
    test = f"""
        def test_seeds(ssd):
            assert [{_DRIVE}.seed for _ in range(3)] == [7, 8, 9]
            assert ssd.seed == 7
    """
    _run(pytester, test, "--ssdlab-seed", "7").assert_outcomes(passed=1)


def test_a_seed_is_a_number(pytester: pytest.Pytester) -> None:
    """Anything else is refused before any test."""
    assert _run(pytester, "", "--ssdlab-seed", "x").ret == pytest.ExitCode.USAGE_ERROR


def test_nobody_pays_for_it_unused(pytester: pytest.Pytester) -> None:
    """No module of the package but the plug-in is loaded, and no report changes."""
    test = """
        import sys
        def test_loaded():
            ours = {name for name in sys.modules if name.startswith("ssdlab")}
            lazy = {"ssdlab.ground", "ssdlab.ground.lazy"}
            assert ours == {"ssdlab", "ssdlab.pytest_plugin", *lazy}
            assert "numpy" not in sys.modules
        def test_fails():
            assert False
    """
    result = _run(pytester, test)
    result.assert_outcomes(passed=1, failed=1)
    assert _told(result) == []


def test_it_comes_with_the_package() -> None:
    """A process that knows nothing of it has its option."""
    asked = [sys.executable, "-m", "pytest", "--help"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True, cwd="/").stdout
    assert "--ssdlab-seed=N" in told
