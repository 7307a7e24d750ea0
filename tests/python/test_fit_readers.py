"""`ssdlab fit` reads measurements: tables and fio's JSON, good ones and bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import synthetic
from fio_documents import FIO
from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.ground.exit_codes import Exit
from ssdlab.study.fitting.measurement import (
    METRICS,
    TAIL_SPREAD,
    MeasuredLoad,
    Measurement,
    figure,
    hold_back,
    loads,
)
from ssdlab.study.fitting.read_csv import read_csv
from ssdlab.study.fitting.read_fio import read_fio

Command = Callable[..., tuple[int, str, str]]
HEADER = "job,condition,metric,value,spread,settings,span\n"
READS = "--rw=randread --bs=4k --iodepth=4 --runtime=1 --time_based"
GOOD = f"{READS},steady,iops,9100,0.01,ftl.gc=fifo ftl.trim=false,80%\n"


def test_a_table(tmp_path: Path) -> None:
    """Each column is read; an empty spread is 2 %, an empty condition is fresh."""
    (tmp_path / "job.fio").write_text("[a]\nrw=randwrite\nbs=4k\nnumber_ios=10\n")
    table = tmp_path / "m.csv"
    table.write_text(HEADER + GOOD + "\njob.fio,fresh,p99_us,55.5,,,\n")
    first, second = read_csv(table)
    assert first.load == MeasuredLoad(
        tuple(READS.split()),
        "steady:uniform",
        job_name="job",
        settings=(("ftl.gc", "fifo"), ("ftl.trim", "false")),
        span=0.8,
    )
    assert (first.metric, first.value, first.spread) == ("iops", 9100, 0.01)
    assert first.place == f"{table}:2"
    assert (second.load.condition, second.load.job_name, second.load.flags) == (None, "job.fio", ())
    assert second.load.job_text is not None and "randwrite" in second.load.job_text
    assert (second.metric, second.value, second.spread) == ("p99_us", 55.5, 0.02)
    assert second.place == f"{table}:4"


def test_columns_that_may_be_left_out(tmp_path: Path) -> None:
    """Four columns are enough, in any order."""
    (tmp_path / "m.csv").write_text(f"value,metric,condition,job\n7,mean_us,,{READS}\n")
    (found,) = read_csv(tmp_path / "m.csv")
    assert (found.value, found.load.span, found.load.settings) == (7, 1.0, ())


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "m.csv:1: no column job"),
        ("job,condition,metric,value,colour\n", "m.csv:1: column 'colour'"),
        (HEADER, "m.csv: no measurements"),
        (HEADER + GOOD.replace("9100", "fast"), "m.csv:2: value fast: must be a number above 0"),
        (HEADER + GOOD.replace("9100", "-1"), "m.csv:2: value -1: must be a number above 0"),
        (HEADER + GOOD.replace("9100", "nan"), "m.csv:2: value nan: must be"),
        (HEADER + GOOD.replace("9100", ""), "m.csv:2: value (empty): must be"),
        (HEADER + GOOD.replace("0.01", "3"), "m.csv:2: spread 3: must be"),
        (HEADER + GOOD.replace("iops", "iopz"), "m.csv:2: metric iopz: there is none"),
        (HEADER + GOOD.replace("steady", "old"), "m.csv:2: condition old: there is none"),
        (HEADER + GOOD.replace("randread", "dance"), "m.csv:2: command line: --rw=dance"),
        (HEADER + GOOD.replace(READS, "none.fio"), "m.csv:2: job none.fio: no such job file"),
        (HEADER + GOOD.replace(READS, ""), "m.csv:2: job (empty):"),
        (HEADER + GOOD.replace(READS, "--name='x"), "m.csv:2: job --name='x: No closing"),
        (HEADER + GOOD.replace("ftl.gc=fifo", "ftl.gc"), "m.csv:2: settings ftl.gc: expected KEY"),
        (HEADER + GOOD.replace("80%", "180%"), "m.csv:2: span 180%"),
        (HEADER + GOOD.strip() + ",1,2\n", "m.csv:2: 9 cells for 7 columns"),
        (HEADER + GOOD + "two.fio,,iops,5,,,\n", "m.csv:3: two.fio: has 2 jobs"),
    ],
)
def test_a_table_that_is_wrong(command: Command, tmp_path: Path, table: str, said: str) -> None:
    """File, line, value and a remedy are told; exit code 2; no file is left."""
    (tmp_path / "m.csv").write_text(table)
    (tmp_path / "two.fio").write_text("[a]\nrw=read\nsize=1m\n[b]\nrw=write\nsize=1m\n")
    code, out, err = command("fit", "m.csv", "--drive", "intel-dc-s3500-80gb", "-o", "mine.toml")
    assert (code, out) == (2, "")
    assert said in err and "Traceback" not in err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m.csv", "two.fio"]


def measured(tmp_path: Path, *flags: str, condition: str | None = None) -> Path:
    asked = RunRequest(
        "intel-dc-s3500-80gb",
        (("capacity_bytes", "1GiB"),),
        flags=flags,
        condition=condition,
        cache=False,
    )
    path = tmp_path / "result.json"
    path.write_text(engine.run(asked))
    return path


def test_a_result_of_fio(tmp_path: Path) -> None:
    """Options make the job again; figures are those of the result; a mix has them by direction."""
    flags = ("--rw=randrw", "--bs=4k", "--iodepth=4", "--number_ios=400")
    path = measured(tmp_path, *flags, condition="filled")
    found = read_fio(path, None).measurements
    assert [each.metric for each in found] == [
        "read_iops",
        "read_p99_us",
        "write_iops",
        "write_p99_us",
        "write_amplification",
    ]
    (load,) = loads(found)
    assert set(flags) <= set(load.flags) and load.condition == "filled"
    job = Result.load(path).job()
    assert found[0].value == job.iops("read")
    assert [each.spread for each in found[:2]] == [0.02, TAIL_SPREAD]
    steady = read_fio(path, "steady").measurements
    assert {each.load.condition for each in steady} == {"steady:uniform"}


def test_a_result_of_real_fio(tmp_path: Path) -> None:
    """Global options belong to every job; the device's name does not; depth 1 gives the latency."""
    result = json.loads(synthetic.text(synthetic.job()))
    (job,) = result["jobs"]
    del job["ssdlab"]
    result["global options"] = {
        "bs": "4k",
        "direct": "1",
        "filename": "/dev/sdz",
        "ioengine": "libaio",
    }
    job["job options"] = {"name": "a", "rw": "randwrite", "time_based": "", "runtime": "2"}
    path = tmp_path / "fio.json"
    path.write_text(json.dumps(result))
    found = read_fio(path, None).measurements
    assert {each.load.flags for each in found} == {
        ("--bs=4k", "--direct=1", "--rw=randwrite", "--time_based", "--runtime=2")
    }
    assert found[0].metric.endswith("mean_us") and found[0].load.condition is None


