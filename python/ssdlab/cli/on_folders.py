"""A verb that takes folders first, then what is to be done with them: ``ctl a b power-cut``."""

from __future__ import annotations

from typing import Any

import click

from ssdlab.cli.verb import Verbs


class OnFolders(Verbs):
    """Its verbs come behind the folders; the first word that is a verb is one.

    A folder that is called like a verb is written ``./stats``.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take what stands before the verb as this command's own words."""
        verb = next((at for at, word in enumerate(args) if word in self.commands), len(args))
        if args and verb == 0 and not ctx.resilient_parsing:
            told = f"no folder before {args[0]}: ssdlab {self.name} FOLDER {args[0]}"
            raise click.UsageError(told, ctx)
        click.Command.parse_args(self, ctx, args[:verb])
        ctx.args = args[verb:]
        return ctx.args

    def invoke(self, ctx: click.Context) -> Any:
        """Carry out the verb."""
        if not ctx.args:
            raise click.UsageError(f"no command: give one of {', '.join(self.commands)}", ctx)
        name, verb, words = self.resolve_command(ctx, ctx.args)
        assert verb is not None, "the first of the words is a verb"
        with ctx, verb.make_context(name, words, parent=ctx) as below:
            return below.command.invoke(below)
