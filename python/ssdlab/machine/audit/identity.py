"""Which drive it is: model, firmware, and whether it rotates, as far as it can be told.

What the kernel shows of an ATA drive is cut to SCSI's fields: sixteen characters of the model, and
of the eight of the firmware the last four (the first four where those are blank). smartctl asks the
drive itself and gives whole names, so it is believed where it answers.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ssdlab.real.device import Device, whole
from ssdlab.real.system import System

_SCSI_MODEL_LENGTH = 16
_SSD = re.compile(r"\bSSD|SSD\b|INTEL SSD|SSDSC|NVMe|Solid State", re.IGNORECASE)


@dataclass(frozen=True)
class Identity:
    """What is known of a drive.

    Attributes
    ----------
    model, firmware
        As the drive or the kernel gives them.
    is_cut
        Whether they are SCSI's cut fields of an ATA drive.
    is_ssd
        Whether model or smartctl say that it is an SSD.
    is_asked
        Whether the drive answered smartctl.
    zeroes_after_trim
        Whether it promises that what was trimmed reads as zeroes.
    power_on_hours
        How long it has been on; None where it did not tell.
    """

    model: str
    firmware: str
    is_cut: bool
    is_ssd: bool
    is_asked: bool
    zeroes_after_trim: bool
    power_on_hours: int | None = None


def smartctl_words(drive: Device) -> tuple[str, ...]:
    """Give the command that asks a drive everything, and leaves one asleep that sleeps."""
    return ("smartctl", "--json", "-x", "--nocheck=standby", drive.label)


def identity_of(system: System, drive: Device) -> Identity:
    """Ask a drive; a virtual one has nothing to tell."""
    report = {} if drive.is_virtual else _asked(system, drive)
    model = _text(report, "model_name") or _text(report, "scsi_model_name")
    model = model or drive.details.get("model", "").strip()
    shown = drive.details.get("firmware_rev") or drive.details.get("rev") or ""
    told_firmware = _text(report, "firmware_version") or _text(report, "scsi_revision")
    firmware = told_firmware or shown.strip()
    rate, trim, on = (report.get(key) for key in ("rotation_rate", "trim", "power_on_time"))
    told = trim if isinstance(trim, dict) else {}
    by_name = bool(_SSD.search(model)) and not drive.is_virtual
    return Identity(
        model,
        firmware,
        is_cut=not _text(report, "model_name") and drive.details.get("vendor", "") == "ATA",
        is_ssd=rate == 0 or (by_name and not isinstance(rate, int)),
        is_asked=bool(_text(report, "model_name")),
        zeroes_after_trim=told.get("deterministic") is True and told.get("zeroed") is True,
        power_on_hours=whole(str(on.get("hours"))) if isinstance(on, dict) else None,
    )


def cut_model(model: str) -> str:
    """Cut a model's name as the kernel shows it of an ATA drive.

    Examples
    --------
    >>> cut_model("INTEL SSDSA2CW120G3"), cut_firmware("4PC10302"), cut_firmware("0009")
    ('INTEL SSDSA2CW12', '0302', '0009')
    """
    return model[:_SCSI_MODEL_LENGTH].strip()


def cut_firmware(firmware: str) -> str:
    """Cut a firmware's name as the kernel shows it of an ATA drive."""
    return firmware[4:8].strip() or firmware[:4].strip()


def _asked(system: System, drive: Device) -> dict[str, Any]:
    try:
        report = json.loads(system.run(*smartctl_words(drive)) or "")
    except (ValueError, RecursionError):
        return {}
    return report if isinstance(report, dict) else {}


def _text(report: dict[str, Any], key: str) -> str:
    value = report.get(key)
    return value.strip() if isinstance(value, str) else ""
