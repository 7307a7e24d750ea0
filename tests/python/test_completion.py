"""Completion: shells take the script, and are offered verbs, options, values, drives and files."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click
import pytest

from ssdlab.cli import outline, shells, ssdlab

Command = Callable[..., tuple[int, str, str]]
OUTLINE = Path(shells.__file__).parents[1] / "data" / "outline.json"
_BIN = Path(sys.executable).parent


def _offered(line: str) -> list[str]:
    """Ask, as bash does, what the command offers for the last word of a line."""
    done = subprocess.run(
        [sys.executable, "-m", "ssdlab"],
        env={**os.environ, "_SSDLAB_COMPLETE": "bash_complete", "COMP_LINE": line},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def _plain(words: str, before: str = "") -> list[str]:
    return [f"plain,{before}{word}" for word in words.split()]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ssdlab comp", _plain("compare completion")),
        ("ssdlab run --scenario b", _plain("boot build bonnie")),
        ("ssdlab season theory --to f", _plain("fresh filled")),
        ("ssdlab run --state=u", _plain("--state=used")),
        ("ssdlab run --drive theo", _plain("theory")),
        ("ssdlab run --drive=theo", _plain("--drive=theory")),
        ("ssdlab show my.to", ["file,my.to"]),
        ("ssdlab run --trace ", ["file,"]),
        ("ssdlab run job", ["file,job"]),
        ("ssdlab run base", _plain("baseline")),
        ("ssdlab run --iodepth_l", _plain("--iodepth_low=")),
        ("ssdlab run --time_", _plain("--time_based")),
        ("ssdlab run --rw=randw", _plain("--rw=randwrite")),
        ("ssdlab run --rw randr", _plain("randread randrw")),
        ("ssdlab season theory --random_d", _plain("--random_distribution=")),
        ("ssdlab run --set over", _plain("over_provisioning=")),
        ("ssdlab show --set=nand.ce", _plain("--set=nand.cell=")),
        (
            "ssdlab run --layer crypt --set crypt.sector_",
            _plain("crypt.sector_us= crypt.sector_bytes="),
        ),
        ("ssdlab run --drive fujitsu-mhz2250bh --set hdd.rp", _plain("hdd.rpm=")),
        ("ssdlab run --layer cry", _plain("crypt")),
        (
            "ssdlab run --layer partition:start_sector=63,s",
            _plain("size_bytes= share=", "partition:start_sector=63,"),
        ),
        ("ssdlab layers sch", _plain("scheduler")),
        ("ssdlab align check --layer crypt:key", _plain("crypt:key_bits=")),
        ("ssdlab pts theory --tests iops,w", _plain("iops,wsat")),
        ("ssdlab ctl my", ["dir,my"]),
        ("ssdlab ctl drive power", ["dir,power", *_plain("power-cut power-on")]),
        ("ssdlab ctl drive erase c", _plain("crypto-erase")),
        ("ssdlab reproduce s", _plain("spare-area start-over")),
    ],
)
def test_a_word_is_completed(line: str, offered: list[str]) -> None:
    """By what fits its place: verbs, drives, fio's options, keys, layers, tests, or files."""
    assert _offered(line) == offered


def test_options_are_offered_and_need_no_value_to_be_right() -> None:
    """Ours and fio's, of a line that is not right yet either."""
    offered = _offered("ssdlab run --drive no-such-drive --s")
    assert {"plain,--state", "plain,--size=", "plain,--stonewall"} <= set(offered)
    assert "plain,over_provisioning=" in _offered("ssdlab run --drive no-such-drive --set o")


def test_the_outline_is_that_of_the_verbs(request: pytest.FixtureRequest) -> None:
    """What completion reads is what the verbs declare today, and the words of the package."""
    made = json.dumps(outline.made(ssdlab), indent=1, ensure_ascii=False) + "\n"
    if request.config.getoption("--renew-golden"):
        OUTLINE.write_text(made, encoding="utf-8")
    assert made == OUTLINE.read_text(encoding="utf-8"), "renew it with: make golden"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_verb_and_option_is_offered(shell: str) -> None:
    """Whatever a verb's help lists is offered behind it, of verbs below verbs too."""
    for path, verb in _commands("ssdlab", ssdlab):
        shown = [each for each in verb.params if not getattr(each, "hidden", False)]
        names = {name for each in shown for name in each.opts if name.startswith("--")}
        assert names <= _words_of(shell, f"{path} --"), path
        if isinstance(verb, click.Group):
            started = f"{path} drive " if verb.params and path != "ssdlab" else f"{path} "
            assert set(verb.commands) <= _words_of(shell, started), path


