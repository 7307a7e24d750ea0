"""``ssdlab align move`` and ``spare``: steps for a drive with data on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from ssdlab import text
from ssdlab.align import moving, starting_over
from ssdlab.align import spare_area as sparing
from ssdlab.align.notation import binary_size
from ssdlab.align.procedure import Disk, Step
from ssdlab.cli.align_options import (
    DEVICE_OPTION,
    GRID_OPTIONS,
    LAYER_OPTION,
    NUMBER_OPTION,
    Chosen,
    read_layout,
    with_options,
)
from ssdlab.cli.console import print_filled, print_json, print_paragraph, print_text
from ssdlab.cli.drives import JSON_OPTION
from ssdlab.cli.verb import Verb
from ssdlab.errors import SsdlabError

_SHARE = 0.2
"""What the steps leave alone unless told otherwise; the documents say 10, 20 and 25 %."""


@click.command(
    cls=Verb,
    short_help="Say how to move a misaligned partition without losing data.",
    examples=(
        "ssdlab align move --layer partition:start_sector=63,size=100GiB "
        "--layer filesystem:type=ext4",
        "ssdlab align move server.toml --to 4MiB --free-behind 10MiB --device /dev/sda",
    ),
)
@click.argument("file", required=False, metavar="[LAYOUT]")
@click.option("--to", metavar="SIZE", help="Move it there; by default to the next start that fits.")
@click.option(
    "--free-behind", default="0", metavar="SIZE", help="Count on this room behind the partition."
)
@with_options(DEVICE_OPTION, NUMBER_OPTION, LAYER_OPTION, *GRID_OPTIONS)
@JSON_OPTION
def move(
    file: str | None,
    to: str | None,
    free_behind: str,
    device: str,
    number: int,
    layers: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Say how to move a partition to where its data fit, unless they are encrypted.

    Changes nothing itself.
    """
    layout = read_layout(file, layers, options)
    chosen = Chosen(options, layout.drive)
    target = None if to is None else chosen.position(to, "--to")
    free = chosen.position(free_behind, "--free-behind")
    steps = moving.move(layout, chosen.grid(), Disk(device, number), to=target, free_behind=free)
    if as_json:
        print_json([asdict(each) for each in steps])
    elif not steps:
        print_text("It fits already; there is nothing to move.")
    else:
        _print_steps(steps)


@click.command(
    cls=Verb,
    short_help="Say how to give a used drive spare area afterwards.",
    examples=(
        "ssdlab align spare --spare 20% --drive intel-dc-s3500-80gb "
        "--layer partition:start=1MiB,size=70GiB --layer filesystem:type=ext4",
        "ssdlab align spare server.toml --spare 10% --capacity 480GB",
        "ssdlab align spare --steps /dev/sda",
    ),
)
@click.argument("file", required=False, metavar="[LAYOUT|DRIVE]")
@click.option("--spare", "share", metavar="SHARE", help="Share of the capacity, such as 20%.")
@click.option(
    "--steps",
    is_flag=True,
    help="Print how to start over: a new drive, secure erase, format, sanitize, discard.",
)
@click.option(
    "--capacity", metavar="SIZE", help="Give the exported capacity; by default that of --drive."
)
@with_options(DEVICE_OPTION, NUMBER_OPTION, LAYER_OPTION, *GRID_OPTIONS)
@JSON_OPTION
def spare(
    file: str | None,
    share: str | None,
    steps: bool,
    capacity: str | None,
    device: str,
    number: int,
    layers: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Say how to leave a SHARE of a drive to the drive; LAYOUT has its last partition.

    With --steps: how to start over with DRIVE, or with any; each step says what it destroys and how
    to see that it worked. Changes nothing itself; gives no advice where the data are encrypted.
    """
    if steps:
        _start_over(file, share, layers, as_json=as_json)
        return
    if share is None:
        raise SsdlabError("how much? give --spare 20%, or --steps to start over with the drive")
    layout = read_layout(file, layers, options)
    chosen = Chosen(options, layout.drive)
    exported, own = _capacity(chosen, capacity)
    plan = sparing.spare(
        layout,
        chosen.grid(),
        Disk(device, number),
        share=text.parse_share(share, "--spare"),
        capacity=exported,
        over_provisioning=own,
    )
    if as_json:
        print_json(asdict(plan))
    else:
        _print_spare(plan, chosen.geometry.sector_bytes)


def _start_over(
    device: str | None, share: str | None, layers: Sequence[str], *, as_json: bool
) -> None:
    if layers:
        raise SsdlabError("--steps is about a whole drive; leave --layer out, or --steps")
    wanted = _SHARE if share is None else text.parse_share(share, "--spare")
    if not 0 < wanted < 1:
        raise SsdlabError(f"--spare {share}: expected more than 0% and less than 100%")
    found = starting_over.ways(device, wanted)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    print_text("Nothing is carried out here. The commands are read up, not tried (hdparm 9.65,")
    print_text("nvme-cli 2.3, util-linux 2.38); they are root's.")
    for way in found:
        print_text(f"\n{way.title}")
        for number, stage in enumerate(way.stages, 1):
            _print_stage(number, stage)


def _print_stage(number: int, stage: starting_over.Stage) -> None:
    print_text("")
    print_filled(f"{stage.text}.", f"{number}. ")
    for line in stage.lines:
        print_text(f"       {line}")
    print_filled(f"destroys: {stage.destroys}", "   ")
    print_filled(f"it worked where {stage.seen}", "   ")
    for line in stage.check:
        print_text(f"       {line}")


def _capacity(chosen: Chosen, given: str | None) -> tuple[int, float | None]:
    """Give capacity and over-provisioning, the latter where the drive is known."""
    facts = chosen.facts
    own = facts.over_provisioning if facts else None
    if given is not None:
        return chosen.position(given, "--capacity"), own
    if facts is None:
        raise SsdlabError("how large is the drive? give --capacity 480GB, or --drive")
    return facts.capacity_bytes, own


def _print_spare(plan: sparing.SparePlan, sector_bytes: int) -> None:
    print_text(
        f"partitions end at sector {plan.end // sector_bytes} ({binary_size(plan.end)}); "
        f"{text.size(plan.spare_bytes)} are left to the drive"
    )
    if plan.over_provisioning is not None:
        before, after = (text.percent(each) for each in plan.over_provisioning)
        print_text(f"over-provisioning {before} becomes {after}, once it is trimmed")
    _print_steps(plan.steps)
    print_text("\nOther ways")
    _print_steps(plan.alternatives, "-")


def _print_steps(steps: Sequence[Step], mark: str = "") -> None:
    for number, step in enumerate(steps, 1):
        print_paragraph(f"{mark or f'{number}.'} {step.text}.")
        for line in step.lines:
            print_text(f"    {line}")
