"""``ssdlab season`` on real drives: its recipes, made up and on a loop device in memory."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loop_devices import MIB, digest, loop_device, memory_file, need, stopped_at
from made_target import CAPACITY, MadeTarget
from ssdlab import engine
from ssdlab.bench.plan import MixedLoad, Part, Step
from ssdlab.bench.procedure import PartRun
from ssdlab.bench.real.fio_program import Fio
from ssdlab.bench.real.fio_words import Place, commands
from ssdlab.bench.recipes import RECIPES, plan
from ssdlab.bench.seasoned import seasoned
from ssdlab.bench.store import Store
from ssdlab.ground.exit_codes import Exit

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
SIZE = 24 * MIB


def part_of(name: str, sector_bytes: int = 512) -> Part:
    (test,) = plan(name, 1, sector_bytes).tests
    return test.parts[0]


def carried_out(name: str, target: MadeTarget, folder: Path) -> dict[str, Any]:
    store, part = Store(folder), part_of(name)
    PartRun(part, target, store.part(part.name), 1, lambda *_: True).perform()
    return seasoned(plan(name, 1, 512), store, CAPACITY)


def test_each_fills_the_drive_first() -> None:
    """In order, by 128 KiB; SNIA's twice, the others once; SNIA's without the volatile cache."""
    for name in RECIPES:
        part = part_of(name)
        assert part.conditioning is not None
        load = part.conditioning.load
        assert (load.pattern, load.read_percent, load.block_bytes) == ("sequential", 0, 128 << 10)
        assert part.conditioning.passes == (2.0 if name == "snia" else 1.0)
        assert part.without_cache == (name == "snia")


def test_a_fill_has_no_rounds(tmp_path: Path) -> None:
    """It ends with the last byte, and is known by the bytes."""
    target = MadeTarget()
    found = carried_out("fill", target, tmp_path)
    assert [step.name for step in target.steps] == ["conditioning"]
    assert target.cache == ["on"]
    assert found["rounds"] is None and found["write_cache"] is None
    assert found["fill"]["asked_bytes"] == CAPACITY
    (line,) = found["known_by"]
    assert f"of {CAPACITY:,} bytes that were asked for" in line


def test_random_overwrites_are_the_capacity(tmp_path: Path) -> None:
    """Ten rounds of a tenth each, by bytes and not by time."""
    target = MadeTarget()
    found = carried_out("used", target, tmp_path)
    rounds = target.steps[1:]
    assert [(step.seconds, step.passes) for step in rounds] == [(None, 0.1)] * 10
    assert {step.load.pattern for step in rounds} == {"random"}
    assert found["rounds"]["written_bytes"] == pytest.approx(CAPACITY, rel=1e-4)
    assert found["rounds"]["is_steady"] is None
    assert found["known_by"][-1] == "ended after 10 rounds"


def test_snia_ends_with_the_window(tmp_path: Path) -> None:
    """A drive that slows down for three rounds is steady after eight; the numbers are told."""
    target = MadeTarget(lambda _step, number: 5000.0 if number < 4 else 1000.0)
    found = carried_out("snia", target, tmp_path)
    assert found["rounds"]["count"] == 8
    assert found["rounds"]["judged"]["rounds"] == (4, 5, 6, 7, 8)
    assert found["known_by"][-1].startswith("steady: over rounds 4 to 8 the IOPS average 1,000;")


def test_a_drive_that_is_never_steady_is_told(tmp_path: Path) -> None:
    """After 25 rounds it is left as it is, and the record says so."""
    target = MadeTarget(lambda _step, number: 5000.0 if number % 2 else 1000.0)
    found = carried_out("snia", target, tmp_path)
    assert found["rounds"]["count"] == 25 and not found["rounds"]["is_steady"]
    assert found["known_by"][-1].startswith("NOT STEADY, ended after 25 rounds")


def test_an_hour_of_writes(tmp_path: Path) -> None:
    """Sixty minutes, steady or not: AnandTech's later test has no rule to end sooner."""
    target = MadeTarget()
    found = carried_out("anandtech-consistency", target, tmp_path)
    assert [step.seconds for step in target.steps[1:]] == [60.0] * 60
    assert found["known_by"][-1] == "ended after 60 rounds"


