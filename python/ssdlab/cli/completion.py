"""``ssdlab completion``: what a shell needs to complete the command, and what completes a value.

The shell asks the command itself (`ssdlab.cli.shells`), so that it knows every verb, option and
drive of the version that is installed. Every verb loads this module, few are asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ssdlab.cli.console import print_text
from ssdlab.cli.verb import Verb

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

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
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete verbs, options and drives.

    SHELL is bash (4.4 or later), zsh or fish.
    """
    from ssdlab.cli import shells

    print_text(shells.script(context.find_root().command, shell))


def complete_drive(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the profiles that begin so, and files where none does."""
    from ssdlab.cli import offers

    return offers.drives(incomplete)


def complete_file(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Leave it to the shell to offer files."""
    from ssdlab.cli import offers

    return offers.files(incomplete)
