"""``ssdlab completion``: what a shell needs to complete the command.

The shell asks the command itself (`ssdlab.cli.shells`), so that it knows every verb, option and
drive of the version that is installed.
"""

from __future__ import annotations

import click

from ssdlab.cli.console import print_text
from ssdlab.cli.verb import Verb

SHELLS = ("bash", "zsh", "fish")


@click.command(
    cls=Verb,
    short_help="Print the completion script for a shell.",
    terms=(
        ("bash", 'add to ~/.bashrc: eval "$(ssdlab completion bash)"'),
        ("zsh", 'add to ~/.zshrc, after compinit: eval "$(ssdlab completion zsh)"'),
        ("fish", "run: ssdlab completion fish > ~/.config/fish/completions/ssdlab.fish"),
    ),
    examples=(
        'eval "$(ssdlab completion bash)"',
        "ssdlab completion fish > ~/.config/fish/completions/ssdlab.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
def completion(shell: str) -> None:
    """Print a script that makes SHELL complete verbs, options and drives.

    SHELL is bash (4.4 or later), zsh or fish.
    """
    from ssdlab.cli import shells

    print_text(shells.script(shell))
