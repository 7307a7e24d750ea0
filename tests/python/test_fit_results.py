"""`ssdlab fit` reads results of the PTS: folders of `ssdlab pts`, and XML files of TKperf."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import ssdlab.cli
from ssdlab.engine.result import Result
from ssdlab.study.fitting import forward
from ssdlab.study.fitting.measurement import SPREAD, TAIL_SPREAD, Measurement, figure, loads
from ssdlab.study.fitting.read_any import read_all
from ssdlab.study.fitting.unknowns import space_of
from test_pts_tkperf import BOMB, IOPS, LAT, TP, document, spoiled, whole

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
BASE = "intel-dc-s3500-80gb"
DRIVE = (BASE, "--set", "capacity_bytes=256MB", "--set", "nand.pages_per_block=32")
LOAD = ("--threads", "2", "--depth", "4")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tests on a tiny drive, with two threads and cells of a tenth of a second."""
    folder = tmp_path_factory.mktemp("pts") / "out"
    words = ("--tests", "iops,tp,lat,wsat,hir", "--cell-seconds", "0.1", "-o", str(folder))
    assert ssdlab.cli.main(["pts", *DRIVE, *LOAD, *words]) == 0
    return folder


@pytest.fixture
def copied(measured: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(measured, tmp_path / "copied"))


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(path: Path) -> list[Measurement]:
    return read_all([str(path)], None).measurements


def of(found: list[Measurement], rw: str, size: str) -> dict[str, Measurement]:
    wanted = {f"--rw={rw}", f"--bs={size}"}
    return {each.metric: each for each in found if wanted <= set(each.load.flags)}


def cell(folder: Path, test: str, name: str) -> Any:
    result = json.loads((folder / "result.json").read_text())
    parts = [part for each in result["tests"] for part in each["parts"]]
    (part,) = [each for each in parts if each["name"] == test]
    (found,) = [each for each in part["cells"] if each["name"] == name]
    return found


def test_cells_become_jobs(measured: Path) -> None:
    """Mix, size, threads times depth; figures are those of the result, times in microseconds."""
    found = read(measured)
    mix = of(found, "randrw", "4k")["iops"]
    assert mix.load.flags == (
        "--rw=randrw",
        "--bs=4k",
        "--rwmixread=65",
        "--iodepth=8",
        "--runtime=2",
        "--time_based",
        "--norandommap",
    )
    assert mix.load.condition == "steady:job"
    assert mix.load.settings == (("capacity_bytes", "256MB"),)
    assert mix.value == cell(measured, "iops", "random 65/35 4 KiB")["both"]["iops"]
    assert mix.place == f"{measured}: iops, random 65/35 4 KiB"
    latency = cell(measured, "lat", "random 0/100 4 KiB")["both"]
    writes = [each for each in found if "--iodepth=1" in each.load.flags and each.value > 150]
    told = {each.metric: each.value for each in writes if "--rw=randwrite" in each.load.flags}
    assert told == {
        "mean_us": pytest.approx(latency["mean_ns"] / 1e3),
        "p99_us": pytest.approx(latency["percentiles_ns"]["99"] / 1e3),
        "p999_us": pytest.approx(latency["percentiles_ns"]["99.9"] / 1e3),
    }
    rate = of(found, "write", "1024k")["mb_per_s"]
    assert rate.load.condition == "filled"
    assert rate.value == cell(measured, "tp-1024k", "sequential 0/100 1024 KiB")["both"]["mb_per_s"]


def test_spread_is_that_of_the_rounds(measured: Path) -> None:
    """Of the window's rounds, by hand; at least that of a figure whose spread is not known."""
    found = read(measured)
    place = [each["name"] for each in json.loads(rounds(measured, 1))["cells"]].index(
        "random 0/100 128 KiB"
    )
    values = [
        json.loads(rounds(measured, number))["cells"][place]["both"]["iops"]
        for number in range(1, 6)
    ]
    mean = sum(values) / 5
    by_hand = (sum((each - mean) ** 2 for each in values) / 4) ** 0.5 / mean
    assert by_hand > SPREAD
    assert of(found, "randwrite", "128k")["iops"].spread == pytest.approx(by_hand)
    assert of(found, "randread", "4k")["mean_us"].spread == SPREAD
    assert of(found, "randread", "4k")["p99_us"].spread == TAIL_SPREAD


def rounds(folder: Path, number: int) -> str:
    return (folder / f"iops/round-{number:04}.json").read_text()


def test_jobs_give_the_figures_of_the_cells(measured: Path) -> None:
    """Run on the drive that was measured, a job gives a read's rate and mean to 2 %.

    So do writes in sequence and write amplification to 5 and 10 %, whose cells were short.
    """
    space = space_of(BASE, ())
    allowed = {("randread", "4k"): 0.02, ("read", "128k"): 0.02, ("randwrite", "4k"): 0.1}
    for (rw, size), tolerance in allowed.items():
        for metric, each in of(read(measured), rw, size).items():
            if metric in ("iops", "mb_per_s", "mean_us", "write_amplification"):
                asked = forward.request(space, each.load, (("nand.pages_per_block", "32"),), 1)
                job = Result.from_json(ssdlab.engine.run(asked)).job()
                assert figure(job, metric) == pytest.approx(each.value, rel=tolerance), metric


