"""``ssdlab align``: boundaries that fit, layouts checked against them, and what to type.

Exit codes are those of `Exit`: `check` tells misaligned, not good practice, and not judged apart.
Each of its verbs is imported when it is asked for: the readers of listings take longer to load
than a shell may wait for what it offers.
"""

from __future__ import annotations

import click

from ssdlab.cli.verb import Verbs


@click.group(
    cls=Verbs,
    table={
        "boundaries": (
            "align_boundaries:boundaries",
            "Show the boundaries around a start or size, in all units.",
        ),
        "check": (
            "align_check:check",
            "Check a layout: what fits, what straddles, what to do.",
        ),
        "commands": (
            "align_commands:commands",
            "Print the commands for parted, sfdisk, cryptsetup, pvcreate, mkfs and others.",
        ),
        "move": (
            "align_steps:move",
            "Show how to move a misaligned partition without losing data.",
        ),
        "spare": ("align_steps:spare", "Show how to add spare area to a used drive."),
    },
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
