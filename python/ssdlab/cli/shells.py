"""How each shell asks for completion, and what it makes of the answer.

click has the scripts and finds the option that a word belongs to. Added here: a value behind ``=``
is completed in every shell, and in bash, which takes ``=`` and ``:`` for ends of words.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

VARIABLE = "_SSDLAB_COMPLETE"
"""By this variable of the environment a shell asks."""

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' type value line="${COMP_LINE:0:COMP_POINT}" word before
    word="${COMP_WORDS[COMP_CWORD]}"
    [[ $word == [=:] ]] && word=""
    before="${line##*[[:space:]]}"
    before="${before%%"$word"}"
    COMPREPLY=()
    while IFS=',' read -r type value; do
        if [[ $type == file ]]; then
            compopt -o default
        elif [[ $type == dir ]]; then
            compopt -o plusdirs
        elif [[ $type == plain ]]; then
            value="${value#"$before"}"
            [[ $value == *[=:] ]] && compopt -o nospace
            COMPREPLY+=("$value")
        fi
    done < <(COMP_LINE="$line" %(complete_var)s=bash_complete "$1")
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class _Whole(ShellComplete):
    """Completes ``--name=value`` to whole words, and tells what was typed before."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return what is offered for the last word."""
        # click adds the name of an option there before it asks for the option's value.
        self.ctx_args = {**self.ctx_args, "obj": args}
        found = super().get_completions(args, incomplete)
        name, equals, _ = incomplete.partition("=")
        if equals and name.startswith("-"):
            return [_behind(f"{name}=", each) for each in found]
        return found


def _behind(name: str, item: CompletionItem) -> CompletionItem:
    return CompletionItem(f"{name}{item.value}", item.type) if item.type == "plain" else item


class _Bash(_Whole, BashComplete):
    """Asks with the line as it was typed."""

    source_template = _BASH

    @staticmethod
    def _check_version() -> None:
        """Leave it to the shell: click would start one to ask it."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Split the line at spaces alone."""
        line = os.environ["COMP_LINE"]
        words = split_arg_string(line)[1:]
        if not words or line[-1:].isspace():
            return words, ""
        return words[:-1], words[-1]


class _Zsh(_Whole, ZshComplete):
    """Completes whole words."""


class _Fish(_Whole, FishComplete):
    """Completes whole words."""


SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


def know() -> None:
    """Let click answer shells so."""
    for name, shell in SHELLS.items():
        add_completion_class(shell, name)


def script(command: click.Command, shell: str) -> str:
    """Return what a shell has to carry out to complete the command."""
    made = SHELLS[shell](command, {}, "ssdlab", VARIABLE)
    return made.source_template % made.source_vars()
