"""``audit`` and ``align check`` judge the same layout alike: the rule is in one place."""

from __future__ import annotations

import random

import pytest

from listing_files import RIGHT, text_of
from machine import GIB, MadeMachine
from real_listings import REAL
from ssdlab.machine import align
from ssdlab.machine.align import Geometry, Grid
from ssdlab.machine.align.grid import read_unit
from ssdlab.machine.align.listings import judge, read_listing
from ssdlab.machine.align.reading import from_options
from ssdlab.machine.align.rule import Judgement, judge_byte, worst
from ssdlab.machine.audit import audit
from ssdlab.machine.audit.finding import Finding, Severity
from ssdlab.machine.audit.texts import audit_texts

SEVERITIES = {
    Judgement.MISALIGNED: Severity.RED,
    Judgement.NOT_GOOD_PRACTICE: Severity.YELLOW,
    Judgement.ALIGNED: Severity.GREEN,
}
STARTS = (1, 8, 34, 40, 63, 64, 128, 256, 1985, 2047, 2048, 2056, 4096, 129024, 206848, 616487)
PAYLOADS = (8, 63, 1032, 1985, 2048, 4040, 4096, 32768)
DRAWN = 60


def worst_of(findings: list[Finding]) -> Severity:
    """Give the worst that the audit says of alignment."""
    return max(
        (each.severity for each in findings if each.check == "alignment"), default=Severity.GREEN
    )


def audited(machine: MadeMachine) -> Severity:
    """Give what the audit says of alignment on a machine."""
    return worst_of(audit(machine.system()).findings)


def checked(*layers: str) -> Severity:
    """Give what `align check` says of a layout."""
    return SEVERITIES[align.verdict(align.check(from_options(layers, Geometry()), Grid()))]


def disk(start: int) -> MadeMachine:
    """Make a drive with one partition."""
    return MadeMachine().drive("sda").partition("sda1", "sda", start=start)


@pytest.mark.parametrize("start", STARTS)
def test_a_partition(start: int) -> None:
    """Sector 63 is misaligned, 64 misses what is good practice, 2048 fits: by both verbs."""
    layer = f"partition:start_sector={start}"
    assert checked(layer) == audited(disk(start).mount("sda1", "/srv"))


def test_a_partition_with_layers() -> None:
    """What counts is where the topmost data begin: an inner layer may put an outer one right."""
    chance = random.Random(36)
    seen = set()
    for _ in range(DRAWN):
        start, payload, extent = (chance.choice(each) for each in (STARTS, PAYLOADS, PAYLOADS))
        partition = f"partition:start_sector={start}"
        crypt = f"crypt:format=plain,payload={payload}s"
        volume = f"lvm:pe_start={extent}s"
        on_crypt = disk(start).crypt("dm-0", "sda1", payload=payload)
        found = checked(partition, crypt), audited(on_crypt.mount("dm-0", "/srv"))
        assert found[0] == found[1], (start, payload)
        both = disk(start).crypt("dm-0", "sda1", payload=payload)
        both = both.volume("dm-1", "dm-0", start=extent).mount("dm-1", "/srv")
        assert checked(partition, crypt, volume) == audited(both), (start, payload, extent)
        seen.add(found[0])
    assert seen == set(SEVERITIES.values())


