"""How each shell asks for completion, and what it makes of the answer.

The scripts of zsh and fish are click's, and so is how they ask and are answered. That of bash is
ours, which completes a value behind ``=`` though bash takes ``=`` and ``:`` for ends of words.
click itself is loaded for the scripts alone: an answer is due at every TAB.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from ssdlab.cli import streams
from ssdlab.cli.command_line import offered
from ssdlab.cli.offers import Offer
from ssdlab.ground import stdout

VARIABLE = "_SSDLAB_COMPLETE"
"""By this variable of the environment a shell asks: it holds the shell's name and `_complete`."""

_BASH = """\
_ssdlab_completion() {
    local IFS=$'\\n' type value line="${COMP_LINE:0:COMP_POINT}" word before
    word="${COMP_WORDS[COMP_CWORD]}"
    [[ $word == [=:] ]] && word=""
    before="${line##*[[:space:]]}"
    before="${before%"$word"}"
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
    done < <(COMP_LINE="$line" _SSDLAB_COMPLETE=bash_complete "$1")
}
complete -o nosort -F _ssdlab_completion ssdlab
"""


def tell(asked: Mapping[str, str]) -> None:
    """Write the answer to a shell, if it still waits for one; parameters are those of `answer`."""
    streams.prepare()
    try:
        print(answer(asked), flush=True)
    except OSError:
        stdout.give_up()


def answer(asked: Mapping[str, str]) -> str:
    """Return the answer to a shell.

    Parameters
    ----------
    asked
        The environment, in which the shell asks.
    """
    shell = asked[VARIABLE].removesuffix("_complete")
    if shell == "bash":
        words, last = _parted(asked["COMP_LINE"], asked["COMP_LINE"][-1:].isspace())
    elif shell == "fish":
        words, last = _parted(asked["COMP_WORDS"], not asked["COMP_CWORD"])
    else:
        at = int(asked["COMP_CWORD"])
        words = _split(asked["COMP_WORDS"])
        words, last = words[:at], "".join(words[at : at + 1])
    return "\n".join(_told(each, shell) for each in offered(words[1:], last))


def script(shell: str) -> str:
    """Return what a shell has to carry out to complete the command."""
    if shell == "bash":
        return _BASH
    import click
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click has zsh and fish"
    return found(click.Command("ssdlab"), {}, "ssdlab", VARIABLE).source()


def _parted(line: str, ends: bool) -> tuple[list[str], str]:
    """Return a line's words and its last one, which is empty where the line ends with a space."""
    words = _split(line)
    return (words, "") if ends or len(words) < 2 else (words[:-1], words[-1])


def _split(line: str) -> list[str]:
    """Split a line at spaces alone; a quotation need not be at its end yet."""
    read = shlex.shlex(line, posix=True)
    read.whitespace_split, read.commenters = True, ""
    words = list[str]()
    try:
        words.extend(read)
    except ValueError:
        words.append(read.token)
    return words


def _told(offer: Offer, shell: str) -> str:
    if shell == "zsh":
        # There a colon parts a word from its help.
        word = offer.word.replace(":", r"\:") if offer.help else offer.word
        return f"{offer.kind}\n{word}\n{offer.help or '_'}"
    told = f"\t{offer.help}" if shell == "fish" and offer.help else ""
    return f"{offer.kind},{offer.word}{told}"
