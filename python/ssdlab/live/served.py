"""The drive of a folder while it is served: what `ssdlab.live.api` asks, by the engine.

The folder has the drive's bytes and what it is like (docs/howto/serve.md), and while it is served
the sockets ``nbd.sock`` and ``ctl.sock`` and the file ``pid``.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ssdlab.engine import ask_at_once, load
from ssdlab.ground.output import PendingFile
from ssdlab.live.words import Story

NBD_SOCKET = "nbd.sock"
PID = "pid"
_LOOK_EVERY_S = 1.0


@dataclass(frozen=True)
class Nvme:
    """How NVMe hosts see a drive.

    Attributes
    ----------
    places
        Addresses with their ports, at which it is spoken over TCP.
    model, serial, firmware
        Of the drive.
    qualified_name
        Of its subsystem (NQN), by which hosts ask for it.
    """

    places: Sequence[str]
    model: str
    serial: str
    firmware: str
    qualified_name: str


def nvme_of(folder: Path, places: Sequence[str], model: str, firmware: str) -> Nvme:
    """Return how NVMe hosts see the drive of a folder; where that lies makes its serial number.

    Examples
    --------
    >>> nvme_of(Path("/drive"), ["127.0.0.1:4420"], "ssdlab", "0.1.0").serial
    'DB2A6AAE063B5F1EBFA7'
    """
    name = uuid.uuid5(uuid.NAMESPACE_URL, folder.resolve().as_uri())
    serial = name.hex[:20].upper()
    return Nvme(places, model, serial, firmware, f"nqn.2014-08.org.nvmexpress:uuid:{name}")


@dataclass(frozen=True)
class ServingWishes:
    """How a drive is served.

    Attributes
    ----------
    places
        Where NBD is spoken: ``unix`` and a path, or ``tcp`` and an address with its port.
    others_may_reach_it
        Whether addresses are taken that are not of this machine alone.
    pace
        Virtual seconds a second; None is as fast as it can be computed.
    durable
        What flushed data outlive: the ``process`` or the ``host``.
    faults
        What goes wrong at cuts: some of `FAULTS`.
    log
        A new folder, into which what is done to the drive is written.
    nvme
        Where NVMe is spoken over TCP, and what the drive is called there.
    """

    places: Sequence[tuple[str, str]]
    others_may_reach_it: bool = False
    pace: float | None = None
    durable: str = "process"
    faults: Sequence[str] = ()
    log: Path | None = None
    nvme: Nvme | None = None


class FolderDrive:
    """The drive of a folder, opened and served until it is closed.

    Parameters
    ----------
    folder
        Where it lies.
    wishes
        How it is served.

    Raises
    ------
    SsdlabError
        It is no folder of a drive, is served already, is damaged, or nobody can be served there.
    """

    def __init__(self, folder: Path, wishes: ServingWishes) -> None:
        self._folder = folder.resolve()
        self._wishes = wishes
        self._server: Any = ask_at_once(
            load().Server,
            self._folder,
            (list(wishes.places), _plain(wishes.nvme)),
            wishes.others_may_reach_it,
            wishes.pace,
            wishes.durable == "host",
            wishes.log,
        )
        self._lost: dict[str, Any] | None = None
        self._faults: list[str] = []
        self.arm(wishes.faults)
        self._story = Story()
        self._ended = threading.Event()
        self._teller = threading.Thread(target=self._tell_on, daemon=True)
        with PendingFile(self._folder / PID) as file:
            file.write(f"{os.getpid()}\n")
        self._story.go_on(self._engine_stats())
        self._teller.start()

    @property
    def addresses(self) -> list[str]:
        """URIs that NBD clients take, and those of NVMe over TCP, with the qualified name."""
        nbd = [_uri(kind, place) for kind, place in self._server.places()]
        if (nvme := self._wishes.nvme) is None:
            return nbd
        places = self._server.nvme_places()
        return [*nbd, *(f"nvme+tcp://{place}/{nvme.qualified_name}" for place in places)]

    def stats(self) -> dict[str, Any]:
        """See `ssdlab.live.api.Served`."""
        told = self._engine_stats()
        told["events"] = self._story.told()
        return told

    def _engine_stats(self) -> dict[str, Any]:
        from ssdlab import engine

        told: dict[str, Any] = json.loads(ask_at_once(self._server.stats))
        return {
            **told,
            "folder": str(self._folder),
            "pid": os.getpid(),
            "version": engine.version(),
            "addresses": self.addresses,
            "durable": self._wishes.durable,
            "faults": self._faults,
        }

    def power_cut(self, seed: int | None) -> dict[str, Any]:
        """See `ssdlab.live.api.Served`."""
        drawn = secrets.randbits(32) if seed is None else seed
        self._lost = json.loads(ask_at_once(self._server.power_cut, drawn))
        assert self._lost is not None
        return self._lost

    def power_on(self) -> None:
        """See `ssdlab.live.api.Served`."""
        ask_at_once(self._server.power_on)

    def lost(self) -> dict[str, Any] | None:
        """See `ssdlab.live.api.Served`."""
        return self._lost

    def checkpoint(self) -> None:
        """See `ssdlab.live.api.Served`."""
        ask_at_once(self._server.checkpoint)

    def erase(self, how: str) -> dict[str, Any]:
        """See `ssdlab.live.api.Served`."""
        return {"took_ns": ask_at_once(self._server.erase, how)}

    def age(self, aging: Mapping[str, int]) -> dict[str, Any]:
        """See `ssdlab.live.api.Served`."""
        words = {name: value for name, value in aging.items() if name != "used_percent"}
        told = " ".join(f"{name}={int(value)}" for name, value in words.items())
        ask_at_once(self._server.age, told, aging.get("used_percent"))
        health: dict[str, Any] = self._engine_stats()["health"]
        return {key: value for key, value in health.items() if key != "counters"}

    def inject_media_error(self, offset: int, length: int) -> None:
        """See `ssdlab.live.api.Served`."""
        ask_at_once(self._server.spoil, offset, length)

    def hold_back(self, latency_ns: int, count: int | None, *, hangs: bool) -> None:
        """See `ssdlab.live.api.Served`."""
        ask_at_once(self._server.inject, latency_ns, count, hangs)

    def arm(self, faults: Sequence[str]) -> None:
        """See `ssdlab.live.api.Served`."""
        ask_at_once(self._server.arm, list(faults))
        self._faults = list(faults)

    def snapshot(self, name: str) -> None:
        """See `ssdlab.live.api.Served`."""
        ask_at_once(self._server.snapshot, name)

    def restore(self, name: str) -> None:
        """See `ssdlab.live.api.Served`."""
        ask_at_once(self._server.restore, name)
        self.arm(self._faults)
        self._lost = None

    def close(self) -> None:
        """End what is under way, put the drive away, and leave the folder.

        Raises
        ------
        SsdlabError
            The host's storage failed: the next to open the folder recovers the drive.
        """
        self._ended.set()
        try:
            ask_at_once(self._server.stop)
        finally:
            with suppress(OSError):
                (self._folder / PID).unlink()

    def _tell_on(self) -> None:
        """Notice once a second what happens; a drive that goes read-only is kept as it is then."""
        was_read_only: bool | None = None
        while not self._ended.wait(_LOOK_EVERY_S):
            # What ends meanwhile, or fails, is told to whoever asks.
            with suppress(Exception):
                told = self._engine_stats()
                self._story.go_on(told)
                if told["read_only"] and was_read_only is False:
                    self.checkpoint()
                was_read_only = told["read_only"]


def _plain(nvme: Nvme | None) -> tuple[list[str], tuple[str, str, str, str]] | None:
    if nvme is None:
        return None
    return list(nvme.places), (nvme.model, nvme.serial, nvme.firmware, nvme.qualified_name)


def _uri(kind: str, place: str) -> str:
    if kind == "unix":
        return f"nbd+unix:///?socket={quote(place)}"
    return f"nbd://{place}"
