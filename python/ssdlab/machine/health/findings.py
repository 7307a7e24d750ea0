"""What is to be said about a drive: what looks right, what looks wrong, what was not looked at.

Limits, unless the family or the user has others: life used 85 % and 95 %; spare left below 16 %
and 11 %; NVMe's own spare threshold and critical warning; an attribute at its threshold; counts of
errors as in `counts`; firmware as in `known_faults`. What the reader did not understand leaves
health open. A hard disk has no life to use up, so that none is missed of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ssdlab.machine.health.counts import counted, judge
from ssdlab.machine.health.finding import (
    DEFAULT_LIMITS,
    WHOLE_DRIVE,
    HealthFinding,
    HealthLimits,
    HealthSeverity,
    at_least,
    below,
    left_out,
    open_question,
    worst_first,
)
from ssdlab.machine.known_faults import LOOKED_UP, faults_of
from ssdlab.real.smart.life import Life, erases_used_percent, unlikely, vendor_used_percent
from ssdlab.real.smart.report import Attribute, DriveReport
from ssdlab.real.smart.smartctl import COMMAND

__all__ = [
    "DEFAULT_LIMITS",
    "HealthFinding",
    "HealthLimits",
    "HealthSeverity",
    "findings_of",
    "silence",
]

_NVME_WARNINGS = (
    (HealthSeverity.CRITICAL, "spare is below its threshold"),
    (HealthSeverity.WARNING, "temperature is beyond its threshold"),
    (HealthSeverity.CRITICAL, "reliability is degraded by media or internal errors"),
    (HealthSeverity.CRITICAL, "media is read-only"),
    (HealthSeverity.CRITICAL, "backup of volatile memory has failed (power-loss protection)"),
    (HealthSeverity.CRITICAL, "persistent memory region is read-only or unreliable"),
)
_TOO_HOT_CELSIUS = 70
"""Where NVMe recommends that a drive warns (343 K), and the end of Intel's range for DC drives."""
_DISAGREEMENT = 10
_VIRTUAL = ("QEMU", "VBOX", "VMware", "Virtual", "Msft", "Google", "Amazon", "Red Hat")
"""How virtual disks begin to name themselves or their vendor."""


def findings_of(
    report: DriveReport,
    life: Life,
    limits: HealthLimits,
    acknowledged: Mapping[str, int],
    *,
    with_firmware: bool = True,
) -> list[HealthFinding]:
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
    with_firmware
        Whether known faults of the firmware are told; the audit has a check of its own for them.
    """
    silent = silence(report)
    if silent is not None:
        return [silent]
    found = [
        *_not_understood(report),
        *_life(report, life, limits),
        *_spare(report, life, limits),
        *_verdict(report),
        *_nvme(report),
        *_temperature(report),
        *_power_loss(report, life),
        *_thresholds(report),
        *_missing(report),
        *counted(report, life.family, acknowledged),
        *(_firmware(report) if with_firmware else ()),
        *_exit_status(report),
        *_unanswered_commands(report),
    ]
    return worst_first(found)


def silence(report: DriveReport, by_slot: bool = False) -> HealthFinding | None:
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
    if report.unread:
        return open_question(WHOLE_DRIVE, report.unread[0].told())
    return open_question(WHOLE_DRIVE, _why_silent(report))


def _why_silent(report: DriveReport) -> str:
    """Say why a report has nothing about health, and what to do."""
    messages = (message.removeprefix(f"{report.device}: ") for message in report.messages)
    said = "; ".join(messages)
    identity_alone = report.protocol in ("ATA", "NVMe") and report.model and not report.not_opened
    if said or not identity_alone:
        return (
            f"{said or 'it reports nothing about its health'}; run as root, and name a disk behind "
            "a controller by its slot: ssdlab health /dev/sda -d megaraid,6"
        )
    asked = f" ({' '.join(report.asked)})" if report.asked else ""
    return (
        f"the report ({report.form}) identifies the drive and says nothing about its "
        f"health{asked}; ask for all of it: {COMMAND} {report.device}"
    )


def _not_understood(report: DriveReport) -> Iterator[HealthFinding]:
    for each in report.unread:
        said = each.told().removeprefix(f"{each.where} is not understood: ")
        yield open_question(each.where, f"it is not understood: {said}")


def _firmware(report: DriveReport) -> Iterator[HealthFinding]:
    """Compare model and firmware with the list of known faults."""
    if report.rotates or report.model.startswith(_VIRTUAL):
        return
    if not report.model or not report.firmware:
        missing = " and ".join(
            name
            for name, told in (("model", report.model), ("firmware", report.firmware))
            if not told
        )
        yield left_out("known faults of the firmware", f"the report does not name the {missing}")
        return
    faults = faults_of(report.model, report.firmware)
    for fault in faults:
        told = fault.sentence(report.model, report.firmware, report.power_on_hours)
        if fault.link:
            yield left_out("known faults of the firmware", f"{told}; ssdlab audit checks that")
        else:
            severity = (
                HealthSeverity.CRITICAL if fault.severity == "red" else HealthSeverity.WARNING
            )
            yield HealthFinding(severity, told, f"{fault.remedy}; source: {fault.source}")
    if not faults:
        yield HealthFinding(
            HealthSeverity.OK,
            f"no fault is known of its firmware {report.firmware}",
            f"list of {LOOKED_UP}",
        )
    for warning in report.warnings:
        yield HealthFinding(
            HealthSeverity.WARNING, "smartctl's drive database warns of this drive", warning
        )


def _exit_status(report: DriveReport) -> Iterator[HealthFinding]:
    """Tell what smartctl's exit status says and nothing else in the report shows."""
    failing = any(map(_has_failed, report.attributes.values()))
    said = {
        3: (
            HealthSeverity.CRITICAL,
            "smartctl says that the drive is failing",
            report.passed is False,
        ),
        4: (
            HealthSeverity.CRITICAL,
            "smartctl says that an attribute has reached its threshold",
            failing,
        ),
        7: (
            HealthSeverity.WARNING,
            "smartctl says that the drive's log has failed self-tests",
            report.failed_self_tests is not None,
        ),
    }
    for bit in report.exit_says:
        severity, what, is_told = said[bit]
        if not is_told:
            yield HealthFinding(severity, what, f"bit {bit} of its exit status")


