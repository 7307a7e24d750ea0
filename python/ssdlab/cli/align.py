"""``ssdlab align``: boundaries that fit, layouts checked against them, and what to type.

Exit codes are those of `Exit`: `check` tells misaligned, not good practice, and not judged apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from ssdlab import text
from ssdlab.align import findings as checking
from ssdlab.align import grid as grids
from ssdlab.align import tools
from ssdlab.align.commands import commands as commands_for
from ssdlab.align.layout import Layout
from ssdlab.align.notation import binary_size, decimal_text, in_all_units
from ssdlab.align.rule import Judgement
from ssdlab.cli.align_listing import print_listing
from ssdlab.cli.align_options import (
    GRID_OPTIONS,
    LAYER_OPTION,
    Chosen,
    read_given,
    read_layout,
    with_options,
)
from ssdlab.cli.align_steps import move, spare
from ssdlab.cli.align_words import size_of, writes_that_straddle
from ssdlab.cli.console import print_json, print_list, print_paragraph, print_table, print_text
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.verb import Verb, Verbs
from ssdlab.exit_codes import Exit


@click.group(
    cls=Verbs,
    short_help="Find boundaries, check layouts, and print the commands to type.",
    terms=(
        ("SIZE", "a number and its unit: 63s (sectors), 64KiB, 1MiB, 512B, 3trk, 1cyl"),
        (
            "LAYOUT",
            "a TOML or JSON file of [[layer]] tables, lowest first; the kind of a layer is "
            "partition, label, crypt, lvm, raid or filesystem",
        ),
    ),
    examples=(
        "ssdlab align boundaries 10GiB --track",
        "ssdlab align check --layer partition:start_sector=63 --layer crypt --layer lvm",
        "ssdlab align commands --layer partition:start=1MiB --device /dev/sda",
    ),
)
def align() -> None:
    """Find boundaries, check layouts, and print the commands to type; run none of them.

    The exit code of check is 3 if something is misaligned.
    """


@align.command(
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


@align.command(
    cls=Verb,
    short_help="Check a layout: what fits, what straddles, what to do.",
    terms=(
        ("partition", "start, size"),
        ("label", "start: a BSD label's partition inside its slice"),
        (
            "crypt",
            "format=luks2|luks1|plain|veracrypt|truecrypt|bitlocker, payload; luks1 also: "
            "key_bits, align_payload (sectors)",
        ),
        ("lvm", "pe_start, or metadatasize and data_alignment; extent"),
        ("raid", "level, disks, chunk, data_offset"),
        ("filesystem", "type, stripe_unit, stripe_width; zfs also: ashift"),
    ),
    examples=(
        "ssdlab align check --layer partition:start_sector=63 --layer label:start_sector=1985",
        "ssdlab align check server.toml --drive intel-dc-s3500-480gb --json",
        "fdisk -l | ssdlab align check -",
    ),
)
@click.argument("file", required=False, metavar="[LAYOUT]")
@with_options(LAYER_OPTION, *GRID_OPTIONS)
@JSON_OPTION
def check(file: str | None, layers: tuple[str, ...], as_json: bool, **options: Any) -> Exit:
    """Check every layer of a layout, or every partition of a listing, against each unit.

    A multiple of 4 KiB is a must, one of 1 MiB good practice; audit judges by the same rule. A
    listing is the output of fdisk, sfdisk, gdisk, parted, lsblk, blockdev --report, gpart,
    diskpart, Get-Partition and others; - is stdin. The exit code is 3 if data are misaligned, 1
    if they only miss what is good practice, and 4 if something is too coarse to tell or was not
    understood; that is then quoted.
    """
    layout = read_given(file, layers, options)
    if not isinstance(layout, Layout):
        return print_listing(layout, Chosen(options).grid(), as_json=as_json)
    findings = checking.check(layout, Chosen(options, layout.drive).grid())
    found = checking.verdict(findings)
    if as_json:
        print_json(
            {
                "aligned": found is not Judgement.MISALIGNED,
                "verdict": found.value,
                "findings": [asdict(each) for each in findings],
            }
        )
    else:
        _print_findings(findings, found, layout.geometry.sector_bytes)
    return found.exit


def _print_findings(
    findings: Sequence[checking.Finding], found: Judgement, sector_bytes: int
) -> None:
    in_array = any(each.array_byte is not None for each in findings)
    rows = [
        (
            each.name,
            str(each.drive_byte),
            decimal_text(each.drive_byte, sector_bytes),
            *((_or_nothing(each.array_byte),) if in_array else ()),
            f"{each.unit.name}{size_of(each.unit)}",
            _fits(each),
            binary_size(each.worst_remainder) if each.worst_remainder else "",
            writes_that_straddle(each.straddling),
        )
        for each in findings
    ]
    array = ("in the array",) if in_array else ()
    headings = ("layer", "at byte", "sector", *array, "checked against", "fits", "worst remainder")
    right = (1, 2, 3, 6) if in_array else (1, 2, 5)
    print_table((*headings, "writes that straddle"), rows, right=right, fold=len(headings))
    if found is Judgement.ALIGNED:
        print_paragraph("Aligned: the topmost layer fits every unit.")
        return
    if found is Judgement.MISALIGNED:
        print_paragraph("Misaligned: the topmost layer does not fit.")
    else:
        missed = dict.fromkeys(each.unit.name for each in findings if _missed(each))
        print_paragraph(
            f"Not on what is good practice: {', '.join(missed)}. What is a must fits: nothing has "
            "to be moved for it; when it is made anew, begin as below."
        )
    mends = {f"{each.name}: {each.remedy}": None for each in findings if _mends(each)}
    print_list("Remedies, the lowest layer first; check again after each", list(mends))


def _or_nothing(number: int | None) -> str:
    return text.NOTHING if number is None else str(number)


def _fits(finding: checking.Finding) -> str:
    if finding.aligned:
        return "yes"
    return "no" if finding.decides else "no (not judged)"


def _missed(finding: checking.Finding) -> bool:
    return finding.decides and not finding.aligned


def _mends(finding: checking.Finding) -> bool:
    judged = finding.unit.judged and not finding.aligned
    return judged and finding.remedy != checking.BELOW_FIRST


@align.command(
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
        notes = [f"# {each.note}"] if each.note else []
        untried = "" if each.tried else "; untried"
        print_text(f"# {each.tool} ({each.version}; {each.source}{untried})")
        print_text("\n".join((*notes, *each.lines)))
        print_text("")


align.add_command(move)
align.add_command(spare)
