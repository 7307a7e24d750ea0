"""Own ranges and own figures of jobs that run together, and fio's log files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., tuple[int, str, str]]
TWO_WRITERS = "[global]\nrw=write\nbs=4k\nsize=16m\nwrite_iolog=x.log\n{}\n[a]\n[b]\n"


def jobs_of(command: Command, text: str, *flags: str) -> list[dict[str, Any]]:
    Path("job.fio").write_text(text)
    code, out, err = command(
        *("run", "job.fio", "--drive", "theory", "--set", "capacity_bytes=1GiB"),
        *("--output-format", "json", *flags),
    )
    assert code == 0, err
    jobs = json.loads(out)["jobs"]
    assert isinstance(jobs, list)
    return jobs


def places_written() -> list[str]:
    lines = [line.split() for line in Path("x.log").read_text().splitlines()]
    return [line[3] for line in lines if line[2:3] == ["write"]]


def test_jobs_without_filename_write_to_places_of_their_own(command: Command) -> None:
    """8192 writes of two jobs go to 8192 places, and the results say who wrote where."""
    first, second = jobs_of(command, TWO_WRITERS.format(""))
    written = places_written()
    assert (len(written), len(set(written))) == (8192, 8192)
    half = {"clone": 0, "bytes": 16 << 20, "own": True}
    assert first["ssdlab"]["ranges"] == [{"job": "a", "offset_bytes": 0, **half}]
    assert second["ssdlab"]["ranges"] == [{"job": "b", "offset_bytes": 16 << 20, **half}]
    (notice,) = first["ssdlab"]["notices"]
    assert "a.0 0 to 16777216, b.0 16777216 to 33554432" in notice
    assert "filename=/dev/ssd" in notice


def test_a_filename_shares_the_drive(command: Command) -> None:
    """With a `filename` both jobs write the same 4096 places, as ever, and nothing is told."""
    first, _ = jobs_of(command, TWO_WRITERS.format("filename=/dev/nvme0n1"))
    written = places_written()
    assert (len(written), len(set(written))) == (8192, 4096)
    assert first["ssdlab"]["ranges"][0]["own"] is False
    assert first["ssdlab"]["notices"] == []


def test_ranges_are_told_in_the_text(command: Command) -> None:
    """fio's text has a line about own ranges; of one job it has none."""
    flags = ("--rw=write", "--bs=4k", "--size=1m", "--drive", "theory")
    _, out, _ = command("run", *flags, "--numjobs=6", "--group_reporting")
    assert "own ranges in bytes: job.0 0-1048576, … job.5 5242880-6291456\n" in out
    _, out, _ = command("run", *flags)
    assert "own ranges" not in out


def test_ranges_beyond_the_drive_are_an_error(command: Command) -> None:
    """Sizes that do not fit together: what they sum to, and how to share."""
    flags = ("--rw=write", "--size=10g", "--numjobs=2", "--drive", "theory")
    code, out, err = command("run", *flags)
    assert (code, out) == (2, "")
    assert "sum to 21474836480 bytes" in err
    assert "filename=/dev/ssd makes jobs share the drive" in err


def test_a_short_job_beside_a_long_one(command: Command) -> None:
    """A job of 1 s has 2 samples, none of 0, and a series that ends with it."""
    text = "[global]\nrw=randwrite\nbs=4k\ntime_based\n[short]\nruntime=1\n[long]\nruntime=4\n"
    short, long = jobs_of(command, text)
    for job, samples, seconds in ((short, 2, 1), (long, 8, 4)):
        figures, lab = job["write"], job["ssdlab"]
        assert (figures["bw_samples"], figures["iops_samples"]) == (samples, samples)
        assert figures["bw_min"] == pytest.approx(figures["bw"], rel=0.01)
        assert sum(lab["time_series"]["writes"]) == figures["total_ios"]
        assert lab["time_series"]["end_ns"] == pytest.approx(seconds * 1e9, rel=0.01)
        assert lab["drive_time_series"]["end_ns"] == pytest.approx(4e9, rel=0.01)
        assert lab["stonewall_group"]["jobs"] == ["short", "long"]


def test_logs_have_fios_names_and_columns(command: Command) -> None:
    """Per clone five files; each line has time, value, direction, bytes and priority."""
    flags = ("--write_bw_log=w", "--write_lat_log=w", "--write_iops_log=w", "--log_avg_msec=100")
    text = "[mixed]\nrw=randrw\nbs=4k\ntime_based\nruntime=500ms\nnumjobs=2\nsize=64m\n"
    jobs_of(command, text, *flags)
    kinds = ("bw", "clat", "iops", "lat", "slat")
    wanted = [f"w_{kind}.{clone}.log" for kind in kinds for clone in (1, 2)]
    assert sorted(path.name for path in Path().glob("w_*")) == sorted(wanted)
    rows = [line.split(", ") for line in Path("w_iops.2.log").read_text().splitlines()]
    assert [row[0] for row in rows[::2]] == ["100", "200", "300", "400", "500"]
    assert {row[2] for row in rows} == {"0", "1"}
    assert all(len(row) == 5 and row[3:] == ["0", "0"] and int(row[1]) > 0 for row in rows)
