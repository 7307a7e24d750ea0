"""The audit: what is wrong is found with its place and remedy, and what is good passes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import encrypted
from layout import Layout
from layouts import LAYOUTS
from machine import MadeMachine
from makers import PUBLIC, PublicMachine
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit import Severity, audit
from ssdlab.machine.audit.capture import capture, scrub
from ssdlab.machine.audit.checks import all_checks
from ssdlab.machine.audit.finding import Check, Machine
from ssdlab.machine.audit.prove_trim import LayerProof, Proof, prove_trim
from ssdlab.machine.verdict import Verdict
from ssdlab.real.reading import read_topology
from ssdlab.real.system import CapturedSystem, open_root

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout.name for layout in LAYOUTS])
def test_layouts(layout: Layout) -> None:
    """Each layout has exactly the findings it should have, with place and remedy."""
    findings = audit(layout.build().system()).findings
    found = [each for each in findings if each.verdict is Verdict.WRONG]
    assert tuple((each.check, str(each.severity)) for each in found) == layout.found
    unseen = {each.check for each in findings if each.verdict is Verdict.NOT_LOOKED_AT}
    assert set(layout.unseen) <= unseen
    if found:
        assert layout.place in found[0].where
        assert found[0].remedy is None or layout.remedy in found[0].remedy.text
        assert all(each.why and each.source for each in found)


def test_good_layouts_say_what_was_looked_at() -> None:
    """Silence does not pass for health: a good layout has green findings."""
    good = [layout for layout in LAYOUTS if not layout.found]
    assert len(good) >= 8
    for layout in good:
        found = audit(layout.build().system()).findings
        assert layout.unseen or any(each.verdict is Verdict.RIGHT for each in found), layout.name


@pytest.mark.parametrize("name,check", all_checks())
def test_every_check_has_a_good_and_a_broken_layout(name: str, check: Check) -> None:
    """No check is without a layout that it passes, in green, and one that it finds broken."""
    found: set[Verdict] = set()
    for layout in LAYOUTS:
        system = layout.build().system()
        topology = read_topology(system)
        machine = Machine(system, topology, frozenset(topology.devices))
        findings = list(check(machine))
        found.update(finding.verdict for finding in findings)
    assert {Verdict.RIGHT, Verdict.WRONG} <= found, name


def test_the_document_has_every_layout() -> None:
    """The tables of docs/reference/audit.md name each layout and say truly where it is shown."""
    root = Path(__file__).parent.parent.parent
    document = (root / "docs/reference/audit.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in document.partition("## Layouts and findings")[2].splitlines()
        if line.startswith("| ") and not line.startswith("| layout")
    ]
    text = (root / "tests/guest/layouts.json").read_text(encoding="utf-8")
    built = {layout["name"]: layout for layout in json.loads(text)["layouts"]}
    made = {layout.name: layout for layout in LAYOUTS}
    assert {row[0] for row in rows} == {*built, *made}
    for name, *cells, guest, captured in rows:
        assert (guest != "–") == (name in built), name
        assert ("mended" in guest) == bool(built.get(name, {}).get("mend")), name
        assert ("proved" in guest) == ("prove" in built.get(name, {})), name
        assert (captured == "yes") == (name in made), name
        for check, severity in made[name].found if name in made else ():
            assert severity in cells[0] and check in cells[0], name


def test_issue_discards_is_no_link() -> None:
    """LVM's issue_discards breaks no chain."""
    machine = next(layout for layout in LAYOUTS if layout.name == "LVM, linear").build()
    machine.file("/etc/lvm/lvm.conf", "devices { issue_discards = 0 }")
    assert not [each for each in audit(machine.system()).findings if each.verdict is Verdict.WRONG]


def test_nothing_is_sent_where_nothing_is_taken() -> None:
    """Of a file system whose device takes no TRIM it is not said that TRIM is sent."""
    machine = next(layout for layout in LAYOUTS if layout.name == "LUKS without discards").build()
    found = audit(machine.system()).findings
    assert "trim schedule" not in {each.check for each in found}
    assert not [each for each in found if each.check == "discard" and each.verdict is Verdict.RIGHT]


