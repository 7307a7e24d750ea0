"""A smaller drive in place of a large one (``--scale``), by hand: the engine's own arithmetic."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.engine.shown import parameters, sizes
from ssdlab.experiment import cache
from ssdlab.experiment.scale import capacity_bytes
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit

Command = Callable[..., tuple[int, str, str]]
S3500 = "intel-dc-s3500-80gb"
WRITES = ("--rw=randwrite", "--bs=4k", "--io_size=8m", "--iodepth=8")


def _set(shown: dict[str, Any], scale: str) -> dict[str, Any]:
    """Return what follows from a scale."""
    source = f"follows from scale {scale}"
    return {each["key"]: each["value"] for each in shown["parameters"] if each["source"] == source}


def test_fewer_blocks_by_hand() -> None:
    """80 GB of 2815 blocks a die at 96: 2 728 241 563 bytes, or 2601 MiB and a part of one."""
    assert sizes(engine.show(S3500)).flash.blocks_per_die == 2815
    small = engine.show(S3500, scale="blocks:96")
    assert 2601 * 2**20 == 2_727_346_176
    assert _set(small, "blocks:96") == {
        "capacity_bytes": 2_727_346_176,
        "ftl.spare_counts": "collected",
    }
    assert parameters(engine.show(S3500, scale="blocks:2815")) == parameters(engine.show(S3500))


def test_fewer_dies_by_hand() -> None:
    """A quarter of 16 GiB on 8 channels of 4 dies, with 3500 MB/s and commands of 1 µs."""
    quarter = {"capacity_bytes": 2**32, "nand.channels": 2, "nand.dies_per_channel": 4}
    quarter["buffer.join_bytes"] = 2**34
    slower = {"link.mb_per_s": 875.0, "controller.move_unit_us": 0.0}
    slower |= {"controller.read_command_us": 4.0, "controller.write_command_us": 4.0}
    assert _set(engine.show("theory", scale="dies:4"), "dies:4") == quarter | slower
    whole_link = "dies:4,whole-link"
    assert _set(engine.show("theory", scale=whole_link), whole_link) == quarter


def test_a_scale_is_of_the_drive_as_it_is_set() -> None:
    """Half of a capacity and of a buffer that are given; each drive of a stack alike."""
    given = (("capacity_bytes", "8GiB"), ("buffer.bytes", "3MiB"))
    half = engine.show("theory", given, scale="dies:2")
    assert parameters(half)["buffer.bytes"] == 3 * 2**19
    assert capacity_bytes("theory", given, "dies:2") == 2**32
    stack = sizes(engine.show("theory", given, ("raid:level=0,disks=2",), "dies:2"))
    assert stack.host_bytes == pytest.approx(2**33, rel=0.001)


def test_runs_and_seasons_are_at_the_scale(tmp_path: Path) -> None:
    """Run, seasoned into the cache, and seasoned into a file: the drive of a quarter."""
    asked = RunRequest("theory", scale="dies:4", flags=WRITES)
    conditioned = replace(asked, condition="filled", settings=(("capacity_bytes", "1GiB"),))
    lab = json.loads(engine.run(asked))["jobs"][0]["ssdlab"]
    assert parameters(lab)["capacity_bytes"] == 2**32
    assert _set(lab, "dies:4")["nand.channels"] == 2
    file = str(tmp_path / "quarter.ssd")
    engine.precondition(conditioned, file)
    for drive in (file, cache.conditioned(conditioned).drive):
        assert capacity_bytes(drive) == 2**28
    own, kept = engine.run(conditioned), engine.run(conditioned.on(file))
    for run in (own, kept):
        assert json.loads(run)["jobs"][0]["ssdlab"]["scale"] == "dies:4"
        assert "scale dies:4: the figures are those of the smaller drive" in engine.render(
            run, "normal"
        )
    iops = [json.loads(run)["jobs"][0]["write"]["iops"] for run in (own, kept)]
    assert iops[0] == iops[1]
    whole = json.loads(engine.run(replace(asked, scale=None)))["jobs"][0]["ssdlab"]
    assert "scale" not in whole


@pytest.mark.parametrize(
    ("drive", "scale", "said"),
    [
        (
            "theory",
            "half",
            'scale "half": expected blocks:N (at most N blocks per die), dies:N (1/N',
        ),
        ("theory", "dies:3", "scale dies:3: theory: 32 dies on 8 channels cannot be split into 3"),
        (
            "fujitsu-mhz2250bh",
            "dies:2",
            "scale dies:2: fujitsu-mhz2250bh: a hard disk has no flash",
        ),
        ("theory", "blocks:2", "scale blocks:2: profile theory, line 5, with --set"),
    ],
)
def test_what_has_no_such_scale_is_refused(
    command: Command, drive: str, scale: str, said: str
) -> None:
    """Shown or run, with the scale and what would do."""
    for words in (("show", drive), ("run", "--drive", drive, "--rw=write", "--size=1m")):
        code, _, err = command(*words, "--scale", scale)
        assert code == Exit.WRONG_INPUT and said in err


def test_a_drive_in_a_condition_keeps_its_size(tmp_path: Path) -> None:
    """A drive file at a scale is refused, and so is one under layers."""
    file = str(tmp_path / "old.ssd")
    engine.precondition(RunRequest("theory", (("capacity_bytes", "1GiB"),)), file)
    for layers in ((), ("partition:start_sector=2048",)):
        with pytest.raises(SsdlabError) as refused:
            engine.show(file, (), layers, "dies:2")
        assert f"scale dies:2: {file}: a drive file keeps the size" in str(refused.value)
        assert "season its profile again at this scale" in str(refused.value)
