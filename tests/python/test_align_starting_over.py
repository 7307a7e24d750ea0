"""``ssdlab align spare --steps``: the documents' order, what is destroyed, how to see it worked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from ssdlab.machine.align.starting_over import ALL, NOTHING, Stage, ways

Command = Callable[..., tuple[int, str, str]]
DESTRUCTIVE = (
    "--security-erase",
    "nvme format",
    "nvme sanitize ",
    "blkdiscard",
    "mklabel",
)


def stages(device: str | None = None) -> list[Stage]:
    return [stage for way in ways(device) for stage in way.stages]


def test_the_order_of_the_documents() -> None:
    """A new drive, secure erase, shrinking, the maker's tool."""
    titles = [way.title.split(":")[0].split(",")[0] for way in ways()]
    assert titles == ["Way 1", *["Way 2"] * 4, "Way 3", "Way 4"]
    assert ["SATA" in way.title for way in ways()][1]


@pytest.mark.parametrize(
    ("device", "kinds"),
    [
        ("/dev/sda", ["SATA: secure erase", "any drive that takes TRIM: discard"]),
        ("/dev/nvme0n1", ["NVMe: format", "NVMe: sanitize", "any drive that takes TRIM: discard"]),
        ("/dev/vda", ["any drive that takes TRIM: discard"]),
    ],
)
def test_only_the_ways_of_the_drive(device: str, kinds: list[str]) -> None:
    """A drive's name tells what it is; every line is about it, with no placeholder."""
    found = ways(device)
    assert [way.title.removeprefix("Way 2, ") for way in found[1:-2]] == kinds
    lines = [line for stage in stages(device) for line in (*stage.lines, *stage.check)]
    named = [word for line in lines for word in line.split() if word.startswith("/dev/")]
    assert set(named) - {"/dev/zero"} <= {device, "/dev/nvme0"}
    assert not any("sdX" in line or "…" in line for line in lines)


def test_every_step_says_what_it_destroys() -> None:
    """A step that erases says so; one that says it destroys nothing has no command that does."""
    for stage in stages():
        lines = " ".join(stage.lines)
        assert stage.destroys and stage.seen
        assert (stage.destroys == NOTHING) == (not any(word in lines for word in DESTRUCTIVE)) or (
            stage.destroys.startswith("nothing if")
        )


def test_secure_erase_of_a_sata_drive() -> None:
    """Look, thaw, password, erase, discard, partition: in this order, and each is seen."""
    erase = next(way for way in ways("/dev/sda") if "SATA" in way.title)
    lines = [line for stage in erase.stages for line in stage.lines]
    words = ("lsblk", "hdparm -I", "suspend", "set-pass", "security-erase", "blkdiscard", "mklabel")
    places = [next(n for n, line in enumerate(lines) if word in line) for word in words]
    assert places == sorted(places) == list(range(len(words)))
    texts = " ".join(stage.text + stage.seen for stage in erase.stages)
    for told in ("frozen", "minutes", "enhanced", "security-disable", "wear", "key"):
        assert told in texts
    password = {line.split()[4] for line in lines if "security-" in line}
    assert len(password) == 1


def test_sanitize_is_of_the_controller() -> None:
    """Format is of a namespace, sanitize of all of them."""
    lines = [line for stage in stages("/dev/nvme2n1") for line in stage.lines]
    assert "nvme format /dev/nvme2n1 --ses=1" in lines
    assert "nvme sanitize /dev/nvme2 --sanact=2" in lines
    erased = lines.index("nvme sanitize /dev/nvme2 --sanact=2")
    assert "nvme list-subsys /dev/nvme2n1" in lines[erased - 3 : erased]


def test_printed(command: Command, golden: Callable[[str, str], None]) -> None:
    """All ways, as reviewed."""
    code, out, _ = command("align", "spare", "--steps")
    assert code == 0
    golden("align-starting-over", out)
    _, out, _ = command("align", "spare", "--steps", "/dev/sda", "--json")
    assert [stage["destroys"] for way in json.loads(out) for stage in way["stages"]].count(ALL) == 3


def test_the_share_that_is_left(command: Command) -> None:
    """--spare says how much; 25 % leaves partitions three quarters."""
    _, out, _ = command("align", "spare", "--steps", "/dev/sda", "--spare", "25%")
    assert "mkpart primary 1MiB 75%" in out and "--spare 25%" in out
    _, out, _ = command("align", "spare", "--steps", "/dev/sda", "--spare", "99.9%")
    assert "mkpart primary 1MiB 0.1%" in out


def test_nothing_is_carried_out(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is started."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert command("align", "spare", "--steps", "/dev/sda")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--steps", "/dev/sda1"), "a partition; give the whole drive"),
        (("--steps", "/dev/nvme0n1p2"), "a partition; give the whole drive"),
        (("--steps", "/dev/nvme0"), "give its namespace, such as /dev/nvme0n1"),
        (("--steps", "intel-dc-s3500-80gb"), "a simulated drive's profile"),
        (("--steps", "intel-dc-s3500-80gb"), "such as --steps /dev/sdX"),
        (("--steps", "sda"), "not the name of a device"),
        (("--steps", "ada0"), "on FreeBSD see camcontrol(8)"),
        (("--steps", "--spare", "100%"), "less than 100%"),
        (("--steps", "--layer", "lvm"), "leave out --layer"),
        (("--steps", "--device", "/dev/sda"), "--steps /dev/sda; leave out --device"),
        (("--steps", "--drive", "theory", "--strict"), "leave out --drive, --strict"),
        (("--layer", "partition:start=1MiB,size=1GiB"), "give --spare 20%, or --steps"),
    ],
)
def test_what_is_refused(command: Command, arguments: tuple[str, ...], said: str) -> None:
    """What is no whole drive is named, with what to give."""
    code, out, err = command("align", "spare", *arguments)
    assert (code, out) == (2, "")
    assert said in err