@pytest.mark.parametrize(("level", "disks"), [("0", 2), ("1", 2), ("5", 4), ("6", 5), ("10", 4)])
def test_an_array(level: str, disks: int) -> None:
    """Members' data offset, chunk and stripe count alike; off a stripe single pages still fit."""
    chance = random.Random(level)
    letters = "abcdef"[:disks]
    for _ in range(DRAWN // 4):
        start, offset = chance.choice((63, 64, 2048)), chance.choice((16, 63, 2048, 264192))
        inner = chance.choice((63, 128, 384, 1024, 2048, 3072))
        machine = MadeMachine()
        for letter in letters:
            machine.drive(f"sd{letter}").partition(f"sd{letter}1", f"sd{letter}", start=start)
        attributes = {} if level == "1" else {"chunk_size": "65536"}
        members = {f"sd{letter}1": offset for letter in letters}
        machine.array("md0", f"raid{level}", members, raid_disks=str(disks), **attributes)
        machine.partition("md0p1", "md0", start=inner, size=GIB).mount("md0p1", "/srv")
        chunk = "" if level == "1" else ",chunk=64KiB"
        layers = (
            f"partition:start_sector={start}",
            f"raid:level={level},disks={disks}{chunk},data_offset={offset}s",
            f"partition:start_sector={inner}",
        )
        assert checked(*layers) == audited(machine), (start, offset, inner)


@pytest.mark.parametrize("label", [1984, 1985, 1993, 2049])
def test_a_label_in_a_slice(label: int) -> None:
    """A label that puts its slice at sector 63 right is aligned: on Linux, and as gpart shows it.

    Linux shows the slice and the label's partition side by side; the slice holds no data.
    """
    expected = checked("partition:start_sector=63", f"label:start_sector={label}")
    machine = disk(63).partition("sda5", "sda", start=63 + label, size=10 * GIB)
    assert audited(machine.mount("sda5", "/srv")) == expected
    text = (
        "=>       63  175836465  ada0  MBR  (84G)\n"
        "         63   20971503     1  freebsd  (10G)\n\n"
        "=>       0  20971503  ada0s1  BSD  (10G)\n"
        f"         0      {label}          - free -  (993K)\n"
        f"      {label}   2097152       1  freebsd-ufs  (1.0G)\n"
    )
    assert worst_of(audit_texts({"gpart": text}).findings) == expected
    (listed,) = judge(read_listing(text, "gpart"), Grid())
    assert SEVERITIES[listed.judgement] == expected


def test_what_windows_lists() -> None:
    """Get-Partition's offsets, and its reserved partition, which holds no data."""
    chance = random.Random(7)
    for _ in range(DRAWN):
        starts = [chance.choice(STARTS) * 512 for _ in range(2)]
        kinds = ["Basic", chance.choice(["Basic", "Reserved", "System"])]
        text = "\n\n".join(
            f"PartitionNumber : {number}\nDiskNumber : 0\nOffset : {start}\nSize : 1\nType : {kind}"
            for number, (start, kind) in enumerate(zip(starts, kinds, strict=True), 1)
        )
        (listed,) = judge(read_listing(text, "windows"), Grid())
        found = worst_of(
            [each for each in audit_texts({"windows": text}).findings if each.where != "Windows"]
        )
        assert found == SEVERITIES[listed.judgement], text


def test_a_listing_and_the_same_partitions() -> None:
    """Every recorded listing with exact starts: the audit of a machine that has them agrees."""
    texts = [text_of(name) for name in RIGHT] + [real.text for real in REAL.values()]
    count = 0
    for text in texts:
        listing = read_listing(text, "recorded")
        for listed in judge(listing, Grid()):
            starts = [each.listed.start.byte for each in listed.judged]
            known = [start for start in starts if start is not None]
            if len(known) < len(starts) or not known or listed.listed.unseen:
                continue
            machine = MadeMachine().drive("sda", size=2**50)
            for number, start in enumerate(dict.fromkeys(known), 1):
                machine.partition(f"sda{number}", "sda", start=start // 512, size=512)
                machine.mount(f"sda{number}", f"/{number}")
            assert audited(machine) == SEVERITIES[worst(judge_byte(each) for each in known)]
            assert listed.judgement is worst(judge_byte(each) for each in known)
            count += 1
    assert count > 40


def test_what_check_advises_the_audit_calls_right() -> None:
    """Whatever grid is asked for: the start that a remedy names is green in the audit."""
    for size in ("4KiB", "8KiB", "128KiB", "192KiB"):
        unit = read_unit(size, Geometry())
        for start in (1, 34, 63, 64, 2047):
            found = align.check(
                from_options([f"partition:start_sector={start}"], Geometry()), Grid((unit,))
            )
            for each in found:
                if each.remedy:
                    sector = int(each.remedy.split("sector ")[1].split()[0])
                    assert audited(disk(sector).mount("sda1", "/srv")) is Severity.GREEN
