"""Purges and the write cache, with drives made of words: what is asked, and what is never asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from loop_devices import loop_device
from machine import MadeMachine
from ssdlab.bench.real.device import purged
from ssdlab.bench.real.identity import DeviceIdentity
from ssdlab.bench.real.node import Node
from ssdlab.bench.real.purge import CannotPurge, DriveAnswer, Purger, security_of, utilization
from ssdlab.bench.real.safety import Permission, permit
from ssdlab.bench.real.samples import Samples, Seen
from ssdlab.bench.real.write_cache import Switch
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import Ended
from ssdlab.real.system import System

SECURITY = """
Security:
\tMaster password revision code = 65534
\t\tsupported
\tnot\tenabled
\tnot\tlocked
\t{frozen}frozen
\tnot\texpired: security count
\t2min for SECURITY ERASE UNIT.
"""


class Tools:
    """Answers as tools would; an answer may be a text, or an exit code with what is said."""

    def __init__(self, answers: Mapping[str, Any] | None = None) -> None:
        self.answers = dict(answers or {})
        self.asked: list[str] = []

    def __call__(self, words: Sequence[str], _timeout_s: float | None) -> Ended:
        line = " ".join(words)
        self.asked.append(line)
        for begin, answer in self.answers.items():
            if begin in line:
                found = answer(line) if callable(answer) else answer
                if isinstance(found, int):
                    return Ended(tuple(words), found, "", "the drive refused")
                return Ended(tuple(words), 0, found, "")
        raise FileNotFoundError(words[0])


def _identity(kind: str) -> DeviceIdentity:
    return DeviceIdentity("/dev/x", "MADE", "S1", "1", kind, 1 << 30, 512, 4096)


def _node(name: str, drive: str = "") -> Node:
    drive = drive or name
    folder = f"/sys/block/{drive}" if drive == name else f"/sys/block/{drive}/{name}"
    return Node(f"/dev/{name}", "8:0", name, folder, drive, (), 64 << 20)


def _system(discards: int, *names: str) -> System:
    machine = MadeMachine()
    for name in names:
        machine.drive(name, discard_max_bytes=str(discards))
    return machine.system()


@contextmanager
def _permission(folder: Path) -> Iterator[Permission]:
    with loop_device(folder / "drive.img") as device:
        permission, _ = permit(device, [device])
        with permission:
            yield permission


def _purge(
    folder: Path, tools: Tools, kind: str, name: str, *, others: Sequence[str] = (), **more: Any
) -> DriveAnswer | None:
    wish, drive = more.get("wish", "best"), more.get("drive", "")
    system = _system(more.get("discards", 0), drive or name, *others)
    with _permission(folder) as permission:
        purger = Purger(permission, _node(name, drive), _identity(kind), system, tools)
        return purger.purge(wish)


def _controller(**bits: int) -> str:
    return json.dumps({"oacs": 2, "fna": 0, "sanicap": 2, **bits})


def test_an_nvme_drive_is_formatted(tmp_path: Path) -> None:
    """With erasure of user data, and without a question that nobody would answer."""
    formatted = "Success formatting namespace:1"
    tools = Tools({"id-ctrl": _controller(), "nvme format": formatted})
    answer = _purge(tmp_path, tools, "nvme", "nvme0n1")
    assert answer == DriveAnswer("nvme format /dev/nvme0n1 --ses=1 --force", formatted)


@pytest.mark.parametrize(
    ("bits", "others", "why"),
    [
        ({"oacs": 0}, [], "does not format"),
        ({"fna": 1}, ["nvme0n2"], "nvme0n2"),
        ({"fna": 2}, ["nvme0n2"], "nvme0n2"),
    ],
)
def test_a_format_that_may_not_be(
    tmp_path: Path, bits: dict[str, int], others: list[str], why: str
) -> None:
    """Where the drive has none, or where it would reach another namespace."""
    tools = Tools({"id-ctrl": _controller(**bits), "nvme format": "Success"})
    with pytest.raises(CannotPurge, match=why):
        _purge(tmp_path, tools, "nvme", "nvme0n1", others=others)
    assert not any("format " in line for line in tools.asked)


def test_a_format_of_one_namespace_leaves_the_others(tmp_path: Path) -> None:
    """Where the controller says that it concerns only one; other drives do not count."""
    tools = Tools({"id-ctrl": _controller(), "nvme format": "Success"})
    others = ["nvme0n2", "nvme1n1"]
    assert _purge(tmp_path, tools, "nvme", "nvme0n1", others=others) is not None
    tools.answers["id-ctrl"] = _controller(fna=3)
    assert _purge(tmp_path, tools, "nvme", "nvme0n1", others=["nvme1n1"]) is not None


@pytest.mark.parametrize(
    ("kind", "name", "drive"), [("nvme", "nvme0n1p1", "nvme0n1"), ("sata", "sda1", "sda")]
)
def test_a_partition_is_only_discarded(tmp_path: Path, kind: str, name: str, drive: str) -> None:
    """What reaches the whole drive is not asked for, whatever is wished."""
    tools = Tools({"": SECURITY.format(frozen="not\t")})
    for wish in ("format", "erase", "sanitize"):
        with pytest.raises(CannotPurge, match="not the partition alone"):
            _purge(tmp_path, tools, kind, name, drive=drive, wish=wish)
    answer = _purge(tmp_path, tools, kind, name, drive=drive, discards=1 << 30)
    assert answer is not None and answer.asked.startswith("blkdiscard")
    assert tools.asked == []


def test_a_sata_drive_is_erased_and_discarded(tmp_path: Path) -> None:
    """A password first, the erase, and the discard for drives that only change their key."""
    tools = Tools({"hdparm -I": SECURITY.format(frozen="not\t"), "hdparm": "issued"})
    answer = _purge(tmp_path, tools, "sata", "sda", discards=1 << 30)
    assert [line.split()[3] for line in tools.asked[1:]] == [
        "--security-set-pass",
        "--security-erase",
    ]
    assert answer is not None and answer.asked.endswith("blkdiscard /dev/sda")


def test_a_frozen_drive_is_discarded_instead(tmp_path: Path) -> None:
    """The erase is not begun; if there is no discard either, both reasons are told."""
    tools = Tools({"hdparm -I": SECURITY.format(frozen="")})
    answer = _purge(tmp_path, tools, "sata", "sda", discards=1 << 30)
    assert answer is not None and answer.asked == "blkdiscard /dev/sda"
    with pytest.raises(CannotPurge, match="frozen.*discard_max_bytes is 0"):
        _purge(tmp_path / "..", tools, "sata", "sda")
    assert all("-I" in line for line in tools.asked)


def test_a_failed_erase_tells_the_password(tmp_path: Path) -> None:
    """A drive that was left locked can be opened again."""
    secure = SECURITY.format(frozen="not\t")
    tools = Tools({"hdparm -I": secure, "set-pass": "issued", "security-erase": 5})
    with pytest.raises(CannotPurge, match="--security-disable ssdlab /dev/sda"):
        _purge(tmp_path, tools, "sata", "sda")


def test_a_sanitize_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the log says that it was completed; it is never begun unless wished for."""
    monkeypatch.setattr("ssdlab.bench.real.purge._LOOK_S", 0.0)
    states = iter((2, 2, 1))

    def log(_line: str) -> str:
        return json.dumps({"nvme0": {"sprog": 100, "sstat": next(states)}})

    tools = Tools({"id-ctrl": _controller(), "sanitize-log": log, "nvme sanitize": "done"})
    answer = _purge(tmp_path, tools, "nvme", "nvme0n1", wish="sanitize")
    assert answer is not None
    assert answer.asked == "nvme sanitize /dev/nvme0 --sanact=2"
    assert sum("sanitize-log" in line for line in tools.asked) == 3


