"""`ssdlab run --scenario`: everyday work on drives, layers and conditions, and two benchmarks."""

from __future__ import annotations

import json
import math
import shlex
import signal
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest

from ssdlab import engine
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit
from ssdlab.study.everyday import catalogue, pcmark, tables
from test_worn_out import SETTINGS, WRITES

pytestmark = pytest.mark.end_to_end

PAGE = (Path(__file__).parents[2] / "docs/reference/everyday.md").read_text(encoding="utf-8")
Command = Callable[..., tuple[int, str, str]]
SMALL = ("--scenario-set", "system.age.fill=0.05")
"""Nearly empty, so that a test is quick; on an SSD places do not matter."""
SSD = "super-talent-ultradrive-gx-256gb"


def told(command: Command, *arguments: str) -> list[dict[str, Any]]:
    code, out, err = command("run", *arguments, "--output-format", "json")
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["scenarios"]
    return found


def test_every_name_runs_a_scenario_of_the_engine() -> None:
    """Each name but PCMark's stands for scenarios that the engine has, and all of its are there."""
    with pytest.raises(SsdlabError) as refused:
        engine.scenario(RunRequest("theory"), "nix")
    known = set(str(refused.value).split("there are ")[1].split(", "))
    named = {each for names in catalogue.NAMES.values() for each in names}
    assert named - {catalogue.PCMARK} == known


def test_the_page_has_every_scenario() -> None:
    """The reference names each with what it runs, and each task of PCMark with its share."""
    rows = [line.split("|") for line in PAGE.splitlines() if line.startswith("| ")]
    named = {row[1].strip(" `"): row[2] for row in rows if len(row) == 6}
    for name, runs in catalogue.NAMES.items():
        assert name in named
        if len(runs) == 1:
            assert named[name].strip(" `") == runs[0]
    tasks = {row[1].strip(): row[2].split()[0] for row in rows if len(row) == 4}
    assert {task: int(tasks[task]) for task in pcmark.READS_PERCENT} == pcmark.READS_PERCENT


def test_the_page_shows_what_is_printed(command: Command) -> None:
    """The example of a fragmented boot prints what the page says."""
    shown = PAGE.split("    $ ssdlab ")[2].splitlines()
    code, out, _ = command(*shlex.split(shown[0]))
    assert code == 0
    assert [line.strip() for line in shown[1:4]] == out.splitlines()


def test_drives_stand_side_by_side(command: Command) -> None:
    """Two drives are two columns of waiting times, which are those of the JSON."""
    drives = ("--drive", "fujitsu-mhz2250bh", "--drive", SSD)
    disk, ssd = told(command, "--scenario", "search", *drives, *SMALL)
    assert (disk["drive"], ssd["drive"]) == ("fujitsu-mhz2250bh", SSD)
    assert disk["elapsed_s"] > ssd["elapsed_s"] > ssd["cpu_s"]
    code, out, _ = command("run", "--scenario", "search", *drives, *SMALL)
    heading, row = out.splitlines()[:2]
    assert code == 0
    assert heading.split() == ["seconds", "of", "waiting", "fujitsu-mhz2250bh", SSD]
    shown = [float(cell) for cell in row.split()[1:]]
    assert shown == pytest.approx([disk["elapsed_s"], ssd["elapsed_s"]], rel=0.005)


def test_packages_are_three_jobs_and_encryption_costs(command: Command) -> None:
    """Searching, installing, purging; over a slow cipher none is faster, and reading is slower."""
    plain = told(command, "--scenario", "packages", "--drive", SSD, *SMALL)
    slow = ("--layer", "crypt:mb_per_s=20,cores=1")
    below = told(command, "--scenario", "packages", "--drive", SSD, *SMALL, *slow)
    names = ["search-packages", "install-package", "purge-package"]
    assert [each["scenario"] for each in plain] == names
    assert below[0]["layers"] == ["crypt:mb_per_s=20,cores=1"]
    for one, other in zip(plain, below, strict=True):
        assert other["elapsed_s"] >= one["elapsed_s"]
    # 56 MB at 20 MB/s are 2.8 s, against about half a second of reading.
    assert below[0]["elapsed_s"] > plain[0]["elapsed_s"] + 1.5


