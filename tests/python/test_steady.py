"""What steady means: one state of a drive for all jobs, told in every form, and when missed."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssdlab
from ssdlab.engine.policy import Blocks
from ssdlab.engine.result import Result
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit
from ssdlab.report.notebook import summary_html
from ssdlab.report.page import build_html

Command = Callable[..., tuple[int, str, str]]

DRIVE = ("--drive", "theory", "--set", "capacity_bytes=256MiB", "--set", "nand.pages_per_block=32")
WRITES = ("--rw=randwrite", "--bs=4k", "--iodepth=16")
UNIFORM = "uniform random 4 KiB writes over the whole drive"


def lab(command: Command, *words: str) -> dict[str, Any]:
    """Run a job on the drive; give our object of its only job."""
    code, out, err = command("run", *words, "--output-format", "json")
    assert code == 0, err
    (job,) = json.loads(out)["jobs"]
    return dict(job["ssdlab"])


def test_a_job_does_not_make_its_own_steady_state(command: Command) -> None:
    """Whatever a job covers and writes, it begins on the same drive; its own is another one."""
    jobs = [("--io_size=8m",), ("--size=8m",), ("--bs=64k", "--io_size=32m")]
    found = [lab(command, *WRITES, *job, *DRIVE, "--state", "steady") for job in jobs]
    assert len({json.dumps(each["season"]["rounds"]) for each in found}) == 1
    assert {(each["condition"], each["conditioned_by"]) for each in found} == {
        ("steady:uniform", UNIFORM)
    }
    rounds = found[0]["season"]["rounds"][-5:]
    for each in found[:2]:
        # 2048 writes beside rounds of 16384: three standard errors of so few are about a tenth.
        assert each["write_amplification"] == pytest.approx(sum(rounds) / 5, rel=0.1)
    own = lab(command, *WRITES, "--size=8m", *DRIVE, "--state", "steady:job")
    assert (own["condition"], own["steady_reached"]) == ("steady:job", True)
    assert own["conditioned_by"].endswith("random, 4 KiB, each place once a pass, over 8 MiB")


def test_run_and_season_agree(command: Command) -> None:
    """A drive that `season` made is the one that `run --state` makes, and keeps what it is."""
    once = lab(command, *WRITES, "--io_size=16m", *DRIVE, "--state", "steady")
    drive, settings = DRIVE[1], DRIVE[2:]
    code, out, _ = command("season", drive, *settings, "--to", "steady", "-o", "old.ssd")
    assert code == 0 and f"steady under {UNIFORM}" in out
    again = lab(command, *WRITES, "--io_size=16m", "--drive", "old.ssd")
    clocks = {"wall_s": 0, "cpu_s": 0}
    assert {**again, **clocks} == {**once, **clocks}


def test_a_job_is_told_that_its_own_steady_state_is_another(command: Command) -> None:
    """It is said on stderr with the reason, and the drift in the text."""
    _, _, err = command("run", *WRITES, "--size=8m", *DRIVE, "--state=steady")
    assert "it covers 8 MiB of 256 MiB" in err and "--state steady:job" in err
    in_order = ("--rw=write", "--bs=128k", "--iodepth=8", "--loops=3")
    code, out, err = command("run", *in_order, *DRIVE, "--state=steady")
    assert code == 0 and "it writes in order" in err
    assert "condition=steady:uniform" in out and f"steady under {UNIFORM}" in out
    assert "still changing: " in out


def test_larger_units_are_named(command: Command) -> None:
    """Units of 16 KiB are written whole; write amplification is told by bytes and by units."""
    large = ("--set", "nand.page_bytes=16KiB", "--set", "ftl.mapping_unit_bytes=16KiB")
    words = ("run", *WRITES, "--io_size=8m", *DRIVE, *large, "--set", "capacity_bytes=512MiB")
    _, out, _ = command(*words, "--state", "steady")
    assert "uniform random 16 KiB writes, the mapping unit, over the whole drive" in out
    assert "by host bytes (" in out and "by mapping units)" in out


def test_other_conditions_are_told(command: Command) -> None:
    """`filled` and `used` say what was written, and a span which part of the drive."""
    filled = lab(command, *WRITES, "--io_size=4m", *DRIVE, "--state", "filled", "--span", "50%")
    used = lab(command, *WRITES, "--io_size=4m", *DRIVE, "--state", "used")
    assert filled["conditioned_by"] == (
        "sequential 128 KiB writes over the first 50 % of the drive, once"
    )
    assert used["conditioned_by"] == (
        "sequential 128 KiB writes over the whole drive once, "
        "then uniform random 4 KiB writes of as many bytes"
    )


@pytest.mark.parametrize(
    ("state", "own", "since"),
    [
        ("fresh", "", "the writes of earlier jobs alone"),
        ("steady", UNIFORM, f"{UNIFORM}; since then the writes of earlier jobs"),
    ],
)
def test_writes_of_earlier_jobs_are_told(
    command: Command, state: str, own: str, since: str
) -> None:
    """A drive kept behind a run that wrote says so wherever it goes on; the run itself does not."""
    reads = ("--rw=randread", "--number_ios=10")

    def shown(file: str) -> str:
        code, out, err = command("show", file)
        assert code == 0, err
        return out.split("\nparameter ")[0].replace("\n", " ").strip()

    run = (*DRIVE, "--state", state)
    assert (lab(command, *reads, *run, "--save", "read.ssd")["conditioned_by"] or "") == own
    assert (
        lab(command, *WRITES, "--io_size=4m", *run, "--save", "on.ssd")["conditioned_by"] or ""
    ) == own
    assert "earlier jobs" not in shown("read.ssd")
    assert shown("on.ssd").endswith(f"written before by {since}")
    assert lab(command, *reads, "--drive", "on.ssd", "--save", "on.ssd")["conditioned_by"] == since
    code, out, _ = command("run", *reads, "--drive", "on.ssd")
    assert code == 0 and f" by {since}\n" in out.replace(" under ", " by ")
    _, out, _ = command("run", *reads, "--drive", "on.ssd", "--output-format", "json")
    assert since in build_html([Result.from_json(out)])
    code, out, _ = command("season", "on.ssd", "--start-over", "secure-erase", "-o", "erased.ssd")
    assert code == 0 and "earlier jobs" not in out + shown("erased.ssd")


def test_a_recipe_that_ends_in_writes_says_so(command: Command) -> None:
    """The drive file of a recipe is as fresh as its label says only in name, and tells it."""
    code, _, err = command("season", *DRIVE[1:], "--recipe", "fill", "-o", "filled.ssd")
    assert code == 0, err
    told = lab(command, "--rw=randread", "--number_ios=10", "--drive", "filled.ssd")
    assert told["conditioned_by"] == "the writes of earlier jobs alone"


def test_a_season_is_told_to_programs(command: Command) -> None:
    """With --json stdout has what was done, whole, and the drive lies in its file."""
    code, out, _ = command("season", *DRIVE[1:], "--to", "used", "-o", "old.ssd", "--json")
    told = json.loads(out)
    assert (code, told["file"], told["condition"]) == (0, "old.ssd", "used")
    assert Path("old.ssd").stat().st_size > 0


def test_a_job_that_plays_no_part_is_refused(command: Command) -> None:
    """`season --to steady` is the same for all jobs, and refuses one by naming the other."""
    code, _, err = command("season", "theory", "--to", "steady", "--rw=randwrite", "-o", "x.ssd")
    assert (code, "steady:job" in err) == (Exit.WRONG_INPUT, True)
    with pytest.raises(SsdlabError, match="steady:job"):
        ssdlab.drive("theory").season("steady", rw="randwrite")


class Restless:
    """Greedy for a while and then the opposite, in turns: write amplification never settles."""

    TURN = 3000

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, blocks: Blocks) -> int:
        """Choose by valid units: the fewest, or so many that little is gained."""
        self.calls += 1
        valid = blocks.valid.astype("int64")
        valid[valid > blocks.capacity * 0.8] = -1 if self.calls // self.TURN % 2 else 1 << 31
        if self.calls // self.TURN % 2 and valid.max() >= 0:
            return int(valid.argmax())
        return int(np.abs(valid).argmin())


def missed() -> Result:
    """Return a run on a drive that did not become steady."""
    small: dict[str, str | int] = {
        **{"capacity_bytes": "64MiB", "nand.pages_per_block": 32},
        **{"nand.channels": 2, "nand.dies_per_channel": 1},
    }
    return ssdlab.drive("theory", small).run(
        state="steady", gc=Restless(), rw="randwrite", bs="4k", io_size="2m", cache=False
    )


def test_steady_state_of_a_small_theory_drive_is_refused(command: Command) -> None:
    """At 64 MiB write amplification would be 15 % above: refused, with a capacity that does."""
    small = ("theory", "--set", "capacity_bytes=64MiB")
    run = ("run", *WRITES, "--number_ios=100", "--no-cache")
    for words in (
        (*run, "--drive", *small, "--state", "steady"),
        ("season", *small, "--to", "steady"),
    ):
        code, out, err = command(*words)
        assert (code, out) == (2, ""), words
        assert "--set capacity_bytes=64MiB: " in err and "would be 15 % above" in err
        assert "give at least capacity_bytes=472MiB" in err
    stated = ("--set", "ftl.spare_counts=collected", "--state", "steady")
    for taken in (("--state", "used"), stated):
        code, _, err = command(*run, "--drive", *small, *taken)
        assert code == 0, err


def test_what_is_not_steady_says_so_in_python_text_and_page() -> None:
    """A result of a real run: the reason in JSON, and the words everywhere."""
    result = missed()
    job = result.job()
    assert job.lab["steady_reached"] is False
    assert job.not_steady is not None and job.not_steady.startswith("write amplification went from")
    assert "NOT STEADY: write amplification went from" in repr(result)
    assert "NOT STEADY" in summary_html([result])
    assert "NOT STEADY" in build_html([result])
    assert result.rows()[0]["not_steady"] == job.not_steady
    text = ssdlab.engine.render(result.to_json(), "normal")
    assert "condition=steady:uniform NOT STEADY" in text
    assert f"NOT STEADY under {UNIFORM}: {job.not_steady}" in text


def test_the_drift_of_a_job_stands_on_its_page(command: Command) -> None:
    """What changed while it ran, and a limit of its figures; of a job in steady state neither."""
    words = ("run", *WRITES, *DRIVE, "--output-format", "json", "-o", "r.json")
    pages = {}
    for name, how in (
        ("drifts", ("--io_size=1g", "--norandommap")),
        ("rests", ("--io_size=64m", "--state=steady")),
    ):
        assert command(*words, *how)[0] == Exit.DONE
        job = Result.load("r.json").job()
        assert job.drift_told and job.drifts == (name == "drifts")
        assert command("report", "r.json", "-o", "page.html")[0] == Exit.DONE
        pages[name] = Path("page.html").read_text(encoding="utf-8")
        # In the table of conditions, behind what the drive was written by.
        assert f">{job.drift_told}</td>" in pages[name]
    assert "still changing: write amplification 1.00 to " in pages["drifts"]
    means = "from the first tenth of the job to the last. Its figures are means over that"
    assert means in " ".join(pages["drifts"].split())
    assert means not in " ".join(pages["rests"].split()) and "still changing" not in pages["rests"]


@pytest.mark.parametrize("form", ["normal", "json", "terse"])
def test_a_run_that_is_not_steady_ends_with_its_code(
    form: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Terse has no room for it: stderr says it in each form, and the exit code is its own."""
    document = missed().to_json()
    monkeypatch.setattr(import_module("ssdlab.cli.run"), "run_conditioned", lambda *_: document)
    code, out, err = command("run", *WRITES, *DRIVE, "--output-format", form, "-o", "x.txt")
    assert code == Exit.NOT_IN_CONDITION
    assert out == "" and Path("x.txt").exists()
    assert "theory: NOT STEADY: write amplification went from" in err


