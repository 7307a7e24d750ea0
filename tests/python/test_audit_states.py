"""Arrays, pools and drives that failed are red in every family; words nobody knows are quoted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from builders import adaptec, array, behind, smart_array
from layouts_host import pool
from machine import MadeMachine
from ssdlab.machine.audit import Severity, audit
from ssdlab.machine.audit.finding import Finding
from ssdlab.machine.audit.states import StateKind, state_of
from ssdlab.machine.audit.texts import audit_texts

ARCCONF = ("arcconf GETCONFIG 1 LD", "arcconf GETCONFIG 2 LD", "arcconf GETCONFIG 2 AD")
SSACLI = "ssacli ctrl all show config detail"
HPE_LOGICAL = "Logical Drive: 1\n         Status: {}"
HPE_PHYSICAL = "physicaldrive 1I:1:1\n         Status: {}"
HPE_ARRAY = "Array: A\n      Status: {}"
HPE_CONTROLLER = "Controller Status: {}\n"
HPE_CACHE = "Controller Status: OK\n   Cache Status: {}\n"
DISK = """
DeviceId          : 0
FriendlyName      : Made SSD
MediaType         : SSD
OperationalStatus : {}
HealthStatus      : Healthy
"""
TABLE = """
Number FriendlyName MediaType CanPool OperationalStatus  HealthStatus      Size
------ ------------ --------- ------- -----------------  ------------      ----
0      Made SSD     SSD       False   {:<18} Healthy      465.76 GB
"""
POOLS = """
NAME  PROPERTY  VALUE  SOURCE
tank  health    {}  -
tank  ashift    12     local
tank  autotrim  on     local
"""


def hpe(form: str, state: str) -> MadeMachine:
    """Let a part of a Smart Array, which is good otherwise, be in a state."""
    machine = smart_array("Disabled", "OK", "Idle")
    text, places = machine.commands[SSACLI] or "", (HPE_LOGICAL, HPE_PHYSICAL, HPE_CONTROLLER)
    good = next((each for each in places if each == form), None)
    if good is None:
        good = HPE_CONTROLLER if form == HPE_CACHE else "Array: A"
    assert good.format("OK") in text
    return machine.command(SSACLI, text.replace(good.format("OK"), form.format(state), 1))


def arcconf(key: str, good: str, state: str) -> MadeMachine:
    """Let a word of an Adaptec's second controller be another."""
    machine = adaptec("Disabled", "Disabled", scrub="Enabled")
    model = "   Controller Model"
    for command in ARCCONF[1:]:
        answer = (machine.commands[command] or "").replace(
            model, f"   Controller Status    : Optimal\n{model}"
        )
        lines = [
            line.replace(good, state) if line.strip().startswith(key) else line
            for line in answer.splitlines()
        ]
        machine.command(command, "\n".join(lines))
    return machine


def raid0(state: str) -> MadeMachine:
    """Make an array without redundancy: it has no count of what is missing."""
    machine = array("raid0", array_state=state).mount("md0", "/srv")
    machine.files.pop("/sys/block/md0/md/degraded", None)
    return machine


def of_linux(check: str, machine: MadeMachine) -> list[Finding]:
    return [each for each in audit(machine.system()).findings if each.check == check]


def of_text(check: str, text: str) -> list[Finding]:
    return [each for each in audit_texts({"pasted": text}).findings if each.check == check]


Look = Callable[[str], list[Finding]]
FAMILIES: dict[str, tuple[Look, str, tuple[str, ...]]] = {
    # how it is looked at, its good word, and bad ones
    "storcli, virtual": (
        lambda state: of_linux("RAID state", behind("NRWTD", state=state)),
        "Optl",
        ("Dgrd", "Pdgd", "OfLn", "Rec"),
    ),
    "storcli, physical": (
        lambda state: of_linux("RAID state", behind("NRWTD", physical=state)),
        "Onln",
        ("Failed", "UBad", "Offln", "Msng", "Rbld"),
    ),
    "arcconf, device": (
        lambda state: of_linux("RAID state", arcconf("Status of", "Optimal", state)),
        "Optimal",
        ("Degraded", "Degraded, Rebuilding", "Suboptimal, Fault Tolerant", "Offline", "Failed"),
    ),
    "arcconf, stripes": (
        lambda state: of_linux("RAID state", arcconf("Failed stripes", "No", state)),
        "No",
        ("Yes",),
    ),
    "arcconf, controller": (
        lambda state: of_linux("RAID state", arcconf("Controller Status", "Optimal", state)),
        "Optimal",
        ("Failed",),
    ),
    "ssacli, logical": (
        lambda state: of_linux("RAID state", hpe(HPE_LOGICAL, state)),
        "OK",
        ("Interim Recovery Mode", "Failed", "Recovering, 12.5% complete", "Ready for Rebuild"),
    ),
    "ssacli, physical": (
        lambda state: of_linux("RAID state", hpe(HPE_PHYSICAL, state)),
        "OK",
        ("Predictive Failure", "Failed", "Rebuilding"),
    ),
    "ssacli, array": (
        lambda state: of_linux("RAID state", hpe(HPE_ARRAY, state)),
        "OK",
        ("Failed Physical Drive",),
    ),
    "ssacli, controller": (
        lambda state: of_linux("RAID state", hpe(HPE_CONTROLLER, state)),
        "OK",
        ("Failed",),
    ),
    "ssacli, cache": (
        lambda state: of_linux("RAID state", hpe(HPE_CACHE, state)),
        "Not Configured",
        ("Permanently Disabled",),
    ),
    "zpool": (
        lambda state: of_linux("ZFS", pool(12, "on", health=state)),
        "ONLINE",
        ("DEGRADED", "FAULTED", "UNAVAIL", "REMOVED", "OFFLINE", "SUSPENDED"),
    ),
    "zpool, pasted": (
        lambda state: of_text("ZFS", POOLS.format(state)),
        "ONLINE",
        ("DEGRADED", "FAULTED", "UNAVAIL"),
    ),
    "md, raid0": (
        lambda state: of_linux("arrays", raid0(state)),
        "clean",
        ("broken", "inactive", "suspended"),
    ),
    "md, raid5": (
        lambda state: of_linux("arrays", array("raid5", "abc", array_state=state)),
        "write-pending",
        ("broken", "inactive"),
    ),
    "Windows, list": (
        lambda state: of_text("wear", DISK.format(state)),
        "OK",
        ("Predictive Failure", "Lost Communication", "IO Error", "{OK, Degraded}"),
    ),
    "Windows, table": (
        lambda state: of_text("wear", TABLE.format(state)),
        "OK",
        ("Predictive Failure", "Lost Communication", "IO Error"),
    ),
}
BAD = [(family, state) for family, (_, _, states) in FAMILIES.items() for state in states]


