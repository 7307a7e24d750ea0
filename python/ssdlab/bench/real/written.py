"""Bytes written to a block device: by the kernel's count, and by the drive's own log.

The kernel counts sectors of 512 bytes in ``/sys/…/stat`` (its seventh number), of partitions too,
unless ``queue/iostats`` is off. Where it joins the paths of an NVMe namespace, older kernels count
on the hidden paths alone (``nvme0c0n1``), so these are added up.
The drive's log is asked through smartctl; what its numbers mean for its family, ``health`` knows.
Its unit may be coarse (NVMe: 512 000 bytes, SATA: up to a GiB), so both are kept. A log of which
the host count is missing is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ssdlab.bench.real.identity import DeviceIdentity
from ssdlab.bench.real.node import Node
from ssdlab.bench.target import Counters
from ssdlab.ground.errors import SsdlabError
from ssdlab.real.device import SECTOR_BYTES, whole
from ssdlab.real.smart.life import life_of
from ssdlab.real.smart.live import ask
from ssdlab.real.smart.report import DriveReport
from ssdlab.real.system import System

_WRITTEN_SECTORS = 6
_DRIVES = frozenset({"nvme", "sata", "scsi"})


@dataclass(frozen=True)
class Health:
    """What a drive tells of itself in one answer.

    Attributes
    ----------
    host_bytes_written, nand_bytes_written
        Since it was new; None where it does not tell.
    temperature_celsius
        Now; None where it does not tell.
    used_percent
        Of its rated life.
    """

    host_bytes_written: int | None = None
    nand_bytes_written: int | None = None
    temperature_celsius: float | None = None
    used_percent: float | None = None


class Log:
    """The logs of one device.

    Parameters
    ----------
    node, identity
        The device.
    system
        The machine.
    ask_drive
        Asks the drive; by default by smartctl.
    """

    def __init__(
        self,
        node: Node,
        identity: DeviceIdentity,
        system: System,
        ask_drive: Callable[[list[str]], DriveReport] = ask,
    ) -> None:
        self._node, self._system = node, system
        self._has_log = identity.kind in _DRIVES
        self._ask = ask_drive

    def kernel_bytes(self) -> int | None:
        """Give the bytes that the kernel wrote since it found the device; None if it counts none.

        Raises
        ------
        SsdlabError
            It cannot be read.
        """
        drives = self._paths() or [self._node.drive_folder]
        if any(self._system.read(f"{each}/queue/iostats") == "0" for each in drives):
            return None
        return sum(self._written(folder) for folder in self._paths() or [self._node.folder])

    def _paths(self) -> list[str]:
        """Name the folders of the paths that the kernel joins to this namespace."""
        way = re.fullmatch(r"(nvme\d+)(n\d+)", self._node.drive)
        names = self._system.entries("/sys/block") if way else []
        paths = [each for each in names if way and re.fullmatch(rf"{way[1]}c\d+{way[2]}", each)]
        return [f"/sys/block/{each}" for each in paths]

    def _written(self, folder: str) -> int:
        words = (self._system.read(f"{folder}/stat") or "").split()
        sectors = whole(words[_WRITTEN_SECTORS]) if len(words) > _WRITTEN_SECTORS else None
        if sectors is None:
            raise SsdlabError(f"{folder}/stat: cannot be read; is the device gone?")
        return sectors * SECTOR_BYTES

    def health(self) -> Health:
        """Ask the drive; all None where it has nothing to tell."""
        if not self._has_log:
            return Health()
        try:
            report = self._ask([f"/dev/{self._node.drive}"])
        except SsdlabError:
            return Health()
        life = life_of(report)
        host, flash = life.host_written_bytes, life.flash_written_bytes
        temperature = report.temperature_celsius
        if temperature is None and report.nvme is not None:
            temperature = report.nvme.temperature_celsius
        return Health(
            None if host is None else int(host.number),
            None if flash is None else int(flash.number),
            temperature,
            None if life.used_percent is None else life.used_percent.number,
        )

    def counters(self) -> Counters | None:
        """Give what is counted: by the drive where it counts, else by the kernel, else nothing."""
        told = self.health()
        if told.host_bytes_written is not None:
            return Counters(told.host_bytes_written, told.nand_bytes_written, "drive")
        written = self.kernel_bytes()
        return None if written is None else Counters(written, None, "kernel")
