"""A database's pages in a guest kernel, on drives that lose their power twenty times over NVMe/TCP.

One promises that writes of 16 KiB are whole (AWUPF), the other only those of 4 KiB.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from image import HERE
from results import Results, boot_with
from served import VOLATILE, ServedDrive, end, serve

PROGRAMS = ("nvme", "ip")
CUTS = 20
HOLD_ON = ("-l 600", "--reconnect-delay=5")


def cut_when_asked(drives: list[ServedDrive], reports: Path, ended: threading.Event) -> None:
    """Cut the power of all as often as the guest says that it writes."""

    def told(what: str) -> bool:
        while not (reports.exists() and f'"{what}"' in reports.read_text("utf-8")):
            if ended.wait(0.05):
                return False
        return True

    for number in range(CUTS):
        if not told(f"cut {number}, now"):
            return
        for drive in drives:
            drive.ctl("power-cut", "--seed", str(number))
        # Until the guest lets go: a write that is tried again would hide what was torn.
        if not told(f"cut {number}, gone"):
            return
        for drive in drives:
            drive.ctl("power-on")


@dataclass(frozen=True)
class Lived:
    """What the guest reported, and how often each drive was not shut down."""

    results: Results
    unsafe_shutdowns: list[int]


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """Boot one guest that lives through the cuts."""
    folder = tmp_path_factory.mktemp("pages")
    promise = ("--set", "atomic_write_bytes=16KiB")
    drives = [serve(folder / "whole", VOLATILE, *promise), serve(folder / "torn", VOLATILE)]
    connect = {drive.name: drive.connect(*HOLD_ON) for drive in drives}
    (folder / "pages.json").write_text(json.dumps({"connect": connect, "cuts": CUTS}))
    files = {
        HERE / "inside.py": "/guest/common.py",
        HERE / "inside_pages.py": "/guest/inside.py",
        folder / "pages.json": "/guest/pages.json",
    }
    ended = threading.Event()
    arguments = (drives, folder / "results.jsonl", ended)
    plug = threading.Thread(target=cut_when_asked, args=arguments)
    plug.start()
    try:
        results = boot_with(files, [], folder, programs=PROGRAMS, reaches_host=True)
        counters = [drive.ctl("stats")["counters"] for drive in drives]
        yield Lived(results, [each["unsafe_shutdowns"] for each in counters])
    finally:
        ended.set()
        plug.join()
        end(drives)


def test_no_page_is_torn_where_that_is_promised(lived: Lived) -> None:
    """No cut tears a page of the drive that promises it; of the other drive some are torn."""
    cuts = [f"cut {number}" for number in range(CUTS)]
    assert sum(lived.results[f"{cut}, now"]["joined"] for cut in cuts) == 0
    torn = [lived.results[cut]["torn"] for cut in cuts]
    assert [whole for whole, _ in torn] == [0] * CUTS
    without = sum(other for _, other in torn)
    print(f"without the promise {without} pages were torn in {CUTS} cuts")
    assert without > 0
    assert lived.unsafe_shutdowns == [CUTS, CUTS]
