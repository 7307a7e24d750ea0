"""Layers over a drive, from the command line, a file and Python, with the real engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ssdlab

Command = Callable[..., tuple[int, str, str]]
SIZE = "--set=capacity_bytes=256MiB"
WRITES = ("--rw=randwrite", "--bs=4k", "--iodepth=8", "--io_size=16m", "--output-format=json")
STACK = """\
drive = "theory"
set.capacity_bytes = "256MiB"

[[layer]]
kind = "partition"
start_sector = 63

[[layer]]
kind = "crypt"
cores = 2
"""
LAYERS = ("--layer", "partition:start_sector=63", "--layer", "crypt:cores=2")


def lab(out: str) -> dict[str, Any]:
    found = json.loads(out)["jobs"][0]["ssdlab"]
    assert isinstance(found, dict)
    return found


def test_a_file_says_what_the_command_line_says(command: Command) -> None:
    """The same layers from a file and as options give the same run; the file lends its name."""
    Path("laptop.toml").write_text(STACK)
    code, out, err = command("run", *WRITES, "--drive", "theory", SIZE, *LAYERS)
    assert (code, err) == (0, "")
    line = json.loads(out)["jobs"][0]
    code, out, err = command("run", *WRITES, "--stack", "laptop.toml")
    assert (code, err) == (0, "")
    file = json.loads(out)["jobs"][0]
    assert file["ssdlab"]["profile"] == "laptop"
    assert file["write"]["clat_ns"] == line["write"]["clat_ns"]
    assert file["ssdlab"]["layers"] == line["ssdlab"]["layers"]


def test_results_show_what_each_layer_did(command: Command) -> None:
    """The tree goes from the top to the drive, and bytes in are bytes out of each layer."""
    code, out, _ = command("run", *WRITES, "--drive", "theory", SIZE, *LAYERS, "--state=used")
    assert code == 0
    crypt = lab(out)["layers"]
    partition = crypt["below"][0]
    drive = partition["below"][0]
    assert [crypt["name"], partition["name"], drive["name"]] == ["crypt", "partition", "theory"]
    assert crypt["taken"]["written_bytes"] == 16 << 20
    assert crypt["asked"] == [partition["taken"]] == partition["asked"]
    assert drive["counters"]["host_bytes_written"] == 16 << 20
    # Sector 63 splits every 4 KiB write over two mapping units, each counted as written.
    assert drive["counters"]["host_pages_written"] == 2 * 4096
    assert drive["write_amplification"] == lab(out)["write_amplification"]


def test_show_lists_the_layers_parameters(command: Command) -> None:
    """What was given is set, what was not has the source of its default."""
    code, out, _ = command("show", "theory", *LAYERS, "--json")
    assert code == 0
    shown = json.loads(out)
    assert shown["layers"] == ["partition", "crypt"]
    kinds = {each["key"]: (each["text"], each["kind"]) for each in shown["parameters"]}
    assert kinds["crypt.cores"] == ("2", "set")
    assert kinds["crypt.mb_per_s"][1] == "published"
    assert all(each["kind"] and each["source"] for each in shown["parameters"])


def test_layers_can_be_looked_up(command: Command) -> None:
    """The list names an example for each kind, and each example can be shown over a drive."""
    code, out, _ = command("layers", "--json")
    assert code == 0
    kinds = json.loads(out)
    assert {"partition", "crypt", "scheduler", "raid"} <= {kind["name"] for kind in kinds}
    for kind in kinds:
        if not kind["second_drive"]:
            code, _, err = command("show", "theory", SIZE, "--layer", kind["example"])
            assert (code, err) == (0, ""), kind["name"]
    code, out, _ = command("layers", "crypt")
    assert code == 0
    assert "discards" in out and "Trims pass" in out
    code, _, err = command("layers", "lvm")
    assert (code, err) == (
        2,
        "ssdlab: no such layer: lvm\nthe layers are: "
        + ", ".join(kind["name"] for kind in kinds)
        + "\n",
    )


def test_an_array_multiplies_what_lies_below(command: Command) -> None:
    """Three drives, each under a partition of its own; their writes are data and parity."""
    array = ("--layer", "partition:start_sector=0,share=0.5", "--layer", "raid:level=5,disks=3")
    code, out, err = command("run", *WRITES, "--drive", "theory", SIZE, *array, "--state=used")
    assert (code, err) == (0, "")
    raid = lab(out)["layers"]
    drives = [partition["below"][0] for partition in raid["below"]]
    assert [partition["name"] for partition in raid["below"]] == ["partition"] * 3
    assert raid["taken"]["written_bytes"] == 16 << 20
    written = sum(drive["counters"]["host_bytes_written"] for drive in drives)
    # A small write is a write of data and a write of parity.
    assert written == 2 * (16 << 20)
    assert lab(out)["write_amplification"] == pytest.approx(
        sum(drive["counters"]["nand_pages_written"] for drive in drives)
        / sum(drive["counters"]["host_pages_written"] for drive in drives)
    )


def test_layers_from_python(tmp_path: Path) -> None:
    """A drive file below layers: every member begins in the file's condition."""
    theory = ssdlab.drive("theory", {"nand.pages_per_block": 16}, capacity_bytes="64MiB")
    used = theory.season("used", save=tmp_path / "used.ssd")
    stack = ssdlab.drive(used.name, layers=["partition:start_sector=0,share=0.5", "crypt"])
    result = stack.run(rw="randwrite", bs="4k", io_size="4m")
    assert result.job().condition == "used"
    assert result.job().lab["layers"]["taken"]["writes"] == 1024
    with pytest.raises(ssdlab.SsdlabError, match="without layers"):
        stack.season("steady")


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (["partion"], "did you mean partition?"),
        (["crypt:core=2"], "did you mean cores?"),
        (["crypt:cores=none"], 'cores = "none": expected a whole number'),
        (["partition:start_sector=900000"], "begin before its end"),
        (["partition:size_bytes=300MiB"], "the partition has 614400 sectors"),
        (["partition:size_bytes=1000"], "whole number of sectors of 512 B"),
        (["scheduler:policy=noop", "scheduler:policy=cfq"], "directly over scheduler"),
        (["crypt:cores"], "expected KEY=VALUE"),
        (["raid:level=5,disks=2"], "RAID 5 needs at least 3 members"),
        (["raid:level=5,disks=4,chunk_bytes=1000"], "must be a multiple of the members' sector"),
        (["raid:disks=4"], "level: is missing; expected one of 0, 1, 5, 6, 10, such as raid:"),
    ],
)
def test_impossible_layers(command: Command, layers: list[str], message: str) -> None:
    """Each error names the option and the remedy in a few lines, and exits with 2."""
    given = [part for layer in layers for part in ("--layer", layer)]
    code, out, err = command("run", *WRITES, "--drive", "theory", SIZE, *given)
    assert (code, out) == (2, "")
    assert f"--layer {layers[-1]}" in err
    assert message in err
    assert len(err.splitlines()) <= 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[layer]]\nkind = 'crypt'\n", "begin with drive"),
        ("drive = 'theory'\n[[layer]]\ncores = 2\n", "stack.toml, line 2: a layer without a kind"),
        ("drive = 'theory'\n[[layer]]\nkind = 'crypt'\ncores = 0\n", "stack.toml, line 4: cores"),
        ("drive = 'theory'\n[sets]\n", 'there is no "sets" in a stack'),
        ("drive = 'stack.toml'\n", "is a stack, and a drive is needed here"),
    ],
)
def test_impossible_files(command: Command, text: str, message: str) -> None:
    """Errors in a stack's file name the file and the line."""
    Path("stack.toml").write_text(text)
    code, out, err = command("run", *WRITES, "--stack", "stack.toml")
    assert (code, out) == (2, "")
    assert message in err


def test_a_stack_is_not_kept(command: Command) -> None:
    """A drive file keeps one drive: a stack is refused before anything is run."""
    Path("laptop.toml").write_text(STACK)
    code, _, err = command("season", "laptop.toml", "--to", "used", "-o", "x.ssd")
    assert code == 2
    assert "a drive file keeps one drive, without layers" in err
    code, _, err = command("run", *WRITES, "--stack", "laptop.toml", "--save", "x.ssd")
    assert code == 2
    assert not Path("x.ssd").exists()
