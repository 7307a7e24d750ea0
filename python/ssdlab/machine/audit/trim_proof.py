"""Judges by every layer's own count of discards how far TRIM got.

A layer with no requests is deaf only where some had to arrive: at every leg of a mirror or of an
array with parity, at one leg at least of what is spread (RAID 0 and 10, several segments, btrfs),
at one of several paths. Nothing has to arrive at spares, at the map of a pool, at the SSD of a
cache. What is a drive only for us, in a virtual machine or behind a RAID controller, is where our
sight ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ssdlab.machine.audit.checks.discard import breaks, passes_discards, where_sight_ends
from ssdlab.machine.audit.checks.raid_controller import is_behind_controller
from ssdlab.machine.audit.finding import Machine, Severity
from ssdlab.machine.audit.monitoring import EXIT_CODES
from ssdlab.machine.verdict import Verdict, not_looked_at
from ssdlab.real.device import PARITY, SECTOR_BYTES, Below, Device

Count = tuple[int, int]
"""Discard requests and sectors; of a device that does not count there is none."""
_MIRRORS = PARITY | {"raid1"}
_COUNTS_NOTHING_ITSELF = frozenset({"md", "btrfs"})
_NOT_NEEDED = {
    "metadata": "it holds only the map of what is above",
    "cache": "it is a cache: discards go to what it caches",
    "spare": "it is no active member",
}
_MUST, _MAY, _UNKNOWN = "must", "may", "unknown"


@dataclass(frozen=True)
class LayerProof:
    """What one layer counted.

    Attributes
    ----------
    label, kind
        Of the layer.
    requests, bytes
        Discards it was asked for during the proof.
    verdict
        Whether discards arrived, did not, or nobody can say.
    because
        Why.
    is_needed
        Whether the whole is proven only if this is.
    """

    label: str
    kind: str
    requests: int
    bytes: int
    verdict: Verdict = Verdict.RIGHT
    because: str = ""
    is_needed: bool = True

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        return {**vars(self), "verdict": str(self.verdict)}


@dataclass(frozen=True)
class Proof:
    """How far TRIM got.

    Attributes
    ----------
    layers
        Top down.
    trimmed
        What fstrim said.
    broken_by
        The layers that take no discards although all below them do: what is to be mended. A layer
        above one of them may refuse as well, so this can be further down than `stops_at`.
    """

    layers: list[LayerProof]
    trimmed: str
    broken_by: list[str]

    @property
    def stops_at(self) -> str | None:
        """The first layer at which discards should have arrived, and did not."""
        wrong = (layer.label for layer in self.layers if layer.verdict is Verdict.WRONG)
        return next(wrong, None)

    @property
    def unseen(self) -> list[str]:
        """Where our sight ends, each with the reason."""
        return [
            f"{layer.label}: {not_looked_at(layer.because)}"
            for layer in self.layers
            if layer.verdict is Verdict.NOT_LOOKED_AT and layer.is_needed
        ]

    @property
    def verdict(self) -> Verdict:
        """Right only if discards arrived at every drive where they had to."""
        if self.stops_at is not None:
            return Verdict.WRONG
        return Verdict.NOT_LOOKED_AT if self.unseen or not self.layers else Verdict.RIGHT

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        severities = {
            Verdict.RIGHT: Severity.GREEN,
            Verdict.WRONG: Severity.RED,
            Verdict.NOT_LOOKED_AT: Severity.UNSEEN,
        }
        return int(EXIT_CODES[severities[self.verdict]])

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        return {
            "verdict": str(self.verdict),
            "layers": [layer.to_dict() for layer in self.layers],
            "trimmed": self.trimmed,
            "stops_at": self.stops_at,
            "broken_by": self.broken_by,
            "unseen": self.unseen,
        }


def judge(machine: Machine, top: str, counts: Mapping[str, Count | None], trimmed: str) -> Proof:
    """Judge the layers below what is mounted.

    Parameters
    ----------
    machine
        The machine.
    top
        The device that is mounted.
    counts
        By device, what it was asked for; None where its kernel does not count.
    trimmed
        What fstrim said.
    """
    judging = _Judging(machine, counts)
    judging.walk(top, *_at_the_top(machine, judging, top, trimmed))
    broken = [device.label for device in breaks(machine, top)]
    return Proof(list(judging.proofs.values()), trimmed, broken)


def _at_the_top(machine: Machine, judging: _Judging, top: str, trimmed: str) -> tuple[str, str]:
    """Say whether the file system asked for anything at all."""
    refused = "not supported" in trimmed or bool(breaks(machine, top))
    if judging.heard(top) or refused:
        return _MUST, "it received no discards"
    return _UNKNOWN, "the file system sent no discards"


class _Judging:
    """One walk down from what is mounted; a device that is met twice is judged once."""

    def __init__(self, machine: Machine, counts: Mapping[str, Count | None]) -> None:
        self._machine = machine
        self._devices = machine.topology.devices
        self._counts = counts
        self.proofs: dict[str, LayerProof] = {}

    def heard(self, name: str, depth: int = 0) -> bool:
        """Whether discards arrived; some arrays hand them on without counting them."""
        device, count = self._devices.get(name), self._counts.get(name)
        if count is not None and count[0] > 0:
            return True
        if (
            device is None
            or device.kind not in _COUNTS_NOTHING_ITSELF
            or depth > len(self._devices)
        ):
            return False
        data = [below.device for below in device.below if below.role == "data"]
        return any(self.heard(each, depth + 1) for each in data)

    def walk(self, name: str, state: str, because: str, needed: bool = True) -> None:
        """Judge a device and what is below it, given whether discards had to arrive."""
        device, before = self._devices.get(name), self.proofs.get(name)
        # What was passed over on one way down may be where discards must arrive on another.
        is_judged = before is not None and before.verdict is not Verdict.NOT_LOOKED_AT
        if device is None or is_judged or (before is not None and state != _MUST):
            return
        heard = self.heard(name)
        if state == _UNKNOWN or (state == _MAY and not heard):
            self._add(device, Verdict.NOT_LOOKED_AT, because, needed)
        elif not heard and self._counts.get(name) is None and device.kind != "btrfs":
            self._add(device, Verdict.NOT_LOOKED_AT, "its kernel counts no discards", needed)
        elif not heard:
            self._add(device, Verdict.WRONG, because, needed)
        else:
            self._arrived(device, needed)
        arrived = heard and state != _UNKNOWN
        silent = f"{device.label} above it received no discards" if needed else because
        for step in self._below(device, "" if arrived else silent, needed):
            self.walk(*step)

    def _add(self, device: Device, verdict: Verdict, because: str, needed: bool) -> None:
        requests, sectors = self._counts.get(device.name) or (0, 0)
        self.proofs[device.name] = LayerProof(
            device.label, device.kind, requests, sectors * SECTOR_BYTES, verdict, because, needed
        )

    def _arrived(self, device: Device, needed: bool) -> None:
        """Discards arrived here; say where our sight ends."""
        if device.is_virtual:
            because = "they arrived, but it is virtual, and what is below it cannot be seen"
        elif is_behind_controller(device):
            because = "they arrived, but what the RAID controller does with them cannot be seen"
        elif device.kind != "drive" and not self._goes_on(device):
            reasons = where_sight_ends(self._machine, device.name)
            because = reasons[0] if reasons else "what is below it cannot be seen"
        else:
            self._add(device, Verdict.RIGHT, "", needed)
            return
        self._add(device, Verdict.NOT_LOOKED_AT, because, needed)

    def _goes_on(self, device: Device) -> bool:
        return any(below.role in ("data", "path", "file") for below in device.below)

    def _below(
        self, device: Device, silent: str, needed: bool
    ) -> Iterator[tuple[str, str, str, bool]]:
        """Give what is below with what had to happen there; ``silent`` is why nothing had to."""
        alike: dict[str, list[Below]] = {}
        for below in device.below:
            alike.setdefault(below.role, []).append(below)
        any_heard = {
            role: any(self.heard(each.device) for each in group) for role, group in alike.items()
        }
        for below in device.below:
            several = len(alike[below.role]) > 1 and any_heard[below.role]
            if below.role in _NOT_NEEDED:
                yield below.device, _UNKNOWN, _NOT_NEEDED[below.role], False
            elif below.role == "zeroes":
                yield below.device, _UNKNOWN, "it is asked for zeroes, not for discards", needed
            elif silent:
                yield below.device, _UNKNOWN, silent, needed
            elif below.role == "path" and several and not self.heard(below.device):
                yield below.device, _MAY, "they went another way to the same drive", False
            elif self._is_disk(below.device):
                yield below.device, _MAY, "it is a hard disk, which needs none", False
            elif several and self._is_spread(device) and not self._is_deaf(below.device):
                yield below.device, _MAY, "nothing of what was trimmed lay on it", needed
            else:
                yield below.device, _MUST, "it received no discards", needed

    def _is_spread(self, device: Device) -> bool:
        """Whether a block lies on some of the legs only."""
        if device.kind in ("md", "raid", "mirror"):
            return device.details.get("level") not in _MIRRORS
        return True

    def _is_deaf(self, name: str) -> bool:
        layers = self._machine.topology.trimmed_layers(name)
        return any(not passes_discards(each) for each in layers)

    def _is_disk(self, name: str) -> bool:
        drives = self._machine.topology.drives(name)
        return bool(drives) and all(self._machine.is_disk(drive) for drive in drives)
