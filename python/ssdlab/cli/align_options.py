"""What the verbs of ``ssdlab align`` have in common: a grid, a layout, a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any

import click

from ssdlab.cli.drives import SET_OPTION, parse_settings
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align import grid as grids
from ssdlab.machine.align.layout import Layout
from ssdlab.machine.align.notation import parse_geometry, parse_position

if TYPE_CHECKING:
    from ssdlab.machine.align.listings import Listing

_PAGE_BYTES = 4096
_LAYERS = "--layer partition:start_sector=63,size=100GiB"


class Chosen:
    """The grid that the options ask for, and the settings of its drive.

    Parameters
    ----------
    options
        What `grid_options` collected.
    drive
        The profile that a layout names; the option goes first.
    """

    def __init__(self, options: dict[str, Any], drive: str | None = None) -> None:
        self.geometry = parse_geometry(options["geometry"], options["sector"])
        self._settings = parse_settings(options["settings"])
        self.drive: str | None = options["drive"] or drive
        self._options = options

    @cached_property
    def facts(self) -> grids.DriveFacts | None:
        """What the drive's profile says; None without a drive."""
        if self.drive is None:
            return None
        strict = bool(self._options["strict"])
        return grids.read_drive(self.drive, self._settings, strict=strict)

    def grid(self) -> grids.Grid:
        """Put the units together; without any, what is safe to assume."""
        options = self._options
        units = [grids.read_unit(each, self.geometry) for each in options["align"]]
        if self.facts:
            units.extend(self.facts.units)
            units.append(grids.GOOD_PRACTICE)
        units = units or list(grids.DEFAULT_UNITS)
        table = grids.track_units(
            self.geometry, track=options["track"], cylinder=options["cylinder"]
        )
        return grids.Grid((*units, *table), self.geometry)

    @property
    def hint(self) -> int | None:
        """What a file system on a single drive is told of: the size asked for, above a page."""
        given = [grids.read_unit(each, self.geometry).bytes for each in self._options["align"]]
        step = lcm(*given)
        return step if given and step > _PAGE_BYTES else None

    def position(self, value: str, place: str) -> int:
        """Read a position or a size."""
        return parse_position(value, place, self.geometry)


GRID_OPTIONS = (
    click.option(
        "--align",
        multiple=True,
        metavar="SIZE",
        help="Align to this size, such as a page or stripe; may be repeated.  [default: 4KiB and "
        "1MiB]",
    ),
    click.option(
        "--drive",
        metavar="DRIVE",
        help="Check against the page, row and erase block of this drive profile.",
    ),
    SET_OPTION,
    click.option("--strict", is_flag=True, help="Require the drive's row and erase block, too."),
    click.option("--track", is_flag=True, help="Also align to tracks, for old partition tables."),
    click.option("--cylinder", is_flag=True, help="Also align to cylinders."),
    click.option(
        "--geometry",
        default="255x63",
        show_default=True,
        metavar="HEADSxSECTORS",
        help="Use this CHS geometry.",
    ),
    click.option(
        "--sector",
        default=512,
        show_default=True,
        metavar="BYTES",
        help="Use this sector size: 512 or 4096.",
    ),
)
LAYER_OPTION = click.option(
    "--layer",
    "layers",
    multiple=True,
    metavar="KIND:KEY=VALUE,…",
    help="Add a layer; repeat for more, lowest first.",
)
DEVICE_OPTION = click.option(
    "--device",
    default="/dev/sdX",
    show_default=True,
    metavar="PATH",
    help="Use this device in the commands.",
)
NUMBER_OPTION = click.option(
    "--number",
    default=1,
    show_default=True,
    metavar="N",
    help="Use this partition number in the commands.",
)


def with_options(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options, shown in this order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def read_layout(file: str | None, layers: Sequence[str], options: dict[str, Any]) -> Layout:
    """Read the layout from the file or the options, whichever is given.

    Raises
    ------
    SsdlabError
        Neither or both are given, or it makes no sense.
    """
    given = read_given(file, layers, options)
    if isinstance(given, Layout):
        return given
    raise SsdlabError(
        f"layout {file}: a listing of partitions, which only ssdlab align check reads; describe "
        f"one of them with its layers, such as {_LAYERS}"
    )


def read_given(
    file: str | None, layers: Sequence[str], options: dict[str, Any]
) -> Layout | Listing:
    """Read a layout, or a listing where the file is one.

    Raises
    ------
    SsdlabError
        Neither or both are given, or it makes no sense.
    """
    from ssdlab.machine.align import reading
    from ssdlab.machine.align.listings import is_listing, read_listing

    geometry = Chosen(options).geometry
    if (file is None) == (not layers):
        raise SsdlabError(f"give either a layout file or layers, such as {_LAYERS}")
    if file is None:
        return reading.from_options(layers, geometry)
    said = reading.text_of(file)
    name = "standard input" if file == "-" else file
    if is_listing(said):
        return read_listing(said, name)
    return reading.from_text(said, name, geometry)
