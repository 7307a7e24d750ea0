"""`ssdlab fit` takes the spread of a rate from the logs that fio writes beside its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, stdev

import pytest

import synthetic
from ssdlab import engine
from ssdlab.study.fitting.measurement import SPREAD, Measurement
from ssdlab.study.fitting.read_any import read_all

Command = Callable[..., tuple[int, str, str]]
BASE = "intel-dc-s3500-80gb"
RATES = (9000, 1, 9000, 1, 9000, 1, 900, 1100, 950, 1050, 1000, 1000, 5)
"""Of thirteen seconds: the first half and the last one, which is not whole, have no part in it."""
BY_HAND = stdev(RATES[6:-1]) / fmean(RATES[6:-1])


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def result(*jobs: dict[str, object], shared: dict[str, str] | None = None) -> Path:
    """Write fio's JSON with these job options."""
    data = json.loads(synthetic.text(synthetic.job()))
    (job,) = data["jobs"]
    load = {"rw": "randwrite", "bs": "4k", "iodepth": "4"}
    data["jobs"] = [{**job, "job options": {**load, **options}} for options in jobs]
    data["global options"] = shared or {}
    Path("fio.json").write_text(json.dumps(data))
    return Path("fio.json")


def averaged(name: str, rates: tuple[int, ...] = RATES) -> None:
    """Write a log of intervals of a second."""
    lines = [f"{1000 * second}, {rate}, 1, 0, 0" for second, rate in enumerate(rates)]
    Path(name).write_text("\n".join(lines) + "\n")


def spreads(path: Path) -> list[float]:
    """Return those of the rates, job by job."""
    found: list[Measurement] = read_all([str(path)], None).measurements
    return [each.spread for each in found if each.metric.endswith("iops")]


@pytest.mark.parametrize(("option", "kind"), [("write_iops_log", "iops"), ("write_bw_log", "bw")])
def test_intervals(option: str, kind: str) -> None:
    """The standard deviation of the second half; a folder in the option's name is not followed."""
    path = result({option: "/elsewhere/mine", "log_avg_msec": "1000"})
    assert set(spreads(path)) == {SPREAD}
    averaged(f"mine_{kind}.1.log")
    assert spreads(path) == [pytest.approx(BY_HAND)]
    assert 0.06 < BY_HAND < 0.08


def test_requests() -> None:
    """Without an interval the requests of each second are counted; a second without one counts."""
    counts = (3, 3, 3, 3, 3, 3, 3, 5, 0, 4, 3, 3, 3)
    lines = [
        f"{1000 * second + each}, 1, 1, 4096, {4096 * each}, 0"
        for second, count in enumerate(counts)
        for each in range(count)
    ]
    Path("mine_iops.log").write_text("\n".join(lines))
    wanted = stdev(counts[6:-1]) / fmean(counts[6:-1])
    assert spreads(result({"write_iops_log": "mine"})) == [pytest.approx(wanted)]


def test_workers_are_added() -> None:
    """Two workers of a job that go up and down against each other make a level rate."""
    up, down = (1000, 2000) * 7, (2000, 1000) * 7
    averaged("mine_iops.1.log", up)
    averaged("mine_iops.2.log", down)
    path = result({"write_iops_log": "mine", "log_avg_msec": "1000", "group_reporting": ""})
    assert spreads(path) == [0.005]


def test_jobs_that_share_a_name() -> None:
    """Each has the log of its number; where jobs are put together, numbers tell nothing."""
    averaged("mine_iops.1.log", (1000,) * 13)
    averaged("mine_iops.2.log")
    shared = {"write_iops_log": "mine", "log_avg_msec": "1s"}
    assert spreads(result({}, {}, shared=shared)) == [0.005, pytest.approx(BY_HAND)]
    put_together = {**shared, "group_reporting": "1"}
    assert spreads(result({}, {}, shared=put_together)) == [SPREAD, SPREAD]


@pytest.mark.parametrize("rates", [(), (1000,) * 8, (0,) * 13])
def test_logs_that_tell_nothing(rates: tuple[int, ...]) -> None:
    """An empty one, a short one, and one of a drive that did nothing: as without a log."""
    averaged("mine_iops.1.log", rates)
    path = result({"write_iops_log": "mine", "log_avg_msec": "1000"})
    assert spreads(path) == [SPREAD]


