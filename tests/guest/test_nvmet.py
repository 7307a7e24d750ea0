"""A served drive beside the kernel's own NVMe/TCP target over a RAM disk, inside one guest.

The emulated processors do the work of target, network and host alike: the ratio is printed, and
only that both work is judged, and that the drive counted what fio asked of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import pytest

from image import HERE, PACKAGE
from results import Results, boot_with

PROGRAMS = ("nvme", "ip", "fio")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """Boot a guest with both targets."""
    (compiled,) = PACKAGE.glob("_engine*.so")
    files = {
        HERE / "inside.py": "/guest/common.py",
        HERE / "inside_nvmet.py": "/guest/inside.py",
        compiled: f"/guest/ssdlab/{compiled.name}",
    }
    folder = tmp_path_factory.mktemp("nvmet")
    yield boot_with(files, [], folder, programs=PROGRAMS, modules=("brd", "nvmet-tcp"))


@pytest.mark.parametrize("pattern", ["randread", "randwrite"])
def test_ratio_to_the_kernels_target(measured: Results, pattern: str) -> None:
    """Both answer; how much slower a drive with flash underneath is, is told."""
    assert [code for code, _ in measured["made"]["lines"]] == [0, 0, 0, 0]
    turns = measured[pattern]["turns"]
    assert all(each["iops"] > 0 for turn in turns for each in turn)
    asked = sum(ours["io_bytes"] for ours, _ in turns)
    assert asked <= measured[pattern]["counted"] <= 1.01 * asked, "the drive did what fio says"
    ratio = median(ours["iops"] / theirs["iops"] for ours, theirs in turns)
    print(f"{pattern}: {ratio:.2f} times the IOPS of nvmet over a RAM disk, of {len(turns)} turns")
