"""How full a drive is: what counts as room, what does not, and what cannot be seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders import array, plain, thin
from machine import GIB, MadeMachine
from ssdlab import engine
from ssdlab.machine.audit import audit
from ssdlab.machine.audit.capture import capture
from ssdlab.machine.audit.checks.spare import check
from ssdlab.machine.audit.cost import cost_of_room
from ssdlab.machine.audit.finding import Finding, Machine, Severity
from ssdlab.machine.audit.room import Room, room_of
from ssdlab.real.reading import read_topology
from ssdlab.real.system import open_root


def look(machine: MadeMachine) -> Machine:
    system = machine.system()
    topology = read_topology(system)
    return Machine(system, topology, frozenset(topology.devices))


def room(machine: MadeMachine, drive: str = "sda", trimmed: bool = True) -> Room:
    seen = look(machine)
    return room_of(seen, seen.topology.devices[drive], lambda _: trimmed)


def spare(machine: MadeMachine) -> Finding:
    (found,) = check(look(machine))
    return found


def whole(free: float | None) -> MadeMachine:
    machine = MadeMachine().drive("sda").partition("sda1", "sda", start=2048, size=64 * GIB)
    return machine.mount("sda1", "/srv", free=free)


def group(pieces: str) -> MadeMachine:
    """Make a drive that is a physical volume of LVM, with a volume of 32 GiB, half of it free."""
    return MadeMachine().drive("sda").volume("dm-0", "sda").mount("dm-0", "/srv").extents(pieces)


@pytest.mark.parametrize("free,severity", [(0.02, "yellow"), (0.05, "yellow"), (0.2, "green")])
def test_a_full_drive_is_found(free: float, severity: str) -> None:
    """What is free in a trimmed file system is spare area, and too little of it is a finding."""
    found = spare(whole(free))
    assert str(found.severity) == severity
    assert f"{free / (1 - free):.0%} of the rest ({64 * free:.1f} GiB free in /srv)" in found.what
    assert found.why == cost_of_room(room(whole(free)).share(64 * GIB))


def test_free_space_without_trim_is_none() -> None:
    """The same file system, of whose free space the drive never hears."""
    machine = whole(0.5).file("/sys/block/sda/queue/discard_max_bytes", "0")
    found = spare(machine)
    assert found.severity == Severity.YELLOW and "spare is only 0% of the rest (none)" in found.what
    never = whole(0.5).file("/etc/systemd/system/timers.target.wants/fstrim.timer", None)
    assert spare(never).severity == Severity.YELLOW
    assert room(whole(0.5), trimmed=False) == Room()


def test_trim_that_is_not_sent_costs_no_data() -> None:
    """Where TRIM would get through, the remedy is to send it, and not to set the drive up anew."""
    found = spare(whole(0.5).file("/etc/systemd/system/timers.target.wants/fstrim.timer", None))
    assert "no TRIM is sent from /srv" in found.what
    assert found.remedy and not found.remedy.costs and "trim schedule" in found.remedy.does


def test_free_space_above_what_cannot_be_seen_is_none() -> None:
    """A layer that may keep discards to itself makes no drive look good."""
    machine = MadeMachine().drive("sda").mapped("dm-0", "odd", "sda", "0 1 odd {below}", "ODD-1")
    assert spare(machine.mount("dm-0", "/srv", free=0.9)).severity == Severity.UNSEEN


def test_a_hot_spare_is_not_looked_at() -> None:
    """It is neither full nor empty as far as anybody tells."""
    machine = array("raid1", "abc").mount("md0", "/")
    machine.file("/sys/block/md0/md/dev-sdc1/state", "spare")
    assert "is a spare of /dev/md0" in room(machine, "sdc").unseen[0]
    assert room(machine, "sda").free > 0 and not room(machine, "sda").unseen


def test_a_drive_in_two_arrays_is_not_looked_at() -> None:
    """Shares of arrays side by side on one drive would add up to more than there is."""
    machine = MadeMachine().drive("sda").drive("sdb")
    for name, place in (("md0", "/"), ("md1", "/srv")):
        machine.array(name, "raid0", {"sda": 0, "sdb": 0}).mount(name, place, free=0.5)
    found = room(machine)
    assert found.bytes == 0 and "several arrays" in found.unseen[0]


@pytest.mark.parametrize("used", [0.25, 0.95])
def test_every_kind_of_room_counts(used: float) -> None:
    """Unpartitioned, unallocated and free space add up, by hand, in percent of the rest."""
    machine = MadeMachine().drive("sda").partition("sda1", "sda", start=2048, size=60 * GIB)
    machine.volume("dm-0", "sda1").mount("dm-0", "/srv", free=1 - used)
    machine.extents(f"sda1,vg,dm,{32 * GIB} sda1,vg,,{28 * GIB}")
    machine.files["/sys/block/dm-0/dm/name"] = "vg-dm"
    found = room(machine)
    assert (found.unpartitioned, found.unallocated) == (4 * GIB, 28 * GIB)
    assert found.free == pytest.approx(32 * GIB * (1 - used), rel=1e-6)
    rest = 32 * used
    assert found.share(64 * GIB) == pytest.approx((64 - rest) / rest, rel=1e-6)


def test_an_array_hands_its_room_to_every_member() -> None:
    """Half of a mirror free is half of each member; so it is of a stripe."""
    for level in ("raid1", "raid10"):
        machine = array(level, "abcd").mount("md0", "/")
        for drive in ("sda", "sdd"):
            assert room(machine, drive).free == pytest.approx(20 * GIB, rel=1e-6)


def test_a_volume_over_two_drives() -> None:
    """Of a volume on two drives each has the share of its pieces."""
    machine = MadeMachine().drive("sda").drive("sdb")
    machine.mapped("dm-0", "vg-a", "sda sdb", "0 9 linear {below} 2048", "LVM-a")
    machine.mount("dm-0", "/srv", free=0.25)
    machine.extents(f"sda,vg,a,{8 * GIB} sda,vg,,{56 * GIB} sdb,vg,a,{24 * GIB} sdb,vg,,{40 * GIB}")
    assert room(machine, "sda").free == pytest.approx(2 * GIB, rel=1e-6)
    assert room(machine, "sdb").free == pytest.approx(6 * GIB, rel=1e-6)


def test_a_thin_pool_tells_what_it_handed_out() -> None:
    """What a pool never gave away is room; without root it is not looked at."""
    machine = thin().extents(f"sda1,vg,pool,{40 * GIB}")
    state = "vg-pool-tpool: 0 67108864 thin-pool 1 10/100 30/40 - rw discard_passdown"
    machine.command("dmsetup status", state)
    assert room(machine).unallocated == 10 * GIB
    # A volume that is not trimmed takes nothing from what was never handed out.
    assert room(machine, trimmed=False).unallocated == 10 * GIB
    kept = thin(passdown=False).extents(f"sda1,vg,pool,{40 * GIB}").command("dmsetup status", state)
    assert room(kept).unallocated == 0 and room(kept).unseen == ()


@pytest.mark.parametrize(
    "machine,reason",
    [
        (plain().partition("sda2", "sda", start=90 * 2**21, size=24 * GIB), "/dev/sda1 is not"),
        (whole(None), "how full /srv is"),
        (group(""), "pvs, which only root may ask"),
        (group(f"sda,vg,other,{64 * GIB}"), "vg/other is not active"),
        (whole(0.5).drive("sdb").mount("sdb", "/srv"), "mounted over /srv"),
        (whole(0.5).drive("sdb").mount("sdb", "/"), "mounted over /srv"),
    ],
)
def test_what_cannot_be_seen_is_said(machine: MadeMachine, reason: str) -> None:
    """Unmounted, silent, hidden and inactive areas count as none, with the reason."""
    found = room(machine)
    assert reason in found.unseen[0] and found.bytes == 0


def test_unseen_areas_are_not_passed() -> None:
    """A drive whose room lies in what was not looked at is neither good nor bad."""
    assert spare(whole(None)).severity == Severity.UNSEEN
    machine = whole(0.5).partition("sda2", "sda", start=2048, size=GIB // 4)
    assert room(machine).unseen == ()


def test_swap_and_rubbish_are_none() -> None:
    """Swap is full, and an answer that cannot be one is not believed."""
    machine = MadeMachine().drive("sda").swap("sda")
    assert room(machine) == Room()
    for answer in ("", "4096", "4096 10 20", "0 0 0", "x y z", "-1 5 5", "4096 " + "9" * 30):
        odd = whole(0.5).command("stat -f -c %S %b %f /srv", answer)
        assert room(odd).free == 0 and room(odd).unseen
    huge = whole(0.5).command("stat -f -c %S %b %f /srv", "4096 999999999999999 999999999999999")
    assert room(huge).free == 64 * GIB and spare(huge).severity == Severity.GREEN


@pytest.mark.parametrize("share", [0.0, 0.04, 0.3])
def test_the_cost_is_the_closed_form(share: float) -> None:
    """Both figures are theory's, with the room as a spare area on top of 7 %."""
    text = cost_of_room(share)
    for each in (share, share + 0.25):
        together = 1.07 * (1 + each) - 1
        pages = engine.theory(together, pages_per_block=128, gc="greedy")["write_amplification"]
        assert f"{each:.0%} on top" in text and f"{pages:.1f}" in text


def test_a_capture_holds_how_full_it_is(tmp_path: Path) -> None:
    """The figures are in the capture, and the audit of it says the same."""
    place = tmp_path / "machine.json"
    place.write_text(capture(whole(0.03).system()), encoding="utf-8")
    assert "stat -f -c %S %b %f /srv" in json.loads(place.read_text())["commands"]
    assert audit(open_root(str(place))).findings == audit(whole(0.03).system()).findings
