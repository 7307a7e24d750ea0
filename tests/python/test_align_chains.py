"""What `ssdlab align commands` prints: the layers given, in order, each on what the last one made.

ZFS, FreeBSD and Windows lines are golden texts, read up in the manual pages that they name; they
say themselves that they are untried.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence

import pytest

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine import align
from ssdlab.machine.align import Geometry, Grid, Layout, Lines
from ssdlab.machine.align.grid import read_drive, read_unit
from ssdlab.machine.align.reading import from_options

Command = Callable[..., tuple[int, str, str]]
MIB = 2**20
PARTITION = "partition:start=1MiB"
CHAIN = (PARTITION, "raid:level=1", "crypt", "lvm", "filesystem:type=ext4")
TOOLS = {
    "partition": "sfdisk",
    "raid": "mdadm",
    "crypt": "cryptsetup",
    "lvm": "lvm",
    "filesystem": "mkfs.",
}


def layout(*options: str) -> Layout:
    return from_options(options, Geometry())


def typed(*options: str, devices: Sequence[str] = (), **how: bool) -> list[str]:
    plan = align.plan(layout(*options), Grid(), devices, **how)
    return [line for each in align.commands(plan, ["linux"]) for line in each.lines]


def layers_of(options: Sequence[str]) -> list[str]:
    return [word for option in options for word in ("--layer", option)]


def test_the_chain_of_the_document() -> None:
    """luksFormat goes onto the array, pvcreate onto what it opens, mkfs onto the volume."""
    lines = typed(*CHAIN, devices=("/dev/sda", "/dev/nvme0n1"))
    text = "\n".join(lines)
    assert re.search(r"mdadm --create /dev/md0 .* /dev/sda1 /dev/nvme0n1p1$", text, re.M)
    assert re.search(r"luksFormat .* /dev/md0$", text, re.M)
    assert "cryptsetup open --allow-discards /dev/md0 crypt0" in lines
    assert "pvcreate --dataalignment 1024k /dev/mapper/crypt0" in lines
    assert lines[-1] == "mkfs.ext4 /dev/vg0/lv0"


def drawn(chance: random.Random) -> Iterator[str]:
    """Draw a stack: a partition or not, an array or not, and so on."""
    if chance.random() < 0.8:
        yield PARTITION
    if chance.random() < 0.5:
        level, disks = chance.choice([(0, 2), (1, 2), (5, 3), (6, 4), (10, 4)])
        yield f"raid:level={level},disks={disks}"
    above = [each for each in ("crypt", "lvm") if chance.random() < 0.5]
    chance.shuffle(above)
    yield from above
    yield f"filesystem:type={chance.choice(['ext4', 'xfs', 'btrfs'])}"


def test_every_device_was_given_or_made_before() -> None:
    """Of a hundred drawn stacks: one tool a layer, in order, and no device out of nowhere."""
    chance = random.Random(7)
    for _ in range(100):
        options = list(drawn(chance))
        stack = layout(*options)
        disks = next((each.disks for each in stack.layers if isinstance(each, align.Array)), 1)
        devices = [f"/dev/vd{letter}" for letter in "abcd"[:disks]]
        plan = align.plan(stack, Grid(), devices, new=chance.random() < 0.5)
        found = align.commands(plan)
        assert tools_of(found) == [TOOLS[option.partition(":")[0]] for option in options]
        check_devices([line for each in found for line in each.lines], set(devices))


def tools_of(found: Sequence[Lines]) -> list[str]:
    """Name the tools; a new table and the partition in it are one."""
    names = ["mkfs." if each.tool.startswith("mkfs.") else each.tool for each in found]
    return [name for n, name in enumerate(names) if not n or name != names[n - 1]]


def check_devices(lines: Sequence[str], known: set[str]) -> None:
    for line in lines:
        words = line.split()
        if words[0] == "mdadm":
            known.add(words[2])
        elif words[:2] == ["lvcreate", "--extents"]:
            known.add(f"/dev/{words[-1]}/{words[-2]}")
        for word in words:
            assert not word.startswith("/dev/") or word in known, line
        assert "…" not in line and "sdX" not in line
        if words[0] == "echo" and "--append" in words:
            known.add(f"{words[-1]}1" if not words[-1][-1].isdigit() else f"{words[-1]}p1")
        if words[:2] == ["cryptsetup", "open"]:
            known.add(f"/dev/mapper/{words[-1]}")


def test_only_what_was_given() -> None:
    """A partition alone brings nothing else; a whole drive needs no partition."""
    assert typed(PARTITION, devices=("/dev/sda",)) == [
        "echo 'start=2048' | sfdisk --append /dev/sda"
    ]
    assert typed("filesystem:type=xfs", devices=("/dev/sdb",)) == ["mkfs.xfs /dev/sdb"]
    assert len(typed(PARTITION, "filesystem", all_tools=True)) == 3 + 3


def test_a_partition_on_an_array() -> None:
    """A new array has no table; a partition on RAID 5 begins at a stripe."""
    array = "raid:level=5,disks=3,chunk=64KiB"
    lines = typed(array, "partition:start=1MiB", devices=("/dev/sda", "/dev/sdb", "/dev/sdc"))
    assert lines[1:] == [
        "echo 'label: gpt' | sfdisk /dev/md0",
        "echo 'start=2048' | sfdisk --append /dev/md0",
    ]
    with pytest.raises(SsdlabError, match="start 64s is not a multiple of 256 sectors"):
        typed(array, "partition:start=64s")


@pytest.mark.parametrize(
    ("options", "devices", "said"),
    [
        (CHAIN, ("/dev/sda",), "RAID 1 data of 2 drives needs 2 of them, each once; 1 given"),
        (CHAIN, ("/dev/sda", "/dev/sda"), "a drive is given twice"),
        ((PARTITION,), ("/dev/sda", "/dev/sdb"), "one drive needs 1 of them"),
        ((PARTITION, "raid:level=1"), ("/dev/sda", "ada0"), "names of different systems"),
        ((PARTITION,), ("sda",), "expected /dev/sda (Linux), ada0 (FreeBSD) or 1 (Windows"),
        ((PARTITION, "crypt"), ("ada0",), "freebsd: no command for luks2 payload"),
        ((PARTITION, "label:start=1MiB"), ("/dev/sda",), "BSD labels are made on FreeBSD"),
        (("raid:level=1", "raid:level=1"), (), "two arrays on each other"),
        (("crypt:format=veracrypt", "lvm"), (), "no system has all these layers"),
        (("partition:start=1MiB,size=512KiB",), ("1",), "diskpart counts in whole MiB"),
        (("partition:start_sector=63", "label:start_sector=1984"), (), "the next one is 1985s"),
    ],
)
def test_what_is_refused(
    command: Command, options: Sequence[str], devices: Sequence[str], said: str
) -> None:
    """Too few drives, names of no drive, layers that a system lacks: each with what to do."""
    named = [word for device in devices for word in ("--device", device)]
    code, out, err = command("align", "commands", *layers_of(options), *named)
    assert (code, out) == (2, "")
    assert said in err


def test_a_system_that_is_not_the_drives(command: Command) -> None:
    """The name of a drive says whose commands are meant; another system is refused."""
    asked = ("align", "commands", "--layer", PARTITION, "--device", "/dev/sda")
    code, _, err = command(*asked, "--system", "freebsd")
    assert code == 2 and "leave --system out" in err
    assert command(*asked, "--system", "linux")[0] == 0


GOLDEN = {
    "align-commands": ["--layer", "partition:start=1MiB,size=100GiB", "--layer", "filesystem"],
    "align-commands-all-tools": [
        *("--layer", PARTITION, "--layer", "filesystem", "--all-tools", "--system", "linux"),
        *("--device", "/dev/sda", "--new"),
    ],
    "align-commands-array": [
        *layers_of([PARTITION, "raid:level=5,disks=4,chunk=64KiB", "crypt", "lvm", "filesystem"]),
    ],
    "align-commands-chain": [*layers_of(CHAIN), "--device", "/dev/sda", "--device", "/dev/sdb"],
    "align-commands-zfs": [*layers_of([PARTITION, "filesystem:type=zfs"]), "--all-tools"],
    "align-commands-label": layers_of(
        ["partition:start_sector=63", "label:start_sector=1985", "filesystem:type=ufs"]
    ),
    "align-commands-windows": [
        *layers_of([PARTITION, "crypt:format=bitlocker", "filesystem:type=ntfs"]),
        *("--device", "1"),
    ],
}


@pytest.mark.parametrize(("name", "arguments"), GOLDEN.items())
def test_printed(
    command: Command, golden: Callable[[str, str], None], name: str, arguments: list[str]
) -> None:
    """What is printed, as reviewed."""
    code, out, _ = command("align", "commands", *arguments)
    assert code == 0
    golden(name, out)


@pytest.mark.parametrize("name", ["align-commands-zfs", "align-commands-label"])
def test_untried_lines_say_so(command: Command, name: str) -> None:
    """What was not carried out is said to be untried, with the manual page it is from."""
    _, out, _ = command("align", "commands", *GOLDEN[name], "--json")
    for each in json.loads(out):
        untried = each["tool"] not in ("sfdisk", "parted")
        assert each["tried"] is not untried
        assert re.search(r"\w\(8\)", each["source"])


def test_hints_on_a_single_drive() -> None:
    """128 KiB are 32 blocks of 4 KiB; the layer's own numbers go before --align's."""
    plan = align.plan(layout(PARTITION, "filesystem:type=ext4"), Grid(), hint=128 * 2**10)
    assert "mkfs.ext4 -b 4096 -E stripe_width=32 /dev/sdX1" in align.commands(plan)[1].lines
    told = "filesystem:type=ext4,stripe_unit=64KiB,stripe_width=128KiB"
    plan = align.plan(layout(PARTITION, told), Grid(), hint=MIB)
    assert (
        "mkfs.ext4 -b 4096 -E stride=16,stripe_width=32 /dev/sdX1" in align.commands(plan)[1].lines
    )
    assert (
        typed("filesystem:type=xfs,stripe_width=128KiB")[0] == "mkfs.xfs -d su=128k,sw=1 /dev/sdX"
    )


def test_hint_by_the_command(command: Command) -> None:
    """``--align 128KiB`` asks for it; without, and for a page, nothing is told."""
    asked = (
        "align",
        "commands",
        "--layer",
        PARTITION,
        "--layer",
        "filesystem",
        "--system",
        "linux",
    )
    assert "-E stripe_width=32 /dev/sdX1" in command(*asked, "--align", "128KiB")[1]
    assert "stripe_width" not in command(*asked)[1]
    assert "stripe_width" not in command(*asked, "--align", "4KiB")[1]


@pytest.mark.parametrize(("start", "fits"), [("1MiB", True), ("64KiB", False)])
def test_a_hint_counts_from_the_file_systems_start(start: str, fits: bool) -> None:
    """A file system told of 128 KiB has to begin at a multiple of them: 64 KiB is none."""
    stack = layout(f"partition:start={start}", "filesystem:type=ext4,stripe_width=128KiB")
    findings = align.check(stack, Grid((read_unit("4KiB", Geometry()),)))
    assert align.misaligned(findings) is not fits
    assert ("begin at a multiple of 1 MiB" in findings[-1].remedy) is not fits


@pytest.mark.parametrize(
    ("ashift", "fits"),
    [("", False), (",ashift=9", False), (",ashift=12", True), (",ashift=13", True)],
)
def test_zfs_needs_its_ashift(ashift: str, fits: bool) -> None:
    """2^9 = 512 is no page of 4096, 2^12 is one; not given, it is not known and not aligned."""
    findings = align.check(layout(PARTITION, f"filesystem:type=zfs{ashift}"), Grid())
    assert align.misaligned(findings) is not fits
    if not fits:
        assert "zpool create -o ashift=12" in findings[-1].remedy


def test_ashift_follows_the_drive() -> None:
    """A page of 8 KiB asks for 2^13; what is given goes first."""
    grid = Grid(read_drive("intel-dc-s3500-80gb", ()).units)
    for given, expected in (("", 13), (",ashift=12", 12)):
        plan = align.plan(layout("partition:start=4MiB", f"filesystem:type=zfs{given}"), grid)
        assert f"zpool create -o ashift={expected} tank /dev/sdX1" in align.commands(plan)[1].lines
    whole = align.commands(align.plan(layout("filesystem:type=zfs"), Grid()), ["linux"])
    assert whole[0].lines[0] == "zpool create -o ashift=12 tank /dev/sdX"

    for page, shift in ("4KiB", 12), ("16KiB", 14), ("24KiB", 12):
        grid = Grid((read_unit(page, Geometry()),))
        findings = align.check(layout("filesystem:type=zfs,ashift=9"), grid)
        assert f"zpool create -o ashift={shift}" in findings[-1].remedy
        assert not align.misaligned(
            align.check(layout(f"filesystem:type=zfs,ashift={shift}"), grid)
        )


@pytest.mark.parametrize("system", ["linux", "windows", "freebsd"])
def test_what_check_passes_is_typed(command: Command, system: str) -> None:
    """An erase block of 4 MiB is judged with --strict only, by either verb."""
    drive = ("--layer", PARTITION, "--drive", "intel-dc-s3500-80gb")
    assert command("align", "check", *drive)[0] == 0
    code, out, _ = command("align", "commands", "--system", system, *drive)
    assert (
        code == 0
        and {"linux": "start=2048", "windows": "align=1024", "freebsd": "-b 2048"}[system] in out
    )
    assert command("align", "check", *drive, "--strict")[0] == 3
    code, _, err = command("align", "commands", *drive, "--strict")
    assert code == 2 and "the next one is 8192s" in err


def test_on_a_stripe_without_parity_a_chunk_will_do() -> None:
    """`check` asks for a chunk only, and so does what is typed."""
    stack = ("raid:level=0,disks=3,chunk=64KiB", "partition:start=64KiB")
    assert not align.misaligned(align.check(layout(*stack), Grid()))
    assert any("start=128" in line for line in typed(*stack))


def test_what_became_of_what_was_given_is_said(command: Command) -> None:
    """Metadatasize turns into --dataalignment; what is moved to fit is named with both sizes."""
    asked = ("align", "commands", "--system", "linux", "--layer")
    _, out, _ = command(*asked, "lvm:metadatasize=250k")
    assert "--dataalignment 1024k stands for metadatasize=250k" in out
    _, out, _ = command(*asked, "lvm:pe_start=192KiB,extent=5MiB")
    assert "192 KiB was asked for, 1 MiB is what fits" in out
    _, out, _ = command(*asked, "crypt:format=luks1,payload_sector=4040")
    assert "the payload: 2020 KiB was asked for, 2 MiB is what fits" in out
    _, out, _ = command(*asked, "lvm")
    assert "asked for" not in out and "stands for" not in out


def test_where_a_payload_begins_is_typed() -> None:
    """What is given goes before the tool's own place: 8 MiB of LVM, 1 MiB of plain dm-crypt."""
    assert typed("lvm:pe_start=8MiB")[0] == "pvcreate --dataalignment 8192k /dev/sdX"
    assert " --offset 2048 /dev/sdX " in typed("crypt:format=plain,payload=1MiB")[0]


