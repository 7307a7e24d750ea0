"""Small drives that this machine serves to a guest, which reaches them at 10.0.2.2."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROTECTED, VOLATILE = "micron-7450-pro-960gb", "theory"
_SMALL = (
    "nand.dies_per_channel=1 nand.channels=2 nand.pages_per_block=64 capacity_bytes=128MiB "
    "buffer.bytes=1MiB"
)


@dataclass(frozen=True)
class ServedDrive:
    """A drive that is served, in its folder."""

    folder: Path
    port: str
    name: str

    def ctl(self, *words: str) -> dict[str, Any]:
        """Ask or steer it."""
        command = [sys.executable, "-m", "ssdlab", "ctl", str(self.folder), *words, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        told: dict[str, Any] = json.loads(done.stdout)["folders"][0]
        return told

    def connect(self, *words: str) -> str:
        """Return the line that connects it in the guest."""
        given = " ".join(words)
        return f"nvme connect -t tcp -a 10.0.2.2 -s {self.port} -n {self.name} {given}".strip()


def serve(folder: Path, profile: str, *words: str) -> ServedDrive:
    """Serve a small drive of a profile until `kill` of its pid."""
    settings = [word for each in _SMALL.split() for word in ("--set", each)]
    if profile == VOLATILE:
        settings = [
            "--set",
            "capacity_bytes=128MiB",
            "--set",
            "buffer.bytes=4MiB",
        ]
    made = [profile, *settings, "-o", str(folder), "--nvme-tcp", "127.0.0.1:0", "--wait-ready"]
    done = subprocess.run(
        [sys.executable, "-m", "ssdlab", "serve", *made, *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.search(r"nvme\+tcp://127\.0\.0\.1:(\d+)/(\S+)", done.stdout)
    assert found is not None, done.stdout
    return ServedDrive(folder, found[1], found[2])


def end(drives: Iterable[ServedDrive]) -> None:
    """End the servers."""
    for drive in drives:
        subprocess.run(["kill", (drive.folder / "pid").read_text().strip()], check=True)
