"""``ssdlab drives`` and ``ssdlab show``: which drives there are, and what one is made of."""

from __future__ import annotations

from typing import Any

import click

from ssdlab import engine, text
from ssdlab.cli.console import print_json, print_table, print_text
from ssdlab.cli.verb import Verb

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="JSON for programs.")
SET_OPTION = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a parameter, such as over_provisioning=0.28; may be repeated.",
)


def parse_settings(settings: tuple[str, ...]) -> engine.Settings:
    """Read every ``--set``."""
    return tuple(text.parse_setting(setting) for setting in settings)


@click.command(cls=Verb, examples=("ssdlab drives", "ssdlab drives --json"))
@JSON_OPTION
def drives(as_json: bool) -> None:
    """List the profiles, one line each."""
    profiles = engine.profiles()
    if as_json:
        print_json(profiles)
        return
    headings = ("drive", "capacity", "spare", "cells", "link", "what it is")
    rows = [
        (
            str(profile["name"]),
            text.size(profile["capacity_bytes"]),
            text.percent(profile["over_provisioning"], 0),
            str(profile["cell"]).upper(),
            str(profile["link"]),
            str(profile.get("summary") or profile.get("title") or ""),
        )
        for profile in profiles
    ]
    print_table(headings, rows, right=(1, 2), fold=5)


@click.command(
    cls=Verb,
    examples=(
        "ssdlab show intel-dc-s3500-480gb",
        "ssdlab show theory --set over_provisioning=0.07 --set nand.pages_per_block=256",
    ),
)
@click.argument("drive")
@SET_OPTION
@JSON_OPTION
def show(drive: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Show every parameter of a DRIVE with unit and source, and what follows from them."""
    shown = engine.show(drive, parse_settings(settings))
    if as_json:
        print_json(shown)
        return
    print_text(_heading(shown))
    _print_parameters(shown["parameters"])
    if shown.get("derived"):
        print_text("\nwhat follows")
        rows = [
            (str(each["key"]), str(each["text"]), str(each["about"])) for each in shown["derived"]
        ]
        print_table(("", "value", ""), rows, right=(1,), fold=2)


def _heading(shown: dict[str, Any]) -> str:
    parts = [str(shown["name"]), str(shown.get("condition") or "fresh")]
    if shown.get("file"):
        parts.append(str(shown["file"]))
    return " · ".join(parts) + "\n"


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
    print_table(("parameter", "value", "kind", "source"), rows, right=(1,), fold=3)
