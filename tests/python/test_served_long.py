"""The served drive beside the simulated one: `make test-long PART=served`, ten minutes.

A server answers later than the drive by the way there and back. How long that is for one request is
measured on a null drive, whose own time is known, and added to the latency of the simulated drive.
Where requests take less than ten such ways, the machine decides, and the figures are told only.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from test_serve import end, folder, ssdlab, start

__all__ = ["folder"]

pytestmark = pytest.mark.skipif(
    os.environ.get("SSDLAB_SERVED") is None, reason="a part of make test-long"
)
DRIVE = ("intel-dc-s3500-80gb", "--set", "capacity_bytes=2GB")
FIO = ("--name=a", "--bs=4k", "--size=100%", "--norandommap", "--time_based")


def job_of(text: str) -> dict[str, tuple[float, float]]:
    """Return IOPS and mean latency in µs of each direction."""
    (job,) = json.loads(text)["jobs"]
    sides = {side: job[side] for side in ("read", "write") if job[side]["total_ios"]}
    return {side: (each["iops"], each["lat_ns"]["mean"] / 1e3) for side, each in sides.items()}


def by_fio(folder: Path, tmp_path: Path, *words: str) -> dict[str, tuple[float, float]]:
    result = tmp_path / "result.json"
    uri = f"--uri=nbd+unix:///?socket={folder / 'nbd.sock'}"
    words = (*FIO, *words, "--ioengine=nbd", uri, "--output-format=json", f"--output={result}")
    subprocess.run(["fio", *words], check=True, stdout=subprocess.DEVNULL)
    return job_of(result.read_text())


def simulated(*words: str) -> dict[str, tuple[float, float]]:
    done = ssdlab("run", *FIO, *words, "--output-format", "json")
    assert done.returncode == 0, done.stderr
    return job_of(done.stdout)


def way_there_and_back(folder: Path, tmp_path: Path) -> float:
    """Return what a request for nothing takes beyond the drive's own time, in µs."""
    null = folder.parent / "null"
    start(*DRIVE, "--pace", "1", "-o", str(null))
    try:
        served = by_fio(null, tmp_path, "--rw=randread", "--runtime=5")["read"][1]
    finally:
        end(null)
    # What was never written is not read from flash.
    words = ("--drive", *DRIVE, "--rw=randread", "--runtime=1", "--no-layout")
    way_us = served - simulated(*words)["read"][1]
    assert way_us > 0, "a request cannot come back before the drive has answered"
    return way_us


@pytest.mark.parametrize(
    "job",
    [
        "--rw=randwrite --iodepth=1",
        "--rw=randwrite --iodepth=16",
        "--rw=randrw --rwmixread=70 --iodepth=32",
        "--rw=randread --iodepth=16",
    ],
)
def test_a_paced_drive_is_the_simulated_one(folder: Path, tmp_path: Path, job: str) -> None:
    """IOPS and mean latency of all requests within 5 %, once the way is added."""
    if shutil.which("fio") is None:
        pytest.skip("fio is not here")
    way_us = way_there_and_back(folder, tmp_path)
    start(*DRIVE, "--state", "steady", "--pace", "1", "-o", str(folder))
    served = by_fio(folder, tmp_path, *job.split(), "--runtime=20")
    settings = (f"controller.{side}_latency_us={way_us:.1f}" for side in ("read", "write"))
    given = [word for each in settings for word in ("--set", each)]
    words = ("--drive", *DRIVE, *given, "--state", "steady", *job.split(), "--runtime=20")
    expected = simulated(*words)
    (found_iops, found_us), (iops, mean_us) = (total(each) for each in (served, expected))
    print(
        f"{job}: the way takes {way_us:.0f} µs; served {found_iops:.0f} IOPS, {found_us:.0f} µs; "
        f"simulated {iops:.0f} IOPS, {mean_us:.0f} µs: {found_iops / iops - 1:+.1%}"
    )
    if mean_us < 10 * way_us:
        pytest.skip(f"a way of {way_us:.0f} µs hides what a request of {mean_us:.0f} µs takes")
    assert found_iops == pytest.approx(iops, rel=0.05)
    assert found_us == pytest.approx(mean_us, rel=0.05)


def total(sides: dict[str, tuple[float, float]]) -> tuple[float, float]:
    """Return the IOPS and the mean latency of both directions."""
    iops = sum(each for each, _ in sides.values())
    return iops, sum(each * mean for each, mean in sides.values()) / iops


def test_the_performance_test_of_a_served_drive(folder: Path, tmp_path: Path) -> None:
    """Random writes until steady, through fio and simulated: IOPS and mean within 10 %."""
    if shutil.which("fio") is None:
        pytest.skip("fio is not here")
    start(*DRIVE, "--pace", "1", "-o", str(folder))
    uri = f"nbd+unix:///?socket={folder / 'nbd.sock'}"
    short = ("--tests", "wsat", "--cell-seconds", "5")
    served = performance(tmp_path / "served", uri, "--destroy", uri, *short)
    expected = performance(tmp_path / "simulated", *DRIVE, *short)
    print(f"served {served}, simulated {expected}")
    assert served == pytest.approx(expected, rel=0.1)


def performance(output: Path, *words: str) -> tuple[float, float]:
    """Return steady IOPS and mean latency in ns of the random writes."""
    command = [sys.executable, "-m", "ssdlab", "pts", *words, "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 3, 4), done.stdout + done.stderr
    (test,) = json.loads((output / "result.json").read_text())["tests"]
    (part,) = test["parts"]
    cell: dict[str, Any] = part["cells"][-1]["both"]
    return cell["iops"], cell["mean_ns"]


def test_memory_and_the_way_back_after_a_kill(folder: Path) -> None:
    """16 GiB: at most 16 B of anonymous memory a mapping unit and 32 MiB for all else.

    What opening it after a kill takes is told; it has to be at most 3 s of processor time.
    """
    if shutil.which("fio") is None:
        pytest.skip("fio is not here")
    words = ("intel-dc-s3500-80gb", "--set", "capacity_bytes=16GiB", "-o", str(folder))
    process = int(start(*words)["pid"])
    uri = f"--uri=nbd+unix:///?socket={folder / 'nbd.sock'}"
    fill = ("--name=a", "--ioengine=nbd", uri, "--size=16g", "--rw=randwrite", "--bs=64k")
    subprocess.run(["fio", *fill, "--iodepth=8"], check=True, stdout=subprocess.DEVNULL)
    units = (16 << 30) // 4096
    told = anonymous_bytes(process)
    print(f"filled: {told / units:.1f} B of anonymous memory a unit")
    assert told <= 16 * units + (32 << 20)
    end(folder, 9)
    process = int(start(str(folder))["pid"])
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    print(f"opened after a kill in {spent:.2f} s of processor time")


def anonymous_bytes(process: int) -> int:
    (line,) = (
        line
        for line in Path(f"/proc/{process}/status").read_text().splitlines()
        if line.startswith("RssAnon")
    )
    return int(line.split()[1]) * 1024
