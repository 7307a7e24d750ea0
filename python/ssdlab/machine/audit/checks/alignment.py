"""Alignment: whether every layer begins where the one below can take whole pieces.

A write that covers a flash page (4 KiB and more) or a RAID stripe only in part makes the layer
below read, change and write again. The rule is that of `ssdlab align` (``align.rule``): what counts
is the byte on the drive at which the *topmost* layer begins. A layer that begins off the grid is
only named where what stands on it does not put that right; a slice that holds other partitions
holds no data. On an array the stripe counts, whose size follows from chunk and members
(``stripe``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.machine.align.rule import PAGE_BYTES, Judgement
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.moving import move_partition, move_volumes
from ssdlab.machine.audit.remedy import Remedy, refused
from ssdlab.machine.audit.spots import data_above, is_container
from ssdlab.machine.audit.stripe import GRID, grid_of, stripe_of
from ssdlab.real.device import Below, Device
from ssdlab.real.topology import Topology

_LUKS_HEADER = 16 << 20
_SOURCE = (
    "Thomas-Krenn SSD e-book, ch. 2 (start at multiples of 2048 sectors); "
    "Linux Documentation/ABI, alignment_offset"
)
_WHY = (
    "a 4 KiB write then covers two pages in part: both are read and written again, "
    "so small random writes cost at least twice the flash writes"
)
_IN_ITS_TABLE = frozenset({"crypt", "lvm", "linear"})


def check(machine: Machine) -> Iterator[Finding]:
    """Check every layer of what is asked about."""
    good = 0
    unseen = []
    for device in machine.devices:
        for below in device.below:
            findings = list(_edge(machine.topology, device, below))
            yield from findings
            good += not findings and below.offset_bytes is not None
        if device.kind in _IN_ITS_TABLE and "tables" not in device.details:
            unseen.append(device.label)
    if good:
        what = "every layer begins on the grid of what is below it"
        yield Finding("alignment", Severity.GREEN, what, f"{good} of them")
    if unseen:
        because = "where they begin tells dmsetup table, which only root may ask"
        yield not_looked_at("alignment", because, ", ".join(unseen))


def _edge(topology: Topology, device: Device, below: Below) -> Iterator[Finding]:
    start, lower = below.offset_bytes, topology.devices.get(below.device)
    if start is None or lower is None or not _matters(topology, device):
        return
    place = f"{device.label} on {lower.label}, byte {start}"
    stripe = stripe_of(lower)
    data = data_above(topology, device)
    if start % PAGE_BYTES and data is Judgement.MISALIGNED:
        what = f"begins {start % PAGE_BYTES} bytes beyond a 4 KiB boundary"
        severity, why = Severity.RED, _WHY
    elif data is Judgement.ALIGNED:
        return
    elif stripe and start % stripe:
        what = f"does not begin at a stripe of the array ({stripe} bytes)"
        severity = Severity.YELLOW
        why = "what is a full stripe for the layer above straddles two of the array"
    elif start % GRID and not stripe:
        what = "does not begin on the 1 MiB grid, which is good practice"
        severity = Severity.YELLOW
        why = "pages fit, but erase blocks and stripes of the layers below may not"
    else:
        return
    remedy = _remedy(topology, device, lower, start)
    yield Finding("alignment", severity, what, place, why, remedy, _SOURCE)


def _matters(topology: Topology, device: Device) -> bool:
    """Leave out an area without data of its own: a boot loader's, or a slice that holds others."""
    if topology.is_used(device.name):
        return True
    return device.size_bytes > 16 * GRID and not is_container(topology, device)


def _remedy(topology: Topology, device: Device, lower: Device, start: int) -> Remedy:
    """Say what moves the layer, where that is safe."""
    if device.kind == "partition":
        return move_partition(topology, device, lower, start)
    if device.kind == "lvm":
        return move_volumes(topology, device, lower)
    if device.kind == "crypt":
        grid = grid_of(lower)
        sectors = -(-_LUKS_HEADER // grid) * grid // 512
        return refused(
            "an encrypted device can be moved only by creating it again, which destroys its data; "
            f"if you do so for another reason, give luksFormat --offset {sectors}"
        )
    return refused(
        "this layer can be moved only by creating it again; ssdlab align --help shows how"
    )
