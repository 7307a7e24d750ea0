"""Ten million requests, plain and packed: how fast they are read, and in how much memory.

`SSDLAB_TRACES=FOLDER` runs it and keeps what it made up: `make test-long PART=traces`.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REQUESTS = 10_000_000
MOST_MIB = 200
GIVEN = os.environ.get("SSDLAB_TRACES")
pytestmark = pytest.mark.skipif(GIVEN is None, reason="a part of make test-long")
PACKERS = {"csv": None, "csv.gz": ("gzip", "-1"), "csv.zst": ("zstd", "-q")}


@pytest.fixture(scope="module")
def folder() -> Path:
    found = Path(GIVEN or "")
    found.mkdir(parents=True, exist_ok=True)
    plain = found / "made-up.csv"
    if not plain.exists():
        with (found / "part").open("w") as part:
            part.writelines(made_up(random.Random(1)))
        (found / "part").rename(plain)
    return found


def made_up(chance: random.Random) -> Iterator[str]:
    """Give lines of MSR's form: two thirds writes, 4 to 32 KiB, more at the beginning of 287 GB."""
    ticks = 128166372003061629
    for number in range(REQUESTS):
        ticks += chance.randrange(20_000)
        kind = "Write" if chance.random() < 0.65 else "Read"
        offset = int(chance.random() ** 3 * 70_000_000) * 4096
        yield f"{ticks},hm,1,{kind},{offset},{4096 << (number & 3)},{chance.randrange(99_999)}\n"


def packed(folder: Path, suffix: str) -> Path:
    path, packer = folder / f"made-up.{suffix}", PACKERS[suffix]
    if packer is not None and not path.exists():
        if shutil.which(packer[0]) is None:
            pytest.skip(f"{packer[0]} is not there: scripts/install-tools.sh")
        with (folder / "part").open("wb") as part:
            subprocess.run([*packer, "-c", folder / "made-up.csv"], stdout=part, check=True)
        (folder / "part").rename(path)
    return path


def measured(*arguments: str) -> tuple[float, int]:
    """Run the command; give its processor time in seconds and its greatest memory in MiB."""
    child = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *arguments], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_long_trace_is_read(folder: Path, suffix: str) -> None:
    """Reading alone: its rate is printed, its memory is bounded."""
    cpu_s, peak_mib = measured("trace", str(packed(folder, suffix)))
    rate = REQUESTS / cpu_s / 1e6
    print(f"\n{suffix}: {rate:.2f} million requests a CPU second; {peak_mib} MiB")
    assert peak_mib < MOST_MIB


def test_a_long_trace_is_replayed(folder: Path) -> None:
    """Packed, fitted to the 16 GiB of `theory`, in a closed loop."""
    trace = str(packed(folder, "csv.gz"))
    flags = ("--replay_scale=fit", "--replay_no_stall=1", "--iodepth=32")
    cpu_s, peak_mib = measured("run", "--drive", "theory", "--trace", trace, *flags)
    print(f"\nreplayed: {cpu_s:.1f} CPU seconds; {peak_mib} MiB with the drive")
    assert peak_mib < MOST_MIB