def test_only_what_is_asked_about() -> None:
    """A place narrows the audit to what stands under it."""
    machine = MadeMachine().drive("sda").partition("sda1", "sda", start=63).mount("sda1", "/a")
    machine.drive("sdb").partition("sdb1", "sdb", start=2048).mount("sdb1", "/b")
    assert audit(machine.system(), ["/b"]).severity < Severity.YELLOW
    assert audit(machine.system(), ["/dev/sda"]).severity == Severity.RED
    with pytest.raises(SsdlabError, match="there are /a, /b"):
        audit(machine.system(), ["/c"])


def test_without_root_the_unseen_is_said() -> None:
    """Without dmsetup's tables it is said what could not be looked at."""
    system = next(each for each in LAYOUTS if each.name == "LUKS that passes discards").build()
    blind = CapturedSystem(system.files, system.folders, {})
    unseen = [each for each in audit(blind).findings if each.verdict is Verdict.NOT_LOOKED_AT]
    assert any("only root may ask" in each.what for each in unseen)


def test_without_root_no_pool_is_taken_for_a_plain_volume() -> None:
    """A pool may keep discards to itself, and a mirror may lack a leg; only root sees either."""
    system = next(each for each in LAYOUTS if each.name == "thin pool that keeps discards").build()
    found = audit(CapturedSystem(system.files, system.folders, {})).findings
    right = {each.check for each in found if each.verdict is Verdict.RIGHT}
    unseen = {each.check for each in found if each.verdict is Verdict.NOT_LOOKED_AT}
    assert not right & {"discard", "volumes"} and {"discard", "volumes"} <= unseen


def test_a_drive_that_does_not_say_what_it_is() -> None:
    """Without a word of what it is, a drive that takes no discards is not passed as green."""
    machine = MadeMachine().drive("sda", discard_max_bytes="0", device_model="X").mount("sda", "/")
    machine.file("/sys/block/sda/queue/rotational", None)
    found = [each for each in audit(machine.system()).findings if each.check == "discard"]
    assert [each.verdict for each in found] == [Verdict.NOT_LOOKED_AT]


@pytest.mark.parametrize("names,told", [("a", "this drive"), ("ab", "these drives")])
def test_drives_that_smartctl_is_silent_about(names: str, told: str) -> None:
    """Where smartctl is not there, one drive is told as one, and two as several."""
    machine = MadeMachine()
    for name in names:
        drive, partition = f"sd{name}", f"sd{name}1"
        machine.drive(drive).partition(partition, drive, start=2048).mount(partition, f"/{name}")
    (wear,) = (each for each in audit(machine.system()).findings if each.check == "wear")
    assert wear.verdict is Verdict.NOT_LOOKED_AT
    assert f"smartctl reports nothing about {told}: smartctl is not installed" in wear.what
    assert wear.where == ", ".join(f"/dev/sd{name}" for name in names)


def test_a_capture_is_audited_alike(tmp_path: Path) -> None:
    """What is captured gives the findings of the machine, and has no identities."""
    machine = next(each for each in LAYOUTS if each.name == "LUKS without discards").build()
    machine.file("/sys/block/dm-0/dm/uuid", "CRYPT-LUKS2-0123456789abcdef0123456789abcdef-home")
    place = tmp_path / "capture.json"
    place.write_text(capture(machine.system()), encoding="utf-8")
    assert "0123456789abcdef" not in place.read_text(encoding="utf-8")
    again = audit(open_root(str(place)))
    assert again.findings == audit(machine.system()).findings


def test_identities_are_scrubbed() -> None:
    """Serial numbers inside a tool's JSON, world-wide names, UUIDs and the host's name go."""
    text = json.dumps(
        {"smartctl": json.dumps({"serial_number": "S3R3NF0J1", "wwn": {"id": 123456789}})}
    )
    text += " naa.5002538e41700ade 123e4567-e89b-12d3-a456-426614174000 on mybox"
    clean = scrub(text, "mybox")
    for identity in ("S3R3NF0J1", "5002538e41700ade", "123e4567", "mybox"):
        assert identity not in clean


