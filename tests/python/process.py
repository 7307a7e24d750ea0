"""The command line as its own process, and the ways in which it writes a file."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

JOB = ("--rw=randwrite", "--bs=4k", "--number_ios=100")
SMALL = ("theory", "--set", "capacity_bytes=1GiB")
RUN = ("run", *JOB, "--drive", *SMALL)
HEALTH = ("health", "--from", "drive.json")
SIZING = ("sizing", "--drive", "intel-dc-s3500-80gb", "--writes", "90TB/day", "--years", "9")
LIFETIME = ("lifetime", "theory", "--writes", "1TB/day", "--sequential", "--spare", "20%")
HANG_S = 300
"""What takes longer hangs; nothing that is merely slow comes near it."""

WRITERS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "run -o": lambda place: (*RUN, "-o", place),
    "run --save": lambda place: (*RUN, "--save", place),
    "run --write_iolog": lambda place: (*RUN, f"--write_iolog={place}"),
    "season -o": lambda place: ("season", *SMALL, "--to", "fresh", "-o", place),
    "sizing -o": lambda place: (*SIZING, "-o", place),
    "lifetime -o": lambda place: (*LIFETIME, "-o", place),
    "report -o": lambda place: ("report", "old.json", "-o", place),
    "explain -o": lambda place: ("explain", "-o", place),
    "audit --capture": lambda place: ("audit", "--capture", place),
    "health -o": lambda place: (*HEALTH, "--format", "json", "-o", place),
    "health --history": lambda place: (*HEALTH, "--history", place),
    "health --baseline": lambda place: (*HEALTH, "--acknowledge", "--baseline", place),
}


def wait_for(happened: Callable[[], object], what: str = "it") -> None:
    """Wait until something has happened."""
    end = time.monotonic() + HANG_S
    while not happened():
        assert time.monotonic() < end, f"{what} never happened"
        time.sleep(0.02)


def ssdlab_run(*arguments: str, shell: str = "{}", **more: object) -> tuple[int, str, str]:
    """Run the command in a shell that does something to its streams."""
    quoted = " ".join(f"'{each}'" for each in (sys.executable, "-m", "ssdlab", *arguments))
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {shell.format(quoted)}"],
        capture_output=True,
        timeout=HANG_S,
        **more,  # type: ignore[call-overload]
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def on_terminal(*arguments: str, columns: int, cwd: Path) -> tuple[int, str]:
    """Run the command on a terminal so wide; give its exit code and what stands there at the end.

    Colours are left out, and so are lines that others were written over.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    words = [sys.executable, "-m", "ssdlab", *arguments]
    environment = {**kept, "TERM": "xterm"}
    with subprocess.Popen(
        words, stdin=its, stdout=its, stderr=its, cwd=cwd, env=environment
    ) as run:
        os.close(its)
        written = b""
        # The terminal of a process that has ended gives an error.
        with suppress(OSError):
            while piece := os.read(ours, 4096):
                written += piece
    os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode().replace("\r\n", "\n"))
    return run.returncode, re.sub(r".*\r", "", plain)
