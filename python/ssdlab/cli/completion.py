"""``ssdlab completion``: what a shell needs to complete the command, and what completes a value.

click makes the script; the shell then asks the command itself, so that it knows every verb, option
and drive of the version that is installed.
"""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

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
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete verbs, options and drives.

    SHELL is bash (4.4 or later), zsh or fish.
    """
    maker = get_completion_class(shell)
    assert maker is not None, "click knows the shells of SHELLS"
    made = maker(context.find_root().command, {}, "ssdlab", "_SSDLAB_COMPLETE")
    print_text(made.source_template % made.source_vars())


def complete_drive(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the profiles that begin so, and files where none does."""
    from ssdlab import engine

    names = [str(profile["name"]) for profile in engine.profiles()]
    fitting = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return fitting or complete_file(_context, _parameter, incomplete)


def complete_file(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Leave it to the shell to offer files."""
    return [CompletionItem(incomplete, type="file")]
