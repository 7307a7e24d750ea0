"""RAID controllers: whether anybody reads their arrays through, so that errors are found in time.

A patrol read goes over the members one by one, a consistency check over data and parity. A MegaRAID
may leave SSDs out of the patrol ("PR on SSD"); then the consistency check is what reads them. HPE
calls it surface scan, Adaptec background consistency check or data scrubbing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.machine.audit.checks.raid_controller import by_family
from ssdlab.machine.audit.controllers import (
    ADAPTEC,
    MEGARAID,
    SMART_ARRAY,
    TOOLS,
    arcconf,
    media,
    rows,
    ssacli,
    storcli,
)
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, advice

_SOURCE = (
    "storcli: PR Mode, PR on SSD, CC Operation Mode; Dell OpenManage guide, Set Patrol Read Mode"
)
_HPE_SOURCE = "HPE Smart Storage Administrator CLI: Surface Scan Mode"
_ADAPTEC_SOURCE = "Thomas-Krenn SSD e-book, ch. 3 (data scrubbing); arcconf: DATASCRUB"
_SCRUB = "Background consistency check"
_OFF = ("disable", "disabled", "off")
_ON = ("auto", "manual", "concurrent", "sequential", "enable", "enabled", "on", "idle", "high")
"""What the tools call a patrol, a check or a scan that is on."""


def check(machine: Machine) -> Iterator[Finding]:
    """Check patrol read and consistency check of every controller that tells."""
    for family, devices in by_family(machine).items():
        kind = media(machine.system, family, devices)
        found = []
        if family == MEGARAID:
            found = list(_megaraid(machine, kind))
        elif family == SMART_ARRAY:
            found = list(_smart_array(machine))
        elif family == ADAPTEC:
            found = list(_adaptec(machine))
        behind = ", ".join(device.label for device in devices)
        because = f"{TOOLS[family]} does not report it"
        yield from found or [not_looked_at("RAID patrol", because, behind)]


def _megaraid(machine: Machine, kind: str | None) -> Iterator[Finding]:
    program, patrols = _properties(machine, "patrolread")
    _, consistency = _properties(machine, "cc")
    for number in sorted(patrols.keys() | consistency.keys()):
        patrol = patrols.get(number, {})
        compared = consistency.get(number, {}).get("CC Operation Mode")
        yield _judged(f"{program} /c{number}", patrol, compared, kind)


def _judged(
    controller: str, patrol: dict[str, str], compared: str | None, kind: str | None
) -> Finding:
    mode, on_ssd = patrol.get("PR Mode"), patrol.get("PR on SSD", "")
    where = f"{controller.partition(' ')[2]} (patrol {mode or '?'}, on SSDs {on_ssd or '?'}"
    where += f", consistency check {compared or '?'})"
    for word in (mode, on_ssd, compared):
        if word and word.lower() not in (*_OFF, *_ON, "onlymixed"):
            return _not_understood(word, where)
    is_patrolled = mode is not None and mode.lower() not in _OFF
    leaves_ssds = on_ssd.lower() in (*_OFF, "onlymixed")
    if (is_patrolled and (kind == "disk" or not leaves_ssds)) or _is_on(compared):
        return Finding("RAID patrol", Severity.GREEN, "the array is read through", where)
    if is_patrolled and kind is None:
        because = "the patrol leaves SSDs out; whether there are any is not reported"
        return not_looked_at("RAID patrol", because, where)
    if mode is None or compared is None:
        # What was not seen may be what reads the array.
        return not_looked_at("RAID patrol", "the controller reports only part of it", where)
    return _nobody(controller, where)


def _is_on(mode: str | None) -> bool:
    return mode is not None and mode.lower() not in _OFF


def _nobody(controller: str, where: str) -> Finding:
    remedy = Remedy(
        "lets the controller compare data and parity once a week, one array at a time",
        "none to data; the array is slower meanwhile",
        f"{controller} set cc=off",
        (f"{controller} set cc=conc delay=168",),
    )
    return _unread(where, remedy, _SOURCE)


def _unread(where: str, remedy: Remedy, source: str) -> Finding:
    return Finding(
        "RAID patrol",
        Severity.YELLOW,
        "array that nothing checks",
        where,
        "an error in data that is seldom read shows when a member has failed, which is too late",
        remedy,
        source,
    )


def _not_understood(value: str, where: str) -> Finding:
    because = f"the controller's “{value}” is not understood: on or off was expected"
    return not_looked_at("RAID patrol", because, where)


def _smart_array(machine: Machine) -> Iterator[Finding]:
    program, lines = ssacli(machine.system)
    for slot, _, key, value in lines:
        if key != "Surface Scan Mode":
            continue
        where = f"slot {slot} (surface scan {value})"
        if value.lower() not in (*_OFF, *_ON):
            yield _not_understood(value, where)
        elif value.lower() not in _OFF:
            yield Finding("RAID patrol", Severity.GREEN, "the array is read through", where)
        else:
            remedy = advice(
                f"set the surface scan to idle ({program} ctrl slot={slot} modify ?)",
                "none to data; the array is a little slower when idle for long",
                "set it back to disabled",
            )
            yield _unread(where, remedy, _HPE_SOURCE)


def _adaptec(machine: Machine) -> Iterator[Finding]:
    for controller, lines in arcconf(machine.system, "AD"):
        told = dict(lines)
        mode = told.get(_SCRUB)
        if mode is None:
            continue
        period = told.get(f"{_SCRUB} period", "?")
        where = f"controller {controller} (background check {mode}, period {period} days)"
        if mode.lower() not in (*_OFF, *_ON):
            yield _not_understood(mode, where)
        elif mode.lower() not in _OFF:
            yield Finding("RAID patrol", Severity.GREEN, "the array is read through", where)
        else:
            command = f"arcconf DATASCRUB {controller}"
            remedy = Remedy(
                "lets the controller read and compare all of its arrays every 30 days",
                "none to data; the array is a little slower meanwhile",
                f"{command} off noprompt",
                (f"{command} on noprompt", f"{command} period 30 noprompt"),
            )
            yield _unread(where, remedy, _ADAPTEC_SOURCE)


def _properties(machine: Machine, subject: str) -> tuple[str, dict[int, dict[str, str]]]:
    """Give the properties that each controller tells of a subject, by its number."""
    program, answers = storcli(machine.system, "/cALL", "show", subject)
    told = {}
    for number, answer in enumerate(answers):
        table = rows(answer, "Controller Properties")
        properties = {str(row.get("Ctrl_Prop")): str(row.get("Value")) for row in table}
        if properties:
            told[number] = properties
    return program, told
