"""``ssdlab sweep --watch``: how far a sweep is that runs elsewhere, from its folder alone."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdlab.cli.console import is_terminal, print_json, print_table
from ssdlab.ground import text

_LOOK_EVERY_S = 1.0
_SILENT_S = 30.0
"""A sweep tells once a second; one that has been silent for so long has ended without a word."""
_MOST_MEMBERS = 20

WatchRows = list[tuple[str, str]]


def watch(folder: str, as_json: bool = False) -> None:
    """Show how far a sweep is: on a terminal until it ends, else once; as JSON always once.

    Raises
    ------
    SsdlabError
        There is no sweep in the folder.
    """
    from ssdlab.study.sweeps.store import status

    found = status(Path(folder))
    if as_json:
        print_json(found)
        return
    if not is_terminal(sys.stdout):
        print_table(("sweep", folder), rows_of(found, time.time()))
        return
    from rich.live import Live

    with Live(refresh_per_second=4) as live:
        while True:
            rows = rows_of(found, time.time())
            live.update(_drawn(folder, rows))
            if dict(rows)["state"] != "running":
                return
            time.sleep(_LOOK_EVERY_S)
            found = status(Path(folder))


def rows_of(found: Mapping[str, Any], now: float) -> WatchRows:
    """Return what a status says, in words.

    Parameters
    ----------
    found
        What `status.json` holds.
    now
        Seconds since 1970.
    """
    state = found["state"]
    if state == "running" and now - found["updated_at"] > _SILENT_S:
        state = f"silent for {seconds(now - found['updated_at'])}; start the sweep again"
    share = text.percent(found["finished"] / max(found["points"], 1))
    left = found["remaining_s"]
    rows = [
        ("state", state),
        ("finished", f"{found['finished']:,} of {found['points']:,} points, {share}"),
        ("with an error", f"{found['failed']:,}"),
        ("under way", f"{found['running']:,}"),
        ("began", f"{seconds(now - found['begun_at'])} ago"),
        ("left, about", "–" if left is None else seconds(left)),
    ]
    return [*rows, *_executor(found["executor"])]


def _executor(executor: Mapping[str, Any]) -> WatchRows:
    where = f"{executor['kind']} {executor.get('scheduler', '')}".strip()
    rows = [("runs on", where), ("workers", f"{executor['workers']:,}")]
    if "memory_bytes" in executor:
        rows.append(("memory for runs", text.size(executor["memory_bytes"])))
    members = executor.get("members", [])
    for each in members[:_MOST_MEMBERS]:
        running, memory = each["running"], text.size(each["memory_bytes"])
        rows.append((f"  {each['name']}", f"{running} of {each['threads']} at work, {memory}"))
    if len(members) > _MOST_MEMBERS:
        rows.append(("", f"and {len(members) - _MOST_MEMBERS} more"))
    return rows


def _drawn(folder: str, rows: WatchRows) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("sweep")
    table.add_column(folder)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def seconds(number: float) -> str:
    """Write a time as people say it.

    Examples
    --------
    >>> seconds(0.25), seconds(200), seconds(20_000)
    ('250 ms', '3.3 min', '5.6 h')
    """
    for unit, least, of in (("d", 172_800, 86_400), ("h", 7200, 3600), ("min", 120, 60)):
        if number >= least:
            return f"{number / of:.1f} {unit}"
    return text.duration(number * 1e9, 2)
