"""Remedies do no harm, and places are found as people write them."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest

from builders import array, plain, volumes
from layouts import LAYOUTS
from layouts_deep import cached
from machine import MadeMachine
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit import Finding, Severity, audit
from ssdlab.machine.audit.controllers import family_of
from ssdlab.machine.audit.remedy import Remedy, refused
from ssdlab.machine.verdict import Verdict
from ssdlab.real.device import Device

DESTROYS = re.compile(
    r"pvcreate|--add /dev/NEW|replace start|--fail|sync_action|raid456|luksFormat|mkfs|--repair"
)


def remedies() -> list[tuple[str, Finding, Remedy]]:
    """Give every remedy of every layout."""
    found = [(layout.name, each) for layout in LAYOUTS for each in findings(layout.build())]
    return [(name, each, each.remedy) for name, each in found if each.remedy is not None]


def findings(machine: MadeMachine, *places: str) -> list[Finding]:
    found = audit(machine.system(), places).findings
    return [each for each in found if each.verdict is Verdict.WRONG]


def test_every_finding_has_a_remedy_that_says_all_or_why_not() -> None:
    """What is typed says what it does, what it risks, and how to undo it; else it is refused."""
    assert len(remedies()) > 60
    for name, finding, remedy in remedies():
        if remedy.refused:
            assert remedy.text.startswith("# no remedy is given, because "), name
            assert not remedy.steps and not remedy.does, name
        else:
            assert remedy.does, name
            assert not remedy.steps or (remedy.risk and remedy.undo), (name, finding.check)


def test_what_costs_data_or_redundancy_says_so_first() -> None:
    """The first line of what destroys something says what; nothing encrypted is made anew."""
    destroying = [each for each in remedies() if DESTROYS.search(each[2].commands)]
    assert len(destroying) > 8
    for name, _, remedy in destroying:
        assert remedy.text.startswith("# COSTS "), name
        assert "data" in remedy.costs or "redundancy" in remedy.costs, name
    assert not [name for name, _, remedy in remedies() if "luksFormat" in remedy.commands]


def test_steps_are_one_command_of_the_shell() -> None:
    """A shell takes every remedy as it is printed, and each step waits for the one before."""
    for name, _, remedy in remedies():
        done = subprocess.run(["bash", "-n"], input=remedy.text, text=True, capture_output=True)
        assert done.returncode == 0, (name, done.stderr)
        if len(remedy.steps) > 1:
            assert remedy.commands.count(" &&\n") == len(remedy.steps) - 1
    chain = Remedy("tries", "none", "none", ("false", "echo done"))
    done = subprocess.run(["bash", "-c", chain.text], text=True, capture_output=True)
    assert done.returncode != 0 and "done" not in done.stdout


@pytest.mark.parametrize("place", ["a b", "$(reboot)", "it's", ";reboot;", "&", "`id`"])
def test_names_are_quoted(place: str) -> None:
    """A mount point is one word of the shell, whatever is in its name."""
    escaped = "".join(f"\\{ord(sign):03o}" if sign in " \t\\" else sign for sign in place)
    found = findings(plain(63).mount("sda1", f"/{escaped}"))
    assert found[0].remedy is not None and not found[0].remedy.refused
    assert shlex.split(found[0].remedy.steps[0]) == ["umount", f"/{place}"]


def test_a_member_leaves_an_array_only_if_nothing_is_lost() -> None:
    """Degraded, busy, not redundant, unclean arrays keep their members."""
    states: tuple[dict[str, str], ...] = (
        {"degraded": "1"},
        {"degraded": ""},
        {"sync_action": "resync"},
        {"array_state": "readonly"},
        {"mismatch_cnt": "8"},
        {"level": "raid0"},
        {"level": "linear"},
    )
    for state in states:
        machine = MadeMachine().drive("sda").partition("sda1", "sda", start=63).drive("sdb")
        level = state.pop("level", "raid1")
        machine.array("md0", level, {"sda1": 8, "sdb": 8}, **state).mount("md0", "/")
        found = [each for each in findings(machine) if each.check == "alignment"]
        assert found[0].remedy is not None and found[0].remedy.refused, state
    alone = MadeMachine().drive("sda").partition("sda1", "sda", start=63)
    alone.array("md0", "raid1", {"sda1": 8}).mount("md0", "/")
    remedy = findings(alone)[0].remedy
    assert remedy is not None and "the only member" in remedy.refused
    good = MadeMachine().drive("sda").partition("sda1", "sda", start=63).drive("sdb")
    good.array("md0", "raid1", {"sda1": 8, "sdb": 8}).mount("md0", "/")
    remedy = findings(good)[0].remedy
    assert remedy is not None and remedy.costs.startswith("redundancy")
    assert "degraded" in remedy.steps[-1] and "--add" in remedy.undo


@pytest.mark.parametrize("optimal", ["16773120", "33553920", "4293918720", "0"])
def test_a_false_optimal_size_reaches_no_tool(optimal: str) -> None:
    """The grid follows from chunk and members, whatever the kernel shows."""
    machine = array("raid5", "abcd", optimal_io_size=optimal, discard_max_bytes="1048576")
    machine.volume("dm-0", "md0").mount("dm-0", "/")
    steps = [step for each in findings(machine) if each.remedy for step in each.remedy.steps]
    assert "pvcreate --dataalignment 3072k /dev/NEW" in steps
    mirror = array(optimal_io_size=optimal).volume("dm-0", "md0").mount("dm-0", "/")
    assert findings(mirror) == []


def test_links_folders_and_volumes() -> None:
    """A link is followed, a folder is judged as its mount, a volume is known by LVM's name."""
    machine = volumes().drive("sdb").partition("sdb1", "sdb", start=63).mount("sdb1", "/usr")
    machine.link("/dev/disk/by-id/ata-X", "/dev/sdb").link("/home/link", "/usr/share")
    for place in ("/dev/disk/by-id/ata-X", "/usr/share", "/usr/", "/home/link", "sdb"):
        assert audit(machine.system(), [place]).severity == Severity.RED, place
    for place in ("/dev/vg/dm", "/dev/mapper/vg-dm-0", "/srv/www", "dm-0"):
        assert audit(machine.system(), [place]).severity < Severity.YELLOW, place


