"""``ssdlab attach``: a served drive under file systems of this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from loop_devices import one_at_a_time
from ssdlab.live.client import Client
from test_serve import end, folder, ssdlab, start, stats

pytestmark = pytest.mark.end_to_end

__all__ = ["folder"]

SYSTEMS = {
    "ext4": (["mkfs.ext4", "-q"], ["e2fsck", "-fn"]),
    "xfs": (["mkfs.xfs", "-q"], ["xfs_repair", "-n"]),
    "btrfs": (["mkfs.btrfs", "-q"], ["btrfs", "check"]),
}


def missing(*tools: str) -> str | None:
    """Name what this machine lacks for a block device."""
    if os.geteuid() != 0:
        return "only root makes block devices"
    for device in ("/dev/fuse", "/dev/loop-control"):
        if not Path(device).exists():
            return f"{device} is not here"
    for tool in ("nbdfuse", "losetup", *tools):
        if shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
            return f"{tool} is not here"
    return None


@pytest.fixture
def mount(tmp_path: Path, folder: Path) -> Iterator[Path]:
    """Where a file system may be mounted; it and the device are taken away at the end."""
    place = tmp_path / "mount"
    place.mkdir()
    yield place
    subprocess.run(["umount", str(place)], capture_output=True)
    of_losetup("detach", str(folder))


def run(*words: str) -> str:
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": path}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def of_losetup(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a verb that runs losetup, which the tests of other workers do, too."""
    with one_at_a_time():
        return ssdlab(*words)


def attach(folder: Path) -> str:
    done = of_losetup("attach", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["device"])


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_file_system_lives_on_a_drive(folder: Path, mount: Path, system: str) -> None:
    """It is made, written, trimmed and checked, and the drive has counted that."""
    make, check = SYSTEMS[system]
    if (lacks := missing(make[0], check[0], "fstrim")) is not None:
        pytest.skip(lacks)
    start("theory", "--set", "capacity_bytes=512MiB", "-o", str(folder))
    device = attach(folder)
    run(*make, device)
    run("mount", "-t", system, device, str(mount))
    (mount / "file").write_bytes(os.urandom(20 << 20))
    os.sync()
    written = stats(folder)["counters"]["host_bytes_written"]
    assert written >= 20 << 20
    (mount / "file").unlink()
    os.sync()
    before = stats(folder)["counters"]["host_bytes_trimmed"]
    run("fstrim", str(mount))
    trimmed = stats(folder)["counters"]["host_bytes_trimmed"] - before
    assert trimmed >= 20 << 20, "what the deleted file had is trimmed"
    refused = of_losetup("detach", str(folder))
    assert refused.returncode == 2
    assert f"{device}: is mounted at {mount}" in refused.stderr
    run("umount", str(mount))
    run(*check, device)
    again = of_losetup("attach", str(folder))
    assert f"is attached already, as {device}" in again.stderr
    assert device in of_losetup("detach", str(folder)).stdout


def test_a_flushed_file_outlives_a_power_cut(folder: Path, mount: Path) -> None:
    """Unmount, detach, power on, attach: what was synced is there."""
    if (lacks := missing("mkfs.ext4", "e2fsck")) is not None:
        pytest.skip(lacks)
    words = ("capacity_bytes=256MiB", "buffer.bytes=1MiB", "buffer.power_loss_protected=false")
    start("theory", *(word for each in words for word in ("--set", each)), "-o", str(folder))
    device = attach(folder)
    run("mkfs.ext4", "-q", device)
    client = Client(str(folder))
    for round_ in range(3):
        device = attach(folder) if round_ else device
        run("mount", device, str(mount))
        assert [(mount / f"{old}").read_bytes() for old in range(round_)] == [b"x" * 9999] * round_
        with (mount / f"{round_}").open("wb") as file:
            file.write(b"x" * 9999)
            file.flush()
            os.fsync(file.fileno())
        folder_of_it = os.open(mount, os.O_RDONLY)
        os.fsync(folder_of_it)
        os.close(folder_of_it)
        (mount / "unsynced").write_bytes(os.urandom(1 << 20))
        client.post("/power-cut", seed=round_)
        subprocess.run(["umount", str(mount)], capture_output=True, check=True)
        assert of_losetup("detach", str(folder)).returncode == 0
        client.post("/power-on")
    client.close()


