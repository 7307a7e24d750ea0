"""A served drive as a block device of this machine, by tools that are there: nbdfuse and losetup.

nbdfuse (Debian: libnbd-bin) shows the drive as a file in ``FOLDER/device``, and losetup (mount)
makes a loop device of that file, with the drive's sectors and without the page cache between. What
was attached stands in ``FOLDER/attached``. Left out: nbd-client and ``/dev/nbdN``, which need the
kernel's nbd and do the same faster; FUA, which a loop device turns into flushes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import read_text
from ssdlab.ground.output import PendingFile
from ssdlab.ground.tool import run_to_end
from ssdlab.live.client import Client
from ssdlab.live.served import NBD_SOCKET

_STATE = "attached"
_MOUNT = "device"
_FILE = "disk"
_PATIENCE_S = 20.0
_PACKAGES = {"nbdfuse": "libnbd-bin", "losetup": "mount", "umount": "mount"}
_DEVICES = {"/dev/fuse": "fuse", "/dev/loop-control": "loop"}


@dataclass(frozen=True)
class Attached:
    """How a folder's drive is attached.

    Attributes
    ----------
    device
        The block device.
    process
        That of nbdfuse.
    """

    device: str
    process: int


def attach(folder: Path) -> Attached:
    """Make a served drive a block device.

    Raises
    ------
    SsdlabError
        It is attached already or not served, its power is off, or the machine lacks something.
    """
    _check_machine()
    known = _known(folder)
    if known is not None and _backing(known.device) == _file(folder):
        raise SsdlabError(
            f"{folder}: is attached already, as {known.device}\n"
            f"take it away first: ssdlab detach {folder}"
        )
    client = Client(str(folder))
    try:
        told = client.get("/stats")
    finally:
        client.close()
    if told["power"] == "off":
        raise SsdlabError(f"{folder}: its power is off\nturn it on: ssdlab ctl {folder} power-on")
    _clean(folder)
    process = _show_as_file(folder)
    try:
        words = ["losetup", "--direct-io=on", "-b", str(told["sector_bytes"]), "-f", "--show"]
        device = _done([*words, str(_file(folder))]).strip()
    except SsdlabError:
        _clean(folder)
        raise
    found = Attached(device, process)
    with PendingFile(folder / _STATE) as state:
        state.write(json.dumps(asdict(found)) + "\n")
    return found


def detach(folder: Path) -> str:
    """Take the block device away; return which it was. It works, too, when the server has gone.

    Raises
    ------
    SsdlabError
        It is not attached, or in use.
    """
    known = _known(folder)
    if known is None:
        raise SsdlabError(f"{folder}: is not attached\nattach it: ssdlab attach {folder}")
    if _backing(known.device) == _file(folder):
        for mounted in _mounts_of(known.device):
            raise SsdlabError(
                f"{known.device}: is mounted at {mounted}\nunmount it first: umount {mounted}"
            )
        _done(["losetup", "-d", known.device])
    _clean(folder)
    return known.device


def _file(folder: Path) -> Path:
    return folder.resolve() / _MOUNT / _FILE


def _known(folder: Path) -> Attached | None:
    """Return what was attached, if that is known; it may have gone since."""
    if not (folder / _STATE).exists():
        return None
    try:
        return Attached(**json.loads(read_text(folder / _STATE)))
    except (ValueError, TypeError):
        raise SsdlabError(
            f"{folder / _STATE}: does not say what is attached\n"
            "take the device away (losetup -l shows it, losetup -d), then remove the file"
        ) from None


def _check_machine() -> None:
    for tool, package in _PACKAGES.items():
        if shutil.which(tool) is None and not Path("/usr/sbin", tool).exists():
            raise SsdlabError(f"{tool} is not here\ninstall it: apt-get install {package}")
    for device, module in _DEVICES.items():
        if not Path(device).exists():
            raise SsdlabError(
                f"{device} is not here: the kernel has no {module}, or this container none of it\n"
                f"load it: modprobe {module}; or go on with NBD alone"
            )
    if os.geteuid() != 0:
        raise SsdlabError("only root can make a block device\nrun the command by sudo")


def _backing(device: str) -> Path | None:
    """Return the file below a loop device."""
    place = Path("/sys/class/block") / Path(device).name / "loop/backing_file"
    try:
        return Path(place.read_text().strip())
    except OSError:
        return None


def _mounts_of(device: str) -> list[str]:
    """Return where the device or one of its partitions is mounted."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        source = after.split()[1]
        if source == device or source.startswith(f"{device}p"):
            found.append(before.split()[4].encode().decode("unicode_escape"))
    return found


def _show_as_file(folder: Path) -> int:
    """Start nbdfuse, and wait until its file is there; return its process."""
    mount = folder / _MOUNT
    mount.mkdir(exist_ok=True)
    process = subprocess.Popen(
        ["nbdfuse", str(_file(folder)), "--unix", str((folder / NBD_SOCKET).resolve())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    give_up = time.monotonic() + _PATIENCE_S
    while not _file(folder).exists():
        if process.poll() is not None or time.monotonic() > give_up:
            process.kill()
            _, said = process.communicate()
            _clean(folder)
            raise SsdlabError(
                f"nbdfuse: {said.strip() or 'did not show the drive in time'}\n"
                f"see whether {folder / NBD_SOCKET} answers: nbdinfo --uri or qemu-io"
            )
        time.sleep(0.01)
    # It goes on when this process has ended; Python warns of one that nobody holds.
    _started.append(process)
    return process.pid


_started: list[subprocess.Popen[str]] = []


def _clean(folder: Path) -> None:
    """Take away what shows the drive as a file; nbdfuse ends with it."""
    mount = folder / _MOUNT
    if mount.exists():
        with suppress(OSError):
            mount.rmdir()
    if os.path.lexists(mount):
        _done(["umount", str(mount.resolve())])
        with suppress(OSError):
            mount.rmdir()
    with suppress(OSError):
        (folder / _STATE).unlink()


def _done(words: list[str]) -> str:
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    program = shutil.which(words[0], path=path) or words[0]
    ended = run_to_end([program, *words[1:]], _PATIENCE_S)
    if ended.code != 0:
        raise SsdlabError(f"{' '.join(words)}: {ended.complaint}\nsee what holds the device")
    return ended.output
