"""Completion: shells take the script, and are offered verbs, options, drives and files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]
_BIN = Path(sys.executable).parent


def _offered(words: str) -> list[str]:
    """Ask, as bash does, what the command offers for the last of the words."""
    asked = {
        "_SSDLAB_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from ssdlab.cli import main; main()"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_verbs_options_and_drives_are_offered() -> None:
    """A word is completed from what fits its place; where no profile fits, from files."""
    assert _offered("ssdlab comp") == ["plain,compare", "plain,completion"]
    assert "plain,--state" in _offered("ssdlab run --s")
    assert _offered("ssdlab run --drive theo") == ["plain,theory"]
    assert _offered("ssdlab run --scenario b") == ["plain,boot", "plain,build", "plain,bonnie"]
    assert _offered("ssdlab show my.to") == ["file,my.to"]
    assert _offered("ssdlab run job") == ["file,job"]


@pytest.mark.parametrize(
    ("shell", "ask"),
    [
        (
            "bash",
            'eval "$(ssdlab completion bash)"; COMP_WORDS=(ssdlab show theo); COMP_CWORD=2; '
            '_ssdlab_completion ssdlab; echo "${COMPREPLY[@]}"',
        ),
        (
            "zsh",
            "autoload -U compinit; compinit -D; "
            'eval "$(ssdlab completion zsh)"; [ "$_comps[ssdlab]" ] && echo theory',
        ),
        ("fish", 'ssdlab completion fish | source; complete -C "ssdlab show theo"'),
    ],
)
def test_shells_take_the_script(shell: str, ask: str, tmp_path: Path) -> None:
    """Each shell itself reads the script and completes a drive's name (zsh: knows the command)."""
    if shutil.which(shell) is None or not (_BIN / "ssdlab").exists():
        pytest.skip(f"needs {shell} and an installed ssdlab")
    done = subprocess.run(
        [shell, "-c", ask],
        env={**os.environ, "PATH": f"{_BIN}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["theory"]


def test_unknown_shell(command: Command) -> None:
    """A shell that is not known is refused with those that are."""
    code, _, err = command("completion", "csh")
    assert code == 2
    assert "'bash', 'zsh', 'fish'" in err
