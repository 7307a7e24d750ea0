"""How long a stripe of an array is, and on which grid what stands on it should begin.

The optimal I/O size that the kernel gives for an array is no witness: USB bridges and SAS drives
report figures such as 33553920 or 16773120 bytes, and an array takes over the largest of its
members. So the stripe is computed from chunk and members, and where these are not known there is
none.
"""

from __future__ import annotations

import math

from ssdlab.machine.align.rule import GOOD_PRACTICE_BYTES
from ssdlab.real.device import Device, whole

GRID = GOOD_PRACTICE_BYTES
_PARITY_DRIVES = {"raid4": 1, "raid5": 1, "raid6": 2}
_LONGEST_STRIPE = 1 << 30


def stripe_of(array: Device) -> int | None:
    """Give the bytes that what stands on an array should begin at a multiple of.

    With parity a full stripe of data; where chunks are only spread (RAID 0 and 10) one chunk; of a
    mirror, and of what is no array, None.

    Examples
    --------
    >>> details = {"level": "raid5", "chunk_size": "524288", "raid_disks": "4"}
    >>> stripe_of(Device("md0", "md", "/dev/md0", 1, details=details))
    1572864
    """
    level = array.details.get("level", "")
    chunk = whole(array.details.get("chunk_size")) or 0
    members = whole(array.details.get("raid_disks")) or 0
    if array.kind != "md" or chunk <= 0:
        return None
    if level in ("raid0", "raid10"):
        stripe = chunk
    elif level in _PARITY_DRIVES:
        stripe = chunk * (members - _PARITY_DRIVES[level])
    else:
        return None
    return stripe if 0 < stripe <= _LONGEST_STRIPE else None


def grid_of(lower: Device) -> int:
    """Give the bytes that a start on a device should be a multiple of."""
    return math.lcm(GRID, stripe_of(lower) or 1)
