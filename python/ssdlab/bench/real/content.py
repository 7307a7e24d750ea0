"""What a block device holds, by the signatures on it: file systems, members, partition tables.

``wipefs`` (util-linux) lists every signature that libblkid knows, ZFS labels and md superblocks at
the device's end among them, and writes nothing without ``--all``. Where it cannot be run, the
content is unknown, which is not the same as empty. Left out: data without a signature.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.bench.real.node import Node, device_path
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import Ended, GaveUp, run_to_end
from ssdlab.ground.untrusted import entries, text

_TIMEOUT_S = 60.0
_WORDS = {
    "linux_raid_member": "member of a Linux software RAID (md)",
    "LVM2_member": "physical volume of LVM",
    "crypto_LUKS": "LUKS-encrypted data",
    "zfs_member": "member of a ZFS pool",
    "btrfs": "btrfs",
    "bcache": "bcache",
    "swap": "swap",
    "gpt": "GPT partition table",
    "dos": "MBR partition table",
    "PMBR": "protective MBR",
    "isw_raid_member": "member of an Intel RAID",
    "ddf_raid_member": "member of a DDF RAID",
}
RunCommand = Callable[[Sequence[str], float | None], Ended]


@dataclass(frozen=True)
class Signature:
    """One signature.

    Attributes
    ----------
    path
        The device or partition that it is on.
    kind
        libblkid's name, such as ``ext4`` or ``LVM2_member``.
    offset_bytes
        Where it is.
    label
        The name that its owner gave it; empty without one.
    """

    path: str
    kind: str
    offset_bytes: int
    label: str = ""

    def __str__(self) -> str:
        """Say what it is and where."""
        called = f' "{self.label}"' if self.label else ""
        what = _WORDS.get(self.kind, self.kind)
        return f"{self.path}: {what}{called} at byte {self.offset_bytes}"


def signatures(node: Node, run: RunCommand = run_to_end) -> list[Signature]:
    """List what is on a device and on its partitions.

    Parameters
    ----------
    node
        The device.
    run
        Runs a tool.

    Raises
    ------
    SsdlabError
        That cannot be determined.
    """
    found = signatures_at(node.path, run)
    for partition in node.partitions:
        path = device_path(partition)
        found += [Signature(path, "partition", 0), *signatures_at(path, run)]
    return found


def signatures_at(path: str, run: RunCommand = run_to_end) -> list[Signature]:
    """List what is on one device, or in a file that is like one, each kind once.

    Raises
    ------
    SsdlabError
        That cannot be determined.
    """
    found: dict[tuple[str, str], Signature] = {}
    for each in (_signature(path, entry) for entry in entries(_listed(path, run))):
        # Further copies of the same signature (a pool has hundreds) add nothing.
        found.setdefault((each.kind, each.label), each)
    return list(found.values())


def _listed(path: str, run: RunCommand) -> list[Any]:
    """Ask wipefs for the signatures, as its JSON lists them."""
    try:
        ended = run(("wipefs", "--json", path), _TIMEOUT_S)
    except FileNotFoundError:
        raise _unknown(path, "wipefs was not found; install util-linux") from None
    except (GaveUp, OSError) as reason:
        raise _unknown(path, str(reason)) from None
    if ended.code != 0:
        raise _unknown(path, ended.complaint)
    try:
        content = json.loads(ended.output or '{"signatures": []}')
    except (ValueError, RecursionError):
        raise _unknown(path, "wipefs did not answer in JSON") from None
    listed = content.get("signatures") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise _unknown(path, "wipefs answered without a list of signatures")
    return listed


def _unknown(path: str, reason: str) -> SsdlabError:
    return SsdlabError(f"{path}: what it holds cannot be determined: {reason}; nothing was written")


def _signature(path: str, entry: Any) -> Signature:
    offset = text(entry.get("offset"))
    return Signature(
        path,
        text(entry.get("type")) or "unknown",
        int(offset, 16) if offset.startswith("0x") else 0,
        text(entry.get("label")),
    )
