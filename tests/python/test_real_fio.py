"""fio's commands and what it prints, of several versions and with text where none should be."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any

import pytest

from loop_devices import need
from ssdlab.bench.measurement import StepMeasurement
from ssdlab.bench.plan import Pauses, Precision, Step, Workload
from ssdlab.bench.real.fio_output import FioError, read_output
from ssdlab.bench.real.fio_program import Fio, leash
from ssdlab.bench.real.fio_words import Place, commands, remainder, share_bytes, unwritten
from ssdlab.bench.real.loading import Loader
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.tool import run_to_end

MIB = 1 << 20
PLACE = Place("io_uring", ("--filename=/dev/x",), 1000 * MIB)


def _direction(requests: int, mean_ns: float, bins: dict[str, int], **more: Any) -> dict[str, Any]:
    places = [int(place) for place in bins] or [0]
    extremes = {"min": min(places), "max": max(places)}
    lat = {**extremes, "mean": mean_ns, "stddev": 1.0, "N": requests}
    return {
        "bw_bytes": requests * 2048,
        "bw": requests * 2,
        "clat_ns": lat,
        "io_bytes": requests * 4096,
        "runtime": 2000 if requests else 0,
        "iops": requests / 2,
        "total_ios": requests,
        "lat_ns": {**lat, "percentile": {"50.000000": mean_ns}, "bins": bins},
        **more,
    }


def _job(**more: Any) -> dict[str, Any]:
    return {
        "jobname": "step",
        "error": 0,
        "job_runtime": 8000,
        "read": _direction(65, 100_000.0, {"100000": 65}),
        "write": _direction(35, 900_000.0, {"800000": 30, "1500000": 5}),
        "trim": {"total_ios": 0, "iops": 0.0},
        **more,
    }


def _printed(job: dict[str, Any], version: str = "fio-3.33") -> str:
    return json.dumps({"fio version": version, "timestamp": 1, "jobs": [job]}, indent=2)


def test_the_time_of_a_group_is_not_added_up() -> None:
    """Four threads of two seconds lasted two seconds; fio's sum is kept under a name of its own."""
    (job,) = read_output(_printed(_job())).jobs
    assert job["job_runtime"] == 2000
    assert job["job_runtime_of_all_threads"] == 8000
    assert StepMeasurement.of_jobs([job]).both.iops == 50


def test_a_mix_is_merged_from_histograms() -> None:
    """Percentiles and extremes of 65 fast reads and 35 slow writes are not averages of the two."""
    (job,) = read_output(_printed(_job())).jobs
    both = StepMeasurement.of_jobs([job]).both
    assert both.mean_ns == pytest.approx(0.65 * 100_000 + 0.35 * 900_000)
    assert both.percentiles_ns["50"] == 100_000
    assert both.percentiles_ns["90"] == 800_000
    assert both.percentiles_ns["99"] == 1_500_000
    assert (both.min_ns, both.max_ns) == (100_000, 1_500_000)


@pytest.mark.parametrize(
    "line",
    [
        "fio: this platform does not support process shared mutexes",
        "note: both iodepth >= 1 and synchronous I/O engine are selected",
        "fio: io_u error on file /dev/sdb: Input/output error: read offset=1849, buflen=4096",
        'warning: "quoted" : words, 12',
        "clock setaffinity failed: Invalid argument",
    ],
)
def test_text_before_and_inside_the_json_is_a_notice(line: str) -> None:
    """In whatever place it stands, the figures are the same, and the line is kept."""
    lines = _printed(_job()).splitlines()
    plain = read_output("\n".join(lines))
    for at in range(len(lines) + 1):
        found = read_output("\n".join([*lines[:at], line, *lines[at:]]))
        assert found.jobs == plain.jobs
        assert found.notices == (line,)


def test_old_microseconds_become_nanoseconds() -> None:
    """fio 2 has ``lat`` in microseconds, bytes in KiB, no counts and no run times of jobs."""
    lat = {"min": 1, "max": 9, "mean": 5.0, "percentile": {"50.000000": 5}, "bins": {"5": 100}}
    old = {"io_bytes": 400, "runtime": 2000, "iops": 50.0, "lat": lat}
    job = {"jobname": "step", "error": 0, "read": old, "write": {"io_bytes": 0, "iops": 0.0}}
    (made,) = read_output(_printed(job, "fio-2.16")).jobs
    measured = StepMeasurement.of_jobs([made])
    assert measured.seconds == 2.0
    assert measured.read.requests == 100
    assert measured.read.total_bytes == 400 * 1024
    assert measured.read.mean_ns == 5000
    assert measured.read.percentiles_ns["99.999"] == 5000


