"""What a position should be a multiple of, and the boundaries that fit all of it at once.

With units of u1, u2, … bytes the boundaries are the multiples of their least common multiple:
for a 1 MiB erase block and the 63-sector track, lcm(2048, 63) = 129024 sectors. Inside a container
that begins at byte c the boundaries are those of the drive, less c.

Left out: what the drive itself reports (physical sector, optimal I/O size), which only the machine
at hand knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.engine.shown import sizes
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align.notation import Geometry, binary_size, parse_position
from ssdlab.machine.align.rule import GOOD_PRACTICE_BYTES, PAGE_BYTES, Standing

FLASH = "flash"
TRACK = "track"


@dataclass(frozen=True)
class Unit:
    """Something whose multiples are good places to begin.

    Attributes
    ----------
    name
        What it is, such as ``erase block``.
    bytes
        Its size.
    kind
        `FLASH` is about where data lie, `TRACK` about where partitions begin.
    standing
        What it means to miss it: see `rule`.
    source
        Where the size comes from.
    """

    name: str
    bytes: int
    kind: str = FLASH
    standing: Standing = Standing.MUST
    source: str = "given"

    @property
    def required(self) -> bool:
        """A layout that does not fit it is misaligned."""
        return self.standing is Standing.MUST

    @property
    def judged(self) -> bool:
        """The verdict depends on it."""
        return self.standing is not Standing.SHOWN


GOOD_PRACTICE = Unit(
    "1 MiB",
    GOOD_PRACTICE_BYTES,
    standing=Standing.GOOD_PRACTICE,
    source="assumed: a multiple of the erase blocks and stripes in wide use",
)
DEFAULT_UNITS = (
    Unit(
        "4 KiB page",
        PAGE_BYTES,
        source="assumed: 4Kn and 512e sectors, the map's unit in most drives",
    ),
    GOOD_PRACTICE,
)
"""Where nothing is known of the drive."""


@dataclass(frozen=True)
class Grid:
    """Units to fit, and the geometry they are counted in."""

    units: tuple[Unit, ...] = DEFAULT_UNITS
    geometry: Geometry = Geometry()

    @property
    def step_bytes(self) -> int:
        """Distance between boundaries that fit every unit."""
        return lcm(self.geometry.sector_bytes, *(unit.bytes for unit in self.units))

    @property
    def data_step_bytes(self) -> int:
        """The same without tracks and cylinders, which are nothing to what lies in a partition."""
        flash = (unit.bytes for unit in self.units if unit.kind == FLASH)
        return lcm(self.geometry.sector_bytes, *flash)

    @property
    def judged_step_bytes(self) -> int:
        """Distance between boundaries for data that fit what is a must, and what is good practice.

        Where a size was asked for, that size alone.
        """
        flash = (unit.bytes for unit in self.units if unit.kind == FLASH and unit.judged)
        return lcm(self.geometry.sector_bytes, *flash)

    @property
    def advised_step_bytes(self) -> int:
        """The same, on 1 MiB in any case: what is advised, no other verb calls wrong."""
        return lcm(self.judged_step_bytes, GOOD_PRACTICE_BYTES)


@dataclass(frozen=True)
class Boundaries:
    """Boundaries around a wanted position; all counted from where the container begins.

    Attributes
    ----------
    wanted
        The position asked for.
    fits
        It is a boundary itself.
    previous
        The last boundary up to it; None where that lies before the container.
    next
        The first boundary after it.
    """

    wanted: int
    fits: bool
    previous: int | None
    next: int


def boundaries(wanted: int, grid: Grid, inside: int = 0) -> Boundaries:
    """Find the boundaries around a position.

    Parameters
    ----------
    wanted
        In bytes from where the container begins.
    grid
        What to fit.
    inside
        Where the container (a slice, an extended partition) begins on the drive.

    Examples
    --------
    >>> track = Unit("track", 63 * 512, TRACK)
    >>> boundaries(0, Grid((*DEFAULT_UNITS, track))).next // 512
    129024
    >>> boundaries(0, Grid(), inside=63 * 512).next // 512
    1985
    """
    step = grid.step_bytes
    absolute = wanted + inside
    below = absolute // step * step - inside
    return Boundaries(wanted, absolute % step == 0, below if below >= 0 else None, below + step)


def read_unit(text: str, geometry: Geometry, place: str = "--align") -> Unit:
    """Read a unit that people name by its size alone.

    Raises
    ------
    SsdlabError
        It is not a size, or not a whole number of sectors.
    """
    size = parse_position(text, place, geometry)
    if size == 0 or size % geometry.sector_bytes:
        raise SsdlabError(
            f"{place}: {text} is not a multiple of the {geometry.sector_bytes}-byte sector, "
            f"and nothing can begin inside one; use {geometry.sector_bytes}B or a multiple"
        )
    return Unit(binary_size(size), size)


def track_units(geometry: Geometry, *, track: bool, cylinder: bool) -> tuple[Unit, ...]:
    """Give the units of old partition tables that are asked for."""
    found = []
    if track:
        name = f"track of {geometry.sectors_per_track} sectors"
        found.append(Unit(name, geometry.track_bytes, TRACK))
    if cylinder:
        name = f"cylinder of {geometry.heads}x{geometry.sectors_per_track}"
        found.append(Unit(name, geometry.cylinder_bytes, TRACK))
    return tuple(found)


@dataclass(frozen=True)
class DriveFacts:
    """What a profile says that matters here.

    Attributes
    ----------
    units
        Mapping unit, page, row and erase block, each size once.
    capacity_bytes
        What it exports.
    over_provisioning
        As the drive states it; otherwise (physical - exported) / exported.
    """

    units: tuple[Unit, ...]
    capacity_bytes: int
    over_provisioning: float


def read_drive(drive: str, settings: Settings, *, strict: bool = False) -> DriveFacts:
    """Read the units of a drive.

    A write of a part of a mapping unit is a read-modify-write, so mapping unit and page are
    required. Rows and erase blocks are filled in the order in which writes come, wherever a
    partition begins: they are shown, and required only where `strict` says so.

    Raises
    ------
    SsdlabError
        There is no such drive, or it is no solid-state drive.
    """
    shown = engine.show(drive, settings)
    parameters = {each["key"]: each for each in shown["parameters"]}
    if "nand.page_bytes" not in parameters:
        raise SsdlabError(f"{drive} has no flash, so no pages to align to; leave out --drive")
    drive_sizes = sizes(shown)
    flash = drive_sizes.flash

    def unit(name: str, size_bytes: int, key: str, *, required: bool) -> Unit:
        standing = Standing.MUST if required else Standing.SHOWN
        return Unit(name, size_bytes, FLASH, standing, f"{drive}, {parameters[key]['kind']}")

    units = (
        unit("mapping unit", flash.mapping_unit_bytes, "ftl.mapping_unit_bytes", required=True),
        unit("page", flash.page_bytes, "nand.page_bytes", required=True),
        unit("row", flash.row_bytes, "nand.planes", required=strict),
        unit("erase block", flash.block_bytes, "nand.pages_per_block", required=strict),
    )
    each_once = {unit.bytes: unit for unit in reversed(units)}
    # A drive of so many blocks has no such parameter, but has spare.
    stated = parameters["over_provisioning"]["value"]
    share = stated if isinstance(stated, int | float) else flash.spare_share
    return DriveFacts(tuple(reversed(each_once.values())), drive_sizes.capacity_bytes, share)
