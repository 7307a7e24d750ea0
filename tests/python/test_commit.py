"""What a commit costs: fio's sync options on real profiles, from option to result."""

from __future__ import annotations

from typing import Any

import pytest

import ssdlab
from ssdlab.engine.result import Job
from ssdlab.ground.errors import SsdlabError

PROTECTED, UNPROTECTED = "micron-7450-pro-960gb", "samsung-990-pro-1tb"
WRITES: dict[str, Any] = {"rw": "write", "bs": "4k", "ioengine": "sync", "size": "1m"}


def ran(drive: str, **options: Any) -> Job:
    return ssdlab.drive(drive).run(**{**WRITES, **options}).job()


@pytest.mark.parametrize("option", ["fsync", "fdatasync"])
def test_a_flush_costs_a_command_or_two_programs(option: str) -> None:
    """Protected: the controller's 1 µs. Unprotected: the programs of data and of journal."""
    protected, unprotected = (ran(each, **{option: 1}) for each in (PROTECTED, UNPROTECTED))
    assert protected.commits == unprotected.commits == 256
    assert protected.mean_ns("sync") == 1000
    program_ns = 142_700
    taken = unprotected.mean_ns("sync")
    assert taken is not None and 2 * program_ns < taken < 2.3 * program_ns
    counters = unprotected.lab["counters"]
    assert counters["journal_pages_written"] == 256
    assert protected.lab["counters"]["journal_pages_written"] == 0
    for key in ("N", "min", "max", "mean", "stddev", "percentile"):
        assert key in unprotected.data["sync"]["lat_ns"]


@pytest.mark.parametrize("word", ["1", "sync", "dsync"])
def test_synchronous_writes_wait_for_flash_where_the_cache_is_volatile(word: str) -> None:
    """With FUA a write on the unprotected drive takes its programs; the other's stays as it was."""
    assert ran(PROTECTED, sync=word).mean_ns() == ran(PROTECTED).mean_ns()
    plain, synced = ran(UNPROTECTED).mean_ns(), ran(UNPROTECTED, sync=word).mean_ns()
    assert plain is not None and synced is not None and synced > 100 * plain
    assert ran(UNPROTECTED, sync="none").mean_ns() == plain


def test_etcds_check_runs_through_the_page_cache_alone() -> None:
    """2300 B become pages of 4 KiB; past the page cache the drive refuses them, as Linux would."""
    job = ran(UNPROTECTED, bs="2300", fdatasync=1)
    assert job.direction("write")["io_bytes"] == 4096 * job.direction("write")["total_ios"]
    assert any("bs=2300" in notice for notice in job.lab["notices"])
    with pytest.raises(SsdlabError, match="2300: is not a multiple of the sector"):
        ran(UNPROTECTED, bs="2300", fdatasync=1, direct=1)


def test_theory_stays_as_it_is() -> None:
    """The drive of the formulas has no buffer and no journal: a flush takes no time."""
    job = ran("theory", fsync=1)
    assert job.mean_ns("sync") == 0
    assert job.write_amplification == 1
