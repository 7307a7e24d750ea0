"""A verb of the command: terse help, with the terms it explains and examples that can be copied.

A verb is imported when it is asked for. The list of verbs, which help shows, does without: it has
each verb's sentence in a table.
"""

from __future__ import annotations

import importlib
import re
import textwrap
from collections import UserDict
from collections.abc import Mapping, Sequence
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
                    for line in _continued(example, formatter.width - formatter.current_indent):
                        formatter.write(f"{'':{formatter.current_indent}}{line}\n")


def _continued(line: str, width: int) -> list[str]:
    r"""Part a line of the shell that is too long, so that it can be copied still.

    Examples
    --------
    >>> for part in _continued("ssdlab align spare --spare 20% --drive theory", 36):
    ...     print(part)
    ssdlab align spare --spare 20% \
        --drive theory
    """
    if len(line) <= width:
        return [line]
    # An option keeps its value.
    bound = re.sub(r"( --?[\w-]+) (?!-)", "\\1\0", line)
    fold = textwrap.TextWrapper(
        width - 2, subsequent_indent=4 * " ", break_long_words=False, break_on_hyphens=False
    )
    *parts, last = (part.replace("\0", " ") for part in fold.wrap(bound))
    return [*(f"{part} \\" for part in parts), last]


class Verb(_Help):
    """A verb."""


class OnDemand(UserDict[str, Any]):
    """Verbs by name; each is imported when it is looked up.

    It is filled with where a verb is below `ssdlab.cli`, as ``module:attribute``.
    """

    def __getitem__(self, name: str) -> click.Command:
        """Return a verb, imported by now."""
        found = super().__getitem__(name)
        if isinstance(found, str):
            module, _, attribute = found.partition(":")
            found = self[name] = getattr(importlib.import_module(f"ssdlab.cli.{module}"), attribute)
        assert isinstance(found, click.Command), "the table names commands"
        return found


class Verbs(_Help, click.Group):
    """The command itself, or a verb of several, its verbs in the order in which people meet them.

    Parameters
    ----------
    table
        Verbs that are imported when they are asked for: by name the place, as in `OnDemand`, and
        the sentence that the list of verbs shows.
    """

    def __init__(
        self,
        *arguments: Any,
        table: Mapping[str, tuple[str, str]] | None = None,
        **keywords: Any,
    ) -> None:
        super().__init__(*arguments, **keywords)
        table = table or {}
        self.commands = OnDemand({name: home for name, (home, _) in table.items()})
        self.sentences = {name: sentence for name, (_, sentence) in table.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs in the order in which they were added."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._sentence(name)) for name in self.commands])

    def _sentence(self, name: str) -> str:
        return self.sentences.get(name) or self.commands[name].get_short_help_str(_WIDTH)
