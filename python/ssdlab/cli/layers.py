"""``ssdlab layers``: what can lie over a drive, and with which parameters."""

from __future__ import annotations

from typing import Any

import click

from ssdlab import engine
from ssdlab.cli.console import print_json, print_line, print_table
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.verb import Verb
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError


@click.command(
    cls=Verb,
    short_help="List the layers that a stack can have, or the parameters of one KIND.",
    examples=("ssdlab layers", "ssdlab layers crypt"),
)
@click.argument("kind", required=False)
@JSON_OPTION
def layers(kind: str | None, as_json: bool) -> None:
    """List the layers that a stack can have, or the parameters of one KIND."""
    kinds = engine.layers()
    if kind is not None:
        kinds = [each for each in kinds if each["name"] == kind]
        if not kinds:
            names = ", ".join(str(each["name"]) for each in engine.layers())
            raise SsdlabError(f"no such layer: {kind}\nthe layers are: {names}")
    if as_json:
        print_json(kinds)
    elif kind is None:
        rows = [(str(each["name"]), str(each["about"]), str(each["example"])) for each in kinds]
        print_table(("layer", "what it is", "example"), rows, fold=1)
    else:
        _print_kind(kinds[0])


def _print_kind(kind: dict[str, Any]) -> None:
    print_line(f"{kind['name']}: {kind['about']}, such as --layer {kind['example']}")
    rows = [_row(kind, parameter) for parameter in kind["parameters"]]
    if kind["second_drive"]:
        rows.insert(0, ("drive", "needed", "The second drive: a profile or a drive file."))
    print_table(("parameter", "default", "what it is"), rows, right=(1,), fold=2)


def _row(kind: dict[str, Any], parameter: dict[str, Any]) -> tuple[str, str, str]:
    key = str(parameter["key"]).removeprefix(f"{kind['name']}.")
    default, unit = parameter["default"], str(parameter["unit"] or "")
    if default is not None:
        shown = text.with_unit(str(default), unit)
    else:
        # An example has all that is needed; what else has no default follows from a preset.
        shown = "needed" if f"{key}=" in kind["example"] else "by preset"
    return (key, shown, str(parameter["about"]))