def test_places_that_are_on_no_device() -> None:
    """What is not there, or in memory, is said to be so."""
    machine = plain().mount("sda1", "/").elsewhere("/run", "tmpfs").link("/gone", None)
    with pytest.raises(SsdlabError, match="/run/lock: is on tmpfs at /run"):
        audit(machine.system(), ["/run/lock"])
    for place in ("/gone", "/dev/nothing", "/sys/block"):
        with pytest.raises(SsdlabError, match="not a block device or a mounted folder"):
            audit(machine.system(), [place])


def test_the_upper_of_two_mounts_is_meant() -> None:
    """Of two mounts on one place the last one is what is seen there."""
    machine = plain(63).mount("sda1", "/srv").drive("sdb").partition("sdb1", "sdb", start=2048)
    machine.mount("sdb1", "/srv")
    assert audit(machine.system(), ["/srv"]).severity < Severity.YELLOW
    assert audit(machine.system(), ["/srv/data"]).severity < Severity.YELLOW


def test_refusal_is_said_in_json() -> None:
    """A remedy that is refused is one sentence."""
    assert refused("it is not sure").to_dict() == {
        "refused": "no remedy is given, because it is not sure"
    }


CONTROLLERS = (
    ("HPE", "LOGICAL VOLUME", "Smart Array"),
    ("HP", "LOGICAL VOLUME", "Smart Array"),
    ("HPE", "MR416i-p Gen10+", "MegaRAID"),
    ("Lenovo", "RAID 930-8i-2GB", "MegaRAID"),
    ("DELL", "PERC H740P Adp", "MegaRAID"),
    ("FTS", "PRAID EP420i", "MegaRAID"),
    ("IBM", "ServeRAID M5210", "MegaRAID"),
    ("Cisco", "UCSC-MRAID12G", "MegaRAID"),
    ("Intel", "RMS3CC080", "MegaRAID"),
    ("ADAPTEC", "LOGICAL VOLUME", "Adaptec"),
    ("ATA", "DELLBOSS VD", "other"),
    ("ATA", "Samsung SSD 860", None),
    ("ATA", "LSI SSD", None),
    ("HPE", "EG001200JWJNQ", None),
)


