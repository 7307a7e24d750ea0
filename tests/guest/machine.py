"""A guest: QEMU without hardware help, drives of sparse files, results over a serial line.

Booting takes some seconds under emulation, so one boot does many things: a script in the guest
writes one JSON object a line to its second serial port, which is a file here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from image import Kernel, Missing

_MEMORY_MIB = 1024
# On a busy machine an emulated timer can be too slow for the kernel's test of it, a panic.
_CLOCK = "no_timer_check"
# The guest trusts all that runs in it: memory need not be cleared, nor copies be checked.
_TRUSTING = "mitigations=off init_on_alloc=0 hardened_usercopy=off audit=0 cgroup_disable=memory"
# QEMU 7.2 emulates cmpxchg16b wrongly, on which newer kernels fail. AES as any server's CPU has it.
_CPU = "qemu64,-cx16,+aes"


@dataclass(frozen=True)
class GuestDrive:
    """A virtual drive.

    Attributes
    ----------
    size_mib
        Its size.
    discard
        Whether it takes discards.
    controllers
        NVMe controllers through which it is reached, as one namespace; 0: it is no NVMe drive.
    """

    size_mib: int = 96
    discard: bool = True
    controllers: int = 0


@dataclass(frozen=True)
class Run:
    """What became of a guest.

    Attributes
    ----------
    reports
        The objects that it wrote, in order; one cut short is left out.
    end
        How it ended, with its console's last lines, for what it did not get to.
    """

    reports: list[dict[str, Any]]
    end: str


def boot(
    kernel: Kernel,
    initrd: Path,
    drives: list[GuestDrive],
    folder: Path,
    timeout_s: float,
    *,
    reaches_host: bool = False,
) -> Run:
    """Boot a guest, wait until it powers off or its time is over, and give what it reported.

    Parameters
    ----------
    reaches_host
        It has a network card, behind which 10.0.2.2 is this machine.

    Raises
    ------
    Missing
        QEMU is not installed.
    """
    program = shutil.which("qemu-system-x86_64")
    if program is None:
        raise Missing("qemu-system-x86_64 is not installed: run scripts/install-tools.sh")
    results, console = folder / "results.jsonl", folder / "console.log"
    words = [
        program, "-M", "q35,accel=tcg", "-cpu", _CPU, "-smp", "1", "-m", str(_MEMORY_MIB),
        "-nodefaults", "-no-reboot", "-display", "none",
        "-nic", "user,model=virtio-net-pci,restrict=off" if reaches_host else "none",
        "-kernel", str(kernel.image), "-initrd", str(initrd),
        "-append", f"console=ttyS0 panic=-1 quiet loglevel=4 {_TRUSTING} {_CLOCK}",
        "-serial", f"file:{console}", "-serial", f"file:{results}",
        *(word for number, drive in enumerate(drives) for word in _drive(folder, number, drive)),
    ]  # fmt: skip
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, timeout=timeout_s, check=False)
        end = f"the guest ended before this (qemu's exit code {done.returncode})"
    except subprocess.TimeoutExpired:
        end = f"the guest was stopped after {timeout_s:.0f} s, before it got to this"
    return Run(list(_whole_lines(results)), f"{end}; its console:\n{tail(console)}")


def _whole_lines(results: Path) -> Iterator[dict[str, Any]]:
    text = results.read_text(encoding="utf-8", errors="replace") if results.exists() else ""
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def _drive(folder: Path, number: int, drive: GuestDrive) -> list[str]:
    image = folder / f"drive{number}.raw"
    with image.open("wb") as file:
        file.truncate(drive.size_mib << 20)
    unmap = "unmap" if drive.discard else "ignore"
    taken = "on" if drive.discard else "off"
    # A full disk must fail the write: by default QEMU would stop the guest without a message.
    how = f"discard={unmap},cache=unsafe,werror=report"
    words = ["-drive", f"file={image},format=raw,if=none,id=d{number},{how}"]
    if not drive.controllers:
        return [*words, "-device", f"virtio-blk-pci,drive=d{number},discard={taken}"]
    words += ["-device", f"nvme-subsys,id=s{number}"]
    for controller in range(drive.controllers):
        words += ["-device", f"nvme,id=n{controller},serial=made,subsys=s{number}"]
    return [*words, "-device", f"nvme-ns,drive=d{number},bus=n0,shared=on"]


def tail(console: Path, lines: int = 30) -> str:
    """Give the last lines that a guest wrote to its console."""
    text = console.read_text(encoding="utf-8", errors="replace") if console.exists() else ""
    return "\n".join(text.splitlines()[-lines:])