def test_missing_total_latency_is_completion_latency() -> None:
    """Where fio kept completion only, that is what there is."""
    read = _direction(10, 5.0, {"5": 10})
    read["clat_ns"] = read.pop("lat_ns")
    (job,) = read_output(_printed(_job(read=read, write=_direction(0, 0, {})))).jobs
    assert StepMeasurement.of_jobs([job]).read.mean_ns == 5.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is an empty file; it said: nothing"),
        ("fio: engine libaio not loadable", "engine libaio not loadable"),
        ('{\n  "fio version": "fio-3.33",\n  "jobs": [', "cut short"),
        ('{\n  "fio version": "fio-3.33",\n  "jobs": []\n}', "no job of fio's ran"),
        ("{\n}", "no jobs in it"),
        (_printed(_job(error=5)), "error 5 (Input/output error)"),
        (
            _printed(_job(read=_direction(0, 0, {}), write=_direction(0, 0, {}))),
            "moved nothing",
        ),
    ],
)
def test_a_failure_is_an_error_and_never_zeros(text: str, said: str) -> None:
    """What is no result, breaks off, failed or moved nothing."""
    with pytest.raises(FioError) as error:
        read_output(text)
    assert said in str(error.value)


def _program(folder: Path, script: str) -> Fio:
    program = folder / "fio"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return Fio(str(program))


def test_a_warning_loses_no_round(tmp_path: Path) -> None:
    """Lines on stderr beside a success are notices."""
    (tmp_path / "printed").write_text(_printed(_job()))
    fio = _program(tmp_path, f"echo some warning >&2\ncat {tmp_path}/printed")
    found = fio.perform(["--name=x"], 1.0)
    assert found.notices == ("some warning",)
    assert len(found.jobs) == 1


def test_a_failed_fio_speaks_for_itself(tmp_path: Path) -> None:
    """Its own words, from stderr and from beside the JSON, and the command."""
    (tmp_path / "printed").write_text(f"fio: pid=1, err=5/io error\n{_printed(_job())}")
    fio = _program(tmp_path, f"echo 'fio: cannot open' >&2\ncat {tmp_path}/printed\nexit 1")
    with pytest.raises(FioError) as error:
        fio.perform(["--name=a b"], 1.0)
    assert "fio: cannot open; fio: pid=1, err=5/io error" in str(error.value)
    assert "fio '--name=a b'" in str(error.value)


def test_a_fio_that_was_killed_is_an_error(tmp_path: Path) -> None:
    """By its signal, where it says nothing."""
    with pytest.raises(FioError, match="ended by signal 9"):
        _program(tmp_path, "kill -9 $$").perform([], 1.0)


def test_a_fio_that_is_not_there_is_named() -> None:
    """With what installs it."""
    with pytest.raises(SsdlabError, match="apt install fio"):
        Fio("/nowhere/fio").perform([], 1.0)


def test_a_fio_that_is_to_stop_stops(tmp_path: Path) -> None:
    """With what it started."""
    fio = _program(tmp_path, f"echo $$ > {tmp_path}/number\nexec sleep 600")
    with pytest.raises(Stopped):
        fio.perform([], None, lambda: not (tmp_path / "number").exists())
    number = int((tmp_path / "number").read_text())
    assert not Path(f"/proc/{number}").exists()


def _shares(
    folder: Path, step: Step, clock: Iterator[float], written: Iterator[int]
) -> list[float]:
    """Give what a step tells of its progress; fio goes on until it was told three times."""
    (folder / "printed").write_text(_printed(_job()))
    wait = f"until [ -e {folder}/thrice ]; do sleep 0.05; done"
    fio = _program(folder, f"{wait}\ncat {folder}/printed")
    told: list[float] = []

    def listen(_what: str, share: float) -> bool:
        told.append(share)
        if len(told) == 3:
            (folder / "thrice").touch()
        return True

    Loader(fio, PLACE, lambda: next(written), clock=lambda: next(clock)).perform(step, listen)
    return told[:3]


def test_a_cell_is_as_far_as_its_seconds(tmp_path: Path) -> None:
    """By a clock that the test turns; never further than all of it."""
    cell = Step("cell", Workload("random", 65, 4096, 4, 16), 1, seconds=10.0)
    # At the beginning of the step and of its command.
    clock = chain((100.0, 100.0, 101.0, 105.0, 112.0), repeat(112.0))
    assert _shares(tmp_path, cell, clock, count(0, MIB)) == [0.1, 0.5, 1.0]


def test_a_fill_is_as_far_as_its_bytes(tmp_path: Path) -> None:
    """By what the kernel counts, of the passes that are asked for."""
    fill = Step("fill", Workload("random", 0, 4096, 1, 4), 1, passes=2.0)
    told = (5 * MIB, 5 * MIB, 505 * MIB, 1005 * MIB, 2005 * MIB)
    written = chain(told, repeat(2005 * MIB))
    assert _shares(tmp_path, fill, count(100.0), written) == [0.25, 0.5, 1.0]


def _value(words: list[str], name: str) -> str:
    (found,) = [word for word in words if word.startswith(f"--{name}=")]
    return found.partition("=")[2]