def test_the_documents_recipe(tmp_path: Path) -> None:
    """AnandTech's of 2009: erased, filled in order, then an image over a quarter of the drive."""
    target = MadeTarget()
    found = carried_out("anandtech", target, tmp_path)
    fill, image = target.steps
    assert (fill.load.pattern, fill.load.block_bytes, fill.passes) == ("sequential", 128 << 10, 1)
    assert (image.load.pattern, image.load.read_percent, image.passes) == ("random", 0, 0.25)
    assert found["purge"]["asked"] and "2009" in found["source"]
    assert found["known_by"][-1] == "ended after 1 round"


@pytest.mark.parametrize("name", RECIPES)
def test_on_a_simulated_drive(command: Command, name: str) -> None:
    """Each is carried out in virtual time, and leaves a drive that holds what it wrote."""
    how = ("--set", "capacity_bytes=256MB", "--set", "nand.pages_per_block=32")
    short = ("--cell-seconds", "0.2", "--most-rounds", "3")
    words = ("season", "intel-x25-m-g2-80gb", *how, "--recipe", name, *short, "-o", "used.ssd")
    code, out, error = command(*words, "--json")
    told = json.loads(out)
    # Three rounds are too few for a window of five.
    assert code == (5 if name in ("snia", "jesd219") else 0), error
    assert told["recipe"] == name and told["purge"]["proved"]
    passes = part_of(name).conditioning
    assert passes is not None
    assert told["fill"]["written_bytes"] == pytest.approx(256e6 * passes.passes, rel=0.01)
    parts = [told["fill"], told["rounds"]] if told["rounds"] else [told["fill"]]
    host = engine.show("used.ssd")["counters"]["host_bytes_written"]
    assert host == sum(each["written_bytes"] for each in parts)
    code, out, _ = command(*words[:-1], "again.ssd")
    assert (
        "bytes written" in out and Path("again.ssd").read_bytes() == Path("used.ssd").read_bytes()
    )


def test_a_recipe_is_alone(command: Command) -> None:
    """What only another drive, or another condition, can have is refused by name."""
    recipe = ("season", "theory", "--recipe", "fill")
    for more, said in (
        (("--to", "used"), "--to is for others"),
        (("--dry-run",), "--dry-run is for others"),
        (("-o", "-"), "name a file"),
    ):
        code, out, error = command(*recipe, *more)
        assert (code, out) == (2, "") and said in error, more
    code, _, error = command("season", "wd-velociraptor-300gb", "--recipe", "fill")
    assert code == 2 and "keeps a single SSD" in error
    assert list(Path.cwd().iterdir()) == []


def mix(sector_bytes: int) -> MixedLoad:
    load = part_of("jesd219", sector_bytes).cells[0].load
    assert isinstance(load, MixedLoad)
    return load


def test_requests_of_jesd219() -> None:
    """All sizes and all places add up; where sectors have 4 KiB, small requests have so too."""
    assert sum(percent for _, percent in mix(512).sizes) == 100
    assert dict(mix(512).sizes)[512] == 4
    assert [sum(each) for each in zip(*mix(512).zones, strict=True)] == [100, 100]
    assert dict(mix(4096).sizes) == {4096: 77, 8192: 10, 16384: 7, 32768: 3, 65536: 3}
    (deviation,) = plan("jesd219", 1, 4096).deviations
    assert "4096 bytes" in deviation.instead
    assert plan("jesd219", 1, 512).deviations == ()


def test_jesd219_goes_where_it_should(tmp_path: Path) -> None:
    """fio's log: half of the requests in the first twentieth, two thirds of 4 KiB, 40 % reads."""
    need("fio")
    with loop_device(tmp_path / "drive.img") as device:
        place = Place("libaio", (f"--filename={device}",), 64 * MIB)
        (words,) = commands(Step("mix", mix(512), 7, passes=0.5), place)
        log = tmp_path / "mix"
        Fio().perform([*words, f"--write_lat_log={log}", "--log_offset=1"], None)
    lines = [line.split(",") for line in Path(f"{log}_lat.1.log").read_text().splitlines()]
    reads, sizes, offsets = ([int(line[place]) for line in lines] for place in (2, 3, 4))
    count = len(lines)
    # Of some 5000 draws, three standard deviations are 0.021 at most.
    assert reads.count(0) / count == pytest.approx(0.4, abs=0.03)
    assert sizes.count(4096) / count == pytest.approx(0.67, abs=0.03)
    zones = ((0.0, 0.05, 0.5), (0.05, 0.2, 0.3), (0.2, 1.0, 0.2))
    for first, last, share in zones:
        inside = sum(first * 64 * MIB <= offset < last * 64 * MIB for offset in offsets)
        assert inside / count == pytest.approx(share, abs=0.03)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    need("fio", "wipefs")
    made = memory_file(tmp_path)
    with made.open("wb") as opened:
        opened.truncate(SIZE)
    yield made
    made.unlink()


