"""A server that is killed under load: what was flushed is there, and nothing that nobody wrote.

Four connections write sectors of their own, each a version at a time, with flushes and forced
writes between. A flush covers what any connection had been acknowledged when it was submitted.
`make test-long PART=kills` kills 300 times, `SSDLAB_KILLS=N` N times.
"""

from __future__ import annotations

import os
import random
import signal
import struct
import threading
import time
from pathlib import Path

import pytest

from nbd_client import FLUSH, FUA, WRITE, GoneError, NbdClient
from test_serve import end, folder, start

pytestmark = pytest.mark.end_to_end

__all__ = ["folder"]

KILLS = int(os.environ.get("SSDLAB_KILLS", "30"))
SECTOR = 512
SECTORS = 4096
CONNECTIONS = 4
DEPTH = 8
ANSWERS = 300
"""Before a kill there are so many at least."""


def pattern(sector: int, version: int) -> bytes:
    """Return what a version of a sector looks like; version 0 was never written."""
    return struct.pack("<QQ", sector, version) * (SECTOR // 16) if version else bytes(SECTOR)


class Oracle:
    """What may be seen of each sector: a version from the durable one to the last submitted."""

    def __init__(self) -> None:
        self.durable = [0] * SECTORS
        self.acknowledged = [0] * SECTORS
        self.submitted = [0] * SECTORS
        self.answers = 0
        self.lock = threading.Lock()

    def judge(self, image: bytes) -> int:
        """Hold an image to it; what it shows is durable from then on. Returns unflushed losses."""
        lost = 0
        for sector in range(SECTORS):
            seen = image[sector * SECTOR : (sector + 1) * SECTOR]
            version = struct.unpack_from("<QQ", seen)[1]
            assert seen == pattern(sector, version), f"sector {sector}: never written"
            durable, submitted = self.durable[sector], self.submitted[sector]
            assert durable <= version <= submitted, f"sector {sector}: {version}, not {durable}"
            lost += version < self.acknowledged[sector]
            self.durable[sector] = self.acknowledged[sector] = version
        return lost


def load(client: NbdClient, oracle: Oracle, number: int, seed: int) -> None:
    """Write, flush and force until the server has gone; one connection's sectors."""
    draws = random.Random(seed)
    own = range(number, SECTORS, CONNECTIONS)
    under_way: dict[int, tuple[str, list[tuple[int, int]]]] = {}
    busy: set[int] = set()
    try:
        while True:
            while len(under_way) < DEPTH:
                begin(client, oracle, draws, own, under_way, busy)
            cookie, error, _ = client.answer()
            assert error == 0
            kind, versions = under_way.pop(cookie)
            with oracle.lock:
                oracle.answers += 1
                for sector, version in versions:
                    oracle.acknowledged[sector] = max(oracle.acknowledged[sector], version)
                    if kind != "write":
                        oracle.durable[sector] = max(oracle.durable[sector], version)
            busy.difference_update(sector for sector, _ in versions if kind != "flush")
    except GoneError:
        pass
    finally:
        client.close()


def begin(
    client: NbdClient,
    oracle: Oracle,
    draws: random.Random,
    own: range,
    under_way: dict[int, tuple[str, list[tuple[int, int]]]],
    busy: set[int],
) -> None:
    """Submit a write, a forced write or a flush."""
    if draws.random() < 0.1:
        with oracle.lock:
            covered = list(enumerate(oracle.acknowledged))
        under_way[client.submit(FLUSH)] = ("flush", covered)
        return
    sector = draws.choice(own)
    if sector in busy:
        return
    busy.add(sector)
    with oracle.lock:
        # Told before it is sent: the server may have it, and be killed, before this goes on.
        oracle.submitted[sector] += 1
        version = oracle.submitted[sector]
    forced = draws.random() < 0.2
    data = pattern(sector, version)
    cookie = client.submit(WRITE, sector * SECTOR, data=data, flags=FUA if forced else 0)
    under_way[cookie] = ("forced" if forced else "write", [(sector, version)])


@pytest.mark.parametrize("kind", ["volatile", "protected"])
def test_kills_lose_nothing_that_was_promised(folder: Path, kind: str) -> None:
    """Half of the kills on each kind of drive; a protected one loses nothing acknowledged."""
    protected = "true" if kind == "protected" else "false"
    settings = ("buffer.bytes=1MiB", f"buffer.power_loss_protected={protected}")
    words = [word for each in ("capacity_bytes=64MiB", *settings) for word in ("--set", each)]
    oracle = Oracle()
    start("theory", *words, "-o", str(folder))
    for kill in range(KILLS // 2):
        clients = [NbdClient(folder / "nbd.sock") for _ in range(CONNECTIONS)]
        threads = [
            threading.Thread(target=load, args=(client, oracle, number, kill * 10 + number))
            for number, client in enumerate(clients)
        ]
        enough = oracle.answers + ANSWERS + random.Random(kill).randrange(ANSWERS)
        for thread in threads:
            thread.start()
        while oracle.answers < enough and all(thread.is_alive() for thread in threads):
            time.sleep(0.001)
        end(folder, signal.SIGKILL)
        for thread in threads:
            thread.join()
        start(str(folder))
        client = NbdClient(folder / "nbd.sock")
        lost = oracle.judge(client.read(0, SECTORS * SECTOR))
        client.close()
        assert lost == 0 or kind == "volatile"
        assert oracle.answers >= enough, "there was load"
        oracle.submitted = list(oracle.durable)
    end(folder)
