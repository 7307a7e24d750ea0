"""``ssdlab align move`` and ``spare``: steps for a drive with data on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from click.core import ParameterSource

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
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.verb import Verb
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align import moving, starting_over
from ssdlab.machine.align import spare_area as sparing
from ssdlab.machine.align.notation import binary_size
from ssdlab.machine.align.procedure import ChosenPartition, ProcedureStep


@click.command(
    cls=Verb,
    short_help="Show how to move a misaligned partition without losing data.",
    examples=(
        "ssdlab align move --layer partition:start_sector=63,size=100GiB "
        "--layer filesystem:type=ext4",
        "ssdlab align move server.toml --to 4MiB --free-behind 10MiB --device /dev/sda",
    ),
)
@click.argument("file", required=False, metavar="[LAYOUT]")
@click.option(
    "--to",
    metavar="SIZE",
    help="Move the partition to this start; by default, to the next aligned one.",
)
@click.option(
    "--free-behind",
    default="0",
    metavar="SIZE",
    help="Assume this much free space behind the partition.",
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
    """Show how to move a partition to a start that aligns its data; run no command.

    Encrypted data are refused: moving them would destroy them.
    """
    layout = read_layout(file, layers, options)
    chosen = Chosen(options, layout.drive)
    target = None if to is None else chosen.position(to, "--to")
    free = chosen.position(free_behind, "--free-behind")
    steps = moving.move(
        layout, chosen.grid(), ChosenPartition(device, number), to=target, free_behind=free
    )
    if as_json:
        print_json([asdict(each) for each in steps])
    elif not steps:
        print_text("The data are aligned already; there is nothing to move.")
    else:
        _print_steps(steps)


@click.command(
    cls=Verb,
    short_help="Show how to add spare area to a used drive.",
    examples=(
        "ssdlab align spare --spare 20% --drive intel-dc-s3500-80gb "
        "--layer partition:start=1MiB,size=70GiB --layer filesystem:type=ext4",
        "ssdlab align spare server.toml --spare 10% --capacity 480GB",
        "ssdlab align spare --steps /dev/sda",
    ),
)
@click.argument("file", required=False, metavar="[LAYOUT|DEVICE]")
@click.option(
    "--spare", "share", metavar="SHARE", help="Leave this share of the capacity free, such as 20%."
)
@click.option(
    "--steps",
    is_flag=True,
    help="Show how to start over: a new drive, secure erase, format, sanitize, discard.",
)
@click.option("--capacity", metavar="SIZE", help="Use this capacity; by default, that of --drive.")
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
    """Show how to leave a SHARE of a used drive unpartitioned; change nothing.

    LAYOUT describes the last partition; an encrypted one is refused. With --steps, show how to
    start over with DEVICE (/dev/sda), or with any; each step says what it destroys and how to
    check that it worked.
    """
    if steps:
        _start_over(file, share, as_json=as_json)
        return
    if share is None:
        raise SsdlabError("how much? give --spare 20%, or --steps to start over with the drive")
    layout = read_layout(file, layers, options)
    chosen = Chosen(options, layout.drive)
    exported, own = _capacity(chosen, capacity)
    plan = sparing.spare(
        layout,
        chosen.grid(),
        ChosenPartition(device, number),
        share=text.parse_share(share, "--spare"),
        capacity=exported,
        over_provisioning=own,
    )
    if as_json:
        print_json(asdict(plan))
    else:
        _print_spare(plan, chosen.geometry.sector_bytes)


def _start_over(device: str | None, share: str | None, *, as_json: bool) -> None:
    _refuse_others("file", "share", "steps", "as_json")
    wanted = starting_over.SHARE if share is None else text.parse_share(share, "--spare")
    sparing.refuse_share(wanted)
    found = starting_over.ways(device, wanted)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    print_filled(
        "None of these commands is run here. They come from the manual pages of hdparm 9.65, "
        "nvme-cli 2.3 and util-linux 2.38, are untried, and need root."
    )
    for way in found:
        print_text(f"\n{way.title}")
        for number, stage in enumerate(way.stages, 1):
            _print_stage(number, stage)


def _refuse_others(*names: str) -> None:
    """Refuse options that were given and would have no effect."""
    context = click.get_current_context()
    others = [
        each.opts[0]
        for each in context.command.params
        if each.name not in names
        and context.get_parameter_source(str(each.name)) is ParameterSource.COMMANDLINE
    ]
    if others:
        raise SsdlabError(
            "--steps works on a whole device, such as --steps /dev/sda; leave out "
            f"{', '.join(others)}"
        )


def _print_stage(number: int, stage: starting_over.Stage) -> None:
    print_text("")
    print_filled(f"{stage.text}.", f"{number}. ")
    for line in stage.lines:
        print_text(f"       {line}")
    print_filled(f"destroys: {stage.destroys}", "   ")
    print_filled(f"it worked if {stage.seen}", "   ")
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


def _print_steps(steps: Sequence[ProcedureStep], mark: str = "") -> None:
    for number, step in enumerate(steps, 1):
        print_paragraph(f"{mark or f'{number}.'} {step.text}.")
        for line in step.lines:
            print_text(f"    {line}")