def test_hdparm_s_words_are_told_apart() -> None:
    """``not frozen`` is not frozen; lines about other things are none of it."""
    state = security_of(SECURITY.format(frozen="not\t"))
    assert state == {"supported": True, "enabled": False, "locked": False, "frozen": False}
    assert security_of("no such section") == {}


@pytest.mark.parametrize(
    ("seen", "used", "proved"),
    [
        (Seen(128, 0, 0), None, True),
        (Seen(127, 1, 0), None, False),
        (Seen(127, 0, 1), None, False),
        (Seen(0, 0, 128), 0, True),
        (Seen(0, 0, 128), 7, False),
        (Seen(0, 1, 127), 0, False),
        (Seen(0, 0, 0), None, False),
    ],
)
def test_what_proves_a_purge(seen: Seen, used: int | None, proved: bool) -> None:
    """Blank everywhere; or gone everywhere and counted as unused by the drive."""
    assert purged(DriveAnswer("format", "done"), seen, used).proved is proved
    assert purged(None, seen, used).proved is False


class _Memory:
    """A target of bytes."""

    def __init__(self, size: int) -> None:
        self.content = bytearray(size)

    def read(self, offset: int, length: int) -> bytes:
        return bytes(self.content[offset : offset + length])

    def write(self, offset: int, content: bytes) -> None:
        self.content[offset : offset + len(content)] = content

    def flush(self) -> None:
        pass


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) + 4096 * 77, 4096, 4096 * 5])
def test_samples_lie_everywhere_and_tell_what_happened(size: int) -> None:
    """Places are apart, within the target; written, blanked by either sign, scrambled."""
    memory = _Memory(size)
    samples = Samples(memory, size, 4096, 1)
    assert len(samples.offsets) == min(128, size // 4096)
    assert all(offset % 4096 == 0 and offset + 4096 <= size for offset in samples.offsets)
    assert len(set(samples.offsets)) == len(samples.offsets)
    samples.mark()
    count = len(samples.offsets)
    assert samples.look() == Seen(0, count, 0)
    memory.content[:] = b"\xff" * size
    assert samples.look() == Seen(count, 0, 0)
    memory.content[:] = b"\x17" * size
    assert samples.look() == Seen(0, 0, count)


def test_utilization_is_read_where_it_is_told() -> None:
    """Of a namespace; not of a partition, nor of another kind of drive."""
    tools = Tools({"id-ns": '{"nsze": 10, "nuse": 0}'})
    assert utilization(_node("nvme0n1"), tools) == 0
    assert utilization(_node("nvme0n1p1", "nvme0n1"), tools) is None
    assert utilization(_node("sda"), tools) is None


class _Cache:
    """A drive with a write cache that can be switched."""

    def __init__(self, obeys: bool = True) -> None:
        self.on, self.obeys = True, obeys

    def nvme_set(self, line: str) -> str:
        self.on = self.on if not self.obeys else line.endswith("=1")
        return "set-feature:0x06"

    def nvme_get(self, _line: str) -> str:
        value = int(self.on)
        return f"get-feature:0x06 (Volatile Write Cache), Current value:0x{value:08x}"

    def ata(self, line: str) -> str:
        if "-W0" in line or "-W1" in line:
            self.on = self.on if not self.obeys else "-W1" in line
        return f"/dev/sda:\n write-caching =  {int(self.on)} (on)"


def _tools(kind: str, cache: _Cache) -> Tools:
    if kind == "nvme":
        return Tools({"set-feature": cache.nvme_set, "get-feature": cache.nvme_get})
    return Tools({"hdparm": cache.ata})


@pytest.mark.parametrize(("kind", "name"), [("nvme", "nvme0n1"), ("sata", "sda")])
def test_the_cache_is_off_and_on_again(tmp_path: Path, kind: str, name: str) -> None:
    """Switched where the drive is told, and left as it was found."""
    cache = _Cache()
    with _permission(tmp_path) as permission:
        system = _system(0, name)
        switch = Switch(permission, _node(name), _identity(kind), system, _tools(kind, cache))
        found = switch.off()
        assert (found.found, found.during, cache.on) == ("on", "off", False)
        switch.restore()
        assert cache.on
        cache.on = False
        found = switch.off()
        assert (found.found, found.during) == ("off", "off")
        switch.restore()
        assert not cache.on


def test_a_cache_that_does_not_obey_is_told(tmp_path: Path) -> None:
    """On during the test; and after it, a drive that stays off is an error with the remedy."""
    with _permission(tmp_path) as permission:
        stubborn = _tools("sata", _Cache(obeys=False))
        system, identity = _system(0, "sda"), _identity("sata")
        switch = Switch(permission, _node("sda"), identity, system, stubborn)
        assert switch.off().during == "on"
        cache = _Cache()
        switch = Switch(permission, _node("sda"), identity, system, _tools("sata", cache))
        switch.off()
        cache.obeys = False
        with pytest.raises(SsdlabError, match="hdparm -W1 /dev/sda"):
            switch.restore()


def test_what_has_no_switch_is_read_from_the_kernel(tmp_path: Path) -> None:
    """A virtual drive's cache stays as it is, and nothing is asked."""
    tools = Tools()
    with _permission(tmp_path) as permission:
        system = _system(0, "vda")
        switch = Switch(permission, _node("vda"), _identity("virtual"), system, tools)
        assert not switch.is_there
        assert switch.off().during == "on"
        switch.restore()
    assert tools.asked == []
