"""The one option for JSON, the same in every verb that prints something."""

from __future__ import annotations

import click

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import is_stdout

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
"""Of a verb that has tables and JSON."""

JSON_FORM = click.option(
    "--json", "output_format", flag_value="json", help="Print JSON for programs."
)
"""The same, where ``--output-format`` chooses among fio's own forms."""


def check_json_alone(as_json: bool, output: str) -> None:
    """Refuse a file and JSON on the same stdout.

    Raises
    ------
    SsdlabError
        ``-o`` names stdout, where ``--json`` prints.
    """
    if as_json and is_stdout(output):
        raise SsdlabError(f"-o {output}: --json prints to stdout, too\nname a file")


def result_form(function: click.decorators.FC) -> click.decorators.FC:
    """Add ``--json`` to a verb that once called it ``--output-format``, which is still taken."""
    older = click.option(
        "--output-format", type=click.Choice(("normal", "json")), default="normal", hidden=True
    )
    return older(JSON_FORM(function))
