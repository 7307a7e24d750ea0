"""A verb of the command: terse help, with the terms it explains and examples that can be copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

_WIDTH = 100
_SETTINGS = {"max_content_width": _WIDTH, "help_option_names": ["-h", "--help"]}


class _Help(click.Command):
    """Adds terms and examples to a command's help.

    Attributes
    ----------
    terms
        Words and their meaning.
    examples
        Command lines, shown as they are.
    """

    def __init__(
        self,
        *arguments: Any,
        terms: Sequence[tuple[str, str]] = (),
        examples: Sequence[str] = (),
        **keywords: Any,
    ) -> None:
        given = keywords.pop("context_settings", {})
        keywords["context_settings"] = {**_SETTINGS, **given}
        super().__init__(*arguments, **keywords)
        self.terms = terms
        self.examples = examples

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help, then the terms."""
        super().format_help_text(ctx, formatter)
        if self.terms:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_dl(self.terms)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class Verb(_Help):
    """A verb."""


class Verbs(_Help, click.Group):
    """The command itself, its verbs in the order in which people meet them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs in the order in which they were added."""
        return list(self.commands)
