"""The drives of this machine, asked through smartctl: read-only, each within a time and a size.

A drive that sleeps is left asleep (``--nocheck=standby``), one that never answers, or answers
without end, is given up.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import GaveUp, answer_of
from ssdlab.real.smart.reading import parse, read_report
from ssdlab.real.smart.report import DriveReport

_TIMEOUT_S = 30.0


class NoDrive(SsdlabError):
    """No drive of this machine can be asked: smartctl is missing, or finds none."""


def scan(smartctl: str = "smartctl", timeout_s: float = _TIMEOUT_S) -> list[list[str]]:
    """Name the drives that smartctl finds, each with the ``-d`` it needs.

    Raises
    ------
    NoDrive
        smartctl is missing, never answers or finds nothing.
    """
    words = [_program(smartctl), "--scan-open", "--json"]
    try:
        content = _ask(words, timeout_s, "smartctl --scan-open")
    except SsdlabError as error:
        raise NoDrive(str(error)) from None
    devices = content.get("devices") if isinstance(content, dict) else None
    found = [
        _arguments(device)
        for device in (devices if isinstance(devices, list) else [])
        if isinstance(device, dict) and isinstance(device.get("name"), str)
    ]
    if not found:
        raise NoDrive(
            "smartctl finds no drive here\nrun as root, or name a device: ssdlab health /dev/sda"
        )
    return found


def _arguments(device: dict[str, object]) -> list[str]:
    kind = device.get("type")
    return [str(device["name"]), *(["-d", kind] if isinstance(kind, str) else [])]


def ask(
    arguments: Sequence[str], smartctl: str = "smartctl", timeout_s: float = _TIMEOUT_S
) -> DriveReport:
    """Ask one drive.

    Parameters
    ----------
    arguments
        The device, and what else smartctl needs to reach it, such as ``-d megaraid,6``.
    smartctl
        The program.
    timeout_s
        Seconds after which it is given up.

    Returns
    -------
    DriveReport
        With messages and nothing else of a drive that sleeps or cannot be opened.

    Raises
    ------
    SsdlabError
        smartctl is missing, never answers, or answers with something else.
    """
    device = arguments[0]
    words = [_program(smartctl), "--json", "-x", "--nocheck=standby", *arguments]
    report = read_report(_ask(words, timeout_s, device), device)
    kind = kind_of(arguments)
    return report if "," in report.kind or not kind else replace(report, kind=kind)


def kind_of(arguments: Sequence[str]) -> str:
    """Give the ``-d`` among the words by which smartctl reaches a drive; empty without one."""
    return arguments[2] if len(arguments) > 2 else ""


def _program(smartctl: str) -> str:
    found = shutil.which(smartctl)
    if found is None:
        raise NoDrive(
            f"{smartctl} was not found\ninstall smartmontools, "
            "or read a report made elsewhere: ssdlab health --from drive.json"
        )
    return found


def _ask(words: Sequence[str], timeout_s: float, what: str) -> object:
    try:
        answer = answer_of(words, timeout_s)
    except OSError as error:
        raise SsdlabError(f"{words[0]}: {error.strerror}") from None
    except GaveUp as reason:
        raise SsdlabError(
            f"{what}: {reason}\n"
            "the drive or its controller hangs; look at the kernel's log: journalctl -k"
        ) from None
    return parse(answer, what)
