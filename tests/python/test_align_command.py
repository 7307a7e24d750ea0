"""``ssdlab align``: exit codes, advice that holds, and advice that is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab import engine
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine import align
from ssdlab.machine.align import ChosenPartition, Geometry, Grid, Layout
from ssdlab.machine.align.grid import read_drive
from ssdlab.machine.align.reading import CRYPT_FORMATS, from_options

Command = Callable[..., tuple[int, str, str]]
MIB = 2**20
VERBS = ("boundaries", "check", "commands", "move", "spare")
SIZED = "partition:start_sector=63,size=100GiB"


def layout(*options: str) -> Layout:
    return from_options(options, Geometry())


@pytest.mark.parametrize("verb", VERBS)
def test_help(command: Command, golden: Callable[[str, str], None], verb: str) -> None:
    """The help of every verb of `align`, as reviewed."""
    code, out, _ = command("align", verb, "--help")
    assert code == 0
    golden(f"help-align-{verb}", out)


def test_boundaries(command: Command, golden: Callable[[str, str], None]) -> None:
    """Around a start and a size, in all units; programs get JSON."""
    asked = ("align", "boundaries", "10GiB", "--size", "1GiB", "--track")
    code, out, _ = command(*asked)
    assert code == 0
    golden("align-boundaries", out)
    code, out, _ = command(*asked, "--json")
    found = json.loads(out)["positions"]
    assert found["next"]["sectors"] == 21030912
    assert found["size up"]["sectors"] == 17 * 129024


@pytest.mark.parametrize(("label", "expected"), [(1985, 0), (1984, 3)])
def test_check(
    command: Command, golden: Callable[[str, str], None], label: int, expected: int
) -> None:
    """Exit code 0 where the data fit, 3 where not; 2 is left to wrong input."""
    layers = ("--layer", "partition:start_sector=63", "--layer", f"label:start_sector={label}")
    code, out, _ = command("align", "check", *layers)
    assert code == expected
    golden(f"align-check-{label}", out)
    code, out, _ = command("align", "check", *layers, "--json")
    assert code == expected
    assert json.loads(out)["aligned"] == (expected == 0)


def test_check_of_a_file(command: Command, tmp_path: Path) -> None:
    """A layout file may name the drive that it is for."""
    text = 'drive = "theory"\n[[layer]]\nkind = "partition"\nstart = "1MiB"\n'
    (tmp_path / "disk.toml").write_text(text)
    code, out, _ = command("align", "check", "disk.toml")
    assert code == 0
    assert "erase block 512 KiB" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check",), "give either a layout file or layers"),
        (("check", "none.toml"), "cannot be read"),
        (("check", "--layer", "lvm", "--sector", "513"), "512 or 4096"),
        (("check", "--layer", "lvm", "--align", "1000B"), "multiple of the 512-byte sector"),
        (("check", "--layer", "lvm", "--geometry", "300x64"), "HEADSxSECTORS"),
        (("check", "--layer", "lvm", "--drive", "nope"), "no drive nope"),
        (("boundaries", "63"), "write a number and its unit"),
        (("commands", "--layer", "partition:start_sector=63"), "the next one is 2048s"),
        (("commands", "--layer", "lvm", "--device", "sda"), "not the name of a drive"),
        (("move", "--layer", "partition:start_sector=63"), "how large"),
        (("spare", "--spare", "20%", "--layer", SIZED), "how large is the drive"),
        (
            ("spare", "--spare", "2", "--capacity", "1TB", "--layer", SIZED),
            "write 2% if you mean percent",
        ),
        (("spare", "--spare", "2%", "--capacity", "1GB", "--layer", SIZED), "beyond the drive"),
    ],
)
def test_wrong_input(command: Command, arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2, nothing on stdout, and the remedy named."""
    code, out, err = command("align", *arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_units_of_a_drive() -> None:
    """Page and erase block of the profile: 256 pages of 8 KiB in two planes make 4 MiB."""
    units = {each.name: each for each in read_drive("intel-dc-s3500-80gb", ()).units}
    assert {name: each.bytes for name, each in units.items()} == {
        "mapping unit": 4096,
        "page": 8192,
        "row": 16384,
        "erase block": 4 * MIB,
    }
    assert units["page"].required and not units["erase block"].required
    strict = Grid(read_drive("intel-dc-s3500-80gb", (), strict=True).units)
    at_1_mib = layout("partition:start=1MiB")
    assert align.misaligned(align.check(at_1_mib, strict))
    assert not align.misaligned(align.check(at_1_mib, Grid(tuple(units.values()))))


def test_spare_of_a_drive_that_states_its_blocks() -> None:
    """Without a stated share it follows from 32 dies of 64 blocks of 512 KiB: 1 GiB."""
    settings = (("nand.blocks_per_plane", "64"), ("capacity_bytes", "800MiB"))
    facts = read_drive("theory", settings)
    assert facts.over_provisioning == pytest.approx(1024 / 800 - 1)


def test_a_drive_without_flash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hard disk has no pages; that is said, not stumbled over."""
    monkeypatch.setattr(engine, "show", lambda drive, settings: {"parameters": []})
    with pytest.raises(SsdlabError, match="disk has no flash"):
        read_drive("disk", ())


@pytest.mark.parametrize("kind", ["ext4", "ntfs", "btrfs"])
def test_a_moved_partition_fits(kind: str) -> None:
    """Where the steps put it, the data fit, and all steps agree on the size."""
    inside = ("label:start_sector=10", f"filesystem:type={kind}")
    for above in (inside, inside[1:], ("lvm:pe_start=192KiB", inside[1])):
        before = layout(SIZED, *above)
        steps = align.move(before, Grid(), ChosenPartition(), free_behind=10 * MIB)
        text = " ".join(line for step in steps for line in (step.text, *step.lines))
        sector = re.search(r"sector (\d+)", text)
        assert sector is not None
        assert not align.misaligned(
            align.check(layout(f"partition:start_sector={sector[1]}", *above), Grid())
        )
        assert int(sector[1]) > 63
        assert "Shrink" not in text


def test_moving_without_room_shrinks_first() -> None:
    """By just as much as it moves, file system before partition."""
    steps = align.move(
        layout(SIZED, "filesystem:type=ext4"), Grid(), ChosenPartition("/dev/nvme0n1", 2)
    )
    lines = [line for step in steps for line in step.lines]
    sectors = 100 * 2**21 - (2048 - 63)
    assert lines.index(f"resize2fs /dev/nvme0n1p2 {sectors // 2}K") < lines.index(
        f"echo ', {sectors}' | sfdisk -N 2 /dev/nvme0n1"
    )
    assert "echo '2048,' | sfdisk --move-data -N 2 /dev/nvme0n1" in lines


def test_moving_what_fits_or_cannot_be_helped() -> None:
    """Nothing to do, nothing that helps, nothing that can be shrunk: each is said."""
    slice_of = ("partition:start_sector=63,size=1GiB", "label:start_sector=1985", "filesystem")
    assert align.move(layout(*slice_of), Grid(), ChosenPartition()) == []
    with pytest.raises(SsdlabError, match="does not help: LVM extents"):
        align.move(layout(SIZED, "lvm:extent=2KiB"), Grid(), ChosenPartition())
    with pytest.raises(SsdlabError, match="xfs: cannot be shrunk"):
        align.move(layout(SIZED, "filesystem:type=xfs"), Grid(), ChosenPartition())
    with pytest.raises(SsdlabError, match="RAID 0 cannot do without a member"):
        align.move(layout(SIZED, "raid:level=0"), Grid(), ChosenPartition())
    with pytest.raises(SsdlabError, match="a start at 64s does not help"):
        align.move(layout(SIZED), Grid(), ChosenPartition(), to=64 * 512)


@pytest.mark.parametrize("form", CRYPT_FORMATS)
def test_what_is_encrypted_is_left_alone(command: Command, form: str) -> None:
    """No steps for moving or shrinking, in whichever layer it is; why, and how to decrypt."""
    crypt = ("--layer", f"crypt:format={form}")
    above = ("--layer", SIZED, "--layer", "lvm", *crypt, "--layer", "filesystem:type=ext4")
    below = (*crypt, "--layer", SIZED, "--layer", "filesystem:type=ext4")
    for layers, reach in (above, "this partition"), (below, "the whole drive is encrypted"):
        for verb in ("move",), ("spare", "--spare", "20%", "--capacity", "1TB"):
            code, out, err = command("align", *verb, *layers, "--json")
            assert (code, out) == (2, "")
            assert "why: " in err and "decrypt first: " in err and reach in err


def test_spare(command: Command, golden: Callable[[str, str], None]) -> None:
    """Shrink, trim, delete; what the drive gains is (1 + OP) / (1 - x) - 1."""
    drive = ("--drive", "theory", "--set", "over_provisioning=0.07", "--spare", "25%")
    layers = ("--layer", "partition:start=1MiB,size=15GiB", "--layer", "filesystem:type=ext4")
    code, out, _ = command("align", "spare", *drive, *layers)
    assert code == 0
    golden("align-spare", out)
    _, out, _ = command("align", "spare", *drive, *layers, "--json")
    plan = json.loads(out)
    assert (plan["end"], plan["spare_bytes"]) == (12 * 2**30, 4 * 2**30)
    assert plan["over_provisioning"][1] == pytest.approx(1.07 / 0.75 - 1)


@pytest.mark.parametrize(
    ("kind", "order"),
    [
        ("ext4", ("resize2fs", "sfdisk -N", "--append", "blkdiscard", "--delete")),
        (
            "ntfs",
            ("shrink desired", "create partition", "format fs=ntfs quick", "delete partition"),
        ),
        ("btrfs", ("btrfs filesystem resize", "sfdisk -N", "blkdiscard", "--delete")),
    ],
)
def test_spare_is_trimmed_before_it_is_deleted(kind: str, order: tuple[str, ...]) -> None:
    """A partition that is only deleted leaves the drive as full as it was."""
    before = layout("partition:start=1MiB,size=90GiB", f"filesystem:type={kind}")
    plan = align.spare(before, Grid(), ChosenPartition(), share=0.2, capacity=100 * 10**9)
    text = "\n".join(line for step in plan.steps for line in step.lines)
    assert [text.index(word) for word in order] == sorted(text.index(word) for word in order)


def test_spare_where_the_end_is_free_already() -> None:
    """Nothing is shrunk; the free end is trimmed, also of a file system that cannot shrink."""
    before = layout("partition:start=1MiB,size=10GiB", "filesystem:type=ufs")
    plan = align.spare(before, Grid(), ChosenPartition(), share=0.2, capacity=100 * 10**9)
    lines = [line for step in plan.steps for line in step.lines]
    assert "newfs -E /dev/ada0p9" in lines
    with pytest.raises(SsdlabError, match="ufs: cannot be shrunk"):
        align.spare(before, Grid(), ChosenPartition(), share=0.95, capacity=100 * 10**9)
