"""What is to be said about a drive: what looks right, what looks wrong, what was not looked at.

Limits, unless the family or the user has others: life used 85 % and 95 %; spare left below 16 %
and 11 %; NVMe's own spare threshold and critical warning; an attribute at its threshold; counts of
errors as in `counts`. A hard disk has no life to use up, so that none is missed of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ssdlab.health.counts import counted, judge
from ssdlab.health.finding import (
    DEFAULT_LIMITS,
    WHOLE_DRIVE,
    Finding,
    Limits,
    Severity,
    at_least,
    below,
    left_out,
    open_question,
    worst_first,
)
from ssdlab.health.life import Life, erases_used_percent, vendor_used_percent
from ssdlab.health.report import DriveReport

__all__ = ["DEFAULT_LIMITS", "Finding", "Limits", "Severity", "findings_of", "silence"]

_NVME_WARNINGS = (
    (Severity.CRITICAL, "spare is below its threshold"),
    (Severity.WARNING, "temperature is beyond its threshold"),
    (Severity.CRITICAL, "reliability is degraded by media or internal errors"),
    (Severity.CRITICAL, "media is read-only"),
    (Severity.CRITICAL, "backup of volatile memory has failed (power-loss protection)"),
    (Severity.CRITICAL, "persistent memory region is read-only or unreliable"),
)
_DISAGREEMENT = 10
_VIRTUAL = ("QEMU", "VBOX", "VMware", "Virtual", "Msft", "Google", "Amazon", "Red Hat")
"""How virtual disks begin to name themselves or their vendor."""


def findings_of(
    report: DriveReport,
    life: Life,
    limits: Limits,
    acknowledged: Mapping[str, int],
) -> list[Finding]:
    """Tell everything that is to be said about a drive, the worst first.

    Parameters
    ----------
    report
        What the drive told.
    life
        What follows from it.
    limits
        For life and spare.
    acknowledged
        Counts of errors that are known, by name.
    """
    silent = silence(report)
    if silent is not None:
        return [silent]
    found = [
        *_life(report, life, limits),
        *_spare(report, life, limits),
        *_verdict(report),
        *_nvme(report),
        *_power_loss(report, life),
        *_thresholds(report),
        *counted(report, life.family, acknowledged),
        *_unanswered_commands(report),
    ]
    return worst_first(found)


def silence(report: DriveReport, by_slot: bool = False) -> Finding | None:
    """Make the finding of a drive that tells nothing about its health; None of one that does.

    Parameters
    ----------
    report
        What it told instead.
    by_slot
        Whether disks behind a controller are asked too, so that no disk hides in a RAID volume.
    """
    if report.tells_health:
        return None
    if report.asleep:
        return left_out(WHOLE_DRIVE, "it sleeps and is left asleep")
    if report.model.startswith(_VIRTUAL):
        return left_out(WHOLE_DRIVE, "it is a virtual disk and reports nothing about its health")
    if report.has_smart is False and by_slot:
        return left_out(WHOLE_DRIVE, "it has no SMART, as a RAID volume; read its disks by slot")
    if report.smart_is_on is False:
        remedy = f"smartctl -s on {report.address} switches it on"
        return open_question(WHOLE_DRIVE, f"its SMART is switched off; {remedy}")
    messages = (message.removeprefix(f"{report.device}: ") for message in report.messages)
    said = "; ".join(messages) or "it reports nothing about its health"
    return open_question(
        WHOLE_DRIVE,
        f"{said}; run as root, and name a disk behind a controller by its slot: "
        "ssdlab health /dev/sda -d megaraid,6",
    )


def _verdict(report: DriveReport) -> Iterator[Finding]:
    if report.passed is None:
        if report.nvme is None:
            yield left_out(
                "SMART status", "the drive, or a bridge or controller, did not report it"
            )
    elif report.passed:
        yield Finding(Severity.OK, "SMART status: passed", "")
    else:
        yield Finding(Severity.CRITICAL, "the drive reports failure", "SMART status: not passed")


def _unanswered_commands(report: DriveReport) -> Iterator[Finding]:
    said = f": {'; '.join(report.messages)}" if report.messages else ""
    if report.not_opened:
        reason = f"smartctl could not open or identify the drive (bit 1 of its exit status){said}"
        yield open_question("part of the drive's report", reason)
    elif report.failed_commands:
        reason = f"a SMART command failed (bit 2 of smartctl's exit status){said}"
        yield left_out("part of the drive's report", reason)


def _life(report: DriveReport, life: Life, limits: Limits) -> Iterator[Finding]:
    used = life.used_percent
    if used is None:
        if report.model.startswith(_VIRTUAL):
            yield left_out("life used", "it is a virtual disk and has none")
        elif not report.rotates:
            yield open_question("life used", _why_life_is_unknown(life))
        return
    severity = at_least(used.number, limits.used_warning, limits.used_critical)
    vendor_limit = _vendor_severity(report, life)
    yield Finding(
        max(severity, vendor_limit), f"{used.number:.0f} % of the rated life is used", used.rule
    )
    for derive in (vendor_used_percent, erases_used_percent):
        other = derive(report, life.family)
        if other and abs(other.number - used.number) > _DISAGREEMENT:
            reason = f"{used.rule} says {used.number:.0f} %, {other.rule} says {other.number:.0f} %"
            yield Finding(Severity.WARNING, "two figures of its life disagree", reason)


def _why_life_is_unknown(life: Life) -> str:
    if life.family is None:
        return "it reports no standard indicator, and its model is not in the database"
    return life.family.not_told or f"its family ({life.family.name}) has none that was reported"


def _vendor_severity(report: DriveReport, life: Life) -> Severity:
    """Judge the figure that was used by the vendor's own limits, where it is the vendor's."""
    vendor = vendor_used_percent(report, life.family)
    if vendor is None or vendor != life.used_percent or life.family is None:
        return Severity.OK
    for meaning in life.family.meanings:
        if meaning.means in ("life left", "life used") and meaning.number(report) is not None:
            return judge(meaning, report)
    return Severity.OK


def _spare(report: DriveReport, life: Life, limits: Limits) -> Iterator[Finding]:
    spare = life.spare_percent
    if spare is None:
        nvme = report.nvme
        if nvme is not None and nvme.available_spare == 0:
            yield left_out("spare blocks", "the drive does not report them (0 %, threshold 0 %)")
        return
    severity = below(spare.number, limits.spare_warning, limits.spare_critical)
    threshold = report.nvme.available_spare_threshold if report.nvme else None
    if threshold is not None and spare.number < threshold:
        severity = Severity.CRITICAL
    yield Finding(severity, f"{spare.number:.0f} % of the spare blocks are left", spare.rule)


def _nvme(report: DriveReport) -> Iterator[Finding]:
    warning = report.nvme.critical_warning if report.nvme else None
    if warning == 0:
        yield Finding(Severity.OK, "no NVMe critical warning", "")
    for bit, (severity, what) in enumerate(_NVME_WARNINGS):
        if warning and warning >> bit & 1:
            yield Finding(severity, what, f"NVMe critical warning, bit {bit}")
    if warning and warning >> len(_NVME_WARNINGS):
        yield Finding(Severity.WARNING, "an NVMe critical warning of unknown meaning", f"{warning}")


def _power_loss(report: DriveReport, life: Life) -> Iterator[Finding]:
    for meaning in life.family.of("power-loss protection") if life.family else ():
        number = meaning.number(report)
        if number is None:
            continue
        reason = f"attribute {meaning.id} {meaning.name}: {number}, 100 is good"
        severity = judge(meaning, report)
        said = "has failed its test" if severity else "has passed its test"
        yield Finding(
            Severity.CRITICAL if severity else Severity.OK, f"power-loss protection {said}", reason
        )


def _thresholds(report: DriveReport) -> Iterator[Finding]:
    """Compare attributes with their thresholds; only some of those foretell a failure."""
    compared = [
        attribute
        for attribute in report.attributes.values()
        if attribute.threshold and attribute.value is not None
    ]
    reached = [each for each in compared if (each.value or 0) <= (each.threshold or 0)]
    for attribute in reached:
        aged = attribute.prefailure is False
        kind = "old-age threshold" if aged else "threshold"
        reason = f"value {attribute.value}, {kind} {attribute.threshold}"
        what = f"attribute {attribute.id} {attribute.name} is at its threshold"
        yield Finding(Severity.WARNING if aged else Severity.CRITICAL, what, reason)
    if compared and not reached:
        yield Finding(Severity.OK, f"attributes above their thresholds: {len(compared)}", "")
