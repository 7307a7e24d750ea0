"""The manual page ``ssdlab(1)``, made from the objects that print ``--help``.

`make golden` writes it to ``wheel/data/share/man/man1``, from where the wheel installs it.
click-man does not fit: it makes a page of each verb, and knows neither our terms nor our examples.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

import click

from ssdlab.ground.exit_codes import MEANINGS

_SEE_ALSO = "fio(1), smartctl(8), fstrim(8), cryptsetup(8), lsblk(8)"


def page(root: click.Group) -> str:
    """Return the manual page of a command and all its verbs, as roff of the man macros."""
    context = click.Context(root, info_name=root.name, **root.context_settings)
    lines = [
        r".\" Made from the help of the command; renew it with: make golden",
        f'.TH {str(root.name).upper()} 1 "" "{root.name}" "User Commands"',
        ".SH NAME",
        rf"{root.name} \- {_text(_paragraphs(root)[0].rstrip('.'))}",
        ".SH SYNOPSIS",
        *_synopsis(root, context),
        ".SH DESCRIPTION",
        *_body(root, context, options=".SH OPTIONS"),
        ".SH VERBS",
        *_verbs(root, context),
        ".SH EXIT STATUS",
        *_definitions(MEANINGS),
        ".SH SEE ALSO",
        _text(_SEE_ALSO),
    ]
    return "\n".join(lines) + "\n"


def _verbs(group: click.Group, above: click.Context) -> Iterator[str]:
    for name in group.list_commands(above):
        verb = group.commands[name]
        context = click.Context(verb, above, name, **verb.context_settings)
        yield f'.SS "{_text(context.command_path)}"'
        yield from _synopsis(verb, context)
        yield ".PP"
        yield from _body(verb, context, options=".PP")
        if isinstance(verb, click.Group):
            yield from _verbs(verb, context)


def _synopsis(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f".B {_text(context.command_path)}"
    yield _text(" ".join(command.collect_usage_pieces(context)))


def _body(command: click.Command, context: click.Context, *, options: str) -> Iterator[str]:
    first, *others = _paragraphs(command)
    yield _text(first)
    for paragraph in others:
        yield from (".PP", _text(paragraph))
    yield from _definitions(getattr(command, "terms", ()))
    yield options
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option) and (record := parameter.get_help_record(context)):
            yield from _definitions([record])
    examples = getattr(command, "examples", ())
    if examples:
        yield from (".PP", "Examples:", ".PP", ".RS", ".nf", *map(_text, examples), ".fi", ".RE")


def _paragraphs(command: click.Command) -> list[str]:
    help_text = inspect.cleandoc(command.help or "")
    return [" ".join(paragraph.split()) for paragraph in help_text.split("\n\n")]


def _definitions(entries: Sequence[tuple[str, str]]) -> Iterator[str]:
    for term, meaning in entries:
        yield from (".TP", rf"\fB{_text(term)}\fR", _text(meaning))


def _text(words: str) -> str:
    r"""Escape what roff would take for its own; a hyphen stays one that can be copied.

    >>> print(_text(".x -a \\"))
    \&.x \-a \e
    """
    escaped = words.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + escaped if escaped.startswith((".", "'")) else escaped