def test_the_result_file_stands_for_its_folder(measured: Path) -> None:
    """Both say the same, whatever the file's name is."""
    assert read(measured / "result.json") == read(measured)


def test_what_is_left_out_is_told(measured: Path) -> None:
    """Parts that are not steady, and settings that the fit is not told."""
    notices = read_all([str(measured)], None).notices
    assert any("nand.pages_per_block=32, of which the fit is not told" in each for each in notices)
    steady = {part["name"]: part["steady"] for part in parts_of(measured)}
    left_out = {name for name in steady if any(f": {name} is left out" in each for each in notices)}
    assert left_out == {name for name, is_steady in steady.items() if not is_steady} != set()


def parts_of(folder: Path) -> list[Any]:
    result = json.loads((folder / "result.json").read_text())
    return [part for test in result["tests"] for part in test["parts"]]


def test_saturation_tells_write_amplification(measured: Path) -> None:
    """Of the window's 4 KiB writes alone; the rate belongs to the same run."""
    found = of(read(measured), "randwrite", "4k")
    (part,) = [each for each in parts_of(measured) if each["name"] == "hir"]
    assert part["steady"]
    assert found["write_amplification"].value == part["write_amplification"]
    assert "--runtime=20" in found["write_amplification"].load.flags


def test_saturation_that_ended_too_soon(command: Command) -> None:
    """A drive that begins empty is level until it is full: that is not its steady state."""
    words = ("--tests", "wsat", "--cell-seconds", "0.2", "-o", "out")
    large = (BASE, "--set", "capacity_bytes=8GiB")
    assert command("pts", *large, *words)[0] == 0
    code, out, err = command("fit", "out", "--drive", BASE, "-o", "mine.toml")
    assert (code, out) == (2, "")
    assert "out: nothing in it can be fitted" in err
    assert "steady before 2 times the capacity was written" in err


def test_a_stack_is_refused(command: Command) -> None:
    """What was measured of a stack says little of the drive below it."""
    words = ("--tests", "lat", "--cell-seconds", "0.1", "--layer", "partition:start_sector=2048")
    assert command("pts", *DRIVE, *words, "-o", "out")[0] == 0
    code, out, err = command("fit", "out", "--drive", BASE, "-o", "mine.toml")
    assert (code, out) == (2, "")
    assert "out: partition:start_sector=2048 lay over the drive: measure the drive alone" in err


def test_a_cache_that_was_off(command: Command) -> None:
    """Where writes waited for the flash, those of the jobs do; reads need not be told."""
    words = ("--tests", "lat", "--cell-seconds", "0.1", "-o", "out")
    assert command("pts", "intel-x25-m-g2-80gb", *words)[0] == 0
    found = read(Path("out"))
    assert {each.load.flags[0]: "--writefua=1" in each.load.flags for each in found} == {
        "--rw=randread": False,
        "--rw=randwrite": True,
    }


