"""The documents' questions asked of a served drive at its own pace: `make test-long PART=asked`.

An X25-M of 1 GB is slower than its host, so that its answers over NBD are the drive's; they have to
lie in the intervals of the same drive simulated, and are printed. It takes a quarter of an hour by
the clock, since the drive keeps its pace, and a machine that does nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.bench.real.fio_program import Fio

Command = Callable[..., tuple[int, str, str]]
pytestmark = pytest.mark.skipif("SSDLAB_ASKED" not in os.environ, reason="a part of make test-long")
DRIVE = ("intel-x25-m-g2-80gb", "--set", "capacity_bytes=1GB", "--state", "steady")
TURNS = {"alignment": 5, "trim": 5, "discard-cost": 5, "used-new": 3, "spare": 3}
OF_THE_HOST = {"discard-cost"}
"""Discards that come one by one wait for the host's round trip: printed, not judged."""


@pytest.mark.parametrize("question", TURNS)
def test_the_answer_is_the_drives(command: Command, tmp_path: Path, question: str) -> None:
    """Inside the interval of its own simulated answer."""
    if shutil.which("fio") is None or "nbd" not in Fio().engines():
        pytest.skip("needs a fio with an engine for NBD")
    folder = tmp_path / "served"
    assert command("serve", *DRIVE, "-o", str(folder), "--pace", "1", "--wait-ready")[0] == 0
    try:
        uri = f"nbd+unix:///?socket={folder}/nbd.sock"
        words = ("--target", uri, "--destroy", uri, "--turns", str(TURNS[question]))
        code, out, error = command("measure", question, *words, "--json", "--drive", *DRIVE)
        assert code == 0, error
    finally:
        os.kill(int((folder / "pid").read_text()), signal.SIGTERM)
    for each in json.loads(out)["contrasts"]:
        found, simulated = each["target"], each["simulated"]
        print(f"{question}: {found['ratio']:.2f} {found['interval']}, simulated {simulated}")
        low, high = simulated["interval"]
        if question not in OF_THE_HOST:
            assert low <= found["ratio"] <= high
