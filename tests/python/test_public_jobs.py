"""Job files that people published, with the figures that fio's own requests give."""

from __future__ import annotations

import collections
import json
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]

FOUR_PASSES = """
[loops]
filename=/dev/nvme0n1
rw=randwrite
bs=4k
iodepth=1
direct=1
loops=4
"""
SHARES_OF_98 = """
[background]
rw=randwrite
iodepth=24
norandommap
runtime=5
time_based
bssplit=,4k/81:8k/10:16k/2:32k/1:64k/2:128k/1:1024k/1,
"""
SMALL = ("--drive", "theory", "--set", "capacity_bytes=256MiB", "--set", "over_provisioning=0.07")


def amplification(command: Command, *arguments: str) -> float:
    code, out, err = command("run", *arguments, *SMALL, "--output-format=json")
    assert code == 0, err
    found: float = json.loads(out)["jobs"][0]["ssdlab"]["write_amplification"]
    return found


@pytest.mark.parametrize(
    ("more", "least", "most"),
    [
        # fio 3.33's own requests, logged with its null engine and replayed: 1.000.
        ((), 1.0, 1.001),
        (("--randrepeat=0",), 4, 8),
        (("--norandommap",), 2.5, 8),
    ],
)
def test_four_passes_repeat_their_order(
    command: Command, tmp_path: Path, more: tuple[str, ...], least: float, most: float
) -> None:
    """Each pass over the random map visits the order of the first, which leaves nothing to move."""
    lines = [flag.removeprefix("--") for flag in more]
    (tmp_path / "loops.fio").write_text(FOUR_PASSES + "\n".join(lines) + "\n")
    assert least <= amplification(command, "loops.fio") <= most


def test_a_normal_distribution_is_fios(command: Command) -> None:
    """fio hashes a bell of twelve draws over the region: far from uniform."""
    job = ("--rw=randwrite", "--bs=4k", "--io_size=1g", "--random_distribution=normal:10")
    assert amplification(command, *job) < amplification(command, *job[:-1], "--norandommap") / 2


def test_shares_that_do_not_add_up_are_drawn_as_fio_draws_them(
    command: Command, tmp_path: Path
) -> None:
    """The last of the sizes by rising share takes what is missing: 4 KiB has 83 %."""
    (tmp_path / "shares.fio").write_text(SHARES_OF_98)
    code, _, err = command("run", "shares.fio", *SMALL, "--write_iolog=requests.log")
    assert code == 0, err
    lines = [line.split() for line in (tmp_path / "requests.log").read_text().splitlines()]
    sizes = collections.Counter(line[4] for line in lines if len(line) == 5 and line[2] == "write")
    share = sizes["4096"] / sizes.total()
    # Four standard deviations of a share of 0.83.
    assert abs(share - 0.83) < 4 * (0.83 * 0.17 / sizes.total()) ** 0.5, (share, sizes)
