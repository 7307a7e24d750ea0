"""``ssdlab check``: folders of served drives, and logs that are played again."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from insertions import rows_inserted
from ssdlab.live.client import Client
from test_serve import end, folder, needs_qemu_io, process_of, qemu_io, ssdlab, start

pytestmark = pytest.mark.end_to_end

__all__ = ["folder"]

Command = Callable[..., tuple[int, str, str]]
SMALL = ("theory", "--set", "capacity_bytes=64MiB", "--set", "nand.pages_per_block=64")


@needs_qemu_io
def test_a_cut_takes_the_same_again(folder: Path, command: Command) -> None:
    """What `ctl lost` tells of a served drive, its log tells after it was put away."""
    log = folder.parent / "log"
    # qemu-io flushes when it leaves.
    lying = ("--set", "buffer.bytes=1MiB", "--fault", "lying")
    start(*SMALL, *lying, "-o", str(folder), "--log", str(log))
    qemu_io(folder, *(f"write -P 7 {number * 37 % 90 * 64}k 60k" for number in range(60)))
    client = Client(str(folder))
    client.post("/power-cut", seed=5)
    cut = client.get("/lost")["cut"]
    client.close()
    assert cut["lost"]
    end(folder)
    code, out, _ = command("check", str(log), "--json")
    (told,) = json.loads(out)["folders"]
    assert (code, told["log"]["cuts"]) == (0, [cut])
    code, out, _ = command("check", str(log))
    assert (code, "1 power cut" in out, "the drive broke its word" in out) == (0, True, True)
    refused = ssdlab("serve", str(folder), "--log", str(log))
    assert (refused.returncode, "already exists" in refused.stderr) == (2, True)


def test_a_log_of_something_else_is_refused(folder: Path, command: Command) -> None:
    """Another drive, a changed line, a file that is no log: the line is named."""
    log = folder.parent / "log"
    start(*SMALL, "-o", str(folder), "--log", str(log))
    end(folder)
    commands = log / "commands.log"
    for text, told in (
        ("write 0 8 8\nlive never 1 9\n", "line 3: "),
        ("write 0 8\n", "line 2: is no line of a log"),
        ("write 0 999999999 8\n", "line 2: the drive has 131072 sectors"),
    ):
        commands.write_text(f"ssdlab log 1\n{text}")
        code, out, error = command("check", str(log))
        assert (code, out) == (2, "") and told in error and str(commands) in error
    commands.write_text("a\n")
    assert "is not a drive's log" in command("check", str(log))[2]


def test_a_foreign_line_is_told_wherever_it_stands(folder: Path, command: Command) -> None:
    """A line that nobody knows, at each place of a log and of the list of bad sectors."""
    log = folder.parent / "log"
    start(*SMALL, "-o", str(folder), "--log", str(log))
    end(folder)
    commands, bad = log / "commands.log", folder / "bad-sectors"
    text = "ssdlab log 1\nfaults\nlive 0 0\nput-away\n"
    commands.write_text(text)
    assert command("check", str(log))[0] == 0
    rows = (
        *("frobnication 7", "7", "# a note", "write soon 8 8", "write 0 8 8 frob", "cut 7 8"),
        *("live 0", "faults frobnication", "age frob=7", "put-away 7", "ssdlab log 1"),
    )
    for content, row in rows_inserted(text, rows):
        commands.write_text(content)
        code, out, error = command("check", str(log))
        assert (code, out) == (2, "") and str(commands) in error, row
        places = [number for number, line in enumerate(content.splitlines(), 1) if line == row]
        assert f"line {places[-1]}: " in error or "is not a drive's log" in error, row
    for content, row in rows_inserted("8-15\n32-40\nend\n", ("frob", "7 sectors", "9-", "5-3")):
        bad.write_text(content)
        code, out, _ = command("check", str(folder))
        assert code == 3 and str(bad) in out, row


def test_a_foreign_file_is_told(folder: Path, command: Command) -> None:
    """What nobody here made is named, in a snapshot too; the drive opens all the same."""
    start(*SMALL, "-o", str(folder))
    assert command("ctl", str(folder), "snapshot", "before")[0] == 0
    assert command("check", str(folder))[0] == 0, "all that a server makes is known"
    end(folder)
    assert command("check", str(folder))[0] == 0
    for place in (folder / "since.bak", folder / "old.new", folder / "snapshots/before/notes"):
        place.write_text("frobnication 7")
        code, out, _ = command("check", str(folder))
        assert (code, str(place) in out, "does not open" in out) == (4, True, False)
        place.unlink()


def test_a_folder_is_told_file_by_file(folder: Path, command: Command) -> None:
    """A sound one, one that is served, one that was killed, and damaged ones, which stay so."""
    start(*SMALL, "-o", str(folder))
    code, out, _ = command("check", str(folder))
    assert (code, f"process {process_of(folder)}" in out, "opens" in out) == (0, True, True)
    end(folder, signal.SIGKILL)
    code, out, _ = command("check", str(folder))
    assert (code, "no: it goes on as after a power cut" in out) == (0, True)
    damages: dict[str, Callable[[Path], object]] = {
        "data.img: has 100 bytes": lambda at: (at / "data.img").write_bytes(bytes(100)),
        "since: ": lambda at: (at / "since").write_bytes(b"x"),
        "drive.ssd: is truncated or damaged": lambda at: _cut(at / "drive.ssd"),
        "data.img: is missing": lambda at: (at / "data.img").unlink(),
        "bad-sectors: ": lambda at: (at / "bad-sectors").write_text("a\n"),
        "nvme-logs.json: ": lambda at: (at / "nvme-logs.json").write_text('{"errors": 7}'),
    }
    for number, (told, damage) in enumerate(damages.items()):
        damaged = folder.parent / f"{number}"
        shutil.copytree(folder, damaged, ignore=shutil.ignore_patterns("*.sock", "pid"))
        damage(damaged)
        before = {each.name: each.stat().st_mtime_ns for each in damaged.iterdir()}
        code, out, error = command("check", str(damaged))
        assert (code, "does not open" in out, error) == (3, True, "")
        assert f"{damaged}/{told}" in out
        assert {each.name: each.stat().st_mtime_ns for each in damaged.iterdir()} == before
        assert ssdlab("serve", str(damaged)).returncode == 2, "and it is not served"


def test_snapshots_are_looked_at(folder: Path, command: Command) -> None:
    """A damaged one is a finding, and the drive opens all the same."""
    start(*SMALL, "-o", str(folder))
    for name in ("first", "second"):
        assert ssdlab("ctl", str(folder), "snapshot", name).returncode == 0
    end(folder)
    assert command("check", str(folder))[0] == 0
    (folder / "snapshots" / "second" / "data.img").unlink()
    code, out, _ = command("check", str(folder), "--json")
    (told,) = json.loads(out)["folders"]
    told = told["drive_folder"]
    assert (code, told["opens"]) == (3, True)
    assert [each["opens"] for each in told["snapshots"]] == [True, False]
    assert [fault["file"] for fault in told["faults"]] == [f"{folder}/snapshots/second/data.img"]


def test_a_drive_that_is_bad_all_over(folder: Path, command: Command) -> None:
    """It opens again, and keeps its bad sectors as one range."""
    start(*SMALL, "-o", str(folder))
    client = Client(str(folder))
    client.post("/inject/media-error", offset=0, length=64 << 20)
    client.close()
    end(folder, signal.SIGKILL)
    assert (folder / "bad-sectors").read_text() == "0-131071\nend\n"
    start(str(folder))
    end(folder)
    (told,) = json.loads(command("check", str(folder), "--json")[1])["folders"]
    assert told["drive_folder"]["bad_sectors"] == 131072


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


def test_another_version_is_not_judged(folder: Path, command: Command) -> None:
    """It is named, with what helps."""
    start(*SMALL, "-o", str(folder))
    end(folder)
    checkpoint = folder / "drive.ssd"
    head, _, rest = checkpoint.read_bytes().partition(b"\n")
    checkpoint.write_bytes(head + b"9\n" + rest)
    code, out, _ = command("check", str(folder))
    assert (code, "is from another version of ssdlab" in out) == (4, True)
    (told,) = json.loads(command("check", str(folder), "--json")[1])["folders"]
    faults = told["drive_folder"]["faults"]
    assert not told["drive_folder"]["opens"]
    assert [(fault["file"], fault["unknown"]) for fault in faults] == [(str(checkpoint), True)]


@pytest.mark.parametrize("what", ["nothing", "file", "empty"])
def test_what_is_no_folder_of_a_drive(what: str, tmp_path: Path, command: Command) -> None:
    """The remedy is named."""
    place = tmp_path / what
    if what == "file":
        place.write_text("x")
    if what == "empty":
        place.mkdir()
    code, out, error = command("check", str(place))
    assert (code, out) == (2, "") and "ssdlab serve" in error
