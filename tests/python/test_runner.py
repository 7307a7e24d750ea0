"""Chains of runs: one prepared drive, a copy of it for each, and nothing left behind."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.experiment import runner
from ssdlab.experiment.runner import Chain
from ssdlab.ground.errors import Stopped
from test_engine import without_clock

FRESH = RunRequest("theory", (("capacity_bytes", "1GiB"),))
WRITES = replace(FRESH, job_name="writes", flags=("--rw=randwrite", "--bs=4k", "--io_size=16m"))
USED = replace(FRESH, condition="used")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def _performed(chain: Chain) -> list[Result]:
    found: list[Result] = []
    runner.perform(chain, lambda *_: True, lambda _, result: found.append(result))
    return found


def test_every_run_starts_from_a_copy(folder: Path) -> None:
    """Two runs of a chain are alike, and like the run that prepares its drive itself."""
    twice = _performed(Chain((("a", WRITES), ("b", WRITES)), USED))
    alone = json.loads(engine.run(replace(WRITES, condition="used")))
    first, second = (without_clock(each.to_dict()["jobs"]) for each in twice)
    assert first == second == without_clock(alone["jobs"])
    assert list(folder.iterdir()) == []


def test_the_drive_starts_over_once_prepared(folder: Path) -> None:
    """First the condition, then the erase: the drive is fresh, with the wear of a used one."""
    (result,) = _performed(Chain((("", WRITES),), USED, "secure-erase"))
    lab = result.job().lab
    assert (lab["condition"], lab["started_over"]) == ("fresh", "secure-erase")
    assert lab["wear"]["erase_counts"]["mean"] > 1


def test_progress_of_a_chain_goes_forward() -> None:
    """Shares rise from nothing to nearly all, over preparing and both runs."""
    told: list[tuple[str, float]] = []

    def progress(phase: str, share: float) -> bool:
        told.append((phase, share))
        return True

    runner.perform(Chain((("a", WRITES), ("b", WRITES)), USED), progress, lambda *_: None)
    runs = [share for phase, share in told if not phase.startswith("season")]
    assert runs == sorted(runs)
    assert {phase.partition(":")[0] for phase, _ in told} == {"season", "a", "b"}
    assert 0.8 <= runs[0] and runs[-1] <= 1


def test_a_stopped_chain_keeps_nothing(folder: Path) -> None:
    """What was stopped half way is no result, and its drive goes."""
    kept: list[Result] = []
    long = replace(WRITES, flags=("--rw=randwrite", "--bs=4k", "--loops=1000"))
    with pytest.raises(Stopped):
        runner.perform(
            Chain((("a", long),), USED),
            lambda phase, _: phase.startswith("season"),
            lambda _, result: kept.append(result),
        )
    assert kept == [] and list(folder.iterdir()) == []
