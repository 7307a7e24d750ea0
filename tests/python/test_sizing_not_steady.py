"""Sizing and lifetime of drives that did not come into steady state: said everywhere, code 5."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import synthetic
from ssdlab.ground.exit_codes import Exit
from ssdlab.study.sizing import lifetime, search
from ssdlab.study.sizing.intervals import not_steady
from ssdlab.study.sizing.load import HostLoad
from ssdlab.study.sizing.simulate import LoadFigures, figures

Command = Callable[..., tuple[int, str, str]]

S3500 = "intel-dc-s3500-80gb"
MIXED = HostLoad(iops=3000, read_share=0.7, block_bytes=4096, bytes_per_day=200e9)
REASON = "write amplification went from 3.000 to 3.200 at the end of 50 rounds"
REACHED = LoadFigures(6000, 3000, 500_000, 500_000, 2.0, 2.0, 1e15, 3000, "4 of 8 dies")
MISSED = replace(REACHED, not_steady=REASON)
SAID = f"NOT STEADY: {REASON}; the figures are not those of a steady state"


def of_run(**told: Any) -> LoadFigures:
    """Give what sizing reads of a made-up run."""
    job = synthetic.job(condition="steady:job")
    season = {"season": {"rounds": [3.0, 3.2]}, "stonewall_group": 0}
    wear = {"wear": {"flash_bytes": 1e11, "rated_cycles": 3000}}
    counters = {"counters": {"nand_host_bytes_written": 4e8}}
    job["ssdlab"] = {**job["ssdlab"], **season, **wear, **counters, **told}
    return figures(synthetic.result(job), MIXED)


def test_what_a_run_tells_is_kept() -> None:
    """The reason that its result gives, words for one that gives none, and nothing if it rests."""
    missed = {"steady_reached": False}
    assert of_run(**missed, not_steady=REASON).not_steady == REASON
    assert of_run(**missed).not_steady == "write amplification still changed"
    assert of_run(steady_reached=True).not_steady is None
    assert not_steady([REACHED, MISSED]) == f"1 of 2 draws, the first: {REASON}"


@pytest.mark.parametrize("p99", ["1ms", "1us"])
def test_a_size_for_a_drive_that_does_not_rest(
    command: Command, monkeypatch: pytest.MonkeyPatch, p99: str
) -> None:
    """Table, answer, JSON and stderr say it; the code is 5 whether it meets or not."""
    monkeypatch.setattr(search, "simulate", lambda *_, **__: MISSED)
    load = ("--writes", "200GB/day", "--iops", "3000", "--p99", p99)
    words = ("sizing", *load, "--drive", S3500, "--spare", "0%")
    code, out, err = command(*words)
    assert code == Exit.NOT_IN_CONDITION, err
    assert "simulated, 4 of 8 dies, NOT STEADY" in out
    assert f"NOT STEADY: {S3500}, 0 % unused" in out
    assert f"{S3500}, 0 % unused" in err and SAID in err
    code, out, _ = command(*words, "--json")
    (row,) = json.loads(out)["sizing"]["rows"]
    assert (code, row["figures"]["not_steady"]) == (Exit.NOT_IN_CONDITION, REASON)
    assert "NOT STEADY" in json.loads(out)["sizing"]["answer"][-1]


def test_a_size_for_a_drive_that_rests(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said of it, and the code is that of the verdict."""
    monkeypatch.setattr(search, "simulate", lambda *_, **__: REACHED)
    words = ("--writes", "200GB/day", "--iops", "3000", "--p99", "1ms", "--drive", S3500)
    code, out, err = command("sizing", *words, "--spare", "0%")
    assert (code, "STEADY" in out + err) == (Exit.DONE, False)


def test_the_life_of_a_drive_that_does_not_rest(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row of each change, the answer, JSON and stderr say it; the code is 5, not 3."""

    def fake(candidate: Any, *_: object, **__: object) -> LoadFigures:
        return REACHED if candidate.unused else MISSED

    monkeypatch.setattr(lifetime, "simulate", fake)
    words = ("lifetime", S3500, "--writes", "20GB/day")
    for more in ((), ("--years", "90")):
        code, out, err = command(*words, *more)
        assert code == Exit.NOT_IN_CONDITION
        rows = {line[:12]: line for line in out.splitlines()}
        assert "NOT STEADY" in rows["as asked    "] and "NOT STEADY" not in rows["20 % unused "]
        assert "NOT STEADY: as asked, " in " ".join(out.split())
        assert f"{S3500}, as asked: {SAID}" in err and "20 % unused: NOT" not in err
    code, out, _ = command(*words, "--json")
    told = json.loads(out)["lifetime"]
    reasons = {each["case"]: each["not_steady"] for each in told["cases"]}
    assert (code, reasons["as asked"], reasons["20 % unused"]) == (5, REASON, None)
    assert told["answer"][-1].startswith("NOT STEADY: as asked")
