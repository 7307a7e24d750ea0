"""`ssdlab health` and drives, tools and files that misbehave: a finding or an error, and an end."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from process import HANG_S
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.health import read_report
from ssdlab.real.smart import live
from test_health import SMART, load
from test_health_command import crucial, saved

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b'{"device": {"name": "/dev/sda"', "not whole JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\x80\x81\xff", "binary"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not whole JSON"),
        (b"[]", "not a drive report"),
        (b'"x"', "not a drive report"),
        (b"{}", "not a drive report"),
    ],
)
def test_broken_files(command: Command, tmp_path: Path, content: bytes, said: str) -> None:
    """Each is refused with its name and how to make a good one."""
    (tmp_path / "x.json").write_bytes(content)
    code, _, err = command("health", "--from", "x.json")
    assert code == 2
    assert "x.json" in err
    assert said in err


def test_absurd_reports() -> None:
    """Wrong types and absurd numbers anywhere give a report or a refusal, never another error."""
    stream = random.Random(5)
    rubbish: list[Any] = [
        None,
        -1,
        2**200,
        1e308,
        float("nan"),
        "x",
        "9" * 60,
        [],
        [[]],
        {},
        True,
        {"raw": 3},
    ]
    names = sorted(path.stem for path in SMART.glob("*.json"))
    for round_number in range(600):
        content = load(names[round_number % len(names)])
        _spoil(content, stream, rubbish)
        try:
            report = read_report(content, "x")
        except SsdlabError:
            continue
        from ssdlab.machine.health import examine

        examine(report).to_dict()


def _spoil(content: Any, stream: random.Random, rubbish: list[Any]) -> None:
    while isinstance(content, (dict, list)) and content:
        key = stream.choice(list(content) if isinstance(content, dict) else range(len(content)))
        if stream.random() < 0.3 or not isinstance(content[key], (dict, list)):
            content[key] = stream.choice(rubbish)
            return
        content = content[key]


def _program(place: Path, text: str) -> str:
    place.write_text(text, encoding="utf-8")
    place.chmod(0o755)
    return str(place)


def test_a_drive_that_never_answers(tmp_path: Path) -> None:
    """smartctl is given up with all it started, in bounded time."""
    smartctl = _program(tmp_path / "smartctl", "#!/bin/sh\nsleep 600\n")
    start = time.monotonic()
    with pytest.raises(SsdlabError, match=r"no answer within 0\.5 s"):
        live.ask(["/dev/null"], smartctl, timeout_s=0.5)
    assert time.monotonic() - start < HANG_S


def test_a_drive_that_answers_without_end(command: Command, tmp_path: Path) -> None:
    """A report of gigabytes is given up while it is read, from smartctl and from a file."""
    smartctl = _program(tmp_path / "smartctl", "#!/bin/sh\nexec cat /dev/zero\n")
    with pytest.raises(SsdlabError, match="more than 16 MiB"):
        live.ask(["/dev/null"], smartctl)
    code, out, _ = command("health", "/dev/null", "--smartctl", smartctl, "--format", "nagios")
    assert code == 3 and "/dev/null: not looked at, because more than 16 MiB" in out
    code, out, _ = command("health", "--from", "/dev/zero", "--format", "nagios")
    assert code == 3 and out.startswith("UNKNOWN - --from /dev/zero: more than 16 MiB")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-d megaraid,6", "-d needs a DEVICE"),
        ("-o out", "--output needs --format"),
        ("--acknowledge", "--acknowledge needs --baseline"),
        ("--from no.json", "--from no.json: No such file"),
    ],
)
def test_options_that_do_not_fit(command: Command, words: str, said: str) -> None:
    """What cannot be meant is refused before a drive is asked, with the remedy."""
    code, out, error = command("health", *words.split(), "--smartctl", "no-such-program")
    assert (code, out) == (2, "") and said in error


def test_a_file_in_the_place_of_a_device(command: Command, tmp_path: Path) -> None:
    """It is told what it is, and what takes it."""
    report = saved(tmp_path / "d.json", crucial(1))
    (image := tmp_path / "disk.img").write_bytes(bytes(4096))
    for file, told in (
        (report, f"ssdlab health --from {report}"),
        (
            str(image),
            f"it is zeroes, such as an image of an empty disk; losetup --find --show {image}",
        ),
    ):
        code, out, _ = command("health", file)
        assert code == 4
        said = " ".join(out.split())
        assert "it is a file, no device; it is " in said and told in said


@pytest.mark.parametrize("words", ["--format nagios --wrong", "--format=nagios --from", "-x"])
def test_a_wrong_option(command: Command, words: str) -> None:
    """To a monitor a wrong option is unknown, in one line on stdout; to people it is 2."""
    code, out, error = command("health", *words.split())
    if "nagios" in words:
        assert code == 3 and out.startswith("UNKNOWN - ") and out.count("\n") == 1
    else:
        assert code == 2 and "--help" in error


def test_a_plug_in_that_fails_is_unknown(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake of ours is no warning about a drive."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError("a|b")

    monkeypatch.setattr(live, "scan", fail)
    code, out, _ = command("health", "--format", "nagios")
    assert code == 3 and out == "UNKNOWN - ZeroDivisionError('a/b')\n"
    with pytest.raises(ZeroDivisionError):
        command("health")


def test_a_drive_that_fails_is_a_finding(command: Command, tmp_path: Path) -> None:
    """A drive that cannot be opened is unknown; the others are examined all the same."""
    answer = {"smartctl": {"exit_status": 2, "messages": [{"string": "Permission denied"}]}}
    script = f"#!/bin/sh\ncat <<'E'\n{json.dumps(answer)}\nE\n"
    smartctl = _program(tmp_path / "smartctl", script)
    file = saved(tmp_path / "d.json", crucial(1))
    code, out, _ = command(
        "health", "--from", file, "/dev/null", "--smartctl", smartctl, "--format", "nagios"
    )
    assert code == 3
    assert out.startswith("UNKNOWN - /dev/null: not looked at, because Permission denied")
    assert "'X_life_used'=1%" in out


def test_every_drive_that_smartctl_finds(command: Command, tmp_path: Path) -> None:
    """Without a name all drives are asked, each with the -d that the scan gave."""
    scan = {"devices": [{"name": "/dev/null", "type": "megaraid,6"}]}
    script = (
        '#!/bin/sh\necho "$@" >> calls\n'
        f"case \"$1\" in --scan-open) echo '{json.dumps(scan)}';; *) cat d.json;; esac\n"
    )
    smartctl = _program(tmp_path / "smartctl", script)
    saved(tmp_path / "d.json", crucial(12))
    code, out, _ = command("health", "--smartctl", smartctl)
    assert code == 0
    assert "12 %" in out
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert calls[1] == "--json -x --nocheck=standby /dev/null -d megaraid,6"