def test_a_capture_names_no_serial_number() -> None:
    """Names below /dev/disk/by-id have the drive's, and /proc/cpuinfo of some boards its own."""
    machine = encrypted().file("/proc/cpuinfo", "Features\t: fp aes\nSerial\t\t: 10000000abcdef01")
    machine.file("/etc/fstab", "/dev/disk/by-id/ata-MADE_SSD_S3Z2NB0K123-part1 / ext4 defaults 0 1")
    kept = capture(machine.system())
    assert "abcdef01" not in kept and "S3Z2NB0K123" not in kept
    assert "Features" in kept and "/dev/disk/by-id/ident" in kept


@pytest.mark.parametrize(
    "drive,wish,severity",
    [
        ("sda", None, Severity.YELLOW),
        ("sda", "-", Severity.YELLOW),
        ("sda", "enable", Severity.GREEN),
        ("nvme0n1", "-", Severity.GREEN),
        ("nvme0n1", "disable", Severity.YELLOW),
    ],
)
def test_debian_s_cron_job_trims_not_every_pool(
    drive: str, wish: str | None, severity: Severity
) -> None:
    """Without a word of its own a pool is trimmed only if all of its drives are NVMe."""
    machine = MadeMachine().drive(drive).elsewhere("/tank", "zfs")
    asked = "zpool get -H -p -o name,property,value ashift,autotrim,health"
    machine.command(asked, "tank\tashift\t12\ntank\tautotrim\toff\ntank\thealth\tONLINE")
    machine.command("zpool list -v -H -P -L", f"tank\t1\t2\n\t/dev/{drive}\t1\t2")
    machine.file("/etc/cron.d/zfsutils-linux", "24 0 1-7 * * root /usr/lib/zfs-linux/trim")
    if wish:
        machine.command("zfs get -H -o value org.debian:periodic-trim tank", wish)
    found = [each for each in audit(machine.system()).findings if each.check == "ZFS"]
    assert max(each.severity for each in found) == severity


def test_zfs_without_a_pool_is_not_asked_about() -> None:
    """The kernel's module has files of its own; only a pool has a folder there."""
    machine = MadeMachine().drive("sda").mount("sda", "/")
    machine.folders["/proc/spl/kstat/zfs"] = ["arcstats", "dbgmsg"]
    assert not [each for each in audit(machine.system()).findings if each.check == "ZFS"]
    machine.folders["/proc/spl/kstat/zfs"].append("tank")
    machine.folders["/proc/spl/kstat/zfs/tank"] = ["state"]
    (found,) = (each for each in audit(machine.system()).findings if each.check == "ZFS")
    assert found.severity == Severity.UNSEEN


def test_a_capture_names_no_server_and_no_password() -> None:
    """Of network mounts only place and kind are kept."""
    machine = next(each for each in LAYOUTS if each.name == "RAID 1").build()
    fstab = "# by bob\n/dev/md0 / ext4 discard 0 1\n//box/share /s cifs user=bob,password=x 0 0"
    machine.file("/etc/fstab", f"{fstab}\nnas.example:/export /n nfs4 sec=krb5 0 0")
    line = "33 1 0:50 / /s rw - cifs //box/share rw,username=bob,addr=10.0.0.7"
    machine.file("/proc/self/mountinfo", f"{machine.files['/proc/self/mountinfo']}{line}\n")
    kept = json.loads(capture(machine.system()))["files"]
    assert kept["/etc/fstab"].splitlines()[1:3] == [
        "/dev/md0 / ext4 discard 0 1",
        "network /s cifs defaults",
    ]
    text = json.dumps(kept)
    for secret in ("bob", "password", "box", "nas.example", "10.0.0.7"):
        assert secret not in text


def test_wrong_roots(command: Command, tmp_path: Path) -> None:
    """What is no captured tree is refused with place and remedy."""
    (tmp_path / "a.json").write_text("{", encoding="utf-8")
    (tmp_path / "b.json").write_text('{"files": []}', encoding="utf-8")
    (tmp_path / "empty").mkdir()
    for name in ("a.json", "b.json", "empty", "absent"):
        code, _, error = command("audit", "--root", name)
        assert code == 2 and name in error, error


