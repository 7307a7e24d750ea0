"""Closed forms beside runs, over drawn drives, loads and limits (`make test-long PART=sizing`)."""

from __future__ import annotations

import os
import random

import pytest

from ssdlab.study.sizing.candidate import SINGLE, Candidate, layout, sheet
from ssdlab.study.sizing.closed_form import clearly_keeps, ruled_out
from ssdlab.study.sizing.load import HostLoad, Limits
from ssdlab.study.sizing.ratings import known
from ssdlab.study.sizing.simulate import simulate
from ssdlab.study.sizing.verdict import by_run
from test_sizing import SSDS

DRAWS = int(os.environ.get("SSDLAB_SIZING", "0"))
pytestmark = pytest.mark.skipif(not DRAWS, reason="a part of make test-long")


def _drawn(number: int) -> tuple[Candidate, HostLoad, Limits]:
    chance = random.Random(number)
    drive = chance.choice([each for each in SSDS if each != "theory"])
    candidate = Candidate(drive, chance.choice([0.0, 0.1, 0.2, 0.3]), layout(SINGLE))
    read = chance.choice([0.0, 0.5, 0.7, 0.9])
    iops = 10 ** chance.uniform(2.5, 5)
    most = iops * (1 - read) * 4096 * 86_400
    per_day = min(most, sheet(drive).capacity_bytes * 10 ** chance.uniform(-1.5, 0.7))
    limits = Limits(
        years=chance.choice([None, 1.0, 3.0, 5.0]),
        read_p99_ns=chance.choice([None, None, 60e3]) if read else None,
    )
    return candidate, HostLoad(iops, read, 4096, per_day), limits


@pytest.mark.parametrize("number", range(DRAWS))
def test_what_closed_forms_decide_runs_say_too(number: int) -> None:
    """What is ruled out misses each limit named; what is clear meets."""
    candidate, load, limits = _drawn(number)
    rating = known().get(candidate.drive)
    missed = ruled_out(candidate, load, limits, rating)
    clear = clearly_keeps(candidate, load, limits, rating)
    print(f"{candidate.label}, {load.iops:.0f} IOPS: {missed or ('clear' if clear else 'to run')}")
    if not missed and not clear:
        return
    found = simulate(candidate, load, 1, lambda _phase, _share: True)
    run = by_run(candidate, load, limits, found, 1, rating)
    assert run.meets is clear
    assert set(missed) <= set(() if clear else run.limited_by)