@pytest.mark.parametrize(
    ("runtime", "lasted_ms", "is_time_based"),
    [("2", 2000, True), ("500ms", 501, True), ("1m", 59_999, False), ("2", 1500, False)],
)
def test_a_job_that_lasted_for_its_runtime(
    tmp_path: Path, runtime: str, lasted_ms: int, is_time_based: bool
) -> None:
    """It is time_based, which fio's JSON does not say; one that was done before is not."""
    result = json.loads(synthetic.text(synthetic.job()))
    (job,) = result["jobs"]
    job["job options"] = {"name": "a", "rw": "randwrite", "bs": "4k", "runtime": runtime}
    job["job_runtime"] = lasted_ms
    path = tmp_path / "fio.json"
    path.write_text(json.dumps(result))
    (load,) = loads(read_fio(path, "fresh").measurements)
    assert ("--time_based" in load.flags) is is_time_based


@pytest.mark.parametrize(
    ("engine_and_depth", "depth"),
    [
        ({"ioengine": "psync"}, 1),
        ({}, 1),
        ({"ioengine": "io_uring"}, 32),
        ({"ioengine": "libaio"}, 32),
    ],
)
def test_a_synchronous_engine_has_one_request_in_flight(
    tmp_path: Path, engine_and_depth: dict[str, str], depth: int
) -> None:
    """With psync, which is fio's default, iodepth=32 means nothing: its rate gives the latency."""
    result = json.loads(synthetic.text(synthetic.job()))
    (job,) = result["jobs"]
    del job["ssdlab"]
    options = {"rw": "randwrite", "bs": "4k", "iodepth": "32", "direct": "1"}
    job["job options"] = options | engine_and_depth
    path = tmp_path / "fio.json"
    path.write_text(json.dumps(result))
    found = read_fio(path, "fresh").measurements
    depths = [flag for each in found for flag in each.load.flags if flag.startswith("--iodepth=")]
    assert set(depths) == {f"--iodepth={depth}"}
    # One request at a time is known by its mean latency, several by their rate.
    assert ("mean_us" in {each.metric for each in found}) is (depth == 1)


def test_figures_of_the_page_cache_are_refused(command: Command) -> None:
    """A public result of fio 3.1 without direct=1 is the memory's: 438,000 IOPS of no drive."""
    words = ("--drive", "intel-dc-s3500-80gb", "-o", "mine.toml")
    code, _, err = command("fit", str(FIO / "3.1-buffered.json"), *words)
    assert code == Exit.WRONG_INPUT
    assert "it went through the page cache (no direct=1 among its options)" in err
    assert "its figures are the memory's and not the drive's" in err
    assert "measure again with --direct=1 and --ioengine=io_uring or libaio" in err


