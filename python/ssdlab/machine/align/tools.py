"""What to type for a layout: its layers and only these, bottom up, each on what the last one made.

The drive's name says whose commands are meant: Linux's, FreeBSD's or Windows'; without a name all
of them that have every layer of the layout. Positions are given in sectors wherever a tool takes
them as they are. Options are those of the versions named, whose manual pages are the sources; what
was not carried out is marked as untried. Left out: two arrays on each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align.findings import record_shift
from ssdlab.machine.align.grid import TRACK, Grid
from ssdlab.machine.align.layout import PARITY_DISKS, Array, FileSystem, Layer, Layout, Partition
from ssdlab.machine.align.rule import GOOD_PRACTICE_BYTES, Judgement, judge_byte

SYSTEMS = ("linux", "windows", "freebsd")
_FREEBSD_NAME = re.compile(r"^(?:/dev/)?(?:ada|ad|da|nvd|nda|vtbd|mmcsd)\d+$")
_WINDOWS_NAME = re.compile(r"^(?:\\\\\.\\PhysicalDrive)?(\d{1,3})$", re.IGNORECASE)


@dataclass(frozen=True)
class Lines:
    """What to type into one tool.

    Attributes
    ----------
    tool
        Its name.
    version
        The version whose options these are.
    source
        Where they are documented.
    lines
        To be typed in this order.
    note
        What to know; may be empty.
    tried
        Whether these lines were carried out, not only read up.
    """

    tool: str
    version: str
    source: str
    lines: tuple[str, ...]
    note: str = ""
    tried: bool = True


@dataclass(frozen=True)
class LayoutPlan:
    """A layout to be made.

    Attributes
    ----------
    layers
        Bottom up.
    grid
        What is to be fitted.
    devices
        The drives: one, or every member of an array; empty where they are not known.
    hint
        The size that a file system on a single drive is told of, in bytes.
    new
        Whether the drives have no partition table yet.
    all_tools
        Whether to name every tool for a layer, or one.
    """

    layers: tuple[Layer, ...]
    grid: Grid
    devices: tuple[str, ...] = ()
    hint: int | None = None
    new: bool = False
    all_tools: bool = False

    @property
    def sector_bytes(self) -> int:
        """The drive's logical sector."""
        return self.grid.geometry.sector_bytes

    @property
    def array(self) -> Array | None:
        """The array among the layers."""
        return next((each for each in self.layers if isinstance(each, Array)), None)

    def place_of(self, layer: Layer) -> int:
        """Count the layers below one; two may be equal, so it is itself that is looked for."""
        return next(place for place, each in enumerate(self.layers) if each is layer)

    def step_above(self, layer: Layer) -> int:
        """Give what has to be fitted above the layers below one: a stripe, or the drive's grid."""
        array = self._striped_below(layer)
        return array.stripe if array else self.grid.data_step_bytes

    def judged_step(self, layer: Partition) -> int:
        """Give what `check` judges a partition by, which may be less than what is chosen."""
        array = self._striped_below(layer)
        if array is not None:
            return array.stripe if array.level in PARITY_DISKS else array.chunk
        tracks = (u.bytes for u in self.grid.units if u.kind == TRACK and self.is_of_drive(layer))
        return lcm(self.grid.judged_step_bytes, *tracks)

    def is_of_drive(self, layer: Partition) -> bool:
        """Whether a partition is one of the drive's own table."""
        below = self.layers[: self.place_of(layer)]
        return layer.kind != "label" and not any(isinstance(each, Array) for each in below)

    def _striped_below(self, layer: Layer) -> Array | None:
        below = self.layers[: self.place_of(layer)]
        return next((each for each in below if isinstance(each, Array) and each.striped), None)

    def is_slice(self, layer: Layer) -> bool:
        """Whether a partition holds a BSD label, and so is a slice of an MBR table."""
        above = self.layers[self.place_of(layer) + 1 :]
        return bool(above) and isinstance(above[0], Partition) and above[0].kind == "label"

    def ashift(self, layer: FileSystem) -> int:
        """Give ZFS's record size as a power of two: as given, or the drive's page."""
        return record_shift(self.grid) if layer.ashift is None else layer.ashift


