"""How far does TRIM get? Every layer counts its own discards: read them, trim, read them again.

``/sys/block/DEVICE/stat`` has in its fields 12 to 15 the discards a layer was asked for;
``trim_proof`` judges the counts. What frees blocks in a loop device's file makes holes in it, which
the file system below sends on only when it is trimmed itself, so that is trimmed as well. This is
the one thing in the audit that makes a drive change something: it trims what is free already.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit.finding import Machine
from ssdlab.machine.audit.trim_proof import Count, LayerProof, Proof, judge
from ssdlab.real.device import Device
from ssdlab.real.reading import read_topology
from ssdlab.real.system import System

__all__ = ["LayerProof", "Proof", "places_trimmed", "prove_trim"]

_TIMEOUT_S = 600
_PROBE_BYTES = 16 << 20
_DISCARD_SECTORS_FIELD = 13
_DISCARD_REQUESTS_FIELD = 11
_STAT = "/sys/class/block/{}/stat"


def places_trimmed(system: System, folder: str) -> tuple[list[str], list[Device]]:
    """Name the mounted file systems that a proof would trim, and the layers that it would read.

    Raises
    ------
    SsdlabError
        The folder stands on no block device.
    """
    machine, top = _mounted(system, folder)
    devices = [device for device, _ in machine.topology.layers(top)]
    return [folder, *_below_loops(devices)], devices


def _below_loops(devices: list[Device]) -> list[str]:
    """Name the file systems that hold the files of loop devices, top down."""
    return list(dict.fromkeys(each.details["mount"] for each in devices if "mount" in each.details))


def _mounted(system: System, folder: str) -> tuple[Machine, str]:
    """Give the machine, and the device of what is mounted at a folder or above it."""
    topology = read_topology(system)
    machine = Machine(system, topology, frozenset(topology.devices))
    use = topology.mounted_at(folder)
    if use is not None:
        return machine, use.device
    real = system.real(folder)
    mount = topology.mount_of(real) if real and not real.startswith("/dev/") else None
    if mount is not None and mount.device:
        return machine, mount.device
    places = ", ".join(use.place for use in topology.uses) or "none"
    raise SsdlabError(f"{folder}: no mounted file system on a block device\nthere are {places}")


def prove_trim(system: System, folder: str, trim: Callable[[str], str] | None = None) -> Proof:
    """Trim a mounted file system's free space and see which layers hear of it.

    Parameters
    ----------
    system
        The live machine.
    folder
        Where the file system is mounted, or a folder in it.
    trim
        What trims, given a folder; by default fstrim, at the top after a file was written and
        removed, so that there is something to trim.

    Raises
    ------
    SsdlabError
        Nothing is mounted there, or fstrim cannot run at all.
    """
    machine, top = _mounted(system, folder)
    devices = [device for device, _ in machine.topology.layers(top)]
    before = {device.name: _counted(system, device) for device in devices}
    if all(count is None for count in before.values()):
        raise SsdlabError(f"{folder}: the kernel counts no discards (Linux 4.19 and later do)")
    if trim is None:
        _write_and_remove(folder)
    said = (trim or _fstrim)(folder)
    for place in _below_loops(devices):
        os.sync()
        (trim or _fstrim)(place)
    after = {device.name: _counted(system, device) for device in devices}
    counts = {name: _difference(before[name], after[name]) for name in before}
    return judge(machine, top, counts, said)


def _difference(before: Count | None, after: Count | None) -> Count | None:
    if before is None or after is None:
        return None
    return after[0] - before[0], after[1] - before[1]


def _counted(system: System, device: Device) -> Count | None:
    """Give the discard requests and sectors that a device was asked for.

    Where the kernel itself joins the paths to an NVMe namespace, older kernels count on the paths.
    """
    names = [device.name, *device.details.get("paths", "").split()]
    counts = [each for each in (_count_of(system, name) for name in names) if each is not None]
    if not counts:
        return None
    return sum(each[0] for each in counts), sum(each[1] for each in counts)


def _count_of(system: System, name: str) -> Count | None:
    words = (system.read(_STAT.format(name)) or "").split()
    if len(words) <= _DISCARD_SECTORS_FIELD or not all(word.isdecimal() for word in words):
        return None
    return int(words[_DISCARD_REQUESTS_FIELD]), int(words[_DISCARD_SECTORS_FIELD])


def _fstrim(folder: str) -> str:
    try:
        answer = subprocess.run(
            ["fstrim", "-v", folder],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise SsdlabError("fstrim is not installed\ninstall util-linux") from None
    except subprocess.TimeoutExpired:
        raise SsdlabError(f"fstrim {folder}: did not finish within {_TIMEOUT_S} s") from None
    # "not supported" is an answer: the counters show where the chain ends.
    return (answer.stdout or answer.stderr).strip()


def _write_and_remove(folder: str) -> None:
    """Make something to trim: file systems do not trim the same free space twice."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".ssdlab-trim-") as file:
            file.write(os.urandom(1 << 20) * (_PROBE_BYTES >> 20))
            file.flush()
            os.fsync(file.fileno())
        os.sync()
    except OSError as error:
        raise SsdlabError(
            f"{folder}: the file to be trimmed cannot be written: {error.strerror}\n"
            "run as root, on a file system that is not read-only"
        ) from None