@pytest.fixture
def device(file: Path) -> Iterator[str]:
    with loop_device(file) as node:
        yield node


@pytest.mark.parametrize("name", RECIPES)
def test_a_dry_run_of_each(command: Command, device: str, file: Path, name: str) -> None:
    """Steps, bytes and source are told, and nothing is written."""
    before = digest(file)
    code, out, _ = command("season", device, "--recipe", name, "--dry-run")
    assert code == 0
    assert RECIPES[name].source in out and "purge; write the capacity" in out
    assert digest(file) == before and list(Path.cwd().iterdir()) == []


def test_a_fill_by_every_count(command: Command, device: str, file: Path) -> None:
    """Every byte once, by fio's count and the kernel's, and none as it was."""
    words = ("season", device, "--recipe", "fill", "--destroy", device)
    code, out, _ = command(*words, "-o", "out")
    assert code == 0
    assert f"{SIZE:,} bytes written by fio's count, {SIZE:,} by the kernel's" in out
    content = file.read_bytes()
    assert bytes(1024) not in [content[at : at + 1024] for at in range(0, SIZE, 1024)]
    result = json.loads(Path("out/result.json").read_text())
    assert result["purge"]["proved"] and result["fill"]["written_bytes"] == SIZE
    code, _, err = command(*words, "-o", "out")
    assert code == 2 and "--resume" in err
    code, _, err = command("report", "out", "-o", "page.html")
    assert code == 2 and "record of `ssdlab season`" in err


@pytest.mark.parametrize("name", ["used", "snia", "jesd219"])
def test_rounds_on_a_device(command: Command, device: str, name: str) -> None:
    """Each round is on disk, with what the kernel saw of it."""
    short = ("--cell-seconds", "0.5", "--most-rounds", "2")
    code, out, err = command(
        "season", device, "--recipe", name, "--destroy", device, *short, "-o", "out"
    )
    assert code == (0 if name == "used" else Exit.NOT_IN_CONDITION), err
    assert f"recipe {name} is done" in out
    for number in (1, 2):
        (cell,) = json.loads(Path(f"out/{name}/round-000{number}.json").read_text())["cells"]
        (job,) = cell["raw"]
        assert job["ssdlab"]["bytes_written_by_kernel"] == cell["write"]["total_bytes"] > 0


def test_it_is_refused_as_by_pts(command: Command, device: str, file: Path) -> None:
    """Without --destroy, or with options of simulated drives; nothing is written."""
    before = digest(file)
    recipe = ("season", device, "--recipe", "fill")
    for words, told in (
        (recipe, f"--destroy {device}"),
        ((*recipe, "--destroy", "/dev/null"), f"--destroy {device}"),
        (("season", device), "recipes: fill, used, snia, anandtech, anandtech-consistency"),
        ((*recipe, "--to", "used"), "--to is for simulated drives"),
        ((*recipe, "--set", "a=b"), "--set is for simulated drives"),
        ((*recipe, "--rw=write"), "a fio option is for simulated drives"),
        (("season", "theory", "--to", "used", "--dry-run"), "--dry-run is for real drives"),
    ):
        code, out, err = command(*words)
        assert (code, out) == (2, "") and told in err, words
    assert digest(file) == before and list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_it_goes_on_after_a_stop(command: Command, device: str, number: int) -> None:
    """Rounds that ended are kept, and the rest follows without another purge or fill."""
    words = ("--recipe", "snia", "--cell-seconds", "0.5", "--most-rounds", "4", "-o", "out")
    stopped_at(Path("out/snia/round-0002.json"), number, "season", device, *words)
    kept = {each: each.read_bytes() for each in Path("out/snia").glob("*.json")}
    assert len(kept) >= 3
    code, out, err = command("season", device, "--destroy", device, *words, "--resume")
    assert code == Exit.NOT_IN_CONDITION, err
    assert {each: each.read_bytes() for each in kept} == kept
    assert "recipe snia is done" in out
