"""``ssdlab attach`` and ``ssdlab detach``: a served drive as a block device of this machine."""

from __future__ import annotations

from pathlib import Path

import click

from ssdlab.cli.console import print_json, print_text
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.verb import Verb


@click.command(
    cls=Verb,
    short_help="Make a served drive a block device of this machine.",
    examples=(
        "ssdlab attach drive",
        "mkfs.ext4 -E nodiscard $(ssdlab attach drive)",
    ),
)
@click.argument("folder", metavar="FOLDER")
@JSON_OPTION
def attach(folder: str, as_json: bool) -> int:
    """Make the drive in FOLDER, which `ssdlab serve` serves, a block device; print its name.

    It needs root, FUSE and loop devices, and nbdfuse (Debian: libnbd-bin). After a power cut:
    unmount, detach, `ssdlab ctl FOLDER power-on`, attach.
    """
    from ssdlab.live import attach as attaching

    found = attaching.attach(Path(folder))
    if as_json:
        print_json({"folder": folder, "device": found.device, "process": found.process})
    else:
        print_text(found.device)
    return 0


@click.command(
    cls=Verb,
    short_help="Take the block device of a served drive away.",
    examples=("ssdlab detach drive",),
)
@click.argument("folder", metavar="FOLDER")
@JSON_OPTION
def detach(folder: str, as_json: bool) -> int:
    """Take the block device of the drive in FOLDER away; it must not be mounted.

    It works, too, where the server has ended.
    """
    from ssdlab.live import attach as attaching

    device = attaching.detach(Path(folder))
    if as_json:
        print_json({"folder": folder, "device": device})
    else:
        print_text(f"{folder}: {device} is taken away")
    return 0