def test_exit_codes_and_json(command: Command, tmp_path: Path) -> None:
    """0 all right, 1 yellow, 3 red, 4 not all or nothing looked at; JSON counts."""
    built = {layout.name: layout.build for layout in LAYOUTS} | {"nothing": MadeMachine}
    codes = {"drive with half of its life used": 0, "nobody trims": 1, "partition at sector 63": 3}
    for name, code in (codes | {"RAID 1": 4, "nothing": 4}).items():
        (tmp_path / "m.json").write_text(capture(built[name]().system()), encoding="utf-8")
        found, text, _ = command("audit", "--root", "m.json", "--json")
        content = json.loads(text)
        assert found == code, name
        assert set(content) == {"severity", "summary", "unread", "findings"}
        verdicts = [each["verdict"] for each in content["findings"]]
        for verdict in Verdict:
            assert content["summary"][verdict.key] == verdicts.count(str(verdict))
        found, text, _ = command("audit", "--root", "m.json")
        assert found == code and text.rstrip().endswith("not looked at")


def test_prove_trim_names_the_layer() -> None:
    """The first layer whose counter stands still is where TRIM stops."""
    machine = next(each for each in LAYOUTS if each.name == "LUKS without discards").build()
    for name in ("dm-0", "sda1", "sda"):
        machine.file(f"/sys/class/block/{name}/stat", " ".join("0" * 17))

    def trim(_: str) -> str:
        machine.file("/sys/class/block/dm-0/stat", "0 0 0 0 0 0 0 0 0 0 0 3 0 2048 0 0 0")
        return "/home: 1 MiB trimmed"

    proof = prove_trim(machine.system(), "/home", trim)
    assert proof.stops_at == "/dev/sda1"
    assert [(layer.requests, layer.bytes) for layer in proof.layers] == [(3, 2**20), (0, 0), (0, 0)]
    assert proof.exit_code == 3


def test_prove_trim_asks_first(command: Command) -> None:
    """Without a yes nothing is trimmed, and a captured tree cannot be."""
    code, _, error = command("audit", "--prove-trim", "/nowhere-at-all")
    assert code == 2 and "no mounted file system" in error
    code, _, error = command("audit", "--root", ".", "--prove-trim", "/")
    assert code == 2


def test_prove_trim_through_the_command(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks, and a no changes nothing; after a yes it shows every layer, and what to mend."""
    layers = [
        LayerProof("/dev/mapper/vg-root", "lvm", 0, 0, Verdict.WRONG),
        LayerProof("/dev/sda", "drive", 0, 0, Verdict.NOT_LOOKED_AT),
    ]
    proof = Proof(layers, "not supported", ["/dev/mapper/all"])
    asked: list[str] = []

    def prove(_: object, place: str) -> Proof:
        asked.append(place)
        return proof

    module = sys.modules["ssdlab.cli.audit"]
    monkeypatch.setattr(module, "places_trimmed", lambda *_: (["/home"], []))
    monkeypatch.setattr(module, "prove_trim", prove)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    command("audit", "--prove-trim", "/home")
    assert asked == []
    code, out, _ = command("audit", "--prove-trim", "/home", "--yes")
    assert (code, asked) == (3, ["/home"])
    assert "stops above /dev/mapper/vg-root" in out and "The cause is /dev/mapper/all" in out


@pytest.mark.parametrize("public", PUBLIC, ids=[each.source for each in PUBLIC])
def test_machines_of_several_makers(public: PublicMachine) -> None:
    """What their owners showed is read as what it is."""
    found = audit(public.build().system()).findings
    by_verdict = {
        verdict: [(each.check, each.where) for each in found if each.verdict is verdict]
        for verdict in Verdict
    }
    assert tuple(by_verdict[Verdict.WRONG]) == public.wrong
    assert set(public.right) <= {check for check, _ in by_verdict[Verdict.RIGHT]}
    assert set(public.unseen) <= {check for check, _ in by_verdict[Verdict.NOT_LOOKED_AT]}
