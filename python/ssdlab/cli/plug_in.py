"""A verb that monitors call too (``--format nagios``): it ends with a plug-in's exit code.

Those are 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN; a wrong option or a mistake of ours is UNKNOWN, in
one line on stdout. Every other form ends with the codes of `ssdlab.ground.exit_codes`.
"""

from __future__ import annotations

import click

from ssdlab.cli.console import print_text
from ssdlab.cli.verb import Verb
from ssdlab.ground.errors import SsdlabError, Stopped

UNKNOWN = 3
FORMATS = ("table", "json", "nagios", "prometheus")
FORMAT_OPTION = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Set the output format.",
)
TERM = ("", "--format nagios exits with 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN or wrong input")


def failure(error: Exception) -> str:
    """Write the plug-in's line where nothing could be looked at; its state is unknown."""
    said = str(error) if isinstance(error, SsdlabError) else repr(error)
    return "UNKNOWN - " + "; ".join(said.splitlines()).replace("|", "/")


class PlugIn(Verb):
    """A verb with ``--format nagios``: whatever goes wrong is told in that form."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; where it was to be a plug-in, say what is wrong in its one line."""
        wanted = " ".join(args).replace("=", " ")
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "--format nagios" not in wanted:
                raise
            print_text(failure(SsdlabError(error.format_message())))
            ctx.exit(UNKNOWN)

    def invoke(self, ctx: click.Context) -> int:
        """Run; to a monitor a plug-in that fails for whatever reason is UNKNOWN."""
        try:
            return int(super().invoke(ctx) or 0)
        except (click.exceptions.Exit, click.Abort, Stopped):
            raise
        except Exception as error:
            if ctx.params.get("form") != "nagios" or ctx.params.get("as_json"):
                raise
            print_text(failure(error))
            return UNKNOWN