def _verdict(report: DriveReport) -> Iterator[HealthFinding]:
    if report.passed is None:
        if report.nvme is None:
            yield left_out(
                "SMART status", "the drive, or a bridge or controller, did not report it"
            )
    elif report.passed:
        yield HealthFinding(HealthSeverity.OK, "SMART status: passed", "")
    else:
        yield HealthFinding(
            HealthSeverity.CRITICAL, "the drive reports failure", "SMART status: not passed"
        )


def _unanswered_commands(report: DriveReport) -> Iterator[HealthFinding]:
    said = f": {'; '.join(report.messages)}" if report.messages else ""
    if report.not_opened:
        reason = f"smartctl could not open or identify the drive (bit 1 of its exit status){said}"
        yield open_question("part of the drive's report", reason)
    elif report.failed_commands:
        reason = f"a SMART command failed (bit 2 of smartctl's exit status){said}"
        yield left_out("part of the drive's report", reason)


def _life(report: DriveReport, life: Life, limits: HealthLimits) -> Iterator[HealthFinding]:
    used = life.used_percent
    if used is None:
        if report.model.startswith(_VIRTUAL):
            yield left_out("life used", "it is a virtual disk and has none")
        elif not report.rotates:
            yield open_question("life used", _why_life_is_unknown(report, life))
        return
    severity = at_least(used.number, limits.used_warning, limits.used_critical)
    vendor_limit = _vendor_severity(report, life)
    yield HealthFinding(
        max(severity, vendor_limit), f"{used.number:.0f} % of the rated life is used", used.rule
    )
    for derive in (vendor_used_percent, erases_used_percent):
        other = derive(report, life.family)
        if other and abs(other.number - used.number) > _DISAGREEMENT:
            reason = f"{used.rule} says {used.number:.0f} %, {other.rule} says {other.number:.0f} %"
            yield HealthFinding(HealthSeverity.WARNING, "two figures of its life disagree", reason)


def _why_life_is_unknown(report: DriveReport, life: Life) -> str:
    if absurd := unlikely(report, life.family, "life left", "life used"):
        return absurd
    if life.family is None:
        return "it reports no standard indicator, and its model is not in the database"
    return life.family.not_told or f"its family ({life.family.name}) has none that was reported"


def _vendor_severity(report: DriveReport, life: Life) -> HealthSeverity:
    """Judge the figure that was used by the vendor's own limits, where it is the vendor's."""
    vendor = vendor_used_percent(report, life.family)
    if vendor is None or vendor != life.used_percent or life.family is None:
        return HealthSeverity.OK
    for meaning in life.family.meanings:
        if meaning.means in ("life left", "life used") and meaning.number(report) is not None:
            return judge(meaning, report)
    return HealthSeverity.OK


def _spare(report: DriveReport, life: Life, limits: HealthLimits) -> Iterator[HealthFinding]:
    spare = life.spare_percent
    if spare is None:
        nvme = report.nvme
        if absurd := unlikely(report, life.family, "spare left"):
            yield open_question("spare blocks", absurd)
        if nvme is not None and nvme.available_spare == 0:
            yield left_out("spare blocks", "the drive does not report them (0 %, threshold 0 %)")
        return
    severity = below(spare.number, limits.spare_warning, limits.spare_critical)
    threshold = report.nvme.available_spare_threshold if report.nvme else None
    if threshold is not None and spare.number < threshold:
        severity = HealthSeverity.CRITICAL
    said = f"{spare.number:.0f} % of the spare blocks are left"
    if threshold is not None and spare.number < threshold:
        said += f", below the drive's own threshold of {threshold} %"
    yield HealthFinding(severity, said, spare.rule)


