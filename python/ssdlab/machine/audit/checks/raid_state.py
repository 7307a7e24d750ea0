"""RAID controllers: whether they, their arrays and the drives behind them are whole.

A degraded array behind a controller is as red as one of md: ``states`` judges both. Left out: the
physical drives of an Adaptec, which arcconf lists in words of every version's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.machine.audit.checks.raid_controller import by_family
from ssdlab.machine.audit.controllers import (
    ADAPTEC,
    MEGARAID,
    PHYSICAL,
    SMART_ARRAY,
    TOOLS,
    arcconf,
    rows,
    ssacli,
    storcli,
)
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.states import StatedPart, judged_state

_CHECK = "RAID state"
_SOURCE = "the states that storcli, ssacli and arcconf print"
_ARRAY = StatedPart(_CHECK, "the array", _SOURCE)
_STRIPES = StatedPart(_CHECK, "a stripe of the array", _SOURCE)
_PHYSICAL = StatedPart(
    _CHECK,
    "a drive behind the controller",
    _SOURCE,
    "has failed or is about to",
    "an array that it belongs to survives without it, if at all, until the next one fails",
    "it has to be replaced; back up first",
)
_CONTROLLER = StatedPart(
    _CHECK,
    "the controller",
    _SOURCE,
    "or its cache has failed",
    "what stands on it may be lost, or is slower",
    "what failed must be judged by the controller's own log",
)
PartState = tuple[StatedPart, str, str]
"""Something with a state, the state, and where it is."""


def check(machine: Machine) -> Iterator[Finding]:
    """Judge every state that the tools of controllers tell."""
    for family, devices in by_family(machine).items():
        behind = ", ".join(device.label for device in devices)
        told = list(_STATES[family](machine)) if family in _STATES else []
        if not told:
            because = f"{TOOLS[family]} does not report the state of its arrays"
            yield not_looked_at(_CHECK, because, behind)
            continue
        found = [each for part, state, where in told for each in judged_state(part, state, where)]
        what = "the controller, its arrays and drives are whole, as far as it reports them"
        yield from found or [Finding(_CHECK, Severity.GREEN, what, behind)]


def _megaraid(machine: Machine) -> Iterator[PartState]:
    _, answers = storcli(machine.system, "/cALL/vALL", "show")
    arrays = [
        (_ARRAY, str(row.get("State", "")), f"/c{number}, virtual drive {row.get('DG/VD', '?')}")
        for number, answer in enumerate(answers)
        for row in rows(answer, "Virtual Drives")
    ]
    yield from arrays
    _, answers = storcli(machine.system, "/cALL/eALL/sALL", "show")
    drives = [
        (_PHYSICAL, str(row.get("State", "")), f"/c{number}, drive {row.get('EID:Slt', '?')}")
        for number, answer in enumerate(answers)
        for row in rows(answer, "Drive Information")
    ]
    yield from drives or [(_PHYSICAL, "", "drives of the arrays")] * bool(arrays)


def _smart_array(machine: Machine) -> Iterator[PartState]:
    _, lines = ssacli(machine.system)
    # Of each logical and physical drive a state is expected: one without is not passed over.
    drives = {
        (slot, place) for slot, place, _, _ in lines if place.startswith((PHYSICAL, "logical"))
    }
    states = [(slot, place, value) for slot, place, key, value in lines if key == "Status"]
    mute = drives - {(slot, place) for slot, place, _ in states}
    for slot, place, state in [*states, *((*each, "") for each in sorted(mute))]:
        part = _PHYSICAL if place.startswith(PHYSICAL) else _ARRAY
        yield part, state, f"slot {slot}, {place}"
    for slot, _, key, value in lines:
        if key in ("Controller Status", "Cache Status"):
            yield _CONTROLLER, value, f"slot {slot}"


def _adaptec(machine: Machine) -> Iterator[PartState]:
    for controller, lines in arcconf(machine.system, "LD"):
        devices: dict[str, dict[str, str]] = {}
        number = ""
        for key, value in lines:
            # Versions write them in small letters or large ones.
            name = key.lower()
            if name.startswith("logical device number"):
                number = name.rpartition(" ")[2]
            if number:
                devices.setdefault(number, {})[name] = value
        for number, told in devices.items():
            where = f"controller {controller}, logical device {number}"
            yield _ARRAY, told.get("status of logical device", ""), where
            stripes = told.get("failed stripes", "No")
            yield _STRIPES, {"yes": "failed", "no": "ok"}.get(stripes.lower(), stripes), where
    for controller, lines in arcconf(machine.system, "AD"):
        for key, value in lines:
            if key == "Controller Status":
                yield _CONTROLLER, value, f"controller {controller}"


_STATES = {MEGARAID: _megaraid, SMART_ARRAY: _smart_array, ADAPTEC: _adaptec}
