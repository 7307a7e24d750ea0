"""Loop devices for tests of what writes to real devices; each is detached again."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from process import HANG_S, wait_for
from ssdlab.bench.real.claims import writers
from ssdlab.bench.real.node import find_node

MIB = 1 << 20
SIZE = 64 * MIB


def run(*words: str, given: str = "") -> str:
    """Run a tool that has to succeed."""
    ended = subprocess.run(words, input=given, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{' '.join(words)}: {ended.stderr}"
    return ended.stdout


def need(*tools: str) -> None:
    """Skip the test where a tool is missing."""
    for tool in tools:
        if shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
            pytest.skip(f"{tool} is not here (scripts/install-tools.sh installs it)")


def can_attach() -> bool:
    """Whether this machine lets us attach loop devices."""
    return os.geteuid() == 0 and Path("/dev/loop-control").exists()


@contextmanager
def loop_device(file: Path, size: int = SIZE, sector_bytes: int = 512) -> Iterator[str]:
    """Attach a file, which is made where it is not there; gives the device's node."""
    if not can_attach():
        pytest.skip("loop devices need root and /dev/loop-control")
    need("losetup")
    if not file.exists():
        with file.open("wb") as made:
            made.truncate(size)
    words = ["losetup", "--find", "--show", f"--sector-size={sector_bytes}", str(file)]
    with one_at_a_time():
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        pytest.skip(f"this machine attaches no loop device: {ended.stderr.strip()}")
    device = ended.stdout.strip()
    try:
        yield device
    finally:
        with one_at_a_time():
            run("losetup", "--detach", device)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one losetup run at a time, among all workers.

    Two that look for a free device may both open the same one, and one that detaches has the
    device open for a moment after it is free: a test that has got it meanwhile would be told that
    it is in use.
    """
    with Path(__file__).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def digest(file: Path) -> str:
    """Give a checksum of all that is in a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def memory_file(folder: Path) -> Path:
    """Give where a device's file lies: in memory, where there is room, for its speed.

    It is to be removed again. Folders of two workers may have one name, their processes have not.
    """
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        return memory / f"ssdlab-{folder.name}-{os.getpid()}.img"
    return folder / "device.img"


def start(verb: str, device: str, *words: str) -> subprocess.Popen[str]:
    """Start a verb on a device that it may destroy."""
    line = [sys.executable, "-m", "ssdlab", verb, device, "--destroy", device, *words]
    return subprocess.Popen(line, stderr=subprocess.PIPE, text=True)


def stopped_at(file: Path, number: int, verb: str, device: str, *words: str) -> None:
    """Start the command, and stop or kill it by a signal as soon as a file is there."""
    process = start(verb, device, *words)
    wait_for(file.exists)
    process.send_signal(number)
    process.communicate(timeout=HANG_S)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    wait_for(lambda: is_free(device), "the end of fio")


def is_free(device: str) -> bool:
    """Whether nobody has it open to be written, and no fio loads it, be it only to read."""
    loads = f"--filename={device}".encode()
    return not writers(find_node(device)) and not any(loads in words for words in _commands())


def _commands() -> Iterator[list[bytes]]:
    """Give the words of each process; one that ends meanwhile has none."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield place.read_bytes().split(b"\0")
