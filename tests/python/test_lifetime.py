"""Lifetime from a run, and the workloads that it is stated for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ssdlab
import synthetic
from ssdlab.experiment import jobs

KIB = 1024


def job(**wear: Any) -> ssdlab.Job:
    """Make a job of which the drive has this wear."""
    made = synthetic.job()
    made["ssdlab"]["write_amplification"] = 2.5
    made["ssdlab"]["wear"] = wear
    return ssdlab.Job(made)


def test_lifetime_by_hand() -> None:
    """500 GB of flash, 3000 cycles, WA 2.5: 600 TB, 0.82 drive writes a day, 82 years at 20 GB."""
    wear = {"exported_bytes": 400e9, "flash_bytes": 500e9, "rated_cycles": 3000}
    found = ssdlab.lifetime(job(**wear))
    assert found.terabytes_written == pytest.approx(600)
    assert found.drive_writes_per_day() == pytest.approx(600e12 / (400e9 * 5 * 365.25))
    assert found.drive_writes_per_day(years=1) == pytest.approx(5 * found.drive_writes_per_day())
    assert found.years(20e9) == pytest.approx(30_000 / 365.25)


def test_lifetime_needs_a_simulated_drive_that_was_written() -> None:
    """A result of fio, and a job that only read, are refused by name."""
    with pytest.raises(ssdlab.SsdlabError, match="does not contain the drive's wear"):
        ssdlab.lifetime(ssdlab.Job({"jobname": "real"}))
    reads = job(exported_bytes=1, flash_bytes=1, rated_cycles=1)
    dict.update(reads.data["ssdlab"], write_amplification=None)
    with pytest.raises(ssdlab.SsdlabError, match="wrote nothing"):
        ssdlab.lifetime(reads)


def accesses(name: str, folder: Path, count: int) -> list[tuple[str, int, int]]:
    """Return kind, offset and length of the first requests of a job, on a drive of 1 GiB."""
    drive = ssdlab.drive("theory", capacity_bytes="1GiB")
    log = folder / "log.txt"
    drive.run(name, number_ios=count, write_iolog=str(log), layout=False)
    lines = (line.split()[-3:] for line in log.read_text().splitlines())
    return [
        (kind, int(offset), int(length))
        for kind, offset, length in lines
        if kind in ("read", "write")
    ]


def test_the_enterprise_workload_is_the_standards(tmp_path: Path) -> None:
    """Sizes and zones of JESD219 within four standard deviations; from 4 KiB up all is aligned."""
    found = accesses("jesd219-enterprise", tmp_path, 20_000)
    assert len(found) == 20_000

    def near(share: float, holds: Any) -> None:
        hits = sum(1 for each in found if holds(*each))
        deviation = (len(found) * share * (1 - share)) ** 0.5
        assert abs(hits - share * len(found)) < 4 * deviation

    near(0.60, lambda kind, offset, length: kind == "write")
    sizes = {512: 4, 4 * KIB: 67, 8 * KIB: 10, 16 * KIB: 7, 32 * KIB: 3, 64 * KIB: 3}
    sizes.update(dict.fromkeys((1024, 1536, 2048, 2560, 3072, 3584), 1))
    assert {length for _, _, length in found} == sizes.keys()
    for size, percent in sizes.items():
        near(percent / 100, lambda kind, offset, length, size=size: length == size)
    near(0.50, lambda kind, offset, length: offset < 0.05 * 2**30)
    near(0.80, lambda kind, offset, length: offset < 0.20 * 2**30)
    assert all(offset % (4 * KIB) == 0 for _, offset, _ in found)


def test_the_client_workload_is_as_it_says(tmp_path: Path) -> None:
    """Writes of 21 KiB on average, within 5 %, in the first three quarters of the drive."""
    found = accesses("jesd219-client", tmp_path, 20_000)
    assert {kind for kind, _, _ in found} == {"write"}
    assert sum(length for *_, length in found) / len(found) == pytest.approx(21 * KIB, rel=0.05)
    assert max(offset + length for _, offset, length in found) <= 0.75 * 2**30


def test_lifetime_of_a_run() -> None:
    """A run carries what lifetime needs: all good blocks, the rating, the exported bytes."""
    small = ssdlab.drive("theory", {"reliability.rated_cycles": 1000}, capacity_bytes="512MiB")
    with small.season("steady:job", job="jesd219-enterprise") as steady:
        run = steady.run("jesd219-enterprise")
    found = ssdlab.lifetime(run)
    assert found.capacity_bytes == 2**29
    assert found.flash_bytes > 1.28 * 2**29
    assert found.bytes_written == found.flash_bytes * 1000 / (run.job().write_amplification or 0)


def test_a_file_goes_before_a_job_that_comes_along(tmp_path: Path) -> None:
    """The names that come along are listed where a job file is missing."""
    assert jobs.text("jesd219-client.fio") == jobs.text("jesd219-client")
    assert jobs.text("no-such-job") is None
    with pytest.raises(ssdlab.SsdlabError, match="baseline, jesd219-client, jesd219-enterprise"):
        ssdlab.drive("theory").run(tmp_path / "missing.fio")
