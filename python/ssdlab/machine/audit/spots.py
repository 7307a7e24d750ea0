"""Where the data above a device begin on the drives, judged by the rule of `ssdlab align`.

The layers of a machine add up as those of a layout do (``align.places``): offsets are summed, and
above a striped array a position counts in the array, and on its members by its place in a chunk.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.machine.align.layout import PARITY_DISKS, STRIPED, Array
from ssdlab.machine.align.places import Offsets, Spot
from ssdlab.machine.align.rule import (
    GOOD_PRACTICE_BYTES,
    PAGE_BYTES,
    Judgement,
    Standing,
    containers,
    judgement,
    worst,
)
from ssdlab.real.device import Device, whole
from ssdlab.real.topology import Topology

_MOST_LAYERS = 32
_HOLDS_DATA = frozenset({"data", "path"})


def data_above(topology: Topology, device: Device) -> Judgement:
    """Judge where the data above a device, or its own, begin: the worst of them.

    Where an offset on the way is not known, nothing is known that puts the device's own right: it
    counts as misaligned.
    """
    above = topology.above(device.name)
    tops = [each for each in above if not topology.directly_above(each.name)] or [device]
    return worst(_judged(spot) for top in tops for spot in _spots(topology, top))


def is_container(topology: Topology, device: Device) -> bool:
    """Whether a partition holds another one of its drive, as a slice with a label does."""
    if device.kind != "partition":
        return False
    beside = topology.partitions(device.below[0].device)
    spans = [(each.below[0].offset_bytes, each.size_bytes) for each in beside]
    known = [None if start is None else (start, size) for start, size in spans]
    return beside.index(device) in containers(known)


def _judged(spot: Spot | None) -> Judgement:
    if spot is None:
        return Judgement.MISALIGNED
    answers: list[tuple[Standing, bool | None]] = [
        (Standing.MUST, _fits(spot, PAGE_BYTES)),
        (Standing.GOOD_PRACTICE, _fits(spot, GOOD_PRACTICE_BYTES)),
    ]
    if spot.array is not None:
        unit = spot.array.stripe if spot.array.level in PARITY_DISKS else spot.array.chunk
        answers.append((Standing.GOOD_PRACTICE, spot.within.fits(unit)))
    return judgement(answers)


def _fits(spot: Spot, unit: int) -> bool:
    places, effective = spot.against(unit)
    return places.fits(effective)


def _spots(topology: Topology, device: Device, depth: int = 0) -> Iterator[Spot | None]:
    """Give where a device's first byte lies, on each way down to a drive; None where not known."""
    below = [each for each in device.below if each.role in _HOLDS_DATA]
    if not below:
        yield Spot(Offsets(0))
        return
    array = _array(device)
    for each in below:
        lower = topology.devices.get(each.device)
        if lower is None or each.offset_bytes is None or depth > _MOST_LAYERS:
            yield None
            continue
        for spot in _spots(topology, lower, depth + 1):
            if spot is None or array is None or spot.array is not None:
                yield None if spot is None else spot.moved(each.offset_bytes)
            else:
                start = each.offset_bytes
                yield spot.striped(Array(array.level, array.disks, array.chunk, start))


def _array(device: Device) -> Array | None:
    """Describe a striped array; None of what is none."""
    level = device.details.get("level", "").removeprefix("raid")
    chunk = whole(device.details.get("chunk_size")) or 0
    disks = whole(device.details.get("raid_disks")) or 0
    if device.kind != "md" or level not in STRIPED or chunk <= 0:
        return None
    array = Array(level, disks, chunk)
    return array if array.data_disks > 0 else None
