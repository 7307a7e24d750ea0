"""``ssdlab drives`` and ``ssdlab show``: which drives there are, and what one is made of.

The list of drives must come at once: what only `show` or a long run needs is loaded there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from ssdlab import engine
from ssdlab.cli.console import (
    is_terminal,
    note,
    print_json,
    print_paragraph,
    print_table,
    print_text,
)
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.served_note import tell_if_served
from ssdlab.cli.verb import Verb
from ssdlab.engine import conditions
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit

SET_OPTION = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a parameter, such as over_provisioning=0.28; may be repeated.",
)
LAYER_OPTION = click.option(
    "--layer",
    "layers",
    multiple=True,
    metavar="KIND[:KEY=VALUE,…]",
    help="Add a layer over the drive, such as partition:start_sector=63; repeat for more, lowest "
    "first.",
)
SPAN_OPTION = click.option(
    "--span",
    metavar="SHARE",
    help="Precondition only this share of the drive, such as 80%; the rest stays spare.",
)
SCALE_OPTION = click.option(
    "--scale",
    metavar="SCALE",
    help="Simulate a smaller drive: blocks:N keeps at most N blocks per die; dies:N keeps 1/N of "
    "the dies, of the link and of the controller; dies:N,whole-link keeps the whole link and "
    "controller.",
)
EXACT_OPTION = click.option(
    "--exact",
    is_flag=True,
    help="Precondition the whole drive to steady state, without the faster scale model.",
)
_STARTED_OVER = {
    "secure-erase": "secure erased",
    "crypto-erase": "crypto erased",
    "trim": "trimmed",
    "overwrite": "overwritten",
}
_SAME = "as above"
_MUCH_MEMORY_BYTES = 2_000_000_000


def check_exact(exact: bool, condition: str | None, option: str) -> None:
    """Refuse a choice of ways into any condition but steady ones, to which alone there are two."""
    if exact and not conditions.is_steady(condition):
        raise SsdlabError(f"--exact: is for steady state only; add {option} steady")


def tell_not_steady(names_and_reasons: Iterable[tuple[str, str | None]]) -> Exit:
    """Say which drives did not come into the condition asked for, and why; return the exit code."""
    reasons = [(name, reason) for name, reason in names_and_reasons if reason]
    for name, reason in dict.fromkeys(reasons):
        note(f"ssdlab: {name}: NOT STEADY: {reason}; the figures are not those of a steady state")
    return Exit.NOT_IN_CONDITION if reasons else Exit.DONE


def tell_memory(requests: Sequence[RunRequest]) -> None:
    """Say before large drives are preconditioned what they take of this machine's memory."""
    from ssdlab.experiment.parallel import cores

    large = (each for each in requests if each.condition not in (None, "fresh"))
    drives = [(each.drive, each.settings, each.layers, each.scale) for each in large]
    taken = {drive: engine.memory_bytes(*drive) for drive in dict.fromkeys(drives)}
    needed = sum(sorted((taken[drive] for drive in drives), reverse=True)[: cores()])
    if needed >= _MUCH_MEMORY_BYTES:
        note(f"ssdlab: the simulation needs up to {text.size(needed)} of memory")


def parse_settings(settings: tuple[str, ...]) -> Settings:
    """Read every ``--set``."""
    return tuple(text.parse_setting(setting) for setting in settings)


@click.command(cls=Verb, examples=("ssdlab drives", "ssdlab drives --json"))
@JSON_OPTION
def drives(as_json: bool) -> None:
    """List the profiles."""
    profiles = engine.profiles()
    if as_json:
        print_json(profiles)
        return
    headings = ("drive", "capacity", "spare", "what it is")
    rows = [
        (
            str(profile["name"]),
            text.size(profile["capacity_bytes"]),
            _spare(profile["over_provisioning"]),
            str(profile.get("summary") or profile.get("title") or ""),
        )
        for profile in profiles
    ]
    print_table(headings, rows, right=(1, 2), fold=3)


def _spare(over_provisioning: float | None) -> str:
    return "" if over_provisioning is None else text.percent(over_provisioning, 0)


