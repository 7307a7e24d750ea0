"""Preconditioned drives are kept for reuse, and change no result."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab import engine
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.experiment import cache
from ssdlab.ground.errors import SsdlabError

Command = Callable[..., tuple[int, str, str]]

SMALL = (("capacity_bytes", "64 MiB"), ("nand.pages_per_block", "16"))
CLOCKS = ("wall_s", "cpu_s", "timestamp", "timestamp_ms", "time", "usr_cpu", "sys_cpu")
JOB = ("--rw=randwrite", "--bs=4k", "--iodepth=8", "--number_ios=2000")


def request(**changes: Any) -> RunRequest:
    """Describe a short job on a small drive in steady state."""
    given = {"drive": "theory", "settings": SMALL, "flags": JOB, "condition": "steady", **changes}
    return RunRequest(**given)


def without_clocks(value: Any) -> Any:
    """Leave out of a result what the clock tells."""
    if isinstance(value, dict):
        return {key: without_clocks(each) for key, each in value.items() if key not in CLOCKS}
    return [without_clocks(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("settings", [SMALL, (*SMALL, ("buffer.bytes", "1 MiB"))])
@pytest.mark.parametrize("condition", ["filled", "used", "steady", "steady:job"])
def test_a_kept_drive_gives_the_same_result(condition: str, settings: Settings) -> None:
    """A run on a drive from the cache is the run that preconditions the drive, to the digit."""
    asked = request(condition=condition, settings=settings)
    alone = engine.run(asked)
    kept, again = (cache.run_conditioned(asked) for _ in range(2))
    assert len(cache.entries()) == 1
    assert without_clocks(json.loads(kept)) == without_clocks(json.loads(alone))
    assert without_clocks(json.loads(again)) == without_clocks(json.loads(alone))


SCALED = (
    ("capacity_bytes", "256 MiB"),
    ("nand.channels", "4"),
    ("nand.dies_per_channel", "4"),
    ("nand.pages_per_block", "16"),
)
"""A drive that can be made of copies: sixteen dies of more than 256 blocks."""
FOLDED = (
    ("ftl.slc_cache", "dynamic"),
    ("ftl.slc_cache_bytes", "4 MiB"),
    ("ftl.slc_fold_at", "0.25"),
    ("ftl.idle_gc_after_ms", "1"),
    ("over_provisioning", "0.6"),
)
"""With a cache that is folded while the host writes, it cannot."""


@pytest.mark.parametrize("settings", [SCALED, (*SCALED, *FOLDED)])
def test_the_two_ways_into_steady_state_are_kept_apart(settings: Settings) -> None:
    """A drive that grew out of copies is never taken for one that did not, and says what it is."""
    flags = (*JOB, "--norandommap")
    asked = request(settings=settings, flags=flags, exact=True)
    scaled = request(settings=settings, flags=flags)
    runs = [json.loads(cache.run_conditioned(each)) for each in (asked, scaled, asked, scaled)]
    alone = [json.loads(engine.run(each)) for each in (asked, scaled)]
    assert len(cache.entries()) == 2
    assert [without_clocks(run) for run in runs] == [without_clocks(run) for run in alone * 2]
    labs = [run["jobs"][0]["ssdlab"] for run in alone]
    is_scaled = "ftl.slc_cache" not in dict(settings)
    assert [("scale_model" in lab["season"]) for lab in labs] == [False, is_scaled]
    assert [("no_scale_model" in lab["season"]) for lab in labs] == [False, not is_scaled]
    assert is_scaled or "is folded" in labs[1]["season"]["no_scale_model"]


def test_there_are_two_ways_into_steady_state_only(command: Command) -> None:
    """The option needs the one condition that it is for, and `season` tells the way."""
    code, _, err = command("run", *JOB, "--drive", "theory", "--exact", "--state", "used")
    assert (code, "is for steady state only; add --state steady" in err) == (2, True)
    flags = [f"--set={key}={value}" for key, value in SCALED]
    told = command("season", "theory", *flags, "--to", "steady", "-o", "new.ssd")
    assert told[0] == 0
    assert "of the scale model" in told[1]
    assert "8 copies of a drive with 2 dies" in told[2]
    told = command("season", "theory", *flags, "--to", "steady", "--exact", "-o", "exact.ssd")
    assert (told[0], told[2]) == (0, "")
    assert "scale model" not in told[1]


def test_the_second_run_preconditions_nothing() -> None:
    """Only the first run fills the drive."""
    phases: list[list[str]] = []
    for _ in range(2):
        seen: list[str] = []

        def note(phase: str, _share: float, seen: list[str] = seen) -> bool:
            seen.append(phase)
            return True

        cache.run_conditioned(request(), note)
        phases.append(seen)
    assert "fill" in phases[0]
    assert "fill" not in phases[1]


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"condition": "used"},
        {"condition": "steady:job"},
        {"span": 0.5},
        {"settings": (*SMALL, ("ftl.gc", "fifo"))},
    ],
)
def test_what_shapes_the_drive_is_in_its_name(change: dict[str, Any]) -> None:
    """Another seed, condition, span, parameter or steadying job is another drive."""
    cache.run_conditioned(request())
    cache.run_conditioned(request(**change))
    assert len(cache.entries()) == 2


def test_a_jobs_own_steady_state_has_the_job_in_its_name() -> None:
    """Under a job's own writes another job is another drive; under uniform ones it is the same."""
    skewed = (*JOB, "--random_distribution=zipf:1.2")
    for flags in (JOB, skewed):
        cache.run_conditioned(request(flags=flags, condition="steady:job"))
    assert len(cache.entries()) == 2
    for each in (JOB, skewed, ("--rw=randread", "--bs=64k", "--size=1m")):
        cache.run_conditioned(request(flags=each))
    assert len(cache.entries()) == 3