def test_our_own_logs(command: Command) -> None:
    """What `ssdlab run` writes is read; jobs that are simulated write no logs."""
    words = ("--rw=randrw", "--bs=4k", "--iodepth=4", "--runtime=12", "--time_based", "--name=a")
    logs = ("--write_iops_log=mine", "--log_avg_msec=500", "--output-format=json")
    drive = ("--drive", BASE, "--set", "capacity_bytes=1GiB")
    assert command("run", *drive, *words, *logs, "--output=a.json")[0] == 0
    found = {each.metric: each for each in read_all(["a.json"], None).measurements}
    assert len({SPREAD, found["read_iops"].spread, found["write_iops"].spread}) == 3
    assert not any("log" in flag for flag in found["read_iops"].load.flags)
    engine.check_job(None, "job", found["read_iops"].load.flags)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("1, 2, 1", "mine_iops.1.log:1: 3 values, not ms, value, direction, size"),
        ("\n1, nan, 1, 0", "mine_iops.1.log:2: value nan: must be a number from 0"),
        ("1, -5, 1, 0", "mine_iops.1.log:1: value -5: must be"),
        ("1, inf, 1, 0", "mine_iops.1.log:1: value inf: must be"),
        ("1, , 1, 0", "mine_iops.1.log:1: value (empty): must be"),
        ("1e18, 5, 1, 0", "mine_iops.1.log:1: ms 1e18: must be a number from 0 to 2.592e+09"),
        ("1, 5, 7, 0", "mine_iops.1.log:1: direction 7: must be a number from 0 to 2"),
        ("\0", "mine_iops.1.log: cannot be read: not a text file"),
        ("x" * 100_000 + ",1,1,1", "mine_iops.1.log:1: ms xxxxxxxx"),
    ],
)
def test_a_log_that_is_damaged(command: Command, log: str, said: str) -> None:
    """File, line and value are told with a remedy; exit code 2."""
    result({"write_iops_log": "mine"})
    Path("mine_iops.1.log").write_text(log)
    code, out, err = command("fit", "fio.json", "--drive", BASE, "-o", "mine.toml")
    assert (code, out) == (2, "")
    assert said in err and "or take it away" in err and "Traceback" not in err
    assert len(err) < 1000


def test_later_columns_of_a_log(command: Command) -> None:
    """Offset, priority and time of issue are known; what is no number, or one more, is refused."""
    path = result({"write_iops_log": "mine", "log_avg_msec": "1000"})
    for extra, said in (
        (", 4096, 0x4001, 12", ""),
        (", 4096, high", "mine_iops.1.log:1: priority high: must be a whole number"),
        (", 4 KiB", "mine_iops.1.log:1: offset 4 KiB: must be a whole number"),
        (", 1, 2, 3, 4", "mine_iops.1.log:1: 8 values; fio 3.42 writes at most 7"),
    ):
        lines = "".join(f"{1000 * at}, 100, 1, 4096{extra}\n" for at in range(1, 30))
        Path("mine_iops.1.log").write_text(lines)
        if not said:
            assert read_all([str(path)], None).measurements
            continue
        code, _, err = command("fit", str(path), "--drive", BASE, "-o", "mine.toml")
        assert code == 2 and said in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (7, "fio.json: jobs[0]: job options: 7 is no object"),
        ([1], "fio.json: jobs[0]: job options: [1] is no object"),
        ({"write_iops_log": "mine", "log_avg_msec": "soon"}, "fio.json: log_avg_msec soon: must"),
        ({"write_iops_log": {"a": 1}, "rw": "dance"}, "'dance' is not a pattern"),
    ],
)
def test_options_that_are_none(command: Command, options: object, said: str) -> None:
    """Wrong types and values in fio's JSON are told."""
    path = result({"write_iops_log": "mine"})
    averaged("mine_iops.1.log")
    data = json.loads(path.read_text())
    data["jobs"][0]["job options"] = options
    path.write_text(json.dumps(data))
    code, out, err = command("fit", "fio.json", "--drive", BASE, "-o", "mine.toml")
    assert (code, out) == (2, "")
    assert said in err and "Traceback" not in err
