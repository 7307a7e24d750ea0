"""RAID controllers: whether anybody reads their arrays through, so that errors are found in time.

A patrol read goes over the members one by one, a consistency check over data and parity. A MegaRAID
may leave SSDs out of the patrol ("PR on SSD"); then the consistency check is what reads them.
Adaptec's background check is left out: its answer is not known well enough.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ssdlab.audit.checks.raid_controller import STORCLI, behind_controllers, only_disks
from ssdlab.audit.finding import Finding, Machine, Severity

_SOURCE = (
    "storcli: PR Mode, PR on SSD, CC Operation Mode; Dell OpenManage guide, Set Patrol Read Mode"
)
_OFF = ("disable", "disabled", "off")


def check(machine: Machine) -> Iterator[Finding]:
    """Check patrol read and consistency check of every controller that tells."""
    devices = behind_controllers(machine)
    if not devices:
        return
    disks_only = only_disks(devices)
    for program in STORCLI:
        patrols = _properties(machine, program, "patrolread")
        consistency = _properties(machine, program, "cc")
        for number in sorted(patrols.keys() | consistency.keys()):
            patrol = patrols.get(number, {})
            compared = consistency.get(number, {}).get("CC Operation Mode")
            yield from _judged(f"{program} /c{number}", patrol, compared, disks_only)
        if patrols or consistency:
            return


def _judged(
    controller: str, patrol: dict[str, str], compared: str | None, disks_only: bool
) -> Iterator[Finding]:
    mode, on_ssd = patrol.get("PR Mode"), patrol.get("PR on SSD", "")
    reads_ssd = disks_only or on_ssd.lower() not in (*_OFF, "onlymixed")
    patrolled = mode is not None and mode.lower() not in _OFF and reads_ssd
    checked = compared is not None and compared.lower() not in _OFF
    where = f"{controller.partition(' ')[2]} (patrol {mode or '?'}, on SSDs {on_ssd or '?'}"
    where += f", consistency check {compared or '?'})"
    if patrolled or checked:
        yield Finding("RAID patrol", Severity.GREEN, "the array is read through", where)
    elif mode is None or compared is None:
        return  # What was not seen may be what reads the array.
    else:
        yield _nobody(controller, where)


def _nobody(controller: str, where: str) -> Finding:
    return Finding(
        "RAID patrol",
        Severity.YELLOW,
        "array that nobody reads through",
        where,
        "an error in what is seldom read shows when a member has failed, and then it is too late",
        f"{controller} set cc=conc delay=168",
        _SOURCE,
    )


def _properties(machine: Machine, program: str, subject: str) -> dict[int, dict[str, str]]:
    """Give the properties that each controller tells of a subject, by its number."""
    answer = machine.system.run(program, "/cALL", "show", subject, "J")
    try:
        controllers = json.loads(answer or "")["Controllers"]
        return {
            number: {
                str(each["Ctrl_Prop"]): str(each["Value"])
                for each in controller["Response Data"]["Controller Properties"]
            }
            for number, controller in enumerate(controllers)
        }
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