def test_a_condition_is_the_drives_own(command: Command) -> None:
    """Durable writes on a steady drive wait for collection; the state is said in the result."""
    drive = ("--drive", "intel-x25-m-g1-80gb", "--set", "capacity_bytes=4GB")
    work = ("--scenario", "sync", *SMALL, "--scenario-set", 'system.age.system_bytes="64 MiB"')
    (fresh,) = told(command, *work, *drive)
    (steady,) = told(command, *work, *drive, "--state", "steady")
    (again,) = told(command, *work, *drive, "--state", "steady", "--no-cache")
    assert (fresh["condition"], steady["condition"]) == (None, "steady:uniform")
    assert steady["conditioned_by"] == "uniform random 4 KiB writes over the whole drive"
    assert (fresh["conditioned_by"], steady["steady_reached"]) == (None, True)
    assert steady["elapsed_s"] > fresh["elapsed_s"]
    assert again["elapsed_s"] == steady["elapsed_s"]


def test_a_hard_disk_has_no_condition(command: Command) -> None:
    """Beside a used SSD a disk is what it always is."""
    drive = ("--scenario", "dd", "--drive", "fujitsu-mhz2250bh")
    (plain,) = told(command, *drive)
    (used,) = told(command, *drive, "--state", "used")
    assert (used["elapsed_s"], used["condition"]) == (plain["elapsed_s"], None)


def test_pcmark_by_its_tasks(command: Command) -> None:
    """The score is the geometric mean of eight rates; the document's drive has its points."""
    drives = ("--drive", "intel-x25-m-g1-80gb", "--drive", "fujitsu-mhz2250bh")
    ssd, disk = told(command, "--scenario", "pcmark", *drives)
    assert len(ssd["tasks_mb_per_s"]) == 8
    assert ssd["score_mb_per_s"] == pytest.approx(geometric_mean(ssd["tasks_mb_per_s"].values()))
    assert ssd["points"] == pytest.approx(29879)
    share = disk["score_mb_per_s"] / ssd["score_mb_per_s"]
    assert disk["points"] == pytest.approx(29879 * share)


def test_weights_by_hand() -> None:
    """Logarithms of 11536/11902 and 23252/29879, of 11140/11902 and 23438/29879."""
    recipe, long = pcmark.weights()
    assert recipe.value == pytest.approx(0.03123 / 0.25076, abs=1e-3)
    assert long.value == pytest.approx(0.06616 / 0.24279, abs=1e-3)
    for weight in (recipe, long):
        assert math.pow(weight.disk, weight.value) == pytest.approx(weight.overall)


def test_pcmark_says_what_the_overall_score_is_not(command: Command) -> None:
    """The text says that most tests are not the disk's, with both weights; the JSON has them."""
    _, out, _ = command("run", "--scenario", "pcmark", "--drive", "theory")
    flat = " ".join(out.split())
    assert "most of PCMark's tests do not test the disk" in flat
    assert (
        "0.12 by the drive aged by the recipe" in flat and "0.27 by the drive in long use" in flat
    )
    _, out, _ = command(
        "run", "--scenario", "pcmark", "--drive", "theory", "--output-format", "json"
    )
    weights = json.loads(out)["pcmark_overall_weight_of_disk"]
    assert list(weights.values()) == pytest.approx([0.1246, 0.2725], abs=1e-4)


def test_bonnie_by_hand() -> None:
    """1 GB written in 10 s are 100 MB/s; 8000 places in 4 s and their writing back in 1 s, 1600."""
    steps = [(1e9, 10), (1e9, 20), (1e9, 5), (8000 * 8192, 4), (800 * 8192, 1)]
    outcome = {"steps": [{"program_bytes": size, "elapsed_s": time} for size, time in steps]}
    assert list(tables.bonnie_rates(outcome).values()) == [100, 50, 200, 1600]


def test_bonnie_runs_on_a_drive(command: Command) -> None:
    """The four lines of Bonnie++ are there; rewriting is slower than reading."""
    (bonnie,) = told(command, "--scenario", "bonnie", "--drive", SSD)
    rates = tables.bonnie_rates(bonnie)
    assert rates["rewrite, MB/s"] < rates["read, MB/s"]
    _, out, _ = command("run", "--scenario", "bonnie", "--drive", SSD)
    assert "seeks a second" in out and "rewrite, MB/s" in out


def test_extents_as_asked_for(command: Command) -> None:
    """Four extents a file cost a disk time; the table counts them as filefrag would."""
    drive = ("--scenario", "start", "--drive", "fujitsu-mhz2250bh", *SMALL)
    asked = ("--scenario-set", "system.age.extents_per_file=4")
    (whole,) = told(command, *drive)
    (broken,) = told(command, *drive, *asked)
    assert whole["extents_per_file"] == 1
    assert broken["extents_per_file"] == pytest.approx(4, rel=0.01)
    assert broken["elapsed_s"] > 1.2 * whole["elapsed_s"]
    _, out, _ = command("run", *drive, *asked)
    assert out.splitlines()[2].split()[-2:] == ["4.00", str(broken["most_extents"])]