@pytest.mark.parametrize(("family", "state"), BAD)
def test_a_bad_state_is_red(family: str, state: str) -> None:
    """Red, with the tool's own word; no remedy is typed on the strength of it."""
    found = FAMILIES[family][0](state)
    (red,) = (each for each in found if each.severity is Severity.RED)
    words = {"Yes": "failed", "inactive": "not started"}
    assert words.get(state, state) in red.what
    assert red.remedy is not None and red.remedy.refused
    is_rebuilt = state_of(state) is StateKind.REBUILT
    assert ("audit again when it is done" in red.remedy.refused) == is_rebuilt


@pytest.mark.parametrize("family", FAMILIES)
def test_a_good_state_stays_good(family: str) -> None:
    """Nothing is said against what is whole."""
    look, good, _ = FAMILIES[family]
    assert {each.severity for each in look(good)} <= {Severity.GREEN}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("state", ["soon-7", "Optimale"])
def test_a_state_nobody_knows_is_never_fine(family: str, state: str) -> None:
    """It is quoted, and neither good nor bad."""
    look = FAMILIES[family][0]
    found = look(state)
    assert not any(each.severity is Severity.RED for each in found), found
    if family in ("zpool, pasted", "Windows, table", "Windows, list"):
        text = {"zpool, pasted": POOLS, "Windows, table": TABLE}.get(family, DISK).format(state)
        found = of_text("texts", text)
        assert not any("healthy" in each.what for each in look(state))
    assert any(state in each.what for each in found if each.severity is Severity.UNSEEN), found


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("Optimal", StateKind.GOOD),
        ("Degraded, Rebuilding", StateKind.REBUILT),
        ("OK, soon-7", StateKind.UNKNOWN),
        ("Failed, soon-7", StateKind.BAD),
        ("Failed (Replace Batteries)", StateKind.BAD),
        ("{OK}", StateKind.GOOD),
        ("", StateKind.UNKNOWN),
        ("12% complete", StateKind.UNKNOWN),
    ],
)
def test_the_worst_of_several_words(told: str, kind: StateKind) -> None:
    """A known bad word counts beside an unknown one, an unknown one beside a good one."""
    assert state_of(told) is kind


@pytest.mark.parametrize("text", [DISK, TABLE])
@pytest.mark.parametrize("status", ["Unknown", "Starting", "In Service"])
def test_a_status_of_windows_that_says_neither(text: str, status: str) -> None:
    """A documented word that is neither good nor bad hides no verdict of HealthStatus."""
    (told,) = of_text("wear", text.format(status))
    assert told.severity is Severity.UNSEEN and status in told.what
    ill = text.format(status).replace("Healthy  ", "Unhealthy").replace(": Healthy", ": Unhealthy")
    assert Severity.RED in {each.severity for each in of_text("wear", ill)}


def test_states_that_are_not_told() -> None:
    """A virtual drive, its drives, a logical device or a pool without a state is not looked at."""
    mute = behind("NRWTD")
    mute.commands["storcli64 /cALL/eALL/sALL show J"] = None
    for machine in (mute, behind("NRWTD", state=""), behind("NRWTD", physical="")):
        assert {each.severity for each in of_linux("RAID state", machine)} == {Severity.UNSEEN}
    renamed = smart_array("Disabled", "OK", "Idle")
    answer = (renamed.commands[SSACLI] or "").replace("  Status:", "  Condition:")
    renamed.command(SSACLI, answer)
    assert {each.severity for each in of_linux("RAID state", renamed)} == {Severity.UNSEEN}
    told = of_text("ZFS", POOLS.replace("health ", "guid   ").format(7))
    assert any("the state of the pool is not reported" in each.what for each in told)
