"""Pretends to be a served drive: answers what it is told to, and notes what it was asked."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.live import unix
from ssdlab.live.api import Api
from ssdlab.live.client import SOCKET
from ssdlab.live.http import HttpServer

CUT: dict[str, Any] = {
    "seed": 7,
    "at_ns": 1_500_000_000,
    "lost": [
        {"offset": 4096, "write": 11, "was_acknowledged": True},
        {"offset": 4608, "write": 12, "was_acknowledged": False},
    ],
    "dropped": [{"operation": "write", "offset": 4608, "length": 512}],
}
STATS: dict[str, Any] = {
    "name": "intel-dc-s3500-80gb",
    "folder": "/srv/drive",
    "pid": 1,
    "version": "0.1.0",
    "addresses": ["nbd+unix:///?socket=/srv/drive/nbd.sock"],
    "pace": 1,
    "durable": "process",
    "power": "on",
    "poison": None,
    "read_only": False,
    "condition": "steady:uniform",
    "seed": 1,
    "now_ns": 12_000_000_000,
    "capacity_bytes": 80_026_361_856,
    "sector_bytes": 512,
    "volatile": False,
    "write_amplification": 2.5,
    "counters": {
        "host_reads": 1000,
        "host_writes": 2000,
        "host_bytes_read": 4_096_000,
        "nand_host_bytes_written": 8_192_000,
        "nand_bytes_written": 20_480_000,
        "die_move_ns": 1_500_000_000,
    },
    "blocks": {
        "total": 1000,
        "free": 40,
        "low_water": 20,
        "collecting": True,
        "every": 10,
        "each": "f" * 4 + "omvb" + "0123456789" * 9 + "99",
    },
    "wear": {"least": 100, "mean": 250.5, "most": 400, "rated": 3000},
    "requests": {
        "reads": 1000,
        "writes": 2000,
        "flushes": 10,
        "trims": 5,
        "write_zeroes": 0,
        "failed": 0,
        "bytes_read": 4_096_000,
        "bytes_written": 8_192_000,
    },
    "latency": {
        "read": {
            "mean_ns": 100_000,
            "p50_ns": 90_000,
            "p99_ns": 400_000,
            "p99_9_ns": 900_000,
            "max_ns": 1_200_000,
            "count": 1000,
        },
        "write": {
            "mean_ns": 60_000,
            "p50_ns": 50_000,
            "p99_ns": 2_000_000,
            "p99_9_ns": 5_000_000,
            "max_ns": 9_000_000,
            "count": 2000,
        },
    },
    "lateness": {},
    "connections": {"open": 1, "taken": 3, "too_many": 0, "broke_protocol": 1, "too_slow": 0},
    "bytes_held": 65536,
    "events": [
        {"number": 1, "at_ns": 11_000_000_000, "text": "collection began: 4 % of blocks free"}
    ],
}


class Pretended:
    """A drive without flash.

    Attributes
    ----------
    told
        What it answers to `stats`.
    asked
        What was done, in order.
    """

    def __init__(self, **told: Any) -> None:
        self.told: dict[str, Any] = {**json.loads(json.dumps(STATS)), **told}
        self.asked: list[tuple[Any, ...]] = []
        self.cut: dict[str, Any] | None = None
        self.requests_each_time = 0
        self.refuses: str | None = None

    def stats(self) -> dict[str, Any]:
        if self.requests_each_time:
            self.told["requests"]["writes"] += self.requests_each_time
            self.told["now_ns"] += self.requests_each_time * 1_000_000
        return self.told

    def power_cut(self, seed: int | None) -> dict[str, Any]:
        self._note("power_cut", seed)
        self.told["power"] = "off"
        self.cut = {**CUT, "seed": 7 if seed is None else seed}
        return self.cut

    def power_on(self) -> None:
        self._note("power_on")
        self.told["power"] = "on"

    def lost(self) -> dict[str, Any] | None:
        return self.cut

    def checkpoint(self) -> None:
        self._note("checkpoint")

    def erase(self, how: str) -> dict[str, Any]:
        self._note("erase", how)
        return {"took_ns": 2_000_000_000}

    def hold_back(self, latency_ns: int, count: int | None, *, hangs: bool) -> None:
        self._note("hold_back", latency_ns, count, hangs)

    def age(self, aging: Mapping[str, int]) -> dict[str, Any]:
        self._note("age", dict(aging))
        return {"used_percent": 83, "spare_percent": 97, "read_only": False}

    def inject_media_error(self, offset: int, length: int) -> None:
        self._note("inject_media_error", offset, length)

    def arm(self, faults: Sequence[str]) -> None:
        self.asked.append(("arm", list(faults)))

    def snapshot(self, name: str) -> None:
        self._note("snapshot", name)

    def restore(self, name: str) -> None:
        self._note("restore", name)

    def _note(self, *what: Any) -> None:
        if self.refuses is not None:
            raise SsdlabError(self.refuses)
        self.asked.append(what)


@contextmanager
def served(folder: Path, drive: Pretended) -> Iterator[HttpServer]:
    """Serve a drive from a folder while the block runs."""
    folder.mkdir(exist_ok=True)
    with closing(HttpServer(Api(drive))) as server:
        server.listen_unix(folder / SOCKET)
        yield server


def spoken(connection: socket.socket, sent: bytes) -> bytes:
    """Send bytes, and return all that comes until the other side hangs up."""
    connection.sendall(sent)
    return heard(connection)


def heard(connection: socket.socket) -> bytes:
    found = b""
    while piece := connection.recv(65536):
        found += piece
    return found


def visitor(folder: Path) -> socket.socket:
    """Connect to a served folder."""
    return unix.connected(folder / SOCKET, 60.0)


def until(condition: Any, seconds: float = 60.0) -> None:
    """Wait until something has happened."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)
