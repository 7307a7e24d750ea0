"""``ssdlab cache``: the preconditioned drives that are kept for reuse."""

from __future__ import annotations

from datetime import datetime

import click

from ssdlab.cli.console import check_agreed, print_json, print_table, print_text
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.verb import Verb, Verbs
from ssdlab.experiment import cache as kept
from ssdlab.ground import text


@click.group(
    cls=Verbs,
    short_help="List or clear preconditioned drives that are kept for reuse.",
    examples=(
        "ssdlab cache list",
        "ssdlab cache clear",
        "ssdlab run job.fio --drive theory --state steady --no-cache",
    ),
)
def cache() -> None:
    """List or clear the preconditioned drives that `run --state` keeps for reuse.

    The environment variable SSDLAB_CACHE sets the folder, SSDLAB_CACHE_BYTES the limit (10 GB).
    """


@cache.command("list", cls=Verb, examples=("ssdlab cache list --json",))
@JSON_OPTION
def list_entries(as_json: bool) -> int:
    """List the drives in the cache, most recently used first."""
    entries = kept.entries()
    if as_json:
        print_json([{**vars(entry), "path": str(entry.path)} for entry in entries])
        return 0
    if not entries:
        print_text(f"{kept.folder()}: empty")
        return 0
    rows = [
        (
            entry.drive,
            entry.condition,
            str(entry.seed),
            text.size(entry.size_bytes),
            datetime.fromtimestamp(entry.used_at).strftime("%Y-%m-%d %H:%M"),
            entry.made_by,
        )
        for entry in entries
    ]
    headings = ("drive", "condition", "seed", "size", "last used", "made with")
    print_table(headings, rows, right=(3,), fold=5)
    total = sum(entry.size_bytes for entry in entries)
    limit = text.size(kept.most_bytes())
    print_text(f"{kept.folder()}: {text.size(total)} of at most {limit}")
    return 0


@cache.command("clear", cls=Verb, examples=("ssdlab cache clear", "ssdlab cache clear --yes"))
@click.option("--yes", is_flag=True, help="Remove them without asking.")
@JSON_OPTION
def clear(yes: bool, as_json: bool) -> int:
    """Remove all drives from the cache; asks first."""
    entries = kept.entries()
    total = text.size(sum(entry.size_bytes for entry in entries))
    if entries:
        check_agreed(f"remove {_drives(len(entries))} ({total}) from {kept.folder()}?", yes)
    removed = kept.clear()
    if as_json:
        print_json({"folder": str(kept.folder()), "removed_bytes": removed})
    else:
        print_text(f"{kept.folder()}: {text.size(removed)} removed")
    return 0


def _drives(number: int) -> str:
    return "one drive" if number == 1 else f"{number} drives"
