"""``ssdlab trace``: what a recorded trace holds, before it is replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ssdlab import engine
from ssdlab.cli.console import print_filled, print_json, print_table, print_text
from ssdlab.cli.json_option import result_form
from ssdlab.cli.tasks import carry_out
from ssdlab.cli.verb import Verb
from ssdlab.ground import text
from ssdlab.ground.errors import Stopped

_KINDS = ("reads", "writes", "trims", "flushes")


@click.command(
    "trace",
    cls=Verb,
    short_help="Show what a trace holds.",
    examples=(
        "ssdlab trace monday.csv.gz",
        "ssdlab trace io_traces.csv --device 419",
        "ssdlab run --drive intel-dc-s3500-80gb --trace monday.csv.gz --replay_scale=fit",
    ),
)
@click.argument("file", metavar="FILE")
@click.option("--device", metavar="NAME", help="Show only this device's requests.")
@result_form
def trace(file: str, device: str | None, output_format: str) -> int:
    """Read a whole trace and show what it holds.

    FILE is an iolog of fio, the text of blkparse, or the CSV of MSR Cambridge, Alibaba, Tencent or
    SYSTOR '17, as it is or packed with gzip or zstd. ssdlab run --trace replays it.
    """
    [survey], _ = carry_out(
        [Path(file).name], [lambda progress: engine.survey_trace(file, device, progress)]
    )
    if survey is None:
        raise Stopped
    if output_format == "json":
        print_json(survey)
    else:
        _print(file, survey)
    return 0


def _print(file: str, survey: dict[str, Any]) -> None:
    packed = f", packed with {survey['packed_with']}" if survey["packed_with"] else ""
    print_text(f"{file}: {survey['format']}{packed}; device {survey['device']}")
    kinds = [(kind, survey[kind]) for kind in _KINDS if survey[kind]["requests"]]
    rows = [
        (
            kind,
            f"{each['requests']:,}",
            text.percent(each["requests"] / survey["requests"]),
            text.size(each["bytes"]),
            text.size(each["bytes"] / each["requests"]),
        )
        for kind, each in kinds
    ]
    print_table(("kind", "requests", "share", "bytes", "mean length"), rows, right=(1, 2, 3, 4))
    order = "" if survey["in_order"] else " Its lines are not in the order of their times."
    print_text("")
    left_out = survey["left_out"]
    if left_out["requests"]:
        are = "request is" if left_out["requests"] == 1 else "requests are"
        print_filled(
            f"{left_out['requests']:,} {are} left out, the first in line "
            f"{left_out['first_line']}: {left_out['reason']}."
        )
    print_filled(
        f"It lasts {text.duration(survey['duration_ns'])} and ends at "
        f"{text.size(survey['end_bytes'])}; on a smaller drive, add --replay_scale=fit.{order}"
    )