def test_a_result_without_options_becomes_rows_of_a_table(command: Command) -> None:
    """fio 2.2.10 wrote no options: the figures of its public result stand in rows to be copied."""
    words = ("--drive", "intel-dc-s3500-80gb", "-o", "mine.toml")
    code, _, err = command("fit", str(FIO / "2.2.10.json"), *words)
    assert code == Exit.WRONG_INPUT
    assert "the options of the job do not stand in it (fio writes them since 2.3)" in err
    assert "write a table, with the job as it was: job,condition,metric,value" in err
    # As in test_public_results_by_hand: 37,500,272 KiB in 600,008 ms.
    rows = [line.split(",") for line in err.splitlines() if line.startswith("--rw=write")]
    figures = {metric: float(value) for _, _, metric, value in rows}
    assert figures == pytest.approx({"iops": 15_624.7, "mean_us": 8151.19, "p99_us": 8640})
    assert all("--bs=4096" in job and "--direct=1" in job for job, *_ in rows)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rw": "randwrite", "latency_target": "5"}, "--latency_target=5"),
        ({"rw": "dance"}, "--rw=dance: 'dance' is not a pattern"),
    ],
)
def test_a_job_that_cannot_be_simulated(
    command: Command, tmp_path: Path, options: dict[str, str], said: str
) -> None:
    """File and job are told."""
    result = json.loads(synthetic.text(synthetic.job()))
    result["jobs"][0]["job options"] = options
    (tmp_path / "fio.json").write_text(json.dumps(result))
    code, out, err = command("fit", "fio.json", "--drive", "intel-dc-s3500-80gb", "-o", "m.toml")
    assert (code, out) == (2, "")
    assert "fio.json: jobs[0]" in err and said in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("m.csv", "--drive", "intel-dc-s3500-80gb"), "-o FILE.toml is missing"),
        (("--drive", "intel-dc-s3500-80gb", "-o", "x.toml"), "a MEASUREMENT is missing"),
        (("none.csv", "--drive", "theory", "-o", "x.toml"), "none.csv: cannot be read"),
        (("m.csv", "--drive", "theory", "-o", "x.toml"), "--drive theory: it assumes nothing"),
        (("m.csv", "--drive", "nodrive", "-o", "x.toml"), "nodrive"),
        (("m.csv", "--drive", "theory", "-o", "x.toml", "--state", "used"), "leave --state out"),
        (("m.csv", "--drive", "theory", "-o", "no/x.toml", "--draws", "3"), "--draws 3: must be"),
        (("m.csv", "--drive", "theory", "-o", "x", "--hold-back", "1"), "--hold-back 1: must be"),
        (("--plan", "--drive", "theory", "-o", "x.toml"), "--plan writes no profile"),
    ],
)
def test_what_cannot_be_fitted(
    command: Command, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """Refused before anything runs; nothing is written."""
    (tmp_path / "m.csv").write_text(HEADER + GOOD)
    code, out, err = command("fit", *words)
    assert (code, out) == (2, "")
    assert said in err and "Traceback" not in err
    assert [each.name for each in tmp_path.iterdir()] == ["m.csv"]


def test_every_metric_can_be_read() -> None:
    """From a mix all but those of no direction's own percentiles are figures above 0."""
    asked = RunRequest(
        "intel-dc-s3500-80gb",
        (("capacity_bytes", "1GiB"),),
        flags=("--rw=randrw", "--bs=4k", "--number_ios=400"),
        json_plus=True,
        cache=False,
    )
    job = Result.from_json(engine.run(asked)).job()
    for metric in METRICS:
        value = figure(job, metric)
        assert value is not None and value > 0, metric


def test_whole_runs_are_held_back() -> None:
    """Never part of a run, at least the share, never all; another seed chooses others."""
    runs = [MeasuredLoad((f"--bs={number}k",)) for number in range(1, 6)]
    some = [Measurement(run, name, 1, 0.02, "") for run in runs for name in ("iops", "mean_us")]
    chosen = {seed: hold_back(some, 0.2, seed) for seed in range(8)}
    for held in chosen.values():
        assert sum(held) == 2
        assert held[::2] == held[1::2]
    assert len({tuple(held) for held in chosen.values()}) > 2
    assert sum(hold_back(some, 0.99, 1)) == 8
    assert not any(hold_back(some[:2], 0.5, 1))
    assert not any(hold_back(some, 0.0, 1))
