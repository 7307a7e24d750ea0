"""``ssdlab import``: drives and traces from another simulator."""

from __future__ import annotations

from pathlib import Path

import click

from ssdlab import text
from ssdlab.cli.console import note
from ssdlab.cli.verb import Verb
from ssdlab.output import PendingFile

_ADDED_BYTES = 1 << 20


@click.command(
    "import",
    cls=Verb,
    short_help="Import a drive or a trace from MQSim.",
    examples=(
        "ssdlab import ssdconfig.xml -o mqsim.toml",
        "ssdlab run --drive mqsim.toml --rw=randwrite --bs=8k --iodepth=16 --io_size=1g",
        "ssdlab import tpcc-small.trace -o tpcc.log",
        "ssdlab run --drive micron-7450-pro-960gb --read_iolog=tpcc.log --rw=read",
    ),
)
@click.argument("file", metavar="FILE")
@click.option("-o", "--output", required=True, metavar="FILE", help="Write to this file.")
def import_(file: str, output: str) -> int:
    """Import a drive or a trace from MQSim.

    FILE is its configuration (ssdconfig.xml), which becomes a profile, or a trace of five
    columns, which becomes an iolog of fio. What cannot be carried over is named.
    """
    path = Path(file)
    with PendingFile(output, "-o") as pending:
        if path.suffix.lower() == ".xml":
            _import_drive(path, pending)
        else:
            _import_trace(path, pending)
    return 0


def _import_drive(path: Path, pending: PendingFile) -> None:
    from ssdlab.mqsim.profile import profile_of

    profile, left = profile_of(path)
    pending.write(profile)
    if left:
        note(f"ssdlab: {path}: not carried over: {', '.join(left)}")


def _import_trace(path: Path, pending: PendingFile) -> None:
    from ssdlab.mqsim.trace import Told, iolog

    told, lines = Told(0, set(), 0), bytearray()
    for line in iolog(path, told):
        lines += line.encode()
        if len(lines) >= _ADDED_BYTES:
            pending.add(bytes(lines))
            lines.clear()
    pending.add(bytes(lines))
    pending.finish()
    note(
        f"ssdlab: {path}: {text.count(told.requests)} requests; "
        f"they need a drive of {text.size(told.end_bytes)}"
    )
    if len(told.devices) > 1:
        note(f"ssdlab: {path}: its {len(told.devices)} devices are one drive now, as in MQSim")
