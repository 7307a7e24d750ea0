"""The S3500 of 80 GB by the book and with --quick, side by side: `make test-long PART=pts`.

It takes minutes. What was interrupted goes on where it was; SSDLAB_PTS names the folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = os.environ.get("SSDLAB_PTS")
DRIVE = os.environ.get("SSDLAB_PTS_DRIVE", "intel-dc-s3500-80gb")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="a part of make test-long")


def measured(name: str, *more: str) -> dict[str, Any]:
    """Perform it, or go on with it, and tell how long that took."""
    folder = Path(str(FOLDER)) / f"{DRIVE}-{name}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    words = [sys.executable, "-m", "ssdlab", "pts", DRIVE, "-o", str(folder), "--resume", *more]
    began = time.monotonic()
    assert subprocess.run(words, stdout=subprocess.DEVNULL).returncode == 0
    print(f"{name}: {time.monotonic() - began:.0f} s")
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return result


def means(result: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Give every mean of a result: rate and response time of each cell."""
    for test in result["tests"]:
        for part in test["parts"]:
            for cell in part["cells"]:
                for figure in ("iops", "mb_per_s", "mean_ns"):
                    yield f"{part['name']}: {cell['name']}: {figure}", cell["both"][figure]


def test_quick_gives_the_means_of_the_full_one() -> None:
    """Every mean within 3 %; most are within one."""
    full, quick = dict(means(measured("full"))), dict(means(measured("quick", "--quick")))
    assert full.keys() == quick.keys()
    away = {name: quick[name] / value - 1 for name, value in full.items()}
    furthest = max(away, key=lambda name: abs(away[name]))
    print(f"{len(away)} means; furthest {furthest}: {away[furthest]:+.2%}")
    assert abs(away[furthest]) <= 0.03
