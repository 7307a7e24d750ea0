"""`ssdlab ctl`: what is asked of a served drive, and what is said where there is none."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pretended import Pretended, served
from ssdlab.cli.ctl import ctl

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("verb", ctl.commands)
def test_help_of_each_verb(
    command: Command,
    golden: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
) -> None:
    """As reviewed, as wide as a terminal, with examples that name a folder first."""
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = command("ctl", "drive", verb, "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert f"  ssdlab ctl drive {verb}" in out
    golden(f"help-ctl-{verb}", out)


def test_a_drive_is_asked_and_steered(command: Command, tmp_path: Path) -> None:
    """Each verb reaches the drive with what it was given, and says what came of it."""
    drive = Pretended()
    with served(tmp_path / "a", drive):
        code, out, err = command("ctl", "a", "stats")
        assert (code, err) == (0, "")
        assert re.search(r"^write amplification +2\.50$", out, re.MULTILINE)
        assert "40 of 1,000, 4.0 %; collecting" in out
        assert command("ctl", "a", "lost")[1] == "a: no power cut since the server began\n"
        code, out, _ = command("ctl", "a", "power-cut", "--seed", "9")
        assert code == 0
        assert "2 sectors lost, 1 acknowledged; 1 request dropped" in out
        assert "4608" in command("ctl", "a", "lost")[1]
        for words in (
            ("power-on",),
            ("checkpoint",),
            ("erase", "crypto-erase"),
            ("inject", "media-error", "4096"),
            ("inject", "media-error", "4096", "--length", "8192"),
            ("inject", "latency", "20ms"),
            ("inject", "latency", "20ms", "--count", "7"),
            ("inject", "hang"),
            ("age", "2500"),
            ("age", "--used", "90", "--spare", "8", "--celsius", "-3", "--capacitor", "failed"),
            ("age", "--read-only", "--media-errors", "2", "--power-on-hours", "0"),
            ("inject", "nothing"),
            ("snapshot", "before"),
            ("restore", "before"),
        ):
            code, out, err = command("ctl", "a", *words)
            assert (code, err) == (0, ""), words
            assert out.startswith("a: "), words
    assert drive.asked == [
        ("power_cut", 9),
        ("power_on",),
        ("checkpoint",),
        ("erase", "crypto-erase"),
        ("inject_media_error", 4096, 512),
        ("inject_media_error", 4096, 8192),
        ("hold_back", 20_000_000, None, False),
        ("hold_back", 20_000_000, 7, False),
        ("hold_back", 0, None, True),
        ("age", {"cycles": 2500}),
        (
            "age",
            {"used_percent": 90, "spare_percent": 8, "celsius": -3, "capacitor_failed": True},
        ),
        ("age", {"read_only": True, "media_errors": 2, "power_on_hours": 0}),
        ("hold_back", 0, None, False),
        ("snapshot", "before"),
        ("restore", "before"),
    ]


def test_several_are_cut_at_once(command: Command, tmp_path: Path) -> None:
    """All are cut, and it is told within what time; JSON has the same shape for one and several."""
    drives = [Pretended() for _ in "abc"]
    with served(tmp_path / "a", drives[0]), served(tmp_path / "b", drives[1]):
        with served(tmp_path / "c", drives[2]):
            code, out, _ = command("ctl", "a", "b", "c", "power-cut")
            assert code == 0
            assert "the cuts lie within" in out
            _, out, _ = command("ctl", "a", "b", "c", "power-cut", "--json")
            told = json.loads(out)
        _, alone, _ = command("ctl", "a", "power-cut", "--json")
    assert [each["folder"] for each in told["folders"]] == ["a", "b", "c"]
    begun = [each["monotonic_ns"][0] for each in told["folders"]]
    ended = [each["monotonic_ns"][1] for each in told["folders"]]
    assert told["spread_ns"] == max(ended) - min(begun) > 0
    assert json.loads(alone).keys() == told.keys()
    assert [drive.asked[0][0] for drive in drives] == ["power_cut"] * 3


def test_nobody_is_cut_unless_all_are(command: Command, tmp_path: Path) -> None:
    """One of two is not served: the other keeps its power."""
    drive = Pretended()
    (tmp_path / "b").mkdir()
    with served(tmp_path / "a", drive):
        code, out, err = command("ctl", "a", "b", "power-cut")
    assert (code, out) == (2, "")
    assert "b: is not being served\nstart it: ssdlab serve b" in err
    assert drive.asked == []


@pytest.mark.parametrize("wait", [("--after", "1000"), ("--at", "13s")])
def test_a_cut_can_wait(command: Command, tmp_path: Path, wait: tuple[str, str]) -> None:
    """For requests, or for the drive's clock; of several drives all are cut then."""
    drives = [Pretended(), Pretended()]
    before = drives[0].told["requests"]["writes"]
    drives[0].requests_each_time = 300
    with served(tmp_path / "a", drives[0]), served(tmp_path / "b", drives[1]):
        code, _, err = command("ctl", "a", "b", "power-cut", *wait)
    assert (code, err) == (0, "")
    assert drives[0].told["requests"]["writes"] - before >= 1000
    assert drives[0].told["requests"]["writes"] - before <= 1800, "and not long after"
    assert [len(drive.asked) for drive in drives] == [1, 1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("a", "power-cut", "--after", "1", "--at", "1s"), "give one of them"),
        (("a", "power-cut", "--after", "x"), "--after x: must be a whole number"),
        (("a", "power-cut", "--at", "x"), "--at: 'x' is not a time"),
        (("a", "power-cut", "--seed", "-1"), "--seed -1: must be a whole number"),
        (("a", "erase", "quickly"), "'quickly' is not one of"),
        (("a", "inject", "media-error", "here"), "here: must be a whole number"),
        (("a", "age", "20000000"), "no flash endures as many"),
        (("a", "age"), "age: nothing is named\nname some of cycles"),
        (("a", "age", "7", "--used", "9"), "give one of them"),
        (("a", "age", "--celsius", "hot"), "--celsius hot: is no whole number"),
        (("a", "age", "--celsius", "999"), "is no temperature that a drive tells"),
        (("a", "age", "--spare", "101"), "is no share of the spare"),
        (("a", "inject", "media-error"), "inject media-error: needs an OFFSET in bytes"),
        (("a", "inject", "latency"), "inject latency: needs a time, such as 20ms"),
        (("a", "inject", "latency", "soon"), "'soon' is not a time"),
        (("a", "inject", "hang", "1s"), "inject hang: takes no value"),
        (("a", "inject", "hang", "--count", "1"), "--count: is not for hang"),
        (("a", "snapshot", "../x"), "is no name for a snapshot"),
        (("a",), "no command: give one of stats,"),
        (("a", "b"), "no command: give one of stats,"),
        (("stats",), "no folder before stats: ssdlab ctl FOLDER stats"),
        (("none", "stats"), "none: no such folder\nmake a drive there: ssdlab serve DRIVE -o none"),
        (("file", "stats"), "file: is no folder"),
        (("empty", "stats"), "empty: is not being served\nstart it: ssdlab serve empty"),
        (("stale", "stats"), "stale: its server has ended without a word\nstart it again"),
    ],
)
def test_wrong_words_are_told(
    command: Command, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    """With what to do; nothing is printed, and nothing is done."""
    (tmp_path / "file").write_text("")
    for name in ("empty", "stale"):
        (tmp_path / name).mkdir()
    with closing(socket.socket(socket.AF_UNIX)) as left:
        left.bind(str(tmp_path / "stale" / "ctl.sock"))
    drive = Pretended()
    with served(tmp_path / "a", drive):
        code, out, err = command("ctl", *words)
    assert (code, out) == (2, "")
    assert told in err
    assert drive.asked == []


def test_a_refusal_is_passed_on(command: Command, tmp_path: Path) -> None:
    """Of several, who did it is told, too."""
    drives = [Pretended(), Pretended()]
    drives[0].refuses = "its power is off\nturn it on first"
    with served(tmp_path / "a", drives[0]), served(tmp_path / "b", drives[1]):
        code, out, err = command("ctl", "a", "b", "checkpoint")
    assert (code, out) == (2, "")
    assert "a: its power is off\nturn it on first\nb: done all the same" in err


def test_no_permission(command: Command, tmp_path: Path) -> None:
    """Another's socket: whose it is stands there."""
    with served(tmp_path / "a", Pretended()):
        (tmp_path / "a" / "ctl.sock").chmod(0)
        for folder in (tmp_path, tmp_path / "a"):
            folder.chmod(0o755)
        with _not_root():
            code, _, err = command("ctl", "a", "stats")
    assert code == 2
    assert "Permission denied\nbe the user who serves it: " in err


@contextmanager
def _not_root() -> Iterator[None]:
    """Be nobody meanwhile where we are root, who may open every socket."""
    nobody, was = 65534, os.geteuid()
    if was == 0:
        os.seteuid(nobody)
    try:
        yield
    finally:
        os.seteuid(was)


def test_the_socket_is_the_owners_alone(tmp_path: Path) -> None:
    """Mode 0600; it goes with the server."""
    with served(tmp_path / "a", Pretended()):
        assert (tmp_path / "a" / "ctl.sock").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "a" / "ctl.sock").exists()


def test_a_long_path_is_served(command: Command, tmp_path: Path) -> None:
    """Longer than the kernel takes for a socket."""
    name = "x" * 120
    with served(tmp_path / name, Pretended()):
        assert command("ctl", name, "stats")[0] == 0
        assert command("ctl", str(tmp_path / name), "stats")[0] == 0


def test_a_server_that_is_another_is_told(command: Command, tmp_path: Path) -> None:
    """What answers is no HTTP, or hangs up."""
    (tmp_path / "a").mkdir()
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(tmp_path / "a" / "ctl.sock"))
        listener.listen()

        def hang_up() -> None:
            listener.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        code, _, err = command("ctl", "a", "stats")
        thread.join()
    assert code == 2
    assert "a: its server hung up" in err
