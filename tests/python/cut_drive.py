"""A file system on an attached drive whose power is cut, and comes back."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from process import wait_for
from ssdlab.live.client import Client
from test_attach import attach, missing, run
from test_serve import folder, ssdlab, start

__all__ = ["folder"]


class LostError(Exception):
    """What a commit or the file system had promised is not there."""


@dataclass
class Drive:
    """A served drive with a file system, mounted where everyone may look."""

    folder: Path
    mount: Path

    def format(self, system: str = "ext4") -> None:
        """Make a file system and mount it."""
        device = attach(self.folder)
        run(f"mkfs.{system}", "-q", device)
        run("mount", device, str(self.mount))

    def cut(self, seed: int) -> None:
        """Cut the power, and take away what was mounted."""
        client = Client(str(self.folder))
        client.post("/power-cut", seed=seed)
        client.close()

    def come_back(self) -> None:
        """Mount what is left.

        Raises
        ------
        LostError
            It cannot be mounted.
        """
        # Who was killed, or has given up, may still be on its way out.
        umount = ["umount", str(self.mount)]
        wait_for(lambda: subprocess.run(umount, capture_output=True).returncode == 0, "umount")
        assert ssdlab("detach", str(self.folder)).returncode == 0
        client = Client(str(self.folder))
        client.post("/power-on")
        client.close()
        device = attach(self.folder)
        done = subprocess.run(["mount", device, str(self.mount)], capture_output=True, text=True)
        if done.returncode != 0:
            raise LostError(done.stderr)


@contextmanager
def place() -> Iterator[Path]:
    """Make a folder to mount on, which other users may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="ssdlab-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        mount = Path(folder, "mount")
        mount.mkdir()
        try:
            yield mount
        finally:
            subprocess.run(["umount", "--lazy", str(mount)], capture_output=True)


@pytest.fixture
def drive(folder: Path) -> Iterator[Drive]:
    """Name a drive's folder, and where its file system will be mounted."""
    if (lacks := missing("mkfs.ext4", "runuser")) is not None:
        pytest.skip(lacks)
    with place() as mount:
        yield Drive(folder, mount)
    ssdlab("detach", str(folder))


def serve(drive: Drive, protected: str, *words: str, system: str = "ext4") -> None:
    """Serve a small drive, and mount it."""
    protection = f"buffer.power_loss_protected={protected}"
    settings = ("capacity_bytes=512MiB", "buffer.bytes=4MiB", protection)
    given = [word for each in settings for word in ("--set", each)]
    start("theory", *given, *words, "-o", str(drive.folder))
    drive.format(system)