COMPRESSING = (*SMALL, ("controller.compression", "true"))


@pytest.mark.parametrize(("settings", "drives"), [(SMALL, 1), (COMPRESSING, 2)])
def test_how_far_data_compress_counts_where_the_drive_compresses(
    settings: Settings, drives: int
) -> None:
    """Uniform writes are incompressible unless the job says otherwise, which the drive tells."""
    compressible = (*JOB, "--buffer_compress_percentage=40")
    told = []
    for flags in (JOB, compressible):
        asked = request(flags=flags, settings=settings)
        kept, alone = cache.run_conditioned(asked), engine.run(asked)
        assert drives == 1 or without_clocks(json.loads(kept)) == without_clocks(json.loads(alone))
        told.append(json.loads(kept)["jobs"][0]["ssdlab"]["conditioned_by"])
    assert len(cache.entries()) == drives
    uniform = "uniform random 4 KiB writes over the whole drive"
    assert told == [uniform, f"{uniform}, compressible by 40 %" if drives == 2 else uniform]


def test_layers_lie_over_the_same_drive() -> None:
    """One drive serves a run with layers and one without; members of an array are not kept."""
    asked = request(layers=("partition:start_sector=63",))
    kept = cache.run_conditioned(asked)
    assert without_clocks(json.loads(kept)) == without_clocks(json.loads(engine.run(asked)))
    cache.run_conditioned(request())
    assert len(cache.entries()) == 1
    cache.run_conditioned(request(layers=("raid:level=0,disks=2",)))
    assert len(cache.entries()) == 1


def test_the_engine_is_in_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive of another build of the engine is not used."""
    cache.run_conditioned(request())
    monkeypatch.setattr(cache, "engine_hash", lambda: "another build")
    cache.run_conditioned(request())
    assert len(cache.entries()) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"cache": False},
        {"condition": None},
        {"condition": "fresh"},
        {"condition": "steady:job", "layers": ("partition",)},
        {"condition": "used", "layers": ("partition",)},
    ],
)
def test_what_is_not_kept(change: dict[str, Any]) -> None:
    """Without a condition, over layers, or where nobody wants it, nothing is kept."""
    cache.run_conditioned(request(**change))
    assert cache.entries() == []


def test_a_hard_disk_says_why_it_has_no_condition() -> None:
    """The refusal is the engine's, with the cache and without."""
    with pytest.raises(SsdlabError, match="hard disk"):
        cache.run_conditioned(request(drive="fujitsu-mhz2250bh", settings=()))
    assert cache.entries() == []


def test_the_limit_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The drive used longest ago makes room; one that is larger than the limit is not kept."""
    for seed in (1, 2, 3):
        cache.run_conditioned(request(seed=seed))
    size = max(entry.size_bytes for entry in cache.entries())
    cache.run_conditioned(request(seed=1))
    monkeypatch.setenv("SSDLAB_CACHE_BYTES", str(3 * size + size // 2))
    cache.run_conditioned(request(seed=4))
    assert sorted(entry.seed for entry in cache.entries()) == [1, 3, 4]
    monkeypatch.setenv("SSDLAB_CACHE_BYTES", "1000")
    cache.run_conditioned(request(seed=5))
    assert 5 not in [entry.seed for entry in cache.entries()]


@pytest.mark.parametrize("text", ["-1", "ten", "1e9"])
def test_a_limit_that_is_none(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A limit that is no number of bytes is refused."""
    monkeypatch.setenv("SSDLAB_CACHE_BYTES", text)
    with pytest.raises(SsdlabError, match="must be a number of bytes"):
        cache.run_conditioned(request())


def test_a_folder_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on where nothing can be kept."""
    monkeypatch.setenv("SSDLAB_CACHE", "/proc/nowhere")
    assert json.loads(cache.run_conditioned(request()))["jobs"]


def test_the_command_lists_and_clears(
    command: Command, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ssdlab cache` shows what is kept, and removes it once somebody has agreed."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert command("cache", "list")[1] == f"{own_cache}: empty\n"
    flags = [f"--set={key}={value}" for key, value in SMALL]
    run = ("run", *JOB, "--drive", "theory", *flags, "--state", "used")
    assert command(*run, "--no-cache")[0] == 0
    assert command("cache", "list")[1] == f"{own_cache}: empty\n"
    assert command(*run)[0] == 0
    listed = json.loads(command("cache", "list", "--json")[1])
    assert [(each["drive"], each["condition"], each["seed"]) for each in listed] == [
        ("theory", "used", 1)
    ]
    assert "theory" in command("cache", "list")[1]
    code, _, err = command("cache", "clear")
    assert code == 2, "nobody is there to be asked"
    assert "remove one drive (" in err and "give --yes" in err
    assert len(cache.entries()) == 1
    (own_cache / "something-else.ssd").write_text("not ours")
    code, out, _ = command("cache", "clear", "--yes")
    assert (code, "removed" in out) == (0, True)
    assert [path.name for path in own_cache.iterdir()] == ["something-else.ssd"]


def test_drives_of_one_name_are_told_apart(command: Command) -> None:
    """What was asked for besides drive, condition and seed stands in the list."""
    cache.run_conditioned(request())
    cache.run_conditioned(request(span=0.5))
    made = {entry.made_by for entry in cache.entries()}
    settings = " ".join(f"--set {key}={value}" for key, value in SMALL)
    assert len(made) == 2
    assert all(each.startswith(settings) for each in made)
    assert any("--span 0.5" in each for each in made)
    assert "--span 0.5" in command("cache", "list")[1]