def test_options_that_the_standard_asks_for() -> None:
    """Direct, random data, offsets that may repeat, 64 bits of generator, the step's own seed."""
    load = Workload("random", 65, 4096, 4, 16)
    (words,) = commands(Step("a", load, 41, seconds=60.0), PLACE)
    for word in ("--direct=1", "--refill_buffers", "--norandommap", "--output-format=json+"):
        assert word in words
    assert _value(words, "random_generator") == "tausworthe64"
    assert (_value(words, "rw"), _value(words, "rwmixread")) == ("randrw", "65")
    assert (_value(words, "numjobs"), _value(words, "iodepth")) == ("4", "16")
    assert _value(words, "runtime") == "60000000us"
    (other,) = commands(Step("a", load, 42, seconds=60.0), PLACE)
    assert _value(words, "randseed") != _value(other, "randseed")
    (large,) = commands(Step("a", load, 2**64 - 1, seconds=60.0), PLACE)
    assert 0 < int(_value(large, "randseed")) < 2**63


@pytest.mark.parametrize("threads", [1, 3, 7])
@pytest.mark.parametrize("capacity", [1000 * MIB, 80_026_361_856, 1000 * MIB + 512])
def test_a_pass_writes_every_byte_once(threads: int, capacity: int) -> None:
    """Shares do not overlap, and the rest that no share has is written by a command of its own."""
    place = Place("libaio", ("--filename=/dev/x",), capacity)
    step = Step("fill", Workload("sequential", 0, 128 * 1024, threads, 8), 1, passes=2.0)
    written = 0
    for words in commands(step, place):
        size, jobs = int(_value(words, "size")), int(_value(words, "numjobs"))
        assert int(_value(words, "io_size")) == 2 * size
        if jobs > 1:
            assert int(_value(words, "offset_increment")) == size
        written += jobs * size
    assert written == capacity


def test_a_sequential_load_goes_on_from_the_beginning() -> None:
    """One that begins in the middle ends at the end of its share, and has the rest of its time."""
    load = Workload("sequential", 0, MIB, 2, 8)
    step = Step("tp", load, 1, seconds=60.0, offset_bytes=400 * MIB + 5)
    (words,) = commands(step, PLACE)
    assert share_bytes(load, PLACE) == 500 * MIB
    assert (_value(words, "offset"), _value(words, "size")) == (str(400 * MIB), str(100 * MIB))
    assert "--time_based" not in words
    more = remainder(step, PLACE, 20.0)
    assert more is not None and _value(more, "runtime") == "40000000us"
    assert "--time_based" in more and _value(more, "size") == str(500 * MIB)
    assert remainder(step, PLACE, 59.99) is None


def test_a_step_may_end_by_fio_s_rule() -> None:
    """Then its writes go on for what was left, uncounted; a step of reads has nothing to go on."""
    load = Workload("random", 65, 4096, 2, 4)
    step = Step("quick", load, 1, seconds=60.0, precision=Precision())
    (words,) = commands(step, PLACE)
    assert _value(words, "steadystate") == "iops:1.3%"
    assert _value(words, "steadystate_duration") == "10s"
    rest = unwritten(step, PLACE, 15.0, 4096 * 1000)
    assert rest is not None and _value(rest, "rw") == "randwrite"
    assert int(_value(rest, "io_size")) == 4096 * 1500
    assert not any("steadystate" in word for word in rest)
    assert unwritten(step, PLACE, 60.0, 4096 * 1000) is None
    assert unwritten(step, PLACE, 15.0, 0) is None
    assert unwritten(replace(step, precision=None), PLACE, 15.0, 4096 * 1000) is None


def test_pauses_are_fio_s_thinktime() -> None:
    """Five seconds of work and ten of idle time take turns."""
    step = Step("hir", Workload("random", 0, 4096, 1, 4), 1, seconds=60.0, pauses=Pauses(5.0, 10.0))
    (words,) = commands(step, PLACE)
    assert _value(words, "thinktime") == "10000000us"
    assert _value(words, "thinktime_iotime") == "5000000us"


def test_a_command_does_not_begin_behind_its_owner(tmp_path: Path) -> None:
    """Whose parent is another process was started by one that has ended since."""
    need("setpriv")
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    run_to_end([*leash(os.getpid()), "touch", str(here)], 60)
    run_to_end([*leash(os.getppid()), "touch", str(elsewhere)], 60)
    assert here.exists()
    assert not elsewhere.exists()


def test_the_search_for_an_engine_forks_no_process(tmp_path: Path) -> None:
    """One that fio forks would outlive it, where fio is killed with its owner."""
    asked = tmp_path / "asked"
    script = f'test "$1" = --enghelp && echo io_uring || {{ echo "$@" >> {asked}; exit 1; }}'
    fio = _program(tmp_path, script)
    with pytest.raises(FioError):
        fio.working_engine("/dev/loop7", 4096)
    loads = [line.split() for line in asked.read_text().splitlines() if "--rw" in line]
    assert loads
    assert all("--thread" in words for words in loads)
