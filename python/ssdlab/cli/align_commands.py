"""``ssdlab align commands``: what to type to create a layout."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from ssdlab.cli.align_options import GRID_OPTIONS, LAYER_OPTION, Chosen, read_layout, with_options
from ssdlab.cli.console import fitted, print_json, print_text
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.verb import Verb
from ssdlab.machine.align import tools
from ssdlab.machine.align.commands import commands as commands_for


@click.command(
    cls=Verb,
    short_help="Print the commands for parted, sfdisk, cryptsetup, pvcreate, mkfs and others.",
    examples=(
        "ssdlab align commands --layer partition:start=1MiB --layer filesystem:type=xfs "
        "--device /dev/sda",
        "ssdlab align commands --layer partition:start=1MiB --layer raid:level=1 --layer crypt "
        "--device /dev/sda --device /dev/sdb",
    ),
)
@click.argument("file", required=False, metavar="[LAYOUT]")
@click.option(
    "--system",
    "systems",
    multiple=True,
    type=click.Choice(tools.SYSTEMS),
    help="Print commands for this system; by default, for the system of --device.",
)
@click.option(
    "--device",
    "devices",
    multiple=True,
    metavar="DEVICE",
    help="Use this device in the commands; repeat it for each member of an array.",
)
@click.option("--new", is_flag=True, help="Create a partition table first; this destroys all data.")
@click.option(
    "--all-tools", is_flag=True, help="Show every tool that can create a layer, not just one."
)
@with_options(LAYER_OPTION, *GRID_OPTIONS)
@JSON_OPTION
def commands(
    file: str | None,
    systems: tuple[str, ...],
    devices: tuple[str, ...],
    new: bool,
    all_tools: bool,
    layers: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Print the commands that create a layout: its layers and no others, lowest first.

    On a single drive, --align or the layer's stripe_width becomes the stripe width of mkfs.
    Without --device and --system, print the commands of every system that has all the layers.
    """
    layout = read_layout(file, layers, options)
    chosen = Chosen(options, layout.drive)
    wanted = tools.plan(
        layout, chosen.grid(), devices, hint=chosen.hint, new=new, all_tools=all_tools
    )
    found = commands_for(wanted, systems)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    for each in found:
        notes = [fitted(each.note, "# ", "# ")] if each.note else []
        untried = "" if each.tried else "; untried"
        print_text(fitted(f"{each.tool} ({each.version}; {each.source}{untried})", "# ", "# "))
        print_text("\n".join((*notes, *each.lines)))
        print_text("")
