"""`ssdlab run`: what reaches the engine, what is written, and how it fails."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stand_in import EngineError, StandIn

Command = Callable[..., tuple[int, str, str]]


def test_arguments_reach_the_engine(stand_in: StandIn, command: Command) -> None:
    """Every option of the contract arrives in the engine as it was meant."""
    Path("job.fio").write_text("[job]\nrw=randwrite\n")
    code, _, _ = command(
        *("run", "job.fio", "--drive", "theory", "--set", "ftl.gc=fifo", "--state", "steady"),
        *("--layer", "partition:start_sector=63", "--layer", "crypt:cores=2"),
        *("--span", "80%", "--exact", "--seed", "7", "--no-layout"),
        *("--scale", "dies:4"),
        *("--timeline", "10ms,2ms"),
        *("--save", "out.ssd", "--output-format", "json+", "--iodepth=32", "-bs=8k"),
    )
    assert code == 0
    asked = stand_in.runs[0]
    del asked["progress"]
    assert asked == {
        "drive": "theory",
        "settings": [["ftl.gc", "fifo"]],
        "layers": ["partition:start_sector=63", "crypt:cores=2"],
        "scale": "dies:4",
        "job_text": "[job]\nrw=randwrite\n",
        "job_name": "job.fio",
        "flags": ["--iodepth=32", "--bs=8k"],
        "start_over": None,
        "condition": "steady:uniform",
        "span": 0.8,
        "exact": True,
        "seed": 7,
        "layout": False,
        "timeline": [10_000_000, 2_000_000],
        "json_plus": True,
        "save": "out.ssd",
        "must_be_new": False,
    }


def test_stdout_is_json_and_nothing_else(stand_in: StandIn, command: Command) -> None:
    """A program can read what `--output-format json` prints."""
    code, out, err = command("run", "--rw=randwrite", "--drive", "a", "--output-format", "json")
    assert code == 0
    assert json.loads(out)["jobs"][0]["jobname"] == "randwrite"
    assert err == ""


def test_several_drives_and_seeds_are_one_object(stand_in: StandIn, command: Command) -> None:
    """fio's consumers read one object: all drives' jobs stand in it, each naming its drive."""
    flags = ("--rw=randwrite", "--drive", "a", "--drive", "b", "--seed", "1-2")
    code, out, _ = command("run", *flags, "--output-format", "json")
    assert code == 0
    labs = [job["ssdlab"] for job in json.loads(out)["jobs"]]
    found = [(lab["profile"], lab["seed"]) for lab in labs]
    assert found == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


def test_normal_text_of_several_drives_is_headed(stand_in: StandIn, command: Command) -> None:
    """One text after the other, each under the name of its drive; a single one stands alone."""
    _, out, _ = command("run", "--rw=read", "--drive", "a", "--drive", "b")
    assert out == "== a\nnormal of randwrite\n\n== b\nnormal of randwrite\n"
    _, out, _ = command("run", "--rw=read", "--drive", "a")
    assert out == "normal of randwrite\n"


def test_output_is_written_whole(stand_in: StandIn, command: Command) -> None:
    """The output file holds the result, and nothing else is left in the folder."""
    code, out, _ = command(
        "run", "--rw=read", "--drive", "a", "--output-format=json", "--output=result.json"
    )
    assert (code, out) == (0, "")
    assert json.loads(Path("result.json").read_text())["jobs"]
    assert [entry.name for entry in Path().iterdir()] == ["result.json"]


def test_output_is_tried_before_the_run(stand_in: StandIn, command: Command) -> None:
    """Nothing runs where its result could not be written."""
    code, _, err = command("run", "--rw=read", "--drive", "a", "--output", "missing/result.json")
    assert code == 2
    assert "missing/result.json: No such file or directory; nothing was done" in err
    code, _, err = command("run", "--rw=read", "--drive", "a", "--save", "missing/x.ssd")
    assert code == 2
    assert "--save" in err
    assert stand_in.runs == []


def test_a_failing_run_keeps_the_old_output(stand_in: StandIn, command: Command) -> None:
    """An error leaves the file of the run before as it was, and nothing half-written."""
    Path("result.json").write_text("old")

    def fail(asked: dict[str, Any]) -> None:
        raise EngineError("unknown drive: a\ndid you mean: b")

    stand_in.on_run = fail
    code, out, err = command("run", "--rw=read", "--drive", "a", "--output", "result.json")
    assert (code, out) == (2, "")
    assert err == "ssdlab: unknown drive: a\ndid you mean: b\n"
    assert Path("result.json").read_text() == "old"
    assert [entry.name for entry in Path().iterdir()] == ["result.json"]


def test_an_own_option_mistyped_is_suggested(stand_in: StandIn, command: Command) -> None:
    """fio knows no `--sate`, but we know what was meant."""

    def fail(asked: dict[str, Any]) -> None:
        raise EngineError("unknown option: sate")

    stand_in.on_run = fail
    code, _, err = command("run", "--rw=read", "--drive", "a", "--sate=steady")
    assert code == 2
    assert "ssdlab's own option of that name is --state" in err


def test_interrupt_keeps_what_had_finished(stand_in: StandIn, command: Command) -> None:
    """The first Ctrl-C stops the runs under way; finished ones are written, with a note."""
    second_begins: list[bool] = []

    def interrupt_during_second(asked: dict[str, Any]) -> None:
        if asked["seed"] == 2:
            second_begins.append(True)
            os.kill(os.getpid(), signal.SIGINT)
            while asked["progress"]("run", 0.5):
                pass

    stand_in.on_run = interrupt_during_second
    # One worker only, so that the first seed has finished when the second begins.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ssdlab.experiment.parallel.cores", lambda: 1)
        code, out, err = command(
            "run", "--rw=read", "--drive", "a", "--seed", "1-3", "--output-format=json"
        )
    assert second_begins
    assert code == 130
    assert [job["ssdlab"]["seed"] for job in json.loads(out)["jobs"]] == [1]
    assert "kept the 1 of 3 runs that had finished" in err


def test_a_run_stopped_half_way_is_kept_alone_only(stand_in: StandIn, command: Command) -> None:
    """A single run shows what it had done, as fio does; beside other runs it would mislead."""

    def interrupt(asked: dict[str, Any]) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    stand_in.on_run = interrupt
    stand_in.stops_half_way = True
    code, out, err = command("run", "--rw=read", "--drive", "a", "--output-format=json")
    assert code == 130
    assert json.loads(out)["jobs"][0]["ssdlab"]["interrupted"]
    assert "the figures cover what the run had done by then" in err
    flags = ("--rw=read", "--drive", "a", "--seed", "1-2", "--output", "result.json")
    code, out, err = command("run", *flags)
    assert (code, out) == (130, "")
    assert "nothing had finished" in err
    assert list(Path().iterdir()) == []


def test_interrupt_of_everything_writes_nothing(stand_in: StandIn, command: Command) -> None:
    """Where no run had finished there is no result, and exit code 130."""

    def interrupt(asked: dict[str, Any]) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        while asked["progress"]("run", 0.5):
            pass

    stand_in.on_run = interrupt
    code, out, err = command("run", "--rw=read", "--drive", "a", "--output", "result.json")
    assert (code, out) == (130, "")
    assert "nothing had finished" in err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rw=read"], "no drive: add --drive DRIVE"),
        (["--drive", "a"], "no job"),
        (["--rw=read", "--drive", "a", "--set", "gc"], "--set gc: expected KEY=VALUE"),
        (["--rw=read", "--drive", "a", "--seed", "one"], "--seed one: expected seeds"),
        (["--rw=read", "--drive", "a", "--timeline", "10,2"], "'10' is not a time"),
        (["--rw=read", "--drive", "a", "--span", "80%"], "add --state"),
        (
            ["--rw=read", "--drive", "a", "--state=used", "--span=0"],
            "more than 0% and at most 100%",
        ),
        (["--rw=read", "--drive", "a", "--state", "old"], "'fresh', 'filled', 'used', 'steady'"),
        (
            ["--rw=read", "--drive", "a", "--seed", "1-2", "--save", "x"],
            "--save x: keeps one drive",
        ),
    ],
)
def test_mendable_errors(
    stand_in: StandIn, command: Command, arguments: list[str], message: str
) -> None:
    """Each names place, value and remedy, and exits with 2 before anything is run."""
    code, out, err = command("run", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) <= 3
    assert stand_in.runs == []