def test_text_and_json_into_a_file(command: Command) -> None:
    """-o takes either form and leaves stdout empty."""
    for form, mark in (("normal", "extents"), ("json", '"extents_per_file"')):
        code, out, _ = command(
            *("run", "--scenario", "dd", "--drive", "theory", "--output-format", form),
            *("-o", "found.txt"),
        )
        assert (code, out) == (0, "")
        assert mark in Path("found.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scenario", "bot"), "did you mean boot?"),
        (("--scenario", "boot", "--rw=read"), "--rw=read belongs to a job"),
        (("--scenario", "boot", "--save", "x.ssd"), "--save belongs to a job"),
        (("--scenario", "boot", "--output-format", "terse"), "the formats are normal and json"),
        (("--scenario", "boot", "--minimal"), "the formats are normal and json"),
        (("--scenario", "pcmark", "--scenario-set", "a=1"), "pcmark is a job"),
        (("--scenario", "boot", "--scenario-set", "stat=fresh"), "stat"),
        (("--scenario", "boot", "--scenario-set", "state"), "state"),
        (("--rw=read", "--scenario-set", "state=fresh"), "add --scenario NAME"),
        (
            ("--scenario", "boot", "--scenario-set", "system.age.extents_per_file=5000"),
            "ask for at most",
        ),
    ],
)
def test_what_cannot_be_is_said(command: Command, arguments: tuple[str, ...], message: str) -> None:
    """Each names the option and its remedy, with exit code 2 and no result."""
    code, out, err = command("run", *arguments, "--drive", "theory")
    assert (code, out) == (2, "")
    assert message in err and "Traceback" not in err


def test_a_scenario_needs_a_drive(command: Command) -> None:
    """Without a drive it is said how to name one."""
    code, _, err = command("run", "--scenario", "boot")
    assert code == 2 and "add --drive DRIVE" in err


def test_a_stack_has_no_condition_of_its_own(command: Command) -> None:
    """The remedy names the verb that conditions its drive."""
    Path("host.toml").write_text('drive = "theory"\n[[layer]]\nkind = "crypt"\n')
    code, _, err = command("run", "--scenario", "dd", "--stack", "host.toml", "--state", "filled")
    assert code == 2 and "ssdlab season" in err


def test_stopped_runs_keep_what_every_drive_has(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the second of two scenarios: the first is printed, and the rest is said."""
    real = engine.scenario

    def stopped(request: RunRequest, name: str, values: Settings) -> dict[str, Any]:
        if name == "start-firefox":
            signal.raise_signal(signal.SIGINT)
            raise Stopped
        return real(request, name, values)

    monkeypatch.setattr(engine, "scenario", stopped)
    monkeypatch.setattr("ssdlab.experiment.parallel.cores", lambda: 1)
    code, out, err = command("run", "--scenario", "search,start", "--drive", SSD, *SMALL)
    assert code == 130
    assert "search-packages" in out and "start-firefox" not in out
    assert "kept the 1 of 2 scenarios" in err


def test_a_drive_that_fails_is_a_finding(command: Command) -> None:
    """On a read-only drive: exit code 3, a sentence each, JSON that is whole, and no figures."""
    other = ("--set", "capacity_bytes=64MiB", "--set", "reliability.rated_cycles=3")
    job = ("run", "--drive", "samsung-990-pro-1tb", *SETTINGS, *other, *WRITES, "--io_size=2g")
    assert command(*job, "--save", "worn.ssd")[0] == Exit.FINDING
    small = ('capacity_bytes="64 MiB"', 'files.rand.mean_bytes="64 KiB"')
    sizes = [word for each in small for word in ("--scenario-set", each)]
    for words in (("--scenario", "dd", *sizes), ("--scenario", "pcmark")):
        asked = ("run", "--drive", "worn.ssd", *words)
        code, out, error = command(*asked)
        assert (code, out.strip()) == (Exit.FINDING, "")
        assert f"worn.ssd, {words[1]}" in error, error
        code, out, _ = command(*asked, "--json")
        (told,) = json.loads(out)["scenarios"]
        assert code == Exit.FINDING and told["failure"] in error and "score_mb_per_s" not in told
    code, out, error = command("run", "--drive", "worn.ssd", "--drive", "theory", *words, "--json")
    both = json.loads(out)["scenarios"]
    assert code == Exit.FINDING and ["failure" in each for each in both] == [True, False]
