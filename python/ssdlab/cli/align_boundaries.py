"""``ssdlab align boundaries``: the positions around one that fit every given unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from ssdlab.cli.align_options import GRID_OPTIONS, Chosen, with_options
from ssdlab.cli.align_words import size_of
from ssdlab.cli.console import print_json, print_paragraph, print_table
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.verb import Verb
from ssdlab.machine.align import grid as grids
from ssdlab.machine.align.notation import decimal_text, in_all_units


@click.command(
    cls=Verb,
    short_help="Show the boundaries around a start or size, in all units.",
    examples=(
        "ssdlab align boundaries 0B --track",
        "ssdlab align boundaries 0s --inside 63s",
        "ssdlab align boundaries 10GiB --size 20GiB --align 4MiB --align 192KiB",
    ),
)
@click.argument("start", metavar="START")
@click.option("--size", metavar="SIZE", help="Also round this size down and up.")
@click.option(
    "--inside", default="0", metavar="SIZE", help="Count START from a slice that begins here."
)
@with_options(*GRID_OPTIONS)
@JSON_OPTION
def boundaries(start: str, size: str | None, inside: str, as_json: bool, **options: Any) -> None:
    """Show the boundaries before and after START that fit every given unit."""
    chosen = Chosen(options)
    grid = chosen.grid()
    wanted = chosen.position(start, "START")
    around = grids.boundaries(wanted, grid, chosen.position(inside, "--inside"))
    rows: list[tuple[str, int]] = [("step", grid.step_bytes), ("wanted", wanted)]
    if around.previous is not None:
        rows.append(("previous", around.previous))
    rows.append(("next", around.next))
    if size is not None:
        length = chosen.position(size, "--size")
        down = length // grid.step_bytes * grid.step_bytes
        up = -(-length // grid.step_bytes) * grid.step_bytes
        rows.extend([("size", length), ("size down", down), ("size up", up)])
    if as_json:
        positions = {name: in_all_units(value, grid.geometry) for name, value in rows}
        units = [asdict(unit) for unit in grid.units]
        print_json({"units": units, "fits": around.fits, "positions": positions})
        return
    _print_positions(rows, grid)
    said = "is a boundary itself" if around.fits else "is not a boundary"
    names = ", ".join(f"{unit.name}{size_of(unit)}" for unit in grid.units)
    print_paragraph(f"{start} {said}; the boundaries fit {names}.")


def _print_positions(rows: Sequence[tuple[str, int]], grid: grids.Grid) -> None:
    geometry = grid.geometry
    units = (1, geometry.sector_bytes, 2**10, 2**20, geometry.track_bytes, geometry.cylinder_bytes)
    table = [(name, *(decimal_text(value, unit) for unit in units)) for name, value in rows]
    headings = ("", "bytes", "sectors", "KiB", "MiB", "tracks", "cylinders")
    print_table(headings, table, right=range(1, len(headings)))