def _commands(path: str, command: click.Command) -> list[tuple[str, click.Command]]:
    below = command.commands if isinstance(command, click.Group) else {}
    start = f"{path} drive" if path == "ssdlab ctl" else path
    found = [each for name, verb in below.items() for each in _commands(f"{start} {name}", verb)]
    return [(path, command), *found]


def _words_of(shell: str, line: str) -> set[str]:
    """Ask as a shell does; return the words of the answer without their help."""
    words = line.split()
    at = words[-1] if shell == "fish" and not line.endswith(" ") else ""
    asked = {
        "COMP_LINE": line,
        "COMP_WORDS": line,
        "COMP_CWORD": at if shell == "fish" else str(len(line.split(" ")) - 1),
    }
    lines = shells.answer({shells.VARIABLE: f"{shell}_complete", **asked}).splitlines()
    if shell == "zsh":
        return set(lines[1::3])
    return {each.partition(",")[2].partition("\t")[0] for each in lines}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ssdlab fit --drive theory --dri", []),
        ("ssdlab run --layer crypt --lay", _plain("--layer")),
        ("ssdlab run --no-such=1 --drive", _plain("--drive")),
        ("ssdlab run --set nand.page_bytes=1 --drive theo", _plain("theory")),
        ("ssdlab run --drive --state us", _plain("used")),
        ("ssdlab run 'half", ["file,half"]),
        ("ssdlab no-such-verb --", _plain("--version --help")),
        ("ssdlab show theory ", []),
        ("ssdlab run --layer no-such:", []),
        ("ssdlab run --layer no-such --set crypt", []),
    ],
)
def test_a_line_that_is_not_right_is_completed(line: str, offered: list[str]) -> None:
    """As far as it can be: unknown words are passed over, and an option is offered once."""
    assert _offered(line) == offered


@pytest.mark.parametrize(
    ("shell", "ask"),
    [
        (
            "bash",
            'eval "$(ssdlab completion bash)"; COMP_WORDS=(ssdlab show theo); COMP_CWORD=2; '
            "COMP_LINE='ssdlab show theo'; COMP_POINT=16; "
            'compopt() { :; }; _ssdlab_completion ssdlab; echo "${COMPREPLY[@]}"',
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


def _after_tab(typed: str, folder: Path) -> str:
    """Type it into an interactive bash and press TAB; give the line that it then has."""
    ours, its = pty.openpty()
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        stdin=its,
        stdout=its,
        stderr=its,
        env={
            **os.environ,
            "PATH": f"{_BIN}:{os.environ['PATH']}",
            "HOME": str(folder),
            "TERM": "dumb",
        },
        start_new_session=True,
    )
    os.close(its)
    # Control-A: back to the line's beginning, so that it is shown, not carried out.
    keys = f'eval "$(ssdlab completion bash)"\n{typed}\t\x01echo line: \nexit\n'
    os.write(ours, keys.encode())
    shown = b""
    with suppress(OSError):
        while piece := os.read(ours, 4096):
            shown += piece
    shell.wait()
    os.close(ours)
    lines = shown.decode(errors="replace").splitlines()
    return next(line.removeprefix("line: ") for line in lines if line.startswith("line: "))


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("show theo", "show theory"),
        ("run --rw=randw", "run --rw=randwrite"),
        ("run --rw randw", "run --rw randwrite"),
        ("run --iodepth_l", "run --iodepth_low="),
        ("run --layer partition:start", "run --layer partition:start_sector="),
        (
            "run --layer=partition:start_sector=63,sh",
            "run --layer=partition:start_sector=63,share=",
        ),
        ("run --set over", "run --set over_provisioning="),
        ("pts theory --tests iops,w", "pts theory --tests iops,wsat"),
        ("ctl drive watc", "ctl drive watch"),
    ],
)
def test_bash_completes_what_was_typed(typed: str, completed: str, tmp_path: Path) -> None:
    """For bash `=` and `:` end words; the line is whole all the same after one TAB."""
    if shutil.which("bash") is None or not (_BIN / "ssdlab").exists():
        pytest.skip("needs bash and an installed ssdlab")
    assert _after_tab(f"ssdlab {typed}", tmp_path) == f"ssdlab {completed}"


def test_unknown_shell(command: Command) -> None:
    """A shell that is not known is refused with those that are."""
    code, _, err = command("completion", "csh")
    assert code == 2
    assert "'bash', 'zsh', 'fish'" in err