def plan(
    layout: Layout,
    grid: Grid,
    devices: Sequence[str] = (),
    *,
    hint: int | None = None,
    new: bool = False,
    all_tools: bool = False,
) -> LayoutPlan:
    """Make a plan of a layout, whose partitions have to fit the grid.

    Parameters
    ----------
    layout
        The layers.
    grid
        What to fit.
    devices
        One drive, or every member of an array; none to leave them open.
    hint
        Bytes of a stripe or an erase block that a file system on a single drive is told of.
    new
        Make a partition table first.
    all_tools
        Name every tool for a layer.

    Raises
    ------
    SsdlabError
        A partition does not fit, or the drives are too few or too many.
    """
    made = LayoutPlan(layout.layers, grid, tuple(devices), hint, new, all_tools)
    _refuse_misaligned(made)
    arrays = [each for each in layout.layers if isinstance(each, Array)]
    if len(arrays) > 1:
        raise SsdlabError("two arrays on each other are not covered; give one")
    needed = arrays[0].disks if arrays else 1
    if devices and len(devices) != needed:
        what = f"{arrays[0].name} of {needed} drives needs" if arrays else "one drive needs"
        raise SsdlabError(
            f"--device: {what} {needed} of them, each once; {len(devices)} given: "
            f"{', '.join(devices)}"
        )
    if len(set(devices)) < len(devices):
        raise SsdlabError(f"--device: a drive is given twice: {', '.join(devices)}; name each once")
    return made


def _refuse_misaligned(wanted: LayoutPlan) -> None:
    """Refuse partitions that do not fit; of a label and its slice the sum has to."""
    slice_start = 0
    for layer in wanted.layers:
        if not isinstance(layer, Partition):
            continue
        if wanted.is_slice(layer):
            slice_start = layer.start
            continue
        _refuse_start(wanted, layer, slice_start if layer.kind == "label" else 0)


def _refuse_start(wanted: LayoutPlan, layer: Partition, inside: int) -> None:
    step = wanted.judged_step(layer)
    if (inside + layer.start) % step == 0:
        return
    sector = wanted.sector_bytes
    following = -(-(inside + layer.start) // step) * step - inside
    fits = judge_byte(inside + layer.start) is Judgement.NOT_GOOD_PRACTICE
    less = "; it fits 4 KiB, but what is made anew had better fit 1 MiB: --align 4KiB asks for less"
    raise SsdlabError(
        f"{layer.name}: start {layer.start // sector}s is not a multiple of "
        f"{step // sector} sectors{' on the drive' if inside else ''}; the next one is "
        f"{following // sector}s{less if fits and step == GOOD_PRACTICE_BYTES else ''}"
    )


def device_of(device: str, number: int = 1) -> str:
    """Name a partition as Linux does.

    Examples
    --------
    >>> device_of("/dev/sda"), device_of("/dev/nvme0n1", 2), device_of("/dev/disk/by-id/ata-X")
    ('/dev/sda1', '/dev/nvme0n1p2', '/dev/disk/by-id/ata-X-part1')
    """
    if device.startswith("/dev/disk/"):
        return f"{device}-part{number}"
    return f"{device}{'p' if device[-1:].isdigit() else ''}{number}"


def system_of(devices: Sequence[str]) -> str | None:
    """Say whose names these are; None where there are none.

    Raises
    ------
    SsdlabError
        They are of several systems, or are no names of drives.

    Examples
    --------
    >>> system_of(["/dev/sda", "/dev/sdb"]), system_of(["ada0"]), system_of(["1"])
    ('linux', 'freebsd', 'windows')
    """
    found = {_system_of(device) for device in devices}
    if len(found) > 1:
        raise SsdlabError(f"--device: {', '.join(devices)} are names of different systems")
    return found.pop() if found else None


def _system_of(device: str) -> str:
    if _FREEBSD_NAME.match(device):
        return "freebsd"
    if _WINDOWS_NAME.match(device):
        return "windows"
    if re.fullmatch(r"/dev/[\w./:+-]+", device):
        return "linux"
    raise SsdlabError(
        f"--device {device}: not the name of a drive; expected /dev/sda (Linux), ada0 (FreeBSD) or "
        "1 (Windows, as diskpart's list disk counts)"
    )


def windows_number(device: str) -> str:
    """Give the number by which diskpart selects a drive."""
    match = _WINDOWS_NAME.match(device)
    return match[1] if match else device


class NotMade(SsdlabError):
    """A system cannot make a layer of the plan."""


def not_made(system: str, layer: Layer, instead: str) -> NotMade:
    """Say that a system has nothing for a layer."""
    return NotMade(f"{system}: no command for {layer.name}; {instead}")


def pool(ashift: int, device: str, version: str) -> Lines:
    """Say how to make a ZFS pool with a record size, and how to see it."""
    typed = (f"zpool create -o ashift={ashift} tank {device}", "zdb -C tank | grep ashift")
    note = f"records of {1 << ashift} bytes at least; this cannot be changed once the pool exists"
    return Lines("zpool", version, "zpool-create(8), zpoolprops(7)", typed, note, tried=False)