def _nvme(report: DriveReport) -> Iterator[HealthFinding]:
    health = report.nvme
    if health is None:
        return
    warning = health.critical_warning
    if warning == 0:
        yield HealthFinding(HealthSeverity.OK, "no NVMe critical warning", "")
    yield from _warnings(warning or 0, "NVMe critical warning", "")
    of_groups = "of an endurance group: "
    yield from _warnings(health.endurance_group_warning or 0, "endurance group warning", of_groups)
    needed = {
        "NVMe critical warning": warning,
        "NVMe available spare": health.available_spare,
        "NVMe available spare threshold": health.available_spare_threshold,
        "NVMe media errors": health.media_errors,
    }
    for name, number in needed.items():
        if number is None:
            yield open_question(
                name, "the report lacks this field, which every NVMe health log has"
            )


def _temperature(report: DriveReport) -> Iterator[HealthFinding]:
    """Judge the temperature of drives that, other than NVMe's, do not say that they are too hot."""
    celsius = report.temperature_celsius
    if celsius is None or report.nvme is not None or report.rotates:
        return
    if celsius >= _TOO_HOT_CELSIUS:
        what = f"{celsius:g} °C; from {_TOO_HOT_CELSIUS} °C on it is too hot"
        yield HealthFinding(HealthSeverity.WARNING, what, "temperature")


def _warnings(warning: int, name: str, of_what: str) -> Iterator[HealthFinding]:
    for bit, (severity, what) in enumerate(_NVME_WARNINGS):
        if warning >> bit & 1:
            yield HealthFinding(severity, f"{of_what}{what}", f"{name}, bit {bit}")
    if warning >> len(_NVME_WARNINGS):
        what = f"{of_what}a warning whose meaning is not known here"
        yield HealthFinding(HealthSeverity.CRITICAL, what, f"{name}: {warning}")


def _power_loss(report: DriveReport, life: Life) -> Iterator[HealthFinding]:
    for meaning in life.family.of("power-loss protection") if life.family else ():
        number = meaning.number(report)
        if number is None:
            continue
        reason = f"attribute {meaning.id} {meaning.name}: {number}, 100 is good"
        severity = judge(meaning, report)
        said = "has failed its test" if severity else "has passed its test"
        yield HealthFinding(
            HealthSeverity.CRITICAL if severity else HealthSeverity.OK,
            f"power-loss protection {said}",
            reason,
        )


def _thresholds(report: DriveReport) -> Iterator[HealthFinding]:
    """Compare attributes with their thresholds; only some of those foretell a failure."""
    compared = [
        attribute
        for attribute in report.attributes.values()
        if (attribute.threshold and attribute.value is not None) or attribute.when_failed == "now"
    ]
    reached = [each for each in compared if _has_failed(each)]
    for attribute in reached:
        aged = attribute.prefailure is False
        kind = "old-age threshold" if aged else "threshold"
        reason = f"value {attribute.value}, {kind} {attribute.threshold}"
        what = f"attribute {attribute.id} {attribute.name} is at its threshold"
        yield HealthFinding(
            HealthSeverity.WARNING if aged else HealthSeverity.CRITICAL, what, reason
        )
    for attribute in report.attributes.values():
        if attribute.when_failed == "past" and attribute.prefailure and attribute not in reached:
            what = f"attribute {attribute.id} {attribute.name} was at its threshold in the past"
            reason = f"worst value {attribute.worst}, threshold {attribute.threshold}"
            yield HealthFinding(HealthSeverity.WARNING, what, reason)
    if compared and not reached:
        count = len(compared)
        what = (
            "the one attribute that has a threshold is"
            if count == 1
            else f"all {count} attributes that have a threshold are"
        )
        yield HealthFinding(HealthSeverity.OK, f"{what} above it", "")


def _missing(report: DriveReport) -> Iterator[HealthFinding]:
    """Say what every drive of a protocol can tell, and this report does not have."""
    scsi = (report.scsi_endurance_used, report.scsi_grown_defects, report.scsi_uncorrected)
    if report.protocol == "ATA" and not report.attributes and not report.statistics:
        yield open_question("attributes", f"the report has none; ask for all: {COMMAND} /dev/sda")
    elif report.protocol == "SCSI" and all(each is None for each in scsi):
        because = f"the report has neither; ask for all: {COMMAND} /dev/sda"
        yield open_question("defects and errors", because)


def _has_failed(attribute: Attribute) -> bool:
    if attribute.when_failed == "now":
        return True
    value, threshold = attribute.value, attribute.threshold
    return bool(threshold) and value is not None and value <= (threshold or 0)