def test_equal_layers_are_two() -> None:
    """LUKS on every member and again on the array: each begins where its own below asks for."""
    options = ("crypt", "raid:level=5,disks=3,chunk=64KiB", "crypt")
    lines = typed(*options, devices=("/dev/sda", "/dev/sdb", "/dev/sdc"))
    made = [line.split()[-1] for line in lines if " open " in line]
    assert made == ["crypt0", "crypt1", "crypt2", "crypt3"]
    offsets = [int(line.split()[5]) for line in lines if "luksFormat" in line]
    assert [each % 2048 for each in offsets[:3]] == [0] * 3 and offsets[3] % 256 == 0


def test_what_is_typed_is_aligned() -> None:
    """The layout that the lines make, put together from their numbers, fits the grid."""
    array = "raid:level=5,disks=4,chunk=64KiB"
    drive = read_drive("intel-dc-s3500-80gb", (), strict=True).units
    for extra, units in ((), (read_unit("24MiB", Geometry()),)), ((array,), drive):
        grid = Grid(units)
        start = f"partition:start={grid.step_bytes}B"
        for above in ("crypt", "lvm"):
            plan = align.plan(layout(start, *extra, above), grid)
            text = "\n".join(line for each in align.commands(plan) for line in each.lines)
            findings = align.check(layout(*made_of(text, extra, above)), grid)
            assert [each.aligned for each in findings] == [True] * len(findings)


def made_of(text: str, extra: Sequence[str], above: str) -> list[str]:
    """Describe what the lines make."""

    def number(pattern: str) -> str:
        found = re.search(pattern, text)
        assert found is not None, pattern
        return found[1]

    made = [f"partition:start_sector={number(r'start=([0-9]+)')}"]
    made += [f"{each},data_offset={number(r'--data-offset=([0-9]+)K')}k" for each in extra]
    if above == "crypt":
        return [*made, f"crypt:payload_sector={number(r'--offset ([0-9]+)')}"]
    pe_start, extent = number(r"--dataalignment (\d+)k"), number(r"--physicalextentsize (\d+)k")
    assert int(extent) % 128 == 0
    return [*made, f"lvm:pe_start={pe_start}k,extent={extent}k"]
