"""Forms of a result, and the flags of the fio program that choose them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from ssdlab import engine
from ssdlab.cli.console import print_json_text, print_text
from ssdlab.engine.result import merge
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile

# Several are written in this order, as fio does.
FORMATS = ("terse", "json", "json+", "normal")
_FORMS = "normal, json, json+ and terse; separate several with commas: json,normal"


def read_formats(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> str | None:
    """Put the forms that ``--output-format`` lists into fio's order.

    Parameters
    ----------
    value
        Names with commas between them; ``minimal`` is fio's other name of ``terse``.

    Raises
    ------
    SsdlabError
        A name that is none.
    """
    if value is None:
        return None
    names = [name.strip().replace("minimal", "terse") for name in value.split(",")]
    for name in names:
        if name not in FORMATS:
            message = f"--output-format {value}: unknown format {name}"
            raise SsdlabError(f"{message}\nthe formats are {_FORMS}")
    if "json+" in names:
        names = [name for name in names if name != "json"]
    return ",".join(name for name in FORMATS if name in names)


def fio_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags of the fio program that a simulated run knows."""
    options = (
        click.option(
            "--output-format",
            metavar="FORM[,FORM]",
            default="normal",
            show_default=True,
            callback=read_formats,
            help="Print normal, json, json+ or terse output.",
        ),
        # Both options give one value, which is read by the callback of either.
        click.option(
            "--json",
            "output_format",
            flag_value="json",
            callback=read_formats,
            help="Print JSON for programs.",
        ),
        click.option("--minimal", is_flag=True, help="Print fio's terse format."),
        click.option(
            "--section",
            "sections",
            multiple=True,
            metavar="NAME",
            help="Run only this job of the file.",
        ),
        click.option("--parse-only", is_flag=True, help="Check the job without running it."),
        click.option(
            "--eta",
            type=click.Choice(("auto", "always", "never")),
            default="auto",
            help="Set whether to show progress on a terminal.",
        ),
        # A run shows its status when it ends: nothing to do before.
        click.option("--status-interval", metavar="TIME", hidden=True, expose_value=False),
        click.option("--eta-newline", metavar="TIME", hidden=True, expose_value=False),
        click.option("--eta-interval", metavar="TIME", hidden=True, expose_value=False),
    )
    for option in reversed(options):
        function = option(function)
    return function


def document(results: Sequence[str], labels: Sequence[str], output_format: str) -> str:
    """Write results in the chosen forms.

    Parameters
    ----------
    results
        fio's JSON, one a run.
    labels
        What each run is called.
    output_format
        As `read_formats` returns it.
    """
    return "\n".join(_in_form(results, labels, form) for form in output_format.split(","))


def _in_form(results: Sequence[str], labels: Sequence[str], form: str) -> str:
    if form in ("json", "json+"):
        return merge(list(results))
    texts = [engine.render(result, form).strip("\n") for result in results]
    if form == "terse" or len(texts) == 1:
        return "\n".join(texts)
    return "\n\n".join(f"== {label}\n{body}" for label, body in zip(labels, texts, strict=True))


def write_document(written: str, output_format: str, pending: PendingFile) -> None:
    """Write a result to its file, or to stdout as its form asks."""
    if not pending.is_stdout:
        pending.write(written.rstrip("\n") + "\n")
    elif output_format in ("json", "json+"):
        print_json_text(written)
    else:
        print_text(written)
