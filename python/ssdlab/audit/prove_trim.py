"""How far does TRIM get? Every layer counts its own discards: read them, trim, read them again.

``/sys/block/DEVICE/stat`` has in its fields 12 to 15 the discards a layer was asked for. A layer
whose counter does not move while the one above it does is where the chain ends. This is the one
thing in the audit that makes a drive change something: it trims what is free already.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from ssdlab.audit.checks.discard import breaks
from ssdlab.audit.system import System
from ssdlab.audit.topology import SECTOR_BYTES, Device, Topology, read_topology
from ssdlab.errors import SsdlabError

_TIMEOUT_S = 600
_PROBE_BYTES = 16 << 20
_DISCARD_SECTORS_FIELD = 13
_DISCARD_REQUESTS_FIELD = 11


@dataclass(frozen=True)
class LayerProof:
    """What one layer counted.

    Attributes
    ----------
    label, kind
        Of the layer.
    requests, bytes
        Discards it was asked for during the proof.
    """

    label: str
    kind: str
    requests: int
    bytes: int


@dataclass(frozen=True)
class Proof:
    """How far TRIM got.

    Attributes
    ----------
    layers
        Top down.
    trimmed
        What fstrim said.
    stops_at
        The first layer that was asked for nothing; None where all of them counted.
    broken_by
        The layers that take no discards although all below them do: what is to be mended. A layer
        above one of them may refuse as well, so this can be further down than `stops_at`.
    """

    layers: list[LayerProof]
    trimmed: str
    stops_at: str | None
    broken_by: list[str]

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        return {
            "layers": [vars(layer) for layer in self.layers],
            "trimmed": self.trimmed,
            "stops_at": self.stops_at,
            "broken_by": self.broken_by,
        }


def layers_below(system: System, mount_point: str) -> list[Device]:
    """Name the layers that a proof would read.

    Raises
    ------
    SsdlabError
        Nothing that stands on a block device is mounted there.
    """
    topology, name = _mounted(system, mount_point)
    return [device for device, _ in topology.layers(name)]


def _mounted(system: System, mount_point: str) -> tuple[Topology, str]:
    topology = read_topology(system)
    place = mount_point.rstrip("/") or "/"
    for use in topology.uses:
        if use.place == place:
            return topology, use.device
    places = ", ".join(use.place for use in topology.uses) or "none"
    raise SsdlabError(
        f"{mount_point}: no mounted file system on a block device\nthere are {places}"
    )


def prove_trim(system: System, mount_point: str, trim: Callable[[str], str] | None = None) -> Proof:
    """Trim a mounted file system's free space and see which layers hear of it.

    Parameters
    ----------
    system
        The live machine.
    mount_point
        Of the file system.
    trim
        What trims, given the mount point; by default fstrim after a file was written and removed,
        so that there is something to trim.

    Raises
    ------
    SsdlabError
        Nothing is mounted there, or fstrim cannot run at all.
    """
    topology, name = _mounted(system, mount_point)
    devices = [device for device, _ in topology.layers(name)]
    before = [_counted(system, device) for device in devices]
    said = (trim or _trim)(mount_point)
    after = [_counted(system, device) for device in devices]
    layers = [
        LayerProof(
            device.label, device.kind, late[0] - early[0], (late[1] - early[1]) * SECTOR_BYTES
        )
        for device, early, late in zip(devices, before, after, strict=True)
    ]
    deaf = [layer.label for layer in layers if layer.requests == 0]
    broken = [device.label for device in breaks(topology, name)]
    return Proof(layers, said, deaf[0] if deaf else None, broken)


def _counted(system: System, device: Device) -> tuple[int, int]:
    """Give the discard requests and sectors that a device was asked for."""
    words = (system.read(f"/sys/class/block/{device.name}/stat") or "").split()
    if len(words) <= _DISCARD_SECTORS_FIELD:
        raise SsdlabError(
            f"{device.label}: its kernel counts no discards (Linux 4.19 and later do)"
        )
    return int(words[_DISCARD_REQUESTS_FIELD]), int(words[_DISCARD_SECTORS_FIELD])


def _trim(mount_point: str) -> str:
    _write_and_remove(mount_point)
    try:
        answer = subprocess.run(
            ["fstrim", "-v", mount_point],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise SsdlabError("fstrim is not here\ninstall util-linux") from None
    except subprocess.TimeoutExpired:
        raise SsdlabError(f"fstrim {mount_point}: no end within {_TIMEOUT_S} s") from None
    # "not supported" is an answer: the counters show where the chain ends.
    return (answer.stdout or answer.stderr).strip()


def _write_and_remove(mount_point: str) -> None:
    """Make something to trim: file systems do not trim the same free space twice."""
    try:
        with tempfile.NamedTemporaryFile(dir=mount_point, prefix=".ssdlab-trim-") as file:
            file.write(os.urandom(1 << 20) * (_PROBE_BYTES >> 20))
            file.flush()
            os.fsync(file.fileno())
        os.sync()
    except OSError as error:
        raise SsdlabError(
            f"{mount_point}: a file to be trimmed cannot be written: {error.strerror}\n"
            "run as root, on a file system that is not read-only"
        ) from None
