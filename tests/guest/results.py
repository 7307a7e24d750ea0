"""What a guest reported: boots one with the package, its script and its tasks, once a module."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from image import HERE, Missing, build, fetch_kernel
from machine import GuestDrive, Run, boot

_TIMEOUT_S = 1500
"""What takes longer hangs: three, one after the other, took 806 s on two free cores; two at a time
now run side by side."""


class Results(dict[str, dict[str, Any]]):
    """Reports by name; of one that was not reached it says why."""

    def __init__(self, run: Run) -> None:
        super().__init__((report["name"], report) for report in run.reports)
        self._end = run.end

    def __missing__(self, name: str) -> dict[str, Any]:
        """Fail: what was not reached is not passed."""
        pytest.fail(f"{name}: {self._end}", pytrace=False)


def boot_with(
    files: dict[Path, str],
    drives: list[GuestDrive],
    folder: Path,
    *,
    programs: Iterable[str] = (),
    modules: Iterable[str] = (),
    reaches_host: bool = False,
) -> Results:
    """Boot a guest with the package and `files` by their places in it; skip where a tool misses.

    Parameters
    ----------
    files
        Files and folders by their places in the guest.
    drives
        Its drives.
    folder
        Where to work.
    programs, modules
        What it gets beside the usual ones.
    reaches_host
        Whether it has a network, in which 10.0.2.2 is this machine.
    """
    try:
        kernel = fetch_kernel()
        initrd = build(kernel, folder, files.items(), programs, modules)
        run = boot(kernel, initrd, drives, folder, _TIMEOUT_S, reaches_host=reaches_host)
        return Results(run)
    except Missing as missing:
        pytest.skip(str(missing))


def boot_typed(
    items: Mapping[str, Sequence[str]],
    folder: Path,
    programs: Iterable[str],
    more: Mapping[Path, str] | None = None,
) -> Results:
    """Boot a guest that reaches this machine and types lines; its report has them by item.

    Parameters
    ----------
    items
        The lines of each item, in order.
    folder
        Where to work.
    programs
        What it gets beside the usual ones.
    more
        Files by their places in the guest.
    """
    listed = [{"name": name, "lines": [*lines]} for name, lines in items.items()]
    (folder / "lines.json").write_text(json.dumps(listed))
    files = {
        HERE / "inside.py": "/guest/common.py",
        HERE / "inside_nvme_tcp.py": "/guest/inside.py",
        folder / "lines.json": "/guest/lines.json",
        **(more or {}),
    }
    return boot_with(files, [], folder, programs=programs, reaches_host=True)


def fio_job(said: str) -> dict[str, Any]:
    """Return the one job of what fio said in JSON, whatever it said before and behind."""
    (job,) = json.loads(said[said.index("{") : said.rindex("}") + 1])["jobs"]
    found: dict[str, Any] = job
    return found