@pytest.mark.parametrize("vendor,model,family", CONTROLLERS)
def test_controllers_by_who_sells_them(vendor: str, model: str, family: str | None) -> None:
    """Virtual drives are known by the names of many sellers, and real drives are none."""
    drive = Device("sda", "drive", "/dev/sda", 1, details={"vendor": vendor, "model": model})
    assert family_of(drive) == family


@pytest.mark.parametrize("address,family", [("0:2:0:0", "MegaRAID"), ("0:0:3:0", None)])
def test_controllers_by_driver(address: str, family: str | None) -> None:
    """MegaRAID's driver puts virtual drives on channel 2, whatever they are called."""
    details = {"vendor": "NEC", "model": "X", "driver": "megaraid_sas", "address": address}
    assert family_of(Device("sda", "drive", "/dev/sda", 1, details=details)) == family


@pytest.mark.parametrize("letters,dead", [("AA", 0), ("AD", 1), ("FS", 2)])
def test_legs_of_an_old_mirror(letters: str, dead: int) -> None:
    """The mirror target of older LVM lists its legs before the letters that tell their state."""
    machine = MadeMachine().drive("sda").drive("sdb")
    table = "0 65536 mirror core 2 8192 nosync 2 {0} 0 {1} 0"
    machine.mapped("dm-0", "vg-old", "sda sdb", table, "LVM-old").mount("dm-0", "/srv")
    state = f"vg-old: 0 65536 mirror 2 8:0 8:1 64/64 1 {letters} 1 core"
    found = [each for each in findings(machine.command("dmsetup status", state))]
    assert [each.what for each in found] == [f"{dead} of its legs dead or missing"] * bool(dead)


def test_a_cache_that_gave_up_passing_discards_down() -> None:
    """What the kernel turned off because it could not, its status tells, not its table."""
    state = "0 9 cache 8 1/9 128 1/9 0 0 0 0 0 0 0 2 writethrough no_discard_passdown 2 smq 0 rw -"
    found = findings(cached(state=state, fast=56))
    assert [(each.check, str(each.severity)) for each in found] == [("discard", "red")]
    assert "vg-slow (cache)" in found[0].where


def test_paths_are_not_praised() -> None:
    """Of several paths to one drive it is said that their state was not looked at."""
    machine = MadeMachine().drive("nvme0n1").drive("nvme0c0n1").drive("nvme0c1n1")
    found = audit(machine.mount("nvme0n1", "/").system()).findings
    unseen = [each for each in found if each.verdict is Verdict.NOT_LOOKED_AT]
    assert any(each.where == "/dev/nvme0n1" and "all paths" in each.what for each in unseen)


def test_a_group_with_volumes_in_use_elsewhere_stays_active() -> None:
    """A partition under LVM is not moved while its group is in use on another drive."""
    machine = plain(63).volume("dm-0", "sda1").mount("dm-0", "/srv")
    machine.drive("sdb").volume("dm-1", "sdb").mount("dm-1", "/home")
    found = findings(machine)
    assert found[0].remedy is not None
    assert found[0].remedy.refused.startswith("/dev/mapper/vg-dm-1 of the same group is in use")