@click.command(
    cls=Verb,
    short_help="Show every parameter of a DRIVE with its unit and source.",
    examples=(
        "ssdlab show intel-dc-s3500-480gb",
        "ssdlab show theory --set over_provisioning=0.07 --set nand.pages_per_block=256",
        "ssdlab show intel-dc-s3500-80gb --layer partition:start_sector=63 --layer crypt",
        "ssdlab show old.ssd --smart-json > smart.json; ssdlab health --from smart.json",
    ),
)
@click.argument("drive")
@SET_OPTION
@LAYER_OPTION
@SCALE_OPTION
@JSON_OPTION
@click.option(
    "--smart-json", is_flag=True, help="Print the drive's counters as smartctl --json does."
)
def show(
    drive: str,
    settings: tuple[str, ...],
    layers: tuple[str, ...],
    scale: str | None,
    as_json: bool,
    smart_json: bool,
) -> None:
    """Show every parameter of a DRIVE with its unit and source, and the values that follow."""
    tell_if_served(drive)
    shown = engine.show(drive, parse_settings(settings), layers, scale)
    if smart_json:
        from ssdlab.cli.served_note import smart_document

        print_json(smart_document(drive, shown))
        return
    if as_json:
        print_json(shown)
        return
    print_text(_heading(shown, drive))
    if shown.get("conditioned_by"):
        print_paragraph(f"written before by {shown['conditioned_by']}")
    print_text("")
    _print_parameters(shown["parameters"])
    _print_section("what follows", _derived(shown.get("derived") or []))
    if (shown.get("counters") or {}).get("nand_pages_written"):
        _print_section("wear", _wear(shown["wear"], shown.get("read_only_reason")))
        _print_section("counters above 0", _counters(shown["counters"]))


def _heading(shown: dict[str, Any], drive: str) -> str:
    parts = [str(shown["name"]), condition_in_words(shown)]
    if drive != shown["name"]:
        parts.append(drive)
    return " · ".join(parts)


def condition_in_words(shown: dict[str, Any]) -> str:
    """Name the condition, whether it was missed, and how the drive started over since."""
    condition = str(shown.get("condition") or "fresh")
    if shown.get("steady_reached") is False:
        condition += ", NOT STEADY"
    how = shown.get("started_over")
    return f"{condition}, {_STARTED_OVER[how]}" if how else condition


def _print_parameters(parameters: list[dict[str, Any]]) -> None:
    rows = [
        (
            str(parameter["key"]),
            text.with_unit(str(parameter["text"]), str(parameter["unit"] or "")),
            str(parameter["kind"]),
            str(parameter.get("source") or parameter.get("about") or ""),
        )
        for parameter in parameters
    ]
    if is_terminal(sys.stdout):
        rows = _for_people(rows)
    print_table(("parameter", "value", "kind", "source"), rows, right=(1,), fold=3)


def _for_people(rows: list[tuple[str, str, str, str]]) -> list[tuple[str, str, str, str]]:
    """Set sections apart, and write a source that is the same as above only once."""
    shown, section, source = [], "", ""
    for row in rows:
        if row[0].partition(".")[0] != section and "." in row[0]:
            shown.append(("", "", "", ""))
            section = row[0].partition(".")[0]
        same = len(row[3]) > len(_SAME) and row[3] == source
        source = row[3]
        shown.append((*row[:3], _SAME if same else row[3]))
    return shown


def _print_section(title: str, rows: list[tuple[str, ...]]) -> None:
    if rows:
        print_text("")
        headings = (title, *("" for _ in rows[0][1:]))
        print_table(headings, rows, fold=len(headings) - 1)


def _derived(entries: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (str(each["key"]), text.quantity(each["value"], each["unit"]), str(each["about"]))
        for each in entries
    ]


def _wear(wear: dict[str, Any], read_only: str | None) -> list[tuple[str, ...]]:
    counts, rated = wear["erase_counts"], wear.get("rated_cycles")
    erases = ", ".join(f"{text.significant(counts[key])} {key}" for key in ("min", "mean", "max"))
    rows: list[tuple[str, ...]] = [
        ("erases of a block", erases),
        ("bad blocks", text.count(wear["bad_blocks"])),
        ("spare blocks", text.count(wear["spare_blocks"])),
    ]
    if rated:
        used = text.percent(counts["mean"] / rated, 3)
        rows.insert(1, ("life used", f"{used} of {text.count(rated)} cycles"))
    if read_only:
        rows.append(("read-only", read_only))
    return rows


def _counters(counters: dict[str, int]) -> list[tuple[str, ...]]:
    return [
        (key, text.duration(value) if key.endswith("_ns") else f"{value:,}")
        for key, value in counters.items()
        if value
    ]