def change(path: Path, spoil: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads(path.read_text())
    spoil(data)
    path.write_text(json.dumps(data))


def of_a_read(data: dict[str, Any], name: str, value: object) -> None:
    """Change a figure of the round's 4 KiB reads."""
    (found,) = [each for each in data["cells"] if each["name"] == "random 100/0 4 KiB"]
    found["both"][name] = value


def loaded(data: dict[str, Any], **values: object) -> None:
    for each in data["cells"]:
        each["step"]["load"].update(values)


@pytest.mark.parametrize(
    ("name", "spoil", "said"),
    [
        ("plan.json", lambda data: data.clear(), "plan.json: an entry is missing"),
        ("plan.json", lambda data: data["asked"].pop("settings"), "copied: an entry is missing"),
        ("plan.json", lambda data: data["asked"].update(layers=7), "copied: an entry is missing"),
        ("lat/round-0005.json", lambda data: data.update(cells=7), "lat: an entry is missing"),
        (
            "iops/round-0005.json",
            lambda data: of_a_read(data, "iops", float("nan")),
            "copied: iops, random 100/0 4 KiB: iops is nan: must be a number above 0",
        ),
        (
            "iops/round-0005.json",
            lambda data: of_a_read(data, "iops", -1e9),
            "random 100/0 4 KiB: iops is -1.99",
        ),
        ("iops/round-0005.json", lambda data: of_a_read(data, "iops", "9"), "iops: an entry is"),
        ("iops/round-0005.json", lambda data: of_a_read(data, "iops", None), "iops: an entry is"),
        ("iops/round-0001.json", lambda data: loaded(data, threads="a" * 9), "iops: an entry is"),
        ("iops/round-0001.json", lambda data: loaded(data, depth=10**30), "--iodepth=2000000"),
    ],
)
def test_a_folder_that_is_damaged(
    command: Command, copied: Path, name: str, spoil: Callable[[Any], object], said: str
) -> None:
    """Folder, part, cell and value are told; exit code 2; no profile is left."""
    change(copied / name, spoil)
    code, out, err = command("fit", str(copied), "--drive", BASE, "-o", "mine.toml")
    assert (code, out) == (2, "")
    assert said in err and "Traceback" not in err
    assert not Path("mine.toml").exists()


def test_what_is_no_result(command: Command, measured: Path, tmp_path: Path) -> None:
    """An empty folder; a result.json without its folder; a condition that the tests say."""
    Path("empty").mkdir()
    Path("alone").mkdir()
    Path("deep.json").write_text('{"schema_version":1,"standard":' + "[" * 100_000)
    shutil.copy(measured / "result.json", "alone/result.json")
    fit = ("fit", "--drive", BASE, "-o", "mine.toml")
    for name in ("empty", "alone/result.json", "deep.json"):
        code, _, err = command(*fit, name)
        assert code == 2 and "there is no plan.json" in err, name
    code, _, err = command(*fit, str(measured), "--state", "used")
    assert code == 2 and "says it by its tests\nleave --state out" in err


def written(root: ElementTree.Element) -> Path:
    ElementTree.ElementTree(root).write("a.xml")
    return Path("a.xml")


def test_a_result_of_tkperf(command: Command) -> None:
    """The same cells, as far as TKperf records them: no percentiles, no sizes of 128 KiB in tp."""
    found = read(written(whole()))
    assert [(each.metric, each.load.flags[:2], each.value) for each in found] == [
        ("iops", ("--rw=randread", "--bs=128k"), 7001),
        ("iops", ("--rw=randread", "--bs=4k"), 7006),
        ("iops", ("--rw=randrw", "--bs=128k"), 5001),
        ("iops", ("--rw=randrw", "--bs=4k"), 5006),
        ("iops", ("--rw=randwrite", "--bs=128k"), 1001),
        ("iops", ("--rw=randwrite", "--bs=4k"), 1006),
        ("mb_per_s", ("--rw=read", "--bs=1024k"), 409.6),
        ("mb_per_s", ("--rw=write", "--bs=1024k"), 102.4),
        ("mb_per_s", ("--rw=read", "--bs=64k"), 409.6),
        ("mb_per_s", ("--rw=write", "--bs=64k"), 102.4),
        ("mean_us", ("--rw=randread", "--bs=4k"), 90.5),
        ("mean_us", ("--rw=randwrite", "--bs=4k"), 90.5),
    ]
    assert {each.spread for each in found} == {SPREAD}
    assert all("--writefua=1" not in each.load.flags for each in found)
    assert len(loads(found)) == 12


def test_rounds_of_tkperf_that_vary() -> None:
    """Their standard deviation is the spread: 7000 ± 10 % of 4 KiB reads."""
    some = json.loads(json.dumps(IOPS))
    for each, factor in zip(some, (0.9, 1.1, 0.9, 1.1, 1.0), strict=True):
        each[0][6] *= factor
    found = of(read(written(document(iops={"roundmat": some}))), "randread", "4k")
    assert found["iops"].spread == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (BOMB, "a document type declaration is refused"),
        ("<a>" * 50_000, "nested deeper than 3 elements"),
        ("<svg/>", "no test of TKperf is in it"),
        (spoiled("iops", "roundmat", "7"), "iops/roundmat: '7' is not what TKperf writes"),
        (
            spoiled("iops", "roundmat", json.dumps(IOPS).replace("7006", "NaN", 1)),
            "round 1, random 100/0 4 KiB: 'nan' is not a figure",
        ),
        (
            spoiled("lat", "roundmat", json.dumps(LAT).replace("90.5", "-1", 1)),
            "random 100/0 8 KiB: '-1' is not a figure",
        ),
        (
            spoiled("tp", "roundmat", json.dumps(TP).replace("400000", "0")),
            "a.xml: tp-1024k, sequential 100/0 1024 KiB: mb_per_s is 0: must be a number above 0",
        ),
        (spoiled("iops", "iodepth", "99999"), "a.xml: iops, random 100/0 128 KiB: "),
    ],
)
def test_a_file_that_is_damaged(command: Command, content: str, said: str) -> None:
    """File, place and value are told; a file is known by its contents, not by its name."""
    for name in ("a.xml", "a.txt"):
        Path(name).write_text(content)
        code, out, err = command("fit", name, "--drive", BASE, "-o", "mine.toml")
        assert (code, out) == (2, "")
        assert said.replace("a.xml", name) in err and "Traceback" not in err
    assert not Path("mine.toml").exists()