def test_a_season_that_is_not_steady_ends_with_its_code(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The drive is kept as it is, and the answer says that it is not what was asked for."""
    reason = "write amplification went from 3.000 to 3.200 at the end of 50 rounds"
    answer = {
        **{"condition": "steady:uniform", "conditioned_by": UNIFORM, "rounds": [3.0, 3.2]},
        **{"steady_reached": False, "not_steady": reason},
    }
    monkeypatch.setattr(import_module("ssdlab.cli.season"), "_season", lambda _: answer)
    code, out, err = command("season", "theory", "--to", "steady", "-o", "x.ssd")
    assert code == Exit.NOT_IN_CONDITION
    assert "x.ssd: steady:uniform, NOT STEADY" in out and f"NOT steady under {UNIFORM}" in out
    assert f"x.ssd: NOT STEADY: {reason}" in err


def test_old_results_are_read() -> None:
    """A result of before says `steady`, which was steady under its job; what it lacks is None."""
    data = missed().to_dict()
    old = data["jobs"][0]["ssdlab"]
    for key in ("conditioned_by", "not_steady", "drift"):
        del old[key]
    old["condition"] = "steady"
    job = Result(data).job()
    assert (job.condition, job.conditioned_by, job.drift_told) == ("steady", None, None)
    assert job.not_steady == "write amplification still changed"
    assert "NOT STEADY" in build_html([Result(data)])