def test_a_misaligned_partition_is_seen_by_the_drive(folder: Path) -> None:
    """From sector 63 on each write of 4 KiB lies in two units, which have to be read first."""
    if (lacks := missing("sfdisk", "partx", "fio")) is not None:
        pytest.skip(lacks)
    start("theory", "--set", "capacity_bytes=512MiB", "-o", str(folder))
    device = attach(folder)
    table = "label: dos\nstart=63, size=131072\nstart=262144, size=131072\n"
    words = ["sfdisk", "--no-reread", "--no-tell-kernel", "-q", device]
    subprocess.run(words, input=table, text=True, check=True)
    run("partx", "-a", device)
    job = ["--rw=randwrite", "--bs=4k", "--io_size=4m", "--direct=1", "--ioengine=libaio"]
    counted = []
    try:
        for part in (1, 2):
            run("fio", "--name=fill", f"--filename={device}p{part}", "--rw=write", "--bs=1m")
            before = stats(folder)["counters"]
            run("fio", "--name=a", f"--filename={device}p{part}", *job)
            after = stats(folder)["counters"]
            names = ("read_modify_writes", "host_pages_written")
            counted.append({name: after[name] - before[name] for name in names})
    finally:
        run("partx", "-d", device)
        of_losetup("detach", str(folder))
    misaligned, aligned = counted
    assert misaligned == {"read_modify_writes": 2048, "host_pages_written": 2048}
    assert aligned == {"read_modify_writes": 0, "host_pages_written": 1024}


def test_a_mirror_heals_what_cannot_be_read(folder: Path, mount: Path) -> None:
    """A scrub of btrfs reads a bad sector, takes the other drive's, and writes it again."""
    if (lacks := missing("mkfs.btrfs", "btrfs")) is not None:
        pytest.skip(lacks)
    other = folder.parent / "other"
    devices = []
    try:
        for each in (folder, other):
            start("theory", "--set", "capacity_bytes=256MiB", "-o", str(each))
            devices.append(attach(each))
        run("mkfs.btrfs", "-q", "-d", "raid1", "-m", "raid1", *devices)
        run("mount", "-t", "btrfs", devices[0], str(mount))
        content = os.urandom(1 << 20)
        (mount / "file").write_bytes(content)
        os.sync()
        at = (folder / "data.img").read_bytes().find(content[8192:12288])
        assert at >= 0, "the bytes lie in the image"
        done = ssdlab("ctl", str(folder), "inject", "media-error", str(at))
        assert done.returncode == 0, done.stderr
        said = run("btrfs", "scrub", "start", "-B", str(mount))
        assert re.search(r"Corrected: +[1-9]", said) and re.search(r"Uncorrectable: +0", said)
        told = run("btrfs", "device", "stats", str(mount))
        assert re.search(rf"\[{devices[0]}\].read_io_errs +[1-9]", told), told
        assert re.search(rf"\[{devices[1]}\].read_io_errs +0", told), told
        again = run("btrfs", "scrub", "start", "-B", str(mount))
        assert "no errors found" in again
        assert (mount / "file").read_bytes() == content
    finally:
        subprocess.run(["umount", str(mount)], capture_output=True)
        if (other / "pid").exists():
            of_losetup("detach", str(other))
            end(other, signal.SIGKILL)


def test_a_device_goes_when_its_server_was_killed(folder: Path, mount: Path) -> None:
    """Nothing is left over, and it can be attached anew."""
    if (lacks := missing()) is not None:
        pytest.skip(lacks)
    start("theory", "--set", "capacity_bytes=64MiB", "-o", str(folder))
    device = attach(folder)
    end(folder, signal.SIGKILL)
    assert device in of_losetup("detach", str(folder)).stdout
    assert not (folder / "attached").exists()
    assert not (folder / "device").exists()
    start(str(folder))
    device = attach(folder)
    detached = of_losetup("detach", str(folder), "--json")
    assert json.loads(detached.stdout) == {"folder": str(folder), "device": device}


def test_what_is_not_served_is_not_attached(tmp_path: Path) -> None:
    """The remedy is named."""
    if (lacks := missing()) is not None:
        pytest.skip(lacks)
    refused = ssdlab("attach", str(tmp_path / "no"))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "ssdlab serve" in refused.stderr
    detached = ssdlab("detach", str(tmp_path))
    assert "is not attached" in detached.stderr
